//! How a session goes on whose model its provider does not know: the failure's own entry, and what may be taken instead.
//!
//! Pure. Offered only while that failure is the session's last word.

use protocol::ids::{ModelId, SessionId};

use crate::state::State;
use crate::transcript::{Entry, EntryBody};

/// What can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct WayOn {
    /// The entry that shows it.
    pub entry: u64,
    pub session: SessionId,
    /// What the failed run was to do.
    pub goal: String,
    /// The likeliest first.
    pub models: Vec<ModelId>,
}

/// The shown session's way on; nothing while anything runs, and nothing once anything else was said or done.
pub fn way_on(state: &State) -> Option<WayOn> {
    let session = state.shown.clone().filter(|_| !state.busy() && state.broken.is_none())?;
    let run = state.transcript.last_run();
    let Some(Entry { body: EntryBody::Goal { goal, .. }, .. }) = run.first() else { return None };
    let [.., failed, Entry { body: EntryBody::End { .. }, .. }] = run else { return None };
    match &failed.body {
        EntryBody::TurnFailed { instead, .. } if !instead.is_empty() => {
            Some(WayOn { entry: failed.id, session, goal: goal.clone(), models: instead.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::reduce;
    use protocol::event::{Activity, EventBody, Level, RunEnd, Scope, Status};
    use protocol::ids::{RunId, Seq, Timestamp};
    use protocol::settings::Settings;
    use protocol::tool::{ApprovalMode, Mode};
    use protocol::turn::Usage;
    use protocol::view::{Platform, SnapshotView};
    use protocol::{ErrorCode, ErrorView, Event};

    fn after(bodies: Vec<EventBody>) -> State {
        let mut state = State::from(SnapshotView {
            seq: Seq(0),
            settings: Settings::default(),
            status: Status::default(),
            sessions: Vec::new(),
            current: None,
            events: Vec::new(),
            approvals: Vec::new(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        });
        for (body, seq) in bodies.into_iter().zip(1..) {
            let (session, run) = (SessionId("s-1".into()), RunId("r-1".into()));
            let scope = Scope { session: Some(session), run: Some(run), agent: None };
            reduce(&mut state, &Event { seq: Seq(seq), time: Timestamp(1), scope, body });
        }
        state
    }

    fn created() -> EventBody {
        let (mode, approval) = (Mode::Act, ApprovalMode::Ask);
        EventBody::SessionCreated { title: "Haiku".into(), mode, approval, search: false }
    }

    fn started() -> EventBody {
        EventBody::RunStarted {
            goal: "write a haiku".into(),
            model: ModelId("xai/grok-4.8".into()),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            max_steps: 30,
            search: false,
        }
    }

    fn failed(instead: &[&str]) -> EventBody {
        EventBody::TurnFailed {
            turn: 1,
            message: "xai does not know the model".into(),
            hint: None,
            retry: false,
            usage: Usage::default(),
            cost: None,
            instead: instead.iter().map(|id| ModelId((*id).into())).collect(),
        }
    }

    fn ended() -> EventBody {
        EventBody::RunEnded { end: RunEnd::Failed { message: "m".into(), hint: None } }
    }

    #[test]
    fn a_run_that_failed_for_its_model_can_go_on_with_another() {
        let state = after(vec![created(), started(), failed(&["xai/grok-4.7", "xai/grok-9"]), ended()]);
        let expected = WayOn {
            entry: state.transcript.entries()[1].id,
            session: SessionId("s-1".into()),
            goal: "write a haiku".into(),
            models: vec![ModelId("xai/grok-4.7".into()), ModelId("xai/grok-9".into())],
        };
        assert_eq!(way_on(&state), Some(expected));
    }

    #[test]
    fn nothing_is_offered_while_something_runs_or_after_anything_else() {
        let offer = || failed(&["xai/grok-4.7"]);
        let noted = EventBody::Noted { level: Level::Info, message: "m".into(), hint: None };
        for (what, more) in [
            ("the run is not over", vec![offer()]),
            ("it failed for another reason", vec![failed(&[]), ended()]),
            ("something was said after it", vec![offer(), ended(), noted]),
            ("the next run is under way", vec![offer(), ended(), started()]),
            ("the next run is over", vec![offer(), ended(), started(), ended()]),
        ] {
            let events: Vec<EventBody> = [created(), started()].into_iter().chain(more).collect();
            assert_eq!(way_on(&after(events)), None, "{what}");
        }
        let mut state = after(vec![created(), started(), offer(), ended()]);
        assert!(way_on(&state).is_some());
        // A call of the command line's, which is no run.
        state.status.activity = Activity::Working;
        assert_eq!(way_on(&state), None);
        state.status.activity = Activity::Error;
        assert!(way_on(&state).is_some());
        state.broken = Some(ErrorView::new(ErrorCode::Storage, "the disk is full"));
        assert_eq!(way_on(&state), None);
        state.broken = None;
        state.show_new();
        assert_eq!(way_on(&state), None);
    }
}
