//! The Chrome DevTools Protocol over one WebSocket on loopback: commands out, answers and events in.
//!
//! What events tell is folded into a [`BrowserState`], which callers wait on; nothing here knows what a click is.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use desktop::DesktopError;
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
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
    out: mpsc::Sender<Message>,
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
        let (out, mut queue) = mpsc::channel::<Message>(256);
        let pending: Arc<Mutex<HashMap<u64, Answer>>> = Arc::default();
        let (page, state) = watch::channel(BrowserState::default());
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if sink.send(message).await.is_err() {
                    break;
                }
            }
            let _closed = sink.close().await;
        });
        let waiting = Arc::clone(&pending);
        tokio::spawn(async move {
            while let Some(Ok(message)) = source.next().await {
                let Message::Text(text) = message else { continue };
                match serde_json::from_str::<Value>(&text) {
                    Ok(message) => take(message, &waiting, &page),
                    Err(error) => tracing::debug!(%error, "a message of the browser cannot be read"),
                }
            }
            page.send_modify(|state| state.closed = true);
            lock(&waiting).clear();
        });
        Ok(Self { out, pending, next: AtomicU64::new(1), state, secret: secret() })
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
        if !self.is_open() || self.out.send(Message::text(message.to_string())).await.is_err() {
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

fn take(mut message: Value, pending: &Mutex<HashMap<u64, Answer>>, page: &watch::Sender<BrowserState>) {
    if let Some(id) = message["id"].as_u64() {
        let Some(waiting) = lock(pending).remove(&id) else { return };
        let answer = match message["error"]["message"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(message["result"].take()),
        };
        let _gone = waiting.send(answer);
        return;
    }
    let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
    let Some(event) = message["method"].as_str().map(str::to_owned) else { return };
    page.send_if_modified(|state| state.fold(&session, &event, &message["params"]));
}

/// 128 bits that std takes from the system for its hash tables.
pub(crate) fn secret() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let half = || RandomState::new().hash_one(std::process::id());
    format!("miki{:016x}{:016x}", half(), half())
}
