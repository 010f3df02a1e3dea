//! A model at its provider, whichever wire that speaks: requests sent, answers read, refusals understood.
//!
//! One request a turn, no retries: whether a turn may be asked for again is the caller's to decide.

mod addresses;
mod listing;
mod suggestions;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use protocol::command::Secret;
use protocol::ids::ModelId;
use reqwest::Url;

use crate::computer::Computer;
use crate::conversation::Target;
use crate::decode::Decoder;
use crate::http::{
    Answer, Call, Carrier, Door, Http, Json, MAX_ERROR, RefusedVersions, Timeouts, base_url, silent, whole,
};
use crate::reading::Reading;
use crate::recording::Recorder;
use crate::secrets::Secrets;
use crate::{
    Model, ModelError, ModelErrorKind, Options, Provider, Request, TurnEvent, Wire, anthropic, chat, gemini,
    ollama, refusal, responses,
};

pub use listing::ListedModel;

/// Knows every field and every model of Gemini.
const FALLBACK_VERSION: &str = "v1beta";
/// Bytes read of a list of models.
const MAX_LIST: usize = 16 * 1024 * 1024;

/// Models of a list that are asked for at a time, and how long each may take to tell of itself.
const DESCRIBED_AT_ONCE: usize = 20;
const DESCRIPTION: Duration = Duration::from_secs(5);

/// How to reach a model.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    pub provider: Provider,
    /// `PROVIDER/NAME`; NAME is sent.
    pub model: ModelId,
    pub key: Option<Secret>,
    pub options: Options,
    pub timeouts: Timeouts,
}

/// A model at its provider.
pub struct Remote {
    model: ModelId,
    provider: Provider,
    /// Whose turns go back as they came.
    voice: String,
    options: Options,
    base: Url,
    carrier: Box<dyn Carrier>,
    timeouts: Timeouts,
    secrets: Secrets,
    recorder: Option<Recorder>,
    refused: RefusedVersions,
}

/// What a request is for.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Turn,
    /// The cheapest question that needs the key and the model.
    Probe,
    List,
}

impl Remote {
    /// Talks to nobody yet.
    ///
    /// # Errors
    /// An address that must not get a key, or a key that is none.
    pub fn new(http: &Http, options: RemoteOptions) -> Result<Self, ModelError> {
        let base = base_url(&options.provider.base_url)?;
        let beta = options.options.computer.and_then(Computer::beta);
        let options = RemoteOptions { provider: options.provider.with_beta(beta), ..options };
        let headers = options.provider.headers_with(options.key.as_ref());
        let door = Door::new(http, base.clone(), &headers)?;
        Ok(Self { refused: http.refused(), ..Self::carried_by(Box::new(door), base, options) })
    }

    pub(crate) fn carried_by(carrier: Box<dyn Carrier>, base: Url, options: RemoteOptions) -> Self {
        let RemoteOptions { provider, model, key, options, timeouts } = options;
        // Other headers hold no key, and what they say may be part of many words.
        let secrets = Secrets::new(key.map(|key| key.0));
        let voice = provider.voice();
        let refused = RefusedVersions::default();
        Self { model, options, base, carrier, timeouts, secrets, recorder: None, refused, voice, provider }
    }

    /// Each turn from now on is written there as well.
    #[must_use]
    pub fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The models that the provider has now.
    ///
    /// # Errors
    /// As for a turn; what is no list is a protocol's fault.
    pub async fn list(&self) -> Result<Vec<ListedModel>, ModelError> {
        let listed = self.read_list(self.send(Verb::List, None).await?).await?;
        if self.provider.wire != Wire::Ollama {
            return Ok(listed);
        }
        // Its list does not tell what they can do.
        let described = listed.into_iter().map(|model| self.described(model));
        Ok(stream::iter(described).buffered(DESCRIBED_AT_ONCE).collect().await)
    }

    async fn read_list(&self, answer: Answer) -> Result<Vec<ListedModel>, ModelError> {
        let body = whole(answer.body, MAX_LIST, self.timeouts.idle).await;
        listing::read(self.provider.wire, &body).ok_or_else(|| {
            let message = format!("{} sent what is no list of models", self.provider.id);
            ModelError::new(ModelErrorKind::Protocol, message)
        })
    }

    /// The model with what Ollama tells of it when it is asked; what it does not tell in time stays unknown.
    async fn described(&self, model: ListedModel) -> ListedModel {
        let (url, json) = addresses::of(&self.provider, &self.base, None, Verb::Probe, &model.id, None);
        let asked = async {
            let answer = self.carrier.send(Call { url, json }).await.ok()?;
            let is_told = answer.status.is_success();
            Some(whole(answer.body, MAX_LIST, self.timeouts.idle).await).filter(|_| is_told)
        };
        match tokio::time::timeout(DESCRIPTION, asked).await {
            Ok(Some(body)) => listing::described(model, &body),
            _ => model,
        }
    }

