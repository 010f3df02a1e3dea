//! Which runs a window has started.

use protocol::event::{RunEnd, Status};
use protocol::ids::{CallId, RunId, Seq, SessionId, Timestamp};
use protocol::settings::Settings;
use protocol::tool::{Approval, ApprovalMode, Mode, Risk, ToolCall};
use protocol::view::{DesktopView, Platform, Question, RunStatus, RunView, SessionView};
use serde_json::json;

use super::*;

fn started(id: &str) -> StartedRun {
    StartedRun { session: SessionId(format!("s-{id}")), run: RunId(format!("r-{id}")) }
}

/// Sessions, each with its one run: at work, or ended.
fn view(runs: &[(&str, Option<RunEnd>)]) -> Overview {
    let session = |(id, end): &(&str, Option<RunEnd>)| SessionView {
        id: started(id).session,
        title: "Haiku".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        created: Timestamp(0),
        updated: Timestamp(0),
        last_run: Some(RunView { id: started(id).run, goal: "write".into(), end: end.clone(), tried: None }),
        shelf: Default::default(),
        origin: None,
        space: None,
    };
    Overview {
        seq: Seq(0),
        settings: Settings::default(),
        sessions: runs.iter().map(session).collect(),
        questions: Vec::new(),
        runs: Vec::new(),
        desktop: DesktopView::default(),
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

fn question(of: &str, id: &str) -> Question {
    let StartedRun { session, run } = started(of);
    let approval = Approval {
        asks: Default::default(),
        id: ApprovalId(id.into()),
        call: ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments: json!({}) },
        risk: Risk::Edit,
        reason: "r".into(),
        digest: "d".into(),
        deadline: Timestamp(9),
        window: None,
        target: None,
        goes_to: Vec::new(),
        seen: None,
        picture: None,
        hosts: Vec::new(),
        touches: Vec::new(),
        read: Vec::new(),
        about: Box::default(),
    };
    Question { session, run, approval }
}

fn done() -> Option<RunEnd> {
    Some(RunEnd::Completed { summary: "done".into() })
}

#[test]
fn the_end_of_a_run_is_told_once_and_the_end_of_one_that_was_started_elsewhere_never() {
    let mut runs = WindowRuns::default();
    runs.add(started("chat"));
    assert!(!runs.have_news(&view(&[])), "nothing is known of it yet");
    assert!(!runs.have_news(&view(&[("chat", None), ("cli", done())])));
    let ended = view(&[("chat", done()), ("cli", None)]);
    assert!(runs.have_news(&ended));
    runs.told(&ended);
    assert!(!runs.have_news(&ended));
}

#[test]
fn each_question_is_told_once_and_the_end_after_it() {
    let mut runs = WindowRuns::default();
    runs.add(started("chat"));
    let asks = |of: &str, id: &str| Overview { questions: vec![question(of, id)], ..view(&[("chat", None)]) };
    assert!(!runs.have_news(&asks("cli", "q-0")));
    for id in ["q-1", "q-2"] {
        assert!(runs.ask(&asks("chat", id)) && runs.have_news(&asks("chat", id)));
        runs.told(&asks("chat", id));
        assert!(!runs.have_news(&asks("chat", id)));
        assert!(!runs.have_news(&view(&[("chat", None)])));
    }
    let ended = view(&[("chat", done())]);
    assert!(runs.have_news(&ended) && !runs.ask(&ended));
}

#[test]
fn a_question_of_an_agent_is_told_where_its_tree_was_started() {
    let mut runs = WindowRuns::default();
    runs.add(started("chat"));
    let below = |of: &str, parent: &str| RunStatus {
        session: started(of).session,
        run: started(of).run,
        goal: "write".into(),
        status: Status::default(),
        parent: Some(started(parent).run),
    };
    let tree = vec![below("child", "chat"), below("grandchild", "child"), below("other", "cli")];
    let asks = |of: &[&str]| Overview {
        questions: of.iter().map(|of| question(of, of)).collect(),
        runs: tree.clone(),
        ..view(&[("chat", None)])
    };
    assert!(!runs.have_news(&asks(&["other"])));
    assert!(runs.ask(&asks(&["grandchild"])));
    runs.told(&asks(&["grandchild"]));
    assert!(!runs.ask(&asks(&["grandchild"])));
    assert!(runs.ask(&asks(&["grandchild", "child"])), "another one beside it");
}

#[test]
fn a_run_that_paused_by_itself_is_told_once_and_again_when_it_does_so_again() {
    let mut runs = WindowRuns::default();
    runs.add(started("chat"));
    let paused = |wants_word: bool| {
        let StartedRun { session, run } = started("chat");
        let status = Status { paused: true, wants_word, ..Status::default() };
        let run = RunStatus { session, run, goal: "write".into(), status, parent: None };
        Overview { runs: vec![run], ..view(&[("chat", None)]) }
    };
    assert!(!runs.have_news(&paused(false)), "its user paused it");
    for _ in 0..2 {
        assert!(runs.ask(&paused(true)) && runs.have_news(&paused(true)));
        runs.told(&paused(true));
        assert!(!runs.have_news(&paused(true)));
        runs.told(&view(&[("chat", None)]));
    }
}

#[test]
fn an_end_that_came_before_its_start_was_known_is_told_all_the_same() {
    let mut runs = WindowRuns::default();
    let ended = view(&[("chat", done())]);
    runs.told(&ended);
    runs.add(started("chat"));
    assert!(runs.have_news(&ended));
}

#[test]
fn the_end_of_a_run_in_another_session_than_the_one_shown_is_news_of_its_own() {
    let mut runs = WindowRuns::default();
    runs.add(started("a"));
    let shown = started("a").session;
    assert!(!runs.ended_elsewhere(&view(&[("a", None)]), None), "it is at work");
    let ended = view(&[("a", done())]);
    assert!(!runs.ended_elsewhere(&ended, Some(&shown)));
    assert!(runs.ended_elsewhere(&ended, None) && runs.ended_elsewhere(&ended, Some(&started("b").session)));
    runs.told(&ended);
    assert!(!runs.ended_elsewhere(&ended, None));
}
