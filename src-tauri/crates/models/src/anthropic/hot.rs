//! Pieces of Anthropic's blocks, read at once. Pure.

use std::borrow::Cow;

use serde::Deserialize;

use crate::forms::{Plain, Values};
use crate::hot::{Words, read};

/// The pieces, each with the index of its block.
pub(super) enum Pieces {}

/// What is added to a block.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Thinking(Cow<'a, str>),
    Input(Cow<'a, str>),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Input,
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

impl Plain for Pieces {
    const NAMES: &'static [&'static str] = &["index", "text", "thinking", "partial_json"];
    type Said<'a> = (u64, Piece<'a>);
    type Same = Kind;

    fn read(data: &str) -> Option<(u64, Piece<'_>)> {
        piece(data)
    }

    fn same((_, piece): &(u64, Piece<'_>)) -> Option<Kind> {
        Some(match piece {
            Piece::Text(_) => Kind::Text,
            Piece::Thinking(_) => Kind::Thinking,
            Piece::Input(_) => Kind::Input,
        })
    }

    fn fill<'a>(kind: Kind, values: &mut Values<'a>) -> Option<(u64, Piece<'a>)> {
        let piece = match kind {
            Kind::Text => Piece::Text(values.words(1)?.0),
            Kind::Thinking => Piece::Thinking(values.words(2)?.0),
            Kind::Input => Piece::Input(values.words(3)?.0),
        };
        Some((values.count(0)?, piece))
    }
}

fn piece(data: &str) -> Option<(u64, Piece<'_>)> {
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
    use crate::forms::Forms;

    #[test]
    fn a_form_is_kept_of_each_kind_of_piece() {
        let event =
            |delta: &str| format!(r#"{{"type":"content_block_delta","index":3,"delta":{{{delta}}}}}"#);
        for kind in [
            r#""type":"text_delta","text":"#,
            r#""type":"thinking_delta","thinking":"#,
            r#""type":"input_json_delta","partial_json":"#,
        ] {
            let mut forms = Forms::<Pieces>::new();
            forms.read(event(&format!(r#"{kind}"a""#)).as_bytes());
            assert!(forms.fits(&event(&format!(r#"{kind}"b\n""#))), "{kind}");
            // No character at all.
            assert!(forms.read(event(&format!(r#"{kind}"\ud83d""#)).as_bytes()).is_none(), "{kind}");
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
