//! Where a call acts, and what it does there: as its arguments say it, before anything is looked at.

use std::sync::Arc;

use desktop::{Action, Button, ElementAction, Key, Target};
use protocol::geometry::NormPoint;

use crate::contract::keys::{self, Keyed};

/// Where an act goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// To no application.
    Nowhere,
    /// To whatever has the keyboard; `enters` if a line break or Enter is among it.
    Focus { enters: bool },
    /// To whatever lies at these points of a display.
    Points { display: u32, points: Vec<NormPoint> },
    /// To a window as a whole, by the system's number.
    Window(u64),
    /// To an application by its name: the active one where it is not named.
    App(Option<String>),
    /// To an element: by its ref, or by its name and application.
    Element(Target),
    /// To a menu's item, by the names on the way to it.
    Menu { app: Option<String>, path: Vec<String> },
    /// To an address of the web.
    Address(String),
    /// To an element of a page, or to its dialog where none is named.
    Page { reference: Option<String>, sends: Sends },
    /// To files of the session's folder, by their paths as they were written.
    Files { paths: Vec<String>, does: FileAct },
    /// To a command of the session's terminal: a new one by its line, or one under way by its number.
    Command(Ordered),
    /// To a calendar or a list of reminders.
    Calendar { entry: Entry, deletes: bool },
    /// To the search engine of the settings, with these words.
    Search { words: String },
    /// To a server of the user's, by its name; `leaves` if what it is told may go on to others.
    Server { name: Arc<str>, leaves: bool },
}

/// What is made or changed in a calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// In the calendar of this name; in the one of the settings where none is named.
    NewEvent {
        calendar: Option<String>,
    },
    NewReminder {
        list: Option<String>,
    },
    /// By its id.
    Event(String),
    Reminder(String),
}

/// What is done to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAct {
    /// Written, moved, copied, made.
    Write,
    Delete,
}

/// What is asked of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    Run {
        line: String,
        /// That it may reach.
        hosts: Vec<String>,
    },
    /// A text for a command that reads it.
    Input {
        job: u32,
        text: String,
    },
    Stop {
        job: u32,
    },
}

/// What an act in a page sends out by itself, beside what a click sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    Nothing,
    /// A page reads what is written into it.
    ToPage,
    /// And Enter is pressed there.
    ToForm,
}

impl Reach {
    /// Of pointer and keyboard.
    pub(crate) fn of(action: &Action) -> Self {
        let is_enter = |key: &Key| *key == Key::Enter;
        match action {
            Action::Move { display, to } => Self::Points { display: *display, points: vec![*to] },
            Action::Click { display, at, .. }
            | Action::Scroll { display, at, .. }
            | Action::ButtonDown { display, at, .. }
            | Action::ButtonUp { display, at, .. } => Self::Points { display: *display, points: vec![*at] },
            Action::Drag { display, path, .. } => {
                let ends = path.first().into_iter().chain(path.last()).copied();
                Self::Points { display: *display, points: ends.collect() }
            }
            Action::Type { text } => Self::Focus { enters: text.contains(['\n', '\r']) },
            Action::Press { key, .. } | Action::KeyDown { key } | Action::KeyUp { key } => {
                Self::Focus { enters: is_enter(key) }
            }
            Action::Hotkey { keys } | Action::Hold { keys, .. } => {
                Self::Focus { enters: keys.iter().any(is_enter) }
            }
        }
    }

    pub(crate) fn takes_keys(&self) -> bool {
        matches!(self, Self::Focus { .. })
    }

    /// Whether it depends on what is in front.
    pub(crate) fn is_on_the_screen(&self) -> bool {
        match self {
            Self::Focus { .. } | Self::Points { .. } | Self::Element(_) | Self::Menu { .. } => true,
            Self::Nowhere
            | Self::Window(_)
            | Self::App(_)
            | Self::Address(_)
            | Self::Page { .. }
            | Self::Files { .. }
            | Self::Command(_)
            | Self::Calendar { .. }
            | Self::Search { .. }
            | Self::Server { .. } => false,
        }
    }

    pub(crate) fn enters(&self) -> bool {
        matches!(self, Self::Focus { enters: true })
    }
}

/// What is done there, where that is more than its place says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Input(Action),
    Element(ElementAction),
    /// A text is written into a page's field.
    Fill(String),
    /// An application is started.
    Start(String),
}

impl Act {
    /// Whether it may write something where it points: a terminal has no keys of its own in the tree of its editor.
    pub(crate) fn brings_text(&self) -> bool {
        match self {
            Self::Input(Action::Click { button, .. }) => *button == Button::Middle,
            Self::Input(action) => !matches!(action, Action::Scroll { .. } | Action::Move { .. }),
            Self::Element(action) => matches!(action, ElementAction::SetValue(_)),
            Self::Fill(_) | Self::Start(_) => false,
        }
    }

    /// Whether it presses what is at its point.
    pub(crate) fn may_press(&self) -> bool {
        match self {
            Self::Input(
                Action::Click { button, .. }
                | Action::ButtonDown { button, .. }
                | Action::ButtonUp { button, .. },
            ) => *button == Button::Left,
            Self::Input(_) | Self::Element(_) | Self::Fill(_) | Self::Start(_) => false,
        }
    }

    pub(crate) fn scrolls(&self) -> bool {
        matches!(self, Self::Input(Action::Scroll { .. }))
    }

    /// Whether it may start what is selected, in a file manager; also its own commands and shortcuts.
    pub(crate) fn may_open(&self) -> bool {
        match self {
            Self::Input(Action::Click { button, count, .. }) => *count > 1 || *button == Button::Middle,
            Self::Input(action) => {
                matches!(keys::does(action), Some(Keyed::Untold | Keyed::Writes { enters: true }))
            }
            Self::Element(action) => matches!(action, ElementAction::Click { .. } | ElementAction::Do(_)),
            Self::Fill(_) | Self::Start(_) => false,
        }
    }

    /// Whether it may set off what sends, in an application that does: a shortcut, or an action by its name.
    pub(crate) fn may_set_off(&self) -> bool {
        match self {
            Self::Input(action) => keys::does(action) == Some(Keyed::Untold),
            Self::Element(action) => matches!(action, ElementAction::Do(_)),
            Self::Fill(_) | Self::Start(_) => false,
        }
    }

    /// Whether a line break is written into an element, which keys do not do.
    pub(crate) fn breaks_line(&self) -> bool {
        matches!(self, Self::Element(ElementAction::SetValue(text)) if text.contains(['\n', '\r']))
    }
}
