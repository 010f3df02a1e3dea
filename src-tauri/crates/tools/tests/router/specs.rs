//! What a model is offered: names, schemas, and what is left out where it cannot work.

use crate::stage::{call, desktop, limits, request};
use browser::fake::FakeBrowser;
use protocol::tool::{Mode, Risk, ToolErrorKind};
use serde_json::{Value, json};
use tools::{Decision, Ports, Registry, Router};

/// Those of a browser, in the order in which the model sees them.
const WEB: [&str; 8] =
    ["webElements", "webRead", "webClick", "webType", "webNavigate", "webTabs", "webTab", "webTabEdit"];

const ACT: &[&str] = &[
    "elementsJson",
    "screenshot",
    "zoom",
    "readText",
    "clickElement",
    "setValue",
    "pressMenu",
    "doAction",
    "focusElement",
    "click",
    "move",
    "drag",
    "scroll",
    "type",
    "press",
    "hotkey",
    "hold",
    "mouseDown",
    "mouseUp",
    "keyDown",
    "keyUp",
    "displays",
    "listWindows",
    "focusWindow",
    "changeWindow",
    "listApps",
    "launchApp",
    "quitApp",
    "readClipboard",
    "writeClipboard",
    "osa",
    "useTools",
    "plan",
    "wait",
    "think",
    "notes",
    "batch",
    "done",
];

#[test]
fn what_can_be_taken_back_is_told_by_names_of_tools_that_there_are() {
    let router = Router::builtin(desktop());
    for name in protocol::tool::ToolCall::told_by_name() {
        let outline = router.outline(&request(name, json!({})), &limits());
        if let Decision::Forbid { error } = outline.decision {
            assert_ne!(error.kind, ToolErrorKind::UnknownTool, "{name}");
        }
    }
    let taken_back = |tool: &str, arguments: Value| request(tool, arguments).call.can_be_taken_back();
    assert!(taken_back("setValue", json!({})));
    assert!(!taken_back("click", json!({})) && !taken_back("runCommand", json!({})));
    assert!(taken_back("changeWindow", json!({"window": 1, "change": "maximize"})));
    assert!(!taken_back("changeWindow", json!({"window": 1, "change": "close"})), "a closed one is gone");
    let batch = |tool: &str| {
        let actions =
            [json!({"tool": "screenshot", "arguments": {}}), json!({"tool": tool, "arguments": {}})];
        taken_back("batch", json!({ "actions": actions }))
    };
    assert!(batch("setValue") && !batch("type"));
}

#[test]
fn what_only_looks_is_told_by_the_names_of_those_tools_and_of_no_others() {
    let specs = Registry::builtin().specs();
    let looking = specs.iter().filter(|spec| spec.risk == Risk::Observe);
    let mut looking: Vec<&str> = looking.map(|spec| &*spec.name).collect();
    let mut told: Vec<&str> = protocol::tool::ToolCall::looking_by_name().collect();
    looking.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, looking);
}

fn names(router: &Router, mode: Mode) -> Vec<String> {
    router.specs(mode, &Ports::default()).into_iter().map(|spec| spec.name.to_string()).collect()
}

#[test]
fn act_mode_offers_what_works_and_plan_mode_what_only_looks() {
    let router = Router::builtin(desktop());
    assert_eq!(names(&router, Mode::Act), ACT);
    assert_eq!(
        names(&router, Mode::Plan),
        [
            "elementsJson",
            "screenshot",
            "zoom",
            "readText",
            "displays",
            "listWindows",
            "listApps",
            "useTools",
            "wait",
            "think",
            "notes",
            "done",
        ]
    );
    assert_eq!(router.specs(Mode::Act, &Ports::default()), router.specs(Mode::Act, &Ports::default()));
}

#[test]
fn every_schema_is_as_in_its_snapshot() {
    for spec in Registry::builtin().specs() {
        let shown = json!({ "description": spec.description, "risk": spec.risk, "schema": spec.schema });
        insta::assert_json_snapshot!(&*spec.name, shown);
    }
}

