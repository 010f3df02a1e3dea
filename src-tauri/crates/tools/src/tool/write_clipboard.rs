//! `writeClipboard`: a text is copied.

use async_trait::async_trait;
use desktop::Abilities;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::needs_input;
use super::{Catalog, Context, Outcome, Plan, Task, Tool, filled};

const MOST_CHARS: usize = 100_000;

pub(super) struct WriteClipboard;

/// Copies a text into the clipboard, in place of what is there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 100_000))]
    text: String,
    /// Why, in a few words for the user.
    reason: Option<String>,
}

impl Tool for WriteClipboard {
    const NAME: &'static str = "writeClipboard";
    const RISK: Risk = Risk::Edit;
    type Input = Input;

    fn missing(abilities: &Abilities) -> Option<&'static str> {
        needs_input(abilities)
    }

    fn plan(input: Input, _: &Catalog<'_>) -> Result<Plan, ToolError> {
        filled("text", &input.text, MOST_CHARS)?;
        Ok(Plan::of(Copy { text: input.text }).because(input.reason))
    }
}

struct Copy {
    text: String,
}

#[async_trait]
impl Task for Copy {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        let summary = format!("copied {} characters", self.text.chars().count());
        match cx.desktop.set_clipboard(self.text.clone()).await {
            Ok(acted) => Outcome::acted(&acted, &summary, None),
            Err(error) => Outcome::failed_acting(WriteClipboard::NAME, &error),
        }
    }
}
