//! Where things are: displays, windows, the failsafe's corner, and which window is meant or hit. Pure rules over
//! what the platform told.

use protocol::geometry::{NormPoint, PhysicalPoint, PhysicalRect};

use crate::{DesktopError, Fence, WindowChange, WindowsProcess, fence};

/// How our own windows are known: by their process, never by what they call themselves.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) pid: u32,
    pub(crate) windows: WindowsProcess,
}

/// A window on the screen. The list it is in begins with the topmost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Top {
    /// The platform's own number: `CGWindowID`, `HWND`.
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) app: String,
    pub(crate) title: String,
    pub(crate) rect: PhysicalRect,
    pub(crate) focused: bool,
}

/// What is done to a window, in pixels of the space that spans all displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Focus,
    Move(PhysicalPoint),
    Resize {
        width: u32,
        height: u32,
    },
    Minimize,
    /// To fill this display.
    Maximize(PhysicalRect),
    Restore,
    Close,
}

/// A wish in 0-1000 of a display, in pixels.
///
/// # Errors
/// `BadInput` for what is no place on the display.
pub(crate) fn to_change(wish: WindowChange, display: &PhysicalRect) -> Result<Change, DesktopError> {
    Ok(match wish {
        WindowChange::Focus => Change::Focus,
        WindowChange::Move { x, y } => {
            let to = NormPoint::new(x, y).map_err(|error| DesktopError::BadInput(error.to_string()))?;
            Change::Move(to.to_physical(display))
        }
        WindowChange::Resize { width, height } => {
            let length = |share: f64, whole: u32| {
                if !(1.0..=1000.0).contains(&share) {
                    return Err(DesktopError::BadInput(format!(
                        "a window's size of {share} is outside 1-1000"
                    )));
                }
                Ok((share / 1000.0 * f64::from(whole)).round().max(1.0) as u32)
            };
            Change::Resize { width: length(width, display.width)?, height: length(height, display.height)? }
        }
        WindowChange::Minimize => Change::Minimize,
        WindowChange::Maximize => Change::Maximize(*display),
        WindowChange::Restore => Change::Restore,
        WindowChange::Close => Change::Close,
    })
}

/// Whether a window is as wished; `shown` is what is on the screen of it, `states` what it says of itself.
pub(crate) fn has_come(change: Change, shown: Option<&Top>, open: bool, states: &[String]) -> bool {
    /// Frames, shadows and grids of character cells.
    const NEAR: u32 = 24;
    let is = |state: &str| states.iter().any(|one| one == state);
    match (change, shown) {
        (Change::Close, _) => !open,
        (Change::Minimize, shown) => open && shown.is_none(),
        (_, None) => false,
        (Change::Focus, Some(top)) => top.focused,
        (Change::Move(to), Some(top)) => {
            top.rect.x.abs_diff(to.x) <= NEAR && top.rect.y.abs_diff(to.y) <= NEAR
        }
        (Change::Resize { width, height }, Some(top)) => {
            top.rect.width.abs_diff(width) <= NEAR && top.rect.height.abs_diff(height) <= NEAR
        }
        (Change::Maximize(_), Some(_)) => is("maximized") || is("fullscreen"),
        (Change::Restore, Some(_)) => !is("maximized") && !is("fullscreen"),
    }
}

/// Whether acts may go to `display`, and to the application of the topmost window at `point` or, without a point, of
/// the focused one.
///
/// # Errors
/// `Forbidden` names what is outside and what is allowed.
pub(crate) fn check_fence(
    fence: &Fence,
    tops: &[Top],
    own: &Own,
    aim: Option<(u32, PhysicalPoint)>,
) -> Result<(), DesktopError> {
    if let Some((display, _)) = aim {
        fence::check_display(fence, display)?;
    }
    let top = match aim {
        Some((_, point)) => tops.iter().find(|top| !own.has(top) && top.rect.contains(point)),
        None => tops.iter().find(|top| top.focused),
    };
    fence::check_app(fence, &[top.map_or("what is there", |top| top.app.as_str())])
}

/// The display that shows most of a rectangle, by its place in the list; the first where none shows it.
pub(crate) fn shows_most(displays: &[PhysicalRect], rect: &PhysicalRect) -> usize {
    let shared = |display: &PhysicalRect| {
        let along = |start: i32, length: u32, from: i32, room: u32| {
            let end = (i64::from(start) + i64::from(length)).min(i64::from(from) + i64::from(room));
            (end - i64::from(start.max(from))).max(0)
        };
        along(rect.x, rect.width, display.x, display.width)
            * along(rect.y, rect.height, display.y, display.height)
    };
    (0..displays.len()).max_by_key(|&at| (shared(&displays[at]), std::cmp::Reverse(at))).unwrap_or(0)
}

impl Own {
    pub(crate) fn has(&self, top: &Top) -> bool {
        self.is(top.pid)
    }

    pub(crate) fn is(&self, pid: u32) -> bool {
        pid == self.pid || self.windows.is(pid)
    }
}

/// Whether a point is within `reach` of a corner that the pointer can be thrown into: a display's top left one, with
/// no display beyond it.
pub(crate) fn in_corner(point: PhysicalPoint, displays: &[PhysicalRect], reach: i32) -> bool {
    displays.iter().any(|display| {
        let left = PhysicalPoint { x: display.x - 1, y: display.y };
        let above = PhysicalPoint { x: display.x, y: display.y - 1 };
        let open = displays.iter().any(|other| other.contains(left) || other.contains(above));
        let near = |value: i32, corner: i32| (0..=reach).contains(&(value - corner));
        !open && near(point.x, display.x) && near(point.y, display.y)
    })
}

/// Whether a click at `point` would go to a window of ours. One that covers a display is the overlay, which lets
/// clicks through.
pub(crate) fn hits_own(tops: &[Top], own: &Own, point: PhysicalPoint, displays: &[PhysicalRect]) -> bool {
    let covers = |top: &Top| displays.contains(&top.rect);
    tops.iter()
        .filter(|top| !(own.has(top) && covers(top)))
        .find(|top| top.rect.contains(point))
        .is_some_and(|top| own.has(top))
}

/// The window whose elements are meant: the one named, or the active one, or the topmost where that is ours.
pub(crate) fn meant<'a>(tops: &'a [Top], own: &Own, wanted: Option<&str>) -> Result<&'a Top, DesktopError> {
    let others: Vec<&Top> = tops.iter().filter(|top| !own.has(top)).collect();
    let found = match wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) {
        Some(wanted) => {
            let wanted = wanted.to_lowercase();
            let says = |top: &&&Top| {
                top.app.to_lowercase().contains(&wanted) || top.title.to_lowercase().contains(&wanted)
            };
            others.iter().find(|top| top.focused && says(top)).or_else(|| others.iter().find(says))
        }
        None => others.iter().find(|top| top.focused).or(others.first()),
    };
    found.copied().ok_or_else(|| {
        let names: Vec<String> = others.iter().map(|top| format!("{} ({})", top.app, top.title)).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join("; ") };
        DesktopError::NotFound(match wanted {
            Some(wanted) => format!("no application or window named \"{wanted}\"; there are: {names}"),
            None => format!("no window of another program; there are: {names}"),
        })
    })
}

#[cfg(test)]
mod tests;
