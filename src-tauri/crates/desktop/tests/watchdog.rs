//! The watchdog: what this program holds comes up when it is killed at any moment, and the user's clipboard comes back.
//!
//! A program of its own instead of the usual harness: it starts itself as the one that is killed, and as its watchdog.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's way to say that it failed"
)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use desktop::{Action, Button, Key, Options};
use x11rb::connection::Connection as _;
use x11rb::protocol::xinput::{ConnectionExt as _, Device};
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
#[path = "x11/screen.rs"]
mod screen;

#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
#[path = "atspi/stage.rs"]
mod stage;

use screen::{Program, Screen, Target, at, token, wait_for};

/// Everything is up this soon after a kill.
const BOUND: Duration = Duration::from_secs(5);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["as-watchdog"] => desktop::run_watchdog().unwrap(),
        ["held", display, how] => held(display, how),
        ["asked", display, bus] => asked(display, bus),
        _ => {
            let tests: [(&str, fn()); 8] = [
                ("no_pair_is_left_after_a_kill_at_any_moment", no_pair_is_left_after_a_kill_at_any_moment),
                (
                    "nothing_stays_down_after_a_kill_at_any_moment",
                    nothing_stays_down_after_a_kill_at_any_moment,
                ),
                ("nothing_stays_down_after_a_panic", nothing_stays_down_after_a_panic),
                ("a_watchdog_that_died_is_replaced", a_watchdog_that_died_is_replaced),
                ("no_watchdog_outlives_a_clean_end", no_watchdog_outlives_a_clean_end),
                ("the_clipboard_comes_back_after_a_kill", the_clipboard_comes_back_after_a_kill),
                (
                    "a_dialog_takes_keys_when_its_opener_was_killed",
                    a_dialog_takes_keys_when_its_opener_was_killed,
                ),
                (
                    "a_dialog_takes_keys_when_its_opener_has_ended",
                    a_dialog_takes_keys_when_its_opener_has_ended,
                ),
            ];
            let is_wished = |name: &str| {
                let mut filters = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
                filters.peek().is_none() || filters.any(|filter| name.contains(filter.as_str()))
            };
            for (name, test) in tests.into_iter().filter(|(name, _)| is_wished(name)) {
                test();
                println!("{name}: ok");
            }
        }
    }
}

/// The program that is killed: holds things in many ways until its end.
fn held(display: &str, how: &str) {
    let options = Options {
        watchdog: vec![itself(), "as-watchdog".into()],
        display: Some(display.into()),
        own_pid: 0x7fff_fff0,
        ..Options::default()
    };
    let desktop = desktop::open(options);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if how == "own" {
        println!("ready");
        let agent = runtime.block_on(desktop.with_own_hands("one".into())).unwrap();
        loop {
            let (button, path) = (Button::Left, vec![at(100.0, 100.0), at(180.0, 120.0)]);
            let drag = Action::Drag { display: 0, path, button, held: vec![Key::Ctrl] };
            runtime.block_on(agent.act(drag, token())).unwrap();
        }
    }
    let act = |action: Action| runtime.block_on(desktop.act(action, token()));
    act(Action::KeyDown { key: Key::Shift }).unwrap();
    println!("ready");
    match how {
        "clean" => drop(desktop),
        "panic" => panic!("on purpose"),
        "wait" => {
            let mut line = String::new();
            while std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0) {
                act(Action::KeyDown { key: Key::Alt }).unwrap();
                println!("more");
            }
        }
        "paste" => {
            act(Action::KeyUp { key: Key::Shift }).unwrap();
            println!("pasting");
            let _killed = act(Action::Type { text: "ünread".into() });
        }
        _ => loop {
            let button = Button::Left;
            let path = (0..20).map(|i| at(100.0 + f64::from(i % 2) * 80.0, 100.0 + f64::from(i))).collect();
            act(Action::Drag { display: 0, path, button, held: vec![Key::Ctrl] }).unwrap();
            act(Action::ButtonDown { display: 0, at: at(300.0, 300.0), button }).unwrap();
            act(Action::Hold { keys: vec![Key::Alt], time: Duration::from_millis(20) }).unwrap();
            act(Action::ButtonUp { display: 0, at: at(320.0, 320.0), button }).unwrap();
            act(Action::Press { key: Key::Char('a'), times: 20 }).unwrap();
        },
    }
}

