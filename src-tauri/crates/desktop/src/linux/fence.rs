//! The fence as X11 has it: whose window is at a point or has the keyboard. Asked before each act; our own windows are
//! refused elsewhere, fence or not.

use std::sync::{Mutex, PoisonError};

use protocol::geometry::PhysicalPoint;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use super::session::Session;
use super::windows::Own;
use crate::{DesktopError, Fence, fence};

/// The fence of one desktop, shared by all that act.
#[derive(Default)]
pub(super) struct Fenced(Mutex<Fence>);

impl Fenced {
    pub(super) fn set(&self, fence: Fence) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fence;
    }

    pub(super) fn now(&self) -> Fence {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it makes a difference which application is acted on.
    fn names_apps(&self) -> bool {
        let fence = self.now();
        !(fence.apps.is_empty() && fence.never.is_empty())
    }

    pub(super) fn check_display(&self, index: u32) -> Result<(), DesktopError> {
        fence::check_display(&self.now(), index)
    }

    pub(super) fn check_app(&self, names: &[&str]) -> Result<(), DesktopError> {
        fence::check_app(&self.now(), names)
    }

    /// The application whose window takes a click at this point.
    pub(super) fn check_point(
        &self,
        session: &Session,
        own: &Own,
        point: PhysicalPoint,
    ) -> Result<(), DesktopError> {
        if !self.names_apps() {
            return Ok(());
        }
        match session.top_at(point, own)? {
            Some(top) => self.check_window(session, top.window),
            None => self.check_app(&["the desktop's background"]),
        }
    }

    /// The application that gets the keys.
    pub(super) fn check_focus(&self, session: &Session) -> Result<(), DesktopError> {
        if !self.names_apps() {
            return Ok(());
        }
        let class = session.focused_class()?;
        self.check_app(&[if class.is_empty() { "the window with the keyboard" } else { &class }])
    }

    /// The application of a window, which may be its frame.
    fn check_window(&self, session: &Session, window: Window) -> Result<(), DesktopError> {
        if !self.names_apps() {
            return Ok(());
        }
        let class = class_within(session, window, 0)?;
        self.check_app(&[if class.is_empty() { "a window without a name" } else { &class }])
    }
}

/// The class of a window or of the one within this frame.
fn class_within(session: &Session, window: Window, depth: u32) -> Result<String, DesktopError> {
    const DEEPEST: u32 = 3;
    let conn = &session.conn;
    let class = conn.get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 256)?.reply();
    if let Some(class) = class.ok().filter(|class| !class.value.is_empty()) {
        return Ok(String::from_utf8_lossy(&class.value).replace('\0', " ").trim().to_owned());
    }
    if depth == DEEPEST {
        return Ok(String::new());
    }
    let Ok(tree) = conn.query_tree(window)?.reply() else { return Ok(String::new()) };
    for child in tree.children.into_iter().rev() {
        let class = class_within(session, child, depth + 1)?;
        if !class.is_empty() {
            return Ok(class);
        }
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests;
