//! The short way and the long way read the same: every recorded stream, and many that a stream was bent into.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::decode::decode;
use crate::{ModelError, TurnEvent, Wire};

thread_local! {
    static OFF: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread reads all events the long way.
pub(super) fn is_off() -> bool {
    OFF.get()
}

type Read = (Vec<TurnEvent>, Result<TurnEvent, ModelError>);

fn both_ways(wire: Wire, stream: &str) -> [Read; 2] {
    [false, true].map(|off| {
        OFF.set(off);
        let read = decode(wire, wire.name(), stream.as_bytes());
        OFF.set(false);
        read
    })
}

/// The recorded streams: the wire, and each event's data.
fn recorded() -> Vec<(String, Wire, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for provider in fs::read_dir(folder).unwrap() {
        let provider = provider.unwrap();
        let name = provider.file_name().into_string().unwrap();
        let wire = if name == "lmstudio" { Wire::OpenAiChat } else { Wire::named(&name).unwrap() };
        for file in fs::read_dir(provider.path()).unwrap() {
            let path = file.unwrap().path();
            let data: Vec<String> = match path.extension().and_then(|ending| ending.to_str()) {
                Some("sse") => {
                    let text = fs::read_to_string(&path).unwrap();
                    text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::to_owned).collect()
                }
                Some("ndjson") => fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect(),
                _ => continue,
            };
            found.push((path.display().to_string(), wire, data));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() >= 32, "only {} streams were found", found.len());
    found
}

fn stream(wire: Wire, data: &[String]) -> String {
    let event = |data: &String| match wire {
        Wire::Ollama => format!("{data}\n"),
        _ => format!("data: {data}\n\n"),
    };
    data.iter().map(event).collect()
}

/// Dice without chance: the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

/// Changes something somewhere in a value: a field more or less, or something else in its place.
fn bend(value: &mut Value, dice: &mut Dice) {
    let odd =
        [json!(null), json!(3), json!(""), json!("x\n\u{e4}\u{1f44b}\""), json!([]), json!({}), json!(true)];
    let other = odd[dice.roll(odd.len())].clone();
    match value {
        Value::Object(fields) if !fields.is_empty() && dice.roll(8) > 0 => {
            let at = dice.roll(fields.len());
            let name = fields.keys().nth(at).unwrap().clone();
            match dice.roll(8) {
                0 => drop(fields.shift_remove(&name)),
                1 => drop(fields.insert("new".into(), other)),
                _ => bend(&mut fields[&name], dice),
            }
        }
        Value::Array(items) if !items.is_empty() && dice.roll(8) > 0 => {
            let at = dice.roll(items.len());
            match dice.roll(8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => bend(&mut items[at], dice),
            }
        }
        Value::String(text) if dice.roll(2) == 0 => text.push_str(other.as_str().unwrap_or("\\u00e4\t")),
        _ => *value = other,
    }
}

/// The stream with some of its events bent, told again, left out or put elsewhere.
fn bent(data: &[String], dice: &mut Dice) -> Vec<String> {
    let mut bent = Vec::new();
    for event in data {
        match (dice.roll(12), serde_json::from_str::<Value>(event)) {
            (0, _) => {}
            (1, _) => bent.extend([event.clone(), event.clone()]),
            (2, _) => bent.insert(dice.roll(bent.len() + 1), event.clone()),
            (3..=5, Ok(mut value)) => {
                bend(&mut value, dice);
                bent.push(value.to_string());
            }
            _ => bent.push(event.clone()),
        }
    }
    bent
}

#[test]
fn the_short_way_and_the_long_way_read_the_same() {
    let (mut streams, mut whole, mut by_short) = (0, 0, 0);
    for (name, wire, data) in recorded() {
        let mut dice = Dice(7);
        for round in 0..60 {
            let data = if round == 0 { data.clone() } else { bent(&data, &mut dice) };
            let stream = stream(wire, &data);
            let [short, long] = both_ways(wire, &stream);
            assert_eq!(short, long, "{name}, round {round}:\n{stream}");
            streams += 1;
            whole += usize::from(short.1.is_ok());
            by_short += short.0.len();
        }
    }
    println!("{streams} streams read both ways, {whole} of them whole turns, {by_short} events");
    assert!(streams >= 1_900 && whole >= streams / 5, "{whole} of {streams}");
}

#[test]
fn words_are_borrowed_where_they_can_be() {
    let Words(text) = serde_json::from_str("\"ab\"").unwrap();
    assert!(matches!(text, Cow::Borrowed("ab")));
    let words: Option<Words<'_>> = serde_json::from_str(r#""a\nb""#).unwrap();
    assert_eq!(words.and_then(Words::said).as_deref(), Some("a\nb"));
    assert_eq!(serde_json::from_str::<Option<Words<'_>>>("null").unwrap(), None);
    assert!(serde_json::from_str::<Words<'_>>("7").is_err());
}

#[test]
fn a_list_of_one_has_no_other() {
    let only = |json: &str| serde_json::from_str::<Only<u8>>(json).ok().map(|only| only.0);
    assert_eq!([only("[7]"), only("[]"), only("[7, 8]")], [Some(7), None, None]);
}
