//! Long things in a few characters: a call's arguments, durations, ages.
//!
//! For glancing only. What is asked of the user is shown whole, by [`protocol::escape`].

use protocol::ids::Timestamp;
use protocol::tool::{Millis, ToolCall};
use serde_json::Value;

use crate::words::Word;

/// Characters of one text shown in a line.
const MOST_CHARS: usize = 80;

/// What the call is about, in one line: `"hello"`, `Ctrl + S`, `512, 40`.
pub fn arguments(call: &ToolCall) -> String {
    let args = &call.arguments;
    let line = match call.tool.as_str() {
        "click" => click(args),
        "move" => point(args),
        "drag" => drag(args),
        "scroll" => scroll(args),
        "type" => format!("“{}”", text(args, "text")),
        "press" => match args.get("times").and_then(Value::as_u64) {
            Some(times) if times > 1 => format!("{} × {times}", text(args, "key")),
            _ => text(args, "key"),
        },
        "hotkey" => keys(args),
        "elementsJson" | "webElements" => {
            [text(args, "app"), text(args, "query")].join(" ").trim().to_owned()
        }
        "readText" => text(args, "query"),
        "focusElement" | "clickElement" | "setValue" => element(args),
        "doAction" => [element(args), text(args, "action")].join(" ").trim().to_owned(),
        "pressMenu" => {
            let path = args.get("path").and_then(Value::as_array);
            path.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" › ")
        }
        "wait" => args.get("seconds").map(|seconds| format!("{seconds} s")).unwrap_or_default(),
        "think" => text(args, "thought"),
        "done" => text(args, "summary"),
        "batch" => parts(args),
        "osa" => text(args, "script"),
        "screenshot" => String::new(),
        _ => args.to_string(),
    };
    shortened(&line)
}

/// Why the model wants it, where it said so.
pub fn reason(call: &ToolCall) -> Option<&str> {
    call.arguments.get("reason")?.as_str().map(str::trim).filter(|reason| !reason.is_empty())
}

/// `340 ms`, `2.1 s`, `3 min 5 s`
pub fn duration(took: Millis) -> String {
    match took.0 {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `1,048,576`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(at, digit)| comma(at).then_some(',').into_iter().chain([digit]))
        .collect()
}

/// How long ago, as a number and its unit; a clock that went back counts as now.
pub fn age(now: Timestamp, then: Timestamp) -> (Word, u64) {
    let minutes = u64::try_from((now.0 - then.0) / 60_000).unwrap_or(0);
    match minutes {
        0 => (Word::JustNow, 0),
        1..60 => (Word::MinutesAgo, minutes),
        60..1_440 => (Word::HoursAgo, minutes / 60),
        _ => (Word::DaysAgo, minutes / 1_440),
    }
}

/// One line of at most [`MOST_CHARS`] characters.
pub fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    let named = ["ref", "role", "name"].map(|part| text(args, part));
    named.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
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

    fn line(tool: &str, arguments: Value) -> String {
        super::arguments(&ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments })
    }

    #[test]
    fn each_tool_says_what_it_is_about() {
        let cases = [
            (line("click", json!({"x": 512.4, "y": 40, "reason": "save"})), "512, 40"),
            (line("click", json!({"x": 1, "y": 2, "button": "right", "count": 2})), "1, 2 right × 2"),
            (line("drag", json!({"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]})), "1, 2 → 3, 4"),
            (line("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}})), "1, 2 → 3, 4"),
            (line("scroll", json!({"x": 1, "y": 2, "down": -3})), "↑ 3"),
            (line("type", json!({"text": "Autumn\nmoon"})), "“Autumn moon”"),
            (line("press", json!({"key": "Tab", "times": 3})), "Tab × 3"),
            (line("hotkey", json!({"keys": ["ctrl", "s"]})), "Ctrl + S"),
            (line("batch", json!({"actions": [{"tool": "click"}, {"tool": "type"}]})), "click, type"),
            (line("wait", json!({"seconds": 1.5})), "1.5 s"),
            (line("unheardOf", json!({"a": 1})), r#"{"a":1}"#),
            (line("click", json!("not an object")), ""),
        ];
        for (got, wanted) in cases {
            assert_eq!(got, wanted);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shortened(&"秋".repeat(90)), format!("{}…", "秋".repeat(80)));
    }

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1_000, 1_048_576].map(grouped), ["0", "999", "1,000", "1,048,576"]);
    }

    #[test]
    fn durations_and_ages_read_well() {
        assert_eq!(
            [0, 999, 2_149, 185_000].map(|ms| duration(Millis(ms))),
            ["0 ms", "999 ms", "2.1 s", "3 min 5 s"]
        );
        let age = |minutes: i64| super::age(Timestamp(minutes * 60_000), Timestamp(0));
        assert_eq!(
            [-5, 0, 5, 61, 3_000].map(age),
            [
                (Word::JustNow, 0),
                (Word::JustNow, 0),
                (Word::MinutesAgo, 5),
                (Word::HoursAgo, 1),
                (Word::DaysAgo, 2)
            ]
        );
    }
}
