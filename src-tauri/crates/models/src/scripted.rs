//! A model that does what a test says, without a network. Beside the trait that it fakes, for the tests of all crates.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream;
use futures::{FutureExt, StreamExt};
use protocol::ids::ModelId;
use protocol::turn::{StopReason, Usage};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{Model, ModelError, ModelErrorKind, ProposedCall, Request, Turn, TurnEvent, TurnEvents};

/// What each turn of a [`Scripted`] model costs.
pub const USAGE: Usage = Usage { input: 100, cached: 0, output: 10, thinking: 0, cache_write: 0 };

/// Answers each request with its next step, and remembers the requests.
pub struct Scripted {
    id: ModelId,
    steps: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<Arc<Request>>>,
}

/// One answer.
pub struct Step {
    delay: Duration,
    gate: Option<Arc<Notify>>,
    answer: Answer,
}

enum Answer {
    Events(Vec<Result<TurnEvent, ModelError>>),
    /// The same, but the stream does not end.
    Unended(Vec<TurnEvent>),
    Refusal(ModelError),
    Made(Box<dyn FnOnce(&Request) -> Step + Send>),
    Silence,
}

impl Step {
    /// Says `text` and ends.
    pub fn text(text: &str) -> Self {
        Self::turn(text, Vec::new(), StopReason::End)
    }

    /// Proposes one call.
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self::calls(vec![(tool, arguments)])
    }

    /// Proposes calls, with ids `p1`, `p2` ... as a provider gives them.
    pub fn calls(calls: Vec<(&str, Value)>) -> Self {
        let proposed = calls.into_iter().zip(1..).map(|((name, arguments), number)| {
            ProposedCall::new(Some(format!("p{number}")), name, arguments)
        });
        Self::turn("", proposed.collect(), StopReason::ToolCalls)
    }

    /// A whole turn as it stands, well-behaved or not.
    pub fn turn(text: &str, calls: Vec<ProposedCall>, stop: StopReason) -> Self {
        let raw_calls: Vec<Value> = calls
            .iter()
            .map(|call| json!({ "id": call.id, "name": call.name, "args": call.arguments }))
            .collect();
        let raw = json!({ "text": text, "calls": raw_calls });
        let turn = Turn { text: text.to_owned(), calls, provider: "scripted".into(), raw };
        let said = (!text.is_empty()).then(|| Ok(TurnEvent::Text(text.to_owned())));
        let end = Ok(TurnEvent::Finished { turn, usage: USAGE, stop });
        Self::events(said.into_iter().chain([end]).collect())
    }

    /// These events and then the end of the stream, whether or not they end the turn.
    pub fn events(events: Vec<Result<TurnEvent, ModelError>>) -> Self {
        Self { delay: Duration::ZERO, gate: None, answer: Answer::Events(events) }
    }

    /// These events and then nothing more: for stopping in the middle of a turn.
    pub fn unended(events: Vec<TurnEvent>) -> Self {
        Self { delay: Duration::ZERO, gate: None, answer: Answer::Unended(events) }
    }

    /// Refuses the request.
    pub fn fail(error: ModelError) -> Self {
        Self { delay: Duration::ZERO, gate: None, answer: Answer::Refusal(error) }
    }

    /// Never answers: for stopping in the middle of a wait.
    pub fn silence() -> Self {
        Self { delay: Duration::ZERO, gate: None, answer: Answer::Silence }
    }

    /// PictureDetail at the request before it decides.
    pub fn with(make: impl FnOnce(&Request) -> Self + Send + 'static) -> Self {
        Self { delay: Duration::ZERO, gate: None, answer: Answer::Made(Box::new(make)) }
    }

    /// Answers only once `gate` was notified.
    #[must_use]
    pub fn once(self, gate: &Arc<Notify>) -> Self {
        Self { gate: Some(Arc::clone(gate)), ..self }
    }

    /// Answers only after `delay`, in the runtime's time.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay += delay;
        self
    }
}

impl Scripted {
    pub fn new(steps: Vec<Step>) -> Self {
        Self {
            id: ModelId("scripted/test".into()),
            steps: Mutex::new(steps.into()),
            requests: Mutex::new(Vec::new()),
        }
    }

    /// The same by another name: one that has a price.
    #[must_use]
    pub fn named(self, id: &str) -> Self {
        Self { id: ModelId(id.into()), ..self }
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many steps were not asked for yet.
    pub fn steps_left(&self) -> usize {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn next(&self, request: &Arc<Request>) -> Step {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(Arc::clone(request));
        let step = self.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        step.unwrap_or_else(|| {
            let message = format!("the script has no step {}", requests.len());
            Step::fail(ModelError::new(ModelErrorKind::BadRequest, message))
        })
    }
}

impl Model for Scripted {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>> {
        let mut step = self.next(&request);
        async move {
            loop {
                if !step.delay.is_zero() {
                    tokio::time::sleep(step.delay).await;
                }
                if let Some(gate) = &step.gate {
                    gate.notified().await;
                }
                match step.answer {
                    Answer::Events(events) => return Ok(stream::iter(events).boxed()),
                    Answer::Unended(events) => {
                        let said = stream::iter(events.into_iter().map(Ok));
                        return Ok(said.chain(stream::pending()).boxed());
                    }
                    Answer::Refusal(error) => return Err(error),
                    Answer::Made(make) => step = make(&request),
                    Answer::Silence => return std::future::pending().await,
                }
            }
        }
        .boxed()
    }

    /// Always well, and no step.
    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, Part};

    async fn ask(model: &Scripted, text: &str) -> Result<Vec<Result<TurnEvent, ModelError>>, ModelError> {
        let messages = vec![Message::User(vec![Part::Text(text.into())])];
        let stream = model.stream(Request { messages, ..Request::default() }.into()).await?;
        Ok(stream.collect().await)
    }

    #[tokio::test]
    async fn each_request_gets_the_next_step_and_is_remembered() {
        let error = ModelError::cut();
        let model = Scripted::new(vec![
            Step::text("hi"),
            Step::fail(error.clone()),
            Step::with(|request| Step::text(&request.messages.len().to_string())),
        ]);
        assert_eq!(ask(&model, "a").await.unwrap()[0], Ok(TurnEvent::Text("hi".into())));
        assert_eq!(ask(&model, "b").await.unwrap_err(), error);
        assert_eq!(ask(&model, "c").await.unwrap()[0], Ok(TurnEvent::Text("1".into())));
        assert_eq!(ask(&model, "d").await.unwrap_err().message, "the script has no step 4");
        assert_eq!((model.requests().len(), model.steps_left()), (4, 0));
    }
}
