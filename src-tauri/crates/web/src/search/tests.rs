//! The three engines as their documents say they speak, on a server of ours.

use std::sync::{Arc, LazyLock, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response as Served;
use serde_json::json;

use super::*;
use crate::fake::serve;

const KEY: &str = "canary-Key-123";

/// Made once: a client reads the system's certificates, which takes a tenth of a second in a debug build.
fn searcher() -> Searcher {
    static SEARCHER: LazyLock<Searcher> = LazyLock::new(|| Searcher::new("1.2.3").unwrap());
    SEARCHER.clone()
}

/// A server that gives one answer, and what it was asked: path with query, then headers as `name: value` lines.
struct Fake {
    at: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Fake {
    async fn new(status: u16, headers: &[(&'static str, &str)], body: impl Into<String>) -> Self {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let body = body.into();
        Self::answering(move |_| {
            let mut answer = Served::builder().status(status);
            for (name, value) in &headers {
                answer = answer.header(*name, value);
            }
            answer.body(Body::from(body.clone())).unwrap()
        })
        .await
    }

    async fn json(status: u16, body: serde_json::Value) -> Self {
        Self::new(status, &[("content-type", "application/json")], body.to_string()).await
    }

    async fn answering(answer: impl Fn(&str) -> Served + Clone + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&asked);
        let handler = move |request: Request| {
            let line = |(name, value): (&_, &axum::http::HeaderValue)| {
                format!("{name}: {}\n", value.to_str().unwrap())
            };
            let headers = request.headers().iter().map(line).collect();
            let path = request.uri().to_string();
            let served = answer(&path);
            book.lock().unwrap().push((path, headers));
            std::future::ready(served)
        };
        let at = serve(Router::new().fallback(handler)).await;
        Self { at: format!("http://{at}"), asked }
    }

    fn searcher(&self) -> Searcher {
        let bases =
            Bases { google: format!("{}/customsearch/v1", self.at), brave: format!("{}/web", self.at) };
        Searcher { bases, ..searcher() }
    }

    async fn search(&self, engine: &Engine, count: u32, page: u32) -> Result<Vec<Hit>, SearchError> {
        self.searcher().search(engine, " what  is ü & b? ", count, page, CancellationToken::new()).await
    }

    fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap().clone()
    }
}

fn google() -> Engine {
    Engine::Google { key: Secret(format!(" {KEY}\n")), engine_id: "cx:1".into() }
}

fn brave() -> Engine {
    Engine::Brave { key: Secret(KEY.into()) }
}

fn hit(title: &str, url: &str, snippet: &str) -> Hit {
    Hit { title: title.into(), url: url.into(), snippet: snippet.into() }
}

#[tokio::test]
async fn google_is_asked_with_key_and_engine_and_its_words_are_plain() {
    let items = json!({"kind": "customsearch#search", "items": [
        {"title": "Vec<T> in\u{202e} Rust", "link": "https://a.example/x", "snippet": "one\ntwo \u{a0}three", "htmlSnippet": "<b>no</b>"},
        {"title": "", "link": "http://b.example"},
        {"title": "again", "link": "https://a.example/x"},
        {"title": "bad", "link": "javascript:alert(1)"},
    ]});
    let fake = Fake::json(200, items).await;
    let hits = fake.search(&google(), 10, 2).await.unwrap();
    assert_eq!(
        hits,
        [
            hit("Vec<T> in Rust", "https://a.example/x", "one two three"),
            hit("http://b.example/", "http://b.example/", ""),
        ]
    );
    let asked = fake.asked();
    assert_eq!(
        asked[0].0,
        "/customsearch/v1?key=canary-Key-123&cx=cx%3A1&q=what+is+%C3%BC+%26+b%3F&num=10&start=11"
    );
    assert!(asked[0].1.contains("user-agent: Miki/1.2.3\n"));
    let nothing = Fake::json(200, json!({"searchInformation": {"totalResults": "0"}})).await;
    assert_eq!(nothing.search(&google(), 5, 1).await, Ok(vec![]));
}

#[tokio::test]
async fn brave_is_asked_with_a_header_and_its_marks_and_entities_become_words() {
    let found = json!({"type": "search", "web": {"type": "search", "results": [
        {"title": "Tom &amp; Jerry&#x27;s", "url": "https://a.example/", "description": "a <strong>cat</strong> &lt;3 a <strong>mouse</strong>."},
        {"title": "x".repeat(300), "url": "https://b.example/", "description": "y ".repeat(400)},
    ]}});
    let fake = Fake::json(200, found).await;
    let hits = fake.search(&brave(), 50, 3).await.unwrap();
    assert_eq!(hits[0], hit("Tom & Jerry's", "https://a.example/", "a cat <3 a mouse."));
    assert_eq!((hits[1].title.chars().count(), hits[1].snippet.chars().count()), (201, 501));
    let asked = fake.asked();
    assert_eq!(asked[0].0, "/web?q=what+is+%C3%BC+%26+b%3F&count=20&offset=2&result_filter=web");
    assert!(asked[0].1.contains("x-subscription-token: canary-Key-123\n"));
    assert_eq!(Fake::json(200, json!({"type": "search"})).await.search(&brave(), 5, 1).await, Ok(vec![]));
}

#[tokio::test]
async fn searxng_is_asked_below_its_address_for_json_and_its_results_are_counted_here() {
    let result = |at: u32| json!({"title": format!("t{at}"), "url": format!("https://a.example/{at}"), "content": null});
    let results: Vec<_> = (0..30).map(result).chain([json!({"title": "no url"})]).collect();
    let fake = Fake::json(200, json!({"query": "x", "results": results})).await;
    for (path, asked) in [
        ("", "/search"),
        ("/", "/search"),
        ("/searx/", "/searx/search"),
        ("/searx/search?q=%s", "/searx/search"),
    ] {
        let engine = Engine::SearXng { url: format!("{}{path}", fake.at) };
        let hits = fake.search(&engine, 3, 2).await.unwrap();
        assert_eq!(hits.len(), 3);
        assert_eq!(hits[2], hit("t2", "https://a.example/2", ""));
        let last = fake.asked().pop().unwrap().0;
        assert_eq!(last, format!("{asked}?q=what+is+%C3%BC+%26+b%3F&format=json&pageno=2"));
    }
}

#[tokio::test]
async fn a_searxng_without_json_says_how_to_switch_it_on() {
    for (status, kind) in [(403, "text/html"), (200, "text/html; charset=utf-8")] {
        let fake = Fake::new(status, &[("content-type", kind)], "<!doctype html><h1>Forbidden").await;
        let error = fake.search(&Engine::SearXng { url: fake.at.clone() }, 5, 1).await.unwrap_err();
        assert_eq!(error, SearchError::NoJson);
        assert!(error.hint().unwrap().contains("formats: [html, json]"));
    }
    let fake = Fake::new(429, &[("retry-after", "60")], "").await;
    let error = fake.search(&Engine::SearXng { url: fake.at.clone() }, 5, 1).await.unwrap_err();
    assert_eq!(
        error,
        SearchError::TooOften { engine: "SearXNG", retry_after: Some(Duration::from_secs(60)) }
    );
}

#[tokio::test]
async fn redirects_are_followed_within_a_searxng_only_and_a_key_goes_nowhere_else() {
    let moving = |to: String| {
        move |path: &str| {
            let answer = Served::builder();
            if path.starts_with("/new") {
                let answer = answer.header("content-type", "application/json");
                return answer.body(Body::from(r#"{"results": []}"#)).unwrap();
            }
            answer.status(302).header("location", &to).body(Body::empty()).unwrap()
        }
    };
    let here = Fake::answering(moving("/new?q=x".into())).await;
    assert_eq!(here.search(&Engine::SearXng { url: here.at.clone() }, 5, 1).await, Ok(vec![]));
    let other = Fake::json(200, json!({})).await;
    let away = Fake::answering(moving(format!("{}/x?key={KEY}", other.at))).await;
    for engine in [Engine::SearXng { url: away.at.clone() }, google(), brave()] {
        let moved = away.search(&engine, 5, 1).await;
        let to = format!("{}/x", other.at);
        assert_eq!(moved, Err(SearchError::Moved { engine: engine.name(), to }));
    }
    assert_eq!(other.asked(), []);
    let circle = Fake::answering(moving("/search".into())).await;
    let circled = circle.search(&Engine::SearXng { url: circle.at.clone() }, 5, 1).await;
    assert!(matches!(circled, Err(SearchError::Moved { .. })));
}

#[tokio::test]
async fn what_is_not_set_is_said_with_how_to_set_it_before_anything_is_sent() {
    let fake = Fake::json(200, json!({})).await;
    let none = || Secret(" ".into());
    for (engine, expected) in [
        (Engine::Google { key: none(), engine_id: "x".into() }, SearchError::NoKey { engine: "Google" }),
        (Engine::Google { key: Secret(KEY.into()), engine_id: String::new() }, SearchError::NoEngineId),
        (Engine::Brave { key: none() }, SearchError::NoKey { engine: "Brave" }),
        (Engine::SearXng { url: String::new() }, SearchError::NoBase),
        (Engine::SearXng { url: "file:///etc".into() }, SearchError::NoBase),
    ] {
        let error = fake.search(&engine, 5, 1).await.unwrap_err();
        assert!(error.hint().unwrap().contains("Settings, Web search"), "{error}");
        assert_eq!(error, expected);
    }
    assert_eq!(
        fake.search(&google(), 10, 11).await,
        Err(SearchError::Page { engine: "Google", page: 11, last: 10 })
    );
    assert_eq!(
        fake.search(&brave(), 10, 11).await,
        Err(SearchError::Page { engine: "Brave", page: 11, last: 10 })
    );
    let empty = fake.searcher().search(&brave(), " \n", 5, 1, CancellationToken::new()).await;
    assert_eq!(empty, Err(SearchError::NoQuery));
    assert_eq!(fake.asked(), []);
}

#[tokio::test]
async fn googles_errors_are_told_apart() {
    let failure = |reason: &str, message: &str| json!({"error": {"code": 0, "message": message, "errors": [{"message": message, "domain": "x", "reason": reason}]}});
    let key_invalid = json!({"error": {"code": 400, "message": format!("API key {KEY} not valid."), "status": "INVALID_ARGUMENT",
        "errors": [{"reason": "badRequest"}], "details": [{"reason": "API_KEY_INVALID"}]}});
    let hidden = |detail: &str| detail.to_owned();
    for (status, body, expected) in [
        (
            400,
            key_invalid,
            SearchError::WrongKey { engine: "Google", detail: hidden("API key [key] not valid.") },
        ),
        (
            400,
            failure("keyInvalid", "Bad Request"),
            SearchError::WrongKey { engine: "Google", detail: hidden("Bad Request") },
        ),
        (
            400,
            failure("badRequest", "invalid cx"),
            SearchError::Refused { engine: "Google", detail: hidden("invalid cx") },
        ),
        (
            403,
            failure("forbidden", "no access"),
            SearchError::Refused { engine: "Google", detail: hidden("no access") },
        ),
        (
            403,
            failure("dailyLimitExceeded", "used up"),
            SearchError::Quota { engine: "Google", detail: hidden("used up"), retry_after: None },
        ),
        (
            429,
            failure("rateLimitExceeded", "limit 'Queries per day'"),
            SearchError::Quota {
                engine: "Google",
                detail: hidden("limit 'Queries per day'"),
                retry_after: None,
            },
        ),
        (
            429,
            failure("rateLimitExceeded", "limit 'Queries per minute'"),
            SearchError::TooOften { engine: "Google", retry_after: None },
        ),
        (
            500,
            json!({}),
            SearchError::Status { engine: "Google", status: 500, detail: hidden("internal server error") },
        ),
    ] {
        assert_eq!(Fake::json(status, body).await.search(&google(), 5, 1).await, Err(expected));
    }
}

#[tokio::test]
async fn braves_errors_are_told_apart_with_the_time_until_its_window_begins_anew() {
    let failure = |code: &str| {
        json!({"type": "ErrorResponse", "error": {"id": "1", "status": 0, "code": code, "detail": format!("about {KEY}")}}).to_string()
    };
    let detail = || "about [key]".to_owned();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let often = |retry_after| SearchError::TooOften { engine: "Brave", retry_after };
    let quota = |retry_after| SearchError::Quota { engine: "Brave", detail: detail(), retry_after };
    let windows = |remaining| [("x-ratelimit-reset", "1, 1419704"), ("x-ratelimit-remaining", remaining)];
    let cases = [
        (
            422,
            "SUBSCRIPTION_TOKEN_INVALID",
            vec![],
            SearchError::WrongKey { engine: "Brave", detail: detail() },
        ),
        (422, "VALIDATION", vec![], SearchError::Refused { engine: "Brave", detail: detail() }),
        (429, "RATE_LIMITED", windows("0, 1200").to_vec(), often(seconds(1))),
        (429, "RATE_LIMITED", windows("0, 0").to_vec(), quota(seconds(1_419_704))),
        (429, "RATE_LIMITED", vec![("retry-after", "3")], often(seconds(3))),
        (429, "QUOTA_LIMITED", windows("1, 0").to_vec(), quota(seconds(1_419_704))),
        (402, "USAGE_LIMIT_EXCEEDED", vec![], quota(None)),
    ];
    for (status, code, headers, expected) in cases {
        let fake = Fake::new(status, &headers, failure(code)).await;
        assert_eq!(fake.search(&brave(), 5, 1).await, Err(expected), "{status} {code}");
    }
}

#[tokio::test]
async fn no_error_and_no_debug_shows_the_key() {
    // bar: C75
    let echo = json!({"error": {"message": format!("key={KEY}"), "detail": KEY, "code": KEY}}).to_string();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = Bases { google: format!("http://{closed}/"), brave: format!("http://{closed}/") };
    let nowhere = Searcher { bases: nowhere, ..searcher() };
    for engine in [google(), brave()] {
        assert!(!format!("{engine:?}").contains("canary"));
        for status in [200, 302, 400, 401, 402, 403, 404, 418, 422, 429, 500, 503] {
            let location = format!("http://u:{KEY}@x.example/{KEY}?{KEY}");
            let fake = Fake::new(status, &[("location", &location)], echo.clone()).await;
            if let Err(error) = fake.search(&engine, 5, 1).await {
                assert!(!format!("{error} {error:?}").contains("canary"), "{status}: {error:?}");
            }
        }
        let error = nowhere.search(&engine, "x", 5, 1, CancellationToken::new()).await.unwrap_err();
        assert!(matches!(error, SearchError::Connect { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_or_sense_and_a_silent_engine_end_with_an_error() {
    let engine = |fake: &Fake| Engine::SearXng { url: fake.at.clone() };
    let long = Fake::json(200, json!({"results": [], "more": "x".repeat(ANSWER_BYTES)})).await;
    assert!(matches!(long.search(&engine(&long), 5, 1).await, Err(SearchError::Answer { .. })));
    let nonsense = Fake::json(200, json!({"results": 5})).await;
    assert!(matches!(nonsense.search(&engine(&nonsense), 5, 1).await, Err(SearchError::Answer { .. })));

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Engine::SearXng { url: format!("http://{}", listener.local_addr().unwrap()) };
    let after = Duration::from_millis(150);
    let searcher = Searcher::at("1", Bases::default(), after).unwrap();
    let searched = searcher.search(&silent, "x", 5, 1, CancellationToken::new()).await;
    assert_eq!(searched, Err(SearchError::TimedOut { engine: "SearXNG", after }));
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(searcher.search(&silent, "x", 5, 1, cancel).await, Err(SearchError::Cancelled));
}
