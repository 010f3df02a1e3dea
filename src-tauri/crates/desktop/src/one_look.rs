//! Looks at elements that may share one reading: all that a question tells of the same window.

use std::sync::Arc;

#[cfg(target_os = "linux")]
pub(crate) use crate::linux::Readings;

/// On macOS and Windows each look is its own.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(crate) struct Readings;

tokio::task_local! {
    static READINGS: Arc<Readings>;
}

/// Within this future, a look at elements may be answered by what another one in it has read of the same window; within
/// another such future, by what that has read. What it spawns looks for itself.
pub async fn one_look<F: Future>(all: F) -> F::Output {
    READINGS.scope(shared().unwrap_or_default(), all).await
}

/// What has been read so far; `None` outside.
pub(crate) fn shared() -> Option<Arc<Readings>> {
    READINGS.try_with(Arc::clone).ok()
}
