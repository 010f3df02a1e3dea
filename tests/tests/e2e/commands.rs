//! Every command with whatever may come as its arguments: each frame is answered, and the engine goes on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::command::COMMANDS;
use serde_json::{Map, Value, json};

use crate::durability::Dice;

const EACH: usize = 1_000;
/// Names that fields of commands have, so that some get beyond the first look.
const FIELDS: [&str; 12] = [
    "goal",
    "session",
    "overrides",
    "run",
    "text",
    "approval",
    "digest",
    "answer",
    "provider",
    "key",
    "limit",
    "stream",
];

/// Any JSON but an empty object, which is a good answer to what takes nothing.
fn value(dice: &mut Dice, depth: u32) -> Value {
    match dice.below(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(dice.below(2) == 0),
        2 => json!(dice.below(u64::MAX)),
        3 => json!(-1),
        4 => json!(f64::MAX),
        5 => json!(["", "\u{0}", "\u{202e}x", "../../etc", "dashboard"][dice.below(5) as usize]),
        6 => json!("x".repeat(dice.below(2_000) as usize)),
        7 => (0..1 + dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let fields = (0..1 + dice.below(4)).map(|_| {
                let name = FIELDS[dice.below(FIELDS.len() as u64) as usize];
                (name.to_owned(), value(dice, depth - 1))
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

// bar: C44
#[test]
fn each_command_with_a_thousand_arbitrary_arguments_is_answered_and_the_engine_goes_on() {
    let stage = Stage::full().unwrap();
    let miki = Miki::with_model(&stage, "miki", "http://127.0.0.1:9", json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    for command in COMMANDS {
        let seed = 1 + command.len() as u64;
        let mut dice = Dice(seed);
        let frames: String = (1..=EACH)
            .map(|id| format!("{}\n", json!({ "id": id, "command": command, "args": value(&mut dice, 3) })))
            .collect();
        let stream = UnixStream::connect(miki.home.join("miki.sock")).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let answers = BufReader::new(stream.try_clone().unwrap());
        let writer = std::thread::spawn(move || (&stream).write_all(frames.as_bytes()));
        let answered = answers.lines().take(EACH).filter(Result::is_ok).count();
        writer.join().unwrap().unwrap();
        assert_eq!(answered, EACH, "{command}");
    }
    let said = wait_for("the engine", LONG, || client.overview().ok()).unwrap();
    assert!(said.settings.failsafe, "a setting was changed");
    assert!(!stage.log("app").contains("panicked"), "{}", stage.log("app"));
}
