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
mod tests;
