//! Names of things: opaque strings with a prefix that says what they name, never built from parts by hand.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// What every id of this kind starts with.
            pub const PREFIX: &'static str = $prefix;

            /// Makes an id from a suffix that the caller knows to be unique (a UUIDv7 in the engine).
            pub fn from_suffix(suffix: impl std::fmt::Display) -> Self {
                Self(format!("{}{suffix}", Self::PREFIX))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A conversation with its history.
    SessionId = "s-";
    /// The work on one goal within a session.
    RunId = "r-";
    /// A node of the agent tree.
    AgentId = "a-";
    /// One request of the model to use a tool. Ours, not the provider's: those may be missing or repeat.
    CallId = "c-";
    /// A question to the user about one exact call.
    ApprovalId = "q-";
}

/// A sequence of durable events that is read and followed by itself: a session's, or the one of all that belongs to none.
/// Events in it are numbered from 1 without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub String);

impl StreamId {
    /// Settings, notes, and calls outside of any session.
    pub fn app() -> Self {
        Self("app".into())
    }

    pub fn of_session(session: &SessionId) -> Self {
        Self(session.0.clone())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whose stream it is; `None` for the one that belongs to no session.
    pub fn session(&self) -> Option<SessionId> {
        self.0.starts_with(SessionId::PREFIX).then(|| SessionId(self.0.clone()))
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Position of a durable event in the journal, from 1, without gaps. 0 stands for "before the first".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// Milliseconds since the Unix epoch, UTC. For people to read; order is by [`Seq`], never by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Content of a file in `blobs/`: lower-case hex SHA-256 of its bytes, which is also its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlobRef {
    pub sha256: String,
    /// For example `image/jpeg`.
    pub media_type: String,
    /// Length in bytes.
    pub bytes: u64,
}

impl BlobRef {
    /// Whether `name` has the form of a blob's name: 64 lower-case hex digits. Anything else never reaches a path.
    pub fn is_name(name: &str) -> bool {
        name.len() == 64 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// A model as `provider/id`, for example `gemini/gemini-3-flash-preview`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(pub String);

impl ModelId {
    /// The part before the first `/`; `None` if there is none.
    pub fn provider(&self) -> Option<&str> {
        self.0.split_once('/').map(|(provider, _)| provider)
    }

    /// The provider's own name of the model: all that follows the first `/`.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_id_splits_at_the_first_slash_only() {
        let id = ModelId("openrouter/google/gemini-3.8-flash".into());
        assert_eq!((id.provider(), id.name()), (Some("openrouter"), "google/gemini-3.8-flash"));
    }

    #[test]
    fn only_a_lower_case_sha256_names_a_blob() {
        assert!(BlobRef::is_name(&"0a".repeat(32)));
        for bad in ["", "../../etc/passwd", &"0A".repeat(32), &"0a".repeat(33)] {
            assert!(!BlobRef::is_name(bad), "{bad}");
        }
    }
}
