//! Tests of `refusal`.

use super::*;
use crate::apple::app::{SAFARI, named};

fn said(app: &App, number: i64, message: &str) -> DesktopError {
    explain(app, &Refusal { number, message: message.into() })
}

#[test]
fn each_refusal_names_the_menu_or_page_that_sets_it_right() {
    let chrome = named("Google Chrome").unwrap();
    let edge = named("Microsoft Edge").unwrap();
    let remedy = |error: DesktopError| match error {
        DesktopError::Permission { remedy, .. } => remedy,
        other => panic!("{other:?}"),
    };
    let off = "Executing JavaScript through AppleScript is turned off. To turn it on, from the menu bar ...";
    assert!(remedy(said(chrome, 12, off)).contains("View > Developer > Allow JavaScript from Apple Events"));
    assert!(remedy(said(chrome, 12, "auf Deutsch")).contains("View > Developer"));
    assert!(remedy(said(edge, 12, off)).contains("Tools > Developer"));
    let safari =
        "You must enable 'Allow JavaScript from Apple Events' in the Developer section of Safari Settings";
    for number in [8, 0] {
        let remedy = remedy(said(&SAFARI, number, safari));
        assert!(
            remedy.contains("Show features for web developers") && remedy.contains("Settings > Developer")
        );
        assert!(remedy.contains("Develop menu"), "older Safaris have it in the menu: {remedy}");
    }
    let automation = remedy(said(chrome, -1743, "Not authorized to send Apple events to Google Chrome."));
    assert!(automation.contains("Automation") && automation.contains("Google Chrome"), "{automation}");
}

#[test]
fn what_is_no_permission_says_what_it_is() {
    assert!(
        matches!(said(&SAFARI, -600, ""), DesktopError::NotAvailable(why) if why.contains("not running"))
    );
    assert!(matches!(said(&SAFARI, -1719, "Invalid index."), DesktopError::NotFound(_)));
    assert!(matches!(said(&SAFARI, -1728, "the tab is gone"), DesktopError::NotFound(_)));
    assert!(matches!(said(&SAFARI, -1708, "x"), DesktopError::NotAvailable(_)));
    assert!(said(&SAFARI, -1712, "AppleEvent timed out.").to_string().contains("dialog"));
    // 12 means something only to Chromium.
    assert!(matches!(said(&SAFARI, 12, "something"), DesktopError::Failed(why) if why.contains("(12)")));
}

#[test]
fn a_script_that_was_given_up_is_a_page_that_says_nothing() {
    let error = late(&SAFARI, DesktopError::Timeout(EVENT));
    assert!(error.to_string().contains("a dialog is open"), "{error}");
    assert_eq!(late(&SAFARI, DesktopError::Cancelled), DesktopError::Cancelled);
}
