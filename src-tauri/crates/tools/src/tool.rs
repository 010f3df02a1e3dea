//! The built-in tools: the one list of them, and what makes a typed tool of a file in `tool/` one like any other.
//!
//! Arguments are checked whole before anything runs: a tool's input becomes a plan, or an error for the model.

use std::marker::PhantomData;
use std::sync::Arc;

use desktop::Abilities;
use protocol::tool::{Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::plan::{Env, Plan, Task};
use crate::spec::{Available, Group, Needs, Spec, Tool, Verify};
use crate::{schema, untrusted};

mod context;
mod gesture;
mod go_on;
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

mod edit_file;
mod files;
mod list_files;
mod make_folder;
mod move_file;
mod read_file;
mod search_files;
mod trash_file;
mod write_file;

mod command_jobs;
mod commands;
mod run_command;

mod calendar;
mod events;
mod reminders;

mod web_fetch;
mod web_search;

mod on_screen;

mod agents;
mod ask_human;
mod batch;
mod done;
mod notes;
mod osa;
mod plan;
mod think;
mod use_tools;
mod wait;

pub use agents::{ANSWER_AGENT, ASK_PARENT, PARENTS_ANSWER};
pub(crate) use batch::NAME as BATCH;
pub(crate) use calendar::{from_agenda, meant as meant_calendar, take_back as take_back_entry};
pub(crate) use commands::held_back;
pub use context::Context;
pub(crate) use elements::changes as element_changes;
pub use elements::{ListShown, NAME as ELEMENTS};
pub(crate) use files::{FileWrite, from_files, named_in, shown_diff, take_back as take_back_file};
pub use go_on::NAME as CONTINUE;
pub use notes::{MOST_CHARS as NOTE_CHARS, NAME as NOTES, edit_of as notes_edit_of, edited as edited_notes};
pub(crate) use on_screen::{Clipboards, take_back_on_screen};
pub use outcome::Outcome;
pub(crate) use outcome::from_desktop;
pub(crate) use plan::NAME as PLAN;
pub(crate) use set_value::NAME as SET_VALUE;
pub use use_tools::{NAME as USE_TOOLS, named_groups};

/// Every built-in tool, in the order the model sees.
pub(crate) fn builtin() -> Vec<Arc<dyn Tool>> {
    vec![
        of::<elements::ElementsJson>(),
        of::<screenshot::Screenshot>(),
        of::<zoom::Zoom>(),
        of::<read_text::ReadText>(),
        of::<click_element::ClickElement>(),
        of::<set_value::SetValue>(),
        of::<press_menu::PressMenu>(),
        of::<do_action::DoAction>(),
        of::<focus_element::FocusElement>(),
        of::<click::Click>(),
        of::<move_pointer::Move>(),
        of::<drag::Drag>(),
        of::<scroll::Scroll>(),
        of::<type_text::Type>(),
        of::<press::Press>(),
        of::<hotkey::Hotkey>(),
        of::<hold::Hold>(),
        of::<mouse_down::MouseDown>(),
        of::<mouse_up::MouseUp>(),
        of::<key_down::KeyDown>(),
        of::<key_up::KeyUp>(),
        of::<displays::Displays>(),
        of::<list_windows::ListWindows>(),
        of::<focus_window::FocusWindow>(),
        of::<change_window::ChangeWindow>(),
        of::<list_apps::ListApps>(),
        of::<launch_app::LaunchApp>(),
        of::<quit_app::QuitApp>(),
        of::<read_clipboard::ReadClipboard>(),
        of::<write_clipboard::WriteClipboard>(),
        of::<web_elements::WebElements>(),
        of::<web_read::WebRead>(),
        of::<web_click::WebClick>(),
        of::<web_type::WebType>(),
        of::<web_navigate::WebNavigate>(),
        of::<web_tabs::WebTabs>(),
        of::<web_tabs::WebTab>(),
        of::<web_tabs::WebTabEdit>(),
        of::<osa::Osa>(),
        of::<list_files::ListFiles>(),
        of::<read_file::ReadFile>(),
        of::<search_files::SearchFiles>(),
        of::<write_file::WriteFile>(),
        of::<edit_file::EditFile>(),
        of::<move_file::MoveFile>(),
        of::<make_folder::MakeFolder>(),
        of::<trash_file::TrashFile>(),
        of::<run_command::RunCommand>(),
        of::<command_jobs::ReadCommand>(),
        of::<command_jobs::TypeCommand>(),
        of::<command_jobs::StopCommand>(),
        of::<web_search::WebSearch>(),
        of::<web_fetch::WebFetch>(),
        of::<events::ListEvents>(),
        of::<events::CreateEvent>(),
        of::<events::ChangeEvent>(),
        of::<events::DeleteEvent>(),
        of::<reminders::ListReminders>(),
        of::<reminders::CreateReminder>(),
        of::<reminders::ChangeReminder>(),
        of::<reminders::DeleteReminder>(),
        of::<agents::Spawn>(),
        of::<agents::WaitFor>(),
        of::<agents::Kill>(),
        of::<agents::AnswerAgent>(),
        of::<use_tools::UseTools>(),
        of::<plan::Propose>(),
        of::<wait::Wait>(),
        of::<think::Think>(),
        of::<notes::Notes>(),
        of::<go_on::Continue>(),
        of::<batch::Batch>(),
        of::<agents::AskParent>(),
        of::<ask_human::AskHuman>(),
        of::<agents::ReportBack>(),
        of::<done::Done>(),
    ]
}

/// The display that is meant where none is named.
pub(crate) const DISPLAY: u32 = 0;
const LAST_DISPLAY: u32 = 63;

/// One tool with a typed input, whose doc comment is what the model reads of it.
pub(crate) trait Builtin: 'static {
    /// The only spelling that is this tool.
    const NAME: &'static str;
    /// The highest that a call of it can have.
    const RISK: Risk;
    const GROUP: Group;
    const ABILITY: Ability = Ability::None;
    const NEEDS: Needs = Needs::Desktop;
    const VERIFY: Verify = Verify::Screen;
    const READS: bool = true;
    const EGRESS: bool = false;
    /// Only for an agent that another one started.
    const FOR_CHILDREN: bool = false;
    type Input: DeserializeOwned + JsonSchema;

    /// Checks what types cannot, and makes what will run. Pure: nothing is looked at or done.
    fn plan(input: Self::Input, env: &Env<'_>) -> Result<Plan, ToolError>;
}

/// What a tool needs of the desktop.
#[derive(Clone, Copy)]
pub(crate) enum Ability {
    None,
    Displays,
    Elements,
    Input,
    Ocr,
    Screen,
    Scripting,
    Windows,
}

impl Ability {
    /// Why it is not there, for the model; `None` if it is.
    fn lack(self, of: &Abilities) -> Option<&'static str> {
        let (is_there, why) = match self {
            Self::None => return None,
            Self::Displays => (of.screen, "there is no display; `miki doctor` says why"),
            Self::Elements => (of.elements, "the accessibility tree cannot be read; `miki doctor` says why"),
            Self::Input => {
                (of.input, "pointer and keyboard cannot be used on this desktop; `miki doctor` says why")
            }
            Self::Ocr => {
                (of.ocr, "text in pictures cannot be read; `miki doctor` says how to get the models")
            }
            Self::Screen => (of.screen, "the screen cannot be captured; `miki doctor` says why"),
            Self::Scripting => (of.scripting, "AppleScript needs macOS"),
            Self::Windows => (of.windows, "windows cannot be listed on this desktop; `miki doctor` says why"),
        };
        (!is_there).then_some(why)
    }
}

