//! `webClick`: a click on an element of the page, or the answer to its dialog.

use async_trait::async_trait;
use browser::{DialogAnswer, WebClick as Click};
use desktop::{Button, Key};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::key;
use super::{
    Builtin, Context, DISPLAY, Env, Group, Needs, Outcome, Plan, Task, bad_arguments, filled, web, within,
};
use crate::reach::{Reach, Sends};
use crate::untrusted;

const ANSWER_CHARS: usize = 2_000;

pub(super) struct WebClick;

/// Clicks an element of the page by its ref from webElements, without moving the pointer; or answers the page's open
/// dialog. Says what came of it: what the element is now, where the page went, which dialog or tab opened.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as w12. Left out to answer a dialog.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 40))]
    reference: Option<String>,
    /// Left if left out.
    button: Option<Which>,
    /// 2 for a double click.
    #[schemars(range(min = 1, max = 3))]
    count: Option<u8>,
    /// Keys held while clicking: shift, ctrl, alt, cmd.
    #[schemars(length(max = 4))]
    modifiers: Option<Vec<String>>,
    /// Answers the open dialog of the page, instead of clicking.
    dialog: Option<Answer>,
    /// What a prompt is answered with.
    #[schemars(length(max = 2000))]
    answer: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Which {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Accept,
    Dismiss,
}

impl Builtin for WebClick {
    const NAME: &'static str = "webClick";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Web;
    const NEEDS: Needs = Needs::Browser;
    const EGRESS: bool = true;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let reference = input.reference.filter(|text| !text.is_empty());
        let text = input.answer.filter(|text| !text.is_empty());
        if let Some(text) = &text {
            filled("answer", text, ANSWER_CHARS)?;
        }
        let action = match (reference, input.dialog) {
            (Some(_), Some(_)) => return Err(bad_arguments("give ref or dialog, not both")),
            (None, None) => return Err(bad_arguments("ref is missing; take it from webElements")),
            (None, Some(Answer::Accept)) => PageAction::Answer(DialogAnswer::Accept(text)),
            (None, Some(Answer::Dismiss)) => PageAction::Answer(DialogAnswer::Dismiss),
            (Some(reference), None) => {
                web::reference("ref", &reference)?;
                let count = within("count", input.count.unwrap_or(1), 1, 3)?;
                let names = input.modifiers.unwrap_or_default();
                within("the number of modifiers", names.len(), 0, 4)?;
                let held: Vec<Key> = names.iter().map(|name| key(name)).collect::<Result<_, _>>()?;
                if let Some(other) = held.iter().find(|key| !key.is_modifier()) {
                    return Err(bad_arguments(format!(
                        "{other} is no modifier; name shift, ctrl, alt or cmd"
                    )));
                }
                let button = match input.button.unwrap_or(Which::Left) {
                    Which::Left => Button::Left,
                    Which::Middle => Button::Middle,
                    Which::Right => Button::Right,
                };
                PageAction::Click(Click { reference, button, count, held, display: DISPLAY })
            }
        };
        let reference = match &action {
            PageAction::Click(click) => Some(click.reference.clone()),
            PageAction::Answer(_) => None,
        };
        let sends = match &action {
            PageAction::Answer(DialogAnswer::Accept(Some(_))) => Sends::ToPage,
            PageAction::Answer(_) | PageAction::Click(_) => Sends::Nothing,
        };
        Ok(Plan::new(Self::RISK, action).reaching(Reach::Page { reference, sends }))
    }
}

enum PageAction {
    Click(Click),
    Answer(DialogAnswer),
}

#[async_trait]
impl Task for PageAction {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        match self {
            Self::Click(click) => {
                let done = cx.browser.click(click.clone(), cx.cancel.clone()).await;
                let times = ["", " twice", " three times"][usize::from(click.count.clamp(1, 3) - 1)];
                let shown = untrusted::line(&click.reference, 40);
                web::acted(WebClick::NAME, done, |called| format!("clicked {called} ({shown}){times}"))
            }
            Self::Answer(answer) => {
                let done = cx.browser.answer(answer.clone(), cx.cancel.clone()).await;
                let did = match answer {
                    DialogAnswer::Accept(_) => "accepted",
                    DialogAnswer::Dismiss => "dismissed",
                };
                web::acted(WebClick::NAME, done, |called| format!("{did} {called}"))
            }
        }
    }
}
