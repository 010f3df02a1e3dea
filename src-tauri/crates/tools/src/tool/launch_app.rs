//! `launchApp`: an application is started.

use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, filled};
use crate::reach::{Act, Reach};
use crate::untrusted;

const MOST_CHARS: usize = 100;
/// Of what came of it, for people.
const NOTE: usize = 300;

pub(super) struct LaunchApp;

/// Starts an application by its name, and waits for its window.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 100))]
    app: String,
}

impl Builtin for LaunchApp {
    const NAME: &'static str = "launchApp";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Apps;
    const ABILITY: Ability = Ability::Windows;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("app", &input.app, MOST_CHARS)?;
        let reach = Reach::App(Some(input.app.clone()));
        let act = Act::Start(input.app.clone());
        let plan = Plan::new(Self::RISK, Launch { app: input.app }).reaching(reach).doing(act);
        // Programs take their time.
        Ok(plan.taking(Duration::from_secs(15)))
    }
}

struct Launch {
    app: String,
}

#[async_trait]
impl Task for Launch {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        match cx.desktop.launch(self.app.clone()).await {
            Ok(acted) => {
                let mut outcome = Outcome::acted(&acted, "", None);
                // The desktop alone knows whether it was started, or ran before.
                outcome.summary = untrusted::line(&acted.note, NOTE);
                outcome
            }
            Err(error) => Outcome::failed_acting(LaunchApp::NAME, &error),
        }
    }
}
