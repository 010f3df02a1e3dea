//! Keys: each vendor reads its own header, and refuses in its own shape.

use outside::fake_model::{FakeModel, Manner, ScriptMind, Wire};

use crate::bodies::first;
use crate::client::{ask_at, headers, path};
use crate::strictness::message;

#[test]
fn a_key_counts_only_in_the_header_of_its_vendor() {
    for wire in Wire::ALL {
        let manner = Manner { key: Some("good".into()), ..Manner::default() };
        let server = FakeModel::with(ScriptMind::new([]), manner).unwrap();
        let ask =
            |headers: &[(&'static str, String)]| ask_at(&server, &path(wire), headers, Some(&first(wire)));
        let elsewhere = match wire {
            Wire::Gemini | Wire::Anthropic => headers(Wire::Chat, "good"),
            _ => headers(Wire::Gemini, "good"),
        };
        let (no_key, bad_key) = if wire == Wire::Gemini { (403, 400) } else { (401, 401) };
        for (headers, status) in [
            (vec![], no_key),
            (elsewhere, no_key),
            (headers(wire, "bad"), bad_key),
            (headers(wire, "good"), 200),
        ] {
            let answered = ask(&headers);
            assert_eq!(answered.status, status, "{wire:?} {headers:?}: {}", answered.body);
            if status != 200 {
                message(wire, &answered.body);
            }
        }
        let (list, model) = match wire {
            Wire::Gemini => ("/v1beta/models", "/v1/models/gemini-3-flash-preview"),
            Wire::Ollama => ("/api/tags", "/api/tags"),
            _ => ("/models", "/models/some-model"),
        };
        for place in [list, model] {
            let place = format!("{}{place}", wire.folder());
            assert_eq!(ask_at(&server, &place, &headers(wire, "bad"), None).status, bad_key, "{place}");
            assert_eq!(ask_at(&server, &place, &headers(wire, "good"), None).status, 200, "{place}");
        }
    }
}

#[test]
fn only_a_server_of_ones_own_needs_no_key() {
    let server = FakeModel::start(ScriptMind::new([])).unwrap();
    for wire in Wire::ALL {
        let status = ask_at(&server, &path(wire), &[], Some(&first(wire))).status;
        assert_eq!(status == 200, matches!(wire, Wire::Chat | Wire::Ollama), "{wire:?}: {status}");
    }
}
