//! Responses of Gemini with one part of text, read at once. Pure.

use std::fmt;

use protocol::turn::Usage;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::hot::{Only, Words, read};

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
    parts: Only<Part<'a>>,
}

/// A part of text, and its first and last names where they stand: what goes back is the part as it came, and reading it
/// once for its meaning and once for its bytes would take twice as long.
struct Part<'a> {
    text: Words<'a>,
    is_thought: bool,
    names: [&'a str; 2],
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Part<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part of text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Part<'de>, A::Error> {
                let (mut text, mut thought, mut first, mut last) = (None, None, None, "");
                while let Some(name) = fields.next_key::<&'de str>()? {
                    match name {
                        "text" if text.is_none() => text = Some(fields.next_value()?),
                        "thought" if thought.is_none() => thought = Some(fields.next_value()?),
                        _ => return Err(A::Error::custom("more than text")),
                    }
                    first.get_or_insert(name);
                    last = name;
                }
                let (Some(text), Some(first)) = (text, first) else {
                    return Err(A::Error::missing_field("text"));
                };
                Ok(Part { text, is_thought: thought.unwrap_or_default(), names: [first, last] })
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Part<'_> {
    /// The part as it stands in `data`, which it was read from.
    fn json<'a>(&self, data: &'a str) -> Option<&'a str> {
        let place = |name: &str| (name.as_ptr() as usize).checked_sub(data.as_ptr() as usize);
        let [first, last] = self.names;
        // Before the first name there is nothing but its quote and spaces.
        let start = data.get(..place(first)?)?.rfind('{')?;
        let value =
            data.get(place(last)? + last.len() + 1..)?.trim_start_matches([' ', '\n', '\r', '\t', ':']);
        let rest = value.strip_prefix('"').map_or(Some(value), after_string)?;
        let end = data.len() - rest.len() + rest.find('}')? + 1;
        data.get(start..end)
    }
}

/// What follows a string whose first quote is not there any more.
fn after_string(mut rest: &str) -> Option<&str> {
    loop {
        let at = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        if rest.as_bytes()[at] == b'"' {
            return rest.get(at + 1..);
        }
        // What is escaped is a character of one byte.
        rest = rest.get(at + 2..)?;
    }
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

pub(super) fn said(data: &str) -> Option<Said<'_>> {
    let Response { interaction: None, error: None, prompt_feedback: None, candidates, usage_metadata } =
        read(data)?
    else {
        return None;
    };
    let Candidate { finish_reason: None, grounding_metadata: None, content } = candidates.0 else {
        return None;
    };
    let part = content.parts.0;
    Some(Said {
        usage: usage_metadata.map(Usage::from),
        role: content.role,
        json: part.json(data)?,
        is_thought: part.is_thought,
        text: part.text.said()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
