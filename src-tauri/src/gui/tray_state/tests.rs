//! What the tray shows, for each state.

use protocol::event::{RunEnd, Status};
use protocol::ids::{Seq, SessionId, Timestamp};
use protocol::settings::Settings;
use protocol::tool::ApprovalMode;
use protocol::view::{DesktopView, Platform, RunView, SessionView};

use super::*;

fn view(default: Mode, session: Option<Mode>) -> Overview {
    let session = session.map(|mode| SessionView {
        id: SessionId("s-1".into()),
        title: "Haiku".into(),
        mode,
        approval: ApprovalMode::Ask,
        search: false,
        created: Timestamp(0),
        updated: Timestamp(0),
        last_run: None,
        shelf: Default::default(),
        origin: None,
        space: None,
    });
    Overview {
        seq: Seq(0),
        settings: Settings { mode: default, ..Settings::default() },
        sessions: session.into_iter().collect(),
        questions: Vec::new(),
        runs: Vec::new(),
        desktop: DesktopView::default(),
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

fn run(activity: Activity, detail: &str, paused: bool) -> RunStatus {
    RunStatus {
        session: SessionId("s-1".into()),
        run: RunId("r-1".into()),
        goal: "write".into(),
        status: Status { activity, detail: detail.into(), paused, ..Status::default() },
        parent: None,
    }
}

fn shown(runs: Vec<RunStatus>) -> TrayState {
    TrayState::from(&Overview { runs, ..view(Mode::Act, None) })
}

#[test]
fn a_question_of_any_run_goes_before_the_work_of_another() {
    assert_eq!(shown(Vec::new()).tooltip, "Miki");
    assert_eq!(shown(Vec::new()).activity, Activity::Idle);
    let working = run(Activity::Working, "click", false);
    assert_eq!(shown(vec![working.clone()]).tooltip, "Miki: click");
    let both = shown(vec![working, run(Activity::Waiting, "asks", false)]);
    assert_eq!((both.activity, both.tooltip.as_str()), (Activity::Waiting, "Miki: 2 runs: asks; click"));
    assert!(both.runs);
}

#[test]
fn what_a_model_says_hides_nothing_and_turns_nothing_about() {
    let hidden = run(Activity::Waiting, "allow \u{202e}lla\n?", false);
    assert_eq!(shown(vec![hidden.clone()]).tooltip, r"Miki: allow \u{202E}lla\n?");
    assert_eq!(shown(vec![hidden; 2]).tooltip.matches(r"\u{202E}").count(), 2);
    assert_eq!(short("a\u{200b}b"), r"a\u{200B}b");
}

#[test]
fn a_failure_is_shown_until_the_next_run() {
    let mut failed = view(Mode::Act, Some(Mode::Act));
    let end = Some(RunEnd::Failed { message: "bad key".into(), hint: None });
    failed.sessions[0].last_run =
        Some(RunView { id: RunId("r-1".into()), goal: "g".into(), end, tried: None });
    let state = TrayState::from(&failed);
    assert_eq!(
        (state.activity, state.tooltip.as_str(), state.runs),
        (Activity::Error, "Miki: bad key", false)
    );
    failed.runs.push(run(Activity::Working, "", false));
    assert_eq!(TrayState::from(&failed).activity, Activity::Working);
}

#[test]
fn of_several_runs_each_can_be_stopped_alone_and_all_together() {
    let one = shown(vec![run(Activity::Working, "click", false)]);
    assert_eq!((one.stop, one.stops.len()), ("Stop", 0));
    let many = shown(vec![run(Activity::Working, "click", false); 7]);
    assert_eq!((many.stop, many.stops.len()), ("Stop all", STOPS));
    assert_eq!(many.stops[0], (RunId("r-1".into()), "Stop: write".to_owned()));
    assert_eq!(short(&"秋 ".repeat(60)).chars().count(), GOAL + 1);
}

#[test]
fn resume_is_offered_when_every_run_is_paused_and_not_for_a_question() {
    assert_eq!(shown(vec![run(Activity::Waiting, "", false)]).pause, "Pause");
    assert_eq!(shown(vec![run(Activity::Waiting, "", true)]).pause, "Resume");
    let one_works = vec![run(Activity::Waiting, "", true), run(Activity::Working, "", false)];
    assert_eq!(shown(one_works).pause, "Pause");
}

#[test]
fn plan_only_is_ticked_where_nothing_acts() {
    let ticked = |default, session| TrayState::from(&view(default, session)).plan;
    assert!(ticked(Mode::Plan, None) && ticked(Mode::Plan, Some(Mode::Plan)));
    assert!(!ticked(Mode::Act, None) && !ticked(Mode::Act, Some(Mode::Plan)));
    assert!(!ticked(Mode::Plan, Some(Mode::Act)), "the newest session still acts");
}

#[test]
fn every_word_follows_the_language() {
    let mut japanese = view(Mode::Act, None);
    japanese.settings.language = Language::Japanese;
    let words = TrayState::from(&japanese).words;
    assert_eq!((words.open, words.quit, words.pause), ("Miki を開く", "終了", "一時停止"));
}
