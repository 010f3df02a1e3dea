//! What a tool is, and the one list of all there are. A tool is a file in `tool/`.
//!
//! Arguments are checked whole before anything runs: a tool's input becomes a plan, or an error for the model.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use desktop::Abilities;
use protocol::tool::{Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Limits, schema, untrusted};

mod context;
mod gesture;
mod operate;
mod outcome;

mod click;
mod drag;
mod hold;
mod hotkey;
mod key_down;
mod key_up;
mod mouse_down;
mod mouse_up;
mod move_pointer;
mod press;
mod scroll;
mod type_text;

mod click_element;
mod do_action;
mod elements;
mod focus_element;
mod press_menu;
mod read_text;
mod screenshot;
mod set_value;
mod zoom;

mod change_window;
mod displays;
mod focus_window;
mod launch_app;
mod list_apps;
mod list_windows;
mod quit_app;
mod read_clipboard;
mod write_clipboard;

mod web;
mod web_click;
mod web_elements;
mod web_navigate;
mod web_read;
mod web_tabs;
mod web_type;

mod batch;
mod done;
mod osa;
mod think;
mod wait;

pub(crate) use batch::MOST_RISK as BATCH_RISK;
pub(crate) use context::Context;
pub(crate) use outcome::{Outcome, from_desktop};

/// Every tool there is, in the order the model sees. Nothing outside this list can be run.
pub(crate) fn builtin() -> Vec<Entry> {
    vec![
        Entry::of::<elements::ElementsJson>(),
        Entry::of::<screenshot::Screenshot>(),
        Entry::of::<zoom::Zoom>(),
        Entry::of::<read_text::ReadText>(),
        Entry::of::<click_element::ClickElement>(),
        Entry::of::<set_value::SetValue>(),
        Entry::of::<press_menu::PressMenu>(),
        Entry::of::<do_action::DoAction>(),
        Entry::of::<focus_element::FocusElement>(),
        Entry::of::<click::Click>(),
        Entry::of::<move_pointer::Move>(),
        Entry::of::<drag::Drag>(),
        Entry::of::<scroll::Scroll>(),
        Entry::of::<type_text::Type>(),
        Entry::of::<press::Press>(),
        Entry::of::<hotkey::Hotkey>(),
        Entry::of::<hold::Hold>(),
        Entry::of::<mouse_down::MouseDown>(),
        Entry::of::<mouse_up::MouseUp>(),
        Entry::of::<key_down::KeyDown>(),
        Entry::of::<key_up::KeyUp>(),
        Entry::of::<displays::Displays>(),
        Entry::of::<list_windows::ListWindows>(),
        Entry::of::<focus_window::FocusWindow>(),
        Entry::of::<change_window::ChangeWindow>(),
        Entry::of::<list_apps::ListApps>(),
        Entry::of::<launch_app::LaunchApp>(),
        Entry::of::<quit_app::QuitApp>(),
        Entry::of::<read_clipboard::ReadClipboard>(),
        Entry::of::<write_clipboard::WriteClipboard>(),
        Entry::of::<web_elements::WebElements>(),
        Entry::of::<web_read::WebRead>(),
        Entry::of::<web_click::WebClick>(),
        Entry::of::<web_type::WebType>(),
        Entry::of::<web_navigate::WebNavigate>(),
        Entry::of::<web_tabs::WebTabs>(),
        Entry::of::<web_tabs::WebTab>(),
        Entry::of::<web_tabs::WebTabEdit>(),
        Entry::of::<osa::Osa>(),
        Entry::of::<wait::Wait>(),
        Entry::of::<think::Think>(),
        Entry::of::<batch::Batch>(),
        Entry::of::<done::Done>(),
    ]
}

/// The display that is meant where none is named.
pub(crate) const DISPLAY: u32 = 0;
const LAST_DISPLAY: u32 = 63;
/// Characters of all arguments of one call; what is longer is refused before it is read.
const ARGUMENT_CHARS: usize = 200_000;
/// Characters of a model's reason that people see.
const REASON_CHARS: usize = 200;

/// One tool. Its input's doc comment is what the model reads of it.
pub(crate) trait Tool: 'static {
    /// The only spelling that is this tool.
    const NAME: &'static str;
    const RISK: Risk;
    const NEEDS: Needs = Needs::Desktop;
    type Input: DeserializeOwned + JsonSchema;

    /// Why it cannot work on this desktop; nothing where it can.
    fn missing(_abilities: &Abilities) -> Option<&'static str> {
        None
    }

    /// Checks what types cannot, and makes what will run. Pure: nothing is looked at or done.
    fn plan(input: Self::Input, catalog: &Catalog<'_>) -> Result<Plan, ToolError>;
}

/// What a tool works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The desktop; [`Tool::missing`] knows which of its abilities.
    Desktop,
    Browser,
}

/// A checked call, ready to run. Runs again from the start when it is tried again.
#[async_trait]
pub(crate) trait Task: Send + Sync {
    async fn run(&self, cx: &Context) -> Outcome;
}

/// What a tool wants done.
pub(crate) struct Plan {
    pub work: Work,
    /// The model's reason, for people.
    pub reason: Option<String>,
    /// Time it takes by its nature, on top of the timeout.
    pub takes: Duration,
    /// Whose picture is taken before and after.
    pub display: u32,
}

pub(crate) enum Work {
    One(Arc<dyn Task>),
    Parts(Vec<Planned>),
}

impl Plan {
    pub(crate) fn of(task: impl Task + 'static) -> Self {
        Self { work: Work::One(Arc::new(task)), reason: None, takes: Duration::ZERO, display: DISPLAY }
    }

    pub(crate) fn on(self, display: u32) -> Self {
        Self { display, ..self }
    }

