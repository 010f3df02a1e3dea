//! Servers at an address: keys as headers, and signing in, against a real server that is on this machine.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by breaking off")]

mod place;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use desktop::fake::FakeDesktop;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, NEVER_LOGGED, Servers, Started, Tokens};
use protocol::command::Secret;
use protocol::ids::CallId;
use protocol::mcp::{AgreedTool, McpServer, ServerState, ServerView, ToolDoes};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode, ToolCall};
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Call, ExecRequest, Executed, Grants, Limits, Planning, Ports, Registry, Router};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use place::{Manners, SignInPlace, Wants};

const KEY: &str = "Bearer key-canary";
/// What every secret of these tests has in it.
const CANARY: &str = "canary";

/// All that is written to the log, as the app writes it for whoever asks for everything.
static LOG: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(Mutex::default);

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

/// In the place of the keychain.
#[derive(Default)]
struct Chain {
    headers: Mutex<BTreeMap<String, Secret>>,
    signed_in: Mutex<Option<Secret>>,
    /// What happens in the moment in which new tokens are kept.
    as_kept: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Chain {
    fn kept(&self) -> Option<Value> {
        self.signed_in.lock().unwrap().as_ref().map(|kept| serde_json::from_str(&kept.0).unwrap())
    }

    /// As if the tokens had been given long ago.
    fn grow_old(&self) {
        let mut kept = self.kept().unwrap();
        kept["credentials"]["token_received_at"] = json!(1);
        *self.signed_in.lock().unwrap() = Some(Secret(kept.to_string()));
    }
}

impl Launch for Chain {
    fn launch<'a>(&'a self, _: &'a str, _: &'a McpServer) -> BoxFuture<'a, Result<Started, String>> {
        unreachable!("none is a program")
    }

    fn headers<'a>(
        &'a self,
        _: &'a str,
        server: &'a McpServer,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, String>> {
        let all = self.headers.lock().unwrap();
        let one = |name: &String| {
            all.get(name).cloned().map(|value| (name.clone(), value)).ok_or_else(|| format!("no {name}"))
        };
        let found = server.keys.iter().map(one).collect();
        async { found }.boxed()
    }

    fn sign_in<'a>(&'a self, _: &'a str, _: &'a McpServer) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        async { Ok(self.signed_in.lock().unwrap().clone()) }.boxed()
    }

    fn keep_sign_in<'a>(
        &'a self,
        _: &'a str,
        _: &'a McpServer,
        tokens: Tokens<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let mut kept = self.signed_in.lock().unwrap();
        *kept = match tokens {
            Tokens::New(new) => {
                if let Some(happens) = self.as_kept.lock().unwrap().take() {
                    happens();
                }
                Some(new.clone())
            }
            Tokens::Renewed { from, to } if kept.as_ref() == Some(from) => Some(to.clone()),
            Tokens::Renewed { .. } => kept.clone(),
            Tokens::Gone => None,
        };
        async { Ok(()) }.boxed()
    }
}

struct Stage {
    place: Arc<SignInPlace>,
    chain: Arc<Chain>,
    servers: Arc<Servers>,
    router: Router,
    config: McpServer,
    _folder: tempfile::TempDir,
}

impl Stage {
    async fn new(manners: Manners, keys: &[&str]) -> Self {
        let place = SignInPlace::open(manners).await;
        Self::at(place, Arc::default(), keys)
    }

    /// As a program that was started again finds it.
    fn at(place: Arc<SignInPlace>, chain: Arc<Chain>, keys: &[&str]) -> Self {
        let levels =
            Targets::new().with_default(LevelFilter::DEBUG).with_target(NEVER_LOGGED, LevelFilter::OFF);
        let told = tracing_subscriber::fmt::layer().with_writer(|| Writer).with_ansi(false);
        // Only the first of these tests sets it.
        let _ = tracing_subscriber::registry().with(told).with(levels).try_init();
        let folder = tempfile::tempdir().unwrap();
        let registry = Arc::new(Registry::builtin());
        let servers = Servers::new(Arc::clone(&registry), chain.clone(), folder.path().join("mcp"));
        let router = Router::new(registry, FakeDesktop::new());
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let config = McpServer { url: place.url(), keys, ..McpServer::default() };
        let stage = Self { place, chain, servers, router, config, _folder: folder };
        stage.set();
        stage
    }

