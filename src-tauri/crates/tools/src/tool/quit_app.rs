//! `quitApp`: an application is asked to end.

use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, filled};
use crate::reach::Reach;
use crate::untrusted;

const MOST_CHARS: usize = 100;

pub(super) struct QuitApp;

/// Asks an application to close. It may ask its user to save first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 100))]
    app: String,
}

impl Builtin for QuitApp {
    const NAME: &'static str = "quitApp";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Apps;
    const ABILITY: Ability = Ability::Windows;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("app", &input.app, MOST_CHARS)?;
        let reach = Reach::App(Some(input.app.clone()));
        let plan = Plan::new(Self::RISK, Quit { app: input.app }).reaching(reach);
        // Programs take their time.
        Ok(plan.taking(Duration::from_secs(5)))
    }
}

struct Quit {
    app: String,
}

#[async_trait]
impl Task for Quit {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        match cx.desktop.quit(self.app.clone()).await {
            Ok(acted) => {
                let summary = format!("asked to end: {}", untrusted::line(&self.app, MOST_CHARS));
                Outcome::acted(&acted, &summary, None)
            }
            Err(error) => Outcome::failed_acting(QuitApp::NAME, &error),
        }
    }
}
