//! What is asked of applications as they came.

use super::{Act, App, Find, Oracle, Sabotage, Task, find};
use crate::truth::Toolkit;

/// What is asked of an application as it came.
pub(super) fn of(app: App) -> Vec<Task> {
    let task = |widget, how, acts, oracle, sabotage| Task {
        app,
        widget,
        how,
        acts,
        oracle,
        sabotage,
        resists: false,
        // The office alone takes as long to start as the others together.
        quick: match app.toolkit() {
            Toolkit::LibreOffice => {
                matches!(
                    (widget, how, sabotage),
                    ("text area", "type", None) | ("table cell", "setValue", None)
                )
            }
            _ if app == App::Galculator => true,
            _ => widget != "icon" && matches!(sabotage, None | Some(Sabotage::Covered)),
        },
    };
    asked_of(app)
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

fn asked_of(app: App) -> &'static [Real] {
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
                        &[Act::Click(find("table cell", "A2")), Act::Type("Screw\n")],
                        Saved("orders.csv", "Part,Left\nScrew,12\nGear,7\n"),
                        None,
                    ),
                    (
                        "table cell",
                        "setValue",
                        &[Act::SetValue(find("table cell", "B2"), "99")],
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
                        &[Act::Click(find("text|entry|panel", "Input line")), Act::Type("Kind\n")],
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
                        &[Act::Click(find("table cell", "A2"))],
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
        App::Gtk3 | App::Gtk4 | App::Qt | App::Swing | App::Chromium | App::Cef | App::Firefox => &[],
    }
}
