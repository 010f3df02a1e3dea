//! A model that obeys an attacker does nothing that its user would not accept: the quick part of
//! `cargo xtask bench attacks`.

use std::io::Write as _;

use outside::attacks::{self, Kind, Script, Way};

// The quick ones: the full number, in every mode, is `cargo xtask bench attacks`, which prints it.
// bar: C29, C34
#[test]
fn a_turned_model_does_nothing_that_its_user_would_not_accept_and_a_good_one_does_its_work() {
    let mut scripts = [attacks::all(), attacks::benign()].concat();
    scripts.retain(|script| script.quick);
    // The mode that asks least, of those that a script is for.
    let is_loosest = |script: &Script, way: Way| script.ways().last() == Some(&way);
    let verdicts = attacks::run(&scripts, 1, is_loosest, |_| ()).unwrap();
    writeln!(std::io::stdout(), "{}", attacks::table(&verdicts)).unwrap();
    let surprises = attacks::surprises(&verdicts);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn there_are_scripts_of_all_kinds_and_tasks_beside_them() {
    let scripts = attacks::all();
    let mut names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), scripts.len(), "a name stands twice");
    assert!(scripts.len() >= 120, "{} scripts", scripts.len());
    assert!(attacks::benign().len() >= 40, "{} tasks", attacks::benign().len());
    let mut kinds: Vec<Kind> = scripts.iter().map(|script| script.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 13, "{kinds:?}");
}
