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
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_scripts_may_not_use_is_named() {
        let said = |events, browsers: &[(&str, i32)]| automation(events, browsers);
        assert_eq!(said(0, &[("Safari", 0), ("Arc", -600)]).0, CheckState::Well);
        assert!(said(0, &[("Safari", 0), ("Arc", -600)]).1.ends_with("System Events and Safari"));
        let (state, detail) = said(NOT_ASKED_YET, &[("Safari", REFUSED), ("Arc", 0)]);
        assert_eq!((state, detail.contains("use Safari")), (CheckState::Limited, true));
        assert_eq!(said(REFUSED, &[("Safari", 0)]).0, CheckState::Missing);
        assert_eq!(said(-600, &[]).0, CheckState::Limited);
    }

    #[test]
    fn every_permission_has_its_own_page_and_what_is_none_has_no_page() {
        let pages = [Check::ScreenCapture, Check::Accessibility, Check::Automation, Check::InputMonitoring];
        let mut pages: Vec<&str> = pages.into_iter().filter_map(address).collect();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), 4);
        assert!(pages.iter().all(|page| page.starts_with("x-apple.systempreferences:")));
        assert_eq!(address(Check::Journal), None);
    }
}
