//! Tests of `fence`.

use super::*;

#[test]
fn without_a_fence_everything_may_be_acted_on() {
    let fenced = Fenced::default();
    assert!(fenced.check_display(3).is_ok() && fenced.check_app(&["anything"]).is_ok());
}

#[test]
fn what_is_outside_the_fence_is_refused_and_what_is_inside_is_named() {
    let fenced = Fenced::default();
    fenced.set(Fence { displays: vec![1], apps: vec!["mousepad".into()], never: vec![] });
    assert!(fenced.check_display(1).is_ok());
    assert!(fenced.check_app(&["org.xfce.Mousepad Mousepad"]).is_ok());
    let display = fenced.check_display(0).unwrap_err();
    assert!(display.to_string().contains("act on display 1"), "{display}");
    let app = fenced.check_app(&["xterm XTerm"]).unwrap_err();
    assert!(app.to_string().contains("xterm XTerm") && app.to_string().contains("mousepad"), "{app}");
}
