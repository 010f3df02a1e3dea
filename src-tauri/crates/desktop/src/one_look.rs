//! Looks at elements that may share one reading: all that a question tells of the same window.

use tokio::time::Instant;

tokio::task_local! {
    static BEGUN: Instant;
}

/// Within this future, a look at elements may be answered by what another one in it has read of the same windows. A future
/// within another one begins no sooner than that. What it spawns looks for itself; on macOS and Windows each does.
pub async fn one_look<F: Future>(all: F) -> F::Output {
    BEGUN.scope(begun().unwrap_or_else(Instant::now), all).await
}

/// What was read since then may be told again; `None` if nothing may.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "each look is its own there"))]
pub(crate) fn begun() -> Option<Instant> {
    BEGUN.try_with(|begun| *begun).ok()
}
