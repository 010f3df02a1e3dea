//! Screens as an office has them: an editor with its menu, a dialog and a find bar, a sheet, a panel; and thirty steps of
//! work there. Painted by boxes: what is counted is which part of the screen changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use desktop::fake::{FakeDesktop, Scene};
use desktop::{Element, Snapshot};
use models::scripted::Step;
use protocol::geometry::{NormRect, PhysicalRect};
use serde_json::{Value, json};

const INK: [u8; 3] = [40, 40, 40];
const PAPER: [u8; 3] = [250, 250, 250];
const BAR: [u8; 3] = [225, 225, 230];
const MARKED: [u8; 3] = [255, 230, 120];
const WINDOW: [i32; 4] = [110, 60, 1240, 900];

/// How the screen is at one time.
#[derive(Clone, Copy, Default)]
struct View {
    sheet: bool,
    opened: bool,
    menu: bool,
    dialog: bool,
    find: bool,
    saved: bool,
    checked: bool,
    scrolled: i32,
    /// Lines, and words in the last of them, in the editor.
    typed: [i32; 2],
    /// Values in the sheet.
    cells: i32,
    /// Words in the dialog's field.
    field: i32,
    caret: [i32; 2],
}

struct Act {
    tool: &'static str,
    arguments: Value,
    after: View,
}

pub struct Office {
    acts: Vec<Act>,
}

impl Office {
    pub fn new() -> Self {
        let mut acts = Vec::new();
        let mut now = View::default();
        let mut act = |tool: &'static str, arguments: Value, change: &dyn Fn(&mut View)| {
            change(&mut now);
            acts.push(Act { tool, arguments, after: now });
        };
        let click = |x: i32, y: i32, why: &str| json!({ "x": x, "y": y, "reason": why });
        let text = |text: &str| json!({ "text": text, "reason": "the report's next words" });
        let look = || json!({});
        let nothing = |_: &mut View| {};
        // Looked at first, and again where something else came up; that is what the prompt says.
        act("elementsJson", look(), &nothing);
        act("click", click(70, 75, "open the menu"), &|now| now.menu = true);
        act("elementsJson", look(), &nothing);
        act("click", click(80, 130, "choose Open"), &|now| (now.menu, now.dialog) = (false, true));
        act("type", text("report-march.txt"), &|now| now.field = 3);
        act("press", json!({ "key": "Enter", "reason": "open it" }), &|now| {
            (now.dialog, now.opened, now.typed) = (false, true, [9, 6]);
        });
        act("elementsJson", look(), &nothing);
        act("click", click(300, 420, "go to the end"), &|now| now.caret = [560, 455]);
        act("type", text("The sum of all invoices in March was 4,210.50 EUR."), &|now| now.typed = [10, 9]);
        act("type", text("Two of them are open: Miller, and Young & Sons."), &|now| now.typed = [11, 8]);
        act("screenshot", look(), &nothing);
        act("hotkey", json!({ "keys": ["ctrl", "f"], "reason": "find the old sum" }), &|now| now.find = true);
        act("elementsJson", look(), &nothing);
        act("type", text("February"), &|now| now.field = 1);
        act("scroll", json!({ "x": 300, "y": 500, "down": 6, "reason": "see the end" }), &|now| {
            now.scrolled = 140;
        });
        act("type", text("3,977.00"), &|now| now.typed = [13, 2]);
        act("hotkey", json!({ "keys": ["alt", "tab"], "reason": "go to the sheet" }), &|now| {
            now.sheet = true
        });
        act("elementsJson", json!({ "app": "sheet" }), &nothing);
        act("click", click(250, 300, "the first cell"), &|now| now.caret = [420, 310]);
        act("type", text("1200.00"), &|now| now.cells = 1);
        act("press", json!({ "key": "Tab", "reason": "next cell" }), &|now| now.caret = [520, 310]);
        act("type", text("980.50"), &|now| now.cells = 2);
        act("press", json!({ "key": "Enter", "reason": "take it" }), &|now| {
            (now.cells, now.caret) = (4, [420, 340]);
        });
        act("elementsJson", json!({ "app": "sheet" }), &nothing);
        act("click", click(80, 800, "with tax"), &|now| now.checked = true);
        act("click", click(70, 75, "open the menu"), &|now| now.menu = true);
        act("click", click(80, 160, "choose Save as"), &|now| {
            (now.menu, now.dialog, now.field) = (false, true, 0);
        });
        act("elementsJson", json!({ "app": "sheet" }), &nothing);
        act("type", text("march.ods"), &|now| now.field = 2);
        act("click", click(540, 640, "save it"), &|now| (now.dialog, now.saved) = (false, true));
        assert_eq!(acts.len(), 30);
        Self { acts }
    }

    pub fn steps(&self) -> Vec<Step> {
        let said = "I go on with the next part of the report.";
        let step = |act: &Act| {
            let call = models::ProposedCall::new(Some("p1".into()), act.tool, act.arguments.clone());
            Step::turn(said, vec![call], protocol::turn::StopReason::ToolCalls)
        };
        let done = Step::call("done", json!({ "summary": "the report is written" }));
        self.acts.iter().map(step).chain([done]).collect()
    }

    /// From here on each act shows what comes of it.
    pub fn open(&self, desktop: &FakeDesktop) {
        desktop.edit(|scene| show(scene, &View::default()));
        let looks = ["elementsJson", "screenshot"];
        let views: Vec<View> =
            self.acts.iter().filter(|act| !looks.contains(&act.tool)).map(|act| act.after).collect();
        let next = Arc::new(AtomicUsize::new(0));
        desktop.react(move |_, scene| {
            if let Some(view) = views.get(next.fetch_add(1, Ordering::SeqCst)) {
                show(scene, view);
            }
        });
    }

    /// The list of elements at a step, as it is told whole.
    pub fn whole_list(&self, step: usize) -> Value {
        let Some(act) = self.acts.get(step) else { return Value::Null };
        let mut data = serde_json::to_value(snapshot(&act.after)).unwrap();
        for element in data["elements"].as_array_mut().unwrap() {
            element.as_object_mut().unwrap().shift_remove("fingerprint");
            if element["depth"] == 0 {
                element.as_object_mut().unwrap().shift_remove("depth");
            }
        }
        data
    }
}

