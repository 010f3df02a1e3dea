//! Every recorded stream of every wire: decoded to a reviewed snapshot, cut at every byte, in pieces of any size.

#![expect(clippy::unwrap_used, reason = "what these tests read is recorded and there")]

use std::fs;
use std::path::{Path, PathBuf};

use models::{Decoder, ModelError, ModelErrorKind, Progress, TurnEvent, Wire, decode, neutral_json};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The wire that a folder's streams speak.
fn wire(folder: &str) -> Wire {
    match folder {
        "lmstudio" => Wire::OpenAiChat,
        name => Wire::named(name).unwrap(),
    }
}

/// Each recorded stream of the wires: its name, its wire, its bytes.
fn streams() -> Vec<(String, Wire, Vec<u8>)> {
    let mut found = Vec::new();
    for provider in fs::read_dir(folder()).unwrap() {
        let provider = provider.unwrap();
        let name = provider.file_name().into_string().unwrap();
        for file in fs::read_dir(provider.path()).unwrap() {
            let path = file.unwrap().path();
            let ending = path.extension().unwrap().to_str().unwrap();
            if matches!(ending, "sse" | "ndjson") {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                found.push((format!("{name}__{stem}"), wire(&name), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() >= 32, "only {} streams were found", found.len());
    found
}

/// The lines of a decoded stream, with what would go back to the provider.
fn shown(wire: Wire, bytes: &[u8]) -> Value {
    let answer = neutral_json::answer(wire, bytes);
    let mut lines = answer.lines;
    if let (_, Ok(TurnEvent::Finished { turn, .. })) = decode(wire, wire.name(), bytes) {
        let raw = turn.raw.as_str().map(|json| serde_json::from_str::<Value>(json).unwrap());
        lines.push(json!({ "goesBack": raw }));
    }
    json!({ "complete": answer.complete, "lines": lines })
}

// bar: C65
#[test]
fn each_recorded_stream_decodes_to_what_was_reviewed() {
    for (name, wire, bytes) in streams() {
        insta::assert_json_snapshot!(name, shown(wire, &bytes));
    }
}

/// Decodes in pieces of `size` bytes.
fn in_pieces(wire: Wire, bytes: &[u8], size: usize) -> (Vec<TurnEvent>, Result<TurnEvent, ModelError>) {
    let mut decoder = Decoder::new(wire, wire.name());
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.end(&mut events);
    (events, end)
}

// bar: C61
#[test]
fn a_stream_in_pieces_of_any_size_says_the_same() {
    for (name, wire, bytes) in streams() {
        let whole = in_pieces(wire, &bytes, usize::MAX);
        for size in 1..=7 {
            assert_eq!(in_pieces(wire, &bytes, size), whole, "{name} in pieces of {size}");
        }
        let windows = String::from_utf8(bytes).unwrap().replace('\n', "\r\n");
        assert_eq!(in_pieces(wire, windows.as_bytes(), 7), whole, "{name} with CRLF");
    }
}

/// Calls that could be run.
fn runnable(end: &Result<TurnEvent, ModelError>) -> usize {
    match end {
        Ok(TurnEvent::Finished { turn, .. }) => turn.calls.len(),
        _ => 0,
    }
}

// bar: C61, C62
#[test]
fn a_stream_cut_at_any_byte_is_cut_or_whole_and_never_runs_half_a_turn() {
    let (mut cuts, mut whole_ones, mut ended) = (0, 0, 0);
    for (name, wire, bytes) in streams() {
        let (_, whole) = decode(wire, wire.name(), &bytes);
        for cut in 0..bytes.len() {
            let (events, end) = decode(wire, wire.name(), &bytes[..cut]);
            cuts += 1;
            // A call is run from the end alone, and that is no event on the way to it.
            let is_end = |event: &TurnEvent| matches!(event, TurnEvent::Finished { .. });
            assert!(!events.iter().any(is_end), "{name} cut at {cut} ends before its end");
            match (&end, &whole) {
                (Err(_), _) => {
                    let is_call = |event: &TurnEvent| matches!(event, TurnEvent::CallEnded { .. });
                    ended += usize::from(events.iter().any(is_call));
                }
                // Only counts came after it: the turn is the same.
                (
                    Ok(TurnEvent::Finished { turn, stop, .. }),
                    Ok(TurnEvent::Finished { turn: whole, stop: whole_stop, .. }),
                ) => {
                    assert_eq!((turn, stop), (whole, whole_stop), "{name} cut at {cut}");
                    whole_ones += 1;
                }
                (end, whole) => panic!("{name} cut at {cut}: {end:?}, whole: {whole:?}"),
            }
        }
    }
    println!(
        "{cuts} cuts, {whole_ones} after the turn's end, {ended} with a whole call that must not be run"
    );
    assert!(whole_ones > 0 && ended > 0, "no stream was cut where it matters");
}

#[test]
fn after_its_first_error_a_stream_has_no_end() {
    let mut decoder = Decoder::new(Wire::OpenAiChat, "x");
    let mut events = Vec::new();
    let error = decoder.push(b"data: {\"error\":{\"message\":\"no\"}}\n\n", &mut events).unwrap_err();
    let good = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(decoder.push(good, &mut events), Err(error.clone()));
    assert_eq!(decoder.end(&mut events), Err(error));
    assert_eq!(events, []);
}

/// A stream of one wire, of these events.
fn stream(wire: Wire, events: &[Value]) -> String {
    let lines = events.iter().map(|event| match wire {
        Wire::Ollama => format!("{event}\n"),
        _ => format!("data: {event}\n\n"),
    });
    lines.collect()
}

/// A turn of `content` that ended so, as Anthropic streams it.
fn of_anthropic(content: &[Value], stop: &str) -> String {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {}}})];
    for (index, block) in content.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}}));
    events.push(json!({"type": "message_stop"}));
    stream(Wire::Anthropic, &events)
}

