//! Gemini over real sockets: streaming, refusals, redirects, silence, and requests that are given up.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a server of these tests fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::Response;
use futures::StreamExt;
use models::{
    CONNECT, Http, Message, Model, ModelError, ModelErrorKind, Options, Part, Provider, Remote,
    RemoteOptions, Request, Retry, Timeouts, TurnEvent,
};
use protocol::command::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "canary-Key-123";
const PATIENCE: Duration = Duration::from_secs(20);

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../fixtures/gemini/", $name))
    };
}

mod redirects;
mod suggestions;

/// What a server was asked: method and path, key, body.
#[derive(Clone, Debug, PartialEq)]
struct ReceivedRequest {
    line: String,
    key: Option<String>,
    body: Vec<u8>,
}

type Answering = Arc<dyn Fn(&ReceivedRequest) -> Response<Body> + Send + Sync>;

/// A server that remembers what it was asked.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    async fn start(answer: impl Fn(&ReceivedRequest) -> Response<Body> + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let state: (Arc<Mutex<Vec<ReceivedRequest>>>, Answering) = (Arc::clone(&asked), Arc::new(answer));
        let app = Router::new().fallback(remember).with_state(state);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }
}

async fn remember(
    State((asked, answer)): State<(Arc<Mutex<Vec<ReceivedRequest>>>, Answering)>,
    request: HttpRequest,
) -> Response<Body> {
    let line = format!("{} {}", request.method(), request.uri());
    let key = request.headers().get("x-goog-api-key").map(|key| key.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap().to_vec();
    let one = ReceivedRequest { line, key, body };
    let answer = answer(&one);
    asked.lock().unwrap().push(one);
    answer
}

fn answer(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(status).body(body.into()).unwrap()
}

fn gemini(base_url: &str, version: &str) -> Remote {
    patient(base_url, version, Timeouts::default())
}

fn patient(base_url: &str, version: &str, timeouts: Timeouts) -> Remote {
    over(&Http::new(CONNECT).unwrap(), base_url, version, timeouts)
}

fn over(http: &Http, base_url: &str, version: &str, timeouts: Timeouts) -> Remote {
    let known = Provider::named("gemini").unwrap().clone();
    let provider = Provider { base_url: base_url.into(), api_version: Some(version.into()), ..known };
    let options = RemoteOptions {
        key: Some(Secret(KEY.into())),
        options: Options { thinking: true, ..Options::default() },
        timeouts,
        ..RemoteOptions::new(provider, "gemini-3-flash-preview")
    };
    Remote::new(http, options).unwrap()
}

fn hello() -> Request {
    Request { messages: vec![Message::User(vec![Part::Text("hello".into())])], ..Request::default() }
}

/// The whole stream, or the first error.
async fn ask(model: &Remote) -> Result<Vec<TurnEvent>, ModelError> {
    let mut stream = model.stream(hello().into()).await?;
    let mut events = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, stream.next()).await.expect("the stream goes on") {
        events.push(event?);
    }
    events.retain(|event| !matches!(event, TurnEvent::Usage(_)));
    Ok(events)
}

fn is_finished(event: Option<&TurnEvent>) -> bool {
    matches!(event, Some(TurnEvent::Finished { .. }))
}

#[tokio::test]
async fn a_turn_is_asked_for_as_documented_and_read_from_seven_byte_pieces() {
    let server = Server::start(|_| {
        let pieces: Vec<_> = fixture!("stream_text.sse")
            .as_bytes()
            .chunks(7)
            .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
            .collect();
        answer(200, Body::from_stream(futures::stream::iter(pieces)))
    })
    .await;
    let events = ask(&gemini(&server.url, "v1beta")).await.unwrap();
    assert_eq!(events.len(), 3);
    assert_eq!(events[1], TurnEvent::Text(", wörld 👋".into()));
    assert!(is_finished(events.last()));
    let [asked] = &server.asked()[..] else { panic!("{:?}", server.lines()) };
    assert_eq!(asked.line, "POST /v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse");
    assert_eq!(asked.key.as_deref(), Some(KEY));
    assert_eq!(
        String::from_utf8(asked.body.clone()).unwrap(),
        r#"{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#
    );
}

#[tokio::test]
async fn the_probe_asks_for_the_model_and_costs_no_turn() {
    let server = Server::start(|_| answer(200, "{}")).await;
    gemini(&server.url, "v1").probe().await.unwrap();
    assert_eq!(server.lines(), ["GET /v1/models/gemini-3-flash-preview"]);
}

#[tokio::test]
async fn a_version_that_does_not_do_gives_way_to_v1beta_and_is_not_asked_again() {
    for status in [404, 400] {
        let server = Server::start(move |asked| {
            let old = asked.line.contains("/v1/");
            if old { answer(status, "{}") } else { answer(200, fixture!("stream_text.sse")) }
        })
        .await;
        let http = Http::new(CONNECT).unwrap();
        // A run opens a model of its own.
        for _ in 0..2 {
            let model = over(&http, &server.url, "v1", Timeouts::default());
            assert!(is_finished(ask(&model).await.unwrap().last()));
        }
        let versions: Vec<String> =
            server.lines().iter().map(|line| line.split('/').nth(1).unwrap().to_owned()).collect();
        assert_eq!(versions, ["v1", "v1beta", "v1beta"]);
        let elsewhere = Server::start(|_| answer(200, fixture!("stream_text.sse"))).await;
        ask(&over(&http, &elsewhere.url, "v1", Timeouts::default())).await.unwrap();
        assert!(elsewhere.lines()[0].starts_with("POST /v1/"), "{:?}", elsewhere.lines());
    }
}

