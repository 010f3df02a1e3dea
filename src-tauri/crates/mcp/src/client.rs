//! What we are to a server: a client that answers nothing by itself.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::command::Secret;
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProtocolVersion, TASKS_EXTENSION_ID,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tools::untrusted;

use crate::calls::Calls;

/// Lines of a server's log that are kept, and the characters of one.
const LOG_LINES: usize = 50;
const LOG_CHARS: usize = 300;

/// What stands in the place of a key; a shorter text than this is none.
const HIDDEN: &str = "(a key)";
const KEY_CHARS: usize = 6;
/// One that is so long, or has this many letters and digits and nothing else, stands nowhere by chance. Shorter ones may be
/// words (`string`, `eu-west-1`): they are taken out of what people and models read, and left where programs read them.
const LONG_KEY_CHARS: usize = 16;
const MIXED_KEY_CHARS: usize = 8;

/// Who reads a text: whether a key in it may be a word as well.
#[derive(Clone, Copy)]
enum ReadBy {
    /// People and models: each key is taken out.
    Words,
    /// Programs: the name of a field, a type, one of some choices.
    Form,
}

/// What a server said beside its answers.
#[derive(Clone, Default)]
pub struct Heard {
    log: Arc<Mutex<VecDeque<String>>>,
    /// Its list of tools has changed since it was read.
    is_stale: Arc<AtomicBool>,
    keys: Arc<Mutex<Vec<Secret>>>,
}

impl Heard {
    pub fn note(&self, line: &str) {
        let line = self.line(line, LOG_CHARS);
        if line.is_empty() {
            return;
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push_back(line);
        let more = log.len().saturating_sub(LOG_LINES);
        log.drain(..more);
    }

    /// The values of its keys, which it may say again.
    pub fn hide(&self, keys: Vec<Secret>) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// More of them: the others are hidden still.
    pub fn hide_also(&self, keys: impl IntoIterator<Item = Secret>) {
        let mut all = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            if !all.contains(&key) {
                all.push(key);
            }
        }
    }

    pub fn without_keys(&self, text: &str) -> String {
        self.without(ReadBy::Words, text)
    }

    fn without(&self, by: ReadBy, text: &str) -> String {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let taken_out = keys.iter().map(|key| &*key.0).filter(|key| match by {
            ReadBy::Words => key.len() >= KEY_CHARS,
            ReadBy::Form => is_no_word(key),
        });
        taken_out.fold(text.to_owned(), |text, key| text.replace(key, HIDDEN))
    }

    /// Whether the name of something has a key in it that is no word.
    pub fn has_key(&self, name: &str) -> bool {
        self.without(ReadBy::Form, name) != name
    }

    /// What it said on one line, cleaned, without its keys, at most `most` characters. Cut last: no part of a key stays.
    pub fn line(&self, text: &str, most: usize) -> String {
        untrusted::cut(&self.without_keys(&untrusted::line(text, usize::MAX)), most)
    }

    /// The same of all texts in an answer. What kind of part one is, the protocol says there.
    pub fn purged(&self, answer: Value) -> Value {
        self.purged_of(answer, ReadBy::Words, &|name| {
            if name == "type" { ReadBy::Form } else { ReadBy::Words }
        })
    }

    /// The same of the schema of a tool, which is words only where it describes.
    pub fn purged_schema(&self, schema: Value) -> Value {
        self.purged_of(schema, ReadBy::Form, &|name| match name {
            "description" | "title" => ReadBy::Words,
            _ => ReadBy::Form,
        })
    }

    fn purged_of(&self, value: Value, by: ReadBy, field: &dyn Fn(&str) -> ReadBy) -> Value {
        match value {
            Value::String(text) => Value::String(self.without(by, &text)),
            Value::Array(all) => all.into_iter().map(|one| self.purged_of(one, by, field)).collect(),
            Value::Object(fields) => {
                let one = |(name, value): (String, Value)| {
                    let value = self.purged_of(value, field(&name), field);
                    (self.without(ReadBy::Form, &name), value)
                };
                Value::Object(fields.into_iter().map(one).collect())
            }
            other => other,
        }
    }

