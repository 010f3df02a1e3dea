//! A file manager, in a folder with `letter.txt` and a folder `Docs`.

use super::Oracle::{Gone, There, Title};
use super::Sabotage::{Closed, Covered, Moved, Stopped};
use super::{Act, BUTTON, Find, Hand, ITEM, Real, Sabotage, click, find, menu, task};

const LETTER: Find = find("icon|table cell|list item", "letter.txt");
const DOCS: Find = find("icon|table cell|list item", "Docs");
const CHOSEN: Act = Act::Click(LETTER);
const DELETE: Act = Act::Hotkey(&["shift", "delete"]);

const NEW_FOLDER: Sabotage = Sabotage::Asked(&[Hand::Presses(&["ctrl", "shift", "n"])]);
const OTHER_FOLDER: Sabotage = Sabotage::Renamed(&[Hand::Moves("files/Docs", "files/Trips")]);

const OPENS: Real = task("icon", "double click opens", &[Act::DoubleClick(DOCS)], Title("Docs"));
const DUPLICATES: Real = task(
    "menu",
    "pressMenu, duplicates",
    &[CHOSEN, menu(&["Edit", "Duplicate"])],
    There("files/letter (copy 1).txt"),
);
const PROPERTIES: Real = task(
    "menu",
    "pressMenu, properties",
    &[CHOSEN, menu(&["File", "Properties..."])],
    Title("letter.txt - Properties"),
);
const LINKS: Real = task(
    "menu",
    "pressMenu, a link",
    &[CHOSEN, menu(&["Edit", "Make Link"])],
    There("files/link to letter.txt"),
);

pub(super) const THUNAR: &[Real] = &[
    task(
        "dialog",
        "a folder is made",
        &[menu(&["File", "Create Folder..."]), Act::Type("March\n")],
        There("files/March"),
    )
    .quick(),
    task(
        "dialog",
        "a document is made",
        &[menu(&["File", "Create Document", "Empty File..."]), Act::Type("list.txt\n")],
        There("files/list.txt"),
    ),
    task("icon", "renamed by F2", &[CHOSEN, Act::Press("f2"), Act::Type("note\n")], There("files/note.txt")),
    OPENS,
    OPENS.spoilt(Stopped),
    OPENS.spoilt(Moved),
    OPENS.spoilt(Covered),
    OPENS.spoilt(Closed),
    OPENS.spoilt(NEW_FOLDER),
    OPENS.spoilt(OTHER_FOLDER),
    DUPLICATES,
    DUPLICATES.spoilt(Stopped),
    DUPLICATES.spoilt(Covered),
    PROPERTIES,
    PROPERTIES.spoilt(Moved),
    PROPERTIES.spoilt(Covered),
    PROPERTIES.spoilt(NEW_FOLDER),
    LINKS,
    LINKS.spoilt(Covered),
    LINKS.spoilt(Moved),
    task(
        "icon",
        "copied and pasted",
        &[CHOSEN, Act::Hotkey(&["ctrl", "c"]), Act::DoubleClick(DOCS), Act::Hotkey(&["ctrl", "v"])],
        There("files/Docs/letter.txt"),
    ),
    task(
        "icon",
        "cut and pasted",
        &[CHOSEN, menu(&["Edit", "Cut"]), Act::DoubleClick(DOCS), Act::Hotkey(&["ctrl", "v"])],
        There("files/Docs/letter.txt"),
    ),
    task(
        "dialog",
        "deleted, then its button",
        &[CHOSEN, DELETE, click(BUTTON, "Delete")],
        Gone("files/letter.txt"),
    ),
    task(
        "menu",
        "pressMenu, all selected and deleted",
        &[menu(&["Edit", "Select all Files"]), DELETE, click(BUTTON, "Delete")],
        Gone("files/Docs"),
    ),
    task(
        "context menu",
        "clicks, renames",
        &[Act::RightClick(LETTER), click(ITEM, "Rename..."), Act::Type("note\n")],
        There("files/note.txt"),
    ),
    task(
        "entry",
        "location typed",
        &[Act::Hotkey(&["ctrl", "l"]), Act::Press("end"), Act::Type("/Docs\n")],
        Title("Docs"),
    ),
    task("tool bar", "click, back", &[Act::DoubleClick(DOCS), click(BUTTON, "Back")], Title("files")),
    task(
        "side pane",
        "click",
        &[click("table cell|list item|tree item|label", "File System")],
        Title("File System"),
    ),
    task(
        "menu",
        "pressMenu, as a list",
        &[menu(&["View", "List View"]), Act::DoubleClick(DOCS)],
        Title("Docs"),
    ),
];
