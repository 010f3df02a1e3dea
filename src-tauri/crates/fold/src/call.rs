//! A call in one line, for glancing: what it is about, in no language. Windows and command line say it alike.
//!
//! What is asked of the user is shown whole beside it.

use protocol::escape::visible_in_order;
use protocol::tool::{Approval, FrontWindow, ToolCall};
use serde_json::Value;

/// Characters of one text shown in a line.
const MOST_CHARS: usize = 80;

/// One call of those that the user is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub tool: String,
    pub about: String,
    /// The element and the window that it goes to; empty if that is not known, or said in `about`.
    pub goes_to: String,
}

/// All calls that the user is asked about, a line for each.
pub fn lines(asked: &Approval) -> Vec<Line> {
    let goes_to = asked.goes_to.iter().cloned().chain(std::iter::repeat(String::new()));
    let line = |(part, goes_to): (ToolCall, String)| match &asked.target {
        Some(window) => {
            Line { about: in_short(&part, Some(window)), tool: part.tool, goes_to: String::new() }
        }
        None => Line { about: in_short(&part, None), tool: part.tool, goes_to },
    };
    asked.call.parts().into_iter().zip(goes_to).map(line).collect()
}

/// Whether the line of a call has all of its arguments but the reason, which is told apart: they need not be read again.
pub fn is_said_whole(asked: &Approval) -> bool {
    let said: &[&str] = match asked.call.tool.as_str() {
        "click" => &["x", "y", "button", "count"],
        "move" => &["x", "y"],
        "type" | "writeClipboard" => &["text"],
        "press" => &["key", "times"],
        "hotkey" => &["keys"],
        "focusElement" | "clickElement" => &["ref", "role", "name"],
        "doAction" => &["ref", "role", "name", "action"],
        "pressMenu" => &["path"],
        "launchApp" | "quitApp" => &["app"],
        "webNavigate" => &["go", "url"],
        "webFetch" => &["url"],
        "runCommand" => &["command", "hosts"],
        "trashFile" | "makeFolder" => &["path"],
        "moveFile" => &["from", "to"],
        _ => return false,
    };
    let Value::Object(arguments) = &asked.call.arguments else { return false };
    let is_said = |(name, value): (&String, &Value)| {
        name == "reason" || (said.contains(&name.as_str()) && is_plain(value))
    };
    let is_cut = in_short(&asked.call, asked.target.as_ref()).ends_with('…');
    !is_cut && arguments.iter().all(is_said)
}

/// Whether a line has the value as it is: no text with line breaks, tabs, several spaces, letters that cannot be seen or run
/// from right to left, or the signs that a line itself sets.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let as_shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
            as_shown == *text && visible_in_order(text) == *text && !text.contains(['›', '“', '”', '→', '·'])
        }
        Value::Array(all) => all.iter().all(|one| is_plain(one) && !one.is_array()),
        Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// What the call is about: `“hello”`, `Ctrl + S`, `512, 40`, `close “notes.txt” (Mousepad)`. `window` is the one that it
/// names by its number, where that is known.
pub fn in_short(call: &ToolCall, window: Option<&FrontWindow>) -> String {
    let args = &call.arguments;
    let line = match call.tool.as_str() {
        "click" | "mouseDown" | "mouseUp" => click(args),
        "move" => point(args),
        "drag" => drag(args),
        "scroll" => scroll(args),
        "type" | "writeClipboard" => format!("“{}”", text(args, "text")),
        "keyDown" | "keyUp" => text(args, "key"),
        "press" => match args.get("times").and_then(Value::as_u64) {
            Some(times) if times > 1 => format!("{} × {times}", text(args, "key")),
            _ => text(args, "key"),
        },
        "hotkey" => keys(args),
        "hold" => together([keys(args), seconds(args)]),
        "elementsJson" | "webElements" => together([text(args, "app"), text(args, "query")]),
        "readText" => text(args, "query"),
        "focusElement" | "clickElement" | "setValue" => element(args),
        "doAction" => together([element(args), text(args, "action")]),
        "pressMenu" => {
            let path = args.get("path").and_then(Value::as_array);
            path.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" › ")
        }
        "focusWindow" | "screenshot" => window_named(call, window),
        "changeWindow" => together([text(args, "change"), window_named(call, window)]),
        "launchApp" | "quitApp" => text(args, "app"),
        "webNavigate" => together([text(args, "go"), text(args, "url")]),
        "wait" => seconds(args),
        "think" => text(args, "thought"),
        // Its outcome says it.
        "done" | "undo" | "waitFor" => String::new(),
        "spawn" => text(args, "goal"),
        "kill" => text(args, "agent"),
        "report" => text(args, "outcome"),
        "askHuman" | "askParent" => text(args, "question"),
        "answerAgent" => text(args, "answer"),
        "batch" => parts(args),
        "plan" => {
            let steps = args.get("steps").and_then(Value::as_array);
            steps.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" › ")
        }
        "osa" => text(args, "script"),
        "runCommand" => led(args),
        "readFile" | "writeFile" | "editFile" | "trashFile" | "makeFolder" => text(args, "path"),
        "moveFile" => format!("{} › {}", text(args, "from"), text(args, "to")),
        "webSearch" => format!("“{}”", text(args, "query")),
        "webFetch" => text(args, "url"),
        "createEvent" => together([format!("“{}”", text(args, "title")), text(args, "start")]),
        "createReminder" => together([format!("“{}”", text(args, "title")), text(args, "due")]),
        _ => others(args),
    };
    shortened(&line)
}

