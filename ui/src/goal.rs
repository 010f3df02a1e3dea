//! What words typed into a goal field become: a goal, or something said to the run at work.
//!
//! Pure. Words go to a run only where its session is the one shown; from anywhere else they begin a run of their own.

use protocol::command::{ResumeRun, RunOverrides, StartRun, SteerRun};
use protocol::ids::SessionId;

use crate::state::State;

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Goal(Box<StartRun>),
    ToRun(SteerRun),
    /// It is paused by itself, and goes on.
    GoOn(ResumeRun),
}

/// What lets a run go on that waits for its user's word, in whichever language the windows are.
const GO_ON: [&str; 8] =
    ["go on", "continue", "resume", "続けて", "続けてください", "続ける", "続行", "再開"];

fn says_go_on(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!', '。', '！']);
    GO_ON.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The command that `text` is sent with. Where no run is under way in the session shown, it is a goal: for `session`, or
/// for a new one where that is `None`.
pub fn said(state: &State, text: String, session: Option<SessionId>, overrides: RunOverrides) -> Said {
    match state.run_shown() {
        Some(run) if run.status.wants_word && says_go_on(&text) => {
            Said::GoOn(ResumeRun { run: Some(run.run.clone()) })
        }
        Some(run) => Said::ToRun(SteerRun { run: run.run.clone(), text }),
        None => Said::Goal(Box::new(StartRun { goal: text, session, overrides })),
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::RunId;

    use super::*;
    use crate::state::sample::{opened, overview, session_id};

    /// A run is at work in `s-work`, none in `s-rest`.
    fn showing(id: &str) -> State {
        opened(overview(&["work"], &["rest"]), id, Vec::new())
    }

    /// As the windows send it: in the session that they show.
    fn said_in(state: &State) -> Said {
        said(state, "the next".into(), state.shown().cloned(), RunOverrides::default())
    }

    fn goal(session: Option<SessionId>) -> Said {
        let start = StartRun { goal: "the next".into(), session, overrides: RunOverrides::default() };
        Said::Goal(Box::new(start))
    }

    #[test]
    fn words_typed_where_a_run_works_are_said_to_it() {
        let run = RunId("r-work".into());
        assert_eq!(said_in(&showing("work")), Said::ToRun(SteerRun { run, text: "the next".into() }));
    }

    #[test]
    fn go_on_lets_a_run_go_on_that_waits_for_its_users_word_and_is_said_to_any_other() {
        let mut state = showing("work");
        let said = |state: &State, text: &str| {
            said(state, text.into(), state.shown().cloned(), RunOverrides::default())
        };
        assert!(matches!(said(&state, "go on"), Said::ToRun(_)), "it is at work");
        state.overview.runs[0].status.wants_word = true;
        let go_on = Said::GoOn(ResumeRun { run: Some(RunId("r-work".into())) });
        for text in ["go on", " Go on. ", "続けて", "続けてください。"] {
            assert_eq!(said(&state, text), go_on, "{text}");
        }
        assert!(matches!(said(&state, "go on with the other one"), Said::ToRun(_)));
    }

    #[test]
    fn a_goal_typed_in_a_new_session_begins_a_run_though_another_works() {
        let mut state = showing("work");
        let _ = state.show_new();
        assert_eq!(said_in(&state), goal(None));
    }

    #[test]
    fn a_goal_typed_in_an_older_session_is_for_that_one_though_another_works() {
        assert_eq!(said_in(&showing("rest")), goal(Some(session_id("rest"))));
    }
}
