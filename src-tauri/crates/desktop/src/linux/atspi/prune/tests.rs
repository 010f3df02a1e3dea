//! Tests of `prune`.

use super::role::number;
use super::*;
use protocol::geometry::NormRect;

const DISPLAY: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 1000 };
const BUTTON: u32 = 43;
const FILLER: u32 = 20;
const LABEL: u32 = 29;
const PANEL: u32 = 39;

fn facts(role: u32, name: &str, extents: (i32, i32, i32, i32)) -> Facts {
    Facts { role, name: name.into(), states: States::SENSITIVE, extents, ..Facts::default() }
}

fn run(nodes: &[(Option<usize>, Facts)], query: &ElementQuery) -> Pruned {
    let nodes: Vec<_> = nodes.iter().map(|(parent, facts)| (*parent, facts)).collect();
    let view = View { app: "editor", display: &DISPLAY, root: None, whole: false };
    prune(&nodes, &view, query)
}

fn window() -> (Option<usize>, Facts) {
    (None, facts(number::FRAME, "Editor", (0, 0, 500, 500)))
}

fn names(pruned: &Pruned) -> Vec<&str> {
    pruned.elements.iter().map(|element| element.name.as_str()).collect()
}

#[test]
fn an_unnamed_filler_is_left_out_and_does_not_count_as_depth() {
    let nodes = [
        window(),
        (Some(0), facts(FILLER, "", (0, 0, 500, 500))),
        (Some(1), facts(BUTTON, "Save", (10, 20, 30, 40))),
        (Some(2), facts(LABEL, "Save", (12, 22, 20, 20))),
    ];
    let pruned = run(&nodes, &ElementQuery::default());
    let save = Element {
        role: "button".into(),
        name: "Save".into(),
        bounds: NormRect { x: 10.0, y: 20.0, width: 30.0, height: 40.0 },
        depth: 0,
        ..Element::default()
    };
    assert_eq!(pruned, Pruned { elements: vec![save], sources: vec![2], ..Pruned::default() });
}

#[test]
fn what_is_scrolled_away_is_cut_and_counted_and_what_is_half_in_view_is_clipped() {
    let nodes = [
        window(),
        (Some(0), facts(number::SCROLL_PANE, "", (0, 0, 100, 100))),
        (Some(1), facts(BUTTON, "Above", (0, -50, 50, 40))),
        (Some(1), facts(BUTTON, "Half", (0, 80, 50, 40))),
        (Some(1), facts(BUTTON, "Below", (0, 200, 50, 40))),
    ];
    let pruned = run(&nodes, &ElementQuery::default());
    assert_eq!(names(&pruned), ["Half"]);
    assert_eq!(pruned.elements[0].bounds, NormRect { x: 0.0, y: 80.0, width: 50.0, height: 20.0 });
    assert_eq!(pruned.cut, ["cut: 2 of 3 elements off screen or scrolled away"]);
}

#[test]
fn a_large_pane_that_takes_keys_and_tells_nothing_is_named_with_what_to_use() {
    let view =
        Facts { children: Some(0), states: States::FOCUSABLE, ..facts(PANEL, "", (100, 100, 300, 200)) };
    let small = Facts { extents: (0, 0, 100, 20), ..view.clone() };
    let full = Facts { children: Some(2), ..view.clone() };
    let pane = facts(number::SCROLL_PANE, "Icon view", (100, 100, 300, 200));
    let nodes = [window(), (Some(0), pane), (Some(1), view), (Some(0), small), (Some(0), full)];
    let Pruned { cut, untold, .. } = run(&nodes, &ElementQuery::default());
    let [line] = cut.as_slice() else { panic!("{cut:?}") };
    assert_eq!(untold, [PhysicalRect { x: 100, y: 100, width: 300, height: 200 }]);
    let start = "not told: what the panel of \"Icon view\" shows at x 100, y 100, width 300, height 200";
    assert!(line.starts_with(start) && line.contains("screenshot"), "{line}");
}

#[test]
fn a_window_of_which_nothing_but_itself_is_told_is_named() {
    let empty = |children| (None, Facts { children: Some(children), ..window().1 });
    let place = PhysicalRect { x: 0, y: 0, width: 500, height: 500 };
    assert_eq!(run(&[empty(0)], &ElementQuery::default()).untold, [place]);
    assert_eq!(run(&[empty(3)], &ElementQuery::default()).untold, []);
}

