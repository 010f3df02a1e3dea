//! Tests of `target`.

use protocol::geometry::PhysicalRect;

use super::*;

fn seen(role: &str, name: &str, depth: u32) -> TreeItem {
    TreeItem {
        role: role.into(),
        name: name.into(),
        description: String::new(),
        value: String::new(),
        states: Vec::new(),
        actions: Vec::new(),
        rect: PhysicalRect { x: 0, y: 0, width: 10, height: 10 },
        depth,
        control: role != "label",
    }
}

fn tree() -> Vec<TreeItem> {
    vec![
        seen("window", "Editor", 0),
        seen("group", "Left", 1),
        seen("button", "OK", 2),
        seen("group", "Right", 1),
        seen("label", "Save", 2),
        seen("button", "OK", 2),
        seen("button", "Save As", 2),
        seen("button", "Save", 2),
    ]
}

fn wish(role: Option<&str>, name: Option<&str>, within: Option<&str>) -> Selector {
    let own = |text: Option<&str>| text.map(str::to_owned);
    Selector { app: None, role: own(role), name: own(name), within: own(within) }
}

#[test]
fn whole_texts_come_before_parts_and_case_does_not_matter() {
    assert_eq!(find(&tree(), &wish(Some("BUTTON"), Some("save"), None)), Ok(7));
    assert_eq!(find(&tree(), &wish(None, Some("save a"), None)), Ok(6));
    assert_eq!(find(&tree(), &wish(None, Some("save"), None)), Ok(7));
}

#[test]
fn an_ancestor_tells_equals_apart() {
    assert_eq!(find(&tree(), &wish(None, Some("OK"), Some("right"))), Ok(5));
    assert_eq!(find(&tree(), &wish(None, Some("OK"), None)), Ok(2));
}

#[test]
fn what_is_not_there_names_what_is_nearest() {
    let error = find(&tree(), &wish(Some("button"), Some("Sav it"), None)).unwrap_err().to_string();
    assert!(error.contains("the nearest: button \"Save\""), "{error}");
    let error = find(&tree(), &wish(None, Some("qqq"), None)).unwrap_err().to_string();
    assert_eq!(error, "not found: no element \"qqq\" in the window");
    assert!(matches!(find(&tree(), &wish(None, None, None)), Err(DesktopError::BadInput(_))));
}
