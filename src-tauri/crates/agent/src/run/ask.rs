//! One turn of a model: its stream shown as it comes, and the whole at its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use models::{ModelError, ModelErrorKind, Request, SharedModel, Turn, TurnEvent};
use protocol::EventBody;
use protocol::citation::Citation;
use protocol::event::{DeltaKind, Scope};
use protocol::ids::ModelId;
use protocol::run::GUEST;
use protocol::turn::{Cost, StopReason, Usage, Usd};
use tokio::time::{Instant, timeout_at};

use crate::log::Log;

/// A turn that ended whole.
pub struct FinishedTurn {
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
    /// `None` if no answer began.
    pub cost: Option<Cost>,
}

/// A turn under way, as far as it was heard: whoever drops it can still say what it cost.
#[derive(Clone, Default)]
pub struct PartialTurn(Arc<Mutex<TurnSoFar>>);

/// What a turn said so far.
#[derive(Default)]
struct TurnSoFar {
    asked: bool,
    text: String,
    thinking: String,
    citations: Vec<Citation>,
    usage: Usage,
    billed: Option<Usd>,
    searched: bool,
}

/// The longest turn: a stream that is kept open with signs of life alone must not hold its run for ever.
const LONGEST: Duration = Duration::from_secs(900);
/// The same where the model is another program's agent, whose next call may take that long while agents of ours work for it.
const LONGEST_OF_A_GUEST: Duration = Duration::from_secs(24 * 60 * 60);
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
    number: u32,
    so_far: PartialTurn,
) -> Result<FinishedTurn, Failed> {
    so_far.lock().asked = true;
    let mut index = 0;
    let mut show = |kind, text| {
        let delta = EventBody::TurnDelta { turn: number, index, kind, text };
        index += 1;
        log.broadcast_transient(scope.clone(), delta);
    };
    let refused = |error| Failed { error, usage: Usage::default(), cost: None };
    let is_guests = model.id().provider() == Some(GUEST);
    let end = Instant::now() + if is_guests { LONGEST_OF_A_GUEST } else { LONGEST };
    let mut stream = match timeout_at(end, model.stream(request)).await {
        Ok(stream) => stream.map_err(refused)?,
        Err(_) => return Err(refused(too_long())),
    };
    while let Some(event) = timeout_at(end, stream.next()).await.unwrap_or_else(|_| Some(Err(too_long()))) {
        let mut heard = so_far.lock();
        match event {
            Ok(TurnEvent::Text(text)) => {
                heard.text.push_str(&text);
                show(DeltaKind::Text, text);
            }
            Ok(TurnEvent::Thinking(text)) => {
                heard.thinking.push_str(&text);
                show(DeltaKind::Thinking, text);
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
                let TurnSoFar { thinking, citations, .. } = std::mem::take(&mut *heard);
                return Ok(FinishedTurn { turn, thinking, citations, usage, cost, stop });
            }
            Err(error) => return Err(heard.failed(model.id(), error)),
        }
    }
    Err(so_far.lock().failed(model.id(), ModelError::cut()))
}

fn too_long() -> ModelError {
    let minutes = LONGEST.as_secs() / 60;
    ModelError::new(ModelErrorKind::Network, format!("the model's turn was not over after {minutes} minutes"))
        .with_hint("say the goal in smaller parts, or choose a faster model")
}

impl PartialTurn {
    fn lock(&self) -> MutexGuard<'_, TurnSoFar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a turn that nobody waits for any more; `None` if it was not asked for yet. The provider may go
    /// on with it, and may have read the request even where no answer came.
    pub fn dropped(&self, turn: u32, model: &ModelId) -> Option<EventBody> {
        let heard = self.lock();
        let (usage, cost, text) = (heard.usage, heard.cost(model).at_least(), heard.text.clone());
        heard.asked.then_some(EventBody::TurnDropped { turn, usage, cost, text })
    }
}

impl TurnSoFar {
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

    fn heard(billed: Option<Usd>, searched: bool) -> TurnSoFar {
        let usage = Usage { input: 1_000_000, ..Usage::default() };
        TurnSoFar { usage, billed, searched, ..TurnSoFar::default() }
    }

    #[test]
    fn a_cost_is_exact_only_where_all_of_it_was_counted() {
        let model = ModelId("anthropic/claude-sonnet-5-5".into());
        let usd = Usd::from_dollars(2.0).unwrap();
        let failed = |heard: TurnSoFar| heard.failed(&model, ModelError::cut()).cost;
        assert_eq!(heard(None, false).cost(&model), Cost::Priced { usd });
        assert_eq!(heard(None, true).cost(&model), Cost::AtLeast { usd });
        assert_eq!(failed(heard(None, false)), Some(Cost::AtLeast { usd }));
        // The provider's own figure has its searches in it.
        for searched in [false, true] {
            let heard = || heard(Some(Usd(7)), searched);
            assert_eq!(heard().cost(&model), Cost::Billed { usd: Usd(7) });
            assert_eq!(failed(heard()), Some(Cost::Billed { usd: Usd(7) }));
        }
        assert_eq!(failed(TurnSoFar::default()), Some(Cost::Unknown));
        let so_far = PartialTurn::default();
        assert_eq!(so_far.dropped(1, &model), None);
        so_far.lock().asked = true;
        let (usage, cost) = (Usage::default(), Cost::Unknown);
        let dropped = EventBody::TurnDropped { turn: 1, usage, cost, text: String::new() };
        assert_eq!(so_far.dropped(1, &model), Some(dropped));
    }
}
