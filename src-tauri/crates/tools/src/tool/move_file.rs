//! `moveFile`: a file or folder gets another name or place, or a copy there.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use space::files::SpacePath;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, files};
use crate::reach::FileAct;

pub(super) struct MoveFile;

/// Moves or renames a file or folder; with `copy` it stays where it is, too. Nothing is replaced.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    from: String,
    /// Its new path, with its name.
    to: String,
    copy: Option<bool>,
}

impl Builtin for MoveFile {
    const NAME: &'static str = "moveFile";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let (from, to) = (files::path("from", &input.from, env)?, files::path("to", &input.to, env)?);
        if from == to {
            return Err(bad_arguments("from and to are the same"));
        }
        let copies = input.copy.unwrap_or(false);
        let plan = Plan::new(Self::RISK, Move { from: from.clone(), to: to.clone(), copies });
        Ok(files::changing(plan, &[&from, &to], FileAct::Write))
    }
}

struct Move {
    from: SpacePath,
    to: SpacePath,
    copies: bool,
}

#[async_trait]
impl Task for Move {
    async fn run(&self, cx: &Context) -> Outcome {
        let (from, to, copies) = (self.from.clone(), self.to.clone(), self.copies);
        let did = if copies { "copied" } else { "moved" };
        let line = format!("{did} {} to {}", files::shown(&from), files::shown(&to));
        files::change(cx, MoveFile::NAME, line, move |changes| match copies {
            true => changes.copy(&from, &to),
            false => changes.move_to(&from, &to),
        })
        .await
    }
}
