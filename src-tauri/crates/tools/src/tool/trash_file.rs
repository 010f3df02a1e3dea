//! `trashFile`: a file or folder goes to the trash, from where it can be had back.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use space::files::SpacePath;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, files};
use crate::reach::FileAct;

pub(super) struct TrashFile;

/// Deletes a file or a folder: it goes to the user's trash.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    path: String,
}

impl Builtin for TrashFile {
    const NAME: &'static str = "trashFile";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let path = files::path("path", &input.path, env)?;
        let plan = Plan::new(Self::RISK, Trash { path: path.clone() });
        Ok(files::changing(plan, &[&path], FileAct::Delete))
    }
}

struct Trash {
    path: SpacePath,
}

#[async_trait]
impl Task for Trash {
    async fn run(&self, cx: &Context) -> Outcome {
        let path = self.path.clone();
        let summary = format!("moved {} to the trash", files::shown(&path));
        files::change(cx, TrashFile::NAME, summary, move |changes| changes.trash(&path)).await
    }
}