#[test]
fn every_schema_is_one_closed_inlined_object_of_words_that_gemini_knows() {
    const WORDS: [&str; 13] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
    ];
    fn walk(schema: &Value, path: &str) {
        let Value::Object(object) = schema else { return assert!(schema.is_boolean(), "{path}") };
        for (word, value) in object {
            assert!(WORDS.contains(&word.as_str()), "{path}: {word}");
            match word.as_str() {
                "type" => assert!(value.is_string(), "{path}: {value}"),
                "items" | "additionalProperties" => walk(value, &format!("{path}/{word}")),
                "properties" => {
                    for (name, inner) in value.as_object().unwrap() {
                        walk(inner, &format!("{path}/{name}"));
                    }
                }
                _ => {}
            }
        }
    }
    for spec in Registry::builtin().specs() {
        assert_eq!(spec.schema["type"], "object", "{}", spec.name);
        assert_eq!(spec.schema["additionalProperties"], false, "{}", spec.name);
        assert!(spec.schema["properties"].is_object(), "{}", spec.name);
        assert!(spec.description.ends_with('.'), "{}", spec.name);
        walk(&spec.schema, &spec.name);
    }
}

#[test]
fn every_acting_tool_has_a_reason_that_may_be_left_out() {
    for spec in Registry::builtin().specs() {
        let has = !spec.schema["properties"]["reason"].is_null();
        assert_eq!(has, spec.risk > Risk::Observe, "{}", spec.name);
        assert!(!spec.schema["required"].as_array().is_some_and(|names| names.contains(&json!("reason"))));
    }
}

#[tokio::test]
async fn a_tool_that_cannot_work_here_is_not_offered_and_says_why_when_called() {
    let fake = desktop();
    fake.edit(|scene| {
        scene.abilities = desktop::Abilities::default();
    });
    let router = Router::builtin(fake.clone());
    const EVERYWHERE: [&str; 7] = ["useTools", "plan", "wait", "think", "notes", "batch", "done"];
    assert_eq!(names(&router, Mode::Act), EVERYWHERE);
    for name in ACT.iter().filter(|name| !EVERYWHERE.contains(name)).chain(&WEB) {
        let error = call(&router, name, json!({})).await.result.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::NotAvailable, "{name}");
        assert!(error.message.starts_with("not available here: "), "{name}: {}", error.message);
    }
    assert_eq!(fake.calls(), []);
}

#[tokio::test]
async fn the_browsers_tools_are_there_once_a_browser_can_be_found_and_plan_mode_only_looks() {
    let browser = FakeBrowser::new();
    let router = Router::builtin(desktop()).with_browser(browser.clone());
    let web = |mode| {
        let mut names = names(&router, mode);
        names.retain(|name| name.starts_with("web"));
        names
    };
    assert_eq!(web(Mode::Act), WEB);
    assert_eq!(web(Mode::Plan), ["webElements", "webRead", "webTabs"]);
    assert_eq!(names(&router, Mode::Act).len(), ACT.len() + WEB.len());
    browser.edit(|pages| pages.missing = Some("no browser was found; install Chromium".into()));
    assert_eq!(web(Mode::Act), Vec::<String>::new());
    let error = call(&router, "webElements", json!({})).await.result.error.unwrap();
    assert_eq!(error.message, "not available here: no browser was found; install Chromium");
    assert_eq!(browser.calls(), []);
}

// bar: C31
#[tokio::test]
async fn only_exact_names_pass() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let good = json!({"x": 1, "y": 2});
    for name in [
        "Click",
        "CLICK",
        " click",
        "click ",
        "click\n",
        "clісk",
        "ｃｌｉｃｋ",
        "cl\u{200b}ick",
        "click\0",
        "",
        "left_click",
        "elementsjson",
        "elements_json",
        "Batch",
        "__proto__",
    ] {
        let request = request(name, good.clone());
        let assessment = router.outline(&request, &limits());
        assert_eq!(assessment.risk, None, "{name:?}");
        assert!(matches!(assessment.decision, Decision::Forbid { .. }), "{name:?}");
        let error = call(&router, name, good.clone()).await.result.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::UnknownTool, "{name:?}");
        assert!(error.message.matches(", ").count() < 3, "not the whole list: {}", error.message);
    }
    let error = call(&router, "clik", good).await.result.error.unwrap();
    assert!(error.message.starts_with("there is no tool \"clik\"; near it: click"), "{}", error.message);
    assert_eq!(fake.calls(), []);
}

