//! Runs work on a task of its own: with a deadline, a stop, and a panic that goes no further.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use protocol::tool::{Effect, Risk, ToolErrorKind};
use tokio_util::sync::CancellationToken;

use crate::plan::{Step, Task};
use crate::tool::{Context, Outcome, tool_error};

/// How long stopped work may take to let go of keys and buttons before it is dropped.
const GRACE: Duration = Duration::from_millis(80);
/// Before the first further try; doubled for each after it.
const BACKOFF: Duration = Duration::from_millis(100);

/// Why work did not come to its own end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cut {
    Late,
    Stopped,
    Panicked(String),
}

/// Runs `work` until it ends, is late or is stopped. Work that still answers within the grace is taken at its word.
pub(crate) async fn run<T, F>(
    within: Duration,
    stop: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> F,
) -> (Option<T>, Option<Cut>)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let inner = stop.child_token();
    // Whoever drops this future stops the work too, and it lets go of what it holds by itself.
    let _guard = inner.clone().drop_guard();
    let mut handle = tokio::spawn(work(inner.clone()));
    let cut = tokio::select! {
        biased;
        ended = &mut handle => return match ended {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(panicked(error))),
        },
        () = stop.cancelled() => Cut::Stopped,
        () = tokio::time::sleep(within) => Cut::Late,
    };
    inner.cancel();
    match tokio::time::timeout(GRACE, &mut handle).await {
        Ok(Ok(value)) => (Some(value), Some(cut)),
        Ok(Err(error)) => (None, Some(panicked(error))),
        Err(_) => {
            handle.abort();
            (None, Some(cut))
        }
    }
}

fn panicked(error: tokio::task::JoinError) -> Cut {
    let Ok(payload) = error.try_into_panic() else { return Cut::Stopped };
    Cut::Panicked(words(payload.as_ref()))
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

/// One task to its end: tried again where it only looks, never where it acts.
pub(crate) async fn attempt(step: &Step, task: &Arc<dyn Task>, cx: &Context) -> Outcome {
    let tool = step.name();
    let mut tries = 0;
    loop {
        let outcome = once(step, task, cx).await;
        let may_pass = outcome
            .error
            .as_ref()
            .is_some_and(|error| matches!(error.kind, ToolErrorKind::Failed | ToolErrorKind::Timeout));
        // An unknown effect is never run again by itself, whatever the risk says.
        if step.risk() > Risk::Observe
            || !may_pass
            || outcome.effect == Effect::Unknown
            || tries >= cx.limits.retries
        {
            return outcome;
        }
        tracing::debug!(tool, tries, summary = outcome.summary, "tries again");
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return stopped(tool, Effect::Refused),
            () = tokio::time::sleep(BACKOFF * 2u32.saturating_pow(tries.min(6))) => {}
        }
        tries += 1;
    }
}

async fn once(step: &Step, task: &Arc<dyn Task>, cx: &Context) -> Outcome {
    let tool = step.name();
    let within = cx.limits.timeout.saturating_add(step.plan().takes());
    if cx.cancel.is_cancelled() {
        return stopped(tool, Effect::Refused);
    }
    let mut begun = cx.clone();
    let (value, cut) = run(within, &cx.cancel, |stop| {
        let inner = cx.for_try(stop);
        begun = inner.clone();
        let task = Arc::clone(task);
        async move { task.run(&inner).await }
    })
    .await;
    // Work that was stopped may notice before we do, and then ends by itself.
    let cut = match cut {
        Some(cut) => cut,
        None if value.is_none() || cx.cancel.is_cancelled() => Cut::Stopped,
        None => return value.unwrap_or_else(|| stopped(tool, Effect::Unknown)),
    };
    // It came to an end of its own after all: what it says is what happened.
    if let Some(outcome) = value.as_ref().filter(|outcome| outcome.error.is_none()) {
        return outcome.clone();
    }
    if step.seat() {
        // Dropped or broken work cannot let go of its keys any more; where it could, this does nothing. Who had no
        // seat held nothing: what is held then is another's.
        cx.desktop.release_all();
    }
    let effect = if begun.has_begun() { Effect::Unknown } else { Effect::Refused };
    match cut {
        Cut::Stopped => stopped(tool, effect),
        Cut::Late => {
            let message = format!("{tool} gave no answer within {within:?}");
            Outcome::failed(tool, effect, tool_error(ToolErrorKind::Timeout, message))
        }
        Cut::Panicked(words) => {
            tracing::error!(tool, words, "a tool panicked");
            let message = format!("{tool} broke down: {}", crate::untrusted::line(&words, 200));
            Outcome::failed(tool, Effect::Unknown, tool_error(ToolErrorKind::Failed, message))
        }
    }
}

pub(crate) fn stopped(tool: &str, effect: Effect) -> Outcome {
    Outcome::failed(tool, effect, tool_error(ToolErrorKind::Cancelled, "stopped"))
}
