//! One task on every wire: ten turns with thoughts, pictures and parallel calls, told back unaltered, at the table's price.

use std::fs;
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, Fault, Given, Manner, Wire};
use outside::miki::{self, Miki, check_file};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::event::{DeltaKind, RunEnd};
use protocol::turn::{Cost, Usd};
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::notes::{NotesMind, TURNS, notes};

/// Who is asked on each wire.
pub const MODELS: [(Wire, &str); 7] = [
    (Wire::Gemini, "gemini/gemini-3-flash-preview"),
    (Wire::Anthropic, "anthropic/claude-haiku-5-5"),
    (Wire::Responses, "openai/gpt-6.1-terra"),
    (Wire::Xai, "xai/grok-4.7"),
    (Wire::Chat, "lmstudio/qwen/qwen3-vl-8b"),
    (Wire::OpenRouter, "openrouter/x-ai/grok-4.7"),
    (Wire::Ollama, "ollama/qwen3-vl:8b"),
];

#[test]
fn a_task_of_ten_turns_is_done_on_every_wire_and_costs_what_the_table_says() {
    let stage = Stage::small().unwrap();
    let file = stage.work().join("notes.txt");
    fs::write(&file, "nothing yet\n").unwrap();
    let editor = stage.open_editor(Some(&file)).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let paced = Manner { pieces: 2, pause: Duration::from_millis(1), key: None };
    let model = FakeModel::with(NotesMind::default(), paced).unwrap();
    let settings = json!({ "settleMs": 0, "maxSteps": 90 });
    let miki = with_keys(Miki::with_model(&stage, "miki", &model.url(), settings).unwrap());
    for (wire, id) in MODELS {
        let (given_before, asked_before) = (model.given().len(), model.requests().len());
        let goal = format!("{wire:?}");
        let url = model.base_url(wire);
        let done = miki.run(&stage, &["run", &goal, "--json", "--model", id, "--base-url", &url]).unwrap();
        let events = miki::events(&done.stdout).unwrap();
        assert_eq!(done.code(), 0, "{wire:?}: {:?} {}", miki::end(&events), done.stderr);
        assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })), "{wire:?}");
        wait_for("the file", LONG, || check_file(&file, &notes(&goal)).ok())
            .unwrap_or_else(|_| check_file(&file, &notes(&goal)).unwrap());
        let given = model.given().split_off(given_before);
        let requests = model.requests().split_off(asked_before);
        let needs_key = !matches!(wire, Wire::Chat | Wire::Ollama);
        for request in &requests {
            assert_eq!((request.wire, request.status), (wire, 200), "{}", request.path);
            assert_eq!(request.key.as_deref(), needs_key.then_some("demo"), "{wire:?}");
        }
        let asked: Vec<&Asked> = requests.iter().filter_map(|request| request.asked.as_deref()).collect();
        pictures_came(wire, &asked);
        assert!(given.len() >= TURNS, "{wire:?}: {} turns", given.len());
        assert_eq!(asked.len(), given.len(), "{wire:?}");
        // All of them, until the oldest are left out; each of them once at least.
        let has_first = |asked: &&&Asked| missing(asked, &given[..1]).is_none();
        let whole = asked.iter().skip(1).take_while(has_first).count();
        assert!(whole >= 6, "{wire:?}: the first turn was left out after {whole}");
        turns_came_back(wire, asked[whole], &given[..whole]);
        for (next, turn) in asked[1..].iter().zip(&given) {
            turns_came_back(wire, next, std::slice::from_ref(turn));
        }
        turns_are_told(wire, id, &events, &given);
        the_sum_is_shown(&stage, &miki, &model, (wire, id));
    }
}

/// A key for every provider that takes one.
pub fn with_keys(miki: Miki) -> Miki {
    let with = |miki: Miki, provider: &&str| miki.env(&format!("MIKI_KEY_{provider}"), "demo");
    ["ANTHROPIC", "OPENAI", "XAI", "OPENROUTER"].iter().fold(miki, with)
}

fn pictures_came(wire: Wire, asked: &[&Asked]) {
    let in_results: Vec<&Vec<u8>> =
        asked.iter().flat_map(|asked| asked.results()).flat_map(|result| &result.images).collect();
    assert!(in_results.len() >= 3, "{wire:?}: {} pictures", in_results.len());
    assert!(in_results.iter().all(|image| image.starts_with(&[0xff, 0xd8])), "{wire:?}: no JPEG");
    let first = asked.first().unwrap();
    assert!(first.heard.system.len() > 100 && first.heard.tools.iter().any(|tool| tool == "click"));
}

