//! The short way of a stop: from whoever wishes it to what is under way, past every queue.
//!
//! Cancels and releases; writes nothing and decides nothing. The end is written by whoever was cancelled.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use protocol::ids::RunId;
use tokio_util::sync::CancellationToken;
use tools::Router;

/// Stops one run, and keeps why.
#[derive(Clone, Default)]
pub struct Brake {
    pub token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl Brake {
    /// The first reason counts.
    pub fn pull(&self, reason: &str) {
        self.reason.get_or_init(|| reason.to_owned());
        self.token.cancel();
    }

    /// Completes when it was pulled; answers why.
    pub async fn pulled(&self) -> String {
        self.token.cancelled().await;
        self.reason.get().cloned().unwrap_or_default()
    }
}

/// The brakes of all that is under way: at most one run and one acting call.
pub struct Brakes {
    router: Arc<Router>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    run: Option<(RunId, Brake)>,
    call: Option<CancellationToken>,
}

impl Brakes {
    pub fn new(router: Arc<Router>) -> Self {
        Self { router, held: Mutex::default() }
    }

    pub fn of_run(&self, run: RunId, brake: Brake) {
        self.held().run = Some((run, brake));
    }

    pub fn run_is_over(&self) {
        self.held().run = None;
    }

    /// Of the person's own call; one that is over minds no stop.
    pub fn of_call(&self, token: CancellationToken) {
        self.held().call = Some(token);
    }

    /// Stops `run`, or whatever is under way where none is named, and releases all that is held. Answers whether
    /// the run named is under way.
    pub fn stop(&self, run: Option<&RunId>, reason: &str) -> bool {
        let (brake, call) = {
            let held = self.held();
            let wanted = |(id, _): &&(RunId, Brake)| run.is_none_or(|run| run == id);
            let call = held.call.clone().filter(|_| run.is_none());
            (held.run.as_ref().filter(wanted).map(|(_, brake)| brake.clone()), call)
        };
        if let Some(brake) = &brake {
            brake.pull(reason);
        }
        if let Some(call) = call {
            call.cancel();
        }
        // A stop of a run that is over must not let go of what another one holds.
        if run.is_none() || brake.is_some() {
            self.router.release_all();
        }
        brake.is_some()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
