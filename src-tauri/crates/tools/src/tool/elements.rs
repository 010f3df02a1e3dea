//! `elementsJson`: the accessibility tree as one bounded list; to whoever has that list already, what has changed in it.

use std::time::Duration;

use async_trait::async_trait;
use desktop::{ElementQuery, Scope, Snapshot, ToldElements};
use protocol::tool::{Effect, Risk, Source, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify, filled, tool_error};
use crate::Secret;
use crate::look::MUCH_PERCENT;
use crate::redaction::{redact_marks, redacted};
use crate::{untrusted, withheld};

pub const NAME: &str = "elementsJson";
const MOST_CHARS: usize = 200;
/// So few changed elements are never much.
const FEW: usize = 8;
/// Longest look at what an act changed in the list: it is worth less than the next turn's beginning.
const AFTER_ACT: Duration = Duration::from_millis(600);

pub(super) struct ElementsJson;

/// Lists the elements of one application's windows. A ref holds while its element is there. `cut`: what was left out. Asked
/// again: what changed `since` list `number`. `marks`: texts and shapes found in the picture; clickElement takes their
/// refs, too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Part of its or a window's name; the active one if left out.
    #[schemars(length(max = 200))]
    app: Option<String>,
    /// Part of a title.
    #[schemars(length(max = 200))]
    window: Option<String>,
    /// Only those with this in a text or role.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// A ref: only what is in it.
    #[schemars(length(max = 200))]
    root: Option<String>,
    /// All of it again.
    whole: Option<bool>,
    /// Number of an earlier list with the same arguments, for callers without a conversation.
    #[serde(default)]
    #[schemars(skip)]
    since: Option<u64>,
    /// interactive: what takes the focus, fastest; visible (if left out): all on the screen; all: scrolled away, too.
    scope: Option<Extent>,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

// Documented on the field: a line for each variant would make a schema that not all models know.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Extent {
    Interactive,
    Visible,
    All,
}

impl Builtin for ElementsJson {
    const NAME: &'static str = NAME;
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let asked = input.asked();
        let Input { app, window, query, root, whole, since, scope, display } = input;
        let (app, window, query, root) = (given(app), given(window), given(query), given(root));
        for (field, text) in [("app", &app), ("window", &window), ("query", &query), ("root", &root)] {
            if let Some(text) = text {
                filled(field, text, MOST_CHARS)?;
            }
        }
        let scope = scope.map_or(Scope::Visible, Extent::scope);
        let since = since.filter(|&number| number > 0);
        Ok(Plan::new(
            Self::RISK,
            List {
                app,
                window,
                query,
                root,
                since,
                scope,
                display: super::display(display)?,
                asked,
                whole: whole.unwrap_or(false),
            },
        ))
    }
}

/// Models fill optional fields with "" and 0 where they mean nothing.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

impl Input {
    /// What it is about, the same for the same question however it is put.
    fn asked(&self) -> Value {
        let texts =
            [("app", &self.app), ("window", &self.window), ("query", &self.query), ("root", &self.root)];
        let mut asked: Map<String, Value> = texts
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), given(text.clone())?.into())))
            .collect();
        if let Some(scope) = self.scope.filter(|scope| !matches!(scope, Extent::Visible)) {
            asked.insert("scope".into(), json!(scope));
        }
        if let Some(display) = self.display.filter(|display| *display > 0) {
            asked.insert("display".into(), display.into());
        }
        Value::Object(asked)
    }
}

/// A list that a model has before it: what later ones may be told as a difference from.
#[derive(Clone, Debug, PartialEq)]
pub struct ListShown {
    asked: Value,
    number: u64,
    /// Elements in it.
    count: usize,
    app: String,
}

impl ListShown {
    /// After the answer to a call of `elementsJson`; `None` if nothing can be told as a difference from it. `before` is the
    /// list that it may be one from.
    pub fn after(arguments: &Value, data: &Value, before: Option<&Self>) -> Option<Self> {
        let asked = serde_json::from_value::<Input>(arguments.clone()).ok()?.asked();
        let number = data["number"].as_u64().filter(|number| *number > 0)?;
        // What was read in a picture is told whole each time.
        if data.get("marks").is_some() {
            return None;
        }
        let listed = data["elements"].as_array().map_or(0, Vec::len);
        let count = match data.get("since") {
            Some(_) => before?.count.max(listed),
            None => listed,
        };
        Some(Self { asked, number, count, app: data["app"].as_str().unwrap_or_default().to_owned() })
    }

    /// After an act whose answer tells what it changed in the list.
    pub fn after_act(&self, data: &Value) -> Option<Self> {
        let number = data["list"]["number"].as_u64()?;
        Some(Self { number, ..self.clone() })
    }

    /// Whether a snapshot that was to be told as a difference from this one is to be told whole.
    fn is_no_base_of(&self, snapshot: &Snapshot) -> bool {
        snapshot.since.is_some()
            && (snapshot.app != self.app || self.is_much(snapshot.elements.len() + snapshot.gone.len()))
    }

    /// Whether a difference of so many elements is no shorter than the list.
    fn is_much(&self, changed: usize) -> bool {
        changed > FEW && changed * 100 > self.count * MUCH_PERCENT
    }
}