    /// Sends; where this API version may be what is wrong, once more to the one that knows all.
    async fn send(&self, verb: Verb, json: Option<Json>) -> Result<Answer, ModelError> {
        let version = match self.provider.api_version.as_deref() {
            None => return self.send_to(None, verb, json).await,
            Some(version) if version == FALLBACK_VERSION || self.refused.has(&self.base, version) => {
                return self.send_to(Some(FALLBACK_VERSION), verb, json).await;
            }
            Some(version) => version,
        };
        let first = match self.send_to(Some(version), verb, json.clone()).await {
            Err(error) if may_be_the_version(&error) => error,
            settled => return settled,
        };
        match self.send_to(Some(FALLBACK_VERSION), verb, json).await {
            Ok(answer) => {
                tracing::info!(version, "this API version does not do; v1beta does");
                self.refused.add(&self.base, version);
                Ok(answer)
            }
            Err(second) if second.kind == ModelErrorKind::NotFound => Err(first),
            Err(second) => Err(second),
        }
    }

    async fn send_to(
        &self,
        version: Option<&str>,
        verb: Verb,
        json: Option<Json>,
    ) -> Result<Answer, ModelError> {
        let (url, json) = addresses::of(&self.provider, &self.base, version, verb, self.model.name(), json);
        let limit = self.timeouts.first_byte;
        let sent = tokio::time::timeout(limit, self.carrier.send(Call { url, json })).await;
        let answer =
            sent.map_err(|_| silent(&self.base, limit))?.map_err(|error| self.secrets.hidden_in(error))?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        let body = whole(answer.body, MAX_ERROR, self.timeouts.idle).await;
        let body = self.secrets.hide(&String::from_utf8_lossy(&body));
        let Provider { id, wire, .. } = &self.provider;
        Err(refusal::from_answer(id, *wire, answer.status, &answer.headers, &body, SystemTime::now()))
    }

    /// What this request is over the wire, as JSON.
    pub fn body(&self, request: &Request) -> String {
        let target = Target { provider: &self.voice, model: self.model.name(), options: &self.options };
        match self.provider.wire {
            Wire::Gemini => gemini::body(request, target),
            Wire::Anthropic => anthropic::body(request, target),
            Wire::OpenAiResponses => responses::body(request, target, responses::Manner::OpenAi),
            Wire::Xai => responses::body(request, target, responses::Manner::Xai),
            Wire::OpenAiChat => chat::body(request, target, chat::Manner::Plain),
            Wire::OpenRouter => chat::body(request, target, chat::Manner::OpenRouter),
            Wire::Ollama => ollama::body(request, target),
        }
    }
}

/// A version that does not know the model says 404, one that does not know a field says 400.
fn may_be_the_version(error: &ModelError) -> bool {
    matches!(error.kind, ModelErrorKind::NotFound | ModelErrorKind::BadRequest)
}

impl Model for Remote {
    fn id(&self) -> &ModelId {
        &self.model
    }

    fn computer(&self) -> Option<Computer> {
        self.options.computer
    }

    fn stream(
        &self,
        request: Arc<Request>,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<TurnEvent, ModelError>>, ModelError>> {
        Box::pin(async move {
            let body = self.body(&request);
            let recorder = self.recorder.as_ref();
            let recorded = recorder.map(|recorder| recorder.turn(&request, &self.secrets)).transpose()?;
            drop(request);
            let answer = self.ask(Verb::Turn, Some(body.into())).await.map(|answer| answer.body);
            let bytes = match recorded {
                Some(turn) => turn.answered(answer)?,
                None => answer?,
            };
            let decoder = Decoder::new(self.provider.wire, &self.voice);
            let idle = self.timeouts.idle;
            let silent = silent(&self.base, idle);
            Ok(Reading::new(bytes, decoder, idle, silent, self.secrets.clone()).stream())
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        Box::pin(async move { self.ask(Verb::Probe, None).await.map(drop) })
    }
}

#[cfg(test)]
#[path = "remote/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "remote/history_tests.rs"]
mod history_tests;

#[cfg(test)]
#[path = "remote/search_tests.rs"]
mod search_tests;

#[cfg(test)]
#[path = "remote/computer_tests.rs"]
mod computer_tests;

#[cfg(test)]
#[path = "remote/description_tests.rs"]
mod description_tests;
