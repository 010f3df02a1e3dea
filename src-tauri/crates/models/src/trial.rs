//! Tries a model out with one tiny turn that has a tool and a picture: what works, how long it took, what it cost.

use std::time::Duration;

use futures::StreamExt;
use protocol::turn::{Cost, StopReason, Usage};
use serde_json::json;
use tokio::time::Instant;

use crate::cost::cost;
use crate::{Image, Message, Model, ModelError, Part, Request, ToolSpec, TurnEvent};

const QUESTION: &str =
    "Which colour is this picture? Answer by calling the tool `report` with one English word.";
const COLOUR: &str = "red";
const PICTURE: &[u8] = include_bytes!("../data/red.png");

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Whether the tool was called as it is described.
    pub tool: bool,
    /// Whether the picture was seen: its colour was named.
    pub picture: bool,
    pub stop: StopReason,
    /// Until the first event, and until the turn was whole.
    pub first: Duration,
    pub whole: Duration,
    pub usage: Usage,
    pub cost: Cost,
}

/// Asks for the turn.
///
/// # Errors
/// The model's.
pub async fn trial(model: &dyn Model) -> Result<Trial, ModelError> {
    let began = Instant::now();
    let mut stream = model.stream(question().into()).await?;
    let (mut first, mut billed) = (None, None);
    while let Some(event) = stream.next().await {
        let event = event?;
        first.get_or_insert_with(|| began.elapsed());
        match event {
            TurnEvent::Billed(amount) => billed = Some(amount),
            TurnEvent::Finished { turn, usage, stop } => {
                let call = turn.calls.iter().find(|call| call.name == "report");
                let said = call.map_or(turn.text.clone(), |call| call.arguments.to_string());
                let whole = began.elapsed();
                return Ok(Trial {
                    tool: call.is_some_and(|call| call.arguments["colour"].is_string()),
                    picture: said.to_lowercase().contains(COLOUR),
                    stop,
                    first: first.unwrap_or(whole),
                    whole,
                    usage,
                    cost: cost(model.id(), &usage, billed),
                });
            }
            _ => {}
        }
    }
    Err(ModelError::cut())
}

fn question() -> Request {
    let image = Image { media_type: "image/png".into(), bytes: PICTURE.into(), detail: crate::Detail::Whole };
    Request {
        system: String::new(),
        tools: vec![ToolSpec {
            name: "report".into(),
            description: "Reports the colour of the picture.".into(),
            schema: json!({
                "type": "object",
                "properties": { "colour": { "type": "string" } },
                "required": ["colour"],
                "additionalProperties": false,
            }),
        }],
        messages: vec![Message::User(vec![Part::Text(QUESTION.into()), Part::Image(image)])],
        ..Request::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Scripted, Step};

    #[tokio::test(start_paused = true)]
    async fn a_model_that_calls_and_sees_passes_and_its_time_is_told() {
        let seconds = Duration::from_secs(3);
        let step = Step::call("report", json!({ "colour": "Dark Red" })).after(seconds);
        let trial = trial(&Scripted::new(vec![step])).await.unwrap();
        assert!(trial.tool && trial.picture);
        assert_eq!((trial.first, trial.whole, trial.cost), (seconds, seconds, Cost::Unknown));
    }

    #[tokio::test]
    async fn what_does_not_work_is_told_apart() {
        for (step, tool, picture) in [
            (Step::text("It is red."), false, true),
            (Step::text("I see nothing."), false, false),
            (Step::call("report", json!({ "colour": "blue" })), true, false),
            (Step::call("report", json!("red")), false, true),
        ] {
            let trial = trial(&Scripted::new(vec![step])).await.unwrap();
            assert_eq!((trial.tool, trial.picture), (tool, picture));
        }
        assert!(super::trial(&Scripted::new(vec![Step::events(Vec::new())])).await.is_err());
    }
}
