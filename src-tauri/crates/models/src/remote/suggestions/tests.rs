//! What is offered where the provider's list is slow, silent or strange; in virtual time.

use std::sync::{Arc, Mutex};

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use tokio::time::Instant;

use super::super::*;
use super::*;
use crate::catalogue::catalogue;
use crate::{Message, Part};

const KEY: &str = "canary-Key-123";

/// A provider that knows no model but these, and takes its time to say so.
struct Provided {
    listing: Duration,
    list: String,
    /// How long one model takes to tell of itself.
    telling: fn(&str) -> Duration,
    asked: Arc<Mutex<Vec<String>>>,
}

fn answer(status: StatusCode, body: &str) -> HttpAnswer {
    let body = stream::iter([Ok(body.as_bytes().to_vec())]).boxed();
    HttpAnswer { status, headers: HeaderMap::new(), body }
}

impl Transport for Provided {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>> {
        let path = request.url.path().to_owned();
        self.asked.lock().unwrap().push(path.clone());
        Box::pin(async move {
            if path == "/api/show" {
                tokio::time::sleep((self.telling)(std::str::from_utf8(&request.json.unwrap()).unwrap()))
                    .await;
                return Ok(answer(StatusCode::OK, r#"{"capabilities":["embedding"]}"#));
            }
            if ["/api/tags", "/v1/models", "/models"].contains(&path.as_str()) {
                tokio::time::sleep(self.listing).await;
                return Ok(answer(StatusCode::OK, &self.list));
            }
            Ok(answer(StatusCode::NOT_FOUND, "{}"))
        })
    }
}

type RequestLog = Arc<Mutex<Vec<String>>>;

fn remote(
    provider: Provider,
    wished: &str,
    listing: Duration,
    list: &str,
    telling: fn(&str) -> Duration,
) -> (Remote, RequestLog) {
    let asked = RequestLog::default();
    let transport = Provided { listing, list: list.to_owned(), telling, asked: Arc::clone(&asked) };
    let options = RemoteOptions { key: Some(Secret(KEY.into())), ..RemoteOptions::new(provider, wished) };
    let base = base_url("http://127.0.0.1:1").unwrap();
    (Remote::over(Box::new(transport), base, options), asked)
}

fn named(provider: &str) -> Provider {
    Provider::named(provider).unwrap().clone()
}

async fn refused(model: &Remote) -> ModelError {
    let messages = vec![Message::User(vec![Part::Text("go".into())])];
    let turn = model.stream(Request { messages, ..Request::default() }.into()).await.map(drop).unwrap_err();
    assert_eq!((turn.kind, turn.retry()), (ModelErrorKind::NotFound, crate::Retry::Never));
    turn
}

fn ids(error: &ModelError) -> Vec<&str> {
    error.suggestions.iter().map(|model| model.0.as_str()).collect()
}

fn at_once(_: &str) -> Duration {
    Duration::ZERO
}

const GROKS: &str = r#"{"data":[{"id":"grok-4.7"},{"id":"grok-9"},{"id":"imagine"}]}"#;

#[tokio::test(start_paused = true)]
async fn a_list_that_takes_longer_than_three_seconds_is_not_waited_for() {
    let (model, asked) = remote(named("xai"), "grok-4.8", Duration::from_millis(2_900), GROKS, at_once);
    let error = refused(&model).await;
    assert_eq!(ids(&error), ["xai/grok-4.7", "xai/grok-9"]);
    assert_eq!(model.probe().await.map_err(|error| error.suggestions), Err(error.suggestions));
    // Once for each question, and never again for its own failure.
    assert_eq!(*asked.lock().unwrap(), ["/responses", "/models", "/models/grok-4.8", "/models"]);
    let (model, _) = remote(named("xai"), "grok-4.8", Duration::from_secs(60), GROKS, at_once);
    let began = Instant::now();
    let error = refused(&model).await;
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert!(ids(&error).contains(&"xai/grok-4.7") && !ids(&error).contains(&"xai/grok-9"), "{error:?}");
    assert!(error.hint.unwrap().contains("gave no list of its models; on 2026-"));
}

const LOCAL: &str = r#"{"models":[{"model":"all-minilm"},{"model":"llava"},{"model":"qwen3:8b"}]}"#;

#[tokio::test(start_paused = true)]
async fn what_ollama_tells_in_time_counts_and_what_it_does_not_tell_stays_unknown() {
    // All that it tells is that a model has no tools.
    let slow = |json: &str| Duration::from_secs(if json.contains("qwen3") { 60 } else { 1 });
    let (model, _) = remote(named("ollama"), "gemma4", Duration::from_secs(1), LOCAL, slow);
    let began = Instant::now();
    let error = model.stream(Request::default().into()).await.map(drop).unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert_eq!(ids(&error), ["ollama/qwen3:8b"]);
    let (model, _) = remote(named("ollama"), "gemma4", Duration::ZERO, LOCAL, at_once);
    let error = refused(&model).await;
    assert_eq!(ids(&error), [""; 0]);
    assert_eq!(
        error.hint.as_deref(),
        Some("ollama lists no other model that could do: choose another provider's")
    );
}

#[tokio::test(start_paused = true)]
async fn the_fallback_comes_last_and_only_where_it_is_listed() {
    let list = |ids: &[&str]| {
        let data: Vec<_> = ids.iter().map(|id| serde_json::json!({ "id": id })).collect();
        serde_json::json!({ "data": data }).to_string()
    };
    for (wished, listed, offered) in [
        ("o9-mini", &["gpt-6.1-terra", "o8-mini"][..], &["openai/o8-mini", "openai/gpt-6.1-terra"][..]),
        ("gpt-6.1-tera", &["gpt-6.1-terra", "o8-mini"], &["openai/gpt-6.1-terra"]),
        ("mistral", &["gpt-6.1-terra", "whisper"], &["openai/gpt-6.1-terra"]),
        ("mistral", &["whisper"], &[]),
        // Listed, and refused all the same.
        ("gpt-6.1-terra", &["gpt-6.1-terra", "whisper"], &[]),
    ] {
        let (model, _) = remote(named("openai"), wished, Duration::ZERO, &list(listed), at_once);
        assert_eq!(ids(&refused(&model).await), offered, "{wished}");
    }
}

// bar: C75
#[tokio::test(start_paused = true)]
async fn a_listed_name_that_is_more_than_a_name_is_not_offered() {
    let custom = || Provider::custom("custom", "http://127.0.0.1:1", Wire::OpenAiChat, Default::default());
    let names = [
        "some-model; rm -rf ~",
        "some-model\u{202e}",
        &format!("some-model-{KEY}"),
        &"some-model".repeat(30),
        "some-model/x:8b",
        "some-model $(x)",
    ];
    let list = serde_json::json!({ "data": names.map(|id| serde_json::json!({ "id": id })) }).to_string();
    let (model, _) = remote(custom(), "some-model", Duration::ZERO, &list, at_once);
    let error = refused(&model).await;
    assert_eq!(ids(&error), ["custom/some-model/x:8b"]);
    // A server that nobody knows, with no list: there is nothing to offer, and it is said.
    let (model, _) = remote(custom(), "some-model", Duration::ZERO, "<html>", at_once);
    let error = refused(&model).await;
    assert_eq!(error.suggestions, []);
    assert_eq!(
        error.hint.as_deref(),
        Some("check the model's name and the base URL: custom gave no list of its models")
    );
}

#[test]
fn what_an_error_offers_crosses_the_door() {
    let suggestions = vec![ModelId("xai/grok-4.7".into())];
    let error = ModelError {
        suggestions: suggestions.clone(),
        ..ModelError::new(ModelErrorKind::NotFound, "no such model")
    };
    let view = protocol::ErrorView::from(error);
    assert_eq!(view.suggestions, suggestions);
    let told = serde_json::to_value(&view).unwrap();
    assert_eq!(told["suggestions"], serde_json::json!(["xai/grok-4.7"]));
    let old: protocol::ErrorView = serde_json::from_str(r#"{"code":"model","message":"m"}"#).unwrap();
    assert_eq!(old.suggestions, []);
}

fn of_table(provider: &str, wished: &str) -> Vec<&'static str> {
    let names: Vec<&str> = catalogue().of(provider).iter().map(|model| model.id.as_str()).collect();
    nearest(wished, &names)
}

#[test]
fn a_name_that_is_not_there_is_answered_with_near_ones() {
    assert_eq!(of_table("gemini", "gemini-3-flash")[0], "gemini-3-flash-preview");
    assert_eq!(of_table("gemini", "gemini-3-flsh")[0], "gemini-3-flash-preview");
    assert!(of_table("anthropic", "claude-opus-5.5").contains(&"claude-opus-5-5"));
    assert!(of_table("openai", "zzz").is_empty());
    assert!(of_table("openai", "").is_empty());
}

#[test]
fn the_name_itself_is_never_near_and_no_more_than_three_are() {
    let names = ["m-1", "m-2", "m-3", "m-4", "m-5"];
    assert_eq!(nearest("m-4", &names), ["m-5", "m-3", "m-2"]);
}

#[test]
fn what_is_left_out_or_written_large_is_near_all_the_same() {
    let names = ["qwen/qwen3-vl-8b", "qwen3-vl:8b", "llama-4-scout", "Qwen/Qwen3-VL-32B"];
    assert_eq!(nearest("qwen3-vl-8b", &names)[0], "qwen/qwen3-vl-8b");
    assert_eq!(nearest("qwen3-vl", &["qwen3:8b", "qwen3-vl:8b"])[0], "qwen3-vl:8b");
    assert_eq!(nearest("qwen/qwen3-vl-32b", &names)[0], "Qwen/Qwen3-VL-32B");
    assert_eq!(nearest("grok-4.8", &["x-ai/grok-4.7", "meta/llama"]), ["x-ai/grok-4.7"]);
}
