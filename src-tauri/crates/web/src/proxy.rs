//! The network of one command: an HTTP proxy that leads to the hosts its user allowed, and nowhere else.
//!
//! Names are resolved here, so a command asks no server where a name leads, and what an allowed name leads to passes the
//! guard of fetches: no address of this machine or its network. What goes through is not read: it is the command's own TLS.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use crate::Guard;

/// Bytes of what stands before a request's body, and the longest wait for it.
const HEAD: usize = 32 << 10;
const HEAD_WITHIN: Duration = Duration::from_secs(30);
const FIELDS: usize = 128;
const CONNECT_WITHIN: Duration = Duration::from_secs(15);
/// Connections at a time, and hosts that are told of as refused.
const CONNECTIONS: usize = 128;
const MOST_REFUSED: usize = 16;
/// Of one connection of which these are said, the server gets others.
const OWN_FIELDS: [&str; 6] =
    ["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te"];

/// Runs as long as it is held.
pub struct Proxy {
    door: Door,
    refused: Arc<Mutex<BTreeSet<String>>>,
    _serving: AbortOnDropHandle<()>,
}

/// Where it listens: a socket in a folder that only its user opens, or where that leads into no sandbox, a port of this
/// machine.
#[cfg(target_os = "linux")]
type Door = tempfile::TempDir;
#[cfg(target_os = "linux")]
type Listener = tokio::net::UnixListener;
#[cfg(not(target_os = "linux"))]
type Door = u16;
#[cfg(not(target_os = "linux"))]
type Listener = tokio::net::TcpListener;

/// What the connections share.
struct Rules {
    guard: Guard,
    hosts: BTreeSet<String>,
    refused: Arc<Mutex<BTreeSet<String>>>,
    free: Semaphore,
}

impl Proxy {
    /// `hosts` are reached by exactly these names, at the ports where pages are served.
    ///
    /// # Errors
    /// Nothing can be listened on.
    pub(crate) fn open(guard: Guard, hosts: &[String]) -> io::Result<Self> {
        let refused = Arc::<Mutex<BTreeSet<String>>>::default();
        let rules = Arc::new(Rules {
            guard,
            hosts: hosts.iter().map(|host| normal(host)).collect(),
            refused: Arc::clone(&refused),
            free: Semaphore::new(CONNECTIONS),
        });
        let (door, listener) = listen()?;
        let serving = AbortOnDropHandle::new(tokio::spawn(serve(listener, rules)));
        Ok(Self { door, refused, _serving: serving })
    }

    /// The socket that it listens on.
    #[cfg(target_os = "linux")]
    pub fn socket(&self) -> std::path::PathBuf {
        self.door.path().join(SOCKET)
    }

    /// The port of this machine that it listens on. Whoever else connects reaches nothing but the allowed hosts.
    #[cfg(not(target_os = "linux"))]
    pub fn port(&self) -> u16 {
        self.door
    }

    /// Hosts that were asked for and are not allowed, in order.
    pub fn refused(&self) -> Vec<String> {
        lock(&self.refused).iter().cloned().collect()
    }
}

#[cfg(target_os = "linux")]
const SOCKET: &str = "proxy";

#[cfg(target_os = "linux")]
fn listen() -> io::Result<(Door, Listener)> {
    let folder = tempfile::Builder::new().prefix("network-").tempdir()?;
    let listener = Listener::bind(folder.path().join(SOCKET))?;
    Ok((folder, listener))
}

#[cfg(not(target_os = "linux"))]
fn listen() -> io::Result<(Door, Listener)> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    Ok((listener.local_addr()?.port(), Listener::from_std(listener)?))
}

async fn serve(listener: Listener, rules: Arc<Rules>) {
    // They end with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let rules = Arc::clone(&rules);
        connections.spawn(async move {
            let Ok(_free) = rules.free.acquire().await else { return };
            if let Err(error) = lead(client, &rules).await {
                tracing::debug!(%error, "a connection of a command ended");
            }
        });
    }
}

/// Why a request is not passed on: the status and the words of its answer.
struct No(&'static str, String);

async fn lead<S: AsyncRead + AsyncWrite + Unpin>(mut client: S, rules: &Rules) -> io::Result<()> {
    let mut head = Vec::new();
    let read = tokio::time::timeout(HEAD_WITHIN, read_head(&mut client, &mut head)).await;
    let asked = match read {
        Ok(Ok(length)) => Asked::of(&head, length),
        Ok(Err(error)) => Err(No("400 Bad Request", error.to_string())),
        Err(_) => Err(No("408 Request Timeout", "no request came".into())),
    };
    let way = match asked {
        Ok(asked) => rules.connect(&asked.url).await.map(|server| (asked, server)),
        Err(no) => Err(no),
    };
    match way {
        Ok((Asked { to_server, to_client, .. }, mut server)) => {
            client.write_all(to_client).await?;
            server.write_all(&to_server).await?;
            copy_bidirectional(&mut client, &mut server).await?;
            Ok(())
        }
        Err(No(status, why)) => {
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n{why}\n",
                why.len() + 1
            );
            client.write_all(answer.as_bytes()).await?;
            client.shutdown().await
        }
    }
}

