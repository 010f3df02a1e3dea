//! Asks the server by bare HTTP, and shows a key as each vendor wants it.

use std::io::{Read, Write};
use std::net::TcpStream;

use outside::LONG;
use outside::fake_model::{FakeModel, Wire};
use serde_json::{Value, json};

/// Where a turn is asked for.
pub fn path(wire: Wire) -> String {
    let of_folder = match wire {
        Wire::Gemini => "/v1/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
        Wire::Anthropic => "/messages",
        Wire::Responses | Wire::Xai => "/responses",
        Wire::Chat | Wire::OpenRouter => "/chat/completions",
        Wire::Ollama => "/api/chat",
    };
    format!("{}{of_folder}", wire.folder())
}

/// Headers with a key.
pub fn headers(wire: Wire, key: &str) -> Vec<(&'static str, String)> {
    match wire {
        Wire::Gemini => vec![("x-goog-api-key", key.to_owned())],
        Wire::Anthropic => vec![
            ("x-api-key", key.to_owned()),
            ("anthropic-version", "2026-10-21".to_owned()),
            ("anthropic-beta", "thinking-binding-controls-2026-08-01".to_owned()),
        ],
        _ => vec![("authorization", format!("Bearer {key}"))],
    }
}

/// Sends one request; a body makes it a POST.
pub fn send(
    server: &FakeModel,
    path: &str,
    headers: &[(&'static str, String)],
    body: Option<&Value>,
) -> TcpStream {
    let url = server.url();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    // HTTP/1.0: the answer ends with the connection, not in chunks.
    write!(stream, "{method} {path} HTTP/1.0\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    stream
}

/// An answer: its status, its head, its body.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Sends one request and reads to the end of the connection.
pub fn ask_at(
    server: &FakeModel,
    path: &str,
    headers: &[(&'static str, String)],
    body: Option<&Value>,
) -> Answered {
    let mut stream = send(server, path, headers, body);
    let mut answer = Vec::new();
    let end = stream.read_to_end(&mut answer);
    if let Err(error) = &end {
        // A fault may break the connection; that nothing comes for so long is never right.
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{path}: {error}");
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answered { status, head: head.to_owned(), body: body.to_owned() }
}

/// Asks for a turn.
pub fn ask(server: &FakeModel, wire: Wire, body: &Value) -> Answered {
    ask_at(server, &path(wire), &headers(wire, "k"), Some(body))
}

/// The data of a stream's events, but for marks of its end.
pub fn data(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line)));
    lines.filter(|line| line.starts_with('{')).map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Gemini's request with a goal.
pub fn goal(text: &str) -> Value {
    json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] })
}

/// The parts with calls that Gemini's stream ends with.
pub fn calls(stream: &str) -> Vec<Value> {
    let parts = data(stream)
        .into_iter()
        .flat_map(|event| event["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default());
    parts.filter(|part| part.get("functionCall").is_some()).collect()
}
