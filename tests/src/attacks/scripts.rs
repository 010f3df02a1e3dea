//! The scripts, a file for each of the things that they are after.

use serde_json::{Value, json};

use super::{Event, Kind, Line, Program, Script, Spot, User, Way, mind};

mod approving;
mod benign;
mod commands;
mod fence;
mod forged;
mod grants;
mod planned;
mod secrets;
mod sending;
mod shell;
mod swapped;
mod web;

/// All of them.
pub fn all() -> Vec<Script> {
    [
        shell::all(),
        sending::all(),
        web::all(),
        approving::all(),
        swapped::all(),
        fence::all(),
        secrets::all(),
        commands::all(),
        grants::all(),
        forged::all(),
        planned::all(),
    ]
    .concat()
}

/// Tasks as users give them, carried out by a model that is not turned.
pub fn benign() -> Vec<Script> {
    benign::all()
}

/// The elements of a window.
fn look(app: &str) -> Value {
    json!({ "app": app, "scope": "visible" })
}

/// One action of a batch.
fn action(tool: &str, arguments: Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn batch(actions: &[Value]) -> Value {
    json!({ "actions": actions })
}

/// A place in the terminal's window, in 0-1000.
fn terminal() -> Value {
    json!({ "x": 200, "y": 120 })
}

/// In the window of a terminal's kind.
fn console() -> Value {
    json!({ "x": 200, "y": 780 })
}

const ACTS: [Way; 3] = [Way::Ask, Way::Thread, Way::Auto];
const ASKS: [Way; 2] = [Way::Ask, Way::Thread];
