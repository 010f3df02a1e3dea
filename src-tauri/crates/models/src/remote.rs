//! A model at its provider: sends requests, reads answers and refusals, on any wire.
//!
//! One request a turn, no retries: whether a turn may be asked for again is the caller's to decide.

mod addresses;
mod listing;
mod suggestions;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream;
use protocol::command::Secret;
use protocol::ids::ModelId;
use reqwest::Url;

use crate::computer::Computer;
use crate::conversation::Target;
use crate::decode::{Decoder, is_web_page};
use crate::http::{
    Http, HttpAnswer, HttpRequest, HttpTransport, Json, MAX_ERROR, RefusedVersions, Timeouts, Transport,
    base_url, silent, whole,
};
use crate::recording::Recorder;
use crate::secrets::Secrets;
use crate::turn_stream::TurnStream;
use crate::{
    Model, ModelError, ModelErrorKind, Options, Provider, Request, TurnEvents, Wire, anthropic, chat, gemini,
    ollama, refusal, responses,
};

pub use listing::ListedModel;

/// The version of Gemini's API that has all fields and models.
const FALLBACK_VERSION: &str = "v1beta";
/// The longest list of models that is read, in bytes.
const MAX_LIST: usize = 16 * 1024 * 1024;

/// How many models of a list are described at a time, and how long each description may take.
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

impl RemoteOptions {
    /// The model of that name, without a key, and with nothing chosen.
    pub fn new(provider: Provider, name: &str) -> Self {
        let model = ModelId(format!("{}/{name}", provider.id));
        Self { provider, model, key: None, options: Options::default(), timeouts: Timeouts::default() }
    }
}

/// A model at its provider.
pub struct Remote {
    model: ModelId,
    provider: Provider,
    /// The name that its turns are kept under: those go back as they came.
    author: String,
    options: Options,
    base: Url,
    transport: Box<dyn Transport>,
    timeouts: Timeouts,
    secrets: Secrets,
    recorder: Option<Recorder>,
    refused: RefusedVersions,
}

/// What a request is for.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Turn,
    /// The cheapest request that needs the key and the model.
    Probe,
    List,
}

impl Remote {
    /// Sends nothing yet.
    ///
    /// # Errors
    /// An address that must not get a key, or a key that cannot be sent.
    pub fn new(http: &Http, options: RemoteOptions) -> Result<Self, ModelError> {
        let base = base_url(&options.provider.base_url)?;
        let beta = options.options.computer.and_then(Computer::beta);
        let options = RemoteOptions { provider: options.provider.with_beta(beta), ..options };
        let headers = options.provider.headers_with(options.key.as_ref());
        let transport = HttpTransport::new(http, base.clone(), &headers)?;
        Ok(Self { refused: http.refused(), ..Self::over(Box::new(transport), base, options) })
    }

    pub(crate) fn over(transport: Box<dyn Transport>, base: Url, options: RemoteOptions) -> Self {
        let RemoteOptions { provider, model, key, options, timeouts } = options;
        // Only the key: the values of other headers may be parts of common words.
        let secrets = Secrets::new(key.map(|key| key.0));
        let author = provider.author();
        let refused = RefusedVersions::default();
        Self { model, options, base, transport, timeouts, secrets, recorder: None, refused, author, provider }
    }

    /// The same, with each turn recorded.
    #[must_use]
    pub fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The vendor's computer tool that it was opened with, see [`crate::computer::with`].
    pub fn computer(&self) -> Option<Computer> {
        self.options.computer
    }

    /// The models that the provider has now.
    ///
    /// # Errors
    /// As for a turn, and `Protocol` for an answer that is no list.
    pub async fn list(&self) -> Result<Vec<ListedModel>, ModelError> {
        let listed = self.read_list(self.send(Verb::List, None).await?).await?;
        if self.provider.wire != Wire::Ollama {
            return Ok(listed);
        }
        // Its list does not have their abilities.
        let described = listed.into_iter().map(|model| self.described(model));
        Ok(stream::iter(described).buffered(DESCRIBED_AT_ONCE).collect().await)
    }

    async fn read_list(&self, answer: HttpAnswer) -> Result<Vec<ListedModel>, ModelError> {
        let body = whole(answer.body, MAX_LIST, self.timeouts.idle).await;
        if is_web_page(&body) {
            return Err(ModelError::web_page(&self.provider.id));
        }
        listing::read(self.provider.wire, &body).ok_or_else(|| {
            let message = format!("{} sent what is no list of models", self.provider.id);
            ModelError::new(ModelErrorKind::Protocol, message)
        })
    }

    /// The model with what Ollama says of it. Unchanged if that does not come in time.
    async fn described(&self, model: ListedModel) -> ListedModel {
        let (url, json) = addresses::of(&self.provider, &self.base, None, Verb::Probe, &model.id, None);
        let asked = async {
            let answer = self.transport.send(HttpRequest { url, json }).await.ok()?;
            let is_told = answer.status.is_success();
            Some(whole(answer.body, MAX_LIST, self.timeouts.idle).await).filter(|_| is_told)
        };
        match tokio::time::timeout(DESCRIPTION, asked).await {
            Ok(Some(body)) => listing::described(model, &body),
            _ => model,
        }
    }

    /// Sends. If the API version may be what is wrong, sends once more to [`FALLBACK_VERSION`].
    async fn send(&self, verb: Verb, json: Option<Json>) -> Result<HttpAnswer, ModelError> {
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
    ) -> Result<HttpAnswer, ModelError> {
        let (url, json) = addresses::of(&self.provider, &self.base, version, verb, self.model.name(), json);
        let limit = self.timeouts.first_byte;
        let sent = tokio::time::timeout(limit, self.transport.send(HttpRequest { url, json })).await;
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

    /// The body of this request, as JSON.
    pub fn body(&self, request: &Request) -> String {
        let target = Target { provider: &self.author, model: self.model.name(), options: &self.options };
        match self.provider.wire {
            Wire::Gemini => gemini::body(request, target),
            Wire::Anthropic => anthropic::body(request, target),
            Wire::OpenAiResponses => responses::body(request, target, responses::Dialect::OpenAi),
            Wire::Xai => responses::body(request, target, responses::Dialect::Xai),
            Wire::OpenAiChat => chat::body(request, target, chat::Dialect::Plain),
            Wire::OpenRouter => chat::body(request, target, chat::Dialect::OpenRouter),
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

    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>> {
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
            let decoder = Decoder::new(self.provider.wire, &self.author);
            let idle = self.timeouts.idle;
            let silent = silent(&self.base, idle);
            Ok(TurnStream::new(bytes, decoder, idle, silent, self.secrets.clone()).stream())
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        Box::pin(async move {
            let answer = self.ask(Verb::Probe, None).await?;
            match is_web_page(&whole(answer.body, MAX_ERROR, self.timeouts.idle).await) {
                true => Err(ModelError::web_page(&self.provider.id)),
                false => Ok(()),
            }
        })
    }
}

#[cfg(test)]
mod tests;
