//! A model server that speaks every wire, each in its own folder, with one scripted mind behind them.
//!
//! It is as strict as the real ones: a key is needed in its own header, signatures and thoughts must come back as they
//! were, every call needs its answer, pictures stand where the wire has them. The mind sees what a model would see and
//! nothing else, and does not know by which wire.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::serve::ListenerExt;
use serde_json::Value;

pub(crate) use asked::visit;
pub use asked::{Answer, Asked, Call, Heard, Said, SentElement, ToolResult};
pub use computer::{Computer, ComputerAction};
pub use haiku::{HAIKU, HaikuMind};
pub use history::Given;
pub use mind::{BadMind, LoopMind, Mind, MindTurn, ScriptMind, Search, SlowMind};
pub use wire::Wire;

mod computer;
mod mind;

mod haiku;

mod asked;
mod history;
mod wire;

mod known;
mod pace;
mod server;

/// The server; it ends at drop.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// How the server paces its answers, and which key it takes.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Into how many pieces each event of the stream is torn, at awkward bytes.
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
    /// Another answer than a stream.
    Refusal { status: u16, headers: Vec<(String, String)>, body: Value },
    /// The connection breaks after so many bytes of the stream.
    Cut(usize),
    /// The stream ends after so many bytes, as if that were all.
    End(usize),
    /// Silence after so many bytes, without an end.
    Stall(usize),
    /// The event of this number, from 0, comes twice.
    Twice(usize),
}

impl Fault {
    pub fn status(status: u16, body: Value) -> Self {
        Self::Refusal { status, headers: Vec::new(), body }
    }

    /// As [`Fault::status`], with the header that says when to ask again.
    pub fn retry_after(status: u16, body: Value, when: &str) -> Self {
        Self::Refusal { status, headers: vec![("retry-after".to_owned(), when.to_owned())], body }
    }
}

/// One request that came, and what it was answered.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// When all of it had come.
    pub at: Instant,
    pub wire: Wire,
    pub method: String,
    pub path: String,
    /// The header, for tests of what is sent where.
    pub key: Option<String>,
    /// Where it asks for a turn, and in a form that can be read.
    pub asked: Option<Arc<Asked>>,
    pub status: u16,
}

struct Shared {
    mind: Mutex<Box<dyn Mind>>,
    manner: Manner,
    faults: Mutex<VecDeque<Fault>>,
    requests: Mutex<Vec<Recorded>>,
    /// Turns given out, and by whom: no vendor knows what another one wrote.
    given: Mutex<Vec<(Wire, Given)>>,
    /// Turns so far.
    spoken: AtomicUsize,
    /// The models that there are; any where there are none.
    known: Mutex<Vec<String>>,
}

/// A mind that panicked must fail its test by what it said, not by a poisoned lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeModel {
    /// # Errors
    /// Where no port of this machine can be had.
    pub fn start(mind: impl Mind + 'static) -> Result<Self> {
        Self::with(mind, Manner::default())
    }

    /// # Errors
    /// As [`FakeModel::start`].
    pub fn with(mind: impl Mind + 'static, manner: Manner) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let shared = Arc::new(Shared {
            mind: Mutex::new(Box::new(mind)),
            manner,
            faults: Mutex::default(),
            requests: Mutex::default(),
            given: Mutex::default(),
            spoken: AtomicUsize::new(1),
            known: Mutex::default(),
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
        // As providers do: an answer in pieces does not wait for each to be acknowledged.
        let listener = listener.tap_io(|tcp| {
            let _ = tcp.set_nodelay(true);
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, shared, runtime: Some(runtime) })
    }

    /// What the setting `baseUrls.gemini` must be.
    pub fn url(&self) -> String {
        self.base_url(Wire::Gemini)
    }

    /// Where a wire is spoken.
    pub fn base_url(&self, wire: Wire) -> String {
        format!("http://{}{}", self.address, wire.folder())
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
    pub fn turns(&self) -> Vec<Arc<Asked>> {
        self.requests().into_iter().filter(|r| r.status == 200).filter_map(|r| r.asked).collect()
    }

    /// The turns given out so far.
    pub fn given(&self) -> Vec<Given> {
        lock(&self.shared.given).iter().map(|(_, given)| given.clone()).collect()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
