//! Whose a tab is.

use super::*;

#[test]
fn a_runs_tab_is_its_own_until_it_ends() {
    let (anybody, one, other) = (Owner::anybody(), Owner::of_a_run(), Owner::of_a_run());
    let mut all = Outlooks::default();
    all.turn_to(&anybody);
    all.take("mine");
    all.turn_to(&one);
    assert_eq!(all.current(), None);
    assert!(!all.is_anothers("mine"), "whoever is no run keeps no tab");
    all.come_to("a");
    all.opened("b");
    all.tell_dialog(7);
    all.turn_to(&other);
    assert_eq!((all.current(), all.dialog()), (None, 0));
    assert!(all.is_anothers("a") && all.is_anothers("b") && !all.is_anothers("c") && all.is_shared());
    all.come_to("a");
    assert_eq!(all.current(), None, "another run's tab is not taken by looking at it");
    all.take("a");
    assert!(!all.is_anothers("a"), "but by its name");
    all.turn_to(&one);
    assert_eq!((all.current().map(String::as_str), all.dialog()), (Some("a"), 7));
    drop(one);
    all.turn_to(&other);
    assert!(all.is_anothers("b"), "for who was there beside it, it stays another's");
    all.turn_to(&Owner::of_a_run());
    assert!(!all.is_anothers("b"), "but not for who comes later");
    all.turn_to(&anybody);
    assert_eq!(all.current().map(String::as_str), Some("mine"));
}

#[test]
fn a_closed_tab_is_nobodys() {
    let (one, other) = (Owner::of_a_run(), Owner::of_a_run());
    let mut all = Outlooks::default();
    all.turn_to(&one);
    all.take("a");
    all.turn_to(&other);
    all.forget("a");
    assert!(!all.is_anothers("a"));
    all.turn_to(&one);
    assert_eq!(all.current(), None);
}
