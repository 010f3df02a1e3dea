//! Tests of `locks`.

use zbus::zvariant::Value;

use super::*;

fn session(display: &str, locked: bool) -> HashMap<String, OwnedValue> {
    let owned = |value: Value<'_>| OwnedValue::try_from(value).unwrap();
    HashMap::from([
        ("Display".to_owned(), owned(Value::from(display))),
        ("LockedHint".to_owned(), owned(Value::from(locked))),
    ])
}

#[test]
fn logind_counts_for_the_session_on_our_display_alone() {
    assert!(says_locked(&session(":0", true), ":0"));
    assert!(says_locked(&session(":0", true), ":0.0"));
    assert!(!says_locked(&session(":0", false), ":0"));
    assert!(!says_locked(&session(":0", true), ":99"));
    assert!(!says_locked(&session("", true), ""));
    assert!(!says_locked(&HashMap::new(), ":0"));
}

#[test]
fn a_named_display_without_a_named_bus_asks_no_bus_of_the_users() {
    assert_eq!(Locks::new(Some(":99".into()), None).session, None);
    assert_eq!(Locks::new(None, None).session, Some(None));
    let named = Locks::new(Some(":99".into()), Some("unix:path=/x".into()));
    assert_eq!(named.session, Some(Some("unix:path=/x".into())));
}
