//! Pieces of Anthropic's blocks, read at once. Pure.

use std::borrow::Cow;

use serde::Deserialize;

use crate::hot::{Words, read};

/// What is added to a block.
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Thinking(Cow<'a, str>),
    Input(Cow<'a, str>),
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    text: Option<Words<'a>>,
    #[serde(borrow)]
    thinking: Option<Words<'a>>,
    #[serde(borrow)]
    partial_json: Option<Words<'a>>,
}

/// The piece, and the index of its block.
pub(super) fn piece(data: &str) -> Option<(u64, Piece<'_>)> {
    usual(data).or_else(|| by_fields(data))
}

/// Written as Anthropic writes it, field after field: only the piece itself is left to be read. Whatever else there is
/// stands before or behind it, and then this is no string.
fn usual(data: &str) -> Option<(u64, Piece<'_>)> {
    // One character is found sooner than several.
    let (index, rest) = data.strip_prefix(r#"{"type":"content_block_delta","index":"#)?.split_once(',')?;
    let delta = rest.strip_prefix(r#""delta":{"type":""#)?;
    let is_number =
        index.bytes().all(|byte| byte.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
    let index = index.parse().ok().filter(|_| is_number)?;
    let (kind, rest) = delta.split_once('"')?;
    let words = |name: &str| {
        // Spaces may stand before the last braces.
        let rest = rest.strip_prefix(name)?.trim_end_matches(' ').strip_suffix('}')?;
        let words: Words<'_> = read(rest.trim_end_matches(' ').strip_suffix('}')?)?;
        Some(words.0)
    };
    let piece = match kind {
        "text_delta" => Piece::Text(words(r#","text":"#)?),
        "thinking_delta" => Piece::Thinking(words(r#","thinking":"#)?),
        "input_json_delta" => Piece::Input(words(r#","partial_json":"#)?),
        _ => return None,
    };
    Some((index, piece))
}

fn by_fields(data: &str) -> Option<(u64, Piece<'_>)> {
    let Event { kind, index, delta } = read(data)?;
    if kind.0 != "content_block_delta" {
        return None;
    }
    let piece = match delta.kind.0.as_ref() {
        "text_delta" => Piece::Text(delta.text?.0),
        "thinking_delta" => Piece::Thinking(delta.thinking?.0),
        "input_json_delta" => Piece::Input(delta.partial_json?.0),
        _ => return None,
    };
    Some((index, piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_form_is_read_as_any_other_and_no_other_is_taken_for_it() {
        let event = |index: &str, delta: &str, end: &str| {
            format!(r#"{{"type":"content_block_delta","index":{index},"delta":{{{delta}}}{end}"#)
        };
        let text = |piece: (u64, Piece<'_>)| match piece {
            (index, Piece::Text(text) | Piece::Thinking(text) | Piece::Input(text)) => {
                (index, text.into_owned())
            }
        };
        let usual = |data: &str| super::usual(data).map(text);
        for (index, delta, end) in [
            ("0", r#""type":"text_delta","text":"a\n\u00e4, \"delta\":""#, "}"),
            ("12", r#""type":"thinking_delta","thinking":"""#, "     }"),
            ("3", r#""type":"input_json_delta","partial_json":"{\"x\"}}" "#, " } "),
        ] {
            let data = event(index, delta, end);
            assert!(usual(&data).is_some(), "{data}");
            assert_eq!(usual(&data), super::by_fields(&data).map(text), "{data}");
        }
        let plain = r#""type":"text_delta","text":"a""#;
        for (index, delta, end) in [
            ("+1", plain, "}"),
            ("01", plain, "}"),
            ("", plain, "}"),
            ("1.0", plain, "}"),
            ("1", plain, ""),
            ("1", plain, "}}"),
            ("1", plain, r#","more":"b"}"#),
            ("1", r#""type":"text_delta","text":"a","more":"b""#, "}"),
            ("1", r#""type":"text_delta","text":7"#, "}"),
            ("1", "\"type\":\"text_delta\",\"text\":\"a\tb\"", "}"),
            ("1", r#""type":"text_delta","thinking":"a""#, "}"),
        ] {
            assert_eq!(usual(&event(index, delta, end)), None, "{index} {delta} {end}");
        }
    }

    #[test]
    fn plain_pieces_and_nothing_else_are_read_at_once() {
        let event = |kind: &str, delta: &str| format!(r#"{{"type":"{kind}","index":3,"delta":{{{delta}}}}}"#);
        let piece = |delta: &str| match super::piece(&event("content_block_delta", delta))? {
            (3, Piece::Text(text) | Piece::Thinking(text) | Piece::Input(text)) => Some(text.into_owned()),
            _ => None,
        };
        for (delta, text) in [
            (r#""type":"text_delta","text":"a\n\u00e4""#, "a\n\u{e4}"),
            (r#""type":"thinking_delta","thinking":"b""#, "b"),
            (r#""type":"input_json_delta","partial_json":"{\"x\"""#, "{\"x\""),
        ] {
            assert_eq!(piece(delta).as_deref(), Some(text), "{delta}");
        }
        for delta in [r#""type":"signature_delta","signature":"x""#, r#""type":"text_delta""#, ""] {
            assert_eq!(piece(delta), None, "{delta}");
        }
        assert!(super::piece(&event("another", r#""type":"text_delta","text":"a""#)).is_none());
    }
}