/// What an act has changed in the list that the model has, in few words, and whose it is; `None` if it has none, or if that
/// cannot be told in time.
pub(crate) async fn changes(cx: &Context) -> Option<(Value, Source, Option<ToldElements>)> {
    let shown = cx.ports.recalled.as_ref()?.list.clone()?;
    let Input { app, window, query, root, scope, display, .. } =
        serde_json::from_value(shown.asked.clone()).ok()?;
    let query = ElementQuery {
        app,
        window,
        query,
        root,
        since: Some(shown.number),
        scope: scope.map_or(Scope::Visible, Extent::scope),
        limit: cx.limits.ui_nodes,
        text_chars: 0,
        display: display.unwrap_or_default(),
        deadline: Some(AFTER_ACT),
        marks: false,
    };
    let snapshot = tokio::time::timeout(AFTER_ACT, cx.desktop.elements(query)).await.ok()?.ok()?;
    withheld::of_app(&*cx.desktop, &snapshot.app, snapshot.pid).ok()?;
    let source = Source::Application { name: untrusted::line(&snapshot.app, MOST_CHARS) };
    let snapshot = untrusted::clean_snapshot(snapshot, cx.limits.ui_nodes, cx.limits.data_chars);
    let Snapshot { number, since, app, elements, gone, .. } = &snapshot;
    let mut refs = None;
    let told = match (elements.len(), gone.len()) {
        _ if *app != shown.app => json!("another application is in front of the list's: call elementsJson"),
        // What was not read in time is not gone.
        _ if since.is_none() || snapshot.is_partial => return None,
        (0, 0) => json!(format!("as in list {}", shown.number)),
        (changed, gone) if shown.is_much(changed + gone) => {
            json!(format!("{changed} new or changed, {gone} gone of {}: call elementsJson", shown.count))
        }
        _ => {
            let mut told = json!({ "since": shown.number, "number": number });
            let listed = compact(&snapshot).ok()?;
            for part in ["elements", "gone"] {
                if let Some(some) = listed.get(part).filter(|some| some != &&json!([])) {
                    told[if part == "elements" { "changed" } else { part }] = some.clone();
                }
            }
            refs = Some(all_of(&snapshot));
            told
        }
    };
    Some((told, source, refs))
}

fn all_of(snapshot: &Snapshot) -> ToldElements {
    let refs = snapshot.elements.iter().map(|one| one.reference.clone()).collect();
    ToldElements { snapshot: snapshot.number, refs }
}

impl Extent {
    fn scope(self) -> Scope {
        match self {
            Self::Interactive => Scope::Interactive,
            Self::Visible => Scope::Visible,
            Self::All => Scope::All,
        }
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
    asked: Value,
    whole: bool,
}

impl List {
    /// The list that whoever asks has of the very same.
    fn shown<'a>(&self, cx: &'a Context) -> Option<&'a ListShown> {
        let shown = cx.ports.recalled.as_ref()?.list.as_deref()?;
        (!self.whole && self.since.is_none() && shown.asked == self.asked).then_some(shown)
    }
}

/// Leaves what a query has found by the value of a secret, and how much that was: a guess is answered as any other is.
fn keep_what_mentions(snapshot: &mut Snapshot, query: &str, secrets: &[Secret]) {
    if secrets.is_empty() {
        return;
    }
    let query = query.to_lowercase();
    let mentions = |text: &str| redacted(text, secrets).to_lowercase().contains(&query);
    snapshot.elements.retain(|one| {
        [&one.name, &one.description, &one.value, &one.role].into_iter().any(|text| mentions(text))
    });
    snapshot.marks.retain(|mark| mentions(&mark.text) || mentions(&mark.beside));
    snapshot.cut.retain(|line| !line.contains("do not mention") && !line.starts_with("marks:"));
}

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        let shown = self.shown(cx);
        let query = ElementQuery {
            app: self.app.clone(),
            window: self.window.clone(),
            query: self.query.clone(),
            root: self.root.clone(),
            since: self.since.or(shown.map(|shown| shown.number)),
            scope: self.scope,
            limit: cx.limits.ui_nodes,
            text_chars: 0,
            display: self.display,
            deadline: Some(cx.limits.timeout),
            marks: true,
        };
        let looked = match cx.desktop.elements(query.clone()).await {
            Ok(snapshot) if shown.is_some_and(|shown| shown.is_no_base_of(&snapshot)) => {
                cx.desktop.elements(ElementQuery { since: None, ..query }).await
            }
            looked => looked,
        };
        let mut snapshot = match looked {
            Ok(snapshot) => snapshot,
            Err(error) => return Outcome::failed_looking(ElementsJson::NAME, &error),
        };
        if let Err(error) = withheld::of_app(&*cx.desktop, &snapshot.app, snapshot.pid) {
            return Outcome::failed(ElementsJson::NAME, Effect::Refused, error);
        }
        redact_marks(&mut snapshot, &cx.secrets);
        if let Some(query) = &self.query {
            keep_what_mentions(&mut snapshot, query, &cx.secrets);
        }
        let snapshot = untrusted::clean_snapshot(snapshot, cx.limits.ui_nodes, cx.limits.data_chars);
        let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let seen = match snapshot.marks.len() {
            0 => String::new(),
            marks => format!(", and {} of text and shapes in its picture", many(marks, "mark")),
        };
        let app = untrusted::line(&snapshot.app, 60);
        let summary = match snapshot.since {
            None => format!("found {} in {app}{seen}", many(snapshot.elements.len(), "element")),
            Some(since) => {
                let changed = many(snapshot.elements.len(), "new or changed element");
                format!("found {changed} in {app} since list {since}, {} gone{seen}", snapshot.gone.len())
            }
        };
        match compact(&snapshot) {
            Ok(data) => Outcome { told: vec![all_of(&snapshot)], ..Outcome::looked(summary, data) },
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