/// Reads until the empty line; how long all before the body is.
async fn read_head(client: &mut (impl AsyncRead + Unpin), head: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        // What was read before may end in the middle of it.
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            return Ok(end + 4);
        }
        if head.len() >= HEAD {
            return Err(io::Error::other("the request's head is too long"));
        }
        let mut some = [0; 4096];
        match client.read(&mut some).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => head.extend_from_slice(&some[..read]),
        }
    }
}

/// One request for a way.
struct Asked {
    url: Url,
    /// What the server gets first: what came behind the head, and of a plain request the head as a server takes it.
    to_server: Vec<u8>,
    to_client: &'static [u8],
}

impl Asked {
    fn of(bytes: &[u8], length: usize) -> Result<Self, No> {
        let bad = |why: &str| No("400 Bad Request", why.to_owned());
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let (head, body) = bytes.split_at(length);
        let parsed = request.parse(head).map_err(|error| bad(&format!("no HTTP request: {error}")))?;
        let (true, Some(method), Some(target)) = (parsed.is_complete(), request.method, request.path) else {
            return Err(bad("no whole HTTP request"));
        };
        if method == "CONNECT" {
            let url = Url::parse(&format!("https://{target}/")).ok();
            // Nothing but a host and a port.
            let is_authority = !target.contains(['/', '?', '#', '@', '\\']);
            let url = url.filter(|_| is_authority).ok_or_else(|| bad("CONNECT takes a host and a port"))?;
            let to_client = b"HTTP/1.1 200 Connection established\r\n\r\n";
            return Ok(Self { url, to_server: body.to_vec(), to_client });
        }
        let url = Url::parse(target).ok().filter(|url| url.scheme() == "http");
        let url = url
            .ok_or_else(|| bad("only http:// addresses are passed on as they are; for https use CONNECT"))?;
        let host = url.host_str().unwrap_or_default();
        let site = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let place = format!("{}{query}", url.path());
        // Said by the address alone: who is asked is who was allowed.
        let mut to_server =
            format!("{method} {place} HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\n").into_bytes();
        for field in request.headers.iter() {
            if !OWN_FIELDS.iter().any(|own| field.name.eq_ignore_ascii_case(own)) {
                to_server.extend_from_slice(field.name.as_bytes());
                to_server.extend_from_slice(b": ");
                to_server.extend_from_slice(field.value);
                to_server.extend_from_slice(b"\r\n");
            }
        }
        to_server.extend_from_slice(b"\r\n");
        to_server.extend_from_slice(body);
        Ok(Self { url, to_server, to_client: b"" })
    }
}

impl Rules {
    async fn connect(&self, url: &Url) -> Result<TcpStream, No> {
        let host = normal(url.host_str().unwrap_or_default());
        if !self.hosts.contains(&host) {
            let mut refused = lock(&self.refused);
            if refused.len() < MOST_REFUSED {
                refused.insert(host.clone());
            }
            return Err(No("403 Forbidden", format!("Miki: this command may not reach {host}")));
        }
        let forbidden = |why: String| No("403 Forbidden", format!("Miki: {why}"));
        self.guard.check_url(url).map_err(|error| forbidden(error.to_string()))?;
        let port = url.port_or_known_default().unwrap_or_default();
        // The parser has brought every spelling of a number to one.
        let number: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let addresses = match number {
            Some(address) => vec![address],
            None => {
                self.guard.resolve(&host).await.map_err(|error| No("502 Bad Gateway", error.to_string()))?
            }
        };
        let mut last = String::new();
        for address in addresses {
            let connecting = TcpStream::connect(SocketAddr::new(address, port));
            match tokio::time::timeout(CONNECT_WITHIN, connecting).await {
                Ok(Ok(server)) => return Ok(server),
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => last = "no answer".into(),
            }
        }
        Err(No("502 Bad Gateway", format!("{host} could not be reached: {last}")))
    }
}

fn normal(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn lock(refused: &Mutex<BTreeSet<String>>) -> MutexGuard<'_, BTreeSet<String>> {
    refused.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
