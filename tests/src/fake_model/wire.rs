//! The wires: each reads a request into the neutral form, words its refusals, and writes a turn, as its vendor does.
//!
//! Pure: no sockets, no state. A reader refuses what stands where its vendor takes none, pictures above all.

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::turn::Usage;
use serde_json::{Value, json};

use super::MindTurn;
use super::asked::{Asked, Heard};
use super::history::{Flaw, Given};

mod gemini;

mod anthropic;
mod chat;
mod ollama;
mod responses;

/// Whose words are spoken. Each has its own folder on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    Gemini,
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// xAI's Responses: pictures are the user's, and the price is told.
    Xai,
    /// Chat Completions.
    Chat,
    /// OpenRouter's Chat Completions: pictures in tool messages, thoughts that must come back, and the price is told.
    OpenRouter,
    Ollama,
}

impl Wire {
    pub const ALL: [Self; 7] = [
        Self::Gemini,
        Self::Anthropic,
        Self::Responses,
        Self::Xai,
        Self::Chat,
        Self::OpenRouter,
        Self::Ollama,
    ];

    /// The path of the base URL.
    pub fn folder(self) -> &'static str {
        match self {
            // It has the version in its addresses.
            Self::Gemini => "",
            Self::Anthropic => "/anthropic/v1",
            Self::Responses => "/openai/v1",
            Self::Xai => "/xai/v1",
            Self::Chat => "/chat/v1",
            Self::OpenRouter => "/openrouter/api/v1",
            Self::Ollama => "/ollama",
        }
    }

    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Gemini => &gemini::Gemini,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Responses => &responses::Responses::OpenAi,
            Self::Xai => &responses::Responses::Xai,
            Self::Chat => &chat::Chat::Plain,
            Self::OpenRouter => &chat::Chat::OpenRouter,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

/// Why a request gets no turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wrong {
    NoKey,
    BadKey,
    NotFound(String),
    /// The vendor's own words for what is wrong with the body or the headers.
    Bad(String),
}

/// One vendor's way.
pub(super) trait Dialect: Send + Sync {
    /// The key, in the header that this vendor reads.
    fn key(&self, headers: &HeaderMap) -> Option<String> {
        bearer(headers)
    }

    fn needs_key(&self) -> bool {
        true
    }

    /// # Errors
    /// What the vendor refuses in form.
    fn read(&self, headers: &HeaderMap, body: &Value) -> Result<Heard, Wrong>;

    /// The vendor's words for a history that cannot be.
    fn flaw(&self, flaw: &Flaw) -> String;

    fn call_id(&self, number: usize, index: usize) -> String {
        format!("call_{number}_{index}")
    }

    /// The events of the stream, with all that frames them, and what must come back of the turn.
    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given);

    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// Status and body.
    fn refuse(&self, wrong: &Wrong) -> (u16, Value);

    /// A model as it is listed.
    fn model(&self, id: &str) -> Value {
        json!({ "id": id, "object": "model", "created": CREATED, "owned_by": "nobody" })
    }

    /// What is listed where the server has any model that it is asked for.
    fn usual(&self) -> &'static [&'static str] {
        &["some-model"]
    }

    fn list(&self, names: &[&str]) -> Value {
        let models: Vec<Value> = names.iter().map(|name| self.model(name)).collect();
        json!({ "object": "list", "data": models })
    }
}

/// A day, in seconds.
const CREATED: u64 = 1_795_312_800;

/// A turn to be said.
pub(super) struct Saying<'a> {
    pub turn: &'a MindTurn,
    pub asked: &'a Asked,
    /// The turn's own among all of the server's: ids and signatures never repeat.
    pub number: usize,
    pub usage: Usage,
}

/// A call of the turn, as it is written.
pub(super) struct Written {
    pub id: String,
    pub name: String,
    /// In a way of writing that is nobody else's: it must come back as it is.
    pub arguments: String,
}

impl Saying<'_> {
    pub fn calls(&self, dialect: &dyn Dialect) -> Vec<Written> {
        let calls = self.turn.calls.iter().enumerate();
        let written = calls.map(|(index, (name, arguments))| Written {
            id: dialect.call_id(self.number, index),
            name: name.clone(),
            arguments: format!("{arguments:#}").replace('\n', " "),
        });
        written.collect()
    }

    /// What only this server can have written.
    pub fn signature(&self, of: &str) -> String {
        let turn = self.number;
        BASE64_STANDARD.encode(format!("signed: {of} of turn {turn}, {} bytes", self.turn.thinking.len()))
    }

    /// What is charged where the vendor tells, in pieces of which a dollar has 10^10: a price of its own.
    pub fn charge(&self) -> u64 {
        let usage = &self.usage;
        usage.input * 20_700 + usage.cached * 311 + (usage.output + usage.thinking) * 61_300
    }
}

/// Text by the word, for what comes in pieces.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Two pieces, at some place inside.
pub(super) fn halves(text: &str) -> [&str; 2] {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let (one, other) = text.split_at(middle);
    [one, other]
}

/// What is counted where the mind does not say: about four characters a token, pictures apart.
pub(super) fn counted(asked: &Asked, turn: &MindTurn) -> Usage {
    /// What Gemini counts for a picture.
    const OF_A_PICTURE: usize = 1_120;
    let (mut pictures, mut encoded) = (0, 0);
    for image in asked.images() {
        pictures += 1;
        encoded += image.len().div_ceil(3) * 4;
    }
    let input = asked.text.len().saturating_sub(encoded) / 4 + pictures * OF_A_PICTURE;
    let calls = turn.calls.iter().map(|(name, arguments)| name.len() + arguments.to_string().len());
    let output = (turn.text.len() + calls.sum::<usize>()).div_ceil(4);
    Usage {
        input: input as u64,
        output: output as u64,
        thinking: (turn.thinking.len() / 4) as u64,
        ..Usage::default()
    }
}

pub(super) fn bad<T>(message: &str) -> Result<T, Wrong> {
    Err(Wrong::Bad(message.to_owned()))
}

pub(super) fn header_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    (!value.is_empty()).then(|| value.to_owned())
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = header_of(headers, header::AUTHORIZATION.as_str())?;
    value.strip_prefix("Bearer ").map(str::to_owned)
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A field that is none of those that there are.
pub(super) fn unknown_field<'a>(value: &'a Value, known: &[&str]) -> Option<&'a str> {
    let fields = value.as_object()?.keys().map(String::as_str);
    fields.into_iter().find(|field| !known.contains(field))
}

/// A result's text as the value that it was made of.
pub(super) fn response(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Whether the words before a picture say that it is of the call `id`.
pub(super) fn names(words: &str, id: &str) -> bool {
    words.trim_end_matches(':').ends_with(id)
}

/// A picture's bytes; `None` if it is no picture.
pub(super) fn picture(base64: &str) -> Option<Vec<u8>> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    let is_picture = bytes.starts_with(&[0xff, 0xd8, 0xff]) || bytes.starts_with(b"\x89PNG\r\n");
    is_picture.then_some(bytes)
}

pub(super) fn picture_of_url(url: &str) -> Option<Vec<u8>> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    picture(data).filter(|_| media_type.starts_with("image/"))
}
