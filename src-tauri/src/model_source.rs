//! Opens models for the agent: which provider a model is of, where that one is, and the key it needs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use agent::ModelSource;
use futures::future::BoxFuture;
use models::{
    CONNECT, Http, ModelError, Options, Provider, Remote, RemoteOptions, SharedModel, Timeouts, Wire,
};
use protocol::command::{RunOverrides, Tape};
use protocol::ids::ModelId;
use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};

use crate::engine::blocking;
use crate::keys::Keys;
use crate::recording;

/// The provider of the default model, whose key is asked for first.
pub const FIRST: &str = "gemini";

/// A server that is none of the known ones: chat completions at the given base URL.
pub const CUSTOM: &str = "custom";

/// Models by provider, with keys from the keychain or the environment.
pub struct Models {
    keys: Keys,
    http: OnceLock<Http>,
}

impl Models {
    pub fn new(keys: Keys) -> Self {
        Self { keys, http: OnceLock::new() }
    }

    /// Opens `model`, with all that can be asked of its provider.
    ///
    /// # Errors
    /// `BadRequest` for a provider that is not known, `NoKey` with the command that sets the key.
    pub async fn open_remote(
        &self,
        model: &ModelId,
        settings: &Settings,
        base_url: Option<&str>,
    ) -> Result<Remote, ErrorView> {
        let provider = provider_of(model, settings, base_url)?;
        let key = self.key(&provider).await?;
        let options = RemoteOptions {
            provider,
            model: model.clone(),
            key,
            options: Options { thinking: thinks(model), ..Options::default() },
            timeouts: Timeouts::default(),
        };
        Ok(Remote::new(&self.http()?, options)?)
    }

    async fn key(&self, provider: &Provider) -> Result<Option<protocol::command::Secret>, ErrorView> {
        // A server of this machine needs none, and the keychain's prompt would be for nothing.
        if !provider.needs_key() && provider.id != CUSTOM {
            return Ok(None);
        }
        let (keys, of) = (self.keys.clone(), provider.id.clone());
        match blocking(move || keys.get(&of)).await?? {
            None if provider.needs_key() => {
                Err(ErrorView::new(ErrorCode::NoKey, format!("no key for {}", provider.id))
                    .with_hint(format!("miki key set {}", provider.id)))
            }
            key => Ok(key),
        }
    }

    /// One client for all: connections are used again, whichever model asks.
    fn http(&self) -> Result<Http, ModelError> {
        if let Some(http) = self.http.get() {
            return Ok(http.clone());
        }
        let made = Http::new(CONNECT)?;
        Ok(self.http.get_or_init(|| made).clone())
    }
}

impl ModelSource for Models {
    fn open<'a>(
        &'a self,
        model: &'a ModelId,
        settings: &'a Settings,
        over: &'a RunOverrides,
    ) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        Box::pin(async move {
            let opened: SharedModel = match &over.tape {
                Some(Tape::Replay(file)) => Arc::new(recording::replay(file.clone()).await?),
                Some(Tape::Record(file)) => {
                    let remote = self.open_remote(model, settings, over.base_url.as_deref()).await?;
                    Arc::new(recording::record(file.clone(), remote).await?)
                }
                None => Arc::new(self.open_remote(model, settings, over.base_url.as_deref()).await?),
            };
            Ok(opened)
        })
    }
}

