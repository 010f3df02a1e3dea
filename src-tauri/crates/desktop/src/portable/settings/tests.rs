//! Tests of `settings`.

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
