//! Tests of `fingerprint`.

use super::*;

const BUTTON: u32 = 43;
const PANEL: u32 = 39;

fn facts(role: u32, name: &str) -> Facts {
    Facts { role, name: name.into(), ..Facts::default() }
}

fn last(nodes: &[(Option<usize>, Facts)]) -> String {
    let nodes: Vec<_> = nodes.iter().map(|(parent, facts)| (*parent, facts)).collect();
    all("editor", &nodes).pop().unwrap()
}

#[test]
fn a_title_a_value_a_place_on_the_screen_and_a_nameless_box_do_not_change_it() {
    let before = last(&[(None, facts(number::FRAME, "a.txt - Editor")), (Some(0), facts(BUTTON, "Save"))]);
    let moved = Facts { extents: (9, 9, 9, 9), value: "7".into(), ..facts(BUTTON, "Save") };
    let after = last(&[
        (None, facts(number::FRAME, "b.txt - Editor")),
        (Some(0), facts(PANEL, "")),
        (Some(1), moved),
    ]);
    assert_eq!(before, after);
    assert_eq!(before.len(), 8);
}

#[test]
fn the_name_what_it_is_in_and_its_place_among_equals_tell_it_apart() {
    let window = || (None, facts(number::FRAME, "Editor"));
    let alone = last(&[window(), (Some(0), facts(BUTTON, "Save"))]);
    let other = last(&[window(), (Some(0), facts(BUTTON, "Open"))]);
    let within = last(&[window(), (Some(0), facts(PANEL, "Bar")), (Some(1), facts(BUTTON, "Save"))]);
    let second = last(&[window(), (Some(0), facts(BUTTON, "Save")), (Some(0), facts(BUTTON, "Save"))]);
    let mut all = vec![alone, other, within, second];
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4);
}
