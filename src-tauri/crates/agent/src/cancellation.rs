//! A stop's short way: from whoever wishes it to what is under way, past every queue.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// Stops one run, and keeps why.
#[derive(Clone, Default)]
pub struct StopSignal {
    pub token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl StopSignal {
    /// The first reason counts.
    pub fn send(&self, reason: &str) {
        self.reason.get_or_init(|| reason.to_owned());
        self.token.cancel();
    }

    /// Completes when it was sent; answers why.
    pub async fn received(&self) -> String {
        self.token.cancelled().await;
        self.reason.get().cloned().unwrap_or_default()
    }
}