/// One line of at most [`MOST_CHARS`] characters.
pub fn shortened(text: &str) -> String {
    // A line break is a key, which may run or send what stands before it: it is seen.
    let line = text.replace('\n', " ⏎ ").split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn text(args: &Value, name: &str) -> String {
    match args.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn together<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// By its title and application; by its number only where nothing else is known of it.
fn window_named(call: &ToolCall, known: Option<&FrontWindow>) -> String {
    let known = known.map(FrontWindow::to_string);
    known.or_else(|| Some(call.window()?.to_string())).unwrap_or_default()
}

/// The hosts that a command may reach, before what may be long.
fn led(args: &Value) -> String {
    let hosts = args.get("hosts").and_then(Value::as_array);
    let hosts: Vec<&str> = hosts.into_iter().flatten().filter_map(Value::as_str).collect();
    let to = if hosts.is_empty() { String::new() } else { format!("→ {}:", hosts.join(", ")) };
    together([to, text(args, "command")])
}

fn seconds(args: &Value) -> String {
    args.get("seconds").map(|seconds| format!("{seconds} s")).unwrap_or_default()
}

/// What is not known here is told as it is, but for the reason, which is told apart.
fn others(args: &Value) -> String {
    let Value::Object(all) = args else { return args.to_string() };
    let rest = all.iter().filter(|(name, _)| *name != "reason");
    let rest: serde_json::Map<String, Value> =
        rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if rest.is_empty() { String::new() } else { Value::Object(rest).to_string() }
}

fn click(args: &Value) -> String {
    let mut parts = vec![point(args)];
    match args.get("button").and_then(Value::as_str) {
        None | Some("left") => {}
        Some(button) => parts.push(button.to_owned()),
    }
    if let Some(count @ 2..) = args.get("count").and_then(Value::as_u64) {
        parts.push(format!("× {count}"));
    }
    parts.join(" ")
}

fn point(args: &Value) -> String {
    match (args.get("x").and_then(Value::as_f64), args.get("y").and_then(Value::as_f64)) {
        (Some(x), Some(y)) => format!("{}, {}", x.round(), y.round()),
        _ => String::new(),
    }
}

/// By its ref, or by what it is. A value is not shown in a glance: it may be a password.
fn element(args: &Value) -> String {
    together(["ref", "role", "name"].map(|part| text(args, part)))
}

fn drag(args: &Value) -> String {
    let path = args.get("path").and_then(Value::as_array);
    let from = args.get("from").or_else(|| path?.first());
    let to = args.get("to").or_else(|| path?.last());
    match (from, to) {
        (Some(from), Some(to)) => format!("{} → {}", point(from), point(to)),
        _ => String::new(),
    }
}

fn scroll(args: &Value) -> String {
    let by = |name: &str, forth: char, back: char| {
        let by = args.get(name)?.as_f64().filter(|by| *by != 0.0)?;
        Some(format!("{} {}", if by > 0.0 { forth } else { back }, by.abs()))
    };
    [by("down", '↓', '↑'), by("right", '→', '←')].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn keys(args: &Value) -> String {
    let keys = args.get("keys").and_then(Value::as_array);
    let named = keys.into_iter().flatten().filter_map(Value::as_str).map(capitalised);
    named.collect::<Vec<_>>().join(" + ")
}

fn capitalised(key: &str) -> String {
    let mut chars = key.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn parts(args: &Value) -> String {
    let actions = args.get("actions").and_then(Value::as_array);
    let named = actions.into_iter().flatten().filter_map(|action| action.get("tool")?.as_str());
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
