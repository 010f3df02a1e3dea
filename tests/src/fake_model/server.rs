//! The HTTP side: routes, keys, faults, and what was asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde_json::Value;

use super::asked::{Asked, Heard};
use super::history::{Given, name_results};
use super::pace::{Pieces, pace};
use super::wire::{Saying, Wire, Wrong, counted};
use super::{Fault, Recorded, Shared, history, lock};

/// The strictest one's bound on a request.
const MOST_BYTES: usize = 20 * 1024 * 1024;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let of = Wire::folder;
    let mut router = Router::new()
        .route("/{version}/models", list(Wire::Gemini))
        .route("/{version}/models/{model}", describe(Wire::Gemini).merge(post(generate)))
        .route(&format!("{}/messages", of(Wire::Anthropic)), turns(Wire::Anthropic))
        .route(&format!("{}/api/chat", of(Wire::Ollama)), turns(Wire::Ollama))
        .route(&format!("{}/api/tags", of(Wire::Ollama)), list(Wire::Ollama))
        .route(&format!("{}/api/show", of(Wire::Ollama)), post(show))
        .route(&format!("{}/key", of(Wire::OpenRouter)), list(Wire::OpenRouter));
    for wire in [Wire::Responses, Wire::Xai] {
        router = router.route(&format!("{}/responses", of(wire)), turns(wire));
    }
    for wire in [Wire::Chat, Wire::OpenRouter] {
        router = router.route(&format!("{}/chat/completions", of(wire)), turns(wire));
    }
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Xai, Wire::Chat, Wire::OpenRouter] {
        router = router
            .route(&format!("{}/models", of(wire)), list(wire))
            .route(&format!("{}/models/{{model}}", of(wire)), describe(wire));
    }
    router.layer(DefaultBodyLimit::max(MOST_BYTES)).with_state(shared)
}

/// One request as it came.
struct Came {
    /// All of it.
    at: Instant,
    wire: Wire,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    text: Bytes,
}

