//! Why a turn could not be had, whether to ask again, and what a person can do about it.

use std::time::Duration;

use protocol::error::{ErrorCode, ErrorView};
use protocol::ids::ModelId;
use serde::{Deserialize, Serialize};

/// If a provider asks for a longer wait than this, the turn is not asked for again.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// A failed turn or probe. Its text never holds a key. Written in recordings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// Lower case, no final period; what the provider said, bounded, is part of it.
    pub message: String,
    /// What to do about it. `None` if we do not know.
    pub hint: Option<String>,
    /// How long the provider asks us to wait; of a quota, until it is renewed.
    #[serde(default, rename = "retryAfterMs", with = "milliseconds")]
    pub retry_after: Option<Duration>,
    /// Models to take in place of one that the provider does not know: the nearest name first, the provider's fallback
    /// last. Empty for all other errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<ModelId>,
}

/// What kind of thing went wrong. Callers branch on this, never on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// The key is wrong or may not do this.
    Auth,
    /// The account has no credit.
    NoCredit,
    /// A limit of the day or the month, or a spending cap: a short wait does not help.
    Quota,
    /// Too many requests just now.
    Rate,
    /// The provider's fault: overloaded or broken.
    Overloaded,
    /// The request is too large.
    TooLarge,
    BadRequest,
    /// No such model, or no such address.
    NotFound,
    /// The address leads elsewhere: where the key must not go, or to a web page.
    Redirect,
    /// No connection, or it was lost or silent.
    Network,
    /// The answer is not what the wire protocol says, or ended before its end.
    Protocol,
    Cancelled,
}

/// Whether the same request may be sent again. How often is the caller's to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After at least so long, if the provider says how long.
    After(Option<Duration>),
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, retry_after: None, suggestions: Vec::new() }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The stream ended before the turn did: nothing of it may be run.
    pub fn cut() -> Self {
        Self::new(ModelErrorKind::Protocol, "the model's answer was cut before its end")
    }

    /// A page for people: of a proxy, of a network that wants a login, or of an address that is not the model's.
    pub(crate) fn web_page(provider: &str) -> Self {
        Self::new(ModelErrorKind::Redirect, format!("{provider} sent a web page, not a model's answer"))
            .with_hint("check the base URL, most end in /v1; a proxy or the network's login page may answer in its place")
    }

    /// Never, too, if the provider asks for more than [`LONGEST_WAIT`].
    pub fn retry(&self) -> Retry {
        if self.retry_after.is_some_and(|wait| wait > LONGEST_WAIT) {
            return Retry::Never;
        }
        match self.kind {
            ModelErrorKind::Rate
            | ModelErrorKind::Overloaded
            | ModelErrorKind::Network
            | ModelErrorKind::Protocol => Retry::After(self.retry_after),
            ModelErrorKind::Auth
            | ModelErrorKind::NoCredit
            | ModelErrorKind::Quota
            | ModelErrorKind::TooLarge
            | ModelErrorKind::BadRequest
            | ModelErrorKind::NotFound
            | ModelErrorKind::Redirect
            | ModelErrorKind::Cancelled => Retry::Never,
        }
    }
}

impl From<ModelError> for ErrorView {
    fn from(error: ModelError) -> Self {
        Self {
            code: ErrorCode::Model,
            message: error.message,
            hint: error.hint,
            suggestions: error.suggestions,
            asks: None,
        }
    }
}

mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::deserialize(from)?.map(Duration::from_millis))
    }
}
