//! The real server on loopback, before relays that are counted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use protocol::command::GuestAnswer;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use serde_json::{Value, json};
use tools::Registry;

use super::super::AtWork;
use super::*;
use crate::client::{Client, Heard};

const TOKEN: &str = "canary-token";
/// A call that no one answers.
const LONG: &str = "wait";

#[derive(Default)]
struct Noted {
    opened: AtomicUsize,
    closed: Mutex<Vec<usize>>,
    begun: AtomicUsize,
    given_up: AtomicUsize,
}

struct Numbered(usize, Arc<Noted>);

struct Under(Arc<Noted>);

impl Drop for Under {
    fn drop(&mut self) {
        self.0.given_up.fetch_add(1, Ordering::Relaxed);
    }
}

impl Relay for Numbered {
    fn call<'a>(
        &'a self,
        client: &'a str,
        tool: &'a str,
        _: Value,
    ) -> BoxFuture<'a, Result<GuestAnswer, String>> {
        async move {
            if tool == LONG {
                let _under = Under(Arc::clone(&self.1));
                self.1.begun.fetch_add(1, Ordering::Relaxed);
                std::future::pending::<()>().await;
            }
            let answer = json!(format!("{client} has relay {}", self.0));
            Ok(GuestAnswer { answer, said: Vec::new(), picture: None })
        }
        .boxed()
    }

    fn at_work(&self) -> BoxFuture<'_, Vec<AtWork>> {
        async { Vec::new() }.boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async { self.1.closed.lock().unwrap().push(self.0) }.boxed()
    }
}

struct Served {
    seen: Arc<Noted>,
    url: String,
    http: reqwest::Client,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<io::Result<()>>,
}

impl Served {
    async fn start() -> Self {
        let seen = Arc::<Noted>::default();
        let address = Address::take(0, Secret(TOKEN.into())).await.unwrap();
        assert!(address.at.ip().is_loopback() && address.header().ends_with(TOKEN));
        let (url, stop, specs) = (address.to_string(), CancellationToken::new(), Registry::builtin().specs());
        let (of_relay, of_serve) = (Arc::clone(&seen), stop.clone());
        let relay = move || -> Arc<dyn Relay> {
            let number = of_relay.opened.fetch_add(1, Ordering::Relaxed) + 1;
            Arc::new(Numbered(number, Arc::clone(&of_relay)))
        };
        let serving =
            tokio::spawn(async move { serve(Role::Desktop, &specs, relay, address, of_serve).await });
        Self { seen, url, http: reqwest::Client::new(), stop, serving }
    }

    fn post(&self, method: &str, params: &Value) -> reqwest::RequestBuilder {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let types = "application/json, text/event-stream";
        let post = self.http.post(&self.url).bearer_auth(TOKEN).header("accept", types);
        post.header("content-type", "application/json").body(body.to_string())
    }