    fn set(&self) {
        self.servers.set(&BTreeMap::from([("pond".to_owned(), self.config.clone())]));
    }

    async fn test(&self) -> ServerView {
        self.servers.test("pond").await.unwrap()
    }

    /// Why it cannot be used.
    async fn failure(&self) -> String {
        let state = self.test().await.state;
        let ServerState::Failed { why, .. } = &state else { unreachable!("{state:?}") };
        why.clone()
    }

    async fn agreed(&mut self) -> ServerView {
        let view = self.test().await;
        assert_eq!(view.state, ServerState::Connected, "{view:?}");
        let agreed = view
            .tools
            .iter()
            .map(|tool| (tool.name.clone(), AgreedTool { hash: tool.hash.clone(), does: ToolDoes::Edits }));
        self.config.tools = agreed.collect();
        self.set();
        view
    }

    async fn call(&self) -> Executed {
        let request = ExecRequest {
            call: ToolCall { id: CallId("c".into()), tool: "pond__echo".into(), arguments: json!({}) },
            mode: Mode::Act,
            approval: ApprovalMode::Auto,
            grants: Grants::default(),
            has_read: false,
            approved: None,
            planning: Planning::Off,
            waived: Vec::new(),
            fence: Default::default(),
            ports: Ports::default(),
        };
        let limits = Arc::new(Limits::from(&Settings::default()));
        self.router.execute(Call { request, cancel: CancellationToken::new(), limits }).await
    }

    /// Begins, and does what the user's browser does.
    async fn sign_in(&self) -> Result<(), ErrorView> {
        self.sign_in_as(None).await
    }

    async fn sign_in_as(&self, client: Option<&str>) -> Result<(), ErrorView> {
        self.sign_in_for(client, &[]).await
    }

    async fn sign_in_for(&self, client: Option<&str>, scopes: &[String]) -> Result<(), ErrorView> {
        let open = self.servers.begin_sign_in("pond", client, scopes).await?;
        let (done, ()) = tokio::join!(self.servers.finish_sign_in("pond"), browse(&open));
        done
    }
}

/// Opens an address, and goes on to where it leads, once.
async fn browse(open: &str) {
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let led = client.get(open).send().await.unwrap();
    assert_eq!(led.status(), 302, "{open}");
    let to = led.headers()["location"].to_str().unwrap().to_owned();
    let page = client.get(to).send().await.unwrap().text().await.unwrap();
    assert!(!page.contains(CANARY), "{page}");
}

fn signing_in() -> Manners {
    Manners { wants: Wants::SignIn, challenges: true, publishes: true, ..Manners::default() }
}

#[tokio::test]
async fn a_key_goes_as_a_header_to_its_server_and_is_told_to_nobody() {
    // Also where it is said again without its scheme, in another case of its name, and in what it offers.
    for (header, value, of_it) in
        [("Authorization", KEY, "authorization"), ("X-Api-Key", "key-canary", "x-api-key")]
    {
        let wants = Wants::Header(of_it, value.to_owned());
        let mut stage = Stage::new(Manners { wants, ..Manners::default() }, &[header]).await;
        stage.chain.headers.lock().unwrap().insert(header.into(), Secret(value.into()));
        let view = stage.agreed().await;
        assert!(view.runs.ends_with(&format!("with {header} (from the keychain)")), "{}", view.runs);
        let result = stage.call().await.result;
        assert_eq!(result.data, json!({ "text": "you sent (a key)" }), "{:?}", result.error);
        assert!(!format!("{view:?}{:?}", stage.test().await).contains(CANARY), "{view:?}");
        assert!(stage.place.seen().iter().all(|seen| seen.headers.contains(value)));
    }
    assert!(!log().contains(CANARY), "{}", log());
}

