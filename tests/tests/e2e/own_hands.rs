//! An agent with a pointer and a keyboard of its own works in one editor, while its user types in another.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{Miki, check_file};
use outside::stage::{Screen, Stage, Window};
use outside::{LONG, Process, wait_for};
use serde_json::json;

use crate::durability::Dice;

const TEXT: &str = "by the agent's own keys";
/// Of a display of 1920 by 1080.
const AGENTS: (i32, i32, u32, u32) = (1000, 80, 860, 700);

fn results(asked: &Asked) -> usize {
    asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count()
}

/// Into the editor on the right.
fn click() -> MindTurn {
    let (x, y, width, height) = AGENTS;
    let centre =
        |at: i32, size: u32, of: f64| ((f64::from(at) + f64::from(size) / 2.0) * 1000.0 / of).round();
    let (x, y) = (centre(x, width, 1920.0), centre(y, height, 1080.0));
    MindTurn::call("", "click", json!({ "x": x, "y": y, "reason": "to write there" }))
}

/// Writes [`TEXT`] there, three times, and saves it.
fn mind(asked: &Asked) -> MindTurn {
    match results(asked) {
        0 => click(),
        1..=3 => MindTurn::call("", "type", json!({ "text": format!("{TEXT}\n"), "reason": "the text" })),
        4 => MindTurn::call("", "hotkey", json!({ "keys": ["ctrl", "s"], "reason": "to save it" })),
        _ => MindTurn::done("it is written", true),
    }
}

fn editor(stage: &Stage, screen: &Screen, file: &Path) -> (Process, Window) {
    fs::write(file, "").unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let mut command = stage.command("mousepad");
    command.arg("--disable-server").arg(file);
    let process = stage.launch(&name, "mousepad", command).unwrap();
    let window = screen.wait_for_window("the editor", LONG, |title| title.contains(&name)).unwrap();
    (process, window)
}

/// How many pointers and keyboards are ours.
fn ours(screen: &Screen) -> usize {
    screen.devices().unwrap().iter().filter(|name| name.starts_with("Miki ")).count()
}

#[test]
fn an_agent_writes_in_one_editor_while_its_user_writes_in_another() {
    let stage = Stage::plain().unwrap();
    let screen = stage.screen().unwrap();
    let (users, agents) = (stage.work().join("users.txt"), stage.work().join("agents.txt"));
    let (_one, its) = editor(&stage, &screen, &agents);
    let (x, y, width, height) = AGENTS;
    screen.place(&its, x, y, width, height).unwrap();
    let (_other, theirs) = editor(&stage, &screen, &users);
    screen.place(&theirs, 60, 80, 860, 700).unwrap();
    let user = stage.user().unwrap();
    user.click(400, 400).unwrap();
    screen.activate(&theirs).unwrap();
    let model = FakeModel::start(mind).unwrap();
    let settings = json!({ "approval": "auto", "ownHands": true });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let before = (screen.active().unwrap(), screen.pointer().unwrap());
    let mut run = miki.start(&stage, "run", &["run", "write it"]).unwrap();
    let (mut typed, mut most) = (String::new(), 0);
    while !run.has_ended() {
        let word = format!("word {} ", typed.len());
        user.type_text(&word).unwrap();
        typed.push_str(&word);
        most = most.max(ours(&screen));
        assert_eq!((screen.active().unwrap(), screen.pointer().unwrap()), before, "after {typed:?}");
    }
    assert_eq!(run.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("run"));
    // A pointer, a keyboard, and what presses for each.
    assert_eq!(most, 4, "{}", stage.log("run"));
    wait_for("its devices to be gone", LONG, || (ours(&screen) == 0).then_some(())).unwrap();
    check_file(&agents, &format!("{TEXT}\n").repeat(3)).unwrap();
    user.chord(&["ctrl", "s"]).unwrap();
    wait_for("the user's own text, byte for byte", LONG, || check_file(&users, &typed).ok()).unwrap();
}

/// Starts the calculator, and presses a key of it.
fn starts(asked: &Asked) -> MindTurn {
    match results(asked) {
        0 => MindTurn::call("", "launchApp", json!({ "app": "galculator", "reason": "to reckon" })),
        1 => MindTurn::call("", "elementsJson", json!({ "app": "galculator" })),
        2 => {
            let seven = asked.elements().into_iter().find(|one| one.name == "7").unwrap();
            MindTurn::call("", "clickElement", json!({ "ref": seven.reference, "reason": "a digit" }))
        }
        _ => MindTurn::done("it is started", true),
    }
}

#[test]
fn a_program_that_an_agent_starts_leaves_its_user_where_they_are() {
    let stage = Stage::plain().unwrap();
    let screen = stage.screen().unwrap();
    let users = stage.work().join("users.txt");
    let (_editor, theirs) = editor(&stage, &screen, &users);
    screen.place(&theirs, 60, 80, 860, 700).unwrap();
    let user = stage.user().unwrap();
    user.click(400, 400).unwrap();
    screen.activate(&theirs).unwrap();
    let model = FakeModel::start(starts).unwrap();
    let settings = json!({ "approval": "auto", "ownHands": true });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let mut run = miki.start(&stage, "run", &["run", "reckon"]).unwrap();
    let mut typed = String::new();
    while !run.has_ended() {
        user.type_text("a word ").unwrap();
        typed.push_str("a word ");
    }
    assert_eq!(run.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("run"));
    screen.wait_for_window("the calculator", LONG, |title| title == "galculator").unwrap();
    wait_for("the user's window", LONG, || (screen.active().ok()? == theirs.id).then_some(())).unwrap();
    // What is typed while the new window has the keyboard goes astray: more than a word would be seen.
    user.chord(&["ctrl", "s"]).unwrap();
    let held = || fs::read_to_string(&users).ok().filter(|text| !text.is_empty());
    let held = wait_for("the user's own text", LONG, held).unwrap();
    println!("{} of {} letters arrived", held.len(), typed.len());
}

/// Writes on and on.
fn tireless(asked: &Asked) -> MindTurn {
    match results(asked) {
        0 => click(),
        at => MindTurn::call("", "type", json!({ "text": format!("line {at}\n"), "reason": "the text" })),
    }
}

/// At moments that nobody chose: no condition could stand for them.
#[test]
fn nothing_of_an_agents_hands_is_left_after_a_kill() {
    const KILLS: u64 = 4;
    let stage = Stage::plain().unwrap();
    let screen = stage.screen().unwrap();
    let (_one, its) = editor(&stage, &screen, &stage.work().join("agents.txt"));
    let (x, y, width, height) = AGENTS;
    screen.place(&its, x, y, width, height).unwrap();
    let model = FakeModel::start(tireless).unwrap();
    let settings = json!({ "approval": "auto", "ownHands": true, "maxSteps": 500 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let mut longest = Duration::ZERO;
    for _ in 0..KILLS {
        let mut run = miki.start(&stage, "run", &["run", "write on"]).unwrap();
        wait_for("its devices", LONG, || (ours(&screen) == 4).then_some(())).unwrap();
        std::thread::sleep(Duration::from_millis(dice.below(1_000)));
        run.kill();
        let killed = Instant::now();
        wait_for("its devices to be gone", LONG, || (ours(&screen) == 0).then_some(())).unwrap();
        longest = longest.max(killed.elapsed());
    }
    println!("{KILLS} kills: gone after {} ms at the latest", longest.as_millis());
    assert_eq!(screen.held_keys().unwrap(), Vec::<u8>::new());
}
