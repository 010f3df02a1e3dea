//! The model: says an attacker's lines word for word, with refs and places of what it has seen.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::Line;
use crate::fake_model::{Asked, Mind, MindTurn, Said, SentElement};

/// What each goal's model says, turn by turn.
#[derive(Clone, Default)]
pub(super) struct Orders {
    turns: Arc<Mutex<HashMap<String, Vec<Vec<Line>>>>>,
    /// Where the servers are: `$PORT` in a text.
    port: u16,
    /// Models whose goal begins with [`BESIDE`] think until this is set.
    pub(super) go: Arc<AtomicBool>,
}

/// No tool: what the model says beside its calls.
pub(super) const SAYS: &str = "says";
/// How the goal of a second agent begins.
pub(super) const BESIDE: &str = "beside: ";

impl Orders {
    pub(super) fn with_servers(port: u16) -> Self {
        Self { port, ..Self::default() }
    }

    pub(super) fn give(&self, goal: &str, turns: Vec<Vec<Line>>) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).insert(goal.to_owned(), turns);
    }
}

impl Mind for Orders {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        let goal = asked.heard.messages.iter().rev().find_map(|said| match said {
            Said::User { texts, .. } => texts.iter().find_map(|text| self.goal_in(text)),
            Said::Assistant(_) | Said::Results(_) => None,
        });
        let Some(goal) = goal else { return MindTurn::done("nobody gave an order", false) };
        if goal.starts_with(BESIDE) && !self.go.load(Ordering::Acquire) {
            let number = asked.heard.messages.len();
            let think = MindTurn::call("", "think", json!({ "thought": format!("not yet ({number})") }));
            return MindTurn { pause: std::time::Duration::from_millis(50), ..think };
        }
        let is_order = |said: &&Said| matches!(said, Said::Assistant(answer) if !answer.calls.iter().any(|call| call.name == "think"));
        let at = asked.heard.messages.iter().filter(is_order).count();
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lines) = turns.get(&goal).and_then(|turns| turns.get(at)) else {
            return MindTurn::done("the orders are carried out", true);
        };
        let (said, called): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|(tool, _)| *tool == SAYS);
        let said = said.iter().filter_map(|(_, text)| text.as_str());
        let text = said.collect::<String>().replace("$PORT", &self.port.to_string());
        let calls = called.iter().map(|(tool, arguments)| ((*tool).to_owned(), filled(arguments, asked)));
        MindTurn { text, calls: calls.collect(), ..MindTurn::default() }
    }
}

impl Orders {
    fn goal_in(&self, text: &str) -> Option<String> {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.keys().find(|goal| text.contains(goal.as_str())).cloned()
    }
}

/// The arguments with what was seen in place of its names.
fn filled(arguments: &Value, asked: &Asked) -> Value {
    match arguments {
        Value::String(text) => seen(text, asked).unwrap_or_else(|| arguments.clone()),
        Value::Array(all) => all.iter().map(|one| filled(one, asked)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, one)| (name.clone(), filled(one, asked))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => arguments.clone(),
    }
}

fn seen(text: &str, asked: &Asked) -> Option<Value> {
    let (what, name) = text.strip_prefix('@')?.split_once(' ')?;
    if what == "window" {
        return Some(window(asked, name).unwrap_or_else(|| json!(1)));
    }
    let results = asked.heard.messages.iter().rev().filter_map(|said| match said {
        Said::Results(results) => Some(results),
        Said::User { .. } | Said::Assistant(_) => None,
    });
    let elements = results.flatten().flat_map(crate::fake_model::ToolResult::elements);
    let found =
        elements.into_iter().find(|element: &SentElement| element.name == name || element.value == name);
    // A model that has not seen it guesses.
    Some(match (what, found) {
        ("ref", Some(found)) => json!(found.reference),
        ("x", Some(found)) => json!(found.center().0),
        ("y", Some(found)) => json!(found.center().1),
        ("ref", None) => json!("e1"),
        (_, _) => json!(500),
    })
}

/// The number of the window that is titled so.
fn window(asked: &Asked, title: &str) -> Option<Value> {
    let results = asked.heard.messages.iter().rev().filter_map(|said| match said {
        Said::Results(results) => Some(results),
        Said::User { .. } | Said::Assistant(_) => None,
    });
    let mut found = None;
    for result in results.flatten() {
        crate::fake_model::visit(&result.response, &mut |value| {
            let is_it = value["title"].as_str().is_some_and(|one| one.contains(title));
            if found.is_none() && is_it && value["id"].is_u64() {
                found = Some(value["id"].clone());
            }
        });
    }
    found
}
