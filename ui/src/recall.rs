//! Walking through earlier goals with Up and Down, as in a shell. What was being typed is where the walk ends, and is
//! never lost.
//!
//! Pure; the goal field says what is in it and shows what comes of it.

/// A walk through what was said in a field. `Default` is where none is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Earlier goals, oldest first, and at the end what was being typed; each as it was left.
    lines: Vec<String>,
    at: usize,
    /// The last of the goals when the walk began.
    newest: Option<String>,
    /// What the walk came to, to tell whether it was changed since.
    came: Option<String>,
    /// What was being typed when an earlier goal was sent.
    unsent: Option<String>,
}

/// Where the caret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caret {
    /// On the first row as it is drawn.
    pub is_on_first_row: bool,
    /// Behind all that is typed.
    pub is_at_end: bool,
}

impl Walk {
    /// The goal before, in place of what is `typed`; `None` if the key is the field's own.
    pub fn older(&mut self, goals: &[String], typed: &str, caret: Caret) -> Option<String> {
        let is_unchanged = self.came.as_deref() == Some(typed);
        let is_ours = caret.is_on_first_row || (caret.is_at_end && is_unchanged);
        if !is_ours {
            return None;
        }
        let is_at_end = self.at + 1 >= self.lines.len();
        if is_at_end && (self.lines.is_empty() || self.newest.as_ref() != goals.last()) {
            self.begin(goals, typed);
        }
        let to = self.at.checked_sub(1)?;
        Some(self.go(to, typed))
    }

    /// The goal after, and at last what was being typed; `None` if the key is the field's own.
    pub fn newer(&mut self, typed: &str, caret: Caret) -> Option<String> {
        let to = self.at + 1;
        (caret.is_at_end && to < self.lines.len()).then(|| self.go(to, typed))
    }

    /// What is in the field was sent: the walk is over. What was being typed, if that is something else, is the first that
    /// the next walk comes to.
    pub fn sent(&mut self) {
        let was_at_end = self.at + 1 >= self.lines.len();
        let draft = self.lines.pop().filter(|draft| !was_at_end && !draft.trim().is_empty());
        *self = Self { unsent: draft, ..Self::default() };
    }

    fn begin(&mut self, goals: &[String], typed: &str) {
        self.newest = goals.last().cloned();
        let unsent = self.unsent.clone().filter(|unsent| Some(unsent) != goals.last());
        self.lines = goals.iter().cloned().chain(unsent).chain([typed.to_owned()]).collect();
        self.at = self.lines.len() - 1;
    }

    fn go(&mut self, to: usize, typed: &str) -> String {
        typed.clone_into(&mut self.lines[self.at]);
        self.at = to;
        let line = self.lines[to].clone();
        self.came = Some(line.clone());
        line
    }
}

#[cfg(test)]
mod tests {
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
}
