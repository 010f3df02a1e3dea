//! What Ollama's models can do: each is asked for, some at a time, and none keeps the list from being shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::offer::Abilities;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use super::super::*;

const MODELS: usize = 47;
/// What a model of the list does that is not as good as the others.
const SILENT: &str = "m03";
const BROKEN: &str = "m30";
const OLD: &str = "m46";

#[derive(Default)]
struct Ollama {
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

/// A question is over when its answer is there, or when nobody waits for it any more.
struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn answer(status: StatusCode, body: String) -> HttpAnswer {
    HttpAnswer { status, headers: HeaderMap::new(), body: stream::iter([Ok(body.into_bytes())]).boxed() }
}

impl Transport for Ollama {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, ModelError>> {
        Box::pin(async move {
            let Some(json) = request.json else {
                assert_eq!(request.url.path(), "/api/tags");
                let models: Vec<String> =
                    (0..MODELS).map(|n| format!(r#"{{"model":"m{n:02}","size":1}}"#)).collect();
                return Ok(answer(StatusCode::OK, format!(r#"{{"models":[{}]}}"#, models.join(","))));
            };
            assert_eq!(request.url.path(), "/api/show");
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            let _busy = Busy(&self.now);
            let is = |model: &str| json == format!(r#"{{"model":"{model}"}}"#);
            if is(SILENT) {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            if is(BROKEN) {
                return Err(ModelError::new(ModelErrorKind::Network, "lost"));
            }
            let told = if is(OLD) {
                "{}"
            } else {
                include_str!("../../../tests/fixtures/ollama/show_response_capabilities.json")
            };
            Ok(answer(StatusCode::OK, told.to_owned()))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn each_model_of_ollama_tells_of_itself_twenty_at_a_time() {
    let transport = Ollama::default();
    let most = Arc::clone(&transport.most);
    let provider = Provider::custom("custom", "http://127.0.0.1:1", Wire::Ollama, BTreeMap::new());
    let base = base_url(&provider.base_url).unwrap();
    let options = RemoteOptions::new(provider, "any");
    let listed = Remote::over(Box::new(transport), base, options).list().await.unwrap();
    assert_eq!(most.load(Ordering::SeqCst), DESCRIBED_AT_ONCE);
    let ids: Vec<String> = (0..MODELS).map(|n| format!("m{n:02}")).collect();
    assert_eq!(listed.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), ids);
    let all = Abilities { tools: Some(true), pictures: Some(true), thinking: Some(true) };
    for one in listed {
        let is_known = ![SILENT, BROKEN, OLD].contains(&one.id.as_str());
        let expected = if is_known { (all, Some(262_144)) } else { (Abilities::default(), None) };
        assert_eq!((one.abilities, one.context), expected, "{}", one.id);
    }
}
