//! What the fence forbids anyway: told before the user is asked, as far as it can be known then.

use browser::Browser;
use desktop::{Desktop, DesktopError, Fence, WindowView, fence};
use protocol::tool::{Risk, ToolError};

use super::{Destination, Found, PATIENCE, Targets, Touched};
use crate::plan::Step;
use crate::reach::{Act, Reach};
use crate::tool::from_desktop;

/// Takes why parts of a call would not be done where they go.
pub(crate) async fn keep_to_fence(
    (desktop, browser): (&dyn Desktop, &dyn Browser),
    fence: &Fence,
    step: &Step,
    found: &mut Found,
) {
    if *fence == Fence::default() {
        return;
    }
    let looked = tokio::time::timeout(PATIENCE, desktop.windows()).await;
    let windows = looked.ok().and_then(Result::ok).unwrap_or_default();
    for (at, (part, its)) in step.parts().zip(&mut found.parts).enumerate() {
        if its.refusal.is_none() && part.risk() >= Risk::Navigate {
            its.refusal = refusal((desktop, browser), fence, (part, its), at == 0, &windows).await;
        }
    }
}

/// Why one would not; `None` if it would, or if only its turn can show that: what a later part of a batch meets, those
/// before it may bring.
async fn refusal(
    (desktop, browser): (&dyn Desktop, &dyn Browser),
    fence: &Fence,
    (part, its): (&Step, &Targets),
    is_first: bool,
    windows: &[WindowView],
) -> Option<ToolError> {
    let reach = part.plan().reach();
    let outside = match reach {
        Reach::Address(_) | Reach::Page { .. } => {
            let looked = tokio::time::timeout(PATIENCE, browser.within(fence.clone())).await;
            // Whether one is there, and which, may show in a moment.
            looked.ok()?.err().filter(|error| matches!(error, DesktopError::Forbidden(_)))
        }
        Reach::App(Some(app)) if matches!(part.plan().act(), Some(Act::Start(_))) => {
            tokio::time::timeout(PATIENCE, desktop.outside(app.clone(), fence.clone())).await.ok()?
        }
        Reach::App(Some(app)) => {
            let by_name =
                tokio::time::timeout(PATIENCE, desktop.outside(app.clone(), fence.clone())).await.ok()?;
            by_name.and(of_windows(its, fence, windows))
        }
        Reach::Window(id) => {
            let window = windows.iter().find(|window| window.id.0 == *id)?;
            let display = fence::check_display(fence, window.display).err();
            display.or_else(|| of_windows(its, fence, windows))
        }
        Reach::Points { display, .. } => {
            let display = fence::check_display(fence, *display).err();
            display.or_else(|| of_windows(its, fence, windows).filter(|_| is_first))
        }
        Reach::Focus { .. } | Reach::App(None) | Reach::Element(_) | Reach::Menu { .. } if is_first => {
            of_windows(its, fence, windows)
        }
        Reach::Focus { .. } | Reach::App(None) | Reach::Element(_) | Reach::Menu { .. } => None,
        Reach::Nowhere
        | Reach::Files { .. }
        | Reach::Command(_)
        | Reach::Calendar { .. }
        | Reach::Search { .. }
        | Reach::Server { .. } => None,
    };
    outside.as_ref().map(from_desktop)
}

/// The first of its windows that no act may go to.
fn of_windows(its: &Targets, fence: &Fence, windows: &[WindowView]) -> Option<DesktopError> {
    its.places.iter().find_map(|place| match place {
        Destination::Window(touched) => of_window(touched, fence, windows),
        _ => None,
    })
}

/// By what its program calls its windows: another one of them may be the one that is meant.
fn of_window(touched: &Touched, fence: &Fence, windows: &[WindowView]) -> Option<DesktopError> {
    let refused = fence::check_app(fence, &[&touched.app]).err()?;
    let is_its = |window: &&WindowView| touched.pid.is_some() && window.pid == touched.pid;
    let is_within = |window: &WindowView| fence::check_app(fence, &[&window.app]).is_ok();
    let may_be_within = windows.iter().filter(is_its).any(is_within);
    (!may_be_within).then_some(refused)
}
