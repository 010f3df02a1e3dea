//! `webType`: a field of the page is filled, or an option chosen, and read back.

use async_trait::async_trait;
use browser::{Fill, Then, WebText};
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, filled, web};
use crate::reach::{Act, Reach, Sends};

const MOST_CHARS: usize = 20_000;

pub(super) struct WebType;

/// Fills a field of the page by its ref from webElements, and reads it back. Replaces what is there. In a select it
/// chooses the option with this text (one option a line, where several can be chosen). Dates are 2026-01-31, times
/// 13:45, colours #ff0000.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as w12.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = 40))]
    reference: String,
    /// Empty to clear the field.
    #[schemars(length(max = 20000))]
    text: String,
    /// true: at the end of what is there.
    append: Option<bool>,
    /// true: presses Enter afterwards.
    submit: Option<bool>,
}

impl Builtin for WebType {
    const NAME: &'static str = "webType";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Web;
    const NEEDS: Needs = Needs::Browser;
    const EGRESS: bool = true;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        web::reference("ref", &input.reference)?;
        if !input.text.is_empty() {
            filled("text", &input.text, MOST_CHARS)?;
        }
        let how = if input.append.unwrap_or(false) { Fill::Append } else { Fill::Replace };
        let then = if input.submit.unwrap_or(false) { Then::Submit } else { Then::Nothing };
        let sends = if then == Then::Submit { Sends::ToForm } else { Sends::ToPage };
        let reach = Reach::Page { reference: Some(input.reference.clone()), sends };
        let act = Act::Fill(input.text.clone());
        let text = WebText { reference: input.reference, text: input.text, how, then };
        Ok(Plan::new(Self::RISK, Type { text }).reaching(reach).doing(act))
    }
}

struct Type {
    text: WebText,
}

#[async_trait]
impl Task for Type {
    async fn run(&self, cx: &Context) -> Outcome {
        let reach = Reach::Page { reference: Some(self.text.reference.clone()), sends: Sends::Nothing };
        let text = match cx.fill(&self.text.text, &reach).await {
            Ok(text) => text,
            Err(error) => return Outcome::failed(WebType::NAME, Effect::Refused, error),
        };
        cx.begin();
        let count = self.text.text.chars().count();
        let done = cx.browser.type_text(WebText { text, ..self.text.clone() }, cx.cancel.clone()).await;
        // The text is not repeated: it may be a password.
        web::acted(WebType::NAME, done, |called| format!("typed {count} characters into {called}"))
    }
}
