//! Pieces of the items of Responses, read at once, and what only repeats them. Pure.

use serde::Deserialize;

use crate::forms::{Plain, Values};
use crate::hot::{Words, read};

/// The pieces with their numbers.
pub(super) enum Pieces {}

#[derive(PartialEq)]
pub(super) struct Event {
    /// Counted by the provider.
    pub number: Option<u64>,
    /// Of the item.
    pub place: u64,
    pub piece: Piece,
}

#[derive(PartialEq)]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Arguments(String),
    /// What was said in pieces, once more.
    Repeated,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Arguments,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    sequence_number: Option<u64>,
    output_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Words<'a>>,
}

fn event(data: &str) -> Option<Event> {
    let Read { kind, sequence_number, output_index, delta } = read(data)?;
    let piece = Piece::of(&kind.0, delta.map(|delta| delta.0.into_owned()))?;
    Some(Event { number: sequence_number, place: output_index.unwrap_or_default(), piece })
}

impl Plain for Pieces {
    const NAMES: &'static [&'static str] = &["delta", "sequence_number", "output_index", "obfuscation"];
    type Said<'a> = Event;
    type Same = Kind;

    fn read(data: &str) -> Option<Event> {
        event(data)
    }

    fn same(event: &Event) -> Option<Kind> {
        match event.piece {
            Piece::Text(_) => Some(Kind::Text),
            Piece::Thinking(_) => Some(Kind::Thinking),
            Piece::Arguments(_) => Some(Kind::Arguments),
            Piece::Repeated => None,
        }
    }

    fn fill(kind: Kind, values: &mut Values<'_>) -> Option<Event> {
        let (number, place) = (values.count(1), values.count(2).unwrap_or_default());
        let delta = values.words(0)?.0.into_owned();
        let piece = match kind {
            Kind::Text => Piece::Text(delta),
            Kind::Thinking => Piece::Thinking(delta),
            Kind::Arguments => Piece::Arguments(delta),
        };
        Some(Event { number, place, piece })
    }
}

impl Piece {
    pub(super) fn of(kind: &str, delta: Option<String>) -> Option<Self> {
        Some(match kind {
            "response.output_text.delta" | "response.refusal.delta" => Self::Text(delta?),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Self::Thinking(delta?)
            }
            "response.function_call_arguments.delta" => Self::Arguments(delta?),
            "response.output_text.done"
            | "response.refusal.done"
            | "response.content_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_text.done"
            | "response.function_call_arguments.done" => Self::Repeated,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Forms;

    #[test]
    fn a_form_is_kept_of_each_kind_of_piece() {
        let event = |kind: &str, number: u64, delta: &str| {
            format!(
                r#"{{"type":"response.{kind}.delta","sequence_number":{number},"item_id":"m","output_index":1,"content_index":0,"delta":{delta},"logprobs":[],"obfuscation":"x{number}"}}"#
            )
        };
        for kind in ["output_text", "reasoning_summary_text", "function_call_arguments"] {
            let mut forms = Forms::<Pieces>::new();
            forms.read(event(kind, 7, r#""a""#).as_bytes());
            assert!(forms.fits(&event(kind, 8, r#""b\n""#)), "{kind}");
            assert!(forms.read(event(kind, 9, r#""\ud83d""#).as_bytes()).is_none(), "{kind}");
        }
    }

    #[test]
    fn plain_pieces_and_what_repeats_them_are_read_at_once() {
        let read = |kind: &str, more: &str| {
            let data = format!(r#"{{"type":"response.{kind}","sequence_number":7,"output_index":2{more}}}"#);
            event(&data).map(|event| {
                assert_eq!((event.number, event.place), (Some(7), 2));
                match event.piece {
                    Piece::Text(text) => format!("text {text}"),
                    Piece::Thinking(text) => format!("thinking {text}"),
                    Piece::Arguments(text) => format!("arguments {text}"),
                    Piece::Repeated => "repeated".into(),
                }
            })
        };
        let delta = r#","delta":"a\"b","logprobs":[]"#;
        assert_eq!(read("output_text.delta", delta).as_deref(), Some("text a\"b"));
        assert_eq!(read("reasoning_summary_text.delta", delta).as_deref(), Some("thinking a\"b"));
        assert_eq!(read("function_call_arguments.delta", delta).as_deref(), Some("arguments a\"b"));
        assert_eq!(read("content_part.done", r#","part":{}"#).as_deref(), Some("repeated"));
        for (kind, more) in [("output_text.delta", ""), ("output_item.done", ""), ("completed", delta)] {
            assert_eq!(read(kind, more), None, "{kind}");
        }
    }
}
