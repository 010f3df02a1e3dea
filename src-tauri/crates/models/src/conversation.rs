//! The conversation as every wire tells it: who said what, with names for calls that have none. Pure.
//!
//! A turn goes back to its own provider as the text that came; to another it is told in neutral form.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::computer::Computer;
use crate::{Image, Message, Part, ProposedCall, Request, ToolAnswer, Turn};

/// Who is asked, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// Whose own turns go back as they came.
    pub provider: &'a str,
    pub model: &'a str,
    pub options: &'a Options,
}

/// What may be chosen for a model, beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Summaries of the model's thinking are asked for.
    pub thinking: bool,
    /// The provider's own search of the web, where it has one.
    pub search: bool,
    /// The longest answer, in tokens; the provider's own bound where there is none.
    pub max_output: Option<u32>,
    /// How much a local server keeps in view, in tokens.
    pub context: Option<u32>,
    /// The vendor's own computer tool, in place of those of ours that it stands for.
    pub computer: Option<Computer>,
    /// How finely Gemini looks at pictures.
    pub media_resolution: Option<MediaResolution>,
}

/// Tokens that a picture costs with Gemini 3: 280, 560, 1120, 2240.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaResolution {
    Low,
    Medium,
    High,
    UltraHigh,
}

/// One message, ready to be told.
pub(crate) enum Said<'a> {
    User(&'a [Part]),
    /// The provider's own turn, as JSON text.
    Own(Cow<'a, str>),
    Assistant {
        text: &'a str,
        calls: Vec<(String, &'a ProposedCall)>,
    },
    Answers {
        answers: Vec<(String, &'a ToolAnswer)>,
        /// The turn that they are to, where it goes back as its provider wrote it.
        own: Option<Cow<'a, str>>,
    },
}

/// All messages in their order, but for those that say nothing: no provider takes an empty one.
pub(crate) fn said<'a>(request: &'a Request, provider: &str) -> Vec<Said<'a>> {
    let mut all = Vec::with_capacity(request.messages.len());
    let mut ids: Vec<String> = Vec::new();
    let mut last: Option<Cow<'a, str>> = None;
    for (at, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(parts) if parts.iter().all(is_nothing) => {}
            Message::User(parts) => all.push(Said::User(parts)),
            Message::Assistant(turn) => {
                let own = own(turn, provider);
                ids = names(turn, at, own.is_some());
                last.clone_from(&own);
                let calls: Vec<_> = ids.iter().cloned().zip(&turn.calls).collect();
                match own {
                    Some(json) => all.push(Said::Own(json)),
                    None if turn.text.trim().is_empty() && calls.is_empty() => {}
                    None => all.push(Said::Assistant { text: &turn.text, calls }),
                }
            }
            Message::ToolResults(answers) if answers.is_empty() => {}
            Message::ToolResults(answers) => {
                all.push(Said::Answers { answers: named(answers, &ids, at), own: last.clone() });
            }
        }
    }
    all
}

/// Messages of the user, from the end, whose end is marked where a cache wants marks: the newest is written, the one
/// before is found again.
const MARKED: usize = 2;

/// Which of the messages end in such a mark.
pub(crate) fn marked(all: &[Said<'_>]) -> Vec<bool> {
    let mut left = MARKED;
    let mut marked = vec![false; all.len()];
    for (said, mark) in all.iter().zip(&mut marked).rev() {
        *mark = left > 0 && matches!(said, Said::User(_) | Said::Answers { .. });
        left -= usize::from(*mark);
    }
    marked
}

/// The field that marks what to cache, in Anthropic's way.
pub(crate) const MARK: &str = "cache_control";

pub(crate) fn mark_value() -> Value {
    json!({ "type": "ephemeral" })
}

/// The part of a body with such a mark.
pub(crate) fn mark(part: &mut Value) {
    part[MARK] = mark_value();
}

/// The turn as its own provider wrote it.
pub(crate) fn own<'a>(turn: &'a Turn, provider: &str) -> Option<Cow<'a, str>> {
    if turn.provider != provider {
        return None;
    }
    match &turn.raw {
        Value::Null => None,
        // What was damaged on the disk must not spoil the request.
        Value::String(json) => {
            serde_json::from_str::<IgnoredAny>(json).is_ok().then_some(Cow::Borrowed(json.as_str()))
        }
        // As Gemini's turns were kept once.
        value => {
            let has_parts = value["parts"].as_array().is_some_and(|parts| !parts.is_empty());
            has_parts.then(|| Cow::Owned(value.to_string()))
        }
    }
}

fn is_nothing(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.trim().is_empty())
}

/// Names of a turn's calls: the provider's own; where it gave none that others take, one made of the place.
fn names(turn: &Turn, at: usize, is_own: bool) -> Vec<String> {
    let name = |(index, call): (usize, &ProposedCall)| match &call.id {
        Some(id) if is_own || is_name(id) => id.clone(),
        _ => format!("call_{at}_{index}"),
    };
    turn.calls.iter().enumerate().map(name).collect()
}

/// What every provider takes as a call's name.
fn is_name(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&id.len()) && id.bytes().all(plain)
}

/// Answers stand in the order of the calls before them.
fn named<'a>(answers: &'a [ToolAnswer], ids: &[String], at: usize) -> Vec<(String, &'a ToolAnswer)> {
    let name = |(index, answer): (usize, &'a ToolAnswer)| {
        let in_order = ids.get(index).filter(|_| ids.len() == answers.len()).cloned();
        let id = in_order.or_else(|| answer.id.clone());
        (id.unwrap_or_else(|| format!("call_{}_{index}", at.saturating_sub(1))), answer)
    };
    answers.iter().enumerate().map(name).collect()
}

pub(crate) fn base64(image: &Image) -> String {
    STANDARD.encode(&image.bytes)
}

pub(crate) fn data_url(image: &Image) -> String {
    let mut url = format!("data:{};base64,", image.media_type);
    STANDARD.encode_string(&image.bytes, &mut url);
    url
}

/// Arguments for wires that take objects only; what is none is wrapped.
pub(crate) fn object<'a>(value: &'a Value, name: &str) -> Cow<'a, Value> {
    match value {
        Value::Object(_) => Cow::Borrowed(value),
        Value::Null => Cow::Owned(json!({})),
        other => Cow::Owned(json!({ name: other })),
    }
}
