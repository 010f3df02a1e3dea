//! The engine's local socket: one JSON value a line, both ways.
//!
//! A client sends [`Request`]s and gets a [`Reply`] for each, in any order, told apart by `id`. After `subscribe`
//! it also gets [`Frame::Event`] lines; another `subscribe` takes the place of the one before. A line may be at most [`MAX_LINE`] bytes long.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::AnyCommand;
use crate::error::ErrorView;
use crate::event::Event;

/// Longest line either side accepts, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// `{"id":1,"command":"stop_run","args":{}}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub id: u64,
    #[serde(flatten)]
    pub command: AnyCommand,
}

/// What the engine sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Frame {
    Reply(Reply),
    Event(Box<Event>),
    /// No more events come; says how to go on.
    Unsubscribed(ErrorView),
    /// The engine ends. What was not answered before this was not begun.
    Leaving,
}

/// `{"reply":{"id":1,"ok":...}}` or `{"reply":{"id":1,"error":{...}}}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// 0 where the line could not be read as a request.
    pub id: u64,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    Ok(Value),
    Error(ErrorView),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::StopRun;

    #[test]
    fn the_wire_is_as_documented() {
        let request = Request { id: 1, command: AnyCommand::StopRun(StopRun { run: None }) };
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            r#"{"id":1,"command":"stop_run","args":{"run":null}}"#
        );
        let reply = Frame::Reply(Reply { id: 1, outcome: Outcome::Ok(Value::Null) });
        assert_eq!(serde_json::to_string(&reply).unwrap(), r#"{"reply":{"id":1,"ok":null}}"#);
        assert_eq!(serde_json::from_str::<Frame>(r#"{"reply":{"id":1,"ok":null}}"#).unwrap(), reply);
    }
}
