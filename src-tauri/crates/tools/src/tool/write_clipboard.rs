//! `writeClipboard`: a text is copied.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify, filled, on_screen};

const MOST_CHARS: usize = 100_000;

pub(super) struct WriteClipboard;

/// Copies a text into the clipboard, in place of what is there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 100_000))]
    text: String,
}

impl Builtin for WriteClipboard {
    const NAME: &'static str = "writeClipboard";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Clipboard;
    const ABILITY: Ability = Ability::Input;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("text", &input.text, MOST_CHARS)?;
        Ok(Plan::new(Self::RISK, Copy { text: input.text }))
    }
}

struct Copy {
    text: String,
}

#[async_trait]
impl Task for Copy {
    async fn run(&self, cx: &Context) -> Outcome {
        let before = on_screen::copied(cx).await;
        cx.begin();
        let summary = format!("copied {} characters", self.text.chars().count());
        match cx.desktop.set_clipboard(self.text.clone()).await {
            Ok(acted) => {
                let mut outcome = Outcome::acted(&acted, &summary, None);
                outcome.changes.extend(on_screen::clipboard_set(cx, before, &self.text));
                outcome
            }
            Err(error) => Outcome::failed_acting(WriteClipboard::NAME, &error),
        }
    }
}
