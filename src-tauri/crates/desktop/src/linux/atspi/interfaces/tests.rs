//! Tests of `interfaces`.

use super::*;

#[test]
fn what_an_object_does_not_name_it_does_not_offer() {
    let named = Interfaces::named(&["org.a11y.atspi.Accessible".into(), ACTION.into()]);
    assert!(named.has(ACTION) && !named.has(COMPONENT) && !named.has(VALUE));
    assert!(Interfaces::default().has(COMPONENT));
}
