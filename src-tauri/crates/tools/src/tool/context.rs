//! What a task works with: desktop, browser, limits and the stop, and what it tells about itself while it runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use browser::Browser;
use desktop::Desktop;
use protocol::contract::{Check, Contract};
use protocol::geometry::NormPoint;
use protocol::terminal::Line;
use tokio_util::sync::CancellationToken;

use super::on_screen::Clipboards;
use crate::redaction::redact_lines;
use crate::{Asker, Limits, Ports, Progress, Secret};

/// What a task works with.
#[derive(Clone)]
pub struct Context {
    pub(crate) desktop: Arc<dyn Desktop>,
    pub(crate) browser: Arc<dyn Browser>,
    pub(crate) secrets: Arc<[Secret]>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) cancel: CancellationToken,
    /// The display that pictures are taken of.
    pub(crate) display: u32,
    /// The plan that the user agreed to.
    pub(crate) agreed: Option<Arc<Contract>>,
    /// Checks of it that the user takes as they are.
    pub(crate) waived: Arc<[Check]>,
    pub(crate) home: Option<PathBuf>,
    /// What its session works with beyond the screen.
    pub(crate) ports: Ports,
    pub(crate) clipboards: Arc<Clipboards>,
    begun: Arc<AtomicBool>,
    /// Of the call's last drag.
    trail: Arc<Mutex<Vec<NormPoint>>>,
}

impl Context {
    pub(crate) fn new(
        desktop: Arc<dyn Desktop>,
        browser: Arc<dyn Browser>,
        secrets: Arc<[Secret]>,
        limits: Arc<Limits>,
        cancel: CancellationToken,
        display: u32,
    ) -> Self {
        Self {
            desktop,
            browser,
            secrets,
            limits,
            cancel,
            display,
            agreed: None,
            waived: Arc::default(),
            home: None,
            ports: Ports::default(),
            clipboards: Arc::default(),
            begun: Arc::default(),
            trail: Arc::default(),
        }
    }

    /// The same within a plan.
    pub(crate) fn within(
        self,
        agreed: Option<Arc<Contract>>,
        waived: Vec<Check>,
        home: &Option<PathBuf>,
    ) -> Self {
        Self { agreed, waived: waived.into(), home: home.clone(), ..self }
    }

    /// The same with what its session works with.
    pub(crate) fn with_ports(self, ports: Ports, clipboards: Arc<Clipboards>) -> Self {
        Self { ports, clipboards, ..self }
    }

    /// The same for one try, with its own stop and nothing begun.
    pub(crate) fn for_try(&self, cancel: CancellationToken) -> Self {
        Self { cancel, begun: Arc::default(), ..self.clone() }
    }

    /// Asks the user while the call is under way; `None` outside any run.
    pub fn asker(&self) -> Option<Arc<dyn Asker>> {
        self.ports.asker.clone()
    }

    /// Shows what goes on, without what the user keeps secret; `None` if nobody looks on.
    pub fn progress(&self) -> Option<Arc<dyn Progress>> {
        let (to, secrets) = (self.ports.progress.clone()?, Arc::clone(&self.secrets));
        Some(Arc::new(Redacted { to, secrets }))
    }

    /// The bounds of this call.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Cancelled when the call is stopped or late: whatever is under way ends within some tens of milliseconds.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// To be called right before the first thing that changes something: from here on, an interruption leaves it
    /// unknown what happened.
    pub fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    /// The path of a drag, for the picture after it.
    pub(crate) fn dragged(&self, path: &[NormPoint]) {
        *self.trail.lock().unwrap_or_else(PoisonError::into_inner) = path.to_vec();
    }

    /// The path of the drag that ended at `dot`; empty if the last act was no drag.
    pub(crate) fn trail_to(&self, dot: NormPoint) -> Vec<NormPoint> {
        let trail = self.trail.lock().unwrap_or_else(PoisonError::into_inner);
        if trail.last() == Some(&dot) { trail.clone() } else { Vec::new() }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }
}

/// Shows what goes on without the values of secrets.
struct Redacted {
    to: Arc<dyn Progress>,
    secrets: Arc<[Secret]>,
}

impl Progress for Redacted {
    fn tell(&self, first: u64, mut lines: Vec<Line>) {
        redact_lines(&mut lines, &self.secrets);
        self.to.tell(first, lines);
    }
}
