//! A server at an address, and where its users sign in, in one: small, and as strict as the standards are.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What it wants of whoever comes.
#[derive(Clone, Default)]
pub enum Wants {
    #[default]
    Nothing,
    /// This header with this value.
    Header(&'static str, String),
    SignIn,
}

#[derive(Clone, Default)]
pub struct Manners {
    pub wants: Wants,
    /// Whoever is not let in is told so by a challenge.
    pub challenges: bool,
    /// It publishes where its users sign in.
    pub publishes: bool,
    /// Fields of what is said of the place to sign in that are otherwise.
    pub metadata: BTreeMap<&'static str, Value>,
    /// Whoever asks for the server is sent there.
    pub redirects_to: Option<String>,
    /// The browser comes back with this in the place of what it should bring.
    pub answers: Option<&'static str>,
    /// Its tool wants this scope, too.
    pub wants_scope: Option<&'static str>,
    /// Tokens are renewed no more.
    pub renews_nothing: bool,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    pub path: String,
    pub headers: String,
    pub body: String,
}

#[derive(Default)]
struct Given {
    /// The address that a browser was sent back to, and the challenge of its code.
    code: Option<(String, String)>,
    count: u32,
    access: String,
    refresh: String,
    /// What was agreed to.
    scope: String,
}

pub struct SignInPlace {
    pub origin: String,
    pub manners: Mutex<Manners>,
    seen: Mutex<Vec<SeenRequest>>,
    given: Mutex<Given>,
    _serving: JoinSet<()>,
}

impl SignInPlace {
    pub async fn open(manners: Manners) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        Arc::new_cyclic(|place: &std::sync::Weak<Self>| {
            let answer = |State(place): State<std::sync::Weak<Self>>, request: Request| async move {
                match place.upgrade() {
                    Some(place) => place.answer(request).await,
                    None => status(503),
                }
            };
            let router = axum::Router::new().fallback(answer).with_state(place.clone());
            let mut serving = JoinSet::new();
            serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
            Self {
                origin,
                manners: Mutex::new(manners),
                seen: Mutex::default(),
                given: Mutex::default(),
                _serving: serving,
            }
        })
    }

    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// Those to one path.
    pub fn seen_at(&self, path: &str) -> Vec<SeenRequest> {
        self.seen().into_iter().filter(|seen| seen.path == path).collect()
    }

    /// The access token that is good now; empty if none is.
    pub fn access(&self) -> String {
        self.given.lock().unwrap().access.clone()
    }

    /// From now on no token that was given lets anybody in.
    pub fn revoke(&self) {
        self.given.lock().unwrap().access.clear();
    }