    pub(crate) fn because(mut self, reason: Option<String>) -> Self {
        self.reason = reason.map(|text| untrusted::line(&text, REASON_CHARS)).filter(|text| !text.is_empty());
        self
    }
}

/// A plan with its tool.
pub(crate) struct Planned {
    pub name: &'static str,
    /// Of a batch: the highest of its parts.
    pub risk: Risk,
    pub plan: Plan,
}

impl Planned {
    /// The tools a session's grant must name for this to run unasked.
    pub(crate) fn askers(&self) -> Vec<&'static str> {
        match &self.plan.work {
            Work::One(_) => vec![self.name],
            Work::Parts(parts) => {
                parts.iter().filter(|part| part.risk >= Risk::Edit).map(|part| part.name).collect()
            }
        }
    }
}

/// Why a call has no plan.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub risk: Option<Risk>,
    pub error: ToolError,
}

type MakePlan = fn(Value, &Catalog<'_>) -> Result<Planned, ToolError>;

/// One line of the list.
pub(crate) struct Entry {
    pub name: &'static str,
    pub risk: Risk,
    pub description: String,
    pub schema: Value,
    needs: Needs,
    missing: fn(&Abilities) -> Option<&'static str>,
    plan: MakePlan,
}

impl Entry {
    fn of<T: Tool>() -> Self {
        let derived = schema::derive::<T::Input>();
        Self {
            name: T::NAME,
            risk: T::RISK,
            description: derived.description,
            schema: derived.schema,
            needs: T::NEEDS,
            missing: T::missing,
            plan: |arguments, catalog| {
                let input = serde_path_to_error::deserialize::<_, T::Input>(arguments).map_err(|error| {
                    let path = error.path().to_string();
                    let what = error.inner();
                    if path == "." { bad_arguments(what) } else { bad_arguments(format!("{path}: {what}")) }
                })?;
                let plan = T::plan(input, catalog)?;
                let risk = match &plan.work {
                    Work::One(_) => T::RISK,
                    Work::Parts(parts) => parts.iter().map(|part| part.risk).max().unwrap_or(T::RISK),
                };
                Ok(Planned { name: T::NAME, risk, plan })
            },
        }
    }
}

/// The list, and what decides which of it works.
pub(crate) struct Catalog<'a> {
    pub entries: &'a [Entry],
    pub abilities: Abilities,
    /// Why there is no browser.
    pub browser: Option<String>,
    pub limits: &'a Limits,
}

impl Catalog<'_> {
    /// Why a tool cannot work here; nothing where it can.
    pub(crate) fn missing(&self, entry: &Entry) -> Option<String> {
        match entry.needs {
            Needs::Browser => self.browser.clone(),
            Needs::Desktop => (entry.missing)(&self.abilities).map(str::to_owned),
        }
    }

    /// Makes a plan of a call. The name is compared byte by byte: no trimming, no folding, no look-alikes.
    pub(crate) fn plan(&self, name: &str, arguments: &Value) -> Result<Planned, Refusal> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            let names: Vec<_> =
                self.entries.iter().filter(|e| self.missing(e).is_none()).map(|e| e.name).collect();
            let message = format!(
                "there is no tool {:?}; the tools are {}",
                untrusted::line(name, 60),
                names.join(", ")
            );
            return Err(Refusal { risk: None, error: tool_error(ToolErrorKind::UnknownTool, message) });
        };
        let refuse = |error| Refusal { risk: (name != batch::NAME).then_some(entry.risk), error };
        if let Some(why) = self.missing(entry) {
            let message = format!("not available here: {why}");
            return Err(refuse(tool_error(ToolErrorKind::NotAvailable, message)));
        }
        let length = arguments.to_string().len();
        if length > ARGUMENT_CHARS {
            let message =
                format!("the arguments are {length} characters long; at most {ARGUMENT_CHARS} are taken");
            return Err(refuse(bad_arguments(message)));
        }
        let arguments = match arguments {
            // Some models send nothing at all where a tool needs nothing.
            Value::Null => Value::Object(serde_json::Map::new()),
            Value::Object(_) => arguments.clone(),
            _ => return Err(refuse(bad_arguments("the arguments must be one JSON object"))),
        };
        if let Some(path) = schema::list_for_object(&arguments, &entry.schema) {
            return Err(refuse(bad_arguments(format!(
                "{path}: a list, where an object with named fields is asked for"
            ))));
        }
        (entry.plan)(arguments, self).map_err(refuse)
    }
}

pub(crate) fn tool_error(kind: ToolErrorKind, message: impl Into<String>) -> ToolError {
    ToolError { kind, message: message.into() }
}

pub(crate) fn bad_arguments(message: impl std::fmt::Display) -> ToolError {
    tool_error(ToolErrorKind::BadArguments, untrusted::line(&message.to_string(), 500))
}

/// Refuses what is outside `least..=most`, by name.
pub(crate) fn within<T>(field: &str, value: T, least: T, most: T) -> Result<T, ToolError>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    if value >= least && value <= most {
        return Ok(value);
    }
    Err(bad_arguments(format!("{field} = {value} is outside {least}-{most}")))
}

/// The display that was named, or the first. Whether it is there is for the desktop to say.
pub(crate) fn display(named: Option<u32>) -> Result<u32, ToolError> {
    within("display", named.unwrap_or(DISPLAY), 0, LAST_DISPLAY)
}

/// Refuses a text that is empty or longer than `most` characters.
pub(crate) fn filled(field: &str, text: &str, most: usize) -> Result<(), ToolError> {
    let length = text.chars().count();
    match length {
        0 => Err(bad_arguments(format!("{field} is empty"))),
        _ if length > most => {
            Err(bad_arguments(format!("{field} has {length} characters; at most {most} are taken")))
        }
        _ => Ok(()),
    }
}
