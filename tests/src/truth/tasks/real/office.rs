//! LibreOffice: a table of three lines, a plain text, and a letter in its own format. What has the same name as a task
//! of our own applications stands beside it in the matrix.

use super::Oracle::{Part, Saved, SavedWith, Title};
use super::Sabotage::{Closed, Covered, Moved, Stopped};
use super::editors::{AT_THE_TOP, TYPED};
use super::{
    ALL, Act, BUTTON, Find, Hand, ITEM, Oracle, Real, SAVE_AS, Sabotage, click, find, menu, set, task,
};

const BOOK: Oracle = table("Part,Left\nBolt,12\nGear,7\n");
const ROW_ABOVE: Oracle = table(",\nPart,Left\nBolt,12\nGear,7\n");
const COLUMN_BEFORE: Oracle = table(",Part,Left\n,Bolt,12\n,Gear,7\n");
const NO_HEAD: Oracle = table("Bolt,12\nGear,7\n");
const FIELD: &str = "text|entry|combo box";

const fn table(text: &'static str) -> Oracle {
    Saved("orders.csv", text)
}

const fn cell(name: &'static str) -> Find {
    find("table cell", name)
}

const BY_VALUE: Real =
    task("table cell", "setValue", &[Act::SetValue(cell("B2"), "99")], table("Part,Left\nBolt,99\nGear,7\n"));
const ROWS: Real = task("menu", "pressMenu", &[menu(&["Sheet", "Insert Rows", "Rows Above"])], ROW_ABOVE);
const COLUMNS: Real = task(
    "menu",
    "pressMenu, a column",
    &[menu(&["Sheet", "Insert Columns", "Columns Before"])],
    COLUMN_BEFORE,
);
const REDONE: Real = task(
    "tool bar",
    "click, Redo",
    &[Act::Type("Kind\n"), Act::Hotkey(&["ctrl", "z"]), click(BUTTON, "Redo")],
    table("Kind,Left\nBolt,12\nGear,7\n"),
);
const LESS: Real = task("menu", "pressMenu, a row less", &[menu(&["Sheet", "Delete Rows"])], NO_HEAD);

pub(super) const CALC: &[Real] = &[
    task(
        "table cell",
        "click and type",
        &[Act::Click(cell("A2")), Act::Type("Screw\n")],
        table("Part,Left\nScrew,12\nGear,7\n"),
    ),
    BY_VALUE.quick(),
    BY_VALUE.spoilt(Stopped),
    BY_VALUE.spoilt(Moved),
    BY_VALUE.spoilt(Closed),
    BY_VALUE.spoilt(SAVE_AS),
    task(
        "table",
        "click a cell",
        &[Act::Click(cell("A3")), Act::Type("Nut\n")],
        table("Part,Left\nBolt,12\nNut,7\n"),
    ),
    task(
        "date",
        "setValue",
        &[Act::SetValue(cell("B2"), "2026-03-14")],
        table("Part,Left\nBolt,2026-03-14\nGear,7\n"),
    ),
    // It shows a time as its language has it.
    task(
        "time",
        "setValue",
        &[Act::SetValue(cell("B2"), "13:45")],
        table("Part,Left\nBolt,01:45:00 PM\nGear,7\n"),
    )
    .resisted(),
    task("menu", "pressMenu, two levels", &[menu(&["Sheet", "Insert Rows", "Rows Above"])], ROW_ABOVE),
    task(
        "formula bar",
        "click and type",
        &[click("text|entry|panel", "Input line"), Act::Type("Kind\n")],
        table("PartKind,Left\nBolt,12\nGear,7\n"),
    )
    .quick(),
    task("menu", "pressMenu, undo", &[Act::Type("Kind\n"), menu(&["Edit", "Undo"])], BOOK),
    task("tool bar", "Undo after an edit", &[Act::Type("Kind\n"), click(BUTTON, "Undo")], BOOK),
    task("table cell", "click", &[Act::Click(cell("A2"))], BOOK).spoilt(Stopped),
    ROWS.spoilt(Covered),
    ROWS.spoilt(SAVE_AS),
    REDONE,
    REDONE.spoilt(Sabotage::Greyed(&[Hand::Types("x\n")])),
    COLUMNS,
    COLUMNS.spoilt(Stopped),
    COLUMNS.spoilt(Covered),
    LESS,
    LESS.spoilt(Moved),
    LESS.spoilt(Covered),
    task("menu", "pressMenu, a column less", &[menu(&["Sheet", "Delete Columns"])], table("Left\n12\n7\n")),
    task(
        "menu",
        "pressMenu, sorts",
        &[Act::Click(cell("A2")), menu(&["Data", "Sort Descending"])],
        table("Part,Left\nGear,7\nBolt,12\n"),
    ),
    task(
        "dialog",
        "finds and replaces",
        &[
            Act::Hotkey(&["ctrl", "h"]),
            set(FIELD, "Find:", "Bolt"),
            set(FIELD, "Replace:", "Screw"),
            click(BUTTON, "Replace All"),
        ],
        table("Part,Left\nScrew,12\nGear,7\n"),
    ),
    task(
        "name box",
        "click and type",
        &[click(FIELD, "Name Box|A1"), Act::Hotkey(&["ctrl", "a"]), Act::Type("B3\n"), Act::Type("8\n")],
        table("Part,Left\nBolt,12\nGear,8\n"),
    ),
    task(
        "table cell",
        "a formula",
        &[Act::Click(cell("C2")), Act::Type("=B2*2\n")],
        table("Part,Left,\nBolt,12,24\nGear,7,\n"),
    ),
    task(
        "table cell",
        "a sum",
        &[Act::Click(cell("B4")), Act::Type("=SUM(B2:B3)\n")],
        table("Part,Left\nBolt,12\nGear,7\n,19\n"),
    ),
    task(
        "table cell",
        "emptied",
        &[Act::Click(cell("A2")), Act::Press("delete")],
        table("Part,Left\n,12\nGear,7\n"),
    ),
    task(
        "table cell",
        "copied and pasted",
        &[
            Act::Click(cell("A2")),
            Act::Hotkey(&["ctrl", "c"]),
            Act::Click(cell("A3")),
            Act::Hotkey(&["ctrl", "v"]),
            click(BUTTON, "Yes"),
        ],
        table("Part,Left\nBolt,12\nBolt,7\n"),
    ),
    task(
        "list",
        "click",
        &[
            Act::Click(cell("B2")),
            menu(&["Format", "Cells..."]),
            click("list item|table cell|label", "Percent"),
            click(BUTTON, "OK"),
        ],
        table("Part,Left\nBolt,1200.00%\nGear,7\n"),
    ),
];