#[tokio::test]
async fn one_that_lets_nobody_in_says_what_its_user_can_do() {
    for challenges in [true, false] {
        let stage = Stage::new(Manners { wants: Wants::SignIn, challenges, ..Manners::default() }, &[]).await;
        assert_eq!(stage.failure().await, "it wants its user to sign in: miki mcp login pond");
        let stage = Stage::new(
            Manners { wants: Wants::SignIn, challenges, ..Manners::default() },
            &["Authorization"],
        )
        .await;
        assert_eq!(stage.failure().await, "no Authorization");
        stage.chain.headers.lock().unwrap().insert("Authorization".into(), Secret(KEY.into()));
        stage.servers.renew("pond").await.unwrap();
        let why = stage.failure().await;
        assert!(why.ends_with("miki mcp key pond Authorization") && !why.contains(CANARY), "{why}");
        let refused = stage.servers.begin_sign_in("pond", None, &[]).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::BadRequest, "{refused:?}");
    }
}

#[tokio::test]
async fn nobody_is_led_elsewhere_and_a_key_goes_to_its_own_server_alone() {
    let elsewhere = SignInPlace::open(Manners::default()).await;
    let manners = Manners { redirects_to: Some(elsewhere.url()), ..Manners::default() };
    let stage = Stage::new(manners, &["Authorization"]).await;
    stage.chain.headers.lock().unwrap().insert("Authorization".into(), Secret(KEY.into()));
    let why = stage.failure().await;
    assert!(!why.contains(CANARY), "{why}");
    assert!(!stage.place.seen().is_empty() && elsewhere.seen().is_empty(), "{:?}", elsewhere.seen());
}

#[tokio::test]
async fn its_user_signs_in_in_a_browser_and_the_tokens_are_told_to_nobody() {
    let mut stage = Stage::new(signing_in(), &[]).await;
    stage.sign_in().await.unwrap();
    let kept = stage.chain.kept().unwrap();
    assert_eq!(kept["credentials"]["token_response"]["refresh_token"], "refresh-canary-1");
    assert!(!kept.to_string().contains("id-canary"), "what is not used is kept");
    let view = stage.agreed().await;
    let result = stage.call().await.result;
    assert_eq!(result.data, json!({ "text": "you sent Bearer (a key)" }), "{:?}", result.error);
    assert!(!format!("{view:?}{result:?}{:?}", stage.servers.list()).contains(CANARY), "{view:?}");
    assert!(!log().contains(CANARY), "{}", log());
    // The tokens went to the server, the refresh token to nobody yet.
    let with = |what: &str| {
        stage.place.seen().into_iter().filter(|seen| format!("{seen:?}").contains(what)).collect::<Vec<_>>()
    };
    assert!(with("access-canary").iter().all(|seen| seen.path == "/mcp"));
    assert!(with("refresh-canary").is_empty());
    // A program that is started again is signed in still.
    let again = Stage::at(Arc::clone(&stage.place), Arc::clone(&stage.chain), &[]);
    assert_eq!(again.test().await.state, ServerState::Connected);
    again.servers.sign_out("pond").await.unwrap();
    assert_eq!(again.chain.kept(), None);
    assert_eq!(again.failure().await, "it wants its user to sign in: miki mcp login pond");
}

#[tokio::test]
async fn one_that_wants_more_than_its_user_agreed_to_says_what_and_gets_it_with_the_next_sign_in() {
    let manners = Manners { wants_scope: Some("ponds:deep"), ..signing_in() };
    let mut stage = Stage::new(manners, &[]).await;
    stage.sign_in().await.unwrap();
    stage.agreed().await;
    let refused = stage.call().await.result.error.unwrap();
    let way = "wants more than its user has agreed to there: ponds:deep; sign in again: miki mcp login pond --scope ponds:deep";
    assert!(refused.message.contains(way), "{refused:?}");
    let bad = stage.sign_in_for(None, &["a b".to_owned()]).await.unwrap_err();
    assert!(bad.message.contains("is no scope"), "{bad:?}");
    stage.sign_in_for(None, &["ponds:deep".to_owned()]).await.unwrap();
    let result = stage.call().await.result;
    assert_eq!(result.error, None);
}

