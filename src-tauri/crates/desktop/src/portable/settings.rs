//! Where macOS gives each permission. Fixed addresses only; nothing from outside.

use protocol::view::Check;

/// The page of System Settings for a permission; nothing for what is no permission.
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

#[cfg(test)]
mod tests {
    use super::*;

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
