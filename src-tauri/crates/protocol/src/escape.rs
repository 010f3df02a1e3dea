//! Makes every character of a text visible, so that nobody approves what they cannot see; in windows and terminals alike.
//!
//! Bidirectional overrides, zero-width and control characters, tags and look-alike blanks become `\u{202E}`-like
//! escapes, set apart from the text around them. Nothing is cut. What is written from right to left stands alone, so
//! that it turns about nothing beside it.

use serde_json::Value;

/// A stretch of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As written.
    Plain(String),
    /// As written, from right to left: shown apart (`<bdi>`), or it reorders quotes, digits and brackets around it.
    RightToLeft(String),
    /// Stands for one unseen character.
    Escape(String),
}

/// Splits `text` into what can be shown as it is and what must be spelled out. Line breaks are spelled out too.
pub fn visible(text: &str) -> Vec<Piece> {
    pieces(text, false)
}

/// A call's arguments, laid out for reading, every unseen character spelled out. Line breaks are layout only:
/// those inside of values are already `\n` in JSON.
pub fn visible_json(value: &Value) -> Vec<Piece> {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    pieces(&text, true)
}

/// The same as one string, for attributes and titles.
pub fn visible_text(text: &str) -> String {
    let part = |(Piece::Plain(part) | Piece::RightToLeft(part) | Piece::Escape(part))| part;
    visible(text).into_iter().map(part).collect()
}

/// A text to be read as it is, but for the characters that turn others around: they are spelled out.
pub fn untwisted(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if !text.contains(turns) {
        return text.to_owned();
    }
    text.chars().map(|c| if turns(c) { spelled(c) } else { c.into() }).collect()
}

/// The same for a terminal, which shows nothing apart: what is written from right to left is spelled out, too.
pub fn visible_in_order(text: &str) -> String {
    let part = |piece| match piece {
        Piece::Plain(part) | Piece::Escape(part) => part,
        Piece::RightToLeft(part) => part.chars().map(spelled).collect(),
    };
    visible(text).into_iter().map(part).collect()
}

fn pieces(text: &str, lines: bool) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for (at, c) in text.char_indices() {
        if !(lines && c == '\n') && is_unseen(c) {
            out.push(Piece::Escape(spelled(c)));
            continue;
        }
        let goes_on = c == ' ' && text[at + 1..].starts_with(is_right_to_left);
        match (out.last_mut(), is_right_to_left(c)) {
            (Some(Piece::RightToLeft(part)), is) if is || goes_on => part.push(c),
            (_, true) => out.push(Piece::RightToLeft(c.into())),
            (Some(Piece::Plain(part)), false) => part.push(c),
            (_, false) => out.push(Piece::Plain(c.into())),
        }
    }
    out
}

fn spelled(c: char) -> String {
    match c {
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        c => format!("\\u{{{:04X}}}", u32::from(c)),
    }
}

/// Hebrew, Arabic and their neighbours.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// Characters that draw nothing, draw a blank other than the plain ones, or reorder what is around them.
/// U+3000 stays: it is the plain space of Japanese text.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00A0}' | '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{1680}'
            | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}'
            | '\u{2028}'..='\u{202F}' | '\u{205F}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bidi_override_is_spelled_out() {
        assert_eq!(
            visible("rm \u{202E}txt.exe"),
            [Piece::Plain("rm ".into()), Piece::Escape("\\u{202E}".into()), Piece::Plain("txt.exe".into())]
        );
    }

    #[test]
    fn what_is_only_read_keeps_all_but_what_turns_it_around() {
        assert_eq!(untwisted("a \u{202E}gnp.exe\n\u{200D}אב"), "a \\u{202E}gnp.exe\n\u{200D}אב");
        assert_eq!(untwisted("plain"), "plain");
    }

    #[test]
    fn letters_from_right_to_left_turn_about_nothing_beside_them() {
        let plain = |text: &str| Piece::Plain(text.into());
        let apart = |text: &str| Piece::RightToLeft(text.into());
        let shown = visible_json(&json!({ "to": "אב גד", "not": "ه 1" }));
        assert_eq!(
            shown,
            [
                plain("{\n  \"to\": \""),
                apart("אב גד"),
                plain("\",\n  \"not\": \""),
                apart("ه"),
                plain(" 1\"\n}")
            ]
        );
        assert_eq!(visible_in_order("a אב 1"), r"a \u{05D0}\u{05D1} 1");
    }

    #[test]
    fn zero_width_tag_and_control_characters_are_spelled_out() {
        let hidden = "a\u{200B}b\u{E0041}c\u{1b}[31m\u{feff}\u{3164}";
        assert_eq!(visible_text(hidden), r"a\u{200B}b\u{E0041}c\u{001B}[31m\u{FEFF}\u{3164}");
    }

    #[test]
    fn ordinary_text_in_any_script_is_left_alone() {
        for text in ["Save as haiku.txt", "秋の暮れ　静か", "مرحبا", "né", "🍁"] {
            assert_eq!(visible_text(text), text);
        }
    }

    #[test]
    fn ten_thousand_newlines_in_an_argument_stay_one_line() {
        let text = visible_json(&json!({"text": format!("ok{}rm -rf", "\n".repeat(10_000))}));
        assert_eq!(text.len(), 1);
        let [Piece::Plain(text)] = text.as_slice() else { panic!("{text:?}") };
        assert_eq!((text.lines().count(), text.contains("rm -rf")), (3, true));
    }

    #[test]
    fn arguments_are_shown_whole() {
        let long = "x".repeat(100_000);
        let shown: usize = visible_json(&json!({ "text": long }))
            .iter()
            .map(|p| match p {
                Piece::Plain(part) | Piece::RightToLeft(part) | Piece::Escape(part) => part.len(),
            })
            .sum();
        assert!(shown > 100_000);
    }

    #[test]
    fn an_escape_typed_as_text_is_told_from_a_real_one() {
        let typed = visible_json(&json!("\\u{202E}"));
        assert_eq!(typed, [Piece::Plain(r#""\\u{202E}""#.into())]);
    }
}
