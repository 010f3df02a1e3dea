//! The fake model server holds to Gemini's wire, and is as strict as the real one.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use outside::LONG;
use outside::fake_model::{FakeGemini, Fault, HAIKU, HaikuMind, Manner, MindTurn, ScriptMind};
use serde_json::{Value, json};

const STREAM: &str = "/v1/models/gemini-3-flash-preview:streamGenerateContent?alt=sse";

/// Sends one request.
fn send(server: &FakeGemini, path: &str, key: Option<&str>, body: Option<&Value>) -> TcpStream {
    let address = server.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let key = key.map(|key| format!("x-goog-api-key: {key}\r\n")).unwrap_or_default();
    let length = body.len();
    // HTTP/1.0: the answer ends with the connection, not in chunks.
    write!(stream, "{method} {path} HTTP/1.0\r\n{key}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    stream
}

/// Sends one request and reads to the end of the connection: status and body.
fn ask(server: &FakeGemini, path: &str, key: Option<&str>, body: Option<&Value>) -> (u16, String) {
    let mut stream = send(server, path, key, body);
    let mut answer = Vec::new();
    let end = stream.read_to_end(&mut answer);
    if let Err(error) = &end {
        // A fault may break the connection; that nothing comes for so long is never right.
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{path}: {error}");
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn data(stream: &str) -> Vec<Value> {
    let events = stream.split("\r\n\r\n").filter_map(|event| event.strip_prefix("data: "));
    events.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn goal(text: &str) -> Value {
    json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] })
}

/// The parts with calls that a stream ends with.
fn calls(stream: &str) -> Vec<Value> {
    let parts = data(stream)
        .into_iter()
        .flat_map(|event| event["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default());
    parts.filter(|part| part.get("functionCall").is_some()).collect()
}

#[test]
fn a_turn_streams_thoughts_words_calls_and_its_usage() {
    let turn = MindTurn {
        calls: vec![("click".into(), json!({ "x": 1, "y": 2 })), ("screenshot".into(), json!({}))],
        ..MindTurn::call("One — two", "", Value::Null).thinking("hm")
    };
    let server = FakeGemini::start(ScriptMind::new([turn])).unwrap();
    let (status, stream) = ask(&server, STREAM, Some("k"), Some(&goal("go")));
    assert_eq!(status, 200);
    let events = data(&stream);
    assert_eq!(events[0]["candidates"][0]["content"]["parts"][0]["thought"], true);
    let last = events.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert!(last["usageMetadata"]["promptTokenCount"].as_u64().unwrap() > 0);
    let calls = calls(&stream);
    assert!(calls[0]["thoughtSignature"].is_string());
    assert!(calls[1].get("thoughtSignature").is_none(), "of parallel calls only the first is signed");
}

#[test]
fn without_a_key_or_with_a_bad_one_it_answers_as_the_real_one() {
    let manner = Manner { key: Some("good".into()), ..Manner::default() };
    let server = FakeGemini::with(ScriptMind::new([]), manner).unwrap();
    assert_eq!(ask(&server, STREAM, None, Some(&goal("go"))).0, 403);
    let (status, body) = ask(&server, "/v1beta/models", Some("bad"), None);
    assert_eq!(status, 400);
    assert!(body.contains("API_KEY_INVALID"));
    let (status, body) = ask(&server, "/v1beta/models", Some("good"), None);
    assert_eq!(status, 200);
    assert!(body.contains("gemini-3-flash-preview"));
    assert_eq!(ask(&server, "/v1/models/gemini-3-flash-preview", Some("good"), None).0, 200);
}

#[test]
fn faults_come_once_in_their_order() {
    let server = FakeGemini::start(ScriptMind::new([])).unwrap();
    let overloaded = json!({ "error": { "code": 503, "status": "UNAVAILABLE" } });
    server.fail_next([Fault::Status(503, overloaded.clone()), Fault::Cut(40), Fault::Stall(40)]);
    let (status, body) = ask(&server, STREAM, Some("k"), Some(&goal("go")));
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()), (503, overloaded));
    assert_eq!(ask(&server, STREAM, Some("k"), Some(&goal("go"))).1.len(), 40);
    let mut stalled = send(&server, STREAM, Some("k"), Some(&goal("go")));
    let body = |answer: &[u8]| Some(answer.len() - answer.windows(4).position(|end| end == b"\r\n\r\n")? - 4);
    let mut answer = Vec::new();
    while body(&answer).is_none_or(|length| length < 40) {
        let mut piece = [0; 1024];
        let length = stalled.read(&mut piece).unwrap();
        assert!(length > 0, "hung up instead of falling silent");
        answer.extend_from_slice(&piece[..length]);
    }
    assert_eq!(body(&answer), Some(40));
    // Nothing more, and no end either.
    stalled.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(stalled.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert!(calls(&ask(&server, STREAM, Some("k"), Some(&goal("go"))).1).len() == 1);
}

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
    let server = FakeGemini::start(HaikuMind::default()).unwrap();
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
        let (status, stream) = ask(&server, STREAM, Some("k"), Some(&history));
        assert_eq!(status, 200, "{stream}");
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
