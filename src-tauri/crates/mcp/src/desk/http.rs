//! The same over streamable HTTP, for clients that cannot start a program: on this machine's loopback alone, for whoever
//! has its token.
//!
//! A page in a browser reaches loopback, too: it has no token, and is refused by its origin; a name of its own that leads
//! here (DNS rebinding), by the host that it asks for. Other users of the machine have no token.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use protocol::command::Secret;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tools::Spec;

use super::visitors::Visitors;
use super::{Desk, Relay, Relays, Role};

/// Where on its address it answers.
const PATH: &str = "/mcp";
/// Bytes of a request: the arguments of one call.
const REQUEST: usize = 1024 * 1024;
/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 64;
/// Between two looks at who has left.
const LOOK: Duration = Duration::from_secs(30);
/// A session that nothing was asked in for this long is forgotten; its run has ended long before.
const FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);
/// The header by which a client names its session.
const SESSION: &str = "mcp-session-id";

/// An address of this machine alone, and what must be shown there.
pub struct Address {
    listener: TcpListener,
    at: SocketAddr,
    token: Secret,
}

impl Address {
    /// Takes a port of this machine, any free one for 0; the token is to be one that nobody can guess.
    ///
    /// # Errors
    /// It is another program's.
    pub async fn take(port: u16, token: Secret) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let at = listener.local_addr()?;
        Ok(Self { listener, at, token })
    }

    /// The header that each request needs.
    pub fn header(&self) -> String {
        format!("Authorization: Bearer {}", self.token.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{PATH}", self.at)
    }
}

type Service = StreamableHttpService<Desk, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves until it is stopped. Each client gets a relay of its own at its first call, which is closed when the client ends
/// its session, calls nothing for a while, or this is stopped.
///
/// # Errors
/// No connection can be taken any more.
pub async fn serve(
    role: Role,
    tools: &[Spec],
    relay: impl Fn() -> Arc<dyn Relay> + Send + Sync + 'static,
    address: Address,
    stop: CancellationToken,
) -> io::Result<()> {
    let visitors = Arc::new(Visitors::new(relay, role.idle()));
    let answers = Arc::new(Answers {
        service: service(role, tools, &visitors, address.at.port(), stop.child_token()),
        visitors: Arc::clone(&visitors),
        token: digest(address.token.0.as_bytes()),
    });
    let served = tokio::select! {
        failed = take_all(&address.listener, &answers, &stop) => failed,
        () = stop.cancelled() => Ok(()),
    };
    stop.cancel();
    visitors.close().await;
    served
}

fn service(
    role: Role,
    tools: &[Spec],
    visitors: &Arc<Visitors>,
    port: u16,
    stop: CancellationToken,
) -> Service {
    // A page of the user's own machine may be one of a client; it needs the token all the same.
    let of_loopback = ["localhost", "127.0.0.1", "[::1]"];
    let origins =
        of_loopback.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(["localhost", "127.0.0.1"].map(|host| format!("{host}:{port}")))
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(REQUEST)
        .with_cancellation_token(stop);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(FORGOTTEN);
    let (tools, visitors) = (role.tools(tools), Arc::clone(visitors));
    let desk = move || {
        let relays = Relays::Each(Arc::clone(&visitors));
        Ok(Desk { role, tools: tools.clone(), relays })
    };
    StreamableHttpService::new(desk, Arc::new(sessions), config)
}

/// Takes connections, and looks from time to time who has left.
async fn take_all(
    listener: &TcpListener,
    answers: &Arc<Answers>,
    stop: &CancellationToken,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut look = tokio::time::interval(LOOK);
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place.map_err(io::Error::other)?,
            _ = look.tick() => {
                answers.visitors.let_go_of_idle();
                continue;
            }
        };
        let stream = tokio::select! {
            taken = listener.accept() => match taken {
                Ok((stream, _)) => stream,
                // It was gone before it was taken; too many files are open: others may go meanwhile.
                Err(error) if is_passing(&error) => continue,
                Err(error) => {
                    tracing::warn!("no connection can be taken: {error}");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    continue;
                }
            },
            _ = look.tick() => {
                answers.visitors.let_go_of_idle();
                continue;
            }
        };
        let (answers, stop) = (Arc::clone(answers), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = answers.serve(stream) => {}
                // What is under way on it is given up.
                () = stop.cancelled() => {}
            }
            drop(place);
        });
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

struct Answers {
    service: Service,
    visitors: Arc<Visitors>,
    /// Of the token.
    token: [u8; 32],
}

impl Answers {
    async fn serve(&self, stream: TcpStream) {
        let answer = service_fn(|request| async { Ok::<_, Infallible>(self.answer(request).await) });
        let served =
            http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
        if let Err(error) = served.await {
            tracing::debug!("a connection ended: {error}");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        // Before anything of it is read.
        if !has_token(request.headers(), &self.token) {
            let mut answer = empty(StatusCode::UNAUTHORIZED);
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        if request.uri().path() != PATH {
            return empty(StatusCode::NOT_FOUND);
        }
        let ends = (request.method() == Method::DELETE).then(|| session_of(request.headers())).flatten();
        let answer = self.service.handle(request).await;
        if let Some(session) = ends.filter(|_| answer.status().is_success()) {
            self.visitors.leave(&session);
        }
        answer
    }
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = status;
    answer
}

/// The session that a request belongs to; `None` if its client has none.
pub fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

/// In a time that does not depend on where a wrong token differs: digests are compared, all of each.
fn has_token(headers: &HeaderMap, token: &[u8; 32]) -> bool {
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let (scheme, given) = given.split_at_checked("Bearer ".len()).unwrap_or_default();
    let differs = digest(given).iter().zip(token).fold(0, |differs, (one, other)| differs | (one ^ other));
    scheme.eq_ignore_ascii_case(b"Bearer ") && differs == 0
}

fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests;
