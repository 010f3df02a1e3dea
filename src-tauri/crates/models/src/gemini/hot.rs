//! Responses of Gemini with one part of text, read at once. Pure.

use protocol::turn::Usage;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::forms::{Plain, Values};
use crate::hot::{Only, Words, read};

/// The responses.
pub(super) enum Responses {}

#[derive(PartialEq)]
pub(super) struct Said<'a> {
    pub usage: Option<Usage>,
    pub role: Option<Words<'a>>,
    pub text: String,
    pub is_thought: bool,
    /// The part as it came.
    pub json: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    /// The newer API's.
    #[serde(rename = "event_type")]
    interaction: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    prompt_feedback: Option<IgnoredAny>,
    #[serde(borrow)]
    candidates: Only<Candidate<'a>>,
    usage_metadata: Option<Counts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    finish_reason: Option<IgnoredAny>,
    grounding_metadata: Option<IgnoredAny>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    role: Option<Words<'a>>,
    #[serde(borrow)]
    parts: Only<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part<'a> {
    #[serde(borrow)]
    text: Words<'a>,
    #[serde(default)]
    thought: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Counts {
    #[serde(deserialize_with = "count")]
    prompt_token_count: u64,
    #[serde(deserialize_with = "count")]
    cached_content_token_count: u64,
    #[serde(deserialize_with = "count")]
    candidates_token_count: u64,
    #[serde(deserialize_with = "count")]
    thoughts_token_count: u64,
}

/// What is no count is none: an odd one must not cost the others.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64().unwrap_or_default())
}

impl From<Counts> for Usage {
    /// Each response counts from the beginning of the turn. The prompt's has the cached ones in it already.
    fn from(counts: Counts) -> Self {
        Self {
            input: counts.prompt_token_count,
            cached: counts.cached_content_token_count,
            output: counts.candidates_token_count,
            thinking: counts.thoughts_token_count,
            cache_write: 0,
        }
    }
}

impl Plain for Responses {
    const NAMES: &'static [&'static str] = &[
        "text",
        "role",
        "promptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
    ];
    type Said<'a> = Said<'a>;
    /// Whether there are counts, and whether it is a thought.
    type Same = [bool; 2];

    fn read(data: &str) -> Option<Said<'_>> {
        said(data)
    }

    fn same(said: &Said<'_>) -> Option<[bool; 2]> {
        Some([said.usage.is_some(), said.is_thought])
    }

    fn fill<'a>([counts, is_thought]: [bool; 2], values: &mut Values<'a>) -> Option<Said<'a>> {
        let count = |name| values.count(name).unwrap_or_default();
        let counts = counts.then(|| Counts {
            prompt_token_count: count(2),
            cached_content_token_count: count(3),
            candidates_token_count: count(4),
            thoughts_token_count: count(5),
        });
        let text = values.place(0)?;
        // A part of text has no other braces.
        let start = memchr::memrchr(b'{', values.data.get(..text.start)?)?;
        let end = text.end + memchr::memchr(b'}', values.data.get(text.end..)?)? + 1;
        let json = std::str::from_utf8(values.data.get(start..end)?).ok()?;
        let role = values.words(1);
        Some(Said { usage: counts.map(Usage::from), role, is_thought, json, text: values.words(0)?.said()? })
    }
}

fn said(data: &str) -> Option<Said<'_>> {
    let Response { interaction: None, error: None, prompt_feedback: None, candidates, usage_metadata } =
        read(data)?
    else {
        return None;
    };
    let Candidate { finish_reason: None, grounding_metadata: None, content } = candidates.0 else {
        return None;
    };
    let json = content.parts.0.get();
    let Part { text, thought } = serde_json::from_str(json).ok()?;
    Some(Said {
        usage: usage_metadata.map(Usage::from),
        role: content.role,
        text: text.said()?,
        is_thought: thought,
        json,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Forms;

    #[test]
    fn a_form_is_kept_of_texts_and_thoughts() {
        let data = |part: &str, count: u64| {
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{{part}}}],"role":"model"}},"index":0}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":{count},"totalTokenCount":{count},"promptTokensDetails":[{{"modality":"TEXT","tokenCount":380}}]}},"modelVersion":"m","responseId":"r"}}"#
            )
        };
        let kinds: [&dyn Fn(&str) -> String; 3] = [
            &|text| format!(r#""text":{text}"#),
            &|text| format!(r#""text":{text},"thought":true"#),
            &|text| format!(r#""thought": true, "text": {text} "#),
        ];
        for kind in kinds {
            let mut forms = Forms::<Responses>::new();
            forms.read(data(&kind(r#""a""#), 1).as_bytes());
            let part = kind(r#""b}\"\n""#);
            let next = data(&part, 2);
            assert!(forms.fits(&next), "{part}");
            assert_eq!(forms.read(next.as_bytes()).unwrap().json, format!("{{{part}}}"));
            assert!(forms.read(data(&kind(r#""\ud83d""#), 3).as_bytes()).is_none(), "{part}");
        }
    }

    #[test]
    fn a_part_of_text_and_nothing_else_is_read_at_once() {
        let data = |part: &str, more: &str| {
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0{more}}}],"usageMetadata":{{"promptTokenCount":9,"promptTokensDetails":[{{}}]}},"modelVersion":"m"}}"#
            )
        };
        for (part, says, thinks) in [
            (r#"{ "text": "a\n", "thought":true}"#, "a\n", true),
            (r#"{"thought" : true ,"text":"}\"\\" }"#, "}\"\\", true),
            (r#"{"text"  : "{\u00e4" , "thought": false  }"#, "{ä", false),
            (r#"{"text":"}"}"#, "}", false),
            (r#"{"text":"ä\\\\"}"#, "ä\\\\", false),
        ] {
            let data_of_part = data(part, "");
            let Said { usage, role, text, is_thought, json } = said(&data_of_part).unwrap();
            assert_eq!((text.as_str(), is_thought, json), (says, thinks, part));
            assert_eq!(role.as_ref().map(|role| role.0.as_ref()), Some("model"));
            assert_eq!(usage, Some(Usage { input: 9, ..Usage::default() }));
        }
        for (part, more) in [
            (r#"{"text":""}"#, ""),
            (r#"{"text":"a","thoughtSignature":"S"}"#, ""),
            (r#"{"text":"a","text":"b"}"#, ""),
            (r#"{"thought":true}"#, ""),
            (r#"{"functionCall":{}}"#, ""),
            (r#"{"text":"a"},{"text":"b"}"#, ""),
            (r#"{"text":"a"}"#, r#","finishReason":"STOP""#),
            (r#"{"text":"a"}"#, r#","groundingMetadata":{}"#),
        ] {
            assert!(said(&data(part, more)).is_none(), "{part}{more}");
        }
    }
}