const TYPE: Real = task("text area", "type", &[TYPED], AT_THE_TOP);
const UPPER: Real = task(
    "menu",
    "pressMenu, two levels",
    &[ALL, menu(&["Format", "Text", "UPPERCASE"])],
    Saved("notes.txt", "ALPHA\nBETA\n"),
);

/// A file's last line break is none in the text that it comes into.
const INSERTED: Oracle = Saved("notes.txt", "dearalpha\nbeta\n");

pub(super) const WRITER: &[Real] = &[
    TYPE.quick(),
    TYPE.spoilt(Stopped),
    TYPE.spoilt(Moved),
    task(
        "text area",
        "click and type",
        &[click("paragraph|text", ""), Act::Hotkey(&["ctrl", "home"]), TYPED],
        AT_THE_TOP,
    ),
    UPPER,
    UPPER.spoilt(Covered),
    UPPER.spoilt(SAVE_AS),
    task("text area", "setValue", &[set("paragraph", "", "one")], Saved("notes.txt", "one\nbeta\n")),
    task(
        "file dialog",
        "clicks",
        &[
            menu(&["Insert", "Text from File..."]),
            click("table cell|list item|label|text", "letter.txt"),
            click(BUTTON, "Insert"),
        ],
        INSERTED,
    ),
    task(
        "file dialog",
        "opens by its path",
        &[menu(&["Insert", "Text from File..."]), Act::Type("~/letter.txt\n")],
        INSERTED,
    ),
    task(
        "menu",
        "pressMenu, a list",
        &[ALL, menu(&["Format", "Lists", "Unordered List"])],
        Saved("notes.txt", "    • alpha\n    • beta\n"),
    ),
    task(
        "dialog",
        "finds and replaces",
        &[
            Act::Hotkey(&["ctrl", "h"]),
            set(FIELD, "Find:", "beta"),
            set(FIELD, "Replace:", "delta"),
            click(BUTTON, "Replace All"),
        ],
        Saved("notes.txt", "alpha\ndelta\n"),
    ),
    task("menu", "pressMenu", &[menu(&["Tools", "Word Count..."])], Title("Word Count")),
];

const fn letter(part: &'static str) -> Oracle {
    SavedWith("letter.fodt", part)
}

