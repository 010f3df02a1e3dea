//! Tests of `list`.

use super::*;
use protocol::geometry::NormRect;

const SCREEN: PhysicalRect = PhysicalRect { x: 1000, y: 0, width: 1000, height: 1000 };

fn seen(name: &str, depth: u32, x: i32) -> TreeItem {
    TreeItem {
        role: "button".into(),
        name: name.into(),
        description: String::new(),
        value: String::new(),
        states: Vec::new(),
        actions: Vec::new(),
        rect: PhysicalRect { x, y: 10, width: 100, height: 20 },
        depth,
        control: true,
    }
}

#[test]
fn camel_case_becomes_words() {
    assert_eq!(words("AXTextField"), "text field");
    assert_eq!(words("MenuItem"), "menu item");
    assert_eq!(words("AXButton"), "button");
}

#[test]
fn what_is_half_on_the_display_is_clipped_and_what_is_beside_it_is_counted() {
    let listed =
        list("Editor", &[seen("Half", 1, 950), seen("Beside", 1, 10)], &SCREEN, &ElementQuery::default());
    assert_eq!(listed.sources, [0]);
    let bounds = NormRect { x: 0.0, y: 10.0, width: 50.0, height: 20.0 };
    assert_eq!(listed.elements[0].bounds, bounds);
    assert_eq!(listed.cut, ["1 of 2 are off screen or scrolled away"]);
}

#[test]
fn an_unlisted_group_adds_no_depth() {
    let group = TreeItem { control: false, name: String::new(), ..seen("", 1, 1000) };
    let all = [seen("Bar", 1, 1000), seen("Item", 2, 1000), group, seen("Alone", 2, 1000)];
    let depths: Vec<u32> = list("Editor", &all, &SCREEN, &ElementQuery::default())
        .elements
        .iter()
        .map(|one| one.depth)
        .collect();
    assert_eq!(depths, [0, 1, 0]);
}

#[test]
fn the_limit_keeps_what_is_focused_and_what_can_be_operated() {
    let label = TreeItem { role: "label".into(), ..seen("label", 1, 1000) };
    let focused = TreeItem { states: vec!["focused".into()], ..label.clone() };
    let listed = list("Editor", &[label, seen("Save", 1, 1000), focused], &SCREEN, &ElementQuery::default());
    let mut cut = Vec::new();
    let kept = limit(listed.elements, 2, &mut cut);
    let names: Vec<&str> = kept.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Save", "label"]);
    assert_eq!(cut, ["1 of 3 are beyond the limit of 2; ask with a query for others"]);
}

#[test]
fn a_fingerprint_outlives_values_places_and_the_windows_title_and_tells_equals_apart() {
    let tree = |title: &str, x: i32| {
        let window = TreeItem { role: "window".into(), ..seen(title, 0, 1000) };
        let field = TreeItem { value: title.into(), ..seen("Name", 1, x) };
        [window, field, seen("OK", 1, 1000), seen("OK", 1, 1000)]
    };
    let one = fingerprints("Editor", &tree("pond.txt", 1000));
    assert_eq!(one, fingerprints("Editor", &tree("lake.txt", 1500)));
    assert_ne!(one[2], one[3]);
    assert_ne!(one, fingerprints("Browser", &tree("pond.txt", 1000)));
    assert!(one.iter().all(|print| print.len() == 8));
}