#[tokio::test]
async fn a_sign_in_that_is_not_the_users_own_or_not_safe_is_none_and_says_why() {
    let others = "http://as.example/token";
    let other = |name: &'static str, value: &str| Manners {
        metadata: BTreeMap::from([(name, json!(value))]),
        ..signing_in()
    };
    let answers = |brought| Manners { answers: Some(brought), ..signing_in() };
    for (manners, why) in [
        (answers("error=access_denied&state=STATE"), "refused in the browser"),
        (answers("code=code-canary&state=STATE"), "issuer"),
        (answers("code=code-canary&state=STATE&iss=https://evil.example"), "issuer mismatch"),
        (
            other("token_endpoint", others),
            "its token endpoint http://as.example is neither https nor http on this machine",
        ),
        (other("authorization_endpoint", "http://as.example/a"), "authorization endpoint"),
        (other("registration_endpoint", "http://as.example/r"), "registration endpoint"),
        (other("issuer", "https://as.example"), "issuer mismatch"),
        (
            Manners {
                metadata: BTreeMap::from([("code_challenge_methods_supported", json!(["plain"]))]),
                ..signing_in()
            },
            "PKCE",
        ),
        (
            Manners { metadata: BTreeMap::from([("registration_endpoint", Value::Null)]), ..signing_in() },
            "--client-id",
        ),
        (Manners { publishes: false, ..signing_in() }, "does not say where its users sign in"),
        (
            Manners { publishes: false, challenges: false, ..signing_in() },
            "does not say where its users sign in",
        ),
    ] {
        let stage = Stage::new(manners, &[]).await;
        let error = stage.sign_in().await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(error.message.contains(why), "{why}: {}", error.message);
        assert!(!format!("{error:?}").contains(CANARY), "{error:?}");
        assert_eq!(stage.chain.kept(), None, "{why}");
        let begun = stage.servers.finish_sign_in("pond").await.unwrap_err();
        assert_eq!(begun.code, ErrorCode::BadRequest, "it is begun still");
    }
    let stolen = answers("code=stolen-canary&state=STATE&iss=ORIGIN");
    let error = Stage::new(stolen, &[]).await.sign_in().await.unwrap_err();
    assert!(error.message.contains("no token was given: invalid_grant: not that"), "{}", error.message);
}

#[tokio::test]
async fn one_that_publishes_less_or_registers_nobody_is_signed_in_at_still() {
    // Not pointed to: by what the place to sign in says of itself.
    let plain = Stage::new(Manners { challenges: false, ..signing_in() }, &[]).await;
    plain.sign_in().await.unwrap();
    assert_eq!(plain.test().await.state, ServerState::Connected);
    let metadata = BTreeMap::from([("registration_endpoint", Value::Null)]);
    let closed = Stage::new(Manners { metadata, ..signing_in() }, &[]).await;
    closed.sign_in_as(Some("miki-1")).await.unwrap();
    assert_eq!(closed.test().await.state, ServerState::Connected);
    assert!(closed.place.seen_at("/register").is_empty());
}

#[tokio::test]
async fn old_and_refused_tokens_are_renewed_where_they_came_from_and_kept_again() {
    let mut stage = Stage::new(signing_in(), &[]).await;
    stage.sign_in().await.unwrap();
    stage.chain.grow_old();
    let stage_again = Stage::at(Arc::clone(&stage.place), Arc::clone(&stage.chain), &[]);
    assert_eq!(stage_again.test().await.state, ServerState::Connected);
    let refresh =
        |chain: &Chain| chain.kept().unwrap()["credentials"]["token_response"]["refresh_token"].clone();
    assert_eq!(refresh(&stage.chain), "refresh-canary-2");
    // Refused in the midst of a connection.
    stage.agreed().await;
    stage.place.revoke();
    let result = stage.call().await.result;
    assert_eq!(result.data, json!({ "text": "you sent Bearer (a key)" }), "{:?}", result.error);
    assert_eq!(refresh(&stage.chain), "refresh-canary-3");
    assert!(stage.place.seen_at("/mcp").iter().all(|seen| !seen.body.contains("refresh-canary")));
    // Renewed no more: its user is told what to do, and nothing else is.
    stage.place.manners.lock().unwrap().renews_nothing = true;
    stage.place.revoke();
    let why = stage.call().await.result.error.unwrap().message;
    assert!(why.contains("it wants its user to sign in: miki mcp login pond"), "{why}");
    stage.servers.renew("pond").await.unwrap();
    assert_eq!(stage.failure().await, "it wants its user to sign in: miki mcp login pond");
    stage.place.manners.lock().unwrap().renews_nothing = false;
    stage.sign_in().await.unwrap();
    assert_eq!(stage.call().await.result.error, None);
    assert!(!log().contains(CANARY), "{}", log());
}

