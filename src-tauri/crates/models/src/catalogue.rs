//! The models that were known on a certain day, with prices; also for suggestions when a provider gives no list.
//!
//! `data/models.json`, made by `xtask/tools/prices.py`. A model that is not in it can be used all the same.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The data file.
#[derive(Debug, Deserialize)]
pub struct Catalogue {
    /// The day on which it was made.
    pub date: String,
    pub source: String,
    providers: BTreeMap<String, Vec<KnownModel>>,
}

/// A model of the data file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownModel {
    pub id: String,
    #[serde(default)]
    pub name: Option<String>,
    /// The longest prompt, in tokens.
    #[serde(default)]
    pub context: Option<u64>,
    /// Pairs of the prompt's length from which a price holds, and the price in 10^-12 dollars a token.
    pub input: Vec<(u64, u64)>,
    pub output: Vec<(u64, u64)>,
    #[serde(default)]
    pub cache_read: Option<Vec<(u64, u64)>>,
    #[serde(default)]
    pub cache_write: Option<Vec<(u64, u64)>>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(read);

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
fn read() -> Catalogue {
    serde_json::from_str(include_str!("../data/models.json")).expect("data/models.json is a catalogue")
}

/// The data file, read once.
pub fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

impl Catalogue {
    /// The provider's models, by name.
    pub fn of(&self, provider: &str) -> &[KnownModel] {
        self.providers.get(provider).map_or(&[], Vec::as_slice)
    }

    /// The model of that name, or the one of which it is a version (`NAME-20261014`, `NAME-001`, `NAME-latest`).
    pub fn find(&self, provider: &str, name: &str) -> Option<&KnownModel> {
        let is_it = |model: &&KnownModel| name.strip_prefix(model.id.as_str()).is_some_and(is_version);
        self.of(provider).iter().filter(is_it).max_by_key(|model| model.id.len())
    }
}

/// Whether what follows a model's name is only a version.
fn is_version(rest: &str) -> bool {
    let shape: String = rest.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    matches!(rest, "" | "-latest")
        || matches!(shape.as_str(), "-000" | "-0000" | "-00000000" | "@00000000" | "-0000-00-00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_its_day_and_the_default_model() {
        let table = catalogue();
        assert!(
            table.date.len() == 10 && table.source.contains("genai-prices"),
            "{} {}",
            table.date,
            table.source
        );
        for (provider, name) in [
            ("gemini", "gemini-3-flash-preview"),
            ("anthropic", "claude-opus-5-5"),
            ("openai", "gpt-6.1-terra"),
            ("xai", "grok-4.7"),
            ("openrouter", "x-ai/grok-4.7"),
        ] {
            assert_eq!(table.find(provider, name).unwrap().id, name);
        }
        assert_eq!(table.of("ollama"), []);
    }

    #[test]
    fn a_dated_version_is_its_model_and_a_longer_name_is_another() {
        let find = |name: &str| catalogue().find("anthropic", name).map(|model| model.id.as_str());
        assert_eq!(find("claude-opus-5-5-20261014"), Some("claude-opus-5-5"));
        assert_eq!(find("claude-opus-5-5-latest"), Some("claude-opus-5-5"));
        assert_eq!(find("claude-opus-5-5-fast"), None);
        assert_eq!(find("claude-opus-5-9"), None);
        assert_eq!(find("nonsense"), None);
    }
}