fn show(scene: &mut Scene, view: &View) {
    scene.painted = painted(view);
    scene.snapshot = snapshot(view);
}

fn painted(view: &View) -> Vec<(PhysicalRect, [u8; 3])> {
    let mut all = Vec::new();
    let mut put = |[x, y, width, height]: [i32; 4], colour: [u8; 3]| {
        all.push((PhysicalRect { x, y, width: width as u32, height: height as u32 }, colour));
    };
    put([0, 1_040, 1_920, 40], [30, 30, 36]);
    let [left, top, width, height] = if view.sheet { [200, 40, 1_400, 960] } else { WINDOW };
    put([left, top, width, height], if view.sheet { [240, 244, 240] } else { PAPER });
    put([left, top, width, 70], BAR);
    for button in 0..14 {
        put([left + 20 + button * 46, top + 36, 28, 24], [120, 130, 150]);
    }
    if view.saved {
        put([left + 500, top + 8, 160, 18], INK);
    }
    // A word is a box with gaps, of a width that its place tells.
    let mut words = |x: i32, y: i32, count: i32, seed: i32| {
        let mut at = x;
        for word in 0..count {
            let wide = 24 + (seed * 7 + word * 13) % 50;
            put([at, y, wide, 14], INK);
            at += wide + 10;
        }
    };
    if view.sheet {
        for row in 0..26 {
            for column in 0..6 {
                words(left + 20 + column * 220, top + 90 + row * 32, 2, row * 5 + column);
            }
        }
        for cell in 0..view.cells {
            words(left + 220 + (cell % 2) * 220, top + 260 + (cell / 2) * 500, 1, cell + 40);
        }
    } else if view.opened {
        let lines = view.typed[0];
        for line in 0..lines {
            let count = if line + 1 == lines { view.typed[1] } else { 14 };
            words(left + 40, top + 110 + line * 36 + view.scrolled, count, line + view.scrolled);
        }
    }
    if view.checked {
        put([left + 30, top + 780, 16, 16], [30, 110, 220]);
    }
    if view.find {
        put([left, top + 850, width, 44], BAR);
        for word in 0..view.field {
            put([left + 60 + word * 70, top + 862, 60, 18], MARKED);
            put([left + 64 + word * 70, top + 866, 50, 10], INK);
        }
    }
    put([view.caret[0], view.caret[1], 3, 20], [0, 0, 0]);
    if view.menu {
        put([left + 20, top + 70, 260, 340], [255, 255, 255]);
        for item in 0..9 {
            put([left + 40, top + 90 + item * 34, 120 + item * 7 % 60, 14], INK);
        }
    }
    if view.dialog {
        put([560, 320, 760, 420], [245, 245, 248]);
        for row in 0..8 {
            put([600, 380 + row * 34, 300 + row * 31 % 200, 14], INK);
        }
        put([600, 670, 480, 34], [255, 255, 255]);
        for word in 0..view.field {
            put([610 + word * 80, 680, 64, 14], INK);
        }
    }
    all
}

fn snapshot(view: &View) -> Snapshot {
    let mut elements: Vec<Element> = Vec::new();
    let mut add = |role: &str, name: String, value: String, states: &[&str]| {
        let number = elements.len() + 1;
        let bounds = NormRect { x: 60.0 + number as f64, y: 50.0, width: 24.5, height: 22.3 };
        elements.push(Element {
            reference: format!("e{number}"),
            role: role.into(),
            name,
            value,
            states: states.iter().map(|state| (*state).to_owned()).collect(),
            bounds,
            ..Element::default()
        });
    };
    for button in 0..14 {
        add("button", format!("Tool {button} of the bar"), String::new(), &[]);
    }
    for item in 0..12 {
        add("menu item", format!("Item {item} of the menu"), String::new(), &[]);
    }
    if view.sheet {
        for cell in 0..60 {
            let value = if cell < view.cells { "1200.00".to_owned() } else { format!("{}.50", cell * 13) };
            add("table cell", format!("Cell {cell}"), value, &[]);
        }
        add("check box", "With tax".into(), String::new(), if view.checked { &["checked"] } else { &[] });
    } else {
        let text = format!("{} lines of the report, the last with {} words", view.typed[0], view.typed[1]);
        add("text", "Report".into(), text, &["editable", "focused"]);
        for style in 0..20 {
            add("list item", format!("Style {style} of the list"), String::new(), &[]);
        }
    }
    if view.dialog {
        for part in ["Name", "Folder", "Open", "Cancel"] {
            add("text", part.into(), "x".repeat(view.field as usize), &["editable"]);
        }
    }
    let app = if view.sheet { "sheet" } else { "editor" };
    Snapshot { number: 1, app: app.into(), window: "Report".into(), elements, ..Snapshot::default() }
}
