//! From bytes to the neutral stream, for any wire: pure, so that a recording and a live answer are read alike.
//!
//! Holds the rules of all wires: a turn that did not end well has no calls, a failed one has no end, and what a
//! provider would refuse is not sent back.

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::frames::{BOM, Frames, Framing};
use crate::lenient::Lenient;
use crate::{ModelError, ModelErrorKind, ProposedCall, Turn, TurnEvent, Wire, refusal};

/// Puts one turn together from the data of its events, by the rules of one wire.
pub(crate) trait StreamDecoder: Send {
    /// Takes one event's data and adds what it says to the neutral stream. Unknown events pass. `provider` is named in
    /// errors.
    ///
    /// # Errors
    /// Data that is no JSON or out of order, and the errors that a provider sends in the middle of a stream.
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError>;

    fn progress(&self) -> Progress;

    /// The whole turn. Called once, and only if `progress` is not [`Progress::Open`].
    ///
    /// # Errors
    /// If the provider itself calls the turn broken.
    fn finish(&mut self) -> Result<DecodedTurn, ModelError>;
}

/// How far a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its end has not come. If the stream ends here, there is no turn.
    Open,
    /// The stream may end here. Token counts may still come.
    Complete,
    /// Nothing more comes.
    Over,
}

/// A whole turn, before it is decided what of it may be run and what may go back.
pub(crate) struct DecodedTurn {
    pub text: String,
    pub calls: Vec<ProposedCall>,
    /// The provider's own JSON of the turn, to be sent back unchanged. `None` if it cannot be sent back.
    pub raw: Option<String>,
    pub usage: Usage,
    pub stop: StopReason,
}

/// Reads one answer of a wire.
pub struct Decoder {
    provider: String,
    frames: Option<Frames>,
    turn: Box<dyn StreamDecoder>,
    has_begun: bool,
    failed: Option<ModelError>,
}

impl Decoder {
    /// `provider` is named in errors, and the turn goes back only to it.
    pub fn new(wire: Wire, provider: &str) -> Self {
        let framing = match wire {
            Wire::Ollama => Framing::Lines,
            Wire::Gemini
            | Wire::Anthropic
            | Wire::OpenAiResponses
            | Wire::OpenAiChat
            | Wire::OpenRouter
            | Wire::Xai => Framing::Events,
        };
        Self {
            provider: provider.to_owned(),
            frames: Some(Frames::new(framing)),
            turn: wire.decoder(),
            has_begun: false,
            failed: None,
        }
    }

    /// Takes the next bytes of the answer, cut anywhere, and adds what they say.
    ///
    /// # Errors
    /// After the first error, the same error for all later bytes.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        if !self.has_begun
            && let Some(first) = first_of(bytes)
        {
            self.has_begun = true;
            if first == b'<' {
                // With the wire behind it, for a server of the user's own.
                let provider = self.provider.split('/').next().unwrap_or_default();
                self.failed = Some(ModelError::web_page(provider));
            }
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let (Some(frames), turn) = (&mut self.frames, &mut self.turn) else { return Ok(()) };
        let outcome = frames.push(bytes, |data| match turn.progress() {
            // After its end a turn does not change any more.
            Progress::Over => Ok(()),
            Progress::Open | Progress::Complete => turn.feed(&self.provider, utf8(data)?, events),
        });
        if let Err(error) = &outcome {
            self.failed = Some(error.clone());
        }
        outcome
    }

    pub fn progress(&self) -> Progress {
        self.turn.progress()
    }

    /// The end of the answer: the whole turn, or why there is none. The last events may only come now.
    ///
    /// # Errors
    /// An error before, a turn without its end, a turn that its provider calls broken.
    pub fn end(mut self, events: &mut Vec<TurnEvent>) -> Result<TurnEvent, ModelError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let rest = self.frames.take().and_then(Frames::end);
        // The last event may lack the empty line after it. Half an event is dropped.
        let rest = rest.filter(|rest| rest.trim() == "[DONE]" || is_object(rest));
        if let Some(rest) = rest.filter(|_| self.turn.progress() != Progress::Over) {
            self.turn.feed(&self.provider, &rest, events)?;
        }
        if self.turn.progress() == Progress::Open {
            return Err(ModelError::cut());
        }
        let made = self.turn.finish()?;
        Ok(finished(made, self.provider))
    }
}

/// The first byte that says anything; `None` if there is none yet.
fn first_of(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace() && !BOM.contains(byte))
}

/// Whether a body is a page for people: no wire's answer begins so.
pub(crate) fn is_web_page(body: &[u8]) -> bool {
    first_of(body) == Some(b'<')
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
}

fn finished(made: DecodedTurn, provider: String) -> TurnEvent {
    let DecodedTurn { text, mut calls, raw, usage, mut stop } = made;
    let goes_back = match (&stop, calls.is_empty()) {
        (StopReason::End | StopReason::ToolCalls, false) => {
            stop = StopReason::ToolCalls;
            true
        }
        // Providers refuse a turn of thoughts alone.
        (StopReason::End | StopReason::ToolCalls, true) => {
            stop = StopReason::End;
            !text.trim().is_empty()
        }
        // The next request lets it go on from here.
        (StopReason::Paused, true) => true,
        // A turn that was cut may lack a part that its provider requires, such as the result of a search.
        (_, _) => {
            calls.clear();
            false
        }
    };
    let raw = raw.filter(|_| goes_back).map_or(Value::Null, Value::String);
    TurnEvent::Finished { turn: Turn { text, calls, provider, raw }, usage, stop }
}

/// All of a recorded answer at once: its events, and how it ended.
pub fn decode(wire: Wire, provider: &str, bytes: &[u8]) -> (Vec<TurnEvent>, Result<TurnEvent, ModelError>) {
    let mut events = Vec::new();
    let mut decoder = Decoder::new(wire, provider);
    let end = match decoder.push(bytes, &mut events) {
        Ok(()) => decoder.end(&mut events),
        Err(error) => Err(error),
    };
    (events, end)
}

/// Reads an event, or a part of one: the default if it is of another type.
///
/// # Errors
/// What is no JSON.
pub(crate) fn read<'a, T: Deserialize<'a> + Default>(provider: &str, json: &'a str) -> Result<T, ModelError> {
    let read = serde_json::from_str(json).map(|Lenient(value)| value);
    read.map_err(|error| protocol_error(format!("{provider} sent what is not JSON: {error}")))
}

/// Reads the part of an event that its head left unread: the default if it is missing, too.
///
/// # Errors
/// What is no JSON.
pub(crate) fn payload<'a, T>(provider: &str, json: Option<&'a RawValue>) -> Result<T, ModelError>
where
    T: Deserialize<'a> + Default,
{
    json.map_or(Ok(T::default()), |json| read(provider, json.get()))
}

/// The error that an event tells of.
pub(crate) fn reported(provider: &str, data: &str) -> ModelError {
    match read(provider, data) {
        Ok(body) => refusal::from_error(provider, 0, &body),
        Err(error) => error,
    }
}

/// # Errors
/// Bytes that are no UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, ModelError> {
    std::str::from_utf8(bytes).map_err(|_| not_utf8())
}

pub(crate) fn not_utf8() -> ModelError {
    protocol_error("the model's answer is not UTF-8")
}

pub(crate) fn protocol_error(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, message)
}