    /// The newest lines, the oldest of them first.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Whether its list of tools has to be read again.
    pub fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    pub fn set_stale(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    /// It is about to be read again: what comes from now on counts anew.
    pub fn clear_stale(&self) {
        self.is_stale.store(false, Ordering::Release);
    }
}

fn is_no_word(key: &str) -> bool {
    let is_mixed = key.chars().all(char::is_alphanumeric)
        && key.contains(char::is_numeric)
        && key.contains(char::is_alphabetic);
    key.len() >= LONG_KEY_CHARS || (is_mixed && key.len() >= MIXED_KEY_CHARS)
}

pub struct Client {
    name: Arc<str>,
    heard: Heard,
    calls: Arc<Calls>,
}

impl Client {
    pub fn new(name: Arc<str>, heard: Heard, calls: Arc<Calls>) -> Self {
        Self { name, heard, calls }
    }
}

/// For the server, which is told no, and for the log.
pub fn not_asked(heard: &Heard, why: &str) -> ElicitResult {
    heard.note(&format!("wanted to know something of its user, who was not asked: {why}"));
    ElicitResult::new(ElicitationAction::Decline)
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("miki", env!("CARGO_PKG_VERSION"));
        let mut can = ClientCapabilities::default();
        can.elicitation = Some(ElicitationCapability::new().with_form(FormElicitationCapability::new()));
        can.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), Default::default())].into());
        ClientConfig::new(can, us).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let call = match self.calls.only() {
            Ok(call) => call,
            Err(why) => return Ok(not_asked(&self.heard, &why)),
        };
        let answer = call.asking.ask(&self.name, &request, &self.heard).await;
        Ok(answer.unwrap_or_else(|why| call.not_asked(&self.heard, &why)))
    }

    async fn on_progress(&self, said: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.calls.tell(&said, &self.heard);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.set_stale();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hearing(key: &str) -> Heard {
        let heard = Heard::default();
        heard.hide(vec![Secret(key.into())]);
        heard
    }

    #[test]
    fn a_key_that_is_a_word_spoils_no_schema_and_no_answer() {
        let schema = json!({
            "type": "object",
            "properties": { "string": { "type": "string", "enum": ["string", "eu-west-1"], "description": "D" } },
            "required": ["string"],
        });
        let answer = json!({
            "content": [{ "type": "resource", "resource": { "uri": "file:///", "text": "T" } }],
            "structuredContent": { "string": 1, "resource": 2 },
        });
        for word in ["string", "object", "eu-west-1", "resource", "required", "properties", "content"] {
            let heard = hearing(word);
            assert_eq!(heard.purged_schema(schema.clone()), schema, "{word}");
            assert_eq!(heard.purged(answer.clone()), answer, "{word}");
            assert!(!heard.has_key(&format!("get_{word}")), "{word}");
            // It may be one all the same: what is read has it not.
            let told = json!({ "description": format!("send {word}"), "title": word });
            assert_eq!(
                heard.purged_schema(told),
                json!({ "description": "send (a key)", "title": "(a key)" })
            );
            let told = heard.purged(json!({ "text": [format!("invalid: {word}")] }));
            assert_eq!(told, json!({ "text": ["invalid: (a key)"] }));
        }
    }

    #[test]
    fn a_key_that_is_no_word_is_taken_out_wherever_it_stands() {
        for key in ["hunter22", "dGhpcyBpcyBh1", "correct-horse-battery"] {
            let heard = hearing(key);
            let told = json!({ key: { "type": key, "enum": [key], "default": format!("x{key}") } });
            let without =
                json!({ "(a key)": { "type": "(a key)", "enum": ["(a key)"], "default": "x(a key)" } });
            assert_eq!(heard.purged_schema(told.clone()), without);
            assert_eq!(heard.purged(told), without);
            assert!(heard.has_key(&format!("get_{key}")));
        }
    }
}
