//! The network of one command: an HTTP proxy that leads to the hosts its user allowed, and nowhere else.
//!
//! Names are resolved here, so a command asks no server where a name leads, and what an allowed name leads to passes the
//! guard of fetches: no address of this machine or its network. A tunnel is for TLS whose first message names the same host;
//! what is in it then is not read. So a server that serves many sites may still be asked in it for another of them.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::AbortOnDropHandle;

use crate::Guard;

/// Bytes of what stands before a request's body, and the longest wait for it.
const HEAD: usize = 32 << 10;
const HEAD_WITHIN: Duration = Duration::from_secs(30);
const FIELDS: usize = 128;
const CONNECT_WITHIN: Duration = Duration::from_secs(15);
const RESOLVE_WITHIN: Duration = Duration::from_secs(10);
/// Connections at a time of all commands together: each has two descriptors of the engine.
pub(crate) const CONNECTIONS: usize = 96;
/// Hosts that are told of as refused, and characters of each.
const MOST_REFUSED: usize = 16;
const REFUSED_CHARS: usize = 80;
/// Where TLS is spoken. Other ports are for plain requests, each of which is read.
const SECURE: [u16; 2] = [443, 8443];
/// Of one connection of which these are said, the server gets others.
const OWN_FIELDS: [&str; 6] =
    ["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te"];

/// Runs as long as it is held.
pub struct Proxy {
    at: ListensAt,
    refused: Arc<Mutex<BTreeSet<String>>>,
    _serving: AbortOnDropHandle<()>,
}

/// Where it listens: a socket in a folder that only its user opens, or where that leads into no sandbox, a port of this
/// machine.
#[cfg(target_os = "linux")]
type ListensAt = tempfile::TempDir;
#[cfg(target_os = "linux")]
type Listener = tokio::net::UnixListener;
#[cfg(not(target_os = "linux"))]
type ListensAt = u16;
#[cfg(not(target_os = "linux"))]
type Listener = tokio::net::TcpListener;

/// What the connections share.
struct Rules {
    guard: Guard,
    hosts: BTreeSet<String>,
    refused: Arc<Mutex<BTreeSet<String>>>,
    free: Arc<Semaphore>,
}

impl Proxy {
    /// `hosts` are reached by exactly these names, at the ports where pages are served. `free` has a permit for each connection.
    ///
    /// # Errors
    /// Nothing can be listened on.
    pub(crate) fn open(guard: Guard, hosts: &[String], free: Arc<Semaphore>) -> io::Result<Self> {
        let refused = Arc::<Mutex<BTreeSet<String>>>::default();
        let rules = Arc::new(Rules {
            guard,
            hosts: hosts.iter().map(|host| normal(host)).collect(),
            refused: Arc::clone(&refused),
            free,
        });
        let (at, listener) = listen()?;
        let serving = AbortOnDropHandle::new(tokio::spawn(serve(listener, rules)));
        Ok(Self { at, refused, _serving: serving })
    }

    /// The socket that it listens on.
    #[cfg(target_os = "linux")]
    pub fn socket(&self) -> std::path::PathBuf {
        self.at.path().join(SOCKET)
    }

    /// The port of this machine that it listens on. Whoever else connects reaches nothing but the allowed hosts.
    #[cfg(not(target_os = "linux"))]
    pub fn port(&self) -> u16 {
        self.at
    }

    /// Hosts that were asked for and are not allowed, in order.
    pub fn refused(&self) -> Vec<String> {
        lock(&self.refused).iter().cloned().collect()
    }
}

#[cfg(target_os = "linux")]
const SOCKET: &str = "proxy";

#[cfg(target_os = "linux")]
fn listen() -> io::Result<(ListensAt, Listener)> {
    let folder = tempfile::Builder::new().prefix("network-").tempdir()?;
    let listener = Listener::bind(folder.path().join(SOCKET))?;
    Ok((folder, listener))
}

#[cfg(not(target_os = "linux"))]
fn listen() -> io::Result<(ListensAt, Listener)> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    Ok((listener.local_addr()?.port(), Listener::from_std(listener)?))
}