fn goes_back(wire: Wire, stream: &str) -> bool {
    let end = decode(wire, "x", stream.as_bytes()).1.unwrap();
    matches!(end, TurnEvent::Finished { turn, .. } if !turn.raw.is_null())
}

// bar: C65
#[test]
fn a_turn_of_thoughts_alone_does_not_go_back_and_one_that_says_something_does() {
    for says in ["", " \n", "a"] {
        let anthropic = [
            json!({"type": "thinking", "thinking": "t", "signature": "S"}),
            json!({"type": "text", "text": says}),
        ];
        let parts = json!([{"text": "t", "thought": true}, {"text": says, "thoughtSignature": "S"}]);
        let reasoning = json!({"type": "reasoning", "encrypted_content": "S"});
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": says}]});
        let delta = json!({"reasoning_details": [{"type": "reasoning.text", "text": "t"}], "content": says});
        for (wire, stream) in [
            (Wire::Anthropic, of_anthropic(&anthropic, "end_turn")),
            (
                Wire::Gemini,
                stream(
                    Wire::Gemini,
                    &[json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})],
                ),
            ),
            (
                Wire::OpenAiResponses,
                stream(
                    Wire::OpenAiResponses,
                    &[
                        json!({"type": "response.completed", "response": {"status": "completed", "output": [reasoning, message]}}),
                    ],
                ),
            ),
            (
                Wire::OpenRouter,
                stream(Wire::OpenRouter, &[json!({"choices": [{"delta": delta, "finish_reason": "stop"}]})]),
            ),
            (
                Wire::Ollama,
                stream(Wire::Ollama, &[json!({"message": {"thinking": "t", "content": says}, "done": true})]),
            ),
        ] {
            assert_eq!(goes_back(wire, &stream), says == "a", "{wire}: {stream}");
        }
    }
}

// bar: C65
#[test]
fn a_turn_that_ended_in_the_middle_of_a_search_goes_back_only_where_it_goes_on() {
    let searching = [
        json!({"type": "text", "text": "I look."}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}),
    ];
    for (stop, expected) in [
        ("pause_turn", true),
        ("max_tokens", false),
        ("refusal", false),
        ("model_context_window_exceeded", false),
        ("something_new", false),
    ] {
        assert_eq!(goes_back(Wire::Anthropic, &of_anthropic(&searching, stop)), expected, "{stop}");
    }
    assert!(goes_back(Wire::Anthropic, &of_anthropic(&searching[1..], "pause_turn")), "a search alone");
    let thought = json!({"type": "thinking", "thinking": "t", "signature": "S"});
    assert!(!goes_back(Wire::Anthropic, &of_anthropic(&[thought], "pause_turn")), "nothing to go on from");
}

