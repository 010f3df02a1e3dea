//! Windows of others, by Win32: places, sizes, minimized, maximized, closed.
#![expect(unsafe_code, reason = "C functions of the system; each block says what makes it sound")]

use protocol::view::DisplayView;
use windows::Win32::Foundation::{HWND, LPARAM, WPARAM};
use windows::Win32::UI::WindowsAndMessaging::{
    BringWindowToTop, IsIconic, IsZoomed, PostMessageW, SET_WINDOW_POS_FLAGS, SW_MAXIMIZE, SW_MINIMIZE,
    SW_RESTORE, SWP_NOACTIVATE, SWP_NOMOVE, SWP_NOSIZE, SWP_NOZORDER, SetForegroundWindow, SetWindowPos,
    ShowWindow, WM_CLOSE,
};

use crate::DesktopError;
use crate::portable::scene::{Change, Top};

/// A number that is no window any more is refused by every function below.
fn handle(top: &Top) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(usize::try_from(top.id).unwrap_or(0)))
}

pub(super) fn states(top: &Top, display: &DisplayView) -> Vec<String> {
    // SAFETY: only asks about a window by its number.
    let zoomed = unsafe { IsZoomed(handle(top)) }.as_bool();
    match zoomed {
        true => vec!["maximized".to_owned()],
        false if top.rect == display.bounds => vec!["fullscreen".to_owned()],
        false => Vec::new(),
    }
}

pub(super) fn change(top: &Top, change: Change) -> Result<(), DesktopError> {
    let window = handle(top);
    let refused = |error: windows::core::Error| {
        DesktopError::Failed(format!("\"{}\" of {} does not allow {change:?}: {error}", top.title, top.app))
    };
    let place = |x, y, width, height, which: SET_WINDOW_POS_FLAGS| {
        // SAFETY: a window by its number, and plain numbers.
        unsafe { SetWindowPos(window, None, x, y, width, height, which | SWP_NOZORDER | SWP_NOACTIVATE) }
            .map_err(refused)
    };
    let show = |how| {
        // SAFETY: a window by its number. The answer is whether it was visible before.
        let _was_visible = unsafe { ShowWindow(window, how) };
        Ok(())
    };
    match change {
        Change::Focus => {
            // SAFETY: only asks about a window by its number.
            if unsafe { IsIconic(window) }.as_bool() {
                show(SW_RESTORE)?;
            }
            // SAFETY: a window by its number. Windows may refuse the foreground: the caller reads back.
            let _came = unsafe { (BringWindowToTop(window), SetForegroundWindow(window)) };
            Ok(())
        }
        Change::Move(to) => place(to.x, to.y, 0, 0, SWP_NOSIZE),
        Change::Resize { width, height } => {
            let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
            place(0, 0, side(width), side(height), SWP_NOMOVE)
        }
        Change::Minimize => show(SW_MINIMIZE),
        Change::Maximize(_) => show(SW_MAXIMIZE),
        Change::Restore => show(SW_RESTORE),
        Change::Close => {
            // SAFETY: a message without pointers, to a window by its number.
            unsafe { PostMessageW(Some(window), WM_CLOSE, WPARAM(0), LPARAM(0)) }.map_err(refused)
        }
    }
}
