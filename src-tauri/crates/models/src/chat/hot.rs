//! Chunks of Chat Completions with one plain piece, read at once. Pure.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::forms::{Plain, Values};
use crate::hot::{Only, Words, read};

/// The chunks.
pub(super) enum Chunks {}

/// What a chunk adds; more than one of them only where servers say a thought twice.
#[derive(PartialEq)]
pub(super) struct Chunk<'a> {
    pub id: Cow<'a, str>,
    pub thinking: Option<String>,
    pub detail: Option<Detail<'a>>,
    pub text: Option<String>,
    /// More of the arguments of a call that was begun, by its number.
    pub arguments: Option<(u64, String)>,
}

/// More of a thought of OpenRouter's.
#[derive(PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Detail<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub text: Words<'a>,
    /// Said once; whoever reads it has it from the first.
    #[serde(rename = "format")]
    _format: IgnoredAny,
    pub index: u64,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    id: Option<Words<'a>>,
    error: Option<IgnoredAny>,
    usage: Option<IgnoredAny>,
    #[serde(borrow)]
    choices: Only<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    delta: Delta<'a>,
    #[serde(borrow)]
    finish_reason: Option<Words<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    reasoning_content: Option<Words<'a>>,
    #[serde(borrow)]
    reasoning: Option<Words<'a>>,
    #[serde(borrow)]
    reasoning_details: Option<Only<Detail<'a>>>,
    refusal: Option<IgnoredAny>,
    #[serde(borrow)]
    content: Option<Words<'a>>,
    annotations: Option<IgnoredAny>,
    #[serde(borrow)]
    tool_calls: Option<Only<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    index: u64,
    id: Option<IgnoredAny>,
    extra_content: Option<IgnoredAny>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    name: Option<IgnoredAny>,
    #[serde(borrow)]
    arguments: Words<'a>,
}

impl Plain for Chunks {
    const NAMES: &'static [&'static str] =
        &["id", "content", "reasoning_content", "reasoning", "text", "type", "arguments", "created"];
    type Said<'a> = Chunk<'a>;
    /// The numbers of the thought and of the call.
    type Same = [Option<u64>; 2];

    fn read(data: &str) -> Option<Chunk<'_>> {
        chunk(data)
    }

    fn same(chunk: &Chunk<'_>) -> Option<[Option<u64>; 2]> {
        let detail = chunk.detail.as_ref().map(|detail| detail.index);
        Some([detail, chunk.arguments.as_ref().map(|(number, _)| *number)])
    }

    fn fill<'a>([detail, call]: [Option<u64>; 2], values: &mut Values<'a>) -> Option<Chunk<'a>> {
        let id = values.words(0).map_or(Cow::Borrowed(""), |id| id.0);
        let [content, first, second] = [1, 2, 3].map(|name| values.words(name).and_then(Words::said));
        let detail = match detail {
            None => None,
            Some(index) => {
                let (kind, text) = (values.words(5)?, values.words(4)?);
                Some(Detail { kind, text, _format: IgnoredAny, index })
            }
        };
        let arguments = match call {
            None => None,
            Some(number) => Some((number, values.words(6)?.0.into_owned())),
        };
        Some(Chunk { id, thinking: first.or(second), detail, text: content, arguments })
    }
}