/// The provider as it is to be reached. Addresses come from the user's own settings and command line only.
fn provider_of(model: &ModelId, settings: &Settings, base_url: Option<&str>) -> Result<Provider, ErrorView> {
    let id = model.provider().unwrap_or_default();
    if id == CUSTOM {
        let base_url = base_url.ok_or_else(|| {
            ErrorView::new(ErrorCode::BadRequest, format!("model {model} needs an address"))
                .with_hint("name the server that speaks chat completions: --base-url URL")
        })?;
        return Ok(Provider::custom(CUSTOM, base_url, Wire::OpenAiChat, BTreeMap::new()));
    }
    let Some(known) = Provider::named(id) else {
        let names: Vec<&str> = Provider::known().iter().map(|provider| provider.id.as_str()).collect();
        let message = format!("model {model} has no provider known here");
        return Err(ErrorView::new(ErrorCode::BadRequest, message).with_hint(format!(
            "write PROVIDER/ID with one of {}, for example {}",
            names.join(", "),
            Settings::default().model
        )));
    };
    let mut provider = known.clone();
    if provider.wire == Wire::Gemini {
        provider.base_url.clone_from(&settings.gemini_base_url);
        provider.api_version = Some(settings.gemini_api_version.clone());
    }
    if let Some(base_url) = base_url {
        base_url.clone_into(&mut provider.base_url);
    }
    Ok(provider)
}

/// Whether to ask for summaries of the model's thinking: the older ones of OpenAI and Anthropic refuse the field.
fn thinks(model: &ModelId) -> bool {
    let older: &[&str] = match model.provider() {
        Some("openai") => &["gpt-3", "gpt-4", "chatgpt"],
        Some("anthropic") => &[
            "claude-2",
            "claude-3",
            "claude-opus-4-0",
            "claude-opus-4-1",
            "claude-opus-4-2",
            "claude-opus-4-5",
            "claude-sonnet-4-0",
            "claude-sonnet-4-2",
            "claude-sonnet-4-5",
            "claude-haiku-4",
        ],
        _ => &[],
    };
    !older.iter().any(|start| model.name().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::fake::FakeStore;

    async fn open(model: &str, key: Option<&'static str>) -> Result<ModelId, ErrorView> {
        let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(move |_| key.map(str::to_owned)));
        Models::new(keys)
            .open(&ModelId(model.into()), &Settings::default(), &RunOverrides::default())
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
        for model in ["opneai/gpt", "nonsense", "/x"] {
            let error = open(model, Some("k")).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest, "{model}");
            assert!(error.hint.unwrap().contains("gemini"));
        }
    }

    #[tokio::test]
    async fn a_key_opens_the_model_that_was_asked_for() {
        assert_eq!(open("gemini/some-model", Some("k")).await.unwrap(), ModelId("gemini/some-model".into()));
    }

    #[tokio::test]
    async fn each_known_provider_is_opened_and_one_of_this_machine_without_a_key() {
        for model in ["anthropic/a", "openai/a", "openrouter/a/b", "xai/a"] {
            assert_eq!(open(model, Some("k")).await.unwrap(), ModelId(model.into()));
            assert_eq!(open(model, None).await.unwrap_err().code, ErrorCode::NoKey, "{model}");
        }
        for model in ["ollama/qwen3-vl:8b", "lmstudio/qwen/qwen3-vl-8b"] {
            assert_eq!(open(model, None).await.unwrap(), ModelId(model.into()));
        }
    }

    #[test]
    fn a_custom_server_needs_its_address() {
        let (model, settings) = (ModelId("custom/some-model".into()), Settings::default());
        let error = provider_of(&model, &settings, None).unwrap_err();
        assert!(error.hint.unwrap().contains("--base-url"));
        let provider = provider_of(&model, &settings, Some("http://127.0.0.1:8080/v1")).unwrap();
        assert_eq!(
            (provider.wire, provider.base_url.as_str()),
            (Wire::OpenAiChat, "http://127.0.0.1:8080/v1")
        );
    }

    #[test]
    fn an_address_of_the_command_line_goes_before_the_settings() {
        let (model, settings) = (ModelId("gemini/x".into()), Settings::default());
        let at = |base_url| provider_of(&model, &settings, base_url).unwrap().base_url;
        assert_eq!(at(None), settings.gemini_base_url);
        assert_eq!(at(Some("http://127.0.0.1:1")), "http://127.0.0.1:1");
    }
}
