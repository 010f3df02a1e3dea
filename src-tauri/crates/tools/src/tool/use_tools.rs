//! `useTools`: the model asks for groups of tools that it does not begin with, so that no request carries them unused.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::tool::{Mode, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, tool_error};
use crate::spec::Tool;

pub const NAME: &str = "useTools";

pub(super) struct UseTools;

/// Adds groups of tools to yours, from your next turn on. `web`: a browser's pages and tabs; quicker and truer there than
/// the screen. `files`, `terminal`: the user's folder, and commands in it. `search`: web pages without a browser. `agenda`:
/// calendars, reminders. `ocr`: the text in a part of the picture. `held`: drag, hover, hold keys or buttons down. `script`:
/// AppleScript. `agents`: helpers. Or a server of the user's, by its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1))]
    groups: Vec<String>,
}

/// Those without a server.
const NAMED: [Group; 10] = [
    Group::Web,
    Group::Clipboard,
    Group::Ocr,
    Group::Held,
    Group::Script,
    Group::Files,
    Group::Terminal,
    Group::Search,
    Group::Agenda,
    Group::Agents,
];

/// What is no other group is a server, be it one that is not there.
fn named(name: &str) -> Group {
    let known = NAMED.into_iter().find(|group| group.name() == name);
    known.unwrap_or_else(|| Group::Server(name.into()))
}

/// The groups that a call of it names; empty if its arguments make no sense.
pub fn named_groups(arguments: &Value) -> Vec<Group> {
    let input = serde_json::from_value::<Input>(arguments.clone());
    input.map_or_else(|_| Vec::new(), |input| input.groups.iter().map(|name| named(name)).collect())
}

impl Builtin for UseTools {
    const NAME: &'static str = NAME;
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        if input.groups.is_empty() {
            return Err(bad_arguments("groups is empty"));
        }
        let groups: Vec<Group> = input.groups.iter().map(|name| named(name)).collect();
        let is_there = |group: &Group| env.tools.iter().any(|tool| tool.spec().group == *group);
        let servers = groups.iter().filter(|group| matches!(group, Group::Server(_)));
        if let Some(unknown) = servers.into_iter().find(|group| !is_there(group)) {
            let known = NAMED.iter().map(Group::name).collect::<Vec<_>>().join(", ");
            let unknown = unknown.name();
            return Err(bad_arguments(format!(
                "groups: there is no {unknown:?}, neither among {known} nor among the user's servers"
            )));
        }
        // As they will be offered: in Plan mode, those that only look.
        let fits = |tool: &&Arc<dyn Tool>| env.mode == Mode::Act || tool.spec().risk == Risk::Observe;
        let of_them = env.tools.iter().filter(|tool| groups.contains(&tool.spec().group)).filter(fits);
        let (missing, there): (Vec<_>, Vec<_>) = of_them
            .map(|tool| (tool.spec(), tool.missing(&env.available)))
            .partition(|(_, why)| why.is_some());
        if there.is_empty() {
            let why = missing.into_iter().find_map(|(_, why)| why);
            let why = why.unwrap_or_else(|| "in plan mode nothing of it only looks".to_owned());
            return Err(tool_error(ToolErrorKind::NotAvailable, format!("not available here: {why}")));
        }
        let names: Vec<_> = there.into_iter().map(|(spec, _)| spec.name.to_string()).collect();
        Ok(Plan::new(Self::RISK, Added(names)))
    }
}

struct Added(Vec<String>);

#[async_trait]
impl Task for Added {
    async fn run(&self, _: &Context) -> Outcome {
        let summary = format!("from your next turn on: {}", self.0.join(", "));
        Outcome::looked(summary, json!({ "tools": self.0 }))
    }
}
