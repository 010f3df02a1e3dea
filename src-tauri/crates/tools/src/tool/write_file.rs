//! `writeFile`: a text file is made, or written anew.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use space::files::WriteMode;

use super::files::{FileWrite, Text};
use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, files};
use crate::reach::FileAct;

const MOST_CHARS: usize = 190_000;

pub(super) struct WriteFile;

/// Writes a text file. One that is there is kept, unless `mode` says `replace` or `append`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    path: String,
    text: String,
    mode: Option<How>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum How {
    Create,
    Replace,
    Append,
}

impl Builtin for WriteFile {
    const NAME: &'static str = "writeFile";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let path = files::path("path", &input.path, env)?;
        if input.text.chars().count() > MOST_CHARS {
            return Err(bad_arguments(format!(
                "text has more than {MOST_CHARS} characters; append the rest"
            )));
        }
        let (text, mode) = match input.mode {
            None | Some(How::Create) => (Text::Whole(input.text), WriteMode::Create),
            Some(How::Replace) => (Text::Whole(input.text), WriteMode::Either),
            Some(How::Append) => (Text::More(input.text), WriteMode::Either),
        };
        let write = FileWrite { path: path.clone(), text, mode };
        let plan = Plan::new(Self::RISK, Write(write.clone())).writing(write);
        Ok(files::changing(plan, &[&path], FileAct::Write))
    }
}

struct Write(FileWrite);

#[async_trait]
impl Task for Write {
    async fn run(&self, cx: &Context) -> Outcome {
        let summary = format!("wrote {}", files::shown(&self.0.path));
        files::write(cx, WriteFile::NAME, summary, self.0.clone()).await
    }
}
