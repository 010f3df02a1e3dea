//! `listFiles`: what is in the session's folder.

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use space::files::{Kind, SpacePath};

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, files, filled};
use crate::untrusted;

const MOST: usize = 500;
const NAME_CHARS: usize = 255;

pub(super) struct ListFiles;

/// Lists a folder of your files. Paths are relative to your folder. With `glob` the files below it whose paths match
/// (`**/*.pdf`).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    path: Option<String>,
    #[schemars(length(max = 1000))]
    glob: Option<String>,
    /// The name after which to go on, where a list was cut.
    after: Option<String>,
}

impl Builtin for ListFiles {
    const NAME: &'static str = "listFiles";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Files;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let path = files::folder(input.path.as_deref(), env)?;
        if let Some(glob) = &input.glob {
            filled("glob", glob, 1_000)?;
        }
        Ok(Plan::new(Self::RISK, List { path, glob: input.glob, after: input.after }))
    }
}

struct List {
    path: SpacePath,
    glob: Option<String>,
    after: Option<String>,
}

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        let listed = match &self.glob {
            Some(glob) => self.matching(cx, glob.clone()).await,
            None => self.entries(cx).await,
        };
        listed.unwrap_or_else(|error| Outcome::failed(ListFiles::NAME, Effect::Refused, error))
    }
}

impl List {
    async fn entries(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let (path, after) = (self.path.clone(), self.after.clone());
        let listing =
            files::blocking(cx, move |space, stop| space.list(&path, after.as_deref(), MOST, stop)).await?;
        let entries: Vec<_> = listing
            .entries
            .iter()
            .map(|entry| {
                let name = untrusted::line(&entry.name, NAME_CHARS);
                match entry.kind {
                    Kind::Folder => json!(format!("{name}/")),
                    Kind::File => json!({ "name": name, "bytes": entry.bytes }),
                    kind => json!({ "name": name, "kind": kind }),
                }
            })
            .collect();
        let shown = files::shown(&self.path);
        let summary = match listing.total as usize {
            total if total == entries.len() => format!("{total} entries in {shown}"),
            total => format!("{} of {total} entries in {shown}", entries.len()),
        };
        let cut =
            (listing.total as usize > entries.len()).then(|| listing.entries.last().map(|last| &last.name));
        let mut data = json!({ "path": self.path.to_string(), "entries": entries });
        if let Some(Some(last)) = cut {
            data["after"] = json!(untrusted::line(last, NAME_CHARS));
        }
        Ok(Outcome::looked(summary, data))
    }

    async fn matching(&self, cx: &Context, glob: String) -> Result<Outcome, ToolError> {
        let path = self.path.clone();
        let found =
            files::blocking(cx, move |space, stop| space.glob(&glob, &path, false, MOST, stop)).await?;
        let paths: Vec<_> =
            found.paths.iter().map(|path| untrusted::line(&path.to_string(), 1_000)).collect();
        let more = if found.more { ", and there are more" } else { "" };
        let summary = format!("{} files match in {}{more}", paths.len(), files::shown(&self.path));
        Ok(Outcome::looked(
            summary,
            json!({ "path": self.path.to_string(), "files": paths, "more": found.more }),
        ))
    }
}
