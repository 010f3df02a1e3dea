//! Arguments of calls, which most providers send as text.

use serde_json::{Value, json};

use crate::{ProposedCall, TurnEvent};

/// The arguments as JSON. Text that is no JSON stays text: no tool takes it, and the model is told so.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// The arguments' text to send back: `{}` unless it is an object, since a server that parses it would refuse every
/// later request.
pub(crate) fn arguments_text(text: &str) -> &str {
    if arguments(text).is_object() && !text.trim().is_empty() { text } else { "{}" }
}

/// Adds the events of a call that came in one piece.
pub(crate) fn whole(index: usize, call: &ProposedCall, events: &mut Vec<TurnEvent>) {
    let ProposedCall { id, name, arguments, .. } = call.clone();
    events.push(TurnEvent::CallStarted { index, id, name });
    events.push(TurnEvent::CallArguments { index, json: arguments.to_string() });
    events.push(TurnEvent::CallEnded { index });
}
