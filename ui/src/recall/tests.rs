//! Up and Down in the goal field.

use super::*;

const END: Caret = Caret { is_on_first_row: true, is_at_end: true };
/// At the end of more rows than one.
const BELOW: Caret = Caret { is_on_first_row: false, is_at_end: true };
const WITHIN: Caret = Caret { is_on_first_row: false, is_at_end: false };

fn goals() -> Vec<String> {
    ["one", "two", "three"].map(str::to_owned).into()
}

/// A field with its walk.
#[derive(Default)]
struct Field {
    walk: Walk,
    text: String,
}

impl Field {
    fn with(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    fn up(&mut self) -> &str {
        let older = self.walk.older(&goals(), &self.text, END);
        self.show(older)
    }

    fn down(&mut self) -> &str {
        let newer = self.walk.newer(&self.text, END);
        self.show(newer)
    }

    fn show(&mut self, line: Option<String>) -> &str {
        self.text = line.unwrap_or_else(|| self.text.clone());
        &self.text
    }
}

#[test]
fn up_goes_back_to_the_first_goal_and_down_comes_back_to_what_was_being_typed() {
    let mut field = Field::with("half a sen");
    assert_eq!([field.up(), "three"], ["three"; 2]);
    assert_eq!(field.up(), "two");
    assert_eq!(field.up(), "one");
    assert_eq!(field.up(), "one");
    assert_eq!(field.down(), "two");
    assert_eq!(field.down(), "three");
    assert_eq!(field.down(), "half a sen");
    assert_eq!(field.down(), "half a sen");
}

#[test]
fn without_earlier_goals_nothing_changes() {
    let mut walk = Walk::default();
    assert_eq!(walk.older(&[], "typed", END), None);
    assert_eq!(walk.newer("typed", END), None);
    assert_eq!(walk.older(&goals(), "typed more", END), Some("three".into()));
}

#[test]
fn what_was_changed_on_the_way_is_there_when_the_walk_comes_by_again() {
    let mut field = Field::with("draft");
    field.up();
    field.text = "three times".into();
    assert_eq!(field.up(), "two");
    assert_eq!(field.down(), "three times");
    assert_eq!(field.down(), "draft");
    field.text = "draft, longer".into();
    assert_eq!(field.up(), "three times");
    assert_eq!(field.down(), "draft, longer");
}

#[test]
fn a_draft_is_not_lost_when_an_earlier_goal_is_sent_instead() {
    let mut field = Field::with("draft");
    assert_eq!(field.up(), "three");
    field.walk.sent();
    field.text.clear();
    assert_eq!(field.down(), "");
    assert_eq!(field.up(), "draft");
    assert_eq!(field.up(), "three");
    assert_eq!(field.down(), "draft");
    assert_eq!(field.down(), "");
}

#[test]
fn what_was_sent_leaves_no_draft() {
    let mut field = Field::with("draft");
    field.up();
    field.down();
    field.walk.sent();
    assert_eq!(field.walk, Walk::default());
    field.text.clear();
    assert_eq!(field.up(), "three");
}

#[test]
fn a_goal_that_another_window_has_sent_is_found() {
    let mut field = Field::with("draft");
    field.up();
    field.down();
    let mut more = goals();
    more.push("four".into());
    assert_eq!(field.walk.older(&more, "draft", END), Some("four".into()));
    assert_eq!(field.walk.newer("four", END), Some("draft".into()));
}

#[test]
fn within_many_rows_the_keys_move_the_caret() {
    let mut walk = Walk::default();
    for caret in [WITHIN, BELOW] {
        assert_eq!(walk.older(&goals(), "two\nrows", caret), None);
    }
    assert_eq!(walk.older(&goals(), "two\nrows", END), Some("three".into()));
    assert_eq!(walk.newer("three", WITHIN), None);
}

#[test]
fn a_goal_of_many_rows_is_walked_past_until_it_is_changed() {
    let goals = ["one".to_owned(), "two\nrows".to_owned()];
    let mut walk = Walk::default();
    assert_eq!(walk.older(&goals, "", END), Some("two\nrows".into()));
    assert_eq!(walk.older(&goals, "two\nrows!", BELOW), None);
    assert_eq!(walk.older(&goals, "two\nrows", BELOW), Some("one".into()));
}
