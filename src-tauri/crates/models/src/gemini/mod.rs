//! Gemini's wire: `generateContent`, streamed. What is asked is in `request`, what comes in `stream` and `errors`.

mod errors;
mod request;
mod stream;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, unfold};
use protocol::command::Secret;
use protocol::ids::ModelId;
use reqwest::Response;

use crate::http::{Door, Timeouts, base_url};
use crate::{Model, ModelError, ModelErrorKind, Request, TurnEvent};
use stream::TurnInMaking;

/// The name under which turns are kept for replay.
const PROVIDER: &str = "gemini";
const KEY_HEADER: &str = "x-goog-api-key";
/// Knows every field and every model.
const FALLBACK_VERSION: &str = "v1beta";
/// How long a complete answer may still keep its connection, which the next request would like to use again.
const LINGER: Duration = Duration::from_secs(1);

/// How to reach a Gemini model.
#[derive(Clone, Debug)]
pub struct GeminiOptions {
    /// `gemini/NAME`; NAME is sent.
    pub model: ModelId,
    pub key: Secret,
    /// `https://generativelanguage.googleapis.com`, or a server of this machine.
    pub base_url: String,
    /// First tried; where it does not know the model or a field, `v1beta` is tried and remembered.
    pub api_version: String,
    /// Asks for summaries of the model's thinking.
    pub thinking_summaries: bool,
    pub timeouts: Timeouts,
}

/// A Gemini model.
pub struct Gemini {
    model: ModelId,
    door: Door,
    version: Mutex<String>,
    thinking_summaries: bool,
}

impl Gemini {
    /// Talks to nobody yet.
    ///
    /// # Errors
    /// An address that must not get a key, or a key that is none.
    pub fn new(options: GeminiOptions) -> Result<Self, ModelError> {
        let door = Door::new(base_url(&options.base_url)?, KEY_HEADER, &options.key.0, options.timeouts)?;
        Ok(Self {
            model: options.model,
            door,
            version: Mutex::new(options.api_version),
            thinking_summaries: options.thinking_summaries,
        })
    }

    /// Sends; where this API version may be what is wrong, once more to `v1beta`.
    async fn send(&self, verb: Verb, json: Option<Vec<u8>>) -> Result<Response, ModelError> {
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = match self.send_to(&version, verb, json.clone()).await {
            Err(error) if version != FALLBACK_VERSION && may_be_the_version(&error) => error,
            settled => return settled,
        };
        match self.send_to(FALLBACK_VERSION, verb, json).await {
            Ok(response) => {
                tracing::info!(%version, "this API version does not do; v1beta does");
                FALLBACK_VERSION.clone_into(&mut self.version.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(response)
            }
            Err(second) if second.kind == ModelErrorKind::NotFound => Err(first),
            Err(second) => Err(second),
        }
    }

    async fn send_to(
        &self,
        version: &str,
        verb: Verb,
        json: Option<Vec<u8>>,
    ) -> Result<Response, ModelError> {
        let name = self.model.name();
        let url = match verb {
            Verb::Stream => {
                let mut url = self.door.url(&[version, "models", &format!("{name}:streamGenerateContent")]);
                url.set_query(Some("alt=sse"));
                url
            }
            Verb::Describe => self.door.url(&[version, "models", name]),
        };
        let response = self.door.send(url, json).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.door.error_body(response).await;
        Err(errors::from_answer(status, &headers, &body))
    }
}

#[derive(Clone, Copy)]
enum Verb {
    Stream,
    Describe,
}

/// A version that does not know the model says 404, one that does not know a field says 400.
fn may_be_the_version(error: &ModelError) -> bool {
    matches!(error.kind, ModelErrorKind::NotFound | ModelErrorKind::BadRequest)
}

impl Model for Gemini {
    fn id(&self) -> &ModelId {
        &self.model
    }

    fn stream(
        &self,
        request: Request,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<TurnEvent, ModelError>>, ModelError>> {
        Box::pin(async move {
            let body = request::body(&request, self.thinking_summaries);
            let json = serde_json::to_vec(&body).map_err(|error| {
                ModelError::new(ModelErrorKind::BadRequest, format!("cannot write the request: {error}"))
            })?;
            let response = self.send(Verb::Stream, Some(json)).await?;
            let idle = self.door.idle();
            let reading = Reading {
                events: self.door.events(response),
                turn: Some(TurnInMaking::default()),
                ready: VecDeque::new(),
                idle,
                silent: self.door.silent(idle),
            };
            Ok(unfold(reading, Reading::next).boxed())
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        Box::pin(async move { self.send(Verb::Describe, None).await.map(drop) })
    }
}

/// An answer under way.
struct Reading {
    events: BoxStream<'static, Result<String, ModelError>>,
    /// Nothing after the end.
    turn: Option<TurnInMaking>,
    ready: VecDeque<TurnEvent>,
    idle: Duration,
    silent: ModelError,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<TurnEvent, ModelError>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((Ok(event), self));
            }
            let turn = self.turn.as_mut()?;
            let limit = if turn.is_complete() { LINGER } else { self.idle };
            let failure = match tokio::time::timeout(limit, self.events.next()).await {
                Ok(Some(Ok(data))) => match turn.feed(&data) {
                    Ok(events) => {
                        self.ready.extend(events);
                        continue;
                    }
                    Err(error) => error,
                },
                // What comes after a complete turn, or does not come, is of no matter.
                _ if turn.is_complete() => return Some((self.turn.take()?.finish(), self)),
                Ok(Some(Err(error))) => error,
                Ok(None) => ModelError::cut(),
                Err(_) => self.silent.clone(),
            };
            self.turn = None;
            return Some((Err(failure), self));
        }
    }
}