fn itself() -> String {
    std::env::current_exe().unwrap().into_os_string().into_string().unwrap()
}

fn start(screen: &Screen, how: &str) -> (Program, BufReader<std::process::ChildStdout>) {
    let mut command = Command::new(itself());
    command.args(["held", &screen.display, how]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child: Child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (Program(child), output)
}

fn scene() -> (Screen, Target) {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, screen::WIDTH, screen::HEIGHT), 0x0020_b040);
    target.focus();
    (screen, target)
}

/// Keys and buttons that the server has as down.
fn down(conn: &RustConnection) -> u32 {
    let keys = conn.query_keymap().unwrap().reply().unwrap().keys;
    let root = conn.setup().roots[0].root;
    let mask = u16::from(conn.query_pointer(root).unwrap().reply().unwrap().mask);
    keys.iter().map(|byte| byte.count_ones()).sum::<u32>() + (mask & 0x1fff).count_ones()
}

fn wait_until_up(conn: &RustConnection) -> Duration {
    let begun = Instant::now();
    wait_for("everything to be up", || (down(conn) == 0).then_some(()));
    let took = begun.elapsed();
    assert!(took < BOUND, "{took:?}");
    took
}

/// The watchdogs on this display.
fn watchdogs(display: &str) -> Vec<u32> {
    let display = format!("DISPLAY={display}");
    let itself = PathBuf::from(itself());
    let is_watchdog = |id: &u32| {
        let read = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap_or_default();
        let words: Vec<Vec<u8>> = read("cmdline").split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe == itself)
            && words.get(1).is_some_and(|word| word == b"as-watchdog")
            && read("environ").split(|byte| *byte == 0).any(|one| one == display.as_bytes())
    };
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_watchdog).collect()
}

// bar: C78
fn nothing_stays_down_after_a_kill_at_any_moment() {
    let (screen, target) = scene();
    let mut slowest = Duration::ZERO;
    for round in 0..25_u64 {
        let (mut program, _output) = start(&screen, "all");
        // Spread over all that it does, in steps that fit no rhythm.
        std::thread::sleep(Duration::from_micros(round * 7_919 % 90_000));
        program.0.kill().unwrap();
        program.0.wait().unwrap();
        slowest = slowest.max(wait_until_up(&target.conn));
        wait_for("the watchdog's end", || watchdogs(&screen.display).is_empty().then_some(()));
        assert_eq!(down(&target.conn), 0);
    }
    println!("killed 25 times: all up after at most {slowest:?}");
}

/// The devices that an agent works with.
fn pairs(conn: &RustConnection) -> usize {
    conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
    let known = conn.xinput_xi_query_device(Device::ALL).unwrap().reply().unwrap().infos;
    known.iter().filter(|device| device.name.starts_with(b"Miki ")).count()
}

// bar: C78
fn no_pair_is_left_after_a_kill_at_any_moment() {
    let (screen, target) = scene();
    let (mut slowest, mut met) = (Duration::ZERO, 0);
    for round in 0..50_u64 {
        let (mut program, _output) = start(&screen, "own");
        // Spread over its making and all that it does, in steps that fit no rhythm.
        std::thread::sleep(Duration::from_micros(round * 7_919 % 120_000));
        met += usize::from(pairs(&target.conn) > 0);
        program.0.kill().unwrap();
        program.0.wait().unwrap();
        let begun = Instant::now();
        wait_for("the watchdog's end", || watchdogs(&screen.display).is_empty().then_some(()));
        wait_for("no pair", || (pairs(&target.conn) == 0).then_some(()));
        slowest = slowest.max(begun.elapsed());
        assert_eq!(down(&target.conn), 0);
    }
    println!("killed 50 times, {met} times with a pair: all gone after at most {slowest:?}");
    assert!(met > 0 && slowest < BOUND, "{met} {slowest:?}");
}

// bar: C78
fn nothing_stays_down_after_a_panic() {
    let (screen, target) = scene();
    let (mut program, _output) = start(&screen, "panic");
    assert_eq!(program.0.wait().unwrap().code(), Some(101));
    wait_until_up(&target.conn);
    wait_for("the watchdog's end", || watchdogs(&screen.display).is_empty().then_some(()));
}

