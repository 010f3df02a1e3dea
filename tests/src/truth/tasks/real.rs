//! What is asked of applications as they came: what a user does with them, and what is made to go wrong.

use super::{Act, App, Find, Hand, Oracle, Sabotage, Task, find};

mod browser;
mod calculators;
mod editors;
mod folders;
mod office;
mod terminal;

/// What is asked of an application as it came.
pub(super) fn of(app: App) -> Vec<Task> {
    let asked = match app {
        App::Mousepad => editors::MOUSEPAD,
        App::TextEditor => editors::TEXT_EDITOR,
        App::Featherpad => editors::FEATHERPAD,
        App::Galculator => calculators::GALCULATOR,
        App::Calculator => calculators::CALCULATOR,
        App::SpeedCrunch => calculators::SPEEDCRUNCH,
        App::Thunar => folders::THUNAR,
        App::Calc => office::CALC,
        App::Writer => office::WRITER,
        App::Letter => office::LETTER,
        App::Browser => browser::BROWSER,
        App::Xterm => terminal::XTERM,
        App::Gtk3 | App::Gtk4 | App::Qt | App::Swing | App::Chromium | App::Cef | App::Firefox => &[],
    };
    asked.iter().map(|real| real.of(app)).collect()
}

/// What opens a dialog before which nothing of the window can be done, by the user's own keys.
const SAVE_AS: Sabotage = Sabotage::Asked(&[Hand::Presses(&["ctrl", "shift", "s"]), Hand::Sees("Save")]);

/// A task without its application.
#[derive(Clone, Copy)]
struct Real {
    widget: &'static str,
    how: &'static str,
    acts: &'static [Act],
    oracle: Oracle,
    sabotage: Option<Sabotage>,
    /// Whether the application makes another value of it, or takes it back.
    resists: bool,
    quick: bool,
}

impl Real {
    /// The same, made to go wrong; that is none of the quick ones unless it is said.
    const fn spoilt(self, sabotage: Sabotage) -> Self {
        Self { sabotage: Some(sabotage), quick: false, ..self }
    }

    /// Among the quick ones of the test command: what is fast and steady.
    const fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    const fn resisted(self) -> Self {
        Self { resists: true, ..self }
    }

    fn of(self, app: App) -> Task {
        let Self { widget, how, acts, oracle, sabotage, resists, quick } = self;
        Task { app, widget, how, acts, oracle, sabotage, resists, quick }
    }
}

const fn task(widget: &'static str, how: &'static str, acts: &'static [Act], oracle: Oracle) -> Real {
    Real { widget, how, acts, oracle, sabotage: None, resists: false, quick: false }
}

const fn menu(path: &'static [&'static str]) -> Act {
    Act::PressMenu(path)
}

const fn click(roles: &'static str, name: &'static str) -> Act {
    Act::Click(find(roles, name))
}

const fn set(roles: &'static str, name: &'static str, value: &'static str) -> Act {
    Act::SetValue(find(roles, name), value)
}

const BUTTON: &str = "button|toggle button|push button";
const ITEM: &str = "menu item|check menu item|radio menu item|list item|button|label";
const ALL: Act = Act::Hotkey(&["ctrl", "a"]);
