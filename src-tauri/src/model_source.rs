//! Opens models for the agent: which provider a model is of, where that one is, and the key it needs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent::{ModelSource, OpenModel};
use futures::future::BoxFuture;
use models::computer::{self, Computer};
use models::deferral::defers;
use models::thinking::thinks;
use models::{
    CONNECT, Http, ListedModel, MediaResolution, ModelError, Options, Provider, Remote, RemoteOptions,
    SharedModel, Wire,
};
use protocol::command::{Recording, Secret};
use protocol::ids::ModelId;
use protocol::offer::Abilities;
use protocol::run::GUEST;
use protocol::settings::{self, CustomWire, Settings};
use protocol::{ErrorCode, ErrorView};

pub mod offer;

use crate::engine::blocking;
use crate::guests::Guests;
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
    /// What providers told of their models when they were asked, by their addresses.
    told: Mutex<HashMap<(String, ModelId), Abilities>>,
    /// Agents of other programs.
    pub guests: Guests,
}

impl Models {
    pub fn new(keys: Keys) -> Self {
        Self { keys, http: OnceLock::new(), told: Mutex::default(), guests: Guests::default() }
    }

    /// Opens `model`, with all that can be asked of its provider.
    ///
    /// # Errors
    /// `BadRequest` for a provider that is not known or cannot search as is wanted, `NoKey` with the command that sets
    /// the key.
    pub async fn open_remote(&self, wanted: OpenModel<'_>) -> Result<Remote, ErrorView> {
        let OpenModel { model, settings, search, recording: _ } = wanted;
        let provider = provider_of(model, settings)?;
        if search {
            provider.can_search(model.name()).map_err(|why| {
                ErrorView::new(ErrorCode::BadRequest, why.to_string()).with_hint(why.hint())
            })?;
        }
        let key = self.key(&provider).await?;
        // Where a model has none, ours are as good as ever.
        let computer = settings.vendor_tools.contains(model).then(|| Computer::of(&provider, model.name()));
        let options = Options {
            thinking: self.thinks(&provider, model),
            search,
            defer_tools: defers(&provider, model.name()),
            max_output: bound(settings.max_output),
            context: bound(settings.ollama_context),
            computer: computer.flatten(),
            media_resolution: resolution(settings.media_resolution),
        };
        let remote = RemoteOptions { key, options, ..RemoteOptions::new(provider, model.name()) };
        Ok(Remote::new(&self.http()?, remote)?)
    }

    /// Keeps what a provider told of its models.
    fn remember(&self, provider: &Provider, listed: &[ListedModel]) {
        let told = listed.iter().map(|one| {
            let model = ModelId(format!("{}/{}", provider.id, one.id));
            ((provider.base_url.clone(), model), one.abilities)
        });
        self.told.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
    }

    /// Whether to ask for the model's thoughts: a model that has none may refuse the question, or find nobody who
    /// answers it.
    fn thinks(&self, provider: &Provider, model: &ModelId) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.get(&(provider.base_url.clone(), model.clone())).and_then(|told| told.thinking);
        told.or_else(|| thinks(provider, model.name())).unwrap_or(false)
    }

    async fn key(&self, provider: &Provider) -> Result<Option<Secret>, ErrorView> {
        // A server of this machine needs none, and the keychain's prompt would be for nothing.
        if !provider.needs_key() && provider.id != CUSTOM {
            return Ok(None);
        }
        let (keys, of, url) = (self.keys.clone(), provider.id.clone(), provider.base_url.clone());
        match blocking(move || keys.get(&of, &url)).await?? {
            // A server of the user's own may need none, whatever its wire.
            None if provider.needs_key() && provider.id != CUSTOM => {
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
    fn open<'a>(&'a self, wanted: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        Box::pin(async move {
            if let Some(Recording::Replay(file)) = wanted.recording {
                let replay = recording::replay(file.clone()).await?;
                return Ok(computer::with(replay.computer(), Arc::new(replay)));
            }
            if wanted.model.provider() == Some(GUEST) {
                return self.guests.take(wanted.model);
            }
            let mut remote = self.open_remote(wanted).await?;
            if let Some(Recording::Record(file)) = wanted.recording {
                remote = recording::record(file.clone(), remote).await?;
            }
            Ok(computer::with(remote.computer(), Arc::new(remote)))
        })
    }
}

/// The provider as it is to be reached. Addresses come from the user's own settings and command line only.
fn provider_of(model: &ModelId, settings: &Settings) -> Result<Provider, ErrorView> {
    let id = model.provider().unwrap_or_default();
    let base_url = settings.base_urls.get(id);
    if id == CUSTOM {
        let base_url = base_url.ok_or_else(|| {
            ErrorView::new(ErrorCode::BadRequest, "the custom server has no base URL")
                .with_hint("set it in the settings, or give it with --base-url, for example --base-url http://127.0.0.1:8080/v1")
        })?;
        let wire = match settings.custom_wire {
            CustomWire::OpenaiChat => Wire::OpenAiChat,
            CustomWire::OpenaiResponses => Wire::OpenAiResponses,
            CustomWire::Anthropic => Wire::Anthropic,
            CustomWire::Gemini => Wire::Gemini,
            CustomWire::Ollama => Wire::Ollama,
        };
        let headers = settings.custom_headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), Secret(value.clone()))).collect();
        let custom = Provider::custom(CUSTOM, base_url, wire, headers);
        return Ok(custom.with_key_header(&settings.custom_key_header));
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
        provider.api_version = Some(settings.gemini_api_version.clone());
    }
    if let Some(base_url) = base_url {
        provider.base_url.clone_from(base_url);
    }
    Ok(provider)
}

/// Where a provider is asked, without the path; `None` if it has no address.
pub fn address_of(provider: &str, settings: &Settings) -> Option<String> {
    let known = || Provider::named(provider).map(|known| &known.base_url);
    settings.base_urls.get(provider).or_else(known).map(|url| protocol::address::shown(url))
}

/// 0 leaves it to the provider.
fn bound(tokens: u32) -> Option<u32> {
    (tokens != 0).then_some(tokens)
}

fn resolution(set: settings::MediaResolution) -> Option<MediaResolution> {
    use settings::MediaResolution as Set;
    match set {
        Set::Usual => None,
        Set::Low => Some(MediaResolution::Low),
        Set::Medium => Some(MediaResolution::Medium),
        Set::High => Some(MediaResolution::High),
        Set::UltraHigh => Some(MediaResolution::UltraHigh),
    }
}

#[cfg(test)]
mod tests;
