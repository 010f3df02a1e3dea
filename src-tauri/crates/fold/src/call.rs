//! A call in one line, for glancing: what it is about, in no language. Windows and command line say it alike.
//!
//! What is asked of the user is shown whole beside it.

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
        "done" => String::new(),
        "batch" => parts(args),
        "plan" => {
            let steps = args.get("steps").and_then(Value::as_array);
            steps.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" › ")
        }
        "osa" => text(args, "script"),
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
mod tests {
    use super::*;
    use protocol::ids::CallId;
    use serde_json::json;

    fn call(tool: &str, arguments: Value) -> ToolCall {
        ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments }
    }

    fn line(tool: &str, arguments: Value) -> String {
        in_short(&call(tool, arguments), None)
    }

    #[test]
    fn each_tool_says_what_it_is_about() {
        let cases = [
            (line("click", json!({"x": 512.4, "y": 40, "reason": "save"})), "512, 40"),
            (line("click", json!({"x": 1, "y": 2, "button": "right", "count": 2})), "1, 2 right × 2"),
            (line("drag", json!({"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]})), "1, 2 → 3, 4"),
            (line("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}})), "1, 2 → 3, 4"),
            (line("scroll", json!({"x": 1, "y": 2, "down": -3})), "↑ 3"),
            (line("type", json!({"text": "Autumn\nmoon"})), "“Autumn ⏎ moon”"),
            (line("press", json!({"key": "Tab", "times": 3})), "Tab × 3"),
            (line("hotkey", json!({"keys": ["ctrl", "s"]})), "Ctrl + S"),
            (line("batch", json!({"actions": [{"tool": "click"}, {"tool": "type"}]})), "click, type"),
            (line("wait", json!({"seconds": 1.5})), "1.5 s"),
            (line("hold", json!({"keys": ["shift", "w"], "seconds": 2})), "Shift + W 2 s"),
            (line("launchApp", json!({"app": "Calculator", "reason": "to add"})), "Calculator"),
            (line("webNavigate", json!({"url": "https://example.org/"})), "https://example.org/"),
            (line("listWindows", json!({})), ""),
            (line("unheardOf", json!({"a": 1, "reason": "to try"})), r#"{"a":1}"#),
            (line("click", json!("not an object")), ""),
        ];
        for (got, wanted) in cases {
            assert_eq!(got, wanted);
        }
    }

    #[test]
    fn a_window_is_told_by_its_title_and_application_and_by_its_number_only_where_these_are_not_known() {
        let editor =
            FrontWindow { id: 4_194_311, app: "Mousepad".into(), title: "notes.txt".into(), pid: None };
        let untitled = FrontWindow { title: " ".into(), ..editor.clone() };
        let focus = call("focusWindow", json!({"window": 4_194_311, "reason": "to write"}));
        let close = call("changeWindow", json!({"window": 4_194_311, "change": "close"}));
        assert_eq!(in_short(&focus, Some(&editor)), "“notes.txt” (Mousepad)");
        assert_eq!(in_short(&close, Some(&editor)), "close “notes.txt” (Mousepad)");
        assert_eq!(in_short(&close, Some(&untitled)), "close Mousepad");
        assert_eq!(in_short(&close, None), "close 4194311");
        assert_eq!(in_short(&call("screenshot", json!({"display": 0})), None), "");
    }

    #[test]
    fn each_action_of_a_batch_has_its_line_with_what_it_goes_to() {
        let actions = json!({"actions": [
            {"tool": "click", "arguments": {"x": 300, "y": 300}},
            {"tool": "type", "arguments": {"text": "hello"}},
        ]});
        let button = "button “Save” · “notes.txt” (Mousepad)".to_owned();
        let asked = |call, goes_to| Approval { call, goes_to, ..crate::sample::question("q-1") };
        let line = |tool: &str, about: &str, goes_to: &str| Line {
            tool: tool.into(),
            about: about.into(),
            goes_to: goes_to.into(),
        };
        let both = [line("click", "300, 300", &button), line("type", "“hello”", "")];
        let batch = call("batch", actions);
        assert_eq!(lines(&asked(batch.clone(), vec![button.clone(), String::new()])), both);
        let untold = [line("click", "300, 300", ""), line("type", "“hello”", "")];
        assert_eq!(lines(&asked(batch, Vec::new())), untold, "a journal of an earlier version");

        let window = FrontWindow { id: 7, app: "Mousepad".into(), title: "notes.txt".into(), pid: None };
        let close = call("changeWindow", json!({"window": 7, "change": "close"}));
        let about =
            Approval { target: Some(window), ..asked(close, vec!["“notes.txt” (Mousepad)".into()]) };
        assert_eq!(lines(&about), [line("changeWindow", "close “notes.txt” (Mousepad)", "")]);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shortened(&"秋".repeat(90)), format!("{}…", "秋".repeat(80)));
    }
}
