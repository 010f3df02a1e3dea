//! What was typed and not sent stays with its session. Pure.

use std::collections::HashMap;

use protocol::ids::SessionId;

/// A page's session; `None` for one that begins with the next goal.
type Page = Option<SessionId>;

/// What stands in the goal fields of the pages that are not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drafts(HashMap<Page, String>);

impl Drafts {
    /// Another page is shown: takes what was `typed` in the one `before`, and answers what was typed in the one `now`.
    pub fn turn(&mut self, before: Page, now: &Page, typed: String) -> String {
        if !typed.is_empty() {
            self.0.insert(before, typed);
        }
        self.0.remove(now).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_waits_in_its_own_session() {
        let (new, work, mut drafts) = (None, Some(SessionId("s-work".into())), Drafts::default());
        assert_eq!(drafts.turn(new.clone(), &work, "half a sentence".into()), "");
        assert_eq!(drafts.turn(work.clone(), &new, "to the run".into()), "half a sentence");
        assert_eq!(drafts.turn(new.clone(), &work, String::new()), "to the run");
        assert_eq!(drafts.turn(work, &new, String::new()), "", "what was sent is not there again");
    }
}