const IS_BOLD: Oracle = letter("<style:text-properties fo:font-weight=\"bold\"");
const BOLD: Real = task("tool bar", "click", &[ALL, click(BUTTON, "Bold")], IS_BOLD);
const HEADING: Real = task(
    "editable combo box",
    "click and type",
    &[click("combo box|text|entry", "Default Paragraph Style"), ALL, Act::Type("Heading 1\n")],
    letter("text:style-name=\"Heading_20_1\""),
);
const CENTRED: Real = task(
    "menu",
    "pressMenu, centred",
    &[menu(&["Format", "Align Text", "Centered"])],
    letter("fo:text-align=\"center\""),
);

pub(super) const LETTER: &[Real] = &[
    BOLD,
    BOLD.spoilt(Covered),
    task("menu", "pressMenu, bold", &[ALL, menu(&["Format", "Text", "Bold"])], IS_BOLD),
    task("keys", "hotkey, bold", &[ALL, Act::Hotkey(&["ctrl", "b"])], IS_BOLD),
    HEADING,
    task(
        "menu",
        "pressMenu, a heading",
        &[menu(&["Styles", "Heading 1"])],
        letter("text:style-name=\"Heading_20_1\""),
    ),
    CENTRED,
    CENTRED.spoilt(Stopped),
    CENTRED.spoilt(Closed),
    CENTRED.spoilt(SAVE_AS),
    BOLD.spoilt(SAVE_AS),
    task(
        "context menu",
        "clicks",
        &[
            ALL,
            Act::RightClick(find("paragraph|text", "")),
            click("menu|menu item", "Character"),
            click(ITEM, "Bold"),
        ],
        IS_BOLD,
    ),
    task(
        "button",
        "click",
        &[menu(&["Table", "Insert Table..."]), click(BUTTON, "Insert")],
        letter("table:number-columns-repeated=\"2\""),
    ),
    task(
        "combo box",
        "setValue",
        &[
            menu(&["Format", "Paragraph..."]),
            click("page tab", "Outline & List|Outline & Numbering"),
            set("combo box", "Outline level:|Text Body|[None]", "Level 1"),
            click(BUTTON, "OK"),
        ],
        letter("text:outline-level=\"1\""),
    ),
    task(
        "combo box",
        "clicks",
        &[
            menu(&["Format", "Paragraph..."]),
            click("page tab", "Outline & List|Outline & Numbering"),
            click("combo box", "Outline level:|Text Body|[None]"),
            click(ITEM, "Level 1"),
            click(BUTTON, "OK"),
        ],
        letter("text:outline-level=\"1\""),
    ),
    task(
        "editable combo box",
        "setValue",
        &[set("combo box|text|entry", "Default Paragraph Style", "Heading 1"), Act::Press("enter")],
        letter("text:style-name=\"Heading_20_1\""),
    ),
    task(
        "tree",
        "select in it",
        &[
            menu(&["Tools", "Options..."]),
            click("tree item|table cell|list item|label", "User Data"),
            set("text|entry", "Company:", "Acme"),
            click(BUTTON, "OK"),
        ],
        Part("../office/user/registrymodifications.xcu", "<value>Acme</value>"),
    ),
    task(
        "spin button",
        "setValue",
        &[menu(&["Table", "Insert Table..."]), set("spin button", "Columns:", "3"), click(BUTTON, "Insert")],
        letter("table:number-columns-repeated=\"3\""),
    ),
    task(
        "tab",
        "click",
        &[
            menu(&["Format", "Paragraph..."]),
            click("page tab", "Alignment"),
            click("radio button", "Right|End"),
            click(BUTTON, "OK"),
        ],
        letter("fo:text-align=\"end\""),
    ),
    task(
        "radio button",
        "click",
        &[
            menu(&["Format", "Paragraph..."]),
            click("page tab", "Alignment"),
            click("radio button", "Center"),
            click(BUTTON, "OK"),
        ],
        letter("fo:text-align=\"center\""),
    ),
    task(
        "check box",
        "click",
        &[
            menu(&["Format", "Paragraph..."]),
            click("page tab", "Text Flow"),
            click("check box", "Automatically"),
            click(BUTTON, "OK"),
        ],
        letter("fo:hyphenate=\"true\""),
    ),
    task(
        "entry",
        "setValue",
        &[menu(&["Insert", "Bookmark..."]), set("text|entry", "Name:", "Start"), click(BUTTON, "Insert")],
        letter("text:name=\"Start\""),
    ),
];
