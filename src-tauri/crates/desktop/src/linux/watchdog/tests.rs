//! Tests of `watchdog`.

use super::*;

#[test]
fn every_word_is_read_as_it_was_written() {
    for word in [
        Message::Down(Down::Key(38)),
        Message::Up(Down::Button(1)),
        Message::Keep(70_000),
        Message::Pair("Miki 12.0 notes of a week".into()),
        Message::Forget,
        Message::End,
    ] {
        assert_eq!(Message::read(&word.line()), Some(word.clone()));
    }
    for nonsense in ["", "down", "down x1", "down k999", "keep many", "sideways k1"] {
        assert_eq!(Message::read(nonsense), None, "{nonsense}");
    }
}
