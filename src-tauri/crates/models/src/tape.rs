//! Runs on tape: what a model answered, as the bytes that came and when, to be played again without a network.
//!
//! A tape is lines of JSON: a head, then one line an exchange. Of what was asked there are digests only, and no picture
//! is among them: a screen shows a clock. No key is on it. Opens no file; that is the shell's.

mod record;
mod replay;

use protocol::ids::ModelId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::computer::Computer;
use crate::{Message, Part, Request, ToolAnswer, Wire};

pub use record::Recorder;
pub use replay::Replay;

/// What a head says of itself.
const KIND: &str = "miki recording";
const VERSION: u32 = 1;

/// A tape that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    #[error("it is no recording of a run")]
    NotATape,
    #[error("it is a recording of version {found}, and this program plays version {VERSION}")]
    OtherVersion { found: u64 },
    #[error("it is damaged or cut in line {line}")]
    Broken { line: usize },
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    kind: String,
    version: u32,
    model: ModelId,
    /// Whose turns they are.
    provider: String,
    wire: Wire,
    /// What the run was acting by; a head without it is of a run that used tools of ours, or an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    computer: Option<Computer>,
}

/// One turn that was asked for, whatever came of it.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    turn: usize,
    asked: Fingerprint,
    answer: Answer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    /// There was no stream.
    Refused(Failure),
    Stream {
        body: Body,
        /// Of each piece: when it came, in milliseconds from the request, and its length in bytes.
        pieces: Vec<(u64, usize)>,
        end: End,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Body {
    Text(String),
    /// What is no UTF-8, in base64.
    Bytes(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum End {
    Whole,
    /// Nobody listened any more: the turn was over, or the run was stopped.
    LetGo,
    Lost(Failure),
}

/// A [`crate::ModelError`] as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    kind: String,
    message: String,
    hint: Option<String>,
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    instead: Vec<ModelId>,
}

/// What matters of a request, part by part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fingerprint {
    system: String,
    tools: String,
    messages: Vec<String>,
}

impl Fingerprint {
    fn of(request: &Request) -> Self {
        let tools: Vec<Value> =
            request.tools.iter().map(|tool| json!([tool.name, tool.description, tool.schema])).collect();
        Self {
            system: digest(&request.system),
            tools: digest(&Value::from(tools).to_string()),
            messages: request.messages.iter().map(of_message).collect(),
        }
    }

    /// What is another in `other`, in words; nothing where all is the same.
    fn differs(&self, other: &Self) -> Option<String> {
        if self.system != other.system {
            return Some("the system prompt".into());
        }
        if self.tools != other.tools {
            return Some("the tools".into());
        }
        let lengths = (self.messages.len(), other.messages.len());
        let pairs = self.messages.iter().zip(&other.messages);
        let at = pairs.take_while(|(one, other)| one == other).count();
        match self.messages.get(at).or(other.messages.get(at)) {
            None => None,
            Some(message) => {
                let who = message.split(':').next().unwrap_or_default();
                Some(format!("message {} of {} ({who})", at + 1, lengths.0.max(lengths.1)))
            }
        }
    }
}

/// Who speaks, and a digest of what matters of it. Of a tool's answer that is what came of the call, not what was seen.
fn of_message(message: &Message) -> String {
    match message {
        Message::User(parts) => {
            let text = |part: &Part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Image(_) => None,
            };
            let said: Vec<String> = parts.iter().filter_map(text).collect();
            format!("user:{}", digest(&json!(said).to_string()))
        }
        Message::Assistant(turn) => {
            let calls: Vec<Value> =
                turn.calls.iter().map(|call| json!([call.id, call.name, call.arguments])).collect();
            format!("model:{}", digest(&json!([turn.text, calls, turn.raw]).to_string()))
        }
        Message::ToolResults(answers) => {
            let outcome = |answer: &ToolAnswer| {
                let ToolAnswer { id, name, response, .. } = answer;
                json!([id, name, response["effect"], response["error"]["kind"]])
            };
            let names: Vec<&str> = answers.iter().map(|answer| answer.name.as_str()).collect();
            let outcomes: Value = answers.iter().map(outcome).collect();
            format!("results of {}:{}", names.join(", "), digest(&outcomes.to_string()))
        }
    }
}

/// Enough of a sha256 to tell two texts apart.
fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
