//! Tests of `choose`.

use super::*;

fn element(reference: &str, role: &str, name: &str, depth: u32) -> Element {
    Element { reference: reference.into(), role: role.into(), name: name.into(), depth, ..Element::default() }
}

fn window() -> Vec<Element> {
    vec![
        element("e1", "tool bar", "Main", 0),
        element("e2", "button", "Save", 1),
        element("e3", "button", "Save As...", 1),
        element("e4", "dialog", "Print", 0),
        element("e5", "button", "OK", 1),
        element("e6", "dialog", "Find", 0),
        element("e7", "label", "Search for", 1),
        element("e8", "entry", "Search for", 1),
        element("e9", "button", "OK", 1),
    ]
}

fn selector(role: &str, name: &str, within: &str) -> Selector {
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Selector { app: None, role: filled(role), name: filled(name), within: filled(within) }
}

#[test]
fn a_whole_name_counts_before_a_part_of_one_in_any_case() {
    let all = window();
    for (wish, found) in [
        (selector("button", "save", ""), "e2"),
        (selector("", "Save as", ""), "e3"),
        (selector("", "as", ""), "e3"),
        (selector("button", "OK", "find"), "e9"),
        (selector("button", "", "Print"), "e5"),
        (selector("", "search for", ""), "e8"),
    ] {
        assert_eq!(choose(&all, &wish).unwrap().reference, found, "{wish:?}");
    }
}

#[test]
fn several_that_match_are_refused_by_name_and_place() {
    let error = choose(&window(), &selector("", "OK", "")).unwrap_err();
    let expected = "2 elements are anything named \"OK\": e5 (button \"OK\" in dialog \"Print\"), \
            e9 (button \"OK\" in dialog \"Find\"); name one by its ref, or say within what it is";
    assert_eq!(error, DesktopError::BadInput(expected.into()));
}

#[test]
fn nothing_that_matches_is_answered_with_the_nearest() {
    let error = choose(&window(), &selector("button", "Sve", "")).unwrap_err();
    let expected = "no element is button named \"Sve\"; the nearest is e2 (button \"Save\")";
    assert_eq!(error, DesktopError::NotFound(expected.into()));
}

#[test]
fn what_is_gone_is_named_with_the_nearest_of_what_is_there() {
    let was = element("e12", "button", "Save", 0);
    let now = [element("e38", "label", "Saved", 0), element("e40", "button", "Save As...", 0)];
    let expected = "e12 (button \"Save\") is gone; the nearest now is e40 (button \"Save As...\")";
    assert_eq!(gone(&was, &now), DesktopError::NotFound(expected.into()));
    let expected = "e12 (button \"Save\") is gone; there is nothing like it now; call elementsJson again";
    assert_eq!(gone(&was, &[element("e1", "entry", "", 0)]), DesktopError::NotFound(expected.into()));
}

#[test]
fn the_fingerprint_counts_before_the_name() {
    let was = Element { fingerprint: "0a1b2c3d".into(), ..element("e1", "button", "Pause", 0) };
    let same = Element { fingerprint: "0a1b2c3d".into(), ..element("e9", "button", "Play", 0) };
    let now = [element("e8", "button", "Pause", 0), same];
    assert_eq!(nearest(&was, &now).unwrap().reference, "e9");
}
