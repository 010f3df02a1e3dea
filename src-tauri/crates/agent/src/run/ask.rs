//! One turn of a model: its stream shown as it comes, and the whole at its end.

use std::sync::Arc;

use futures::StreamExt;
use models::{ModelError, Request, SharedModel, Turn, TurnEvent};
use protocol::EventBody;
use protocol::event::Scope;
use protocol::turn::{Cost, StopReason, Usage};

use crate::log::Log;

/// A turn that ended whole.
pub struct Asked {
    pub turn: Turn,
    pub thinking: String,
    pub usage: Usage,
    pub cost: Cost,
    pub stop: StopReason,
}

/// Asks, and shows text and thinking while they come. Dropping it ends the request.
///
/// # Errors
/// The model's; what was shown of the turn is then void (`TurnFailed` tells the surfaces so).
pub async fn ask(
    model: SharedModel,
    request: Request,
    log: Arc<Log>,
    scope: Scope,
) -> Result<Asked, ModelError> {
    let mut stream = model.stream(request).await?;
    let (mut thinking, mut billed) = (String::new(), None);
    while let Some(event) = stream.next().await {
        match event? {
            TurnEvent::Text(text) => log.pass(scope.clone(), EventBody::TextDelta { text }),
            TurnEvent::Thinking(text) => {
                thinking.push_str(&text);
                log.pass(scope.clone(), EventBody::ThinkingDelta { text });
            }
            TurnEvent::Billed(amount) => billed = Some(amount),
            // Shown only when whole; the counts come again with the end.
            TurnEvent::CallStarted { .. }
            | TurnEvent::CallArguments { .. }
            | TurnEvent::CallEnded { .. }
            | TurnEvent::Citation { .. }
            | TurnEvent::Usage(_) => {}
            TurnEvent::Finished { turn, usage, stop } => {
                let cost = models::cost::cost(model.id(), &usage, billed);
                return Ok(Asked { turn, thinking, usage, cost, stop });
            }
        }
    }
    Err(ModelError::cut())
}
