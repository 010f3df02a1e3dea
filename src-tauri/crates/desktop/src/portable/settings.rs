//! Where macOS gives each permission, and what its answers about scripts mean. Fixed addresses only; nothing from
//! outside.

use protocol::view::{Check, CheckState};

/// The page of System Settings for a permission; `None` for what is no permission.
pub(crate) fn address(check: Check) -> Option<&'static str> {
    Some(match check {
        Check::Display | Check::ScreenCapture => {
            "x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture"
        }
        Check::Input | Check::Accessibility => {
            "x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility"
        }
        Check::Automation => "x-apple.systempreferences:com.apple.preference.security?Privacy_Automation",
        Check::InputMonitoring => {
            "x-apple.systempreferences:com.apple.preference.security?Privacy_ListenEvent"
        }
        _ => return None,
    })
}

/// `errAEEventNotPermitted`
const REFUSED: i32 = -1743;
/// `errAEEventWouldRequireUserConsent`
pub(crate) const NOT_ASKED_YET: i32 = -1744;

/// What macOS says of scripts that use System Events, and of each browser that runs.
pub(crate) fn automation(events: i32, browsers: &[(&str, i32)]) -> (CheckState, String) {
    let names = |wanted: i32| {
        let of = browsers.iter().filter(|(_, answer)| *answer == wanted).map(|(name, _)| *name);
        of.collect::<Vec<_>>().join(", ")
    };
    let (refused, allowed) = (names(REFUSED), names(0));
    match events {
        REFUSED => (CheckState::Missing, "macOS does not let Miki's scripts use System Events".into()),
        _ if !refused.is_empty() => {
            (CheckState::Limited, format!("macOS does not let Miki's scripts use {refused}"))
        }
        0 if allowed.is_empty() => (CheckState::Well, "scripts may use System Events".into()),
        0 => (CheckState::Well, format!("scripts may use System Events and {allowed}")),
        _ => (CheckState::Limited, "macOS will ask at the first script for each application".into()),
    }
}

#[cfg(test)]
mod tests;
