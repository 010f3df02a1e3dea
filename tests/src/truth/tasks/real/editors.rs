//! Editors, opened with a file of two lines, `alpha` and `beta`.

use super::Oracle::{Ended, File, Holds, Saved, Title};
use super::Sabotage::{Closed, Covered, Moved, Stopped};
use super::{
    ALL, Act, BUTTON, Find, Hand, ITEM, Oracle, Real, SAVE_AS, Sabotage, click, find, menu, set, task,
};

pub(super) const TYPED: Act = Act::Type("Gamma\n");
pub(super) const AT_THE_TOP: Oracle = Saved("notes.txt", "Gamma\nalpha\nbeta\n");
const FIELD: &str = "text|entry|combo box";
const PAGE: Find = find("text|document text|document frame", "");
const WHOLE: Oracle = Saved("notes.txt", "one\ntwo");
/// The same, where a task writes the file itself.
const WRITTEN: Oracle = File("notes.txt", "Gamma\nalpha\nbeta\n");
const SAVE: Act = Act::Hotkey(&["ctrl", "s"]);
/// What a GTK file dialog has selected is the name without its ending.
const STEM: Act = Act::Type("plan\n");
const PLAN: Oracle = File("plan.txt", "alpha\nbeta\n");
const UPPER: Oracle = Saved("notes.txt", "ALPHA\nBETA\n");
const TITLED: Oracle = Saved("notes.txt", "Alpha\nBeta\n");
const TURNED: Oracle = Saved("notes.txt", "beta\nalpha\n");
const REPLACED: Oracle = Saved("notes.txt", "alpha\ndelta\n");

const TYPE: Real = task("text area", "type", &[TYPED], AT_THE_TOP).quick();
const SET: Real = task("text area", "setValue", &[Act::SetValue(PAGE, "one\ntwo")], WHOLE).quick();
const SAVES: Real = task("menu", "pressMenu, saves", &[TYPED, menu(&["File", "Save"])], WRITTEN).quick();

/// What was undone can be done again, until something else is typed.
const TYPES_ANEW: Sabotage = Sabotage::Greyed(&[Hand::Types("x")]);
const REDONE: Real = task(
    "menu",
    "pressMenu, redoes",
    &[TYPED, Act::Hotkey(&["ctrl", "z"]), menu(&["Edit", "Redo"])],
    AT_THE_TOP,
);

const DOUBLED: Real = task(
    "menu",
    "pressMenu, doubles a line",
    &[menu(&["Edit", "Duplicate Line / Selection"])],
    Saved("notes.txt", "alpha\nalpha\nbeta\n"),
);
const LINE_DOWN: Real =
    task("menu", "pressMenu, moves a line", &[menu(&["Edit", "Move", "Line Down"])], TURNED);
const LINE_GONE: Real = task(
    "menu",
    "pressMenu, deletes a line",
    &[menu(&["Edit", "Delete Line"])],
    Saved("notes.txt", "beta\n"),
);

pub(super) const MOUSEPAD: &[Real] = &[
    TYPE,
    SET,
    SET.spoilt(Stopped),
    SET.spoilt(Covered).quick(),
    SET.spoilt(Moved),
    SET.spoilt(Closed),
    SET.spoilt(SAVE_AS),
    SAVES,
    REDONE,
    REDONE.spoilt(TYPES_ANEW),
    task("menu", "pressMenu, two levels", &[ALL, menu(&["Edit", "Convert", "To Uppercase"])], UPPER).quick(),
    task("menu", "pressMenu, title case", &[ALL, menu(&["Edit", "Convert", "To Title Case"])], TITLED),
    DOUBLED,
    DOUBLED.spoilt(Covered),
    DOUBLED.spoilt(Stopped),
    DOUBLED.spoilt(SAVE_AS),
    LINE_DOWN,
    LINE_DOWN.spoilt(Moved),
    LINE_DOWN.spoilt(Covered),
    LINE_GONE,
    LINE_GONE.spoilt(Closed),
    task(
        "menu",
        "pressMenu, undoes",
        &[
            menu(&["Edit", "Delete Line"]),
            menu(&["Edit", "Duplicate Line / Selection"]),
            menu(&["Edit", "Undo"]),
        ],
        Saved("notes.txt", "beta\n"),
    ),
    task("file dialog", "saves as", &[menu(&["File", "Save As..."]), STEM], PLAN),
    task(
        "dialog",
        "finds and replaces",
        &[
            menu(&["Search", "Find and Replace..."]),
            set(FIELD, "Search for:", "beta"),
            set(FIELD, "Replace with:", "delta"),
            click("check box", "Replace all in:"),
            click(BUTTON, "Replace All"),
        ],
        REPLACED,
    ),
    task(
        "check box",
        "click, a preference",
        &[
            menu(&["Edit", "Preferences..."]),
            click("page tab", "File"),
            click("check box", "Make a copy with '~' suffix"),
            Act::Press("escape"),
            TYPED,
            SAVE,
        ],
        File("notes.txt~", "alpha\nbeta\n"),
    ),
    task(
        "combo box",
        "setValue, a preference",
        &[
            menu(&["Edit", "Preferences..."]),
            click("page tab", "Editor"),
            set("combo box", "Tab mode:|Insert Tabs", "Insert Spaces"),
            Act::Press("escape"),
            Act::Press("tab"),
        ],
        Saved("notes.txt", "        alpha\nbeta\n"),
    ),
    task("tab", "a new one", &[menu(&["File", "New"])], Title("Untitled 1")),
    task(
        "dialog",
        "close, then Save",
        &[TYPED, menu(&["File", "Close Window"]), click(BUTTON, "Save")],
        Ended("notes.txt", "Gamma\nalpha\nbeta\n"),
    ),
    task(
        "dialog",
        "close, then Don't Save",
        &[TYPED, menu(&["File", "Close Window"]), click(BUTTON, "Don't Save|Do_n't Save")],
        Ended("notes.txt", "alpha\nbeta\n"),
    ),
];

