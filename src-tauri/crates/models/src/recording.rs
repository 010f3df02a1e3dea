//! Recordings of runs: what a model answered, in order, to be replayed without a network.
//!
//! A recording is lines of JSON: a head, then one line a turn. Of what was asked it has one digest a turn, by which a
//! replay tells that its run has gone another way. It holds no picture and no key. Opens no file; that is the shell's.

mod record;
mod replay;

use protocol::ids::ModelId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::computer::Computer;
use crate::{Message, ModelError, Part, Request, ToolAnswer, Wire};

pub use record::Recorder;
pub use replay::Replay;

/// What a head says of itself.
const KIND: &str = "miki recording";
/// 1 had the times of all pieces and a digest of each message.
const VERSION: u32 = 2;

/// Why a recording cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    #[error("it is no recording of a run")]
    NotARecording,
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
    /// The vendor's computer tool that the model acted by. `None` if it used tools of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    computer: Option<Computer>,
}

/// One turn that was asked for, whatever came of it.
#[derive(Debug, Serialize, Deserialize)]
struct RecordedTurn {
    /// Digest of the conversation so far, see [`digest`].
    asked: String,
    answer: Answer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    /// There was no stream.
    Refused(ModelError),
    Stream {
        said: String,
        end: End,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum End {
    Whole,
    /// Nobody listened any more: the turn was complete, or the run was stopped.
    Dropped,
    Failed(ModelError),
}

/// A digest of what the user said and of what came of the model's calls: the same for two runs that went the same way.
/// What was seen is not part of it, since a screen shows a clock; what the model said is in the recording itself.
fn digest(request: &Request) -> String {
    let said: Value = request.messages.iter().map(of_message).collect();
    Sha256::digest(said.to_string()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn of_message(message: &Message) -> Value {
    match message {
        Message::User(parts) => {
            let text = |part: &Part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Image(_) => None,
            };
            parts.iter().filter_map(text).collect()
        }
        Message::Assistant(_) => Value::Null,
        Message::ToolResults(answers) => {
            let outcome = |answer: &ToolAnswer| {
                let ToolAnswer { name, response, .. } = answer;
                json!([name, response["effect"], response["error"]["kind"]])
            };
            answers.iter().map(outcome).collect()
        }
    }
}

#[cfg(test)]
mod tests;
