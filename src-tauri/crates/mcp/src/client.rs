//! What we are to a server: a client that answers nothing by itself.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::command::Secret;
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tools::untrusted;

/// Lines of a server's log that are kept, and the characters of one.
const LOG_LINES: usize = 50;
const LOG_CHARS: usize = 300;

/// What stands in the place of a key; a shorter text than this is none.
const HIDDEN: &str = "(a key)";
const KEY_CHARS: usize = 6;

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
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let long = keys.iter().filter(|key| key.0.len() >= KEY_CHARS);
        long.fold(text.to_owned(), |text, key| text.replace(&key.0, HIDDEN))
    }

    /// What it said on one line, cleaned, without its keys, at most `most` characters. Cut last: no part of a key stays.
    pub fn line(&self, text: &str, most: usize) -> String {
        untrusted::cut(&self.without_keys(&untrusted::line(text, usize::MAX)), most)
    }

    /// The same of all texts in a value.
    pub fn purged(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.without_keys(&text)),
            Value::Array(all) => all.into_iter().map(|one| self.purged(one)).collect(),
            Value::Object(fields) => {
                let one = |(name, value): (String, Value)| (self.without_keys(&name), self.purged(value));
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

pub struct Client {
    heard: Heard,
}

impl Client {
    pub fn new(heard: Heard) -> Self {
        Self { heard }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("miki", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = match &request {
            ElicitRequestParams::FormElicitationParams { message, .. }
            | ElicitRequestParams::UrlElicitationParams { message, .. } => message.as_str(),
            _ => "",
        };
        self.heard.note(&format!("asked its user, and was not answered: {asked}"));
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.set_stale();
    }
}