    async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let path = head.uri.path().to_owned();
        let headers = format!("{:?}", head.headers);
        self.seen.lock().unwrap().push(SeenRequest { path: path.clone(), headers, body: body.clone() });
        let header =
            |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let fields = fields(if head.method == "POST" { &body } else { head.uri.query().unwrap_or_default() });
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let manners = self.manners.lock().unwrap().clone();
        match path.as_str() {
            "/mcp" if manners.redirects_to.is_some() => redirect(&manners.redirects_to.unwrap_or_default()),
            "/mcp" => {
                let may = match &manners.wants {
                    Wants::Nothing => true,
                    Wants::Header(name, value) => header(name) == value,
                    Wants::SignIn => {
                        let access = self.access();
                        !access.is_empty() && header("authorization") == format!("Bearer {access}")
                    }
                };
                let lacks = |scope: &&str| {
                    body.contains("tools/call")
                        && !self.given.lock().unwrap().scope.split(' ').any(|has| has == *scope)
                };
                match may {
                    true if let Some(scope) = manners.wants_scope.filter(lacks) => {
                        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                        let answer = Response::builder().status(403).header("www-authenticate", challenge);
                        answer.body(Body::empty()).unwrap()
                    }
                    true if head.method == "POST" => {
                        speak(&body, header("authorization"), header("x-api-key"))
                    }
                    true => status(405),
                    false => self.not_let_in(manners.challenges),
                }
            }
            "/about/mcp" if manners.publishes => answer(&json!({
                "resource": self.url(),
                "authorization_servers": [self.origin],
                "scopes_supported": ["ponds"],
            })),
            "/.well-known/oauth-authorization-server" if manners.publishes => {
                answer(&self.metadata(&manners))
            }
            "/register" => {
                let asked: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(asked["token_endpoint_auth_method"], "none");
                answer(&json!({ "client_id": "miki-1", "redirect_uris": asked["redirect_uris"] }))
            }
            "/authorize" => {
                assert_eq!(
                    (field("response_type").as_str(), field("code_challenge_method").as_str()),
                    ("code", "S256")
                );
                assert_eq!((field("client_id"), field("resource")), ("miki-1".into(), self.url()));
                // Only what was pointed to says which scopes there are.
                let scopes = field("scope");
                let more = manners.wants_scope.map(|scope| format!(" {scope}")).unwrap_or_default();
                let own = scopes.strip_suffix(&more).unwrap_or(&scopes);
                assert_eq!(own, if manners.challenges { "ponds" } else { "" });
                self.given.lock().unwrap().scope.clone_from(&scopes);
                let back = field("redirect_uri");
                self.given.lock().unwrap().code = Some((back.clone(), field("code_challenge")));
                let brought = match manners.answers {
                    Some(other) => other.replace("STATE", &field("state")).replace("ORIGIN", &self.origin),
                    None => format!("code=code-canary&state={}&iss={}", field("state"), self.origin),
                };
                redirect(&format!("{back}?{brought}"))
            }
            "/token" => self.token(&manners, &field),
            _ => status(404),
        }
    }

    fn metadata(&self, manners: &Manners) -> Value {
        let mut all = json!({
            "issuer": self.origin,
            "authorization_endpoint": format!("{}/authorize", self.origin),
            "token_endpoint": format!("{}/token", self.origin),
            "registration_endpoint": format!("{}/register", self.origin),
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        });
        for (name, value) in &manners.metadata {
            all[*name] = value.clone();
        }
        all
    }

    fn not_let_in(&self, challenges: bool) -> Response {
        let answer = Response::builder().status(401);
        let challenge =
            format!("Bearer error=\"invalid_token\", resource_metadata=\"{}/about/mcp\"", self.origin);
        let answer = if challenges { answer.header("www-authenticate", challenge) } else { answer };
        answer.body(Body::empty()).unwrap()
    }

    fn token(&self, manners: &Manners, field: &dyn Fn(&str) -> String) -> Response {
        let mut given = self.given.lock().unwrap();
        let proven = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
        let may = field("client_id") == "miki-1"
            && field("resource") == self.url()
            && match field("grant_type").as_str() {
                "authorization_code" => {
                    field("code") == "code-canary"
                        && given.code.take() == Some((field("redirect_uri"), proven))
                }
                "refresh_token" => !manners.renews_nothing && field("refresh_token") == given.refresh,
                _ => false,
            };
        if !may {
            let said = json!({ "error": "invalid_grant", "error_description": "not that" });
            return Response::builder()
                .status(400)
                .header("content-type", "application/json")
                .body(Body::from(said.to_string()))
                .unwrap();
        }
        given.count += 1;
        given.access = format!("access-canary-{}", given.count);
        given.refresh = format!("refresh-canary-{}", given.count);
        answer(&json!({
            "access_token": given.access, "refresh_token": given.refresh, "token_type": "Bearer",
            "expires_in": 3600, "scope": "ponds", "id_token": "id-canary",
        }))
    }
}

/// The protocol of 2025-11-25, as far as one tool needs it; it says again what it was sent.
fn speak(body: &str, authorization: &str, key: &str) -> Response {
    let message: Value = serde_json::from_str(body).unwrap();
    let Some(id) = message.get("id") else { return status(202) };
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "remote", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "echo", "description": format!("Says it again. {authorization}{key}"),
            "inputSchema": { "type": "object", "properties": {} },
        }] }),
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": format!("you sent {authorization}{key}") }] })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return answer(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    answer(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn answer(value: &Value) -> Response {
    Response::builder()
        .header("content-type", "application/json")
        .body(Body::from(value.to_string()))
        .unwrap()
}

fn status(code: u16) -> Response {
    Response::builder().status(StatusCode::from_u16(code).unwrap()).body(Body::empty()).unwrap()
}

fn redirect(to: &str) -> Response {
    Response::builder().status(302).header("location", to).body(Body::empty()).unwrap()
}

fn fields(text: &str) -> BTreeMap<String, String> {
    Url::parse(&format!("http://x/?{text}")).unwrap().query_pairs().into_owned().collect()
}