/// A [`Builtin`] as a [`Tool`]. One that does more than look takes a reason, too.
struct Typed<T> {
    spec: Spec,
    typed: PhantomData<fn() -> T>,
}

/// The argument that says what a call is for.
pub const REASON: &str = "reason";

fn takes_reason<T: Builtin>() -> bool {
    T::RISK > Risk::Observe
}

fn of<T: Builtin>() -> Arc<dyn Tool> {
    let schema::Derived { description, mut schema } = schema::derive::<T::Input>();
    if takes_reason::<T>() {
        schema["properties"][REASON] =
            json!({ "type": "string", "description": "Why, in a few words for the user." });
    }
    let spec = Spec {
        name: T::NAME.into(),
        description,
        schema,
        group: T::GROUP,
        needs: T::NEEDS,
        verify: T::VERIFY,
        reads: T::READS,
        egress: T::EGRESS,
        risk: T::RISK,
    };
    Arc::new(Typed::<T> { spec, typed: PhantomData })
}

impl<T: Builtin> Tool for Typed<T> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn missing(&self, available: &Available) -> Option<String> {
        T::ABILITY
            .lack(&available.abilities)
            .map(str::to_owned)
            .or_else(|| available.lack(T::NEEDS))
            .or_else(|| available.lack_of_group(&T::GROUP))
            .or_else(|| {
                (T::FOR_CHILDREN && !available.is_child).then(|| "you work for no other agent".into())
            })
    }

    fn plan(&self, mut arguments: Value, env: &Env<'_>) -> Result<Plan, ToolError> {
        let reason = arguments.as_object_mut().filter(|_| takes_reason::<T>());
        let reason = reason.and_then(|arguments| arguments.shift_remove(REASON)).unwrap_or_default();
        let reason: Option<String> =
            serde_json::from_value(reason).map_err(|error| bad_arguments(format!("{REASON}: {error}")))?;
        let input = serde_path_to_error::deserialize::<_, T::Input>(arguments).map_err(|error| {
            let path = error.path().to_string();
            let what = error.inner();
            if path == "." { bad_arguments(what) } else { bad_arguments(format!("{path}: {what}")) }
        })?;
        Ok(T::plan(input, env)?.because(reason))
    }
}

pub(crate) fn tool_error(kind: ToolErrorKind, message: impl Into<String>) -> ToolError {
    ToolError { kind, message: message.into() }
}

pub(crate) fn bad_arguments(message: impl std::fmt::Display) -> ToolError {
    tool_error(ToolErrorKind::BadArguments, untrusted::line(&message.to_string(), 500))
}

/// An error of a library with what can be done about it, cleaned.
pub(crate) fn with_hint(kind: ToolErrorKind, error: &dyn std::fmt::Display, hint: Option<&str>) -> ToolError {
    let error = error.to_string();
    let message = hint.map_or_else(|| error.clone(), |hint| format!("{error}; {hint}"));
    tool_error(kind, untrusted::line(&message, 600))
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
