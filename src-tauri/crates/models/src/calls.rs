//! Calls whose arguments come in pieces of text.

use serde_json::{Value, json};

use crate::{ProposedCall, TurnEvent};

/// The arguments that a model wrote. What is no JSON stays text, which no tool takes: the model is told so.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// What goes back as the arguments' text. A server that parses it would refuse every later request otherwise.
pub(crate) fn arguments_text(text: &str) -> &str {
    if arguments(text).is_object() && !text.trim().is_empty() { text } else { "{}" }
}

/// A call that comes whole, in the neutral stream.
pub(crate) fn whole(index: usize, call: &ProposedCall, events: &mut Vec<TurnEvent>) {
    let ProposedCall { id, name, arguments } = call.clone();
    events.push(TurnEvent::CallStarted { index, id, name });
    events.push(TurnEvent::CallArguments { index, json: arguments.to_string() });
    events.push(TurnEvent::CallEnded { index });
}
