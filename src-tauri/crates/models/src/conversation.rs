//! The conversation in the form that all wires share, with ids for calls that have none. Pure.
//!
//! A turn goes back to its own provider as the text that came; to another it is written from its neutral form.

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
    /// The turns of this provider go back as they came.
    pub provider: &'a str,
    pub model: &'a str,
    pub options: &'a Options,
}

/// What may be chosen for a model, beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Summaries of the model's thinking are asked for.
    pub thinking: bool,
    /// Lets the provider search the web by itself. Not every provider can.
    pub search: bool,
    /// Tools that the model gets later on are told of at once, deferred, see [`crate::deferral`].
    pub defer_tools: bool,
    /// The longest answer, in tokens. `None` for the provider's own limit.
    pub max_output: Option<u32>,
    /// The context window of a local server, in tokens.
    pub context: Option<u32>,
    /// The vendor's own computer tool, declared in place of the tools of ours that it replaces.
    pub computer: Option<Computer>,
    /// The resolution at which Gemini reads pictures.
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

impl Target<'_> {
    /// The longest answer to a request, in tokens. `None` for the provider's own limit.
    pub fn max_output(&self, request: &Request) -> Option<u32> {
        self.options.max_output.into_iter().chain(request.max_output).min()
    }
}

/// One message of the conversation, ready to be written.
pub(crate) enum Entry<'a> {
    User(&'a [Part]),
    /// The provider's own turn, as JSON text.
    Own(Cow<'a, str>),
    Assistant {
        text: &'a str,
        calls: Vec<(String, &'a ProposedCall)>,
    },
    Answers {
        answers: Vec<(String, &'a ToolAnswer)>,
        /// The turn that they answer, as JSON text. `None` if it is not written as its provider wrote it.
        own: Option<Cow<'a, str>>,
    },
}

/// All messages in their order but for empty ones, which no provider takes.
pub(crate) fn entries<'a>(request: &'a Request, provider: &str) -> Vec<Entry<'a>> {
    let mut all = Vec::with_capacity(request.messages.len());
    let mut ids: Vec<String> = Vec::new();
    let mut last: Option<Cow<'a, str>> = None;
    for (at, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(parts) if parts.iter().all(is_nothing) => {}
            Message::User(parts) => all.push(Entry::User(parts)),
            Message::Assistant(turn) => {
                let own = own(turn, provider);
                ids = names(turn, at, own.is_some());
                last.clone_from(&own);
                let calls: Vec<_> = ids.iter().cloned().zip(&turn.calls).collect();
                match own {
                    Some(json) => all.push(Entry::Own(json)),
                    None if turn.text.trim().is_empty() && calls.is_empty() => {}
                    None => all.push(Entry::Assistant { text: &turn.text, calls }),
                }
            }
            Message::ToolResults(answers) if answers.is_empty() => {}
            Message::ToolResults(answers) => {
                all.push(Entry::Answers { answers: named(answers, &ids, at), own: last.clone() });
            }
        }
    }
    all
}

/// How many of the newest messages of the user get a cache mark: the cache is written up to the last one, and read up
/// to the one before.
const MARKED: usize = 2;

/// Whether each message ends in a cache mark.
pub(crate) fn marked(all: &[Entry<'_>]) -> Vec<bool> {
    let mut left = MARKED;
    let mut marked = vec![false; all.len()];
    for (entry, mark) in all.iter().zip(&mut marked).rev() {
        *mark = left > 0 && matches!(entry, Entry::User(_) | Entry::Answers { .. });
        left -= usize::from(*mark);
    }
    marked
}

/// The field of a cache mark, in Anthropic's form.
pub(crate) const MARK: &str = "cache_control";

pub(crate) fn mark_value() -> Value {
    json!({ "type": "ephemeral" })
}

/// Adds a cache mark.
pub(crate) fn mark(part: &mut Value) {
    part[MARK] = mark_value();
}

/// The JSON text that this provider wrote of the turn. `None` if another wrote it, or if it is damaged.
pub(crate) fn own<'a>(turn: &'a Turn, provider: &str) -> Option<Cow<'a, str>> {
    if turn.provider != provider {
        return None;
    }
    match &turn.raw {
        Value::Null => None,
        Value::String(json) => {
            serde_json::from_str::<IgnoredAny>(json).is_ok().then_some(Cow::Borrowed(json.as_str()))
        }
        // Gemini's turns in sessions of the first versions.
        value => {
            let has_parts = value["parts"].as_array().is_some_and(|parts| !parts.is_empty());
            has_parts.then(|| Cow::Owned(value.to_string()))
        }
    }
}

fn is_nothing(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.trim().is_empty())
}

/// Ids of a turn's calls: the provider's own, or made from the position if it gave none that other providers take.
fn names(turn: &Turn, at: usize, is_own: bool) -> Vec<String> {
    let name = |(index, call): (usize, &ProposedCall)| match &call.id {
        Some(id) if is_own || is_name(id) => id.clone(),
        _ => format!("call_{at}_{index}"),
    };
    turn.calls.iter().enumerate().map(name).collect()
}

/// Whether every provider takes this as a call's id.
fn is_name(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&id.len()) && id.bytes().all(plain)
}

/// Answers with the ids of their calls, which stand in the same order.
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

/// Arguments for wires that take only objects: anything else is put into an object, under `name`.
pub(crate) fn object<'a>(value: &'a Value, name: &str) -> Cow<'a, Value> {
    match value {
        Value::Object(_) => Cow::Borrowed(value),
        Value::Null => Cow::Owned(json!({})),
        other => Cow::Owned(json!({ name: other })),
    }
}
