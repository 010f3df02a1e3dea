//! Talking to language models: one file per wire protocol, one neutral stream above them.
//!
//! Which provider speaks which wire is data (`data/providers.json`). Knows nothing of tools, desktops or policy: a tool
//! is a name, a description and a schema here. History is append-only: a turn keeps the provider's raw JSON and goes
//! back to the same provider byte for byte.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use protocol::geometry::PixelSize;
use protocol::ids::ModelId;
use protocol::turn::{StopReason, Usage, Usd};
use serde_json::Value;

mod error;

mod decode;
mod wire;

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

mod calls;
mod conversation;
mod frames;
mod json_text;
mod lenient;
mod refusal;
mod retry_after;

mod http;
mod providers;
mod remote;
mod retry_policy;
mod search;
mod secrets;
mod turn_stream;

mod families;

pub mod catalogue;
pub mod computer;
pub mod cost;
pub mod deferral;
pub mod estimate;
pub mod neutral_json;
pub mod pictures;
pub mod recording;
pub mod scripted;
pub mod thinking;
pub mod tokens;
pub mod trial;

pub use conversation::{MediaResolution, Options};
pub use decode::{Decoder, Progress, decode};
pub use error::{LONGEST_WAIT, ModelError, ModelErrorKind, Retry};
pub use http::{CONNECT, Http, Timeouts};
pub use providers::{Auth, Provider};
pub use remote::{ListedModel, Remote, RemoteOptions};
pub use retry_policy::RetryPolicy;
pub use search::NoSearch;
pub use wire::Wire;

/// The neutral stream of one turn.
pub type TurnEvents = BoxStream<'static, Result<TurnEvent, ModelError>>;

/// A language model that can be asked for one turn at a time.
pub trait Model: Send + Sync {
    fn id(&self) -> &ModelId;

    /// Whether its requests should say how large the pictures of the display are ([`Request::display`]).
    fn needs_display(&self) -> bool {
        false
    }

    /// Asks for one turn. The stream ends with [`TurnEvent::Finished`] or an error, never silently. Dropping it
    /// ends the request. No retries here: whether a turn may be asked for again is the caller's to decide.
    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>>;

    /// One cheap call that tells whether the key and the network work.
    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>>;
}

pub type SharedModel = Arc<dyn Model>;

/// What one turn is asked with. The prefix (system, tools, earlier messages) stays byte-stable between turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub system: String,
    pub tools: Vec<ToolSpec>,
    /// All tools that are or can become a part of `tools` later on, the same in each request of a run. A provider that
    /// lets tools be deferred is told of them at once, so that none that is asked for changes the prefix; the others
    /// are told of `tools` alone.
    pub later: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    /// Size of the pictures of the whole display, for a model that needs it. `None` if it may only look, or if there are
    /// no pictures.
    pub display: Option<PixelSize>,
    /// The longest answer to this one, in tokens, where that is less than what the model was opened with.
    pub max_output: Option<u32>,
}

/// A tool that is offered to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User(Vec<Part>),
    Assistant(Turn),
    /// Answers to calls of the assistant's turn before it, in that order.
    ToolResults(Vec<ToolAnswer>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Image(Image),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// `image/jpeg` or `image/png`.
    pub media_type: String,
    pub bytes: Arc<[u8]>,
    pub detail: Detail,
}

/// At how much of the usual number of tokens a picture is read well enough, by providers that let it be said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    #[default]
    Whole,
    /// It shows no more than half of the screen.
    Half,
    /// No more than a quarter.
    Quarter,
}

/// One finished model response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub text: String,
    pub calls: Vec<ProposedCall>,
    /// Who made `raw`: a provider's id, with the wire for a custom server (`custom/anthropic`). `raw` goes back only to
    /// the same.
    pub provider: String,
    /// The provider's own JSON of this turn, signatures and all, as a string: so it goes back as the bytes that came.
    /// `Null` if it cannot go back.
    pub raw: Value,
}

impl Turn {
    /// Whether it has neither text nor calls, only thoughts at most.
    pub fn says_nothing(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }
}

/// A tool call as the model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedCall {
    /// The provider's id. `None` if it gives none.
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
    /// `None` if the model wrote it in this form.
    pub translation: Option<Box<Translation>>,
}

impl ProposedCall {
    pub fn new(id: Option<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id, name: name.into(), arguments, translation: None }
    }
}

/// What is to be known of a call that stands for something the model wrote in another form. Of a turn's translated calls,
/// none is done after one that failed ([`NOT_EXECUTED`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// What the model wrote.
    of: Arc<ProposedCall>,
    /// Whether the next call is another part of the same. All parts have one answer, with the newest picture of them.
    pub goes_on: bool,
    /// Why it cannot be done: told to the model in place of doing it.
    pub refusal: Option<String>,
    /// What the model's provider warns of. It is done only after the user's yes.
    pub warnings: Vec<String>,
    /// Whether the user said yes to the warnings.
    pub accepted: bool,
    /// Whether the answer must have a picture, even one that shows nothing new.
    pub needs_picture: bool,
}

/// The answer to a translated call after one of its turn that failed, in Anthropic's words.
pub const NOT_EXECUTED: &str = "Not executed: an earlier computer action in this turn failed.";

/// What is answered to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// The provider's id of the call. `None` if it gave none.
    pub id: Option<String>,
    pub name: String,
    /// An object.
    pub response: Value,
    pub image: Option<Image>,
}

/// A piece of the neutral stream.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    Text(String),
    /// A piece of what the model thinks, or of a summary of it.
    Thinking(String),
    /// A call begins. To be shown, never to be run. `index` counts the turn's calls from 0.
    CallStarted {
        index: usize,
        id: Option<String>,
        name: String,
    },
    /// The next piece of its arguments' JSON text.
    CallArguments {
        index: usize,
        json: String,
    },
    CallEnded {
        index: usize,
    },
    /// A source of the answer, found by the provider's own search.
    Citation {
        url: String,
        title: String,
    },
    /// Tokens of the turn so far. Replaces the one before.
    Usage(Usage),
    /// What the provider says it charges for the turn. Replaces the one before.
    Billed(Usd),
    /// The provider searched, which it charges for apart from the tokens. May come more than once.
    Searched,
    /// The last event. Only now may the calls be run, and only if `stop` is `End` or `ToolCalls`.
    Finished {
        turn: Turn,
        usage: Usage,
        stop: StopReason,
    },
}
