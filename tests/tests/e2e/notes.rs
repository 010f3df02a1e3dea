//! The mind of a task of ten turns: replaces what is in the editor by a few lines, in parts, and saves it.
//!
//! It finds its target in the elements that it is sent, and does not know by which wire.

use std::time::Duration;

use outside::fake_model::{Asked, Mind, MindTurn, SentElement};
use protocol::turn::Usage;
use serde_json::{Value, json};

/// Turns of the task, each with a call.
pub const TURNS: usize = 10;
/// Looks at a thing that is not there yet before it gives up, and how long between two.
const PATIENCE: u32 = 60;
const PAUSE: Duration = Duration::from_millis(200);

/// What the file must hold when `goal` was reached.
pub fn notes(goal: &str) -> String {
    format!("Notes for {goal}\nfirst — tea\nthen work")
}

/// Writes [`notes`] and saves them; for the goal `rest` it has done all in one turn.
#[derive(Default)]
pub struct NotesMind {
    goal: String,
    step: usize,
    looked: u32,
}

impl Mind for NotesMind {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        if let Some(goal) = asked.new_goal() {
            *self = Self { goal: goal.to_owned(), ..Self::default() };
        }
        if let Some(error) = asked.results().iter().find_map(|result| result.error()) {
            return self.said(MindTurn::done(&format!("it went wrong: {error}"), false));
        }
        let turn = match self.goal.as_str() {
            "rest" => MindTurn::done("there is nothing to do", true),
            _ => self.next(asked),
        };
        self.said(turn)
    }
}

impl NotesMind {
    fn next(&mut self, asked: &Asked) -> MindTurn {
        let look = || ("elementsJson".to_owned(), json!({ "app": "Mousepad" }));
        let zoom = || ("zoom".to_owned(), json!({ "x": 0, "y": 0, "width": 400, "height": 300 }));
        let thought = ("think".to_owned(), json!({ "thought": "half of it is there" }));
        let text = |text: &str| ("type".to_owned(), json!({ "text": text, "reason": "to write it" }));
        let hotkey = |keys: [&str; 2]| ("hotkey".to_owned(), json!({ "keys": keys, "reason": "to go on" }));
        let whole = notes(&self.goal);
        let (head, rest) = whole.split_at(whole.rfind('\n').unwrap_or_default());
        let (words, calls): (&str, Vec<(String, Value)>) = match self.step {
            0 => ("I look.", vec![look(), ("screenshot".into(), json!({}))]),
            1 => match asked.elements().iter().filter(is_text).max_by(|a, b| size(a).total_cmp(&size(b))) {
                Some(area) => {
                    let (x, y) = area.center();
                    (
                        "I click.",
                        vec![("click".into(), json!({ "x": x, "y": y, "reason": "to write there" }))],
                    )
                }
                None => return self.again("there is no text area", look()),
            },
            2 => ("I take all.", vec![hotkey(["ctrl", "a"])]),
            3 => ("I write — over it.", vec![text(head)]),
            4 => ("Three at once.", vec![zoom(), ("listWindows".into(), json!({})), thought]),
            5 => ("I go on.", vec![text(rest)]),
            6 => ("I look at it.", vec![("screenshot".into(), json!({}))]),
            7 => ("I save it.", vec![hotkey(["ctrl", "s"])]),
            8 => ("Is it saved?", vec![look()]),
            // An asterisk before the name says that it is not.
            _ if asked.results().iter().any(|result| result.window().starts_with('*')) => {
                return self.again("the editor does not save", look());
            }
            _ => return MindTurn::done("it is written and saved", true),
        };
        self.step += 1;
        MindTurn { text: words.to_owned(), calls, ..MindTurn::default() }
    }

    fn again(&mut self, complaint: &str, look: (String, Value)) -> MindTurn {
        self.looked += 1;
        if self.looked > PATIENCE {
            return MindTurn::done(&format!("I give up: {complaint}"), false);
        }
        MindTurn { calls: vec![look], pause: PAUSE, ..MindTurn::default() }
    }

    /// With a thought, and with counts of every kind; one prompt is so long that it has another price.
    fn said(&self, turn: MindTurn) -> MindTurn {
        let step = self.step as u64;
        let input = if step == 7 { 300_007 } else { 2_000 + 1_003 * step };
        let usage = Usage {
            input,
            cached: input / 2 + step,
            cache_write: 401 + step,
            output: 53 + step,
            thinking: 17 * step,
        };
        let thought = format!("At step {} of {TURNS} — what is next?", self.step);
        MindTurn { usage: Some(usage), ..turn.thinking(&thought) }
    }
}

fn is_text(element: &&SentElement) -> bool {
    element.role.contains("text") && !element.is("disabled")
}

fn size(element: &SentElement) -> f64 {
    element.width * element.height
}