/// What is answered where no turn is: by the vendor's shape, or by script.
struct Refused {
    status: u16,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Refused {
    fn because(wire: Wire, wrong: &Wrong) -> Self {
        let (status, body) = wire.dialect().refuse(wrong);
        Self { status, headers: Vec::new(), body }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.body)).into_response();
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) = (header::HeaderName::try_from(name), value.try_into()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

type Of = State<Arc<Shared>>;

fn list(wire: Wire) -> MethodRouter<Arc<Shared>> {
    get(move |State(shared): Of, method, uri, headers| async move {
        let came = Came { at: Instant::now(), wire, method, uri, headers, text: Bytes::new() };
        look(&shared, &came, Ok(shared.listed(wire)))
    })
}

fn describe(wire: Wire) -> MethodRouter<Arc<Shared>> {
    get(move |State(shared): Of, Path(path): Path<Vec<(String, String)>>, method, uri, headers| async move {
        let model = path.last().map(|(_, model)| model.clone()).unwrap_or_default();
        let came = Came { at: Instant::now(), wire, method, uri, headers, text: Bytes::new() };
        look(&shared, &came, shared.check_model(&model).map(|()| wire.dialect().model(&model)))
    })
}

async fn show(
    State(shared): Of,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let came = Came { at: Instant::now(), wire: Wire::Ollama, method, uri, headers, text: Bytes::new() };
    let model = body["model"].as_str().unwrap_or_default();
    look(&shared, &came, shared.check_model(model).map(|()| came.wire.dialect().model(model)))
}

fn look(shared: &Shared, came: &Came, found: Result<Value, Wrong>) -> Response {
    let found = found.map_err(|wrong| Refused::because(came.wire, &wrong));
    let answer = shared.check_key(came).and(found);
    let status = answer.as_ref().map_or_else(|refused| refused.status, |_| 200);
    shared.record(came, None, status);
    answer.map(Json).into_response()
}

fn turns(wire: Wire) -> MethodRouter<Arc<Shared>> {
    post(move |State(shared): Of, method, uri, headers, text| async move {
        turn(&shared, Came { at: Instant::now(), wire, method, uri, headers, text }, None).await
    })
}

/// Gemini has the model and what is asked of it in the address.
async fn generate(
    State(shared): Of,
    Path((_, target)): Path<(String, String)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    text: Bytes,
) -> Response {
    let came = Came { at: Instant::now(), wire: Wire::Gemini, method, uri, headers, text };
    turn(&shared, came, Some(&target)).await
}

async fn turn(shared: &Arc<Shared>, came: Came, target: Option<&str>) -> Response {
    let mut heard = None;
    let answer = shared.answer(&came, target, &mut heard).await;
    let status = answer.as_ref().map_or_else(|refused| refused.status, |_| 200);
    shared.record(&came, heard, status);
    let kind = came.wire.dialect().content_type();
    match answer {
        Ok(stream) => ([(header::CONTENT_TYPE, kind)], Body::from_stream(stream)).into_response(),
        Err(refused) => refused.into_response(),
    }
}

impl Shared {
    fn check_key(&self, came: &Came) -> Result<(), Refused> {
        let dialect = came.wire.dialect();
        let wrong = match (dialect.key(&came.headers), &self.manner.key) {
            (None, good) if dialect.needs_key() || good.is_some() => Wrong::NoKey,
            (Some(key), Some(good)) if key != *good => Wrong::BadKey,
            _ => return Ok(()),
        };
        Err(Refused::because(came.wire, &wrong))
    }

    fn record(&self, came: &Came, asked: Option<Arc<Asked>>, status: u16) {
        lock(&self.requests).push(Recorded {
            at: came.at,
            wire: came.wire,
            method: came.method.to_string(),
            path: came.uri.to_string(),
            key: came.wire.dialect().key(&came.headers),
            asked,
            status,
        });
    }

    async fn answer(
        &self,
        came: &Came,
        target: Option<&str>,
        heard: &mut Option<Arc<Asked>>,
    ) -> Result<Pieces, Refused> {
        let refused = |wrong| Refused::because(came.wire, &wrong);
        self.check_key(came)?;
        let body: Value = serde_json::from_slice(&came.text).unwrap_or(Value::Null);
        let model = model(came, target, &body).map_err(refused)?;
        self.check_model(&model).map_err(refused)?;
        let fault = lock(&self.faults).pop_front();
        if let Some(Fault::Refusal { status, body, headers }) = fault {
            return Err(Refused { status, headers, body });
        }
        let heard = heard.insert(Arc::new(self.read(came, model, &body).map_err(refused)?));
        let mut turn = lock(&self.mind).turn(heard);
        if !heard.heard.thinks {
            turn.thinking.clear();
        }
        if heard.heard.searches.is_empty() {
            turn.search = None;
        }
        if heard.heard.computer.is_none() {
            turn.actions.clear();
        }
        tokio::time::sleep(turn.pause).await;
        let number = self.spoken.fetch_add(1, Ordering::Relaxed);
        let usage = turn.usage.unwrap_or_else(|| counted(heard, &turn));
        let saying = Saying { turn: &turn, asked: heard, number, usage };
        let (events, given) = came.wire.dialect().speak(&saying);
        let prefix = heard.heard.prefix(heard.heard.messages.len());
        lock(&self.given).push((came.wire, Given { prefix, ..given }));
        Ok(pace(&self.manner, events, fault))
    }

    /// What was said, where nothing is wrong with it.
    fn read(&self, came: &Came, model: String, body: &Value) -> Result<Asked, Wrong> {
        let dialect = came.wire.dialect();
        let mut heard: Heard = dialect.read(&came.headers, body)?;
        name_results(&mut heard.messages);
        let given = lock(&self.given);
        let own: Vec<&Given> =
            given.iter().filter(|(wire, _)| *wire == came.wire).map(|(_, given)| given).collect();
        history::check(&heard, &own).map_err(|flaw| Wrong::Bad(dialect.flaw(&flaw)))?;
        Ok(Asked { wire: came.wire, model, text: came.text.clone(), heard })
    }
}

fn model(came: &Came, target: Option<&str>, body: &Value) -> Result<String, Wrong> {
    let Some(target) = target else {
        let bad = || Wrong::Bad("model: Field required".into());
        return body["model"].as_str().map(str::to_owned).ok_or_else(bad);
    };
    match target.split_once(':') {
        Some((model, "streamGenerateContent")) if came.uri.query() == Some("alt=sse") => Ok(model.to_owned()),
        _ => Err(Wrong::NotFound(target.to_owned())),
    }
}
