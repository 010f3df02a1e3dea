//! One turn of a model: its stream shown as it comes, and the whole at its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use models::{ModelError, Request, SharedModel, Turn, TurnEvent};
use protocol::EventBody;
use protocol::citation::Citation;
use protocol::event::Scope;
use protocol::ids::ModelId;
use protocol::turn::{Cost, StopReason, Usage, Usd};

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

/// One that did not. What it cost all the same is known as far as it was heard.
pub struct Failed {
    pub error: ModelError,
    pub usage: Usage,
    /// Nothing where no answer began.
    pub cost: Option<Cost>,
}

/// A turn under way, as far as it was heard: whoever drops it can still say what it cost.
#[derive(Clone, Default)]
pub struct Hearing(Arc<Mutex<Heard>>);

/// What a turn said so far, beside its text.
#[derive(Default)]
struct Heard {
    asked: bool,
    thinking: String,
    citations: Vec<Citation>,
    usage: Usage,
    billed: Option<Usd>,
    searched: bool,
}

/// Pages that one turn may name.
const MOST_CITATIONS: usize = 50;

/// Asks, and shows text and thinking while they come. Dropping it ends the request.
///
/// # Errors
/// The model's; what was shown of the turn is then void (`TurnFailed` tells the surfaces so).
pub async fn ask(
    model: SharedModel,
    request: Arc<Request>,
    log: Arc<Log>,
    scope: Scope,
    hearing: Hearing,
) -> Result<Asked, Failed> {
    hearing.heard().asked = true;
    let refused = |error| Failed { error, usage: Usage::default(), cost: None };
    let mut stream = model.stream(request).await.map_err(refused)?;
    while let Some(event) = stream.next().await {
        let mut heard = hearing.heard();
        match event {
            Ok(TurnEvent::Text(text)) => log.pass(scope.clone(), EventBody::TextDelta { text }),
            Ok(TurnEvent::Thinking(text)) => {
                heard.thinking.push_str(&text);
                log.pass(scope.clone(), EventBody::ThinkingDelta { text });
            }
            Ok(TurnEvent::Citation { url, title }) => cite(&mut heard.citations, &url, &title),
            Ok(TurnEvent::Usage(usage)) => heard.usage = usage,
            Ok(TurnEvent::Billed(amount)) => heard.billed = Some(amount),
            Ok(TurnEvent::Searched) => heard.searched = true,
            // Shown only when whole.
            Ok(
                TurnEvent::CallStarted { .. } | TurnEvent::CallArguments { .. } | TurnEvent::CallEnded { .. },
            ) => {}
            Ok(TurnEvent::Finished { turn, usage, stop }) => {
                heard.usage = usage;
                let cost = heard.cost(model.id());
                let Heard { thinking, citations, .. } = std::mem::take(&mut *heard);
                return Ok(Asked { turn, thinking, citations, usage, cost, stop });
            }
            Err(error) => return Err(heard.failed(model.id(), error)),
        }
    }
    Err(hearing.heard().failed(model.id(), ModelError::cut()))
}

impl Hearing {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a turn that nobody waits for any more; nothing where it was not asked for yet. The provider may go
    /// on with it, and may have read the request even where no answer came.
    pub fn dropped(&self, model: &ModelId) -> Option<(Usage, Cost)> {
        let heard = self.heard();
        heard.asked.then(|| (heard.usage, heard.cost(model).at_least()))
    }
}

impl Heard {
    /// A search is charged beside the tokens.
    fn cost(&self, model: &ModelId) -> Cost {
        let cost = models::cost::cost(model, &self.usage, self.billed);
        if self.searched { cost.at_least() } else { cost }
    }

    fn failed(&self, model: &ModelId, error: ModelError) -> Failed {
        Failed { error, usage: self.usage, cost: Some(self.cost(model).at_least()) }
    }
}

/// Each page once, whatever is said of it how often.
fn cite(citations: &mut Vec<Citation>, url: &str, title: &str) {
    let Some(new) = Citation::new(url, title) else { return };
    let known = citations.iter().any(|known| known.url == new.url);
    if !known && citations.len() < MOST_CITATIONS {
        citations.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(billed: Option<Usd>, searched: bool) -> Heard {
        let usage = Usage { input: 1_000_000, ..Usage::default() };
        Heard { usage, billed, searched, ..Heard::default() }
    }

    #[test]
    fn a_cost_is_exact_only_where_all_of_it_was_counted() {
        let model = ModelId("anthropic/claude-sonnet-5-5".into());
        let usd = Usd::from_dollars(2.0).unwrap();
        let failed = |heard: Heard| heard.failed(&model, ModelError::cut()).cost;
        assert_eq!(heard(None, false).cost(&model), Cost::Priced { usd });
        assert_eq!(heard(None, true).cost(&model), Cost::AtLeast { usd });
        assert_eq!(failed(heard(None, false)), Some(Cost::AtLeast { usd }));
        // The provider's own figure has its searches in it.
        for searched in [false, true] {
            let heard = || heard(Some(Usd(7)), searched);
            assert_eq!(heard().cost(&model), Cost::Billed { usd: Usd(7) });
            assert_eq!(failed(heard()), Some(Cost::Billed { usd: Usd(7) }));
        }
        assert_eq!(failed(Heard::default()), Some(Cost::Unknown));
        let hearing = Hearing::default();
        assert_eq!(hearing.dropped(&model), None);
        hearing.heard().asked = true;
        assert_eq!(hearing.dropped(&model), Some((Usage::default(), Cost::Unknown)));
    }
}
