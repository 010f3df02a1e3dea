//! What there is to choose from: providers, their models with price and abilities, and what came of trying one out.

use serde::{Deserialize, Serialize};

use crate::ids::ModelId;
use crate::tool::Millis;
use crate::turn::{Cost, Usage, Usd};

/// A provider of models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderView {
    /// The first part of its models' ids.
    pub id: String,
    /// For people.
    pub name: String,
    /// Where it is known to be; empty for `custom`, which is nowhere until the settings say.
    pub base_url: String,
    /// Whether a key can be set for it.
    pub takes_key: bool,
    /// Whether it answers nobody without one.
    pub needs_key: bool,
}

/// A provider's models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelsView {
    pub models: Vec<ModelView>,
    /// The day of the price table, and of the list where the provider was not asked: `2026-11-21`.
    pub as_of: String,
}

/// A model that may be chosen. What is not told is nothing: a price that is not known, a missing ability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    pub id: ModelId,
    /// For people.
    pub name: Option<String>,
    /// The longest prompt, in tokens.
    pub context: Option<u64>,
    pub price: Option<PriceView>,
    pub abilities: Abilities,
}

/// Dollars a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceView {
    pub input: Usd,
    pub output: Usd,
    /// Long prompts cost more.
    pub more_for_long: bool,
}

/// What a model can do, as far as its provider tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Abilities {
    pub tools: Option<bool>,
    pub pictures: Option<bool>,
    pub thinking: Option<bool>,
}

/// One tiny turn with a tool and a picture: what works, how long it took, what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialView {
    /// The tool was called as it is described.
    pub tool: bool,
    /// The picture was seen: its colour was named.
    pub picture: bool,
    /// Until the first event.
    pub first: Millis,
    /// Until the turn was whole.
    pub whole: Millis,
    pub usage: Usage,
    pub cost: Cost,
}
