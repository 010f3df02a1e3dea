//! Opens the system's settings at the place where a permission is given. Only fixed addresses; nothing from outside.

use protocol::view::Check;
use protocol::{ErrorCode, ErrorView};

/// Opens the place for `check`.
///
/// # Errors
/// [`ErrorCode::Unavailable`] where this system has no such place.
pub fn open(check: Check) -> Result<(), ErrorView> {
    let Some((program, address)) = place(check) else {
        return Err(ErrorView::new(
            ErrorCode::Unavailable,
            format!("this system has no settings page for {check:?}"),
        )
        .with_hint("miki doctor tells how to mend it"));
    };
    std::process::Command::new(program).arg(address).spawn().map(drop).map_err(|error| {
        ErrorView::new(ErrorCode::Internal, format!("{program} {address} cannot be started: {error}"))
    })
}

#[cfg(target_os = "macos")]
fn place(check: Check) -> Option<(&'static str, &'static str)> {
    let address = match check {
        Check::Display | Check::ScreenCapture => {
            "x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture"
        }
        Check::Input | Check::Accessibility => {
            "x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility"
        }
        Check::Clipboard | Check::Ocr | Check::Keychain | Check::Journal | Check::Model => return None,
    };
    Some(("open", address))
}

/// Neither Linux on X11 nor Windows asks for such permissions.
#[cfg(not(target_os = "macos"))]
fn place(_check: Check) -> Option<(&'static str, &'static str)> {
    None
}
