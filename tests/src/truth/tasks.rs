//! What a task is: an application, what is done to it through Miki's tools, what must come of it, and what goes wrong
//! between the look and the act. The tables are in `widgets` and `real`.

use super::App;

mod real;
mod widgets;

/// An element as a model finds it in the list: its roles, in the order in which they are preferred, and its name.
#[derive(Clone, Copy, Debug)]
pub struct Find {
    /// Divided by `|`; empty for any.
    pub roles: &'static str,
    /// Divided by `|`: some toolkits call a combo box by what it shows.
    pub name: &'static str,
}

/// One call of a tool, with the look before it where it needs an element.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// `clickElement` by its ref.
    Click(Find),
    /// The same, twice.
    DoubleClick(Find),
    /// The same, with the right button.
    RightClick(Find),
    /// `click` at its middle.
    Point(Find),
    /// By `doAction` where its actions name it, by a double click otherwise.
    Expand(Find),
    SetValue(Find, &'static str),
    PressMenu(&'static [&'static str]),
    Type(&'static str),
    Press(&'static str),
    Hotkey(&'static [&'static str]),
}

/// What the application did, found out without Miki.
#[derive(Clone, Copy, Debug)]
pub enum Oracle {
    /// The last value of a key in the application's own log. Other keys may not come, but for those named.
    Log { key: &'static str, value: &'static str, also: &'static [&'static str] },
    /// After a Ctrl+S of the user's own hands the file holds this.
    Saved(&'static str, &'static str),
    /// A file holds this.
    File(&'static str, &'static str),
    /// After a Ctrl+S of the user's own hands the file holds this among other things.
    /// What else the document says is what it said.
    SavedWith(&'static str, &'static str),
    /// A file that changes by itself, too, has this in it.
    Part(&'static str, &'static str),
    /// A file of settings has this line; of the others are on, as far as they can be switched: these.
    Holds(&'static str, &'static str, &'static [&'static str]),
    /// The application has ended, and a file holds this.
    Ended(&'static str, &'static str),
    /// A file or folder is there.
    There(&'static str),
    /// A file or folder is no longer there.
    Gone(&'static str),
    /// After keys of the user's own hands the clipboard holds this.
    Copied(&'static [&'static str], &'static str),
    /// A window's title begins with this.
    Title(&'static str),
}

/// What its user does beside Miki.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    Presses(&'static [&'static str]),
    Types(&'static str),
    /// A file or folder has another name.
    Moves(&'static str, &'static str),
    /// They wait for a window whose title begins so.
    Sees(&'static str),
    /// A file holds another text.
    Writes(&'static str, &'static str),
}

/// What goes wrong between the look and the last act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// Another program's window lies over it.
    Covered,
    /// An element has another label now.
    Relabelled(&'static str, &'static str),
    /// All that is in the window is somewhat lower.
    Pushed,
    /// The window is elsewhere.
    Moved,
    /// The window is gone; its application is not.
    Closed,
    /// An element takes nothing any more.
    Insensitive(&'static str),
    /// A modal dialog waits for an answer.
    Modal,
    /// The same, opened by its user's own hands.
    Asked(&'static [Hand]),
    /// Its user's own hands have made that nothing can be done with it any more.
    Greyed(&'static [Hand]),
    /// Its user's own hands have made something else of it.
    Renamed(&'static [Hand]),
    /// The process is stopped, and goes on after the tool's answer.
    Stopped,
}

impl Sabotage {
    /// Whether a person would not want it done any more: then whatever is done is wrong.
    pub fn forbids(self) -> bool {
        match self {
            Self::Relabelled(..)
            | Self::Closed
            | Self::Insensitive(_)
            | Self::Modal
            | Self::Asked(_)
            | Self::Greyed(_)
            | Self::Renamed(_) => true,
            Self::Covered | Self::Pushed | Self::Moved | Self::Stopped => false,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Relabelled(..) | Self::Renamed(_) => "relabelled",
            Self::Pushed => "pushed",
            Self::Moved => "moved",
            Self::Closed => "closed",
            Self::Insensitive(_) | Self::Greyed(_) => "insensitive",
            Self::Modal | Self::Asked(_) => "modal on top",
            Self::Stopped => "stopped",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Task {
    pub app: App,
    pub widget: &'static str,
    pub how: &'static str,
    pub acts: &'static [Act],
    pub oracle: Oracle,
    pub sabotage: Option<Sabotage>,
    /// Whether the application takes the value back or makes another of it: then a no is as good.
    pub resists: bool,
    /// Whether it is among the quick ones of the test command.
    pub quick: bool,
}

impl Task {
    /// Whether its application is to end, or is made to: then it is no fault that it does not answer.
    pub fn ends(&self) -> bool {
        matches!(self.oracle, Oracle::Ended(..))
            || (self.sabotage == Some(Sabotage::Closed) && !self.app.is_ours())
    }

    /// Its one name: `GTK 3 button click, covered`.
    pub fn name(&self) -> String {
        let sabotage = self.sabotage.map(|sabotage| format!(", {}", sabotage.word())).unwrap_or_default();
        format!("{} {} {}{sabotage}", self.app.name(), self.widget, self.how)
    }

    pub fn is_sabotaged(&self) -> bool {
        self.sabotage.is_some() || self.resists
    }
}

/// All tasks, those of one application one after the other.
pub fn all() -> Vec<Task> {
    App::ALL.iter().flat_map(|app| if app.is_ours() { widgets::of(*app) } else { real::of(*app) }).collect()
}

const fn find(roles: &'static str, name: &'static str) -> Find {
    Find { roles, name }
}