#[tokio::test]
async fn tokens_go_to_no_other_place_that_a_server_names_later() {
    let stage = Stage::new(signing_in(), &[]).await;
    stage.sign_in().await.unwrap();
    let elsewhere = SignInPlace::open(Manners::default()).await;
    let moved = format!("{}/token", elsewhere.origin);
    stage.place.manners.lock().unwrap().metadata = BTreeMap::from([("token_endpoint", json!(moved))]);
    stage.chain.grow_old();
    let why = stage.failure().await;
    assert!(why.contains("sign in elsewhere now") && why.ends_with("miki mcp login pond"), "{why}");
    assert!(elsewhere.seen().is_empty(), "{:?}", elsewhere.seen());
}

#[tokio::test]
async fn nothing_is_kept_of_a_sign_in_at_a_server_that_is_removed_in_that_moment() {
    let stage = Stage::new(signing_in(), &[]).await;
    let servers = Arc::clone(&stage.servers);
    *stage.chain.as_kept.lock().unwrap() = Some(Box::new(move || servers.set(&BTreeMap::new())));
    let error = stage.sign_in().await.unwrap_err();
    assert!(error.message.contains("changed or removed meanwhile"), "{}", error.message);
    assert_eq!(stage.chain.kept(), None);
}

#[tokio::test]
async fn tokens_that_are_renewed_after_their_user_signed_out_are_not_kept() {
    let mut stage = Stage::new(signing_in(), &[]).await;
    stage.sign_in().await.unwrap();
    stage.agreed().await;
    // As in the moment in which the connection that is about to renew them has not ended yet.
    for now in [None, Some(Secret("of another sign-in".into()))] {
        stage.chain.signed_in.lock().unwrap().clone_from(&now);
        stage.place.revoke();
        assert_eq!(stage.call().await.result.error, None, "it was not renewed");
        assert_eq!(*stage.chain.signed_in.lock().unwrap(), now);
    }
}

#[tokio::test]
async fn where_its_users_sign_in_is_read_once_for_the_same_tokens_however_often_it_is_connected() {
    let stage = Stage::new(signing_in(), &[]).await;
    stage.sign_in().await.unwrap();
    let connect = async || {
        let before = stage.place.seen_at("/.well-known/oauth-authorization-server").len();
        stage.servers.renew("pond").await.unwrap();
        assert_eq!(stage.test().await.state, ServerState::Connected);
        stage.place.seen_at("/.well-known/oauth-authorization-server").len() - before
    };
    assert_eq!(connect().await, 1);
    assert_eq!((connect().await, connect().await), (0, 0));
    // Renewed meanwhile, they are from the same place.
    stage.chain.grow_old();
    assert_eq!(connect().await, 0);
    assert_eq!(
        stage.chain.kept().unwrap()["credentials"]["token_response"]["refresh_token"],
        "refresh-canary-2"
    );
    // From another place, it is asked which one is right: the tokens go there, or nowhere.
    let mut kept = stage.chain.kept().unwrap();
    kept["token_endpoint"] = json!("https://as.example/token");
    *stage.chain.signed_in.lock().unwrap() = Some(Secret(kept.to_string()));
    stage.servers.renew("pond").await.unwrap();
    let why = stage.failure().await;
    assert!(why.contains("sign in elsewhere now"), "{why}");
}
