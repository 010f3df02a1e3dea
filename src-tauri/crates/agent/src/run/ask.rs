//! One turn of a model: its stream shown as it comes, and the whole at its end.

use std::sync::Arc;

use futures::StreamExt;
use models::{ModelError, Request, SharedModel, Turn, TurnEvent};
use protocol::EventBody;
use protocol::citation::Citation;
use protocol::event::Scope;
use protocol::turn::{Cost, StopReason, Usage};

use crate::log::Log;

/// A turn that ended whole.
pub struct Asked {
    pub turn: Turn,
    pub thinking: String,
    pub citations: Vec<Citation>,
    pub usage: Usage,
    pub cost: Cost,
    pub stop: StopReason,
}

/// Pages that one turn may name.
const MOST_CITATIONS: usize = 50;

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
    let (mut thinking, mut citations, mut billed) = (String::new(), Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event? {
            TurnEvent::Text(text) => log.pass(scope.clone(), EventBody::TextDelta { text }),
            TurnEvent::Thinking(text) => {
                thinking.push_str(&text);
                log.pass(scope.clone(), EventBody::ThinkingDelta { text });
            }
            TurnEvent::Citation { url, title } => cite(&mut citations, &url, &title),
            TurnEvent::Billed(amount) => billed = Some(amount),
            // Shown only when whole; the counts come again with the end.
            TurnEvent::CallStarted { .. }
            | TurnEvent::CallArguments { .. }
            | TurnEvent::CallEnded { .. }
            | TurnEvent::Usage(_) => {}
            TurnEvent::Finished { turn, usage, stop } => {
                let cost = models::cost::cost(model.id(), &usage, billed);
                return Ok(Asked { turn, thinking, citations, usage, cost, stop });
            }
        }
    }
    Err(ModelError::cut())
}

/// Each page once, whatever is said of it how often.
fn cite(citations: &mut Vec<Citation>, url: &str, title: &str) {
    let Some(new) = Citation::new(url, title) else { return };
    let known = citations.iter().any(|known| known.url == new.url);
    if !known && citations.len() < MOST_CITATIONS {
        citations.push(new);
    }
}
