//! What a server wants to know of its user in the middle of a call (elicitation): asked a field at a time, as a
//! question of the run whose call it is. What looks like a password or a key is never asked for: the protocol forbids it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use protocol::elicitation::Elicitation;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value};
use tools::Asker;

use self::field::Field;
use crate::client::Heard;

mod alike;
mod field;

pub use field::secret_in;

/// Fields of one question.
const FIELDS: usize = 20;
const MESSAGE_CHARS: usize = 500;
/// Characters of a whole question: an answer is given beside it.
const QUESTION_CHARS: usize = 1_900;
/// How often one field is asked for.
const TRIES: usize = 3;
/// How often a server may ask within one call.
const QUESTIONS: usize = 5;

/// A call that may ask its user.
pub struct AskingCall {
    /// `None` if nobody can be asked.
    asker: Option<Arc<dyn Asker>>,
    /// Its server waits for the user, and not we for it.
    is_asking: AtomicBool,
    questions: AtomicUsize,
    /// The user gave no answer: they are asked no more.
    is_declined: AtomicBool,
    /// One question after the other.
    turn: tokio::sync::Mutex<()>,
}

/// A question that stands open, until it is dropped.
struct Open<'a>(&'a AtomicBool);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl AskingCall {
    pub fn new(asker: Option<Arc<dyn Asker>>) -> Self {
        Self {
            asker,
            is_asking: AtomicBool::new(false),
            questions: AtomicUsize::new(0),
            is_declined: AtomicBool::new(false),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub fn is_asking(&self) -> bool {
        self.is_asking.load(Ordering::Acquire)
    }

    /// The answer of the user, a field at a time; one that they do not give declines them all, and whatever is asked later.
    ///
    /// # Errors
    /// Why they were not asked, for the server's log.
    pub async fn ask(
        &self,
        server: &str,
        request: &ElicitRequestParams,
        heard: &Heard,
    ) -> Result<ElicitResult, String> {
        let asker = self.asker.as_ref().ok_or("nobody could be asked")?;
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Err("it asked for a visit of a page, which Miki does not do for it".into());
        };
        let said = serde_json::to_value(request).unwrap_or_default();
        if heard.purged(said.clone()) != said {
            return Err("there was one of its keys in what it asked".into());
        }
        if let Some(secret) = field::secret_in(message) {
            return Err(field::no_secrets(secret));
        }
        let says = field::line(message, MESSAGE_CHARS);
        let fields = fields(requested_schema)?;
        let is_too_long =
            |field: &Field| field.wanted(server, &says).to_string().chars().count() > QUESTION_CHARS;
        if fields.iter().any(|(_, field)| is_too_long(field)) {
            return Err("its question is too long to be asked".into());
        }
        let _turn = self.turn.lock().await;
        if self.is_declined.load(Ordering::Acquire) {
            return Err("they gave no answer before".into());
        }
        if self.questions.fetch_add(1, Ordering::AcqRel) >= QUESTIONS {
            return Err(format!("it had asked {QUESTIONS} times in one call"));
        }
        self.is_asking.store(true, Ordering::Release);
        let _open = Open(&self.is_asking);
        let content = content(&**asker, (server, &says), fields).await;
        self.is_declined.fetch_or(content.is_none(), Ordering::AcqRel);
        Ok(match content {
            Some(content) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }
}

/// `None` if the user does not answer.
async fn content(
    asker: &dyn Asker,
    asks: (&str, &str),
    fields: Vec<(String, Field)>,
) -> Option<Map<String, Value>> {
    let mut content = Map::new();
    if fields.is_empty() {
        let agrees = answered(asker, asks, &Field::yes_or_no()).await? == Some(Value::Bool(true));
        return agrees.then_some(content);
    }
    for (name, field) in fields {
        if let Some(value) = answered(asker, asks, &field).await? {
            content.insert(name, value);
        }
    }
    Some(content)
}

/// A question in somebody's words, for quotation marks around it.
pub fn as_quoted(question: &str) -> String {
    field::line(question, QUESTION_CHARS)
}

/// The value of a field, or `None` within if it is left out; `None` if the user gives none.
async fn answered(asker: &dyn Asker, (server, says): (&str, &str), field: &Field) -> Option<Option<Value>> {
    let mut fault = None;
    for _ in 0..TRIES {
        let answer = asker.ask(Elicitation { fault, ..field.wanted(server, says) }).await?;
        match field.value(answer.trim()) {
            Ok(value) => return Some(value),
            Err(wrong) => fault = Some(wrong),
        }
    }
    None
}

/// In the order in which the server has them, with their names.
fn fields(schema: &ElicitationSchema) -> Result<Vec<(String, Field)>, String> {
    let unreadable = |_| "its question cannot be read".to_owned();
    let whole = serde_json::to_value(schema).map_err(unreadable)?;
    let Some(Value::Object(all)) = whole.get("properties") else { return Ok(Vec::new()) };
    if all.len() > FIELDS {
        return Err(format!("it asked for {} things at once; {FIELDS} are the most", all.len()));
    }
    let is_required =
        |name: &String| schema.required.as_ref().is_some_and(|required| required.contains(name));
    let mut order: Vec<&String> = schema.property_order.iter().flatten().collect();
    order.extend(all.keys().filter(|name| !schema.property_order.iter().flatten().any(|one| one == *name)));
    let read = |name: &String| {
        let field = Field::read(name, all.get(name)?, is_required(name));
        Some(field.map(|field| (name.clone(), field)))
    };
    order.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests;
