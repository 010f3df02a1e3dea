//! Whether the screen is locked: then another desktop than the user's has the input, which we may not open. So it is
//! while Windows asks for an administrator's consent, on its secure desktop.
#![expect(unsafe_code, reason = "C functions of the system; each block says what makes it sound")]

use windows::Win32::System::StationsAndDesktops::{
    CloseDesktop, DESKTOP_CONTROL_FLAGS, DESKTOP_SWITCHDESKTOP, OpenInputDesktop,
};

pub(super) fn is_locked() -> bool {
    // SAFETY: takes numbers only; the handle is closed below.
    match unsafe { OpenInputDesktop(DESKTOP_CONTROL_FLAGS(0), false, DESKTOP_SWITCHDESKTOP) } {
        Ok(desktop) => {
            // SAFETY: opened above, and closed once.
            if let Err(error) = unsafe { CloseDesktop(desktop) } {
                tracing::debug!(%error, "a handle to the desktop stays open");
            }
            false
        }
        Err(_) => true,
    }
}
