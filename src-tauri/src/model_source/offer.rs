//! What there is to choose from, for the settings page and `miki model`.

use std::time::Duration;

use agent::OpenModel;
use models::catalogue::{KnownModel, catalogue};
use models::trial::{Trial, trial};
use models::{ListedModel, Provider};
use protocol::ids::ModelId;
use protocol::offer::{Abilities, ModelView, ModelsView, PriceView, ProviderView, TrialView};
use protocol::settings::Settings;
use protocol::tool::Millis;
use protocol::turn::Usd;
use protocol::{ErrorCode, ErrorView};

use super::{CUSTOM, Models};

/// Everyone who can be asked, the user's own server last.
pub fn providers() -> Vec<ProviderView> {
    let known = Provider::known().iter().map(|provider| ProviderView {
        id: provider.id.clone(),
        name: provider.name.clone(),
        base_url: provider.base_url.clone(),
        takes_key: provider.needs_key(),
        needs_key: provider.needs_key(),
    });
    let custom = ProviderView {
        id: CUSTOM.into(),
        name: "Custom server".into(),
        base_url: String::new(),
        takes_key: true,
        needs_key: false,
    };
    known.chain([custom]).collect()
}

/// A provider's models as they were known when this version was made, dearest names last.
///
/// # Errors
/// `BadRequest` for a provider that is not known.
pub fn known(provider: &str) -> Result<ModelsView, ErrorView> {
    check(provider)?;
    let models = catalogue().of(provider).iter().map(|known| ModelView {
        id: ModelId(format!("{provider}/{}", known.id)),
        name: known.name.clone(),
        context: known.context,
        price: price(known),
        abilities: Abilities::default(),
    });
    Ok(ModelsView { models: models.collect(), as_of: catalogue().date.clone() })
}

/// A provider's models as it lists them now, with what is known of their prices.
///
/// # Errors
/// As for [`Models::open_remote`], and the provider's own.
pub async fn asked(models: &Models, provider: &str, settings: &Settings) -> Result<ModelsView, ErrorView> {
    check(provider)?;
    // Lists are of a provider; its client needs the name of some model.
    let any = ModelId(format!("{provider}/any"));
    let remote = models.open_remote(OpenModel { model: &any, ..OpenModel::of(settings) }).await?;
    let listed = remote.list().await?;
    models.remember(remote.provider(), &listed);
    let models = listed.into_iter().map(|model| {
        let ListedModel { id, name, context, abilities } = model;
        let known = catalogue().find(provider, &id);
        ModelView {
            name: name.or_else(|| known?.name.clone()),
            context: context.or_else(|| known?.context),
            price: known.and_then(price),
            abilities,
            id: ModelId(format!("{provider}/{id}")),
        }
    });
    Ok(ModelsView { models: models.collect(), as_of: catalogue().date.clone() })
}

/// One tiny turn, on the user's account.
///
/// # Errors
/// As for [`Models::open_remote`], and the model's own.
pub async fn tried(models: &Models, model: &ModelId, settings: &Settings) -> Result<TrialView, ErrorView> {
    let Trial { tool, picture, first, whole, usage, cost, .. } =
        trial(&models.open_remote(OpenModel { model, ..OpenModel::of(settings) }).await?).await?;
    let millis = |time: Duration| Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    Ok(TrialView { tool, picture, first: millis(first), whole: millis(whole), usage, cost })
}

/// For short prompts; `None` if the table has none.
fn price(model: &KnownModel) -> Option<PriceView> {
    let million = |prices: &[(u64, u64)]| Some(Usd(prices.first()?.1.checked_mul(1_000_000)?));
    let more_for_long = model.input.len() > 1 || model.output.len() > 1;
    Some(PriceView { input: million(&model.input)?, output: million(&model.output)?, more_for_long })
}

fn check(provider: &str) -> Result<(), ErrorView> {
    if provider == CUSTOM || Provider::named(provider).is_some() {
        return Ok(());
    }
    let names: Vec<String> = providers().into_iter().map(|provider| provider.id).collect();
    Err(ErrorView::new(ErrorCode::BadRequest, format!("there is no provider {provider:?}"))
        .with_hint(format!("providers are {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn every_provider_is_offered_and_says_whether_it_takes_a_key() {
        let told: Vec<(String, bool, bool)> =
            providers().into_iter().map(|one| (one.id, one.takes_key, one.needs_key)).collect();
        let named =
            |id: &str| told.iter().find(|(name, ..)| name == id).map(|(_, takes, needs)| (*takes, *needs));
        assert_eq!(named("gemini"), Some((true, true)));
        assert_eq!(named("ollama"), Some((false, false)));
        assert_eq!(named(CUSTOM), Some((true, false)));
        let services = [keys::GOOGLE_SEARCH, keys::BRAVE_SEARCH, keys::CALENDAR];
        for key in keys::takers().filter(|key| !services.contains(key)) {
            assert_eq!(named(key).map(|(takes, _)| takes), Some(true), "{key}");
        }
    }

    #[test]
    fn a_known_model_has_its_price_and_what_is_not_told_is_nothing() {
        let models = known("gemini").unwrap().models;
        let model = models.iter().find(|model| model.id.0 == "gemini/gemini-3-flash-preview").unwrap();
        let price = model.price.unwrap();
        assert_eq!((price.input.to_string(), price.output.to_string()), ("0.5".into(), "3".into()));
        assert_eq!(model.abilities, Abilities::default());
        assert_eq!(known("ollama").unwrap().models, []);
        assert!(known("gemnii").unwrap_err().hint.unwrap().contains("gemini"));
    }
}
