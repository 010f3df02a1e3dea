//! `makeFolder`: a folder in the session's folder.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use space::files::SpacePath;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, files};
use crate::reach::FileAct;

pub(super) struct MakeFolder;

/// Makes a folder, with those above it that are missing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    path: String,
}

impl Builtin for MakeFolder {
    const NAME: &'static str = "makeFolder";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let path = files::path("path", &input.path, env)?;
        let plan = Plan::new(Self::RISK, Make { path: path.clone() });
        Ok(files::changing(plan, &[&path], FileAct::Write))
    }
}

struct Make {
    path: SpacePath,
}

#[async_trait]
impl Task for Make {
    async fn run(&self, cx: &Context) -> Outcome {
        let path = self.path.clone();
        let summary = format!("made the folder {}", files::shown(&path));
        files::change(cx, MakeFolder::NAME, summary, move |changes| changes.make_folder(&path)).await
    }
}