#[test]
fn what_comes_after_the_end_changes_nothing() {
    let bytes = fs::read(folder().join("openai-chat/stream_text.sse")).unwrap();
    let whole = decode(Wire::OpenAiChat, "x", &bytes);
    let mut more = bytes.clone();
    more.extend_from_slice(
        b"data: {\"choices\":[{\"delta\":{\"content\":\"!\"},\"finish_reason\":null}]}\n\ndata: }\n\n",
    );
    assert_eq!(decode(Wire::OpenAiChat, "x", &more), whole);
}

#[test]
fn the_body_of_an_error_is_read_where_a_stream_was_expected() {
    for (folder, wire) in [
        ("anthropic", Wire::Anthropic),
        ("gemini", Wire::Gemini),
        ("openai-responses", Wire::OpenAiResponses),
        ("openai-chat", Wire::OpenAiChat),
        ("openrouter", Wire::OpenRouter),
        ("ollama", Wire::Ollama),
        ("xai", Wire::Xai),
    ] {
        for file in fs::read_dir(self::folder().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("error_") {
                let (events, end) = decode(wire, wire.name(), &fs::read(&path).unwrap());
                let error = end.unwrap_err();
                assert_ne!(error, ModelError::cut(), "{}", path.display());
                assert_eq!(events, []);
            }
        }
    }
}

#[test]
fn odd_events_are_passed_over_or_refused_but_never_a_panic() {
    let odd = [
        "",
        "null",
        "3",
        "[]",
        "[3]",
        "{}",
        "\"x\"",
        "{\"type\":3}",
        "{\"choices\":3}",
        "{\"choices\":[3]}",
        "{\"choices\":[{\"delta\":{\"tool_calls\":[3,null,{}]},\"finish_reason\":3}]}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":3}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":\"x\"}",
        "{\"type\":\"content_block_delta\",\"index\":18446744073709551615,\"delta\":{}}",
        "{\"type\":\"message_delta\",\"delta\":3,\"usage\":3}",
        "{\"type\":\"message_start\",\"message\":3}",
        "{\"type\":\"response.completed\",\"response\":3}",
        "{\"type\":\"response.output_item.done\",\"item\":[]}",
        "{\"type\":\"response.output_item.added\",\"output_index\":-1}",
        "{\"candidates\":3,\"usageMetadata\":[]}",
        "{\"candidates\":[3]}",
        "{\"event_type\":3}",
        "{\"event_type\":\"step.delta\",\"delta\":3}",
        "{\"message\":3,\"done\":true}",
        "{\"message\":{\"tool_calls\":[3]}}",
        "{\"type\":\"something.new\",\"delta\":{\"type\":\"text_delta\",\"text\":3}}",
    ];
    for wire in Wire::ALL {
        for first in odd {
            for second in odd {
                let bytes = match wire {
                    Wire::Ollama => format!("{first}\n{second}\n"),
                    _ => format!("data: {first}\n\ndata: {second}\n\n"),
                };
                let (_, end) = decode(wire, wire.name(), bytes.as_bytes());
                assert_eq!(runnable(&end), 0, "{wire}: {bytes}");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_wherever_they_stand_in_an_event() {
    let mut refused = 0;
    for (name, wire, bytes) in streams() {
        let mut before = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (start, end) = (before, before + line.len());
            before = end;
            let mut decoder = Decoder::new(wire, wire.name());
            let is_read = decoder.push(&bytes[..start], &mut Vec::new()).is_ok()
                && decoder.progress() != Progress::Over;
            let Some(open) = line.iter().position(|byte| *byte == b'{').filter(|_| is_read) else { continue };
            for at in (start + open + 1..end - 1).step_by(5) {
                let broken = [&bytes[..at], b"\xff", &bytes[at..]].concat();
                let error = decode(wire, wire.name(), &broken).1.unwrap_err();
                assert_eq!(error.kind, ModelErrorKind::Protocol, "{name} at {at}: {error}");
                refused += 1;
            }
        }
    }
    println!("{refused} broken streams, each refused");
    assert!(refused > 5_000, "only {refused} were made");
}

#[test]
fn a_decoder_says_how_far_the_turn_is() {
    let mut decoder = Decoder::new(Wire::OpenAiChat, "x");
    let mut events = Vec::new();
    let mut push = |text: &str| {
        decoder.push(text.as_bytes(), &mut events).unwrap();
        decoder.progress()
    };
    assert_eq!(push("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"), Progress::Open);
    assert_eq!(
        push("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
        Progress::Complete
    );
    assert_eq!(push("data: [DONE]\n\n"), Progress::Over);
}
