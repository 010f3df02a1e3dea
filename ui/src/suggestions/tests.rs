//! Which models are suggested in place of one that is not known.

use protocol::event::{Activity, EventBody, Level, RunEnd};
use protocol::run::RunSpec;
use protocol::tool::{ApprovalMode, Mode};
use protocol::turn::Usage;
use protocol::{ErrorCode, ErrorView};

use super::*;
use crate::state::sample::{opened, overview, run, session_id};

fn after(bodies: Vec<EventBody>) -> State {
    opened(overview(&[], &["1"]), "1", bodies)
}

fn started() -> EventBody {
    EventBody::RunStarted(Box::new(RunSpec {
        goal: "write a haiku".into(),
        model: ModelId("xai/grok-4.8".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: false,
        fence: None,
        unattended: protocol::command::Unattended::Wait,
        space: None,
        parent: None,
        recording: None,
        plan: false,
        user_goal: None,
        groups: None,
        conducts: false,
        carry_on: 0,
    }))
}

fn failed(suggestions: &[&str]) -> EventBody {
    EventBody::TurnFailed {
        turn: 1,
        message: "xai does not know the model".into(),
        hint: None,
        retry: false,
        usage: Usage::default(),
        cost: None,
        suggestions: suggestions.iter().map(|id| ModelId((*id).into())).collect(),
    }
}

fn ended() -> EventBody {
    EventBody::RunEnded { end: RunEnd::Failed { message: "m".into(), hint: None } }
}

#[test]
fn a_run_that_failed_for_its_model_can_go_on_with_another() {
    let state = after(vec![started(), failed(&["xai/grok-4.7", "xai/grok-9"]), ended()]);
    let expected = SuggestedModels {
        entry: EntryId { n: 3, part: 0 },
        session: session_id("1"),
        goal: "write a haiku".into(),
        models: vec![ModelId("xai/grok-4.7".into()), ModelId("xai/grok-9".into())],
    };
    assert_eq!(suggested_models(&state), Some(expected));
}

#[test]
fn nothing_is_offered_while_it_runs_or_after_anything_else() {
    let offer = || failed(&["xai/grok-4.7"]);
    let noted = EventBody::Noted { level: Level::Info, message: "m".into(), hint: None };
    for (what, more) in [
        ("the run is not over", vec![offer()]),
        ("it failed for another reason", vec![failed(&[]), ended()]),
        ("something was said after it", vec![offer(), ended(), noted]),
        ("the next run is under way", vec![offer(), ended(), started()]),
        ("the next run is over", vec![offer(), ended(), started(), ended()]),
    ] {
        let events: Vec<EventBody> = [started()].into_iter().chain(more).collect();
        assert_eq!(suggested_models(&after(events)), None, "{what}");
    }
    let mut state = after(vec![started(), offer(), ended()]);
    state.overview.runs = vec![run("other", Activity::Working)];
    assert!(suggested_models(&state).is_some(), "another session's run has nothing to do with it");
    state.overview.runs = vec![run("1", Activity::Working)];
    assert_eq!(suggested_models(&state), None);
    state.overview.runs.clear();
    state.broken = Some(ErrorView::new(ErrorCode::Storage, "the disk is full"));
    assert_eq!(suggested_models(&state), None);
    state.broken = None;
    let _ = state.show_new();
    assert_eq!(suggested_models(&state), None);
}

#[test]
fn a_run_that_was_broken_off_can_be_gone_on_with_until_something_else_happens() {
    let interrupted = || EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } };
    let state = after(vec![started(), interrupted()]);
    let expected = BrokenOff {
        entry: EntryId { n: 2, part: 0 },
        session: session_id("1"),
        goal: "write a haiku".into(),
    };
    assert_eq!(broken_off(&state), Some(expected));
    for more in [vec![ended()], vec![interrupted(), started()], vec![interrupted(), started(), ended()]] {
        let events = std::iter::once(started()).chain(more).collect();
        assert_eq!(broken_off(&after(events)), None);
    }
}
