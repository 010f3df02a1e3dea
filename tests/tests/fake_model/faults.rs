//! What goes wrong by script: refusals, broken and silent streams, events that come twice.

use std::io::Read;
use std::time::Duration;

use outside::fake_model::{FakeModel, Fault, ScriptMind, Wire};
use serde_json::{Value, json};

use crate::bodies::first;
use crate::client::{Answered, ask, calls, data, headers, path, send};

#[test]
fn faults_come_once_in_their_order() {
    for wire in Wire::ALL {
        let server = FakeModel::start(ScriptMind::new([])).unwrap();
        let overloaded = json!({ "error": { "code": 503, "status": "UNAVAILABLE" } });
        let slow_down = json!({ "error": "too many requests" });
        server.fail_next([
            Fault::status(503, overloaded.clone()),
            Fault::retry_after(429, slow_down.clone(), "7"),
            Fault::Cut(40),
            Fault::End(50),
            Fault::Stall(40),
            Fault::Twice(0),
        ]);
        let ask = || ask(&server, wire, &first(wire));
        let told = |answered: &Answered| serde_json::from_str::<Value>(&answered.body).unwrap();
        let refused = ask();
        assert_eq!((refused.status, told(&refused)), (503, overloaded));
        assert!(!refused.head.contains("retry-after"));
        let refused = ask();
        assert_eq!((refused.status, told(&refused)), (429, slow_down));
        assert!(refused.head.contains("retry-after: 7"), "{}", refused.head);
        assert_eq!(ask().body.len(), 40);
        assert_eq!(ask().body.len(), 50);
        stalls(&server, wire);
        let twice = ask();
        let whole = ask();
        assert_eq!(data(&twice.body).len(), data(&whole.body).len() + 1, "{wire:?}");
        assert_eq!(whole.status, 200, "{wire:?}");
    }
}

/// The next turn stops after 40 bytes, without an end.
fn stalls(server: &FakeModel, wire: Wire) {
    let mut stalled = send(server, &path(wire), &headers(wire, "k"), Some(&first(wire)));
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
    stalled.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(stalled.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn after_a_broken_stream_the_turn_can_be_asked_for_again() {
    let server = FakeModel::start(ScriptMind::new([])).unwrap();
    server.fail_next([Fault::Cut(10)]);
    let goal = first(Wire::Gemini);
    assert_eq!(ask(&server, Wire::Gemini, &goal).body.len(), 10);
    assert_eq!(calls(&ask(&server, Wire::Gemini, &goal).body).len(), 1);
}
