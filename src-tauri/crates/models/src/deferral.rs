//! Which models may be told of tools that they get later on: Anthropic's `defer_loading`, by which a tool stands in the
//! request without being a part of the prompt until an answer names it (`tool_reference`).
//!
//! `data/deferral.json`, by families of models, each with its source.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Provider, families};

/// Models that are alike in it.
#[derive(Deserialize)]
struct Family {
    starts: Vec<String>,
    defers: bool,
}

static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| families::read(include_str!("../data/deferral.json")));

/// Whether the provider's model takes deferred tools. Not behind an address of the user's own: what is not the vendor's
/// server may refuse the whole request.
pub fn defers(provider: &Provider, model: &str) -> bool {
    let is_its_own = Provider::named(&provider.id).is_some_and(|known| known.base_url == provider.base_url);
    // Behind OpenRouter, no model has what is its vendor's own.
    let id = format!("{}/{model}", provider.id).replace('.', "-");
    is_its_own && families::best(&FAMILIES, |family| &family.starts, &id).is_some_and(|family| family.defers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str) -> bool {
        let (provider, model) = id.split_once('/').unwrap();
        defers(Provider::named(provider).unwrap(), model)
    }

    #[test]
    fn tools_are_deferred_at_anthropic_alone_from_its_generation_4_5_on() {
        for id in [
            "anthropic/claude-opus-5-5",
            "anthropic/claude-sonnet-4-5-20250929",
            "anthropic/claude-opus-4-5",
            "anthropic/claude-haiku-4.5",
        ] {
            assert!(of(id), "{id}");
        }
        for id in [
            "anthropic/claude-sonnet-4-20250514",
            "anthropic/claude-opus-4-1",
            "anthropic/claude-3-haiku",
            "openrouter/anthropic/claude-opus-5.5",
            "openai/gpt-6.1-terra",
            "gemini/gemini-3-flash-preview",
        ] {
            assert!(!of(id), "{id}");
        }
        let elsewhere = Provider {
            base_url: "https://gateway.example".into(),
            ..Provider::named("anthropic").unwrap().clone()
        };
        assert!(!defers(&elsewhere, "claude-opus-5-5"));
    }
}
