//! What is not read: password managers. What one shows, the model's provider would have.

use std::time::Duration;

use desktop::{Area, Desktop, WindowView};
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{ToolError, ToolErrorKind};

use crate::applications::{self, Class};
use crate::tool::{from_desktop, tool_error};
use crate::untrusted;
use crate::whose::window_at;

/// Looks in each direction whether a part of a window shows.
const LOOKS: u32 = 12;
const NAME_CHARS: usize = 80;
/// Longest wait for the windows. What is not known to be harmless is not read, however busy the desktop is.
const LOOK: Duration = Duration::from_secs(3);

/// The windows that a picture may show, topmost first; empty if nothing lists them.
///
/// # Errors
/// They could not be told, so nobody knows what a picture would show.
pub(crate) async fn windows(desktop: &dyn Desktop) -> Result<Vec<WindowView>, ToolError> {
    match tokio::time::timeout(LOOK, desktop.windows()).await {
        Ok(Ok(windows)) => Ok(windows),
        Ok(Err(_)) if !desktop.abilities().windows => Ok(Vec::new()),
        Ok(Err(error)) => Err(from_desktop(&error)),
        Err(_) => Err(tool_error(
            ToolErrorKind::Timeout,
            "no picture is taken: what windows it would show was not told in time; try again",
        )),
    }
}

/// Whether the same windows stand where they stood.
pub(crate) fn are_the_same(before: &[WindowView], now: &[WindowView]) -> bool {
    let place = |window: &WindowView| (window.id, window.display, window.bounds, window.is_shown());
    before.iter().map(place).eq(now.iter().map(place))
}

/// # Errors
/// What this application tells is a password manager's.
pub(crate) fn of_app(desktop: &dyn Desktop, app: &str, pid: Option<u32>) -> Result<(), ToolError> {
    let program = pid.and_then(|pid| desktop.program(pid));
    if applications::class_of_window(app, program.as_deref()) != Some(Class::PasswordManager) {
        return Ok(());
    }
    let app = untrusted::line(app, NAME_CHARS);
    let message = format!(
        "{app} is a password manager, and is not read: minimize its window to see what else is there; what is needed of \
         it, the user keeps with `miki secret set`, and is written by its name, {{{{name}}}}"
    );
    Err(tool_error(ToolErrorKind::Forbidden, message))
}

/// # Errors
/// A password manager shows there.
pub(crate) fn in_view(desktop: &dyn Desktop, windows: &[WindowView], area: &Area) -> Result<(), ToolError> {
    for window in windows {
        if shows(windows, window, area) {
            of_app(desktop, &window.app, window.pid)?;
        }
    }
    Ok(())
}

/// Whether any part of a window is in an area's picture; a window's own picture shows what others cover, too.
pub(crate) fn shows(windows: &[WindowView], window: &WindowView, area: &Area) -> bool {
    let (display, part) = match area {
        Area::Window(id) => return window.id == *id,
        Area::Display(display) => (*display, NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 }),
        Area::Region { display, rect } => (*display, *rect),
    };
    if window.display != display || !window.is_shown() {
        return false;
    }
    let along = |from: f64, length: f64, low: f64, span: f64| {
        let (begin, end) = (from.max(low), (from + length).min(low + span));
        (0..LOOKS).map(move |look| begin + (end - begin) * (f64::from(look) + 0.5) / f64::from(LOOKS))
    };
    let bounds = window.bounds;
    along(bounds.x, bounds.width, part.x, part.width).any(|x| {
        along(bounds.y, bounds.height, part.y, part.height).any(|y| {
            let point = NormPoint::new(x, y).ok();
            let there = point.filter(|point| crate::whose::holds(&part, *point));
            there.and_then(|point| window_at(windows, display, point)).is_some_and(|top| top.id == window.id)
        })
    })
}
