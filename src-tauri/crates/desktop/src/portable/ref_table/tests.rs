//! Tests of `ref_table`.

use super::*;

fn element(name: &str) -> Element {
    Element { name: name.into(), ..Element::default() }
}

fn told_refs(told: &NumberedSnapshot) -> Vec<&str> {
    told.elements.iter().map(|one| one.reference.as_str()).collect()
}

#[test]
fn a_ref_stays_with_its_object_and_is_never_given_to_another() {
    let mut refs = RefTable::default();
    let first = refs.enter("Editor", "", &[10, 20], vec![element("a"), element("b")], None);
    assert_eq!(told_refs(&first), ["e1", "e2"]);
    let second = refs.enter("Editor", "", &[30, 20], vec![element("c"), element("b")], None);
    assert_eq!(told_refs(&second), ["e3", "e2"]);
    assert_eq!(refs.find("e1").map(|entry| entry.node), Some(10));
    assert_eq!(refs.find("e9"), None);
    assert_eq!(refs.find("x"), None);
}

#[test]
fn since_tells_only_what_is_new_changed_or_gone() {
    let mut refs = RefTable::default();
    let all = vec![element("a"), element("b"), element("c")];
    let first = refs.enter("Editor", "", &[1, 2, 3], all, None);
    tell(&mut refs, &first);
    let now = vec![element("a"), element("B"), element("d")];
    let told = refs.enter("Editor", "", &[1, 2, 4], now, Some(first.number));
    assert_eq!(told_refs(&told), ["e2", "e4"]);
    assert_eq!(told.gone, ["e3"]);
    assert_eq!(told.note, None);
}

fn tell(refs: &mut RefTable<u32>, snapshot: &NumberedSnapshot) {
    let all = told_refs(snapshot).into_iter().map(str::to_owned).collect();
    refs.told(&ToldElements { snapshot: snapshot.number, refs: all });
}

#[test]
fn a_ref_stands_for_what_was_told_last_whatever_was_looked_at_since() {
    let mut refs = RefTable::default();
    let first = refs.enter("Editor", "", &[1, 2], vec![element("Save"), element("")], None);
    tell(&mut refs, &first);
    let other = refs.enter("Editor", "", &[1, 2], vec![element("Delete"), element("New")], None);
    assert_eq!(refs.find("e1").map(Entry::as_told), Some(("", "Save")));
    // What was cut was not told.
    refs.told(&ToldElements { snapshot: other.number, refs: vec!["e2".into(), "e9".into()] });
    assert_eq!(refs.find("e1").map(Entry::as_told), Some(("", "Save")));
    assert_eq!(refs.find("e2").map(Entry::as_told), Some(("", "New")));
    tell(&mut refs, &other);
    assert_eq!(refs.find("e1").map(Entry::as_told), Some(("", "Delete")));
}

#[test]
fn an_unknown_snapshot_is_said_and_everything_is_told() {
    let mut refs = RefTable::default();
    let told = refs.enter("Editor", "", &[1], vec![element("a")], Some(77));
    assert_eq!(told.elements.len(), 1);
    assert!(told.note.is_some());
}

#[test]
fn the_oldest_are_forgotten_and_the_book_stays_bounded() {
    let mut refs = RefTable::default();
    let batch = 6_000_u32;
    for round in 0..5 {
        let nodes: Vec<u32> = (round * batch..(round + 1) * batch).collect();
        let elements = vec![element(""); nodes.len()];
        refs.enter("Editor", "", &nodes, elements, None);
    }
    assert_eq!(refs.entries.len(), MOST);
    assert_eq!(refs.numbers.len(), MOST);
    assert_eq!(refs.find("e1"), None);
    assert!(refs.find("e30000").is_some());
}
