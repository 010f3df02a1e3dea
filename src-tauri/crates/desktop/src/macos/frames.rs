//! Windows of others, by their accessibility objects: places, sizes, minimized, full screen, closed.

use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;

use super::ax::{self, Node};
use super::{apps, permission};
use crate::DesktopError;
use crate::portable::scene::{Change, Top};

/// The share of its display from which on a window counts as maximized: the menu bar and the Dock take the rest.
const FULL: (f64, f64) = (0.97, 0.82);

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions on a screen")]
pub(super) fn to_pixels(frame: ((f64, f64), (f64, f64)), scale: ScaleFactor) -> PhysicalRect {
    let ((x, y), (width, height)) = frame;
    PhysicalRect {
        x: (x * scale.0).round() as i32,
        y: (y * scale.0).round() as i32,
        width: (width * scale.0).round() as u32,
        height: (height * scale.0).round() as u32,
    }
}

pub(super) fn hidden(scale: ScaleFactor) -> Vec<Top> {
    if !ax::is_trusted() {
        return Vec::new();
    }
    let mut tops = Vec::new();
    for (app, pid) in apps::running() {
        for window in Node::application(pid).windows() {
            if !window.flag("AXMinimized") {
                continue;
            }
            let (Some(id), Some(frame)) = (window.window_id(), window.frame()) else { continue };
            tops.push(Top {
                id,
                pid,
                app: app.clone(),
                title: window.string("AXTitle"),
                rect: to_pixels(frame, scale),
                focused: false,
            });
        }
    }
    tops
}

pub(super) fn states(top: &Top, display: &DisplayView) -> Vec<String> {
    let share = |length: u32, whole: u32| f64::from(length) / f64::from(whole.max(1));
    let mut states = Vec::new();
    if find(top).is_ok_and(|window| window.flag("AXFullScreen")) {
        states.push("fullscreen".to_owned());
    } else if share(top.rect.width, display.bounds.width) >= FULL.0
        && share(top.rect.height, display.bounds.height) >= FULL.1
    {
        states.push("maximized".to_owned());
    }
    states
}

pub(super) fn change(top: &Top, change: Change, scale: ScaleFactor) -> Result<(), DesktopError> {
    if !ax::is_trusted() {
        return Err(permission::accessibility());
    }
    let window = find(top)?;
    let points = |pixels: f64| pixels / scale.0;
    let done = match change {
        Change::Focus => {
            let raised = window.perform("AXRaise");
            window.set_flag("AXMain", true);
            let front = Node::application(top.pid).set_flag("AXFrontmost", true);
            apps::activate(top.pid) || front || raised
        }
        Change::Move(to) => window.set_place(points(f64::from(to.x)), points(f64::from(to.y))),
        Change::Resize { width, height } => {
            window.set_size(points(f64::from(width)), points(f64::from(height)))
        }
        Change::Minimize => window.set_flag("AXMinimized", true),
        Change::Maximize(display) => {
            // macOS itself keeps the window below the menu bar.
            let placed = window.set_place(points(f64::from(display.x)), points(f64::from(display.y)));
            let (width, height) = (f64::from(display.width), f64::from(display.height));
            placed && window.set_size(points(width), points(height))
        }
        Change::Restore => {
            if window.flag("AXMinimized") {
                window.set_flag("AXMinimized", false)
            } else if window.flag("AXFullScreen") {
                window.set_flag("AXFullScreen", false)
            } else {
                window.node("AXZoomButton").is_some_and(|button| button.perform("AXPress"))
            }
        }
        Change::Close => window.node("AXCloseButton").is_some_and(|button| button.perform("AXPress")),
    };
    if done {
        Ok(())
    } else {
        Err(DesktopError::Failed(format!("\"{}\" of {} does not allow {change:?}", top.title, top.app)))
    }
}

fn find(top: &Top) -> Result<Node, DesktopError> {
    let windows = Node::application(top.pid).windows();
    windows.into_iter().find(|window| window.window_id() == Some(top.id)).ok_or_else(|| {
        DesktopError::NotFound(format!(
            "window \"{}\" of {} in the accessibility interface",
            top.title, top.app
        ))
    })
}