const NEW_TAB: Real =
    task("tab", "a new one", &[click(BUTTON, "New tab (Ctrl+T)|New Tab (Ctrl+T)")], Title("New Document"));

// Its "Save As" dialog is not modal: no task has that on top.
pub(super) const TEXT_EDITOR: &[Real] = &[
    TYPE,
    SET,
    SET.spoilt(Stopped),
    SET.spoilt(Covered).quick(),
    SET.spoilt(Moved),
    SET.spoilt(Closed),
    NEW_TAB,
    NEW_TAB.spoilt(Covered),
    NEW_TAB.spoilt(Stopped),
    task("file dialog", "saves as", &[click(BUTTON, "Menu"), click(ITEM, "Save As…"), STEM], PLAN),
    task("keys", "hotkey, moves a line", &[Act::Hotkey(&["alt", "down"])], TURNED),
    task(
        "keys",
        "hotkey, copies and pastes",
        &[ALL, Act::Hotkey(&["ctrl", "c"]), Act::Hotkey(&["ctrl", "end"]), Act::Hotkey(&["ctrl", "v"])],
        Saved("notes.txt", "alpha\nbetaalpha\nbeta\n"),
    ),
    task(
        "keys",
        "hotkey, undoes",
        &[TYPED, ALL, Act::Press("delete"), Act::Hotkey(&["ctrl", "z"])],
        AT_THE_TOP,
    ),
    task(
        "menu",
        "clicks, spaces for tabs",
        &[
            click(BUTTON, "View"),
            click(ITEM, "Spaces"),
            Act::Click(PAGE),
            Act::Hotkey(&["ctrl", "home"]),
            Act::Press("tab"),
        ],
        Saved("notes.txt", "        alpha\nbeta\n"),
    ),
    task("dialog", "close, then Save", &[TYPED, Act::Hotkey(&["ctrl", "w"]), click(BUTTON, "Save")], WRITTEN),
];

/// What FeatherPad writes down as switched on, left as it was.
const SWITCHED_ON: &[&str] =
    &["appendEmptyLine=true", "nativeDialog=true", "showStatusbar=true", "skipNonText=true"];

const TO_UPPER: Real = task("menu", "pressMenu, upper case", &[ALL, menu(&["Edit", "To Upper Case"])], UPPER);
const SORTED: Real =
    task("menu", "pressMenu, sorts", &[ALL, menu(&["Edit", "Sort Lines Reversely"])], TURNED);

pub(super) const FEATHERPAD: &[Real] = &[
    TYPE,
    SET,
    SET.spoilt(Stopped),
    SET.spoilt(Covered).quick(),
    SET.spoilt(Moved),
    SET.spoilt(Closed),
    SET.spoilt(SAVE_AS),
    SAVES,
    REDONE,
    REDONE.spoilt(TYPES_ANEW),
    TO_UPPER,
    TO_UPPER.spoilt(SAVE_AS),
    TO_UPPER.spoilt(Covered),
    TO_UPPER.spoilt(Stopped),
    SORTED,
    SORTED.spoilt(Moved),
    SORTED.spoilt(Covered),
    task("menu", "pressMenu, start case", &[ALL, menu(&["Edit", "To Start Case"])], TITLED),
    task(
        "menu",
        "pressMenu, undoes",
        &[TYPED, ALL, menu(&["Edit", "To Upper Case"]), menu(&["Edit", "Undo"])],
        AT_THE_TOP,
    ),
    task("file dialog", "saves as", &[menu(&["File", "Save As"]), Act::Type("plan.txt\n")], PLAN),
    task(
        "dock",
        "finds and replaces",
        &[
            menu(&["Search", "Replace"]),
            set("text|entry", "Find:|To be replaced", "beta"),
            set("text|entry", "Replace with:|Replacing text", "delta"),
            click(BUTTON, "Replace all (F10)"),
        ],
        REPLACED,
    ),
    task("tab", "a new one", &[menu(&["File", "New"])], Title("Untitled")),
    task(
        "check box",
        "click, a preference",
        &[
            menu(&["Options", "Preferences"]),
            click("page tab", "Text"),
            click("check box", "Auto-bracket"),
            click(BUTTON, "Close"),
        ],
        Holds("../home/.config/featherpad/fp.conf", "autoBracket=true", SWITCHED_ON),
    ),
    task(
        "check box",
        "click, scrolled away",
        &[
            menu(&["Options", "Preferences"]),
            click("page tab", "Text"),
            click("check box", "Ensure an empty last line on saving"),
            click(BUTTON, "Close"),
        ],
        Holds(
            "../home/.config/featherpad/fp.conf",
            "appendEmptyLine=false",
            &["nativeDialog=true", "showStatusbar=true", "skipNonText=true"],
        ),
    ),
    task("dialog", "close, then Enter", &[TYPED, menu(&["File", "Close"]), Act::Press("enter")], WRITTEN),
    task(
        "dialog",
        "close, then Discard changes",
        &[TYPED, menu(&["File", "Close"]), click(BUTTON, "Discard changes")],
        Title("FeatherPad"),
    ),
];
