//! The mind of the demo: writes a haiku into the editor that it finds, and saves it through the dialog that it finds.
//!
//! It acts only on elements that it was sent, and reacts to what came of each act. Where it cannot find something it
//! looks again, and says so in the end where it never comes.

use serde_json::{Value, json};

use super::{Asked, Mind, MindTurn, SentElement};

/// What it writes. The dash is in no keyboard's first level: text outside the keymap is part of the job.
pub const HAIKU: &str = "Amber leaves let go —\nthe old pond keeps every one\nuntil the first frost";

/// Looks at a thing that is not there before it gives up.
const PATIENCE: u32 = 6;

/// Writes [`HAIKU`] and saves it under the file name in the goal, `haiku.txt` where there is none.
#[derive(Default)]
pub struct HaikuMind {
    next: Next,
    file: String,
    looked: u32,
    confirmed: u32,
    save: Option<(f64, f64)>,
}

/// What the last turn's results are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    FindEditor,
    Write,
    Save,
    LookForDialog,
    FindDialog,
    NameFile,
    Confirm,
    LookAgain,
    Check,
}

impl Mind for HaikuMind {
    fn turn(&mut self, request: &Asked) -> MindTurn {
        if let Some(goal) = request.new_goal() {
            let word = goal.split_whitespace().find(|word| word.ends_with(".txt"));
            *self = Self { file: word.unwrap_or("haiku.txt").to_owned(), ..Self::default() };
            let turn = look("First I look at what is open.", "Mousepad");
            return turn.thinking("The goal names an editor. Its text area must be among the elements.");
        }
        let results = request.results();
        if let Some(error) = results.iter().find_map(super::ToolResult::error) {
            // An act may meet a window that is not there yet; looking again is the answer to that, within bounds.
            if !self.is_looking() {
                return MindTurn::done(&format!("I could not go on: {error}"), false);
            }
        }
        self.react(&request.elements(), results.last().map(super::ToolResult::window).unwrap_or_default())
    }
}

impl HaikuMind {
    fn is_looking(&self) -> bool {
        matches!(self.next, Next::FindEditor | Next::FindDialog | Next::Check)
    }

    fn react(&mut self, elements: &[SentElement], window: String) -> MindTurn {
        match self.next {
            Next::FindEditor => match largest_text(elements) {
                Some(area) => self.then(
                    Next::Write,
                    click("I click into the text area.", area, "put the cursor into the editor"),
                ),
                None => self.look_again("Mousepad", "I see no text area in an editor"),
            },
            Next::Write => self
                .then(Next::Save, MindTurn::call("Now I write the haiku.", "type", json!({ "text": HAIKU }))),
            Next::Save => {
                let turn = MindTurn::call("I save it.", "hotkey", json!({ "keys": ["ctrl", "s"] }));
                self.then(Next::LookForDialog, turn)
            }
            Next::LookForDialog => {
                self.then(Next::FindDialog, look("A dialog should ask for the name.", "Mousepad"))
            }
            Next::FindDialog => match (name_field(elements), save_button(elements)) {
                (Some(field), Some(save)) => {
                    self.save = Some(save.center());
                    self.then(Next::NameFile, click("I click into the name field.", field, "name the file"))
                }
                _ => self.look_again("Save As", "the save dialog did not come"),
            },
            Next::NameFile => {
                let actions: [Value; 2] = [
                    json!({ "tool": "hotkey", "arguments": { "keys": ["ctrl", "a"] } }),
                    json!({ "tool": "type", "arguments": { "text": self.file } }),
                ];
                self.then(
                    Next::Confirm,
                    MindTurn::call("I type the file's name.", "batch", json!({ "actions": actions })),
                )
            }
            Next::Confirm => {
                let (x, y) = self.save.unwrap_or_default();
                let arguments = json!({ "x": x, "y": y, "reason": "save the file" });
                self.then(Next::LookAgain, MindTurn::call("And I press Save.", "click", arguments))
            }
            Next::LookAgain => self.then(Next::Check, look("Did it work?", "Mousepad")),
            Next::Check if save_button(elements).is_some() => self.confirm_again(),
            Next::Check if window.contains(&self.file) => {
                MindTurn::done(&format!("The haiku is written and saved as {}.", self.file), true)
            }
            Next::Check => self.look_again("Mousepad", "the editor's title does not show the file's name"),
        }
    }

    fn then(&mut self, next: Next, turn: MindTurn) -> MindTurn {
        self.next = next;
        self.looked = 0;
        turn
    }

    /// The first click may only have closed what the name field's completion had opened over the dialog.
    fn confirm_again(&mut self) -> MindTurn {
        self.confirmed += 1;
        if self.confirmed > PATIENCE {
            return MindTurn::done("I give up: the save dialog does not close.", false);
        }
        let turn = MindTurn::call(
            "The dialog is still there; I confirm once more.",
            "press",
            json!({ "key": "Enter" }),
        );
        self.then(Next::LookAgain, turn)
    }

    /// Stays at this step and looks again, at the likeliest place and at the active window in turns.
    fn look_again(&mut self, app: &str, complaint: &str) -> MindTurn {
        self.looked += 1;
        if self.looked > PATIENCE {
            return MindTurn::done(&format!("I give up: {complaint}."), false);
        }
        let place = if self.looked % 2 == 1 { app } else { "" };
        look(&format!("Not yet ({complaint}); I look again."), place)
    }
}

fn look(text: &str, app: &str) -> MindTurn {
    let arguments = if app.is_empty() { json!({}) } else { json!({ "app": app }) };
    MindTurn::call(text, "elementsJson", arguments)
}

fn click(text: &str, element: &SentElement, reason: &str) -> MindTurn {
    let (x, y) = element.center();
    MindTurn::call(text, "click", json!({ "x": x, "y": y, "reason": reason }))
}

fn is_text(element: &&SentElement) -> bool {
    (element.role.contains("text") || element.role.contains("entry"))
        && element.width > 0.0
        && !element.is("disabled")
}

fn largest_text(elements: &[SentElement]) -> Option<&SentElement> {
    let area = |e: &SentElement| e.width * e.height;
    elements.iter().filter(is_text).max_by(|a, b| area(a).total_cmp(&area(b)))
}

/// The name field is the flattest text there is, where the dialog is there too.
fn name_field(elements: &[SentElement]) -> Option<&SentElement> {
    elements.iter().filter(is_text).min_by(|a, b| a.height.total_cmp(&b.height))
}

fn save_button(elements: &[SentElement]) -> Option<&SentElement> {
    let named = |name: &str| {
        elements.iter().find(|e| e.role.contains("button") && e.name.trim_start_matches('_') == name)
    };
    // A dialog has both; a tool bar may have a Save of its own.
    named("Cancel").and_then(|_| named("Save"))
}
