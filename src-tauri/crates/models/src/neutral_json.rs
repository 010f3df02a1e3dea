//! The neutral stream as lines of JSON: for `miki model decode` and for reviewed snapshots.

use protocol::turn::{StopReason, Usage};
use serde_json::{Value, json};

use crate::decode::decode;
use crate::{ModelError, Retry, TurnEvent, Wire};

/// A recorded answer, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedAnswer {
    /// One JSON object an event; the last is `stop` or `error`.
    pub lines: Vec<Value>,
    /// Whether it was a whole turn.
    pub complete: bool,
}

/// A recorded answer of `wire`.
pub fn answer(wire: Wire, bytes: &[u8]) -> DecodedAnswer {
    let (events, end) = decode(wire, wire.name(), bytes);
    let complete = end.is_ok();
    let mut lines: Vec<Value> = events.iter().map(event).collect();
    lines.push(match &end {
        Ok(finished) => event(finished),
        Err(failed) => error(failed),
    });
    DecodedAnswer { lines, complete }
}

/// One event.
pub fn event(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::Text(text) => json!({ "event": "text", "text": text }),
        TurnEvent::Thinking(text) => json!({ "event": "thinking", "text": text }),
        TurnEvent::CallStarted { index, id, name } => {
            json!({ "event": "call_start", "index": index, "id": id, "name": name })
        }
        TurnEvent::CallArguments { index, json } => {
            json!({ "event": "call_arguments", "index": index, "delta": json })
        }
        TurnEvent::CallEnded { index } => json!({ "event": "call_end", "index": index }),
        TurnEvent::Citation { url, title } => json!({ "event": "citation", "url": url, "title": title }),
        TurnEvent::Usage(usage) => json!({ "event": "usage", "usage": counts(usage) }),
        TurnEvent::Billed(cost) => json!({ "event": "billed", "usd": cost.to_string() }),
        TurnEvent::Searched => json!({ "event": "searched" }),
        TurnEvent::Finished { turn, usage, stop } => {
            let calls: Vec<Value> = turn
                .calls
                .iter()
                .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
                .collect();
            let mut line = json!({ "event": "stop", "reason": reason(stop) });
            match stop {
                StopReason::Refused { category } => line["category"] = category.as_str().into(),
                StopReason::Blocked { reason } => line["why"] = reason.as_str().into(),
                StopReason::End
                | StopReason::ToolCalls
                | StopReason::MaxTokens
                | StopReason::Paused
                | StopReason::ContextFull => {}
            }
            line["text"] = turn.text.as_str().into();
            line["calls"] = calls.into();
            line["usage"] = counts(usage);
            line
        }
    }
}

/// A failed turn.
pub fn error(error: &ModelError) -> Value {
    json!({
        "event": "error",
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "retry": error.retry() != Retry::Never,
        "retryAfterMs": error.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
    })
}

fn reason(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::End => "end",
        StopReason::ToolCalls => "tool_calls",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refused { .. } => "refused",
        StopReason::Paused => "paused",
        StopReason::ContextFull => "context_full",
        StopReason::Blocked { .. } => "blocked",
    }
}

fn counts(usage: &Usage) -> Value {
    json!({
        "input": usage.input,
        "cached": usage.cached,
        "cacheWrite": usage.cache_write,
        "output": usage.output,
        "thinking": usage.thinking,
    })
}
