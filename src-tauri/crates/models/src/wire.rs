//! The wires by their names, and what each one brings: how a request is written, and how an answer is read.

use std::fmt;

use crate::anthropic::AnthropicDecoder;
use crate::chat::ChatDecoder;
use crate::decode::StreamDecoder;
use crate::gemini::GeminiDecoder;
use crate::ollama::OllamaDecoder;
use crate::responses::{ResponsesDecoder, XaiDecoder};

/// A wire protocol, with the habits of those who speak it in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Gemini's `generateContent`.
    Gemini,
    /// Anthropic Messages.
    Anthropic,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Chat Completions, as OpenAI, LM Studio, vLLM, llama.cpp and many others have them.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// Chat Completions with pictures in tool messages and reasoning that goes back.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Ollama's own `/api/chat`.
    Ollama,
    /// OpenAI's Responses with xAI's searches; answers of its Chat Completions are read as well.
    Xai,
}

impl Wire {
    pub const ALL: [Self; 7] = [
        Self::Anthropic,
        Self::Gemini,
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::OpenRouter,
        Self::Ollama,
        Self::Xai,
    ];

    /// As it is written on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Anthropic => "anthropic",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::OpenRouter => "openrouter",
            Self::Ollama => "ollama",
            Self::Xai => "xai",
        }
    }

    /// The wire of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }

    pub(crate) fn decoder(self) -> Box<dyn StreamDecoder> {
        match self {
            Self::Gemini => Box::<GeminiDecoder>::default(),
            Self::Anthropic => Box::<AnthropicDecoder>::default(),
            Self::OpenAiResponses => Box::<ResponsesDecoder>::default(),
            Self::OpenAiChat | Self::OpenRouter => Box::<ChatDecoder>::default(),
            Self::Ollama => Box::<OllamaDecoder>::default(),
            Self::Xai => Box::<XaiDecoder>::default(),
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
