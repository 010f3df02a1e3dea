//! What one model response was: text, calls, usage, and why it ended.

use serde::{Deserialize, Serialize};

/// Tokens of one or more turns. What a provider does not tell stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// All prompt tokens, cached ones included.
    pub input: u64,
    /// The part of `input` read from a cache.
    pub cached: u64,
    /// Answer tokens, thinking not included.
    pub output: u64,
    pub thinking: u64,
    /// The part of `input` written to a cache, which costs more than reading it.
    #[serde(default)]
    pub cache_write: u64,
}

impl Usage {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
            thinking: self.thinking + other.thinking,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}

/// Why a turn ended. Only [`StopReason::ToolCalls`] and [`StopReason::End`] turns may have runnable calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopReason {
    End,
    ToolCalls,
    MaxTokens,
    Refused {
        category: String,
    },
    Paused,
    ContextFull,
    /// The prompt or the answer was blocked by the provider.
    Blocked {
        reason: String,
    },
}
