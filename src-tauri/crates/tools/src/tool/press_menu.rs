//! `pressMenu`: an item of the menu bar by its path.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, filled, operate, within};
use crate::reach::Reach;

const MOST_CHARS: usize = 200;
const MOST_STEPS: usize = 8;

pub(super) struct PressMenu;

/// Chooses an item of a menu bar by its path, such as ["File", "Save As..."]. A wrong name is answered with those there are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(max = 200))]
    app: Option<String>,
    #[schemars(length(min = 1, max = 8))]
    path: Vec<String>,
}

impl Builtin for PressMenu {
    const NAME: &'static str = "pressMenu";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        within("the number of names in path", input.path.len(), 1, MOST_STEPS)?;
        for (index, step) in input.path.iter().enumerate() {
            filled(&format!("path[{index}]"), step, MOST_CHARS)?;
        }
        let app = input.app.filter(|text| !text.trim().is_empty());
        if let Some(app) = &app {
            filled("app", app, MOST_CHARS)?;
        }
        let reach = Reach::Menu { app: app.clone(), path: input.path.clone() };
        Ok(Plan::new(Self::RISK, Choose { app, path: input.path }).reaching(reach))
    }
}

struct Choose {
    app: Option<String>,
    path: Vec<String>,
}

#[async_trait]
impl Task for Choose {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        match cx.desktop.press_menu(self.app.clone(), self.path.clone(), cx.cancel.clone()).await {
            Ok(done) => operate::told(&done, "chose"),
            Err(error) => Outcome::failed_acting(PressMenu::NAME, &error),
        }
    }
}
