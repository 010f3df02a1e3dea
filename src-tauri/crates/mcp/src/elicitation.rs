//! What a server wants to know of its user in the middle of a call (elicitation): asked a field at a time, in words, as a
//! question of the run whose call it is. What looks like a password or a key is never asked for: the protocol forbids it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value};
use tools::{Asker, untrusted};

use self::field::Field;

mod field;

/// Fields of one question.
const FIELDS: usize = 10;
const MESSAGE_CHARS: usize = 800;
/// How often one field is asked for.
const TRIES: usize = 3;

/// A call's number, and whom it asks; `None` if nobody can be asked.
type Call = (usize, Option<Arc<dyn Asker>>);

/// Those whom the calls under way of one connection ask.
#[derive(Default)]
pub struct Askers {
    all: Mutex<Vec<Call>>,
    next: AtomicUsize,
    /// Questions that stand open.
    open: AtomicUsize,
    /// One after the other.
    turn: tokio::sync::Mutex<()>,
}

/// A call that is under way, until it is dropped.
pub struct UnderWay<'a> {
    askers: &'a Askers,
    number: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.askers.all().retain(|(number, _)| *number != self.number);
    }
}

/// A question that stands open, until it is dropped.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Askers {
    pub fn begin(&self, asker: Option<Arc<dyn Asker>>) -> UnderWay<'_> {
        let number = self.next.fetch_add(1, Ordering::AcqRel);
        self.all().push((number, asker));
        UnderWay { askers: self, number }
    }

    /// Whether a call waits for its user, and not for the server.
    pub fn is_asking(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    /// Asks the user of the one call that is under way: of several, nobody can tell for which one it is.
    ///
    /// # Errors
    /// Why they were not asked, for the server's log.
    pub async fn ask_of_the_one(
        &self,
        server: &str,
        request: &ElicitRequestParams,
    ) -> Result<ElicitResult, String> {
        let asker = match &self.all()[..] {
            [(_, Some(asker))] => Arc::clone(asker),
            [] | [(_, None)] => return Err("nobody could be asked".into()),
            _ => return Err("it had several calls, and did not say for which one it asked".into()),
        };
        self.ask(&*asker, server, request).await
    }

    /// The answer of the user, a field at a time; one that they do not give declines them all.
    ///
    /// # Errors
    /// As [`Self::ask_of_the_one`].
    pub async fn ask(
        &self,
        asker: &dyn Asker,
        server: &str,
        request: &ElicitRequestParams,
    ) -> Result<ElicitResult, String> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Err("it asked for a visit of a page, which Miki does not do for it".into());
        };
        let fields = fields(requested_schema)?;
        let _turn = self.turn.lock().await;
        self.open.fetch_add(1, Ordering::AcqRel);
        let _open = Open(&self.open);
        let asks = format!("{} asks: {}", server, untrusted::line(message, MESSAGE_CHARS));
        if fields.is_empty() {
            let agrees = answered(asker, &asks, &Field::yes_or_no()).await == Some(Some(Value::Bool(true)));
            let action = if agrees { ElicitationAction::Accept } else { ElicitationAction::Decline };
            return Ok(ElicitResult::new(action));
        }
        let mut content = Map::new();
        for (name, field) in fields {
            match answered(asker, &asks, &field).await {
                Some(Some(value)) => drop(content.insert(name, value)),
                Some(None) => {}
                None => return Ok(ElicitResult::new(ElicitationAction::Decline)),
            }
        }
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content)))
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Call>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of a field, or `None` within if it is left out; `None` if the user gives none.
async fn answered(asker: &dyn Asker, asks: &str, field: &Field) -> Option<Option<Value>> {
    let mut wrong = String::new();
    for _ in 0..TRIES {
        let answer = asker.ask(format!("{wrong}{asks}\n\n{}", field.question())).await?;
        match field.value(answer.trim()) {
            Ok(value) => return Some(value),
            Err(why) => wrong = format!("{why}.\n\n"),
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
