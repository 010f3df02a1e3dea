//! The table of tasks: an application, what is done to it through Miki's tools, what must come of it, and what goes wrong
//! between the look and the act.

use super::App;

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
    /// A file or folder is there.
    There(&'static str),
    /// After keys of the user's own hands the clipboard holds this.
    Copied(&'static [&'static str], &'static str),
    /// A window's title begins with this.
    Title(&'static str),
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
    /// The process is stopped, and goes on after the tool's answer.
    Stopped,
}

impl Sabotage {
    /// Whether a person would not want it done any more: then whatever is done is wrong.
    pub fn forbids(self) -> bool {
        match self {
            Self::Relabelled(..) | Self::Closed | Self::Insensitive(_) | Self::Modal => true,
            Self::Covered | Self::Pushed | Self::Moved | Self::Stopped => false,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Relabelled(..) => "relabelled",
            Self::Pushed => "pushed",
            Self::Moved => "moved",
            Self::Closed => "closed",
            Self::Insensitive(_) => "insensitive",
            Self::Modal => "modal on top",
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
    App::ALL.iter().flat_map(|app| if app.is_ours() { widgets(*app) } else { real(*app) }).collect()
}

const fn find(roles: &'static str, name: &'static str) -> Find {
    Find { roles, name }
}

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
        &[Act::SetValue(find("date editor|spin button|text|entry|grouping|panel", "Day"), "2026-03-14")],
        "day",
        "2026-03-14",
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

/// What a page has in place of a menu bar, and what its file field is called.
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
        &[Act::Click(find(BUTTON, "About")), Act::Click(find("button", "OK"))],
        "dialog",
        "closed",
    ),
];

/// Those that only some have.
fn has(app: App, widget: &str) -> bool {
    match widget {
        "date" => matches!(app, App::Qt | App::Chromium | App::Firefox),
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

const REVERTED: Row =
    ("entry", "setValue, taken back", &[Act::SetValue(find(ENTRY, "Price"), "250")], "price", "250");

/// What an application does to a value that it is given.
const RESISTED: [&str; 2] = ["taken back", "cut to its range"];

/// Those of the test command, which has little time: of the light toolkits, one of each kind.
const QUICK: [&str; 11] = [
    "button click",
    "check box click",
    "combo box setValue",
    "list click",
    "tab click",
    "slider setValue",
    "entry setValue",
    "entry setValue, taken back",
    "text area click and type",
    "menu pressMenu",
    "dialog open, then Escape",
];

fn is_quick(widget: &str, how: &str, sabotage: Option<Sabotage>) -> bool {
    let name = format!("{widget} {how}");
    match sabotage {
        None => QUICK.contains(&name.as_str()),
        Some(Sabotage::Pushed | Sabotage::Moved | Sabotage::Stopped) => false,
        Some(_) => name == QUICK[0],
    }
}

fn widgets(app: App) -> Vec<Task> {
    let plain = WIDGETS.iter().filter(|row| has(app, row.0)).map(|row| (None, row));
    let page = OF_A_PAGE.iter().filter(|_| app.is_browser()).map(|row| (None, row));
    let sabotaged = SABOTAGES.iter().map(|(sabotage, row)| (Some(*sabotage), row));
    plain
        .chain(page)
        .chain([(None, &REVERTED)])
        .chain(sabotaged)
        .map(|(sabotage, &(widget, how, acts, key, value))| Task {
            app,
            widget,
            how,
            acts,
            oracle: Oracle::Log { key, value, also: beside(key) },
            sabotage,
            resists: RESISTED.iter().any(|way| how.ends_with(way)),
            quick: app.is_light() && is_quick(widget, how, sabotage),
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

/// What is asked of an application as it came.
fn real(app: App) -> Vec<Task> {
    let task = |widget, how, acts, oracle, sabotage| Task {
        app,
        widget,
        how,
        acts,
        oracle,
        sabotage,
        resists: false,
        quick: app == App::Xterm && sabotage.is_none(),
    };
    of(app)
        .iter()
        .map(|&(widget, how, acts, oracle, sabotage)| task(widget, how, acts, oracle, sabotage))
        .collect()
}

type Real = (&'static str, &'static str, &'static [Act], Oracle, Option<Sabotage>);

const TYPED: Act = Act::Type("Gamma\n");
/// What an editor was opened with is `alpha` and `beta`, a line each.
const AT_THE_TOP: Oracle = Oracle::Saved("notes.txt", "Gamma\nalpha\nbeta\n");
const WHOLE: Oracle = Oracle::Saved("notes.txt", "one\ntwo");
const PAGE: Find = find("text|document text|document frame", "");
const COPY: &[&str] = &["ctrl", "c"];

const fn digit(name: &'static str) -> Act {
    Act::Click(find("button|toggle button", name))
}

const EDITOR: &[Real] = &[
    ("text area", "type", &[TYPED], AT_THE_TOP, None),
    ("text area", "setValue", &[Act::SetValue(PAGE, "one\ntwo")], WHOLE, None),
    ("text area", "setValue", &[Act::SetValue(PAGE, "one\ntwo")], WHOLE, Some(Sabotage::Stopped)),
    ("text area", "setValue", &[Act::SetValue(PAGE, "one\ntwo")], WHOLE, Some(Sabotage::Covered)),
];

fn of(app: App) -> &'static [Real] {
    use Oracle::{Copied, File, Saved, There, Title};
    const SUM: &[Act] = &[digit("7|7 7"), digit("×|× ×"), digit("6|6 6"), digit("=|= =")];
    const BOOK: &str = "Part,Left\nBolt,12\nGear,7\n";
    match app {
        App::Mousepad => {
            const {
                &[
                    EDITOR[0],
                    EDITOR[1],
                    EDITOR[2],
                    EDITOR[3],
                    (
                        "menu",
                        "pressMenu, saves",
                        &[TYPED, Act::PressMenu(&["File", "Save"])],
                        File("notes.txt", "Gamma\nalpha\nbeta\n"),
                        None,
                    ),
                    (
                        "menu",
                        "pressMenu, two levels",
                        &[Act::Hotkey(&["ctrl", "a"]), Act::PressMenu(&["Edit", "Convert", "To Uppercase"])],
                        Saved("notes.txt", "ALPHA\nBETA\n"),
                        None,
                    ),
                ]
            }
        }
        App::TextEditor => const { &[EDITOR[0], EDITOR[1], EDITOR[2], EDITOR[3]] },
        App::Featherpad => {
            const {
                &[
                    EDITOR[0],
                    EDITOR[1],
                    EDITOR[2],
                    EDITOR[3],
                    (
                        "menu",
                        "pressMenu, saves",
                        &[TYPED, Act::PressMenu(&["File", "Save"])],
                        File("notes.txt", "Gamma\nalpha\nbeta\n"),
                        None,
                    ),
                ]
            }
        }
        App::Galculator => {
            const {
                &[
                    (
                        "button",
                        "clicks, a sum",
                        &[digit("7"), digit("*"), digit("6"), digit("=")],
                        Copied(COPY, "42"),
                        None,
                    ),
                    ("keys", "type, a sum", &[Act::Type("12+30\n")], Copied(COPY, "42"), None),
                    (
                        "dialog",
                        "open, then Escape, then a digit",
                        &[Act::PressMenu(&["Help", "About"]), Act::Press("escape"), Act::Type("42")],
                        Copied(COPY, "42"),
                        None,
                    ),
                    ("button", "click", &[digit("8")], Copied(COPY, "8"), Some(Sabotage::Covered)),
                    ("button", "click", &[digit("8")], Copied(COPY, "8"), Some(Sabotage::Stopped)),
                ]
            }
        }
        App::Calculator => {
            const {
                &[
                    ("button", "clicks, a sum", SUM, Copied(COPY, "42"), None),
                    ("keys", "type, a sum", &[Act::Type("12+30\n")], Copied(COPY, "42"), None),
                    ("button", "clicks, a sum", SUM, Copied(COPY, "42"), Some(Sabotage::Stopped)),
                    ("button", "clicks, a sum", SUM, Copied(COPY, "42"), Some(Sabotage::Covered)),
                ]
            }
        }
        App::SpeedCrunch => {
            const {
                &[
                    ("entry", "type, a sum", &[Act::Type("12+30\n")], Copied(&["ctrl", "r"], "42"), None),
                    (
                        "menu",
                        "pressMenu, copies",
                        &[Act::Type("6*7\n"), Act::PressMenu(&["Edit", "Copy Last Result"])],
                        Copied(&[], "42"),
                        None,
                    ),
                    (
                        "entry",
                        "type, a sum",
                        &[Act::Type("12+30\n")],
                        Copied(&["ctrl", "r"], "42"),
                        Some(Sabotage::Stopped),
                    ),
                ]
            }
        }
        App::Thunar => {
            const {
                &[
                    (
                        "dialog",
                        "a folder is made",
                        &[Act::PressMenu(&["File", "Create Folder..."]), Act::Type("March\n")],
                        There("files/March"),
                        None,
                    ),
                    (
                        "icon",
                        "renamed by F2",
                        &[
                            Act::Click(find("icon|table cell|list item", "letter.txt")),
                            Act::Press("f2"),
                            Act::Type("note\n"),
                        ],
                        There("files/note.txt"),
                        None,
                    ),
                    (
                        "icon",
                        "double click opens",
                        &[Act::DoubleClick(find("icon|table cell|list item", "Docs"))],
                        Title("Docs"),
                        None,
                    ),
                    (
                        "icon",
                        "double click opens",
                        &[Act::DoubleClick(find("icon|table cell|list item", "Docs"))],
                        Title("Docs"),
                        Some(Sabotage::Stopped),
                    ),
                    (
                        "icon",
                        "double click opens",
                        &[Act::DoubleClick(find("icon|table cell|list item", "Docs"))],
                        Title("Docs"),
                        Some(Sabotage::Moved),
                    ),
                ]
            }
        }
        App::Calc => {
            const {
                &[
                    (
                        "table cell",
                        "click and type",
                        &[Act::Click(find("table cell", "Bolt")), Act::Type("Screw\n")],
                        Saved("orders.csv", "Part,Left\nScrew,12\nGear,7\n"),
                        None,
                    ),
                    (
                        "table cell",
                        "setValue",
                        &[Act::SetValue(find("table cell", "12"), "99")],
                        Saved("orders.csv", "Part,Left\nBolt,99\nGear,7\n"),
                        None,
                    ),
                    (
                        "menu",
                        "pressMenu, two levels",
                        &[Act::PressMenu(&["Sheet", "Insert Rows", "Rows Above"])],
                        Saved("orders.csv", ",\nPart,Left\nBolt,12\nGear,7\n"),
                        None,
                    ),
                    (
                        "formula bar",
                        "click and type",
                        &[Act::Click(find("text|paragraph|entry", "Input line")), Act::Type("Kind\n")],
                        Saved("orders.csv", "PartKind,Left\nBolt,12\nGear,7\n"),
                        None,
                    ),
                    (
                        "tool bar",
                        "Undo after an edit",
                        &[Act::Type("Kind\n"), Act::Click(find("button|toggle button|push button", "Undo"))],
                        Saved("orders.csv", BOOK),
                        None,
                    ),
                    (
                        "table cell",
                        "click",
                        &[Act::Click(find("table cell", "Bolt"))],
                        Saved("orders.csv", BOOK),
                        Some(Sabotage::Stopped),
                    ),
                    (
                        "menu",
                        "pressMenu",
                        &[Act::PressMenu(&["Sheet", "Insert Rows", "Rows Above"])],
                        Saved("orders.csv", ",\nPart,Left\nBolt,12\nGear,7\n"),
                        Some(Sabotage::Covered),
                    ),
                ]
            }
        }
        App::Writer => {
            const {
                &[
                    EDITOR[0],
                    (
                        "text area",
                        "click and type",
                        &[Act::Click(find("paragraph|text", "")), Act::Hotkey(&["ctrl", "home"]), TYPED],
                        AT_THE_TOP,
                        None,
                    ),
                    (
                        "menu",
                        "pressMenu, two levels",
                        &[Act::Hotkey(&["ctrl", "a"]), Act::PressMenu(&["Format", "Text", "UPPERCASE"])],
                        Saved("notes.txt", "ALPHA\nBETA\n"),
                        None,
                    ),
                    ("text area", "type", &[TYPED], AT_THE_TOP, Some(Sabotage::Stopped)),
                ]
            }
        }
        App::Xterm => {
            const {
                &[
                    (
                        "terminal",
                        "type a command",
                        &[Act::Type("echo hello > said.txt\n")],
                        File("said.txt", "hello\n"),
                        None,
                    ),
                    (
                        "terminal",
                        "type two commands",
                        &[Act::Type("echo one > said.txt\necho two >> said.txt\n")],
                        File("said.txt", "one\ntwo\n"),
                        None,
                    ),
                    (
                        "terminal",
                        "type, then Enter",
                        &[Act::Type("echo Grüße > said.txt"), Act::Press("enter")],
                        File("said.txt", "Grüße\n"),
                        None,
                    ),
                    (
                        "terminal",
                        "type a command",
                        &[Act::Type("echo hello > said.txt\n")],
                        File("said.txt", "hello\n"),
                        Some(Sabotage::Stopped),
                    ),
                ]
            }
        }
        App::Gtk3 | App::Gtk4 | App::Qt | App::Swing | App::Chromium | App::Firefox => &[],
    }
}