#[test]
fn an_open_menu_reaches_over_the_pane_it_hangs_from() {
    let nodes = [
        window(),
        (Some(0), facts(number::SCROLL_PANE, "", (0, 0, 100, 100))),
        (Some(1), facts(number::MENU, "File", (0, 0, 50, 20))),
        (Some(2), facts(35, "Open", (0, 300, 50, 20))),
    ];
    assert_eq!(names(&run(&nodes, &ElementQuery::default())), ["File", "Open"]);
}

#[test]
fn a_value_that_says_what_the_name_says_is_told_of_what_can_be_set() {
    let mut field = Facts { states: States::EDITABLE, ..facts(number::ENTRY, "Draft", (0, 0, 10, 10)) };
    field.value = "Draft".into();
    let mut label = facts(BUTTON, "Save", (0, 0, 10, 10));
    label.value = "Save".into();
    let pruned = run(&[window(), (Some(0), field), (Some(0), label)], &ElementQuery::default());
    let values: Vec<_> = pruned.elements.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["Draft", ""]);
}

#[test]
fn a_query_looks_at_name_value_and_role_in_any_case() {
    let mut valued = facts(number::ENTRY, "Name", (0, 0, 10, 10));
    valued.value = "Bashō".into();
    let nodes = [window(), (Some(0), valued), (Some(0), facts(BUTTON, "Save", (0, 0, 10, 10)))];
    for (wanted, found) in [("BASH", "Name"), ("save", "Save"), ("Entry", "Name")] {
        let query = ElementQuery { query: Some(wanted.into()), ..ElementQuery::default() };
        let pruned = run(&nodes, &query);
        assert_eq!(names(&pruned), [found]);
        assert_eq!(
            pruned.cut,
            [format!("cut: 1 of 2 elements do not mention \"{}\"", wanted.to_lowercase())]
        );
    }
}

#[test]
fn rows_that_are_scrolled_away_are_counted_where_the_table_knows_them() {
    let mut table = facts(number::TABLE, "Orders", (0, 0, 100, 100));
    table.states = table.states.with(States::MANAGES_DESCENDANTS);
    table.children = Some(1_404);
    let cell = |row: i32, column: i32| {
        let at = (column * 50, row * 10, 50, 10);
        (Some(1), facts(number::TABLE_CELL, &format!("{row}/{column}"), at))
    };
    let mut nodes = vec![window(), (Some(0), table)];
    nodes.extend((0..4).flat_map(|row| [cell(row, 0), cell(row, 1)]));
    let pruned = run(&nodes, &ElementQuery::default());
    assert_eq!(pruned.elements.len(), 9);
    assert_eq!(pruned.cut, ["cut: 1,400 of 1,404 rows of \"Orders\" off screen"]);
}

#[test]
fn a_label_that_says_what_its_field_or_its_group_says_is_left_out() {
    let nodes = [
        window(),
        (Some(0), facts(LABEL, "Name", (0, 0, 10, 10))),
        (Some(0), facts(number::ENTRY, "Name", (20, 0, 10, 10))),
        (Some(0), facts(LABEL, "Other", (0, 20, 10, 10))),
    ];
    assert_eq!(names(&run(&nodes, &ElementQuery::default())), ["Name", "Other"]);
    assert_eq!(run(&nodes, &ElementQuery::default()).elements[0].role, "entry");
}

#[test]
fn scopes_and_a_root_choose_among_all() {
    let mut field = facts(number::ENTRY, "Field", (0, 0, 10, 10));
    field.states = field.states.with(States::FOCUSABLE);
    let nodes = [
        window(),
        (Some(0), facts(number::DIALOG, "Box", (0, 0, 100, 100))),
        (Some(1), field),
        (Some(1), facts(LABEL, "Text", (0, 20, 10, 10))),
        (Some(0), facts(BUTTON, "Away", (0, 2_000, 10, 10))),
    ];
    let of = |scope| run(&nodes, &ElementQuery { scope, ..ElementQuery::default() });
    assert_eq!(names(&of(Scope::Interactive)), ["Field"]);
    assert_eq!(names(&of(Scope::Visible)), ["Box", "Field", "Text"]);
    let all = of(Scope::All);
    assert_eq!(names(&all), ["Box", "Field", "Text", "Away"]);
    assert_eq!(all.elements[3].states, ["offscreen"]);
    assert_eq!(all.elements[3].bounds.y, 2_000.0);
    let nodes: Vec<_> = nodes.iter().map(|(parent, facts)| (*parent, facts)).collect();
    let view = View { app: "editor", display: &DISPLAY, root: Some(1), whole: true };
    assert_eq!(names(&prune(&nodes, &view, &ElementQuery::default())), ["Box", "Field", "Text"]);
}
