//! What words typed into a goal field become: a goal, or something said to the run at work.
//!
//! Pure. Words go to a run only where its session is the one shown; from anywhere else they begin a run of their own.

use protocol::command::{RunOverrides, StartRun, SteerRun};
use protocol::ids::SessionId;

use crate::state::State;

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Goal(StartRun),
    ToRun(SteerRun),
}

/// The command that `text` is sent with. Where no run is under way in the session shown, it is a goal: for `session`, or
/// for a new one where that is `None`.
pub fn said(state: &State, text: String, session: Option<SessionId>, overrides: RunOverrides) -> Said {
    match state.run_shown() {
        Some(run) => Said::ToRun(SteerRun { run: run.clone(), text }),
        None => Said::Goal(StartRun { goal: text, session, overrides }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::event::Status;
    use protocol::ids::{RunId, Seq, Timestamp};
    use protocol::settings::Settings;
    use protocol::tool::{ApprovalMode, Mode};
    use protocol::view::{Platform, RunView, SessionHistory, SessionView, SnapshotView};

    fn session(id: &str, run: Option<&str>) -> SessionView {
        SessionView {
            id: SessionId(id.into()),
            title: id.into(),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            search: false,
            created: Timestamp(0),
            updated: Timestamp(0),
            last_run: run.map(|id| RunView { id: RunId(id.into()), goal: "a goal".into(), end: None }),
        }
    }

    /// A run is at work in `s-work`, which is shown; `s-rest` is at rest.
    fn state() -> State {
        State::from(SnapshotView {
            seq: Seq(0),
            settings: Settings::default(),
            status: Status::default(),
            sessions: vec![session("s-work", Some("r-1")), session("s-rest", None)],
            current: Some(SessionId("s-work".into())),
            events: Vec::new(),
            approvals: Vec::new(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        })
    }

    /// As the dashboard sends it: in the session that it shows.
    fn said_in(state: &State) -> Said {
        said(state, "the next".into(), state.shown.clone(), RunOverrides::default())
    }

    fn goal(session: Option<&str>) -> Said {
        let session = session.map(|id| SessionId(id.into()));
        Said::Goal(StartRun { goal: "the next".into(), session, overrides: RunOverrides::default() })
    }

    #[test]
    fn words_typed_where_a_run_works_are_said_to_it() {
        let run = RunId("r-1".into());
        assert_eq!(said_in(&state()), Said::ToRun(SteerRun { run, text: "the next".into() }));
    }

    #[test]
    fn a_goal_typed_in_a_new_session_begins_a_run_though_another_works() {
        let mut state = state();
        state.show_new();
        assert_eq!(said_in(&state), goal(None));
    }

    #[test]
    fn a_goal_typed_in_an_older_session_is_for_that_one_though_another_works() {
        let mut state = state();
        let rest = session("s-rest", None);
        let number = state.open(rest.id.clone());
        state.show(number, &SessionHistory { session: rest, events: Vec::new() });
        assert_eq!(said_in(&state), goal(Some("s-rest")));
    }
}
