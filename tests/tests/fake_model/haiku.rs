//! The haiku's mind, on what a server of any wire would be sent.

use outside::fake_model::{FakeModel, HAIKU, HaikuMind, Wire};
use serde_json::{Value, json};

use crate::client::{ask, calls, goal};

/// Answers the call that `stream` ended with, as the app would.
fn continued(history: &mut Value, stream: &str, response: Value) {
    let part = calls(stream).remove(0);
    let answer =
        json!({ "functionResponse": { "name": part["functionCall"]["name"], "response": response } });
    let contents = history["contents"].as_array_mut().unwrap();
    contents.push(json!({ "role": "model", "parts": [part] }));
    contents.push(json!({ "role": "user", "parts": [answer] }));
}

#[test]
fn the_haiku_mind_finds_its_targets_in_the_elements_it_was_sent() {
    let element = |role: &str, name: &str, bounds: [f64; 4]| {
        let [x, y, width, height] = bounds;
        json!({ "ref": "e1", "role": role, "name": name, "bounds": { "x": x, "y": y, "width": width, "height": height } })
    };
    let editor = json!({ "app": "mousepad", "window": "Untitled 1 - Mousepad", "elements": [
        element("menu", "File", [10.0, 10.0, 20.0, 10.0]), element("text", "", [100.0, 200.0, 300.0, 400.0]),
    ]});
    let dialog = json!({ "app": "mousepad", "window": "Save As", "elements": [
        element("text", "", [100.0, 200.0, 300.0, 400.0]), element("text", "Name:", [50.0, 60.0, 100.0, 10.0]),
        element("push button", "Cancel", [0.0, 900.0, 10.0, 10.0]), element("push button", "Save", [20.0, 900.0, 10.0, 10.0]),
    ]});
    let saved = json!({ "app": "mousepad", "window": "/x/haiku.txt - Mousepad", "elements": [] });
    let sent = json!({ "effect": "unverified" });
    let data = |snapshot: Value| json!({ "effect": "confirmed", "data": snapshot });
    let server = FakeModel::start(HaikuMind::default()).unwrap();
    let mut history = goal("Write a haiku and save it as haiku.txt");
    let mut asked = Vec::new();
    let answers = [
        data(editor),
        sent.clone(),
        sent.clone(),
        sent.clone(),
        data(dialog),
        sent.clone(),
        sent.clone(),
        sent,
        data(saved),
    ];
    for answer in answers.into_iter().map(Some).chain([None]) {
        let answered = ask(&server, Wire::Gemini, &history);
        assert_eq!(answered.status, 200, "{}", answered.body);
        let stream = answered.body;
        let call = calls(&stream).remove(0)["functionCall"].clone();
        asked.push((call["name"].as_str().unwrap().to_owned(), call["args"].clone()));
        if let Some(answer) = answer {
            continued(&mut history, &stream, answer);
        }
    }
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "elementsJson",
            "click",
            "type",
            "hotkey",
            "elementsJson",
            "click",
            "batch",
            "click",
            "elementsJson",
            "done"
        ]
    );
    assert_eq!((&asked[1].1["x"], &asked[1].1["y"]), (&json!(250.0), &json!(400.0)));
    assert_eq!(asked[2].1["text"], HAIKU);
    assert_eq!((&asked[5].1["x"], &asked[5].1["y"]), (&json!(100.0), &json!(65.0)));
    assert_eq!((&asked[7].1["x"], &asked[7].1["y"]), (&json!(25.0), &json!(905.0)));
    assert_eq!(asked[9].1["success"], true);
}
