//! What a model is still told of the part of a session that is not shown to it any more.

use serde::{Deserialize, Serialize};

use crate::tool::Source;

/// What stands in place of the messages before. With what came after, it is all that a run needs to go on elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recap {
    /// What the run is for, in its user's words.
    pub goal: String,
    /// What its user said since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
    /// What was done, a line a call, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Lines that stood before these.
    #[serde(default)]
    pub left_out: u64,
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// Whether some of them are of runs before this one.
    #[serde(default)]
    pub earlier: bool,
    /// Turns right before this that are still shown as they were.
    #[serde(default)]
    pub turns: u32,
    /// A tool of each group that was asked for, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// The model's notes to itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notes {
    pub text: String,
    /// Where came from what the model had read when it wrote them: whoever wrote that may speak in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Source>,
}

impl Notes {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}