    fn initialize(&self) -> reqwest::RequestBuilder {
        let info = json!({ "name": "pond", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        self.post("initialize", &params)
    }

    /// A client of the protocol with sessions, as it begins.
    async fn session(&self) -> String {
        let answer = self.initialize().send().await.unwrap();
        let session = answer.headers()[SESSION].to_str().unwrap().to_owned();
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let told = self.post("", &json!({})).header(SESSION, &session).body(begun.to_string());
        assert_eq!(told.send().await.unwrap().status(), StatusCode::ACCEPTED);
        session
    }

    fn call(&self, session: &str, tool: &str) -> reqwest::RequestBuilder {
        self.post("tools/call", &json!({ "name": tool, "arguments": {} })).header(SESSION, session)
    }

    async fn until(&self, is_so: impl Fn(&Noted) -> bool) {
        let looking = async {
            while !is_so(&self.seen) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), looking).await.unwrap();
    }
}

async fn status(request: reqwest::RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn only_who_has_the_token_and_asks_for_this_machine_is_answered() {
    let served = Served::start().await;
    let (url, http) = (&served.url, &served.http);
    // Without the token nothing of it is read, whatever it is.
    for (header, value) in [
        ("x-none", ""),
        ("authorization", TOKEN),
        ("authorization", "Bearer "),
        ("authorization", "Bearer canary-tokem"),
        ("authorization", "Bearer canary-token2"),
        ("authorization", "Basic canary-token"),
    ] {
        for request in [http.get(url), http.post(url).body("{"), http.delete(url)] {
            let answer = request.header(header, value).send().await.unwrap();
            assert_eq!(
                (answer.status().as_u16(), &answer.headers()["www-authenticate"]),
                (401, &HeaderValue::from_static("Bearer"))
            );
        }
    }
    let port = url.strip_suffix(PATH).unwrap().rsplit(':').next().unwrap();
    for (host, origin, answer) in [
        ("evil.example".to_owned(), None, 403),
        (format!("evil.example:{port}"), None, 403),
        ("127.0.0.1:1".to_owned(), None, 403),
        (format!("localhost:{port}"), Some("http://evil.example"), 403),
        (format!("localhost:{port}"), Some("https://localhost.evil.example"), 403),
        (format!("localhost:{port}"), Some("null"), 403),
        (format!("localhost:{port}"), Some("http://localhost:3000"), 200),
        (format!("127.0.0.1:{port}"), None, 200),
    ] {
        let mut request = served.initialize().header("host", &host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        assert_eq!(status(request).await, answer, "{host} {origin:?}");
    }
    let long = "x".repeat(REQUEST + 1);
    assert_eq!(status(served.initialize().body(long)).await, 413);
    assert_eq!(status(http.get(url.replace(PATH, "/")).bearer_auth(TOKEN)).await, 404);
    assert_eq!(served.seen.opened.load(Ordering::Relaxed), 0, "nobody has called anything");
}

#[tokio::test]
async fn each_session_is_a_client_of_its_own_until_it_ends() {
    let served = Served::start().await;
    let (one, other) = (served.session().await, served.session().await);
    let says =
        async |session: &str| served.call(session, "screenshot").send().await.unwrap().text().await.unwrap();
    assert!(says(&one).await.contains("pond has relay 1"));
    assert!(says(&other).await.contains("pond has relay 2"));
    assert!(says(&one).await.contains("pond has relay 1"));
    let end = served.http.delete(&served.url).bearer_auth(TOKEN).header(SESSION, &one);
    assert_eq!(status(end).await, 202);
    served.until(|seen| *seen.closed.lock().unwrap() == [1]).await;
    assert_eq!(status(served.call(&one, "screenshot")).await, 404);
    assert!(says(&other).await.contains("pond has relay 2"));

    // Stopped: what is under way is given up, and all have left.
    let under = served.call(&other, LONG);
    let under = tokio::spawn(async move { under.send().await.unwrap().text().await });
    served.until(|seen| seen.begun.load(Ordering::Relaxed) == 1).await;
    served.stop.cancel();
    let _ = under.await.unwrap();
    served.serving.await.unwrap().unwrap();
    assert_eq!(served.seen.given_up.load(Ordering::Relaxed), 1);
    assert_eq!(*served.seen.closed.lock().unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_client_of_the_protocol_without_sessions_is_its_name() {
    let served = Served::start().await;
    let connect = async || {
        let config = StreamableHttpClientTransportConfig::with_uri(served.url.as_str()).auth_header(TOKEN);
        let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        Client::new("us".into(), Heard::default(), Arc::default())
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .unwrap()
    };
    let client = connect().await;
    assert!(client.list_tools(None).await.unwrap().tools.iter().any(|tool| tool.name == "screenshot"));
    let says = async |client: &RunningService<RoleClient, Client>| {
        let done = client.call_tool(CallToolRequestParams::new("screenshot")).await.unwrap();
        serde_json::to_string(&done.content).unwrap()
    };
    assert!(says(&client).await.contains("miki has relay 1"));
    assert!(says(&client).await.contains("miki has relay 1"), "over connections, too");
    // A connection that ends gives up what is under way on it, and says nothing of who has left.
    let peer = client.peer().clone();
    let long = tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new(LONG)).await });
    served.until(|seen| seen.begun.load(Ordering::Relaxed) == 1).await;
    drop(client);
    assert!(long.await.unwrap().is_err());
    served.until(|seen| seen.given_up.load(Ordering::Relaxed) == 1).await;
    assert!(says(&connect().await).await.contains("miki has relay 1"));
    served.stop.cancel();
    served.serving.await.unwrap().unwrap();
    assert_eq!(*served.seen.closed.lock().unwrap(), [1]);
}
