//! Who can search the web by itself, beside the tools that we bring. Pure.

use crate::{Provider, Wire};

/// Models of Google that take either its search or functions, not both (400 "tool use with function calling is
/// unsupported"), by how their names start. Source: Google's page on combining built-in tools with functions, which
/// only Gemini 3 models do.
const ONE_KIND_OF_TOOL: [&str; 7] =
    ["gemini-1", "gemini-2", "gemini-flash-1", "gemini-pro-1", "gemini-pro-vision", "gemini-exp", "gemma"];
/// The first Gemini model. Compared whole, since `gemini-pro-latest` is the newest one.
const FIRST: &str = "gemini-pro";

/// Why a model cannot search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSearch {
    #[error("{0} has no search of its own")]
    Provider(String),
    #[error("{0} cannot search beside the tools that operate the computer")]
    Model(String),
}

impl NoSearch {
    /// What can be done about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Provider(_) => {
                let who: Vec<&str> = Provider::known()
                    .iter()
                    .filter(|provider| has_search(provider.wire))
                    .map(|provider| provider.id.as_str())
                    .collect();
                format!("turn search off for this session, or choose a model of {}", who.join(", "))
            }
            Self::Model(_) => {
                "turn search off for this session, or choose a model of gemini-3 or newer".to_owned()
            }
        }
    }
}

impl Provider {
    /// Whether `model` can search the web while it has tools of ours.
    ///
    /// # Errors
    /// Why it cannot. A name that is not known is let pass: the provider knows better.
    pub fn can_search(&self, model: &str) -> Result<(), NoSearch> {
        if !has_search(self.wire) {
            return Err(NoSearch::Provider(self.id.clone()));
        }
        let one_kind = model == FIRST || ONE_KIND_OF_TOOL.iter().any(|start| model.starts_with(start));
        if self.wire == Wire::Gemini && one_kind {
            return Err(NoSearch::Model(format!("{}/{model}", self.id)));
        }
        Ok(())
    }
}

fn has_search(wire: Wire) -> bool {
    match wire {
        Wire::Gemini | Wire::Anthropic | Wire::OpenAiResponses | Wire::OpenRouter | Wire::Xai => true,
        Wire::OpenAiChat | Wire::Ollama => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_says_whether_it_searches_and_who_does() {
        let can = |provider: &str, model: &str| Provider::named(provider).unwrap().can_search(model);
        for (provider, model) in [
            ("gemini", "gemini-3-flash-preview"),
            ("gemini", "gemini-flash-latest"),
            ("gemini", "gemini-pro-latest"),
            ("anthropic", "claude-opus-5-5"),
            ("openai", "gpt-6.1-terra"),
            ("openrouter", "x-ai/grok-4.7"),
            ("xai", "grok-4.7"),
        ] {
            assert_eq!(can(provider, model), Ok(()), "{provider}/{model}");
        }
        for provider in ["ollama", "lmstudio"] {
            let why = can(provider, "m").unwrap_err();
            assert_eq!(why.to_string(), format!("{provider} has no search of its own"));
            assert!(why.hint().ends_with("gemini, anthropic, openai, openrouter, xai"), "{}", why.hint());
        }
        for model in ["gemini-pro", "gemini-pro-1.5", "gemini-1.5-flash", "gemma-2-27b-it"] {
            assert!(can("gemini", model).is_err(), "{model}");
        }
        let why = can("gemini", "gemini-2.5-flash").unwrap_err();
        assert!(why.to_string().starts_with("gemini/gemini-2.5-flash cannot search beside"));
    }
}
