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

#[test]
fn who_has_told_of_the_lock_and_is_silent_now_leaves_it_as_it_was_and_then_locked() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut last = Last::default();
    assert!(!last.hears(Told::Late, at(0)), "nobody ever knew");
    assert!(!last.hears(Told::Locked(false), at(1)));
    assert!(!last.hears(Told::Late, at(5)));
    assert!(last.hears(Told::Late, at(30)), "it does not answer any more");
    assert!(!last.hears(Told::Locked(false), at(31)));
    assert!(last.hears(Told::Locked(true), at(32)));
    for told in [Told::Late, Told::NoBus, Told::Late] {
        assert!(last.hears(told, at(33)), "{told:?}");
    }
    assert!(!last.hears(Told::Nobody, at(34)), "the locker has ended");
    assert!(!last.hears(Told::NoBus, at(35)));
    assert!(!last.hears(Told::Late, at(99)));
}
