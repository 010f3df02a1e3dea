//! What SECURITY.md promises is held by the tests that it names.

use std::collections::BTreeSet;

use crate::{assert_none, texts};

/// The part of SECURITY.md in which every point is a promise.
const HELD: (&str, &str) = ("## What is held", "## Who may do what");

#[test]
fn each_promise_names_tests_and_every_test_that_is_named_is_there() {
    let tests = tests();
    assert!(tests.len() > 1_000, "only {} tests were found", tests.len());
    let (_, security) = texts(&["SECURITY.md"]).remove(0);
    let named = |text: &str| -> Vec<String> {
        let words = text.split('`').skip(1).step_by(2);
        words.filter(|word| is_a_tests_name(word)).map(str::to_owned).collect()
    };
    let mut findings: Vec<String> =
        named(&security).into_iter().filter(|name| !tests.contains(name)).collect();
    let (start, end) = HELD;
    let held = security.split_once(start).and_then(|(_, rest)| rest.split_once(end)).unwrap().0;
    let promises: Vec<&str> = held.split("\n### ").flat_map(|part| part.split("\n- ").skip(1)).collect();
    assert!(promises.len() > 30, "only {} promises were found", promises.len());
    findings.extend(
        promises.iter().filter(|promise| named(promise).is_empty()).map(|promise| (*promise).to_owned()),
    );
    assert_none(&findings, "tests that are not there, and promises without one");
}

/// A sentence, and no name of a command or a file.
fn is_a_tests_name(word: &str) -> bool {
    let is_of_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(is_of_one) && word.matches('_').count() >= 3
}

/// The names of all functions with a test's attribute.
fn tests() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (_, text) in texts(&[".rs"]) {
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            let name =
                line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next());
            match name {
                Some(name) if is_test => {
                    all.insert(name.to_owned());
                    is_test = false;
                }
                Some(_) => is_test = false,
                // An attribute may be followed by comments and others.
                None => is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test"),
            }
        }
    }
    all
}
