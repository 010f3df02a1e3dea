//! Calculators: what they show is copied by the user's own hands.

use super::Oracle::{Copied, File};
use super::Sabotage::{Closed, Covered, Moved, Stopped};
use super::{Act, BUTTON, Hand, ITEM, Oracle, Real, Sabotage, click, find, menu, set, task};

const COPY: &[&str] = &["ctrl", "c"];

const fn shows(text: &'static str) -> Oracle {
    Copied(COPY, text)
}

const fn digit(name: &'static str) -> Act {
    Act::Click(find("button|toggle button", name))
}

const SUM_BY_KEYS: Real = task("keys", "type, a sum", &[Act::Type("12+30\n")], shows("42")).quick();

const EIGHT: Real = task("button", "click", &[digit("8")], shows("8"));
const TO_HEX: Real = task(
    "menu",
    "pressMenu, hexadecimal",
    &[Act::Type("250"), menu(&["Calculator", "Number bases", "Hexadecimal"])],
    shows("FA"),
);

/// Its menu's About.
const ABOUT: Sabotage = Sabotage::Asked(&[Hand::Presses(&["alt", "h"]), Hand::Presses(&["a"])]);

pub(super) const GALCULATOR: &[Real] = &[
    task("button", "clicks, a sum", &[digit("7"), digit("*"), digit("6"), digit("=")], shows("42")).quick(),
    SUM_BY_KEYS,
    task(
        "dialog",
        "open, then Escape, then a digit",
        &[menu(&["Help", "About"]), Act::Press("escape"), Act::Type("42")],
        shows("42"),
    )
    .quick(),
    EIGHT.spoilt(Covered).quick(),
    EIGHT.spoilt(Stopped).quick(),
    EIGHT.spoilt(Moved),
    EIGHT.spoilt(Closed),
    EIGHT.spoilt(ABOUT).quick(),
    TO_HEX,
    TO_HEX.spoilt(Covered),
    TO_HEX.spoilt(Stopped),
    TO_HEX.spoilt(Moved),
    TO_HEX.spoilt(ABOUT),
    task("button", "clicks, a root", &[digit("8"), digit("1"), digit("sqrt")], shows("9")),
    task("button", "clicks, backspace", &[digit("4"), digit("2"), digit("5"), digit("<-")], shows("42")),
    task(
        "button",
        "clicks, memory",
        &[
            digit("7"),
            digit("MS"),
            click("menu item", "save here"),
            digit("C"),
            digit("5"),
            digit("+"),
            digit("MR"),
            click("menu item", ""),
            digit("="),
        ],
        shows("12"),
    ),
    task(
        "menu",
        "pressMenu, scientific mode",
        &[menu(&["View", "Scientific Mode"]), digit("5"), digit("n!")],
        shows("120"),
    ),
    task(
        "menu",
        "pressMenu, reverse Polish",
        &[menu(&["Calculator", "Notation modes", "Reverse Polish (RPN)"]), Act::Type("7\n6*")],
        shows("42"),
    ),
    task(
        "menu",
        "pressMenu, copies",
        &[Act::Type("6*7\n"), menu(&["Edit", "Copy Display Value"])],
        Copied(&[], "42"),
    ),
    task(
        "menu",
        "pressMenu, cuts and pastes",
        &[
            Act::Type("42"),
            menu(&["Edit", "Cut Display Value"]),
            menu(&["Edit", "Paste and Append to Display Value"]),
        ],
        shows("42"),
    ),
];

const SUM: Real = task(
    "button",
    "clicks, a sum",
    &[digit("7|7 7"), digit("×|× ×"), digit("6|6 6"), digit("=|= =")],
    shows("42"),
);
const NINE: Real = task("button", "click", &[digit("9|9 9")], shows("9"));

