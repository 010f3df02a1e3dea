//! `searchFiles`: lines that match, in the files of the session's folder.

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use space::files::{Case, Line, Query, SpacePath};

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, files, filled, within};
use crate::untrusted;

const MOST: usize = 100;
const LINE_CHARS: usize = 300;

pub(super) struct SearchFiles;

/// Finds lines in your files by a regular expression. What ignore files name is left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Where: a folder or a file.
    path: Option<String>,
    /// Only in files whose paths match: *.md
    glob: Option<String>,
    ignore_case: Option<bool>,
    /// Lines around each.
    #[schemars(range(min = 0, max = 10))]
    context: Option<u32>,
}

impl Builtin for SearchFiles {
    const NAME: &'static str = "searchFiles";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        filled("pattern", &input.pattern, 1_000)?;
        let path = files::folder(input.path.as_deref(), env)?;
        let context = within("context", input.context.unwrap_or(0), 0, 10)?;
        let query = Query {
            pattern: input.pattern,
            literal: false,
            case: if input.ignore_case.unwrap_or(false) { Case::Insensitive } else { Case::Sensitive },
            under: path.clone(),
            globs: input.glob.into_iter().collect(),
            context: context as usize,
            limit: MOST,
            ignored_too: false,
        };
        Ok(files::reading(Plan::new(Self::RISK, Search { path: path.clone(), query }), &path))
    }
}

struct Search {
    path: SpacePath,
    query: Query,
}

#[async_trait]
impl Task for Search {
    async fn run(&self, cx: &Context) -> Outcome {
        let query = self.query.clone();
        let found = match files::blocking(cx, move |space, stop| space.search(&query, stop)).await {
            Ok(found) => found,
            Err(error) => return Outcome::failed(SearchFiles::NAME, Effect::Refused, error),
        };
        let told = |line: &Line| {
            let text = untrusted::cut(&untrusted::clean(&line.text).0, LINE_CHARS);
            let sign = if line.matches { ':' } else { '-' };
            format!("{}{sign} {text}", line.number)
        };
        let files: Vec<_> = found
            .files
            .iter()
            .map(|file| {
                let lines: Vec<_> = file.lines.iter().map(told).collect();
                json!({ "path": untrusted::line(file.path.as_str(), 1_000), "lines": lines })
            })
            .collect();
        let more = if found.more { ", and there are more" } else { "" };
        let matches: usize =
            found.files.iter().map(|file| file.lines.iter().filter(|line| line.matches).count()).sum();
        let lines = if matches == 1 { "1 line matches".to_owned() } else { format!("{matches} lines match") };
        let place = match files::shown(&self.path) {
            path if path == "." => "in the folder".to_owned(),
            path => format!("below {path}"),
        };
        let summary = format!("{lines} {place}{more}");
        let mut data = json!({ "path": self.path.to_string(), "files": files });
        if found.more {
            data["more"] = true.into();
        }
        if found.skipped.secret > 0 {
            data["withheld"] =
                json!("files that hold keys; each is searched by its own path, and asked about");
        }
        if found.skipped != Default::default() {
            data["skipped"] = json!(found.skipped);
        }
        Outcome::looked(summary, data)
    }
}
