//! Which models of a long list are offered for what was typed, and which can be spoken to. Pure.

use protocol::ids::ModelId;
use protocol::offer::{ModelView, ProviderView};
use protocol::view::{KeyState, KeyView};

/// As many as are read at a glance: a list that scrolls within the page would catch the wheel.
const MOST: usize = 8;

/// The first of those that fit, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    pub models: Vec<ModelView>,
    pub more: usize,
}

/// Those that have every typed word in their id or name: the one that is `set` first, then later names, which are newer
/// models more often than not.
pub fn offered(models: &[ModelView], typed: &str, set: Option<&ModelId>) -> Offered {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let fits = |model: &&ModelView| {
        let about = format!("{} {}", model.id, model.name.as_deref().unwrap_or_default()).to_lowercase();
        words.iter().all(|word| about.contains(word))
    };
    let mut all: Vec<&ModelView> = models.iter().rev().filter(fits).collect();
    all.sort_by_key(|model| set != Some(&model.id));
    let models = all.iter().take(MOST).map(|model| (*model).clone()).collect();
    Offered { models, more: all.len().saturating_sub(MOST) }
}

/// Whether the model can be spoken to: its provider needs no key, or has one. Another provider's is of no use to it.
pub fn can_speak(providers: &[ProviderView], keys: &[KeyView], model: &ModelId) -> bool {
    let there = |key: &KeyView| matches!(key.state, KeyState::InKeychain | KeyState::InEnvironment);
    let its = |id: &str| model.provider() == Some(id);
    providers.iter().any(|provider| its(&provider.id) && !provider.needs_key)
        || keys.iter().any(|key| its(&key.provider) && there(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::offer::Abilities;

    fn model(id: &str, name: Option<&str>) -> ModelView {
        let (id, name) = (ModelId(id.into()), name.map(str::to_owned));
        ModelView { id, name, context: None, price: None, abilities: Abilities::default() }
    }

    #[test]
    fn every_typed_word_must_be_there() {
        let models =
            [model("openrouter/x-ai/grok-4.7", Some("xAI: Grok 4.7")), model("openrouter/x-ai/grok-3", None)];
        let ids = |typed: &str| -> Vec<String> {
            offered(&models, typed, None).models.into_iter().map(|model| model.id.0).collect()
        };
        assert_eq!(ids("").len(), 2);
        assert_eq!(ids(" GROK xai: "), ["openrouter/x-ai/grok-4.7"]);
        assert_eq!(ids("grok claude"), Vec::<String>::new());
    }

    #[test]
    fn of_a_long_list_the_rest_is_counted() {
        let models: Vec<ModelView> = (0..MOST + 7).map(|n| model(&format!("openai/m{n}"), None)).collect();
        let Offered { models: shown, more } = offered(&models, "m", None);
        assert_eq!((shown.len(), more), (MOST, 7));
        let set = ModelId("openai/m0".into());
        let first: Vec<_> =
            offered(&models, "m", Some(&set)).models.into_iter().map(|model| model.id.0).collect();
        assert_eq!(first[..2], ["openai/m0", "openai/m14"]);
    }

    #[test]
    fn only_the_key_of_the_configured_models_provider_counts() {
        let key =
            |provider: &str, state| KeyView { provider: provider.into(), state, address: None, hint: None };
        let model = ModelId("gemini/some-model".into());
        let can_speak = |keys: &[KeyView]| super::can_speak(&[provider("gemini", true)], keys, &model);
        assert!(can_speak(&[key("gemini", KeyState::InKeychain)]));
        assert!(can_speak(&[key("gemini", KeyState::InEnvironment)]));
        assert!(!can_speak(&[key("openai", KeyState::InKeychain), key("gemini", KeyState::Missing)]));
        assert!(!can_speak(&[key("gemini", KeyState::KeychainFails)]));
        assert!(!can_speak(&[]));
    }

    #[test]
    fn a_provider_of_this_machine_needs_no_key() {
        let providers = [provider("gemini", true), provider("ollama", false)];
        assert!(can_speak(&providers, &[], &ModelId("ollama/qwen3-vl:8b".into())));
        assert!(!can_speak(&providers, &[], &ModelId("gemini/x".into())));
    }

    fn provider(id: &str, needs_key: bool) -> ProviderView {
        let (name, base_url) = (id.to_owned(), String::new());
        ProviderView { id: id.into(), name, base_url, takes_key: needs_key, needs_key }
    }
}
