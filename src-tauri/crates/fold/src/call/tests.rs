//! A call in one line.

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
    let editor = FrontWindow { id: 4_194_311, app: "Mousepad".into(), title: "notes.txt".into(), pid: None };
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
    let about = Approval { target: Some(window), ..asked(close, vec!["“notes.txt” (Mousepad)".into()]) };
    assert_eq!(lines(&about), [line("changeWindow", "close “notes.txt” (Mousepad)", "")]);
}

#[test]
fn a_long_text_is_cut_between_characters() {
    assert_eq!(shortened(&"秋".repeat(90)), format!("{}…", "秋".repeat(80)));
}

#[test]
fn arguments_need_not_be_read_again_only_where_the_line_has_all_of_them() {
    let is_whole = |tool: &str, arguments: Value| {
        is_said_whole(&Approval { call: call(tool, arguments), ..crate::sample::question("q-1") })
    };
    assert!(is_whole("click", json!({"x": 500, "y": 500, "count": 2, "reason": "press it"})));
    assert!(is_whole("type", json!({"text": "hello"})));
    assert!(is_whole("pressMenu", json!({"path": ["File", "Save"]})));
    for (tool, arguments) in [
        ("click", json!({"x": 500, "y": 500, "display": 1})),
        ("click", json!({"x": 500, "y": 500, "holding": ["ctrl"]})),
        ("type", json!({"text": "a".repeat(81)})),
        ("type", json!({"text": "hello", "into": "e1"})),
        ("type", json!({"text": "rm -rf pond\n"})),
        ("type", json!({"text": "name\tpassword"})),
        ("type", json!({"text": "a  b"})),
        ("trashFile", json!({"path": "notes\u{3000}old"})),
        ("moveFile", json!({"from": "\u{5d0}\u{5d1}", "to": "\u{5d2}"})),
        ("moveFile", json!({"from": "a", "to": "b › c"})),
        ("type", json!({"text": "safe\u{202e}txt"})),
        ("pressMenu", json!({"path": [["File"], "Save"]})),
        ("writeFile", json!({"path": "a.txt", "content": "hello"})),
        ("batch", json!({"actions": []})),
        ("click", json!("not an object")),
        ("unheardOf", json!({"a": 1})),
    ] {
        assert!(!is_whole(tool, arguments.clone()), "{tool} {arguments}");
    }
}
