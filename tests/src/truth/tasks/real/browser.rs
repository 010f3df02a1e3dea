//! A browser with two pages of its user's, and what is around them.

use super::Oracle::{Copied, Part, Title};
use super::Sabotage::{Closed, Covered, Moved, Stopped};
use super::{Act, BUTTON, Hand, Real, Sabotage, click, task};

const LINK: Act = click("link", "Other");
const FOLLOWED: Real = task("link", "click", &[LINK], Title("Other page"));
const BACK: Real = task("tool bar", "click, back", &[LINK, click(BUTTON, "Back")], Title("Notes"));

/// Its own dialog, and what its user reads by then.
const ASKED: Sabotage = Sabotage::Asked(&[Hand::Presses(&["ctrl", "s"])]);
const ANOTHER: Sabotage = Sabotage::Renamed(&[
    Hand::Writes("notes.html", "<title>Plans</title><p>alpha beta <a href=other.html>Delete all</a></p>"),
    Hand::Presses(&["f5"]),
    Hand::Sees("Plans"),
]);

pub(super) const BROWSER: &[Real] = &[
    FOLLOWED,
    FOLLOWED.spoilt(Covered),
    FOLLOWED.spoilt(Moved),
    FOLLOWED.spoilt(Stopped),
    FOLLOWED.spoilt(Closed),
    FOLLOWED.spoilt(ASKED),
    FOLLOWED.spoilt(ANOTHER),
    BACK,
    task(
        "location bar",
        "hotkey and type",
        &[Act::Hotkey(&["ctrl", "l"]), Act::Type("about:license\n")],
        Title("Licenses"),
    ),
    task(
        "tool bar",
        "click, a new tab",
        &[click(BUTTON, "New Tab|Open a new tab (Ctrl+T)")],
        Title("Mozilla Firefox"),
    ),
    task(
        "file dialog",
        "saves as",
        &[Act::Hotkey(&["ctrl", "s"]), Act::Type("plan\n")],
        // The browser writes the page anew.
        Part("~/Downloads/plan.html", ">Other</a>"),
    ),
    task(
        "keys",
        "hotkey, all selected",
        &[Act::Hotkey(&["ctrl", "a"])],
        Copied(&["ctrl", "c"], "alpha beta Other"),
    ),
];
