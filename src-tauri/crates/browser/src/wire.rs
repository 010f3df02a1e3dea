//! The Chrome DevTools Protocol: commands out, answers and events in; over a pipe to a browser that we started, or over
//! one WebSocket on loopback to one that runs.
//!
//! What events tell is folded into a [`BrowserState`], which callers wait on; nothing here knows what a click is.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use desktop::DesktopError;
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_tungstenite::tungstenite::{Message, protocol::WebSocketConfig};

use crate::state::BrowserState;

/// One command; longer waits (a page that loads) are made of events.
const COMMAND: Duration = Duration::from_secs(15);
/// A page's text can be long.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Why a command was not answered well.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("the connection to the browser is gone")]
    Closed,
    #[error("the browser did not answer {0} in time")]
    Late(&'static str),
    #[error("the browser refused {command}: {message}")]
    Refused { command: &'static str, message: String },
}

impl From<WireError> for DesktopError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Late(_) => Self::Timeout(COMMAND),
            other => Self::Failed(other.to_string()),
        }
    }
}

type Answer = oneshot::Sender<Result<Value, String>>;

pub(crate) struct Wire {
    out: mpsc::Sender<String>,
    pending: Arc<Mutex<HashMap<u64, Answer>>>,
    next: AtomicU64,
    state: watch::Receiver<BrowserState>,
    /// Names the collector in its worlds; no page can guess it.
    pub(crate) secret: String,
}

impl Wire {
    /// Connects to the browser's own endpoint (`/devtools/browser/...`) on this machine.
    ///
    /// # Errors
    /// What the socket or the handshake said.
    pub(crate) async fn connect(port: u16, path: &str) -> Result<Self, DesktopError> {
        let refused = |error: &dyn std::fmt::Display| {
            DesktopError::NotAvailable(format!("the browser's debugging port {port} cannot be used: {error}"))
        };
        let stream = TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port)).await;
        let stream = stream.map_err(|error| refused(&error))?;
        stream.set_nodelay(true).map_err(|error| refused(&error))?;
        let config =
            WebSocketConfig::default().max_message_size(Some(MOST_BYTES)).max_frame_size(Some(MOST_BYTES));
        let address = format!("ws://127.0.0.1:{port}{path}");
        let shake = tokio_tungstenite::client_async_with_config(address, stream, Some(config));
        let (socket, _) = shake.await.map_err(|error| refused(&error))?;
        let (mut sink, mut source) = socket.split();
        let (wire, mut queue, heard) = Self::new();
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if sink.send(Message::text(message)).await.is_err() {
                    break;
                }
            }
            let _closed = sink.close().await;
        });
        tokio::spawn(async move {
            while let Some(Ok(message)) = source.next().await {
                if let Message::Text(text) = message {
                    heard.take(text.as_bytes());
                }
            }
        });
        Ok(wire)
    }

    /// The two ends of a browser's `--remote-debugging-pipe`. It ends when nobody has them any more.
    pub(crate) fn by_pipe(
        mut to: impl AsyncWrite + Send + Unpin + 'static,
        from: impl AsyncRead + Send + Unpin + 'static,
    ) -> Self {
        let (wire, mut queue, heard) = Self::new();
        tokio::spawn(async move {
            while let Some(mut message) = queue.recv().await {
                message.push('\0');
                if to.write_all(message.as_bytes()).await.is_err() {
                    break;
                }
            }
        });
        tokio::spawn(async move {
            let mut from = BufReader::new(from);
            let mut message = Vec::new();
            while (&mut from).take(MOST_BYTES as u64).read_until(0, &mut message).await.is_ok()
                && message.pop() == Some(0)
            {
                heard.take(&message);
                message.clear();
            }
        });
        wire
    }

    fn new() -> (Self, mpsc::Receiver<String>, Heard) {
        let (out, queue) = mpsc::channel(256);
        let pending: Arc<Mutex<HashMap<u64, Answer>>> = Arc::default();
        let (page, state) = watch::channel(BrowserState::default());
        let heard = Heard { pending: Arc::clone(&pending), page };
        (Self { out, pending, next: AtomicU64::new(1), state, secret: secret() }, queue, heard)
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.out.is_closed() && !self.state.borrow().closed
    }

    /// Looks something up in what events have told.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&BrowserState) -> T) -> T {
        look(&self.state.borrow())
    }

    /// Waits until events have told it; `None` if the time is over or the browser is gone.
    pub(crate) async fn until<T>(
        &self,
        within: Duration,
        mut look: impl FnMut(&BrowserState) -> Option<T>,
    ) -> Option<T> {
        let mut state = self.state.clone();
        let wait = async {
            let mut found = None;
            let seen = state
                .wait_for(|state| {
                    found = look(state);
                    found.is_some() || state.closed
                })
                .await
                .is_ok();
            if seen { found } else { None }
        };
        tokio::time::timeout(within, wait).await.ok().flatten()
    }

    /// Sends a command now, and gives what will be its answer.
    pub(crate) async fn send(
        &self,
        session: Option<&str>,
        command: &'static str,
        parameters: Value,
    ) -> Result<Pending<'_>, WireError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": command, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let (sender, receiver) = oneshot::channel();
        lock(&self.pending).insert(id, sender);
        let pending = Pending { wire: self, id, command, receiver };
        if !self.is_open() || self.out.send(message.to_string()).await.is_err() {
            return Err(WireError::Closed);
        }
        Ok(pending)
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        command: &'static str,
        parameters: Value,
    ) -> Result<Value, WireError> {
        self.send(session, command, parameters).await?.answer(COMMAND).await
    }
}

/// A command under way. Dropped, its answer is forgotten.
pub(crate) struct Pending<'a> {
    wire: &'a Wire,
    id: u64,
    command: &'static str,
    receiver: oneshot::Receiver<Result<Value, String>>,
}

impl Pending<'_> {
    pub(crate) async fn answer(mut self, within: Duration) -> Result<Value, WireError> {
        let command = self.command;
        match tokio::time::timeout(within, &mut self.receiver).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(message))) => Err(WireError::Refused { command, message }),
            Ok(Err(_)) => Err(WireError::Closed),
            Err(_) => Err(WireError::Late(command)),
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        lock(&self.wire.pending).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where what the browser says goes; dropped, the browser is gone.
struct Heard {
    pending: Arc<Mutex<HashMap<u64, Answer>>>,
    page: watch::Sender<BrowserState>,
}

impl Heard {
    fn take(&self, message: &[u8]) {
        let mut message: Value = match serde_json::from_slice(message) {
            Ok(message) => message,
            Err(error) => return tracing::debug!(%error, "a message of the browser cannot be read"),
        };
        if let Some(id) = message["id"].as_u64() {
            let Some(waiting) = lock(&self.pending).remove(&id) else { return };
            let answer = match message["error"]["message"].as_str() {
                Some(error) => Err(error.to_owned()),
                None => Ok(message["result"].take()),
            };
            let _gone = waiting.send(answer);
            return;
        }
        let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
        let Some(event) = message["method"].as_str().map(str::to_owned) else { return };
        self.page.send_if_modified(|state| state.fold(&session, &event, &message["params"]));
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.page.send_modify(|state| state.closed = true);
        lock(&self.pending).clear();
    }
}

/// 128 bits that std takes from the system for its hash tables.
pub(crate) fn secret() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let half = || RandomState::new().hash_one(std::process::id());
    format!("miki{:016x}{:016x}", half(), half())
}
