//! `editFile`: parts of a text file are replaced.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use space::files::{Edit, WriteMode};

use super::files::{FileWrite, Text};
use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, files};
use crate::reach::FileAct;

pub(super) struct EditFile;

/// Changes a text file: each `find` is there exactly once and becomes `replace`; or a unified diff in `patch`. All of
/// it or nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    path: String,
    edits: Option<Vec<One>>,
    patch: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    find: String,
    replace: String,
    /// Wherever it is there.
    all: Option<bool>,
}

impl Input {
    fn edits(self) -> Result<(String, Text), ToolError> {
        let edits = match (self.edits, self.patch) {
            (Some(edits), None) if !edits.is_empty() => {
                let one =
                    |one: One| Edit { old: one.find, new: one.replace, every: one.all.unwrap_or(false) };
                Text::Edits(edits.into_iter().map(one).collect())
            }
            (None, Some(patch)) => Text::Patch(patch),
            _ => return Err(bad_arguments("give edits or patch")),
        };
        Ok((self.path, edits))
    }
}

impl Builtin for EditFile {
    const NAME: &'static str = "editFile";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let (path, edits) = input.edits()?;
        let path = files::path("path", &path, env)?;
        let write = FileWrite { path: path.clone(), text: edits, mode: WriteMode::Replace };
        let plan = Plan::new(Self::RISK, Change(write.clone())).writing(write);
        Ok(files::changing(plan, &[&path], FileAct::Write))
    }
}

struct Change(FileWrite);

#[async_trait]
impl Task for Change {
    async fn run(&self, cx: &Context) -> Outcome {
        let summary = format!("changed {}", files::shown(&self.0.path));
        files::write(cx, EditFile::NAME, summary, self.0.clone()).await
    }
}
