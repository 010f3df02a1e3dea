//! Displays, windows and pictures by xcap.
//!
//! Our own windows are left out of pictures by the windows themselves: the shell gives them content protection
//! (`NSWindowSharingNone`, `WDA_EXCLUDEFROMCAPTURE`). On macOS positions are logical points, which become pixels by
//! the scale of the display; on Windows they are pixels.

use pictures::{Frame, Order};
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;
use xcap::{Monitor, Window, XCapError};

use super::platform::{Capture, Platform};
use super::scene::{Own, Top};
use crate::DesktopError;

pub(crate) struct Capturer;

fn failed(error: &XCapError) -> DesktopError {
    DesktopError::Failed(format!("look at the screen: {error}"))
}

/// Points of the platform to pixels.
#[expect(clippy::cast_possible_truncation, reason = "positions on a screen")]
pub(super) fn to_pixels(value: f64, scale: ScaleFactor) -> i32 {
    if cfg!(target_os = "macos") { (value * scale.0).round() as i32 } else { value.round() as i32 }
}

pub(super) fn rect(place: (f64, f64), size: (f64, f64), scale: ScaleFactor) -> PhysicalRect {
    let length = |value: f64| u32::try_from(to_pixels(value, scale)).unwrap_or(0);
    PhysicalRect {
        x: to_pixels(place.0, scale),
        y: to_pixels(place.1, scale),
        width: length(size.0),
        height: length(size.1),
    }
}

fn view(index: usize, monitor: &Monitor) -> Result<DisplayView, XCapError> {
    let scale = ScaleFactor(f64::from(monitor.scale_factor()?).max(0.1));
    let place = (f64::from(monitor.x()?), f64::from(monitor.y()?));
    let size = (f64::from(monitor.width()?), f64::from(monitor.height()?));
    Ok(DisplayView {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        name: monitor.friendly_name().or_else(|_| monitor.name())?,
        bounds: rect(place, size, scale),
        scale,
        primary: monitor.is_primary()?,
    })
}

impl Capturer {
    pub(super) fn displays() -> Result<Vec<DisplayView>, DesktopError> {
        let monitors = Monitor::all().map_err(|error| failed(&error))?;
        let views: Result<Vec<_>, _> = monitors.iter().enumerate().map(|(at, one)| view(at, one)).collect();
        let views = views.map_err(|error| failed(&error))?;
        if views.is_empty() {
            return Err(DesktopError::NotAvailable("no display is connected".into()));
        }
        Ok(views)
    }

    pub(super) fn display(index: u32) -> Result<DisplayView, DesktopError> {
        let all = Self::displays()?;
        let count = all.len();
        all.into_iter().find(|display| display.index == index).ok_or_else(|| {
            DesktopError::NotFound(format!("display {index}; there are {count}, counted from 0"))
        })
    }

    /// The pixels of a display, by the platform's own means where it has them.
    pub(super) fn look<P: Platform>(index: u32, own: &Own) -> Result<Frame, DesktopError> {
        let monitors = Monitor::all().map_err(|error| failed(&error))?;
        let count = monitors.len();
        let monitor = usize::try_from(index).ok().and_then(|index| monitors.get(index)).ok_or_else(|| {
            DesktopError::NotFound(format!("display {index}; there are {count}, counted from 0"))
        })?;
        let bounds = Self::display(index)?.bounds;
        let id = monitor.id().map_err(|error| failed(&error))?;
        let wish = Capture::Display { id, width: bounds.width, height: bounds.height };
        if let Some(frame) = own_way::<P>(&wish, own)? {
            return Ok(frame);
        }
        frame(monitor.capture_image())
    }

    /// The pixels of one window, also where others cover it.
    pub(super) fn look_at_window<P: Platform>(top: &Top, own: &Own) -> Result<Frame, DesktopError> {
        let id = u32::try_from(top.id).unwrap_or(u32::MAX);
        let wish = Capture::Window { id, width: top.rect.width, height: top.rect.height };
        if let Some(frame) = own_way::<P>(&wish, own)? {
            return Ok(frame);
        }
        let windows = Window::all().map_err(|error| failed(&error))?;
        let window = windows.iter().find(|window| window.id().is_ok_and(|have| u64::from(have) == top.id));
        match window {
            Some(window) => frame(window.capture_image()),
            None => Err(DesktopError::NotFound(format!("window {}; it closed meanwhile", top.id))),
        }
    }

    /// All windows on the screen, topmost first.
    pub(crate) fn tops() -> Result<Vec<Top>, DesktopError> {
        Self::list(Shown::OnScreen)
    }

    /// Minimized windows, where xcap lists them: on Windows.
    #[cfg(windows)]
    pub(crate) fn minimized() -> Result<Vec<Top>, DesktopError> {
        Self::list(Shown::Minimized)
    }

    fn list(shown: Shown) -> Result<Vec<Top>, DesktopError> {
        let windows = Window::all().map_err(|error| failed(&error))?;
        let mut tops: Vec<(i32, Top)> =
            windows.iter().filter_map(|window| top(window, shown).ok().flatten()).collect();
        tops.sort_by_key(|(z, _)| std::cmp::Reverse(*z));
        Ok(tops.into_iter().map(|(_, top)| top).collect())
    }
}

fn frame(image: Result<image::RgbaImage, XCapError>) -> Result<Frame, DesktopError> {
    let image = image.map_err(|error| failed(&error))?;
    let (width, height) = image.dimensions();
    Ok(Frame { width, height, order: Order::Rgbx, pixels: image.into_raw() })
}

/// `None` if the platform has no way of its own, or it failed: xcap is asked then. A permission that is missing
/// would only give it an empty desktop.
fn own_way<P: Platform>(wish: &Capture, own: &Own) -> Result<Option<Frame>, DesktopError> {
    match P::capture(wish, own) {
        Some(Ok(frame)) => Ok(Some(frame)),
        Some(Err(error @ DesktopError::Permission { .. })) => Err(error),
        Some(Err(error)) => {
            tracing::debug!(%error, "the platform's own capture failed; another is tried");
            Ok(None)
        }
        None => Ok(None),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    OnScreen,
    #[cfg_attr(not(windows), allow(dead_code, reason = "xcap lists no minimized windows elsewhere"))]
    Minimized,
}

/// `None` if the window is not shown so; an error where it closed meanwhile.
fn top(window: &Window, shown: Shown) -> Result<Option<(i32, Top)>, XCapError> {
    if window.is_minimized()? != (shown == Shown::Minimized) {
        return Ok(None);
    }
    let scale = ScaleFactor(f64::from(window.current_monitor()?.scale_factor()?).max(0.1));
    let place = (f64::from(window.x()?), f64::from(window.y()?));
    let size = (f64::from(window.width()?), f64::from(window.height()?));
    let top = Top {
        id: u64::from(window.id()?),
        pid: window.pid()?,
        app: window.app_name()?,
        title: window.title()?,
        rect: rect(place, size, scale),
        focused: window.is_focused()?,
    };
    Ok(Some((window.z()?, top)))
}
