//! The HTTP side: routes, keys, faults, and the stream torn into pieces.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use super::{Fault, GeminiRequest, Recorded, Shared, lock, replay, wire};

/// The real one's bound on a request.
const MOST_BYTES: usize = 20 * 1024 * 1024;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/{version}/models", get(list))
        .route("/{version}/models/{model}", get(describe).merge(post(generate)))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .with_state(shared)
}

type Refused = (StatusCode, Json<Value>);

impl Shared {
    fn check_key(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let Some(key) = key_of(headers).filter(|key| !key.is_empty()) else {
            return Err(refuse(wire::no_key()));
        };
        if self.manner.key.as_ref().is_some_and(|good| *good != key) {
            return Err(refuse(wire::bad_key()));
        }
        Ok(())
    }

    fn record(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: Value, status: StatusCode) {
        let (method, path, status) = (method.to_string(), uri.to_string(), status.as_u16());
        lock(&self.requests).push(Recorded {
            at: Instant::now(),
            method,
            path,
            key: key_of(headers),
            body,
            status,
        });
    }
}

fn key_of(headers: &HeaderMap) -> Option<String> {
    headers.get("x-goog-api-key").and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn refuse((status, body): (u16, Value)) -> Refused {
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(body))
}

async fn list(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    look(&shared, &method, &uri, &headers, json!({ "models": [wire::model("gemini-3-flash-preview")] }))
}

async fn describe(
    State(shared): State<Arc<Shared>>,
    Path((_, model)): Path<(String, String)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    look(&shared, &method, &uri, &headers, wire::model(&model))
}

fn look(shared: &Shared, method: &Method, uri: &Uri, headers: &HeaderMap, found: Value) -> Response {
    let answer = shared.check_key(headers);
    let status = answer.as_ref().map_or_else(|refused| refused.0, |()| StatusCode::OK);
    shared.record(method, uri, headers, Value::Null, status);
    answer.map(|()| Json(found)).into_response()
}

async fn generate(
    State(shared): State<Arc<Shared>>,
    Path((_, target)): Path<(String, String)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let answer = prepare(&shared, &target, &uri, &headers, &body).await;
    let status = answer.as_ref().map_or_else(|refused| refused.0, |_| StatusCode::OK);
    shared.record(&method, &uri, &headers, body, status);
    match answer {
        Ok(stream) => {
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

type Pieces = stream::BoxStream<'static, Result<Bytes, Broken>>;

/// The error that makes the server break the connection.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection breaks, as it was told to")
    }
}

impl std::error::Error for Broken {}

async fn prepare(
    shared: &Arc<Shared>,
    target: &str,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Value,
) -> Result<Pieces, Refused> {
    let (model, verb) = target.split_once(':').unwrap_or((target, ""));
    if verb != "streamGenerateContent" || uri.query() != Some("alt=sse") {
        return Err(refuse(wire::not_found(target)));
    }
    shared.check_key(headers)?;
    let fault = lock(&shared.faults).pop_front();
    if let Some(Fault::Status(status, body)) = fault {
        return Err(refuse((status, body)));
    }
    replay::check(body, &lock(&shared.signatures)).map_err(refuse)?;
    let turn = lock(&shared.mind).turn(&GeminiRequest::new(body.clone()));
    tokio::time::sleep(turn.pause).await;
    let spoken = wire::speak(&turn, model, body, shared.spoken.fetch_add(1, Ordering::Relaxed));
    lock(&shared.signatures).extend(spoken.signatures);
    Ok(pace(shared, &spoken.events, fault))
}

fn pace(shared: &Arc<Shared>, events: &[String], fault: Option<Fault>) -> Pieces {
    let manner = shared.manner.clone();
    let pieces: Vec<Bytes> = events
        .iter()
        .flat_map(|event| {
            let size = event.len().div_ceil(manner.pieces.max(1)).max(1);
            event.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect::<Vec<_>>()
        })
        .collect();
    let whole = pieces.concat();
    let paced = move |pieces: Vec<Bytes>| {
        stream::iter(pieces).then(move |piece| async move {
            tokio::time::sleep(manner.pause).await;
            Ok::<_, Infallible>(piece)
        })
    };
    let first = |most: usize| vec![Bytes::copy_from_slice(&whole[..most.min(whole.len())])];
    match fault {
        Some(Fault::Cut(most)) => fallible(paced(first(most))).chain(breaking()).boxed(),
        Some(Fault::Stall(most)) => fallible(paced(first(most))).chain(stream::pending()).boxed(),
        Some(Fault::Status(..)) | None => fallible(paced(pieces)).boxed(),
    }
}

/// Breaks after the bytes before it have left: hyper throws away what it still holds.
fn breaking() -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    stream::once(async {
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        Err(Broken)
    })
}

fn fallible(
    pieces: impl Stream<Item = Result<Bytes, Infallible>> + Send,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send {
    pieces.map(|piece| piece.map_err(|never| match never {}))
}
