//! Errors as they cross a door: a code to branch on, a message to read, a hint that says what to do.

use serde::{Deserialize, Serialize};

use crate::ids::ModelId;

/// What kind of thing went wrong. Surfaces branch on this, never on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is wrong: unknown field, bad value, out of range.
    BadRequest,
    /// The thing named does not exist.
    NotFound,
    /// Another run holds the desktop, or the state does not allow this.
    Busy,
    /// No key for the provider.
    NoKey,
    /// The keychain is locked, absent or refuses.
    Keychain,
    /// No display, or the screen cannot be captured or acted on.
    Display,
    /// The operating system withholds a permission.
    Permission,
    /// The model's provider refused or failed.
    Model,
    /// The journal or another file cannot be read or written (full disk, damage).
    Storage,
    /// Not possible on this platform or not in this version.
    Unavailable,
    /// The engine ends, and has not begun with this: whoever has the data folder next can.
    Leaving,
    /// This door may not do that.
    Forbidden,
    /// A person has to say yes first; [`ErrorView::asks`] is what their yes is bound to.
    NeedsApproval,
    /// A defect of ours.
    Internal,
}

/// An error for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ErrorView {
    pub code: ErrorCode,
    /// Lower case, no final period, operation and object named.
    pub message: String,
    /// What to do about it, where we know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Models to take in place of one that its provider does not know, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<ModelId>,
    /// The digest of the call that a person has to say yes to first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
}

impl ErrorView {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, suggestions: Vec::new(), asks: None }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