/// The server refuses what was changed in meaning; here it is the bytes.
pub fn turns_came_back(wire: Wire, last: &Asked, earlier: &[Given]) {
    if let Some(words) = missing(last, earlier) {
        panic!("{wire:?}: {words} did not come back");
    }
}

/// The first words of earlier turns that are not in `last`, after those before them.
fn missing<'a>(last: &Asked, earlier: &'a [Given]) -> Option<&'a String> {
    let text = std::str::from_utf8(&last.text).unwrap();
    let mut at = 0;
    earlier.iter().flat_map(|given| &given.verbatim).find(|words| match text[at..].find(words.as_str()) {
        Some(found) => {
            at += found + words.len();
            false
        }
        None => true,
    })
}

fn turns_are_told(wire: Wire, id: &str, events: &[Event], given: &[Given]) {
    let mut turns = 0;
    let mut most_calls = 0;
    for event in events {
        let EventBody::TurnFinished { thinking, calls, usage, cost, .. } = &event.body else { continue };
        assert!(thinking.contains(" — what is next?"), "{wire:?}: {thinking:?}");
        most_calls = most_calls.max(calls.len());
        let of = &given[turns];
        assert_eq!(*usage, of.usage, "{wire:?}, turn {turns}");
        assert_eq!(*cost, expected(id, of), "{wire:?}, turn {turns}");
        turns += 1;
    }
    assert_eq!(turns, given.len(), "{wire:?}");
    assert_eq!(most_calls, 3, "{wire:?}");
    let streamed = events
        .iter()
        .any(|event| matches!(event.body, EventBody::TurnDelta { kind: DeltaKind::Thinking, .. }));
    assert!(streamed, "{wire:?}: no thought was shown as it came");
    let is_unknown = matches!(wire, Wire::Chat | Wire::Ollama);
    assert_eq!(given.iter().all(|given| expected(id, given) == Cost::Unknown), is_unknown, "{wire:?}");
}

/// A run of one turn, told to people; what was refused before it costs nothing.
fn the_sum_is_shown(stage: &Stage, miki: &Miki, model: &FakeModel, (wire, id): (Wire, &str)) {
    let url = model.base_url(wire);
    let busy = json!({ "error": { "message": "too many requests" } });
    model.fail_next([Fault::retry_after(429, busy, "0")]);
    let done = miki.run(stage, &["run", "rest", "--model", id, "--base-url", &url]).unwrap();
    assert_eq!(done.code(), 0, "{wire:?}: {} {}", done.stdout, done.stderr);
    let given = model.given().pop().unwrap();
    let cost = match expected(id, &given) {
        Cost::Priced { usd } | Cost::Billed { usd } => format!("cost: ${usd}; "),
        Cost::AtLeast { usd } => format!("cost: at least ${usd} "),
        Cost::Unknown => "cost: unknown; ".to_owned(),
    };
    assert!(done.stdout.contains("trying again"), "{wire:?}: {}", done.stdout);
    assert!(done.stdout.contains(&cost), "{wire:?}: not {cost:?} in {}", done.stdout);
}

/// What a turn costs: as its provider told, else by the program's table, by hand.
fn expected(id: &str, given: &Given) -> Cost {
    if let Some(ticks) = given.billed {
        return Cost::Billed { usd: Usd(ticks * 100) };
    }
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../src-tauri/crates/models/data/models.json");
    let table: Value = serde_json::from_str(&fs::read_to_string(table).unwrap()).unwrap();
    let (provider, name) = id.split_once('/').unwrap();
    let models = table["providers"][provider].as_array();
    let Some(prices) = models.into_iter().flatten().find(|model| model["id"] == name) else {
        return Cost::Unknown;
    };
    let usage = &given.usage;
    let price = |kind: &str| {
        let tiers = prices.get(kind).or(prices.get("input")).unwrap().as_array().unwrap();
        let of_prompt = |tier: &&Value| tier[0] == 0 || usage.input > tier[0].as_u64().unwrap();
        tiers.iter().rfind(of_prompt).unwrap()[1].as_u64().unwrap()
    };
    let fresh = usage.input - usage.cached - usage.cache_write;
    let usd = fresh * price("input")
        + usage.cached * price("cacheRead")
        + usage.cache_write * price("cacheWrite")
        + (usage.output + usage.thinking) * price("output");
    Cost::Priced { usd: Usd(usd) }
}
