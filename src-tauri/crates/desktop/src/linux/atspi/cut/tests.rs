//! Tests of `cut`.

use super::*;

#[test]
fn the_limit_keeps_controls_before_labels_in_the_trees_order() {
    let element =
        |role: &str, name: &str| Element { role: role.into(), name: name.into(), ..Element::default() };
    let mut elements = vec![
        element("label", "one"),
        element("button", "two"),
        element("label", "three"),
        element("button", "four"),
    ];
    let mut cut = Vec::new();
    limit(&mut elements, 3, &mut cut);
    let names: Vec<&str> = elements.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "four"]);
    assert_eq!(cut, ["cut: 1 of 4 elements beyond the limit of 3; ask with query or root for others"]);
}

#[test]
fn counts_are_grouped_by_thousands() {
    assert_eq!([7, 404, 1_404, 1_204_404].map(grouped), ["7", "404", "1,404", "1,204,404"]);
}
