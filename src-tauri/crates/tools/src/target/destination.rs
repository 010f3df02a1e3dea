//! Where one act of a call goes, and what tells it from another place.

use desktop::{Desktop, WindowView};
use serde_json::{Value, json};

use super::NAME_CHARS;
use crate::applications::{self, Class};
use crate::reach::Reach;
use crate::{contract, untrusted};

/// The role of what shows a shell.
pub(super) const TERMINAL: &str = "terminal";

/// What one act of a call would touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// As the desktop calls it, cleaned.
    pub app: String,
    /// `None` if it has no window yet.
    pub window: Option<u64>,
    pub pid: Option<u32>,
    /// What its process runs; `None` if that is not known.
    pub program: Option<String>,
    pub class: Option<Class>,
    /// Whether its program shows a dialog that takes everything until it is answered.
    pub is_modal: bool,
    /// The name of the control that is meant, cleaned; `None` if a place or the focus is.
    pub control: Option<String>,
    /// What the row of a page says that the control is in, cleaned; `None` if it is in none.
    pub row: Option<String>,
}

impl Touched {
    pub(crate) fn of(desktop: &dyn Desktop, window: &WindowView) -> Self {
        let program = window.pid.and_then(|pid| desktop.program(pid));
        let class = applications::class_of_window(&window.app, program.as_deref());
        Self {
            app: untrusted::line(&window.app, NAME_CHARS),
            window: Some(window.id.0),
            pid: window.pid,
            program,
            class,
            is_modal: window.is("modal"),
            control: None,
            row: None,
        }
    }

    /// Without a window.
    pub(crate) fn of_name(app: &str, class: Option<Class>) -> Self {
        let app = untrusted::line(app, NAME_CHARS);
        Self { app, class, window: None, pid: None, program: None, is_modal: false, control: None, row: None }
    }

    pub(super) fn with_control(self, name: Option<&str>) -> Self {
        let control = name.map(|name| untrusted::line(name, NAME_CHARS)).filter(|name| !name.is_empty());
        Self { control, ..self }
    }

    /// As a grant names it: with its program, where that is no name of the application. A window may call itself anything.
    pub(super) fn granted_as(&self) -> String {
        match &self.program {
            Some(program) if !contract::is_same(&self.app, program) => {
                format!("{} ({})", self.app, untrusted::line(program, NAME_CHARS))
            }
            Some(_) | None => self.app.clone(),
        }
    }

    /// What shows a shell takes commands, whatever its program is called.
    pub(super) fn in_role(self, role: Option<&str>) -> Self {
        let class = if role == Some(TERMINAL) { Some(Class::Terminal) } else { self.class };
        Self { class, ..self }
    }

    /// What an approval is bound to.
    fn identity(&self) -> Value {
        json!({
            "app": self.app, "window": self.window, "pid": self.pid, "control": self.control, "row": self.row,
        })
    }
}

/// One place that an act goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Window(Touched),
    Address(String),
    File(FileThere),
    Calendar(EntryThere),
    /// One of the user's, by its name.
    Server(String),
    /// A command's line, or the one under way that is spoken to; in which folder.
    Command {
        line: String,
        folder: String,
    },
}

/// A file that would be changed, as it is now: a yes is for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileThere {
    /// Absolute.
    pub path: String,
    /// What tells its content from another's without reading it; `None` if there is no such file.
    pub version: Option<String>,
}

/// An event or a reminder as it is now, or the calendar that a new one goes to: a yes is for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryThere {
    /// The calendar's or list's, by its id.
    pub calendar: String,
    /// What tells it from what it was before; `None` if it is new.
    pub version: Option<String>,
    /// For people.
    pub called: String,
}

impl Destination {
    /// What an approval is bound to.
    pub(super) fn identity(&self) -> Value {
        match self {
            Self::Window(touched) => touched.identity(),
            Self::Address(address) => json!({ "address": address }),
            Self::File(FileThere { path, version }) => json!({ "file": path, "version": version }),
            Self::Calendar(EntryThere { calendar, version, called }) => {
                json!({ "calendar": calendar, "version": version, "entry": called })
            }
            Self::Server(name) => json!({ "server": name }),
            Self::Command { line, folder } => json!({ "command": line, "folder": folder }),
        }
    }

    pub(super) fn called(&self) -> &str {
        match self {
            Self::Window(touched) => &touched.app,
            Self::Address(address) => address,
            Self::Server(name) => name,
            Self::File(file) => &file.path,
            Self::Calendar(there) => &there.called,
            Self::Command { line, .. } => line,
        }
    }

    /// Whether it is what was shown, when only the windows `open` were there. A dialog that has come up since in the same
    /// program takes its keys; elements are found in whichever of its windows has them.
    pub(super) fn is_as_shown(&self, shown: &Self, reach: &Reach, open: &[u64]) -> bool {
        let (Self::Window(now), Self::Window(then)) = (self, shown) else { return self == shown };
        let may_be_another = match reach {
            Reach::Focus { .. } => now.window.is_some_and(|window| !open.contains(&window)),
            Reach::Element(_) | Reach::Menu { .. } | Reach::App(_) => true,
            Reach::Nowhere
            | Reach::Points { .. }
            | Reach::Window(_)
            | Reach::Address(_)
            | Reach::Page { .. }
            | Reach::Files { .. }
            | Reach::Command(_)
            | Reach::Calendar { .. }
            | Reach::Search { .. }
            | Reach::Server { .. } => false,
        };
        let window = if may_be_another { now.window } else { then.window };
        *now == Touched { window, is_modal: now.is_modal, ..then.clone() }
    }
}
