//! The providers' own searches beside our tools, on every wire that has one: asked for by a switch, cited, counted, and
//! told back unaltered.

use std::collections::BTreeSet;

use outside::fake_model::{Asked, FakeModel, Mind, MindTurn, Search, Wire};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::citation::Citation;
use protocol::turn::Cost;
use protocol::{Event, EventBody};
use serde_json::json;

use crate::wires::{turns_came_back, with_keys};

const PAGES: [(&str, &str); 2] =
    [("https://example.com/a?b=c&d", "A page"), ("https://news.example.org/", "")];
const ANSWER: &str = "Rust is — eleven.";

/// Who searches, what is asked for, and words that must be in no body without.
const MODELS: [(Wire, &str, &[&str]); 5] = [
    (Wire::Gemini, "gemini/gemini-3-flash-preview", &["googleSearch"]),
    (Wire::Anthropic, "anthropic/claude-haiku-5-5", &["web_search"]),
    (Wire::Responses, "openai/gpt-6.1-terra", &["web_search"]),
    (Wire::Xai, "xai/grok-4.7", &["web_search", "x_search"]),
    (Wire::OpenRouter, "openrouter/x-ai/grok-4.7", &["web"]),
];

/// Looks something up where it may, pauses over it where that is a vendor's way, calls a tool of ours, and ends.
struct Curious;

impl Mind for Curious {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        let found = PAGES.map(|(url, title)| (url.to_owned(), title.to_owned())).into();
        let search = Search { query: "rust news".into(), found, pauses: false };
        let answers = asked.heard.messages.len();
        if answers == 1 && asked.wire == Wire::Anthropic && !asked.heard.searches.is_empty() {
            let search = Search { pauses: true, ..search };
            return MindTurn { search: Some(search), ..MindTurn::default() }.thinking("It is new to me.");
        }
        if asked.results().is_empty() {
            let turn = MindTurn::call(ANSWER, "think", json!({ "thought": "that is new" }));
            return MindTurn { search: Some(search), ..turn }.thinking("I look it up.");
        }
        MindTurn::done("it is told", true)
    }
}

fn citations(events: &[Event]) -> Vec<Citation> {
    let of_turn = |event: &Event| match &event.body {
        EventBody::TurnFinished { citations, .. } => citations.clone(),
        _ => Vec::new(),
    };
    events.iter().flat_map(of_turn).collect()
}

fn costs(events: &[Event]) -> Vec<Cost> {
    let of_turn = |event: &Event| match &event.body {
        EventBody::TurnFinished { cost, .. } => Some(*cost),
        _ => None,
    };
    events.iter().filter_map(of_turn).collect()
}

#[test]
fn a_search_is_cited_counted_and_told_back_and_without_the_switch_there_is_none() {
    // bar: C65
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(Curious).unwrap();
    let miki = with_keys(Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap());
    let pages: Vec<String> = PAGES.map(|(url, _)| url.to_owned()).into();
    for (wire, id, names) in MODELS {
        let url = model.base_url(wire);
        let run = |more: &[&str]| {
            let line = [&["run", "what is new?", "--model", id, "--base-url", &url], more].concat();
            let (asked, given) = (model.turns().len(), model.given().len());
            let done = miki.run(&stage, &line).unwrap();
            assert_eq!(done.code(), 0, "{wire:?}: {} {}", done.stdout, done.stderr);
            (done.stdout, model.turns().split_off(asked), model.given().split_off(given))
        };

        let (told, turns, _) = run(&["--json"]);
        let events = miki::events(&told).unwrap();
        assert_eq!((citations(&events), turns.len()), (Vec::new(), 2), "{wire:?}");
        let body = String::from_utf8_lossy(&turns[1].text);
        for word in ["web_search", "x_search", "googleSearch", "plugins", "ServerSide", "VALIDATED"] {
            assert!(!body.contains(word), "{wire:?} has {word} though nobody wants it: {body}");
        }
        let exact = |cost: &Cost| !matches!(cost, Cost::AtLeast { .. });
        assert!(costs(&events).iter().all(exact), "{wire:?}");
        let without: BTreeSet<String> = turns[0].heard.tools.iter().cloned().collect();

        let (told, turns, given) = run(&["--json", "--search"]);
        let events = miki::events(&told).unwrap();
        for turn in &turns {
            assert_eq!(turn.heard.searches, names, "{wire:?}");
            let tools: BTreeSet<String> = turn.heard.tools.iter().cloned().collect();
            assert_eq!(tools, without, "{wire:?}: ours stay beside it");
        }
        let cited: Vec<String> = citations(&events).into_iter().map(|citation| citation.url).collect();
        assert_eq!(cited, pages, "{wire:?}");
        let billed = matches!(wire, Wire::Xai | Wire::OpenRouter);
        let first = costs(&events)[0];
        assert!(
            matches!((billed, first), (true, Cost::Billed { .. }) | (false, Cost::AtLeast { .. })),
            "{first:?}"
        );
        let (_, earlier) = given.split_last().unwrap();
        assert!(earlier.iter().any(|given| !given.verbatim.is_empty()), "{wire:?}");
        turns_came_back(wire, turns.last().unwrap(), earlier);

        let (told, ..) = run(&["--search"]);
        assert!(told.contains(ANSWER) && told.contains("searching the web"), "{wire:?}: {told}");
        for (number, page) in (1..).zip(PAGES) {
            let listed =
                told.lines().any(|line| line.starts_with(&format!(" [{number}] ")) && line.ends_with(page.0));
            assert!(listed, "{wire:?}: {page:?} is not listed in {told}");
        }
        assert_eq!(told.contains("cost: at least $"), !billed, "{wire:?}: {told}");
    }
}

#[test]
fn who_has_no_search_is_not_asked_for_one() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(Curious).unwrap();
    let miki = with_keys(Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap());
    for (wire, id) in [
        (Wire::Ollama, "ollama/qwen3-vl:8b"),
        (Wire::Chat, "lmstudio/qwen/qwen3-vl-8b"),
        (Wire::Gemini, "gemini/gemini-2.5-flash"),
    ] {
        let url = model.base_url(wire);
        let done = miki.run(&stage, &["run", "new?", "--search", "--model", id, "--base-url", &url]).unwrap();
        assert_eq!(done.code(), 1, "{wire:?}: {} {}", done.stdout, done.stderr);
        assert!(done.stderr.contains("search") && done.stderr.contains("turn search off"), "{}", done.stderr);
    }
    assert!(model.requests().is_empty(), "{:?}", model.requests());
}