async fn serve(listener: Listener, rules: Arc<Rules>) {
    // They end with it.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        // Before it is accepted: those who wait cost nothing.
        let Ok(free) = Arc::clone(&rules.free).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => drop(connections.spawn(carry(client, Arc::clone(&rules), free))),
            // Out of descriptors, say.
            Err(error) => {
                tracing::debug!(%error, "a command's connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn carry(client: impl AsyncRead + AsyncWrite + Unpin, rules: Arc<Rules>, _free: OwnedSemaphorePermit) {
    if let Err(error) = lead(client, &rules).await {
        tracing::debug!(%error, "a connection of a command ended");
    }
}

/// Why a request is not passed on: the status and the words of its answer.
struct No(&'static str, String);

async fn lead(mut client: impl AsyncRead + AsyncWrite + Unpin, rules: &Rules) -> io::Result<()> {
    let mut head = Vec::new();
    let read = tokio::time::timeout(HEAD_WITHIN, read_head(&mut client, &mut head)).await;
    let asked = match read {
        Ok(Ok(length)) => Passage::of(&head, length),
        Ok(Err(error)) => Err(No("400 Bad Request", error.to_string())),
        Err(_) => Err(No("408 Request Timeout", "no request came".into())),
    };
    let way = match asked {
        Ok(asked) => rules.connect(&asked).await.map(|server| (asked, server)),
        Err(no) => Err(no),
    };
    match way {
        Ok((Passage { url, is_tunnel, mut to_server }, mut server)) => {
            if is_tunnel {
                client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
                let meant = server_of(&mut client, &mut to_server);
                let meant = tokio::time::timeout(HEAD_WITHIN, meant).await??;
                let host = normal(url.host_str().unwrap_or_default());
                if normal(&meant) != host {
                    rules.refuse(&meant);
                    return Err(io::Error::other("the tunnel is for another host"));
                }
            }
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

/// The server that the TLS in a tunnel is for; `bytes` get what was read for it.
async fn server_of(client: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<String> {
    loop {
        if let Some(name) = hello::server_name(bytes).map_err(io::Error::other)? {
            return Ok(name);
        }
        read_more(client, bytes).await?;
    }
}

async fn read_more(client: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut some = [0; 4096];
    match client.read(&mut some).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        read => {
            bytes.extend_from_slice(&some[..read]);
            Ok(())
        }
    }
}

/// Reads until the empty line; how long all before the body is.
async fn read_head(client: &mut (impl AsyncRead + Unpin), head: &mut Vec<u8>) -> io::Result<usize> {
    const END: &[u8] = b"\r\n\r\n";
    let mut looked: usize = 0;
    loop {
        // What was read before may end in the middle of it.
        let from = looked.saturating_sub(END.len() - 1);
        if let Some(end) = head[from..].windows(END.len()).position(|four| four == END) {
            return Ok(from + end + END.len());
        }
        looked = head.len();
        if looked >= HEAD {
            return Err(io::Error::other("the request's head is too long"));
        }
        read_more(client, head).await?;
    }
}

/// One request for a way.
struct Passage {
    url: Url,
    is_tunnel: bool,
    /// What the server gets first: what came behind the head, and of a plain request the head as a server takes it.
    to_server: Vec<u8>,
}

impl Passage {
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
            return Ok(Self { url, is_tunnel: true, to_server: body.to_vec() });
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
        Ok(Self { url, is_tunnel: false, to_server })
    }
}

impl Rules {
    /// Tells of a host that was asked for and is not allowed.
    fn refuse(&self, host: &str) {
        let mut refused = lock(&self.refused);
        if refused.len() < MOST_REFUSED {
            refused.insert(host.chars().filter(|c| !c.is_control()).take(REFUSED_CHARS).collect());
        }
    }

    async fn connect(&self, asked: &Passage) -> Result<TcpStream, No> {
        let Passage { url, is_tunnel, .. } = asked;
        let host = normal(url.host_str().unwrap_or_default());
        if !self.hosts.contains(&host) {
            self.refuse(&host);
            return Err(No("403 Forbidden", format!("Miki: this command may not reach {host}")));
        }
        let forbidden = |why: String| No("403 Forbidden", format!("Miki: {why}"));
        self.guard.check_url(url).map_err(|error| forbidden(error.to_string()))?;
        let port = url.port_or_known_default().unwrap_or_default();
        if *is_tunnel && !self.guard.takes_tls_at(port, &SECURE) {
            return Err(forbidden(format!("no tunnel to port {port}; for http:// send the whole address")));
        }
        // The parser has brought every spelling of a number to one.
        let number: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let resolved = async {
            match number {
                Some(address) => Ok(vec![address]),
                None => self.guard.resolve(&host).await.map_err(|error| error.to_string()),
            }
        };
        let resolved = tokio::time::timeout(RESOLVE_WITHIN, resolved).await;
        let addresses = resolved.unwrap_or_else(|_| Err("no answer where the name leads".into()));
        let addresses = addresses.map_err(|why| No("502 Bad Gateway", why))?;
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

mod hello;

#[cfg(test)]
mod tests;
