//! Opens models for the agent: which providers there are, and the key each one needs.

use agent::ModelSource;
use futures::future::BoxFuture;
use models::{Gemini, GeminiOptions, SharedModel, Timeouts};
use protocol::ids::ModelId;
use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};
use std::sync::Arc;

use crate::engine::blocking;
use crate::keys::Keys;

/// The providers this version talks to.
pub const PROVIDERS: [&str; 1] = ["gemini"];

/// Models by provider, with keys from the keychain or the environment.
pub struct Models {
    keys: Keys,
}

impl Models {
    pub fn new(keys: Keys) -> Self {
        Self { keys }
    }
}

impl ModelSource for Models {
    fn open<'a>(
        &'a self,
        model: &'a ModelId,
        settings: &'a Settings,
        base_url: Option<&'a str>,
    ) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        Box::pin(self.open_with_key(model, settings, base_url))
    }
}

impl Models {
    async fn open_with_key(
        &self,
        model: &ModelId,
        settings: &Settings,
        base_url: Option<&str>,
    ) -> Result<SharedModel, ErrorView> {
        let provider = model.provider().unwrap_or_default();
        if !PROVIDERS.contains(&provider) {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                format!("model {model} has no provider known here"),
            )
            .with_hint(format!(
                "write PROVIDER/ID with one of {}, for example {}",
                PROVIDERS.join(", "),
                Settings::default().model
            )));
        }
        let (keys, of) = (self.keys.clone(), provider.to_owned());
        let Some(key) = blocking(move || keys.get(&of)).await?? else {
            return Err(ErrorView::new(ErrorCode::NoKey, format!("no key for {provider}"))
                .with_hint(format!("miki key set {provider}")));
        };
        let model = Gemini::new(GeminiOptions {
            model: model.clone(),
            key,
            base_url: base_url.unwrap_or(&settings.gemini_base_url).to_owned(),
            api_version: settings.gemini_api_version.clone(),
            thinking_summaries: true,
            timeouts: Timeouts::default(),
        })?;
        Ok(Arc::new(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::fake::FakeStore;

    async fn open(model: &str, key: Option<&'static str>) -> Result<ModelId, ErrorView> {
        let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(move |_| key.map(str::to_owned)));
        Models::new(keys)
            .open(&ModelId(model.into()), &Settings::default(), None)
            .await
            .map(|model| model.id().clone())
    }

    #[tokio::test]
    async fn a_missing_key_names_the_command_that_sets_it() {
        let error = open("gemini/some-model", None).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::NoKey, "no key for gemini"));
        assert_eq!(error.hint.as_deref(), Some("miki key set gemini"));
    }

    #[tokio::test]
    async fn an_unknown_provider_is_answered_with_those_there_are() {
        for model in ["openai/gpt", "nonsense", "/x"] {
            let error = open(model, Some("k")).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest, "{model}");
            assert!(error.hint.unwrap().contains("gemini"));
        }
    }

    #[tokio::test]
    async fn a_key_opens_the_model_that_was_asked_for() {
        assert_eq!(open("gemini/some-model", Some("k")).await.unwrap(), ModelId("gemini/some-model".into()));
    }
}
