//! Which models may be asked to think, or for a summary of their thoughts: the others refuse such a request.
//!
//! `data/thinking.json`, by families of models, each with its source. A provider's own list is believed before it.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Provider, families};

/// Models that think alike.
#[derive(Deserialize)]
struct Family {
    starts: Vec<String>,
    thinks: bool,
}

static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| families::read(include_str!("../data/thinking.json")));

/// Whether the provider's model can be asked to think. `None` if that is not known. A custom server is taken to have
/// the models of its wire's vendor.
pub fn thinks(provider: &Provider, model: &str) -> Option<bool> {
    let vendor = match Provider::named(&provider.id) {
        Some(known) => known,
        None => Provider::known().iter().find(|known| known.wire == provider.wire)?,
    };
    let id = families::id_of(&format!("{}/{model}", vendor.id));
    families::best(&FAMILIES, |family| &family.starts, &id).map(|family| family.thinks)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Wire;

    fn of(id: &str) -> Option<bool> {
        let (provider, model) = id.split_once('/').unwrap();
        thinks(Provider::named(provider).unwrap(), model)
    }

    #[test]
    fn a_model_is_asked_to_think_where_its_vendor_says_that_it_does() {
        for id in [
            "gemini/gemini-3-flash-preview",
            "gemini/gemini-2.5-flash",
            "gemini/gemini-4-argon",
            "anthropic/claude-opus-5-5",
            "anthropic/claude-sonnet-4-6",
            "openai/gpt-6.1-terra",
            "openai/gpt-5-mini",
            "openai/o4-mini",
            "openrouter/x-ai/grok-4.7",
            "openrouter/anthropic/claude-opus-5.5",
            "openrouter/google/gemini-3.8-flash",
        ] {
            assert_eq!(of(id), Some(true), "{id}");
        }
        for id in [
            "gemini/gemini-2.0-flash",
            "gemini/gemma-2-27b-it",
            "anthropic/claude-opus-4-5",
            "anthropic/claude-haiku-4-5-20251001",
            "anthropic/claude-sonnet-4-20250514",
            "openai/gpt-4.1",
            "openai/gpt-5-chat-latest",
            "openai/o1-pro",
            "openrouter/openai/gpt-4o",
            "openrouter/x-ai/grok-4-fast-non-reasoning",
        ] {
            assert_eq!(of(id), Some(false), "{id}");
        }
        for id in ["gemini/some-model", "openrouter/mistralai/some-model", "ollama/qwen3-vl:8b", "xai/x"] {
            assert_eq!(of(id), None, "{id}");
        }
    }

    #[test]
    fn a_custom_server_is_taken_to_have_the_models_of_its_wires_vendor() {
        let custom = |wire| Provider::custom("custom", "https://example.org", wire, BTreeMap::new());
        assert_eq!(thinks(&custom(Wire::Anthropic), "claude-opus-5-5"), Some(true));
        assert_eq!(thinks(&custom(Wire::Anthropic), "claude-3-haiku"), Some(false));
        assert_eq!(thinks(&custom(Wire::Gemini), "my-own"), None);
        assert_eq!(thinks(&custom(Wire::OpenAiChat), "gpt-6.1-terra"), None);
    }
}
