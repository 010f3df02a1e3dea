//! What a stream holds, whatever pieces it comes in: thoughts, words, calls, counts, an end.

use outside::fake_model::{FakeModel, Manner, MindTurn, ScriptMind, Wire};
use protocol::turn::Usage;
use serde_json::{Value, json};

use crate::bodies::first;
use crate::client::{ask, calls, data};

const USAGE: Usage = Usage { input: 5_000, cached: 3_000, output: 70, thinking: 30, cache_write: 1_000 };

fn turn() -> MindTurn {
    MindTurn {
        thinking: "Let me — see.".into(),
        text: "One — two".into(),
        calls: vec![("click".into(), json!({ "x": 1, "y": 2 })), ("screenshot".into(), json!({}))],
        usage: Some(USAGE),
        ..MindTurn::default()
    }
}

fn spoken(wire: Wire, pieces: usize) -> (Vec<Value>, FakeModel) {
    let manner = Manner { pieces, ..Manner::default() };
    let server = FakeModel::with(ScriptMind::new([turn()]), manner).unwrap();
    let answered = ask(&server, wire, &first(wire));
    assert_eq!(answered.status, 200);
    (data(&answered.body), server)
}

#[test]
fn a_stream_is_the_same_in_whatever_pieces_it_comes() {
    for wire in Wire::ALL {
        let whole = spoken(wire, 1).0;
        for pieces in [2, 7] {
            assert_eq!(spoken(wire, pieces).0, whole, "{wire:?} in {pieces}");
        }
    }
}

#[test]
fn a_turn_streams_thoughts_words_calls_and_its_usage() {
    for wire in Wire::ALL {
        let (events, server) = spoken(wire, 3);
        let all = Value::from(events.clone()).to_string();
        for word in ["Let ", "see.", "One ", "two", "click", "screenshot"] {
            assert!(all.contains(word), "{wire:?} does not say {word:?}: {all}");
        }
        let given = server.given().remove(0);
        assert!(given.ids.iter().all(|id| all.contains(id)), "{wire:?}");
        assert_eq!(given.usage.input, USAGE.input);
        assert_eq!(given.usage.output + given.usage.thinking, USAGE.output + USAGE.thinking, "{wire:?}");
        let last = events.last().unwrap();
        let counted = match wire {
            Wire::Gemini => &last["usageMetadata"]["promptTokenCount"],
            Wire::Anthropic => &events[0]["message"]["usage"]["input_tokens"],
            Wire::Responses | Wire::Xai => &last["response"]["usage"]["input_tokens"],
            Wire::Chat | Wire::OpenRouter => &last["usage"]["prompt_tokens"],
            Wire::Ollama => &last["prompt_eval_count"],
        };
        // Anthropic counts what was cached apart.
        let expected = if wire == Wire::Anthropic { 1_000 } else { 5_000 };
        assert_eq!(*counted, expected, "{wire:?}");
    }
}

#[test]
fn thoughts_are_shown_to_those_who_ask_for_them() {
    for (wire, ask_for) in [
        (Wire::Gemini, "generationConfig"),
        (Wire::Anthropic, "thinking"),
        (Wire::Responses, "reasoning"),
        (Wire::OpenRouter, "reasoning"),
    ] {
        let server = FakeModel::start(ScriptMind::new([turn()])).unwrap();
        let mut body = first(wire);
        body.as_object_mut().unwrap().remove(ask_for);
        let stream = ask(&server, wire, &body).body;
        assert!(!stream.contains("see.") && stream.contains("two"), "{wire:?}: {stream}");
    }
}

#[test]
fn of_geminis_parallel_calls_only_the_first_is_signed() {
    let server = FakeModel::start(ScriptMind::new([turn()])).unwrap();
    let calls = calls(&ask(&server, Wire::Gemini, &first(Wire::Gemini)).body);
    assert!(calls[0]["thoughtSignature"].is_string());
    assert!(calls[1].get("thoughtSignature").is_none());
}

#[test]
fn who_charges_says_how_much() {
    let charged = |wire| spoken(wire, 1).1.given().remove(0).billed;
    assert_eq!(charged(Wire::Anthropic), None);
    assert_eq!(charged(Wire::Ollama), None);
    let ticks = charged(Wire::Xai).unwrap();
    assert!(ticks > 0);
    let told = spoken(Wire::Xai, 1).0.pop().unwrap();
    assert_eq!(told["response"]["usage"]["cost_in_usd_ticks"], ticks);
    let told = spoken(Wire::OpenRouter, 1).0.pop().unwrap();
    assert_eq!(told["usage"]["cost"], ticks as f64 / 1e10);
}
