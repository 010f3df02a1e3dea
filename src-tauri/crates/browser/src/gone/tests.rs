//! Tests of `gone`.

use super::*;

const WAS: Was<'_> = Was { reference: "w7", role: "button", name: "Save as" };

#[test]
fn the_nearest_is_the_one_with_the_same_name() {
    let like = |role: &str, name: &str| likeness(&WAS, role, name);
    assert!(like("button", "Save as") > like("link", "Save as"));
    assert!(like("link", "Save as") > like("button", "Save"));
    assert!(like("button", "Save") > 0);
    assert_eq!(like("button", "Delete"), 0);
}

#[test]
fn the_error_names_the_nearest_or_that_there_is_none() {
    let found =
        |id: u64, name: &str| Found { id, role: "button".into(), name: name.into(), ..Found::default() };
    let error = stale(&WAS, &[found(8, "Save"), found(9, "Delete")], "w").to_string();
    assert!(error.contains("w7 (button \"Save as\")") && error.contains("w8"), "{error}");
    let error = stale(&WAS, &[found(9, "Delete")], "w").to_string();
    assert!(error.contains("nor is anything like it"), "{error}");
}
