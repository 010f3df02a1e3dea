//! What is taken from the words of a task. Pure.

use anyhow::{Context as _, Result};

/// What stands between quotation marks, in order.
pub fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

pub fn first_quoted(text: &str) -> Result<&str> {
    quoted(text).first().copied().with_context(|| format!("nothing is quoted in {text:?}"))
}

/// What stands between two pieces of text; to the end where the second is empty.
pub fn between<'a>(text: &'a str, start: &str, end: &str) -> Result<&'a str> {
    let found = text.split_once(start).map(|(_, rest)| rest).and_then(|rest| {
        if end.is_empty() { Some(rest) } else { rest.split_once(end).map(|(found, _)| found) }
    });
    found.map(str::trim).with_context(|| format!("{text:?} has nothing between {start:?} and {end:?}"))
}

/// 0 for the first "1st", "2nd", "3rd", "4th" ... in the text.
pub fn ordinal(text: &str) -> Result<usize> {
    ordinals(text).first().copied().with_context(|| format!("{text:?} names no place"))
}

pub fn ordinals(text: &str) -> Vec<usize> {
    let place = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
        digits.parse::<usize>().ok()?.checked_sub(1)
    };
    text.split_whitespace().filter_map(place).collect()
}

/// The whole numbers in a text.
pub fn numbers(text: &str) -> Vec<i64> {
    let number = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').parse().ok();
    text.split(|c: char| c.is_whitespace() || ",[]".contains(c)).filter_map(number).collect()
}

/// The first whole number.
pub fn number(text: &str) -> Result<i64> {
    numbers(text).first().copied().with_context(|| format!("{text:?} has no number"))
}

/// The colours that tasks name.
const COLOURS: [(&str, &str); 22] = [
    ("aqua", "#00ffff"),
    ("black", "#000000"),
    ("blue", "#0000ff"),
    ("cyan", "#00ffff"),
    ("gold", "#ffd700"),
    ("gray", "#808080"),
    ("green", "#008000"),
    ("grey", "#808080"),
    ("lime", "#00ff00"),
    ("magenta", "#ff00ff"),
    ("maroon", "#800000"),
    ("navy", "#000080"),
    ("olive", "#808000"),
    ("orange", "#ffa500"),
    ("pink", "#ffc0cb"),
    ("purple", "#800080"),
    ("red", "#ff0000"),
    ("silver", "#c0c0c0"),
    ("teal", "#008080"),
    ("white", "#ffffff"),
    ("yellow", "#ffff00"),
    ("violet", "#ee82ee"),
];

/// `#ff0000` for red.
pub fn colour(name: &str) -> Option<&'static str> {
    COLOURS.iter().find(|(word, _)| *word == name).map(|(_, code)| *code)
}

/// The colour that a hint tells.
pub fn colour_in(hint: &str) -> Option<&str> {
    hint.split_once("colour ").map(|(_, code)| code)
}