pub(super) const CALCULATOR: &[Real] = &[
    SUM.quick(),
    SUM_BY_KEYS,
    SUM.spoilt(Stopped),
    SUM.spoilt(Covered).quick(),
    SUM.spoilt(Moved),
    NINE.spoilt(Closed),
    NINE.spoilt(Covered),
    NINE.spoilt(Moved),
    NINE.spoilt(Sabotage::Asked(&[Hand::Presses(&["ctrl", "shift", "/"])])),
    task(
        "button",
        "clicks, brackets",
        &[Act::Type("(2+3"), digit(")|) )"), digit("×|× ×"), Act::Type("4\n")],
        shows("20"),
    ),
    task("button", "clicks, a root", &[digit("√|√ √"), Act::Type("81\n")], shows("9")),
    task(
        "button",
        "clicks, clears",
        &[Act::Type("99"), click(BUTTON, "Clear Display [Escape]"), Act::Type("7")],
        shows("7"),
    ),
    task(
        "menu",
        "clicks, advanced mode",
        &[click(BUTTON, "Mode selection|Basic"), click(ITEM, "Advanced"), click(BUTTON, "a×b|a×b a×b")],
        shows("0"),
    ),
    task(
        "menu",
        "clicks, a number format",
        &[
            click(BUTTON, "Primary menu"),
            click(ITEM, "Scientific"),
            click("text|entry", ""),
            Act::Type("1200*1\n"),
        ],
        shows("1.2×10³"),
    ),
    task(
        "keys",
        "hotkey, pastes",
        &[
            Act::Type("6*7\n"),
            Act::Hotkey(&["ctrl", "c"]),
            Act::Press("escape"),
            Act::Hotkey(&["ctrl", "v"]),
            Act::Type("+1\n"),
        ],
        shows("43"),
    ),
];

/// Copies the last result.
const LAST: &[&str] = &["ctrl", "r"];

const fn last(text: &'static str) -> Oracle {
    Copied(LAST, text)
}

const TYPED_SUM: Real = task("entry", "type, a sum", &[Act::Type("12+30\n")], last("42"));
const COPIES: Real = task(
    "menu",
    "pressMenu, copies",
    &[Act::Type("6*7\n"), menu(&["Edit", "Copy Last Result"])],
    Copied(&[], "42"),
);
const HEXADECIMAL: Real = task(
    "menu",
    "pressMenu, hexadecimal",
    &[Act::Type("255\n"), menu(&["Settings", "Result Format", "Hexadecimal"])],
    last("0xFF"),
);

const SAVES_SESSION: Sabotage = Sabotage::Asked(&[Hand::Presses(&["ctrl", "s"])]);

pub(super) const SPEEDCRUNCH: &[Real] = &[
    TYPED_SUM.quick(),
    COPIES.quick(),
    TYPED_SUM.spoilt(Stopped),
    COPIES.spoilt(Covered),
    COPIES.spoilt(Moved),
    COPIES.spoilt(SAVES_SESSION),
    HEXADECIMAL,
    HEXADECIMAL.spoilt(Stopped),
    HEXADECIMAL.spoilt(Covered),
    HEXADECIMAL.spoilt(SAVES_SESSION),
    task("entry", "type, two lines at once", &[Act::Type("x=40\nx+2\n")], last("42")).quick(),
    task("entry", "setValue, then Enter", &[set("text|entry", "", "6*7"), Act::Press("enter")], last("42")),
    task("entry", "type, a function", &[Act::Type("sqrt(1764)\n")], last("42")),
    task("entry", "type, a variable", &[Act::Type("x=40\n"), Act::Type("x+2\n")], last("42")),
    task(
        "entry",
        "type, a function of one's own",
        &[Act::Type("f(a)=a*2\n"), Act::Type("f(21)\n")],
        last("42"),
    ),
    task(
        "menu",
        "pressMenu, degrees",
        &[menu(&["Settings", "Angle Unit", "Degree"]), Act::Type("sin(90)\n")],
        last("1"),
    ),
    task(
        "menu",
        "pressMenu, brackets",
        &[Act::Type("40+2"), menu(&["Edit", "Wrap Selection in Parentheses"]), Act::Type("*2\n")],
        last("84"),
    ),
    task(
        "history",
        "press, then type",
        &[Act::Type("6*6\n"), Act::Press("up"), Act::Type("+6\n")],
        last("42"),
    ),
    task(
        "file dialog",
        "exports",
        &[Act::Type("6*7\n"), menu(&["Session", "Export", "Plain Text"]), Act::Type("plan.txt\n")],
        File("~/plan.txt", "6*7\n= 42"),
    ),
];
