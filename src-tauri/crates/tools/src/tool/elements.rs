//! `elementsJson`: the accessibility tree as one bounded list.

use async_trait::async_trait;
use desktop::{ElementQuery, Scope, Snapshot};
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify, filled, tool_error};
use crate::{untrusted, withheld};

const MOST_CHARS: usize = 200;

pub(super) struct ElementsJson;

/// Lists the elements of one application's windows from the accessibility tree: ref, role, name, description, value,
/// states, actions other than a click, and bounds (0-1000 of the display). A ref holds for as long as its element is
/// there. `cut` says what was left out. `marks`, where an application tells nothing, are texts and shapes found in its
/// picture; clickElement takes their refs, too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Part of an application's or window's name; the active one if left out.
    #[schemars(length(max = 200))]
    app: Option<String>,
    /// Part of the title of one of its windows; the active one if left out.
    #[schemars(length(max = 200))]
    window: Option<String>,
    /// Only elements with this in name, value, description or role.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// Only the element with this ref and what is in it.
    #[schemars(length(max = 200))]
    root: Option<String>,
    /// `number` of an earlier list with the same arguments: only what has changed since, and `gone` refs.
    since: Option<u64>,
    /// interactive: on the screen and taking the keyboard focus, the fastest; visible (if left out): all on the screen;
    /// all: what is scrolled away, too.
    scope: Option<Extent>,
    /// That bounds are of; 0 if left out.
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

// Documented on the field: a line for each variant would make a schema that not all models know.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Extent {
    Interactive,
    Visible,
    All,
}

impl Builtin for ElementsJson {
    const NAME: &'static str = "elementsJson";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { app, window, query, root, since, scope, display } = input;
        // Models fill optional fields with "" and 0 where they mean nothing.
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (app, window, query, root) = (given(app), given(window), given(query), given(root));
        for (field, text) in [("app", &app), ("window", &window), ("query", &query), ("root", &root)] {
            if let Some(text) = text {
                filled(field, text, MOST_CHARS)?;
            }
        }
        let scope = match scope {
            Some(Extent::Interactive) => Scope::Interactive,
            Some(Extent::Visible) | None => Scope::Visible,
            Some(Extent::All) => Scope::All,
        };
        let since = since.filter(|&number| number > 0);
        Ok(Plan::new(
            Self::RISK,
            List { app, window, query, root, since, scope, display: super::display(display)? },
        ))
    }
}

struct List {
    app: Option<String>,
    window: Option<String>,
    query: Option<String>,
    root: Option<String>,
    since: Option<u64>,
    scope: Scope,
    display: u32,
}

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        let query = ElementQuery {
            app: self.app.clone(),
            window: self.window.clone(),
            query: self.query.clone(),
            root: self.root.clone(),
            since: self.since,
            scope: self.scope,
            limit: cx.limits.ui_nodes,
            display: self.display,
            deadline: Some(cx.limits.timeout),
            marks: true,
        };
        let snapshot = match cx.desktop.elements(query).await {
            Ok(snapshot) => snapshot,
            Err(error) => return Outcome::failed_looking(ElementsJson::NAME, &error),
        };
        if let Err(error) = withheld::of_app(&*cx.desktop, &snapshot.app, snapshot.pid) {
            return Outcome::failed(ElementsJson::NAME, Effect::Refused, error);
        }
        let snapshot = untrusted::clean_snapshot(snapshot, cx.limits.ui_nodes, cx.limits.data_chars);
        let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let seen = match snapshot.marks.len() {
            0 => String::new(),
            marks => format!(", and {} of text and shapes in its picture", many(marks, "mark")),
        };
        let elements = many(snapshot.elements.len(), "element");
        let summary = format!("found {elements} in {}{seen}", untrusted::line(&snapshot.app, 60));
        match compact(&snapshot) {
            Ok(data) => Outcome::looked(summary, data),
            Err(error) => {
                let error = tool_error(ToolErrorKind::Failed, format!("write the elements as JSON: {error}"));
                Outcome::failed(ElementsJson::NAME, Effect::Refused, error)
            }
        }
    }
}

/// Without what only recorded routines need (fingerprints) and what says nothing (a depth of 0): tokens cost.
fn compact(snapshot: &Snapshot) -> serde_json::Result<Value> {
    let mut data = serde_json::to_value(snapshot)?;
    let elements = data.get_mut("elements").and_then(Value::as_array_mut);
    for element in elements.into_iter().flatten().filter_map(Value::as_object_mut) {
        element.remove("fingerprint");
        if element.get("depth").is_some_and(|depth| depth == 0) {
            element.remove("depth");
        }
    }
    Ok(data)
}
