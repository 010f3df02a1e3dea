//! How the program ends: five codes that scripts can rely on.

use std::process::ExitCode;

use fold::transcript::Acts;
use protocol::event::RunEnd;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    Stopped,
    NeedsApproval,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Stopped => 3,
            Self::NeedsApproval => 4,
        }
    }

    /// How a command that waited for a run ends. Whatever the model says: where nothing of what it tried was done, the
    /// goal was not reached.
    pub fn of_run(end: &RunEnd, acts: Acts) -> Self {
        match end {
            RunEnd::Completed { .. } if acts.unanswered > 0 => Self::NeedsApproval,
            RunEnd::Completed { .. } if acts.came_to_nothing() => Self::Failed,
            RunEnd::Completed { .. } => Self::Done,
            RunEnd::Failed { .. } | RunEnd::Interrupted { .. } => Self::Failed,
            RunEnd::Stopped { .. } => Self::Stopped,
            RunEnd::NeedsApproval { .. } => Self::NeedsApproval,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_the_code_that_is_documented() {
        let end = |end: RunEnd| Exit::of_run(&end, Acts::default()).code();
        assert_eq!(end(RunEnd::Completed { summary: String::new() }), 0);
        let nothing = Acts { refused: 1, ..Acts::default() };
        assert_eq!(Exit::of_run(&RunEnd::Completed { summary: String::new() }, nothing).code(), 1);
        let unasked = Acts { done: 1, unanswered: 1, ..Acts::default() };
        assert_eq!(Exit::of_run(&RunEnd::Completed { summary: String::new() }, unasked).code(), 4);
        assert_eq!(end(RunEnd::Failed { message: String::new(), hint: None }), 1);
        assert_eq!(end(RunEnd::Interrupted { reason: None }), 1);
        assert_eq!(Exit::Usage.code(), 2);
        assert_eq!(end(RunEnd::Stopped { reason: String::new() }), 3);
        assert_eq!(end(RunEnd::NeedsApproval { approval: protocol::ids::ApprovalId("q-1".into()) }), 4);
    }
}