/// Letters that look like these, of other alphabets and widths.
const ALIKE: [(char, &str); 10] = [
    ('a', "аａα"),
    ('c', "сｃϲ"),
    ('e', "еｅ℮"),
    ('i', "іｉı"),
    ('k', "кｋκ"),
    ('l', "ⅼｌI1"),
    ('o', "оｏ0ο"),
    ('p', "рｐρ"),
    ('s', "ѕｓ"),
    ('t', "тｔτ"),
];

/// Names that a person would take for this one.
fn like(name: &str) -> Vec<String> {
    let mut all = vec![name.to_uppercase(), format!("{name}{name}"), format!("functions.{name}")];
    all.extend(name.char_indices().flat_map(|(at, letter)| {
        let put = |new: &str| format!("{}{new}{}", &name[..at], &name[at + letter.len_utf8()..]);
        let case = if letter.is_lowercase() {
            letter.to_uppercase().to_string()
        } else {
            letter.to_lowercase().to_string()
        };
        let alike = ALIKE.iter().filter(move |(known, _)| *known == letter.to_ascii_lowercase());
        let mut here: Vec<String> =
            alike.flat_map(|(_, all)| all.chars()).map(|one| put(&one.to_string())).collect();
        let between = [
            " ",
            "\t",
            "\n",
            "\0",
            "\u{200b}",
            "\u{feff}",
            "\u{202e}",
            "\u{e0041}",
            "\u{301}",
            "-",
            "_",
            ".",
        ];
        here.extend(between.iter().map(|sign| put(&format!("{sign}{letter}"))));
        here.extend([put(&case), put("")]);
        here
    }));
    let around = [" ", "\n", "\r\n", "\0", "\u{a0}", "\u{200b}", "\u{200f}", "/", "\""];
    all.extend(around.iter().flat_map(|sign| [format!("{sign}{name}"), format!("{name}{sign}")]));
    all
}

// bar: C31
#[tokio::test]
async fn no_name_that_only_looks_like_a_tools_is_one() {
    let fake = desktop();
    let browser = FakeBrowser::new();
    let router = Router::builtin(fake.clone()).with_browser(browser.clone());
    let names: Vec<String> =
        router.specs(Mode::Act, &Ports::default()).into_iter().map(|spec| spec.name.to_string()).collect();
    let mut tried = 0;
    for name in names.iter().flat_map(|name| like(name)).filter(|name| !names.contains(name)) {
        let outline = router.outline(&request(&name, json!({})), &limits());
        assert!(matches!(outline.decision, Decision::Forbid { .. }), "{name:?}");
        assert_eq!(outline.risk, None, "{name:?}");
        let error = call(&router, &name, json!({})).await.result.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::UnknownTool, "{name:?}");
        tried += 1;
    }
    assert!(tried > 3_000, "only {tried} were tried");
    assert_eq!((fake.calls(), browser.calls()), (Vec::new(), Vec::new()));
}

// bar: C31
#[tokio::test]
async fn an_extra_field_is_refused_by_its_name() {
    let fake = desktop();
    let router = Router::builtin(fake.clone()).with_browser(FakeBrowser::new());
    let extra = ["extraField", "approved", "Reason", "reason ", "mode", "approval", "fence", "__proto__"];
    for spec in router.specs(Mode::Act, &Ports::default()) {
        for field in extra {
            let result = call(&router, &spec.name, json!({ field: 1 })).await.result;
            let error = result.error.unwrap();
            assert_eq!(error.kind, ToolErrorKind::BadArguments, "{} {field}", spec.name);
            assert!(error.message.contains(field), "{} {field}: {}", spec.name, error.message);
        }
    }
    assert_eq!(fake.calls(), []);
}
