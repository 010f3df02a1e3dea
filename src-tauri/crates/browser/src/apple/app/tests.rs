//! Tests of `app`.

use super::*;

#[test]
fn a_window_tells_its_browser_by_its_owners_name() {
    assert_eq!(named("Safari").map(|app| app.bundle), Some("com.apple.Safari"));
    assert_eq!(named("Safari浏览器").map(|app| app.bundle), Some("com.apple.Safari"));
    assert_eq!(named("Arc").map(|app| app.family), Some(Family::Arc));
    assert_eq!(named("Google Chrome").map(|app| app.bundle), Some("com.google.Chrome"));
    assert_eq!(named("Firefox"), None);
    assert_eq!(named("Safari Technology Preview"), None);
}

#[test]
fn every_browser_says_which_menu_allows_it() {
    for app in all() {
        assert!(app.allow.contains("Allow JavaScript from Apple Events"), "{app:?}");
        assert_eq!(by_bundle(app.bundle), Some(app));
    }
}
