//! Tests of `watchdog`.

use std::path::Path;

use super::*;
use crate::Key;

const SHIFT: Down = Down::Key(Key::Shift);
const LEFT: Down = Down::Button(Button::Left);

/// A watchdog that writes down what it hears.
fn watchdog(shell: &str, file: &Path) -> Watchdog {
    let shell = shell.replace("FILE", &file.display().to_string());
    Watchdog::new(["sh", "-c", &shell].map(str::to_owned).to_vec())
}

fn wait_for(file: &Path, wanted: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text == wanted {
            return;
        }
        assert!(Instant::now() < end, "heard {text:?} instead of {wanted:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn every_word_is_read_as_it_was_written() {
    let keys = [Key::Shift, Key::Char('é'), Key::Char('k'), Key::F(12), Key::Space].map(Down::Key);
    let buttons = [Button::Left, Button::Middle, Button::Right].map(Down::Button);
    for what in keys.into_iter().chain(buttons) {
        for word in [Message::Down(what), Message::Up(what)] {
            assert_eq!(Message::read(&word.line()), Some(word));
        }
    }
    for nonsense in ["", "down", "down kShift", "down b9\n", "down kno-such-key\n", "sideways kShift\n"] {
        assert_eq!(Message::read(nonsense), None, "{nonsense:?}");
    }
}

#[test]
fn what_is_down_at_the_end_of_the_pipe_is_heard_last_pressed_first() {
    let ends = |text: &str| heard(text.as_bytes());
    assert_eq!(ends("down kShift\ndown b1\ndown b1\n"), [LEFT, SHIFT]);
    assert_eq!(ends("down kShift\ndown b1\nup kShift\n"), [LEFT]);
    assert_eq!(ends("down kShift\nup kShift\n"), []);
    // Killed within a word: what was heard before counts.
    assert_eq!(ends("down kShift\ndown b"), [SHIFT]);
    assert_eq!(ends(""), []);
}

// bar: C14
#[test]
fn the_guard_gets_nothing_of_our_environment_but_what_is_on_the_list() {
    // By cargo, and on no list.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let watchdog = watchdog("env | grep -c ^CARGO_ > FILE; cat > /dev/null", &file);
    watchdog.down(SHIFT);
    wait_for(&file, "0\n");
}

#[test]
fn the_guard_has_heard_of_a_press_when_telling_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let watchdog = watchdog("cat > FILE", &file);
    watchdog.down(SHIFT);
    watchdog.down(LEFT);
    watchdog.down(LEFT);
    watchdog.only(&[SHIFT]);
    watchdog.only(&[SHIFT]);
    wait_for(&file, "down kShift\ndown b1\nup b1\n");
    assert_eq!(heard(std::fs::read(&file).unwrap().as_slice()), [SHIFT]);
}

#[test]
fn the_guards_pipe_ends_with_this_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let watchdog = watchdog("cat > FILE; echo end >> FILE", &file);
    watchdog.down(SHIFT);
    drop(watchdog);
    wait_for(&file, "down kShift\nend\n");
}

#[test]
fn a_guard_that_died_is_replaced_at_the_next_press_and_told_everything() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let watchdog = watchdog("head -n 1 >> FILE; exec <&-; echo gone >> FILE", &file);
    watchdog.down(SHIFT);
    wait_for(&file, "down kShift\ngone\n");
    let end = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(&file).unwrap().matches("down kShift").count() < 2 {
        assert!(Instant::now() < end, "{:?}", std::fs::read_to_string(&file));
        watchdog.only(&[SHIFT]);
        watchdog.down(LEFT);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn without_a_command_there_is_no_guard() {
    let none = Watchdog::new(Vec::new());
    none.down(SHIFT);
    none.only(&[]);
    assert!(none.0.is_none());
}