#[tokio::test]
async fn a_model_that_no_version_knows_is_not_found_and_nothing_is_remembered() {
    let server = Server::start(|_| answer(404, fixture!("error_404.json"))).await;
    let model = gemini(&server.url, "v1");
    for _ in 0..2 {
        assert_eq!(model.probe().await.unwrap_err().kind, ModelErrorKind::NotFound);
    }
    assert_eq!(server.lines().iter().filter(|line| line.contains("/v1/")).count(), 2);
}

// bar: C75
#[tokio::test]
async fn a_provider_that_echoes_the_key_does_not_put_it_into_the_error() {
    let body = format!(r#"{{"error":{{"code":401,"message":"the key {KEY} is bad"}}}}"#);
    let server = Server::start(move |_| answer(401, body.clone())).await;
    let error = gemini(&server.url, "v1").probe().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("[key]") && !format!("{error:?}").contains(KEY), "{error:?}");
}

#[tokio::test]
async fn what_other_headers_say_is_left_where_it_stands() {
    let server =
        Server::start(|_| answer(401, r#"{"error":{"code":401,"message":"see v1, 11 times"}}"#)).await;
    let known = Provider::named("gemini").unwrap().clone();
    let headers = [("x-version".to_owned(), Secret("1".into()))].into();
    let provider = Provider { base_url: server.url.clone(), headers, ..known };
    let options =
        RemoteOptions { key: Some(Secret(KEY.into())), ..RemoteOptions::new(provider, "some-model") };
    let error = Remote::new(&Http::new(CONNECT).unwrap(), options).unwrap().probe().await.unwrap_err();
    assert!(error.message.contains("see v1, 11 times"), "{error}");
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A server that reads a request, writes `text` after it and hands the connection over.
async fn raw(text: String) -> (String, tokio::task::JoinHandle<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        // The body's last bytes; it comes in one piece with a known end.
        while !request.ends_with(b"]}]}") {
            assert_ne!(socket.read_buf(&mut request).await.unwrap(), 0);
        }
        socket.write_all(text.as_bytes()).await.unwrap();
        socket
    });
    (url, task)
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn first_piece() -> String {
    chunk("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"}}]}\n\n")
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let (url, server) = raw(format!("{HEAD}{}", first_piece())).await;
    let mut stream = gemini(&url, "v1").stream(hello().into()).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(TurnEvent::Text("a".into()))));
    drop(stream);
    let mut socket = server.await.unwrap();
    let mut rest = [0; 16];
    let read =
        tokio::time::timeout(PATIENCE, socket.read(&mut rest)).await.expect("the connection is closed");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn dropping_the_question_before_its_answer_ends_the_request() {
    let (url, server) = raw(String::new()).await;
    let model = gemini(&url, "v1");
    let mut socket = tokio::select! {
        _ = model.stream(hello().into()) => panic!("there is no answer"),
        socket = server => socket.unwrap(),
    };
    let read =
        tokio::time::timeout(PATIENCE, socket.read(&mut [0; 16])).await.expect("the connection is closed");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

// bar: C61, C62
#[tokio::test]
async fn a_connection_lost_in_the_middle_never_finishes_a_turn() {
    // With the end of the body, the server says that it is whole; without, that it was lost.
    for (end, kind) in [("0\r\n\r\n", ModelErrorKind::Protocol), ("", ModelErrorKind::Network)] {
        let (url, server) = raw(format!("{HEAD}{}{end}", first_piece())).await;
        let mut stream = gemini(&url, "v1").stream(hello().into()).await.unwrap();
        drop(server.await.unwrap());
        assert_eq!(stream.next().await, Some(Ok(TurnEvent::Text("a".into()))));
        let error = tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap().unwrap_err();
        assert_eq!((error.kind, error.retry()), (kind, Retry::After(None)));
        assert!(stream.next().await.is_none(), "an error is the last");
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up_before_and_within_its_answer() {
    for text in [String::new(), format!("{HEAD}{}", first_piece())] {
        let (url, server) = raw(text).await;
        let short = Duration::from_millis(300);
        let model = patient(&url, "v1", Timeouts { first_byte: short, idle: short });
        let error = ask(&model).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Network);
        assert!(error.message.ends_with("was silent for 0.3 s"), "{error}");
        drop(server.await.unwrap());
    }
}

#[tokio::test]
async fn a_whole_turn_is_not_held_up_by_a_connection_that_stays_open() {
    let (url, server) = raw(format!("{HEAD}{}", chunk(fixture!("stream_text.sse")))).await;
    let events = ask(&gemini(&url, "v1")).await.unwrap();
    assert!(is_finished(events.last()));
    drop(server.await.unwrap());
}
