//! Tests of `choice`.

use super::*;

#[test]
fn safari_on_top_is_asked_by_events_and_a_port_comes_before_events_elsewhere() {
    let safari = apple::safari();
    let chrome = apple::topmost(["Finder", "Google Chrome", "Safari"]).unwrap();
    assert_eq!(choose(Some(safari), true, &[], true), Way::Events(safari));
    assert_eq!(choose(Some(chrome), true, &[], true), Way::Port);
    assert_eq!(choose(Some(chrome), false, &[], true), Way::Events(chrome));
    assert_eq!(choose(None, true, &[], true), Way::Port);
    assert_eq!(choose(None, false, &[chrome], true), Way::Events(chrome));
    assert_eq!(choose(None, false, &[], true), Way::Port);
    assert_eq!(choose(None, false, &[], false), Way::Events(safari));
}

#[test]
fn a_named_port_and_only_our_own_leave_no_choice() {
    let options = Options::default();
    assert!(is_open(&options));
    assert!(!is_open(&Options { port: Some(9222), ..options.clone() }));
    assert!(!is_open(&Options { attach: Attach::Own, ..options }));
}

#[test]
fn a_ref_tells_its_way() {
    assert!(is_events("wa12") && is_events("ta3"));
    assert!(!is_events("w12") && !is_events("t3"));
}
