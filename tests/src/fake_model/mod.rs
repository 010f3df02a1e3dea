//! A model server that speaks Gemini's wire, with a scripted mind behind it.
//!
//! The wire is as strict as the real one where that has bitten: a key is needed, signatures must come back byte for
//! byte, every call needs its answer. The mind sees what a model would see and nothing else.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

pub use haiku::{HAIKU, HaikuMind};
pub use mind::{BadMind, LoopMind, Mind, MindTurn, ScriptMind, SlowMind};
pub use request::{GeminiRequest, Seen, ToolResult};

mod haiku;
mod mind;
mod replay;
mod request;
mod server;
mod wire;

/// The server; it ends at drop.
pub struct FakeGemini {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// How the server paces its answers, and which key it takes.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Into how many pieces each event of the stream is torn, at any byte.
    pub pieces: usize,
    /// Between two pieces.
    pub pause: Duration,
    /// The only good key; any where there is none.
    pub key: Option<String>,
}

impl Default for Manner {
    fn default() -> Self {
        Self { pieces: 3, pause: Duration::from_millis(2), key: None }
    }
}

/// What goes wrong with the next turn, once.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An answer with this status and body instead of a stream.
    Status(u16, Value),
    /// The connection breaks after so many bytes of the stream.
    Cut(usize),
    /// Silence after so many bytes, without an end.
    Stall(usize),
}

/// One request that came, and what it was answered.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub at: Instant,
    pub method: String,
    pub path: String,
    /// The header, for tests of what is sent where.
    pub key: Option<String>,
    pub body: Value,
    pub status: u16,
}

struct Shared {
    mind: Mutex<Box<dyn Mind>>,
    manner: Manner,
    faults: Mutex<VecDeque<Fault>>,
    requests: Mutex<Vec<Recorded>>,
    /// Signatures given out, by call id.
    signatures: Mutex<HashMap<String, String>>,
    /// Turns so far.
    spoken: AtomicUsize,
}

/// A mind that panicked must fail its test by what it said, not by a poisoned lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeGemini {
    /// # Errors
    /// Where no port of this machine can be had.
    pub fn start(mind: impl Mind + 'static) -> Result<Self> {
        Self::with(mind, Manner::default())
    }

    /// # Errors
    /// As [`FakeGemini::start`].
    pub fn with(mind: impl Mind + 'static, manner: Manner) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let shared = Arc::new(Shared {
            mind: Mutex::new(Box::new(mind)),
            manner,
            faults: Mutex::default(),
            requests: Mutex::default(),
            signatures: Mutex::default(),
            spoken: AtomicUsize::new(1),
        });
        // Not by `block_on`: a test may be in a runtime of its own.
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))
            .context("cannot open a port for the fake model server")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let router = server::router(shared.clone());
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, shared, runtime: Some(runtime) })
    }

    /// What the setting `baseUrls.gemini` must be.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets the next turns go wrong, in this order.
    pub fn fail_next(&self, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.shared.faults).extend(faults);
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// The turns asked for so far, as the mind saw them.
    pub fn turns(&self) -> Vec<GeminiRequest> {
        let asked = self.requests().into_iter().filter(|r| r.method == "POST" && r.status == 200);
        asked.map(|r| GeminiRequest::new(r.body)).collect()
    }
}

impl Drop for FakeGemini {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