fn a_watchdog_that_died_is_replaced() {
    let (screen, target) = scene();
    let (mut program, mut output) = start(&screen, "wait");
    let first = wait_for("the watchdog", || watchdogs(&screen.display).first().copied());
    assert!(Command::new("kill").args(["-9", &first.to_string()]).status().unwrap().success());
    wait_for("the watchdog's end", || (!watchdogs(&screen.display).contains(&first)).then_some(()));
    std::io::Write::write_all(program.0.stdin.as_mut().unwrap(), b"more\n").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    wait_for("another watchdog", || watchdogs(&screen.display).first().copied());
    // Two keys, and each its modifier.
    assert_eq!(down(&target.conn), 4);
    program.0.kill().unwrap();
    assert_eq!(program.0.wait().unwrap().signal(), Some(9));
    wait_until_up(&target.conn);
}

fn no_watchdog_outlives_a_clean_end() {
    let (screen, target) = scene();
    let (mut program, _output) = start(&screen, "clean");
    assert!(program.0.wait().unwrap().success());
    wait_for("the watchdog's end", || watchdogs(&screen.display).is_empty().then_some(()));
    wait_until_up(&target.conn);
}

// bar: C80
fn the_clipboard_comes_back_after_a_kill() {
    let (screen, _target) = scene();
    copy(&screen, "<b>kept</b>", "text/html");
    let (mut program, mut output) = start(&screen, "paste");
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    wait_for("the paste", || (pasted(&screen, "UTF8_STRING") == "ünread").then_some(()));
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    wait_for("the earlier content", || (pasted(&screen, "text/html") == "<b>kept</b>").then_some(()));
    // As of any program that something was copied from: until something else is.
    copy(&screen, "other", "UTF8_STRING");
    wait_for("the watchdog's end", || watchdogs(&screen.display).is_empty().then_some(()));
    assert_eq!(pasted(&screen, "UTF8_STRING"), "other");
}

/// The program that is killed: opens a dialog of GTK 3 by accessibility.
fn asked(display: &str, bus: &str) {
    let options = Options {
        watchdog: vec![itself(), "as-watchdog".into()],
        display: Some(display.into()),
        session_bus: Some(bus.into()),
        own_pid: 0x7fff_fff0,
        ..Options::default()
    };
    let desktop = desktop::open(options);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(stage::menu(&desktop, "Garden", &["File", "Ask..."])).unwrap();
    println!("ready");
    let _killed = std::io::stdin().read_line(&mut String::new());
}

fn a_dialog_takes_keys_when_its_opener_was_killed() {
    a_dialog_takes_keys_after(|opener| opener.kill().unwrap());
}

/// An orderly end drops what a kill leaves to the system.
fn a_dialog_takes_keys_when_its_opener_has_ended() {
    a_dialog_takes_keys_after(|opener| drop(opener.stdin.take()));
}

fn a_dialog_takes_keys_after(end: impl Fn(&mut std::process::Child)) {
    let mut stage = stage::Stage::open();
    stage.start_ours("gtk3", "garden");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let desktop = stage.desktop();
        stage::elements(&desktop, "Garden", |seen| stage::find_in(seen, "menu", "File").is_some()).await;
        let mut command = Command::new(itself());
        command.args(["asked", &stage.display, &stage.bus]).env("DISPLAY", &stage.display);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut opener = Program(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(opener.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        wait_for("the keeper", || watchdogs(&stage.display).first().copied());
        end(&mut opener.0);
        opener.0.wait().unwrap();
        let ask = || async { desktop.glance().await.unwrap() };
        stage::eventually("the dialog", ask, |now| now.active_title() == Some("Question")).await;
        desktop.act(Action::Type { text: "one\n".into() }, token()).await.unwrap();
        let logged = || async { stage.said("gtk3") };
        stage::eventually("the answer", logged, |lines| lines.contains(&"answered=one".into())).await;
        // It stays for as long as the application, and no longer.
        assert_eq!(watchdogs(&stage.display).len(), 1);
        let display = stage.display.clone();
        drop(stage);
        wait_for("the keeper's end", || watchdogs(&display).is_empty().then_some(()));
    });
}

fn pasted(screen: &Screen, target: &str) -> String {
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard", "-o", "-t", target, "-display", &screen.display]);
    String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap()
}

fn copy(screen: &Screen, text: &str, target: &str) {
    let file = screen.home().join("copied");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard", "-in", "-t", target, "-display", &screen.display]).arg(&file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    wait_for("the copy", || (pasted(screen, target) == text).then_some(()));
}