fn chunk(data: &str) -> Option<Chunk<'_>> {
    let Read { id, error: None, usage: None, choices: Only(choice) } = read(data)? else {
        return None;
    };
    let Choice { error: None, delta, finish_reason: None } = choice else { return None };
    let Delta { refusal: None, annotations: None, .. } = delta else { return None };
    let arguments = match delta.tool_calls {
        None => None,
        Some(Only(Call {
            index,
            id: None,
            extra_content: None,
            function: Function { name: None, arguments },
        })) => Some((index, arguments.0.into_owned())),
        Some(_) => return None,
    };
    let said = |words: Option<Words<'_>>| words.and_then(Words::said);
    Some(Chunk {
        id: id.map_or(Cow::Borrowed(""), |id| id.0),
        thinking: said(delta.reasoning_content).or_else(|| said(delta.reasoning)),
        detail: delta.reasoning_details.map(|details| details.0),
        text: said(delta.content),
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Forms;

    fn told(delta: &str, more: &str) -> Option<[Option<String>; 3]> {
        let data = format!(
            r#"{{"id":"x","error":null,"choices":[{{"index":0,"delta":{{{delta}}},"finish_reason":null,"logprobs":null}}]{more}}}"#
        );
        let Chunk { id, thinking, text, arguments, .. } = chunk(&data)?;
        assert_eq!(id, "x");
        Some([thinking, text, arguments.map(|(number, json)| format!("{number} {json}"))])
    }

    #[test]
    fn chunks_of_one_plain_piece_are_read_at_once() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(told(r#""role":"assistant","content":"a\n""#, ""), Some([None, some("a\n"), None]));
        assert_eq!(told(r#""content":null,"reasoning_content":"b""#, ""), Some([some("b"), None, None]));
        let thought = r#""content":"","reasoning":"c","reasoning_details":[{"type":"reasoning.text","text":"c","format":null,"index":0}]"#;
        assert_eq!(told(thought, ""), Some([some("c"), None, None]));
        let call = r#""tool_calls":[{"index":1,"function":{"arguments":"{}"}}]"#;
        assert_eq!(told(call, ""), Some([None, None, some("1 {}")]));
    }

    #[test]
    fn a_form_is_kept_of_each_kind_of_chunk() {
        let chunk = |created: u64, delta: &str| {
            format!(
                r#"{{"id":"x","created":{created},"choices":[{{"index":0,"delta":{{{delta}}},"finish_reason":null}}]}}"#
            )
        };
        let thought = |text: &str| {
            format!(
                r#""content":"","reasoning":{text},"reasoning_details":[{{"type":"reasoning.text","text":{text},"format":"f","index":0}}]"#
            )
        };
        let kinds: [&dyn Fn(&str) -> String; 5] = [
            &|text| format!(r#""content":{text}"#),
            &|text| format!(r#""role":"assistant","content":null,"reasoning_content":{text}"#),
            &|text| format!(r#""tool_calls":[{{"index":1,"function":{{"arguments":{text}}}}}]"#),
            &|text| {
                format!(r#""tool_calls":[{{"index":1,"type":"function","function":{{"arguments":{text}}}}}]"#)
            },
            &thought,
        ];
        for kind in kinds {
            let mut forms = Forms::<Chunks>::new();
            forms.read(chunk(1, &kind(r#""a""#)).as_bytes());
            assert!(forms.fits(&chunk(2, &kind(r#""b\n""#))), "{}", kind(""));
            assert!(forms.read(chunk(3, &kind(r#""\ud83d""#)).as_bytes()).is_none(), "{}", kind(""));
        }
        // A field of that name elsewhere, which the usual one hides until it is empty.
        let mut forms = Forms::<Chunks>::new();
        let event = |text: &str| {
            format!(r#"{{"choices":[{{"delta":{{"reasoning_content":"{text}"}},"reasoning":"z"}}]}}"#)
        };
        forms.read(event("a").as_bytes());
        assert!(!forms.fits(&event("b")));
    }

    #[test]
    fn chunks_with_more_in_them_are_read_the_long_way() {
        for delta in [
            r#""tool_calls":[{"index":0,"id":"a","function":{"name":"click","arguments":""}}]"#,
            r#""tool_calls":[{"index":0,"function":{"arguments":""}},{"index":1,"function":{"arguments":""}}]"#,
            r#""reasoning_details":[{"type":"reasoning.text","signature":"S","index":0}]"#,
            r#""refusal":"no""#,
            r#""content":["a"]"#,
        ] {
            assert_eq!(told(delta, ""), None, "{delta}");
        }
        assert_eq!(told(r#""content":"a""#, r#","usage":{"prompt_tokens":1}"#), None);
        assert!(chunk(r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#).is_none());
    }
}
