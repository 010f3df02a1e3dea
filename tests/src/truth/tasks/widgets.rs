//! What is done to our own applications: each widget in each toolkit, and what is made to go wrong.

use super::{Act, App, Find, Oracle, Sabotage, Task, find};

const BUTTON: &str = "button|toggle button";
const ENTRY: &str = "text|entry|spin button";
const COMBO: &str = "combo box|list box|toggle button|button";
const SECRET: &str = "password text|text|entry";
const ITEM: &str = "menu item|check menu item|list item|button|label";
const ROW: &str = "tree item|table cell|list item|panel|label";
const CELL: &str = "table cell|table row|label";

const PRESS: Find = find(BUTTON, "Press me");
const AGREE: Find = find("check box", "Agree");
const NAME: Find = find(ENTRY, "Name");
const OPEN: &[Act] = &[
    Act::Click(find(BUTTON, "Open...")),
    Act::Click(find("table cell|list item|label|text", "letter.txt")),
    Act::Click(find("button", "Open")),
];
const ABOUT: &[&str] = &["Help", "About"];

/// A widget, how it is operated, the acts, and the log's last line.
type Row = (&'static str, &'static str, &'static [Act], &'static str, &'static str);

/// What has the same name and the same meaning in every toolkit.
const WIDGETS: &[Row] = &[
    ("button", "click", &[Act::Click(PRESS)], "pressed", "Press me"),
    ("button", "click, nothing to be seen", &[Act::Click(find(BUTTON, "Quiet"))], "pressed", "Quiet"),
    ("button", "click at a point", &[Act::Point(find(BUTTON, "Archive"))], "pressed", "Archive"),
    ("check box", "click", &[Act::Click(AGREE)], "agree", "on"),
    ("check box", "setValue", &[Act::SetValue(AGREE, "on")], "agree", "on"),
    ("radio button", "click", &[Act::Click(find("radio button|check box", "Large"))], "size", "Large"),
    ("combo box", "setValue", &[Act::SetValue(find(COMBO, "Fruit|Apple"), "Banana")], "fruit", "Banana"),
    (
        "combo box",
        "clicks",
        &[Act::Click(find(COMBO, "Fruit|Apple")), Act::Click(find(ITEM, "Cherry"))],
        "fruit",
        "Cherry",
    ),
    (
        "editable combo box",
        "setValue",
        &[Act::SetValue(find("text|entry|combo box", "City"), "Rome")],
        "city",
        "Rome",
    ),
    ("list", "click", &[Act::Click(find("list item|table cell|label", "Cat"))], "animal", "Cat"),
    (
        "list",
        "click, scrolled away",
        &[Act::Click(find("list item|table cell|label", "Mole"))],
        "animal",
        "Mole",
    ),
    ("tree", "expand", &[Act::Expand(find(ROW, "Europe"))], "expanded", "Europe"),
    (
        "tree",
        "select in it",
        &[Act::Expand(find(ROW, "Asia")), Act::Click(find(ROW, "Nepal"))],
        "place",
        "Nepal",
    ),
    ("table", "click a cell", &[Act::Click(find(CELL, "Gear"))], "part", "Gear"),
    ("tab", "click", &[Act::Click(find("page tab|label", "Second"))], "tab", "Second"),
    ("slider", "setValue", &[Act::SetValue(find("slider", "Volume"), "40")], "volume", "40"),
    ("spin button", "setValue", &[Act::SetValue(find("spin button|text|entry", "Count"), "7")], "count", "7"),
    (
        "spin button",
        "setValue, cut to its range",
        &[Act::SetValue(find("spin button|text|entry", "Count"), "250")],
        "count",
        "100",
    ),
    ("entry", "setValue", &[Act::SetValue(NAME, "Ada Lovelace")], "name", "Ada Lovelace"),
    ("entry", "setValue, emoji", &[Act::SetValue(NAME, "fine 👍")], "name", "fine 👍"),
    ("entry", "setValue, upper-cased", &[Act::SetValue(find(ENTRY, "Code"), "abc")], "code", "ABC"),
    ("entry", "click and type", &[Act::Click(NAME), Act::Type("Grüße, 日本")], "name", "Grüße, 日本"),
    ("password", "setValue", &[Act::SetValue(find(SECRET, "Secret"), "s3cret")], "secret", "s3cret"),
    ("text area", "setValue", &[Act::SetValue(find(ENTRY, "Notes"), "one\ntwo")], "notes", "one\\ntwo"),
    (
        "text area",
        "click and type",
        &[Act::Click(find(ENTRY, "Notes")), Act::Type("one\ntwo")],
        "notes",
        "one\\ntwo",
    ),
    ("menu", "pressMenu", &[Act::PressMenu(&["File", "Save copy"])], "menu", "Save copy"),
    ("menu", "pressMenu, two levels", &[Act::PressMenu(&["Edit", "Style", "Italic"])], "menu", "Italic"),
    (
        "menu",
        "clicks",
        &[Act::Click(find("menu|menu item", "File")), Act::Click(find(ITEM, "Print"))],
        "menu",
        "Print",
    ),
    (
        "context menu",
        "clicks",
        &[Act::RightClick(find("", "Canvas")), Act::Click(find(ITEM, "Paint blue"))],
        "context",
        "Paint blue",
    ),
    ("tool bar", "click", &[Act::Click(find(BUTTON, "Stamp"))], "tool", "Stamp"),
    (
        "popover",
        "clicks",
        &[Act::Click(find("toggle button|button|menu", "More")), Act::Click(find(ITEM, "Share"))],
        "more",
        "Share",
    ),
    (
        "date",
        "setValue",
        &[Act::SetValue(find("date editor|spin button|text|entry|grouping|panel", "Day"), "2027-03-14")],
        "day",
        "2027-03-14",
    ),
    (
        "time",
        "setValue",
        &[Act::SetValue(find("date editor|spin button|grouping|panel", "At"), "13:45")],
        "at",
        "13:45",
    ),
    (
        "date",
        "click a day in a calendar",
        &[Act::Click(find("label|table cell|list item|button|calendar", "14"))],
        "day",
        "2026-01-14",
    ),
    ("file dialog", "clicks", OPEN, "file", "letter.txt"),
    ("dialog", "open, then Escape", &[Act::PressMenu(ABOUT), Act::Press("escape")], "dialog", "closed"),
    (
        "dialog",
        "open, then its button",
        &[Act::PressMenu(ABOUT), Act::Click(find("button", "Close"))],
        "dialog",
        "closed",
    ),
];

/// What a page has in place of a toolkit's menu bar and dialogs, and its file field: the browser's own dialog opens, into
/// which a path is typed.
const OF_A_PAGE: &[Row] = &[
    (
        "dialog",
        "open, then Escape",
        &[Act::Click(find(BUTTON, "About")), Act::Press("escape")],
        "dialog",
        "closed",
    ),
    (
        "dialog",
        "open, then its button",
        &[Act::Click(find(BUTTON, "About")), Act::Click(find("button", "Done"))],
        "dialog",
        "closed",
    ),
    (
        "menu",
        "clicks",
        &[Act::Click(find("menu item|menu|button", "File")), Act::Click(find(ITEM, "Print"))],
        "menu",
        "Print",
    ),
    (
        "file dialog",
        "opens by its path",
        &[
            Act::Click(find(
                "button|push button|panel|grouping",
                "Open...|Open... Choose File|Choose File|Open...: No file chosen|Browse…|Browse...|Open... Browse… No file selected.",
            )),
            Act::Type("~/letter.txt\n"),
        ],
        "file",
        "letter.txt",
    ),
    (
        "alert",
        "open, then its button",
        &[Act::Click(find(BUTTON, "Warn")), Act::Click(find("button", "OK"))],
        "alert",
        "closed",
    ),
];

/// Those that only some have.
fn has(app: App, widget: &str, how: &str) -> bool {
    let is_gtk = matches!(app, App::Gtk3 | App::Gtk4);
    match widget {
        "time" => !is_gtk,
        "date" => is_gtk == how.contains("calendar"),
        "menu" | "dialog" | "file dialog" => !app.is_browser(),
        _ => true,
    }
}

const SABOTAGES: &[(Sabotage, Row)] = {
    const BY_CLICK: Row = ("button", "click", &[Act::Click(PRESS)], "pressed", "Press me");
    const CHECK: Row = ("check box", "click", &[Act::Click(AGREE)], "agree", "on");
    const BY_VALUE: Row =
        ("entry", "setValue", &[Act::SetValue(NAME, "Ada Lovelace")], "name", "Ada Lovelace");
    &[
        (Sabotage::Covered, BY_CLICK),
        (Sabotage::Covered, BY_VALUE),
        (Sabotage::Relabelled("Press me", "Delete all"), BY_CLICK),
        (Sabotage::Relabelled("Agree", "Close my account"), CHECK),
        (Sabotage::Pushed, BY_CLICK),
        (Sabotage::Pushed, CHECK),
        (Sabotage::Moved, BY_CLICK),
        (Sabotage::Closed, BY_CLICK),
        (Sabotage::Closed, BY_VALUE),
        (Sabotage::Insensitive("Press me"), BY_CLICK),
        (Sabotage::Insensitive("Name"), BY_VALUE),
        (Sabotage::Modal, BY_CLICK),
        (Sabotage::Modal, BY_VALUE),
        (Sabotage::Stopped, BY_CLICK),
        (Sabotage::Stopped, BY_VALUE),
    ]
};

/// What the application takes back a moment later.
const REVERTED: &[Row] = &[
    ("entry", "setValue, taken back", &[Act::SetValue(find(ENTRY, "Price"), "250")], "price", "250"),
    (
        "spin button",
        "setValue, taken back",
        &[Act::SetValue(find("spin button|text|entry", "Limit"), "50")],
        "limit",
        "50",
    ),
    ("check box", "setValue, taken back", &[Act::SetValue(find("check box", "Beta"), "on")], "beta", "on"),
    ("check box", "click, taken back", &[Act::Click(find("check box", "Beta"))], "beta", "on"),
    (
        "date",
        "setValue, taken back",
        &[Act::SetValue(find("date editor|spin button|text|entry|grouping|panel", "Due"), "2026-03-14")],
        "due",
        "2026-03-14",
    ),
];

/// What an application does to a value that it is given.
const RESISTED: [&str; 2] = ["taken back", "cut to its range"];

/// Those of the test command, which has little time: one of each kind. All of them are in `cargo xtask bench truth`.
const QUICK: [&str; 9] = [
    "button click",
    "button click, nothing to be seen",
    "combo box setValue",
    "list click, scrolled away",
    "tree expand",
    "entry setValue",
    "text area click and type",
    "menu pressMenu",
    "dialog open, then Escape",
];
/// These wait for seconds to see what comes: in two toolkits alone.
const SLOW: [&str; 2] = ["entry setValue, taken back", "check box click, taken back"];

fn is_quick(app: App, widget: &str, how: &str, sabotage: Option<Sabotage>) -> bool {
    let name = format!("{widget} {how}");
    let takes_slow = matches!(app, App::Gtk3 | App::Chromium);
    match sabotage {
        None => QUICK.contains(&name.as_str()) || (takes_slow && SLOW.contains(&name.as_str())),
        Some(Sabotage::Pushed | Sabotage::Moved) => false,
        Some(Sabotage::Stopped) => takes_slow && name == QUICK[0],
        Some(_) => name == QUICK[0],
    }
}

pub(super) fn of(app: App) -> Vec<Task> {
    let plain = WIDGETS.iter().filter(|row| has(app, row.0, row.1)).map(|row| (None, row));
    let page = OF_A_PAGE.iter().filter(|_| app.is_browser()).map(|row| (None, row));
    let sabotaged = SABOTAGES.iter().map(|(sabotage, row)| (Some(*sabotage), row));
    plain
        .chain(page)
        .chain(REVERTED.iter().filter(|row| has(app, row.0, row.1)).map(|row| (None, row)))
        .chain(sabotaged)
        .map(|(sabotage, &(widget, how, acts, key, value))| Task {
            app,
            widget,
            how,
            acts,
            oracle: Oracle::Log { key, value, also: beside(key) },
            sabotage,
            resists: RESISTED.iter().any(|way| how.ends_with(way)),
            // CEF is fetched for the whole suite alone.
            quick: app != App::Cef && is_quick(app, widget, how, sabotage),
        })
        .collect()
}

/// What also changes where something is chosen: no harm.
fn beside(key: &str) -> &'static [&'static str] {
    match key {
        "expanded" => &["place"],
        "place" => &["expanded"],
        "city" | "fruit" => &["fruit", "city"],
        _ => &[],
    }
}
