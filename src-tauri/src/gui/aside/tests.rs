//! Tests of `aside`.

use protocol::event::Status;
use protocol::ids::{Seq, SessionId};
use protocol::settings::Settings;
use protocol::view::{BesideView, DesktopView, Platform, RunStatus};

use super::*;

fn run(activity: Activity) -> RunStatus {
    let status = Status {
        activity,
        detail: String::new(),
        step: 1,
        max_steps: 30,
        paused: false,
        wants_word: false,
        used_up: None,
        grants: Vec::new(),
        progress: None,
        asks_above: false,
    };
    RunStatus {
        session: SessionId("s-1".into()),
        run: RunId("r-1".into()),
        goal: "write".into(),
        status,
        parent: None,
    }
}

fn view(runs: Vec<RunStatus>, has_desktop: bool) -> Overview {
    let owner = has_desktop.then(|| RunId("r-1".into()));
    Overview {
        seq: Seq(0),
        settings: Settings::default(),
        sessions: Vec::new(),
        questions: Vec::new(),
        runs,
        desktop: DesktopView { owner, ..DesktopView::default() },
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

#[test]
fn it_stays_where_it_is_until_a_run_has_the_desktop_and_steps_aside_until_that_one_ends() {
    let mut aside = Aside::default();
    assert!(
        !aside.update(&view(vec![run(Activity::Working)], false), false),
        "nothing is done on the desktop"
    );
    assert!(aside.update(&view(vec![run(Activity::Working)], true), false));
    assert!(aside.update(&view(vec![run(Activity::Working)], false), false), "between two turns");
    assert!(!aside.update(&view(vec![run(Activity::Waiting)], false), false), "it asks");
    assert!(!aside.update(&view(vec![run(Activity::Working)], false), false), "it has nothing yet");
    assert!(aside.update(&view(vec![run(Activity::Working)], true), false));
    assert!(!aside.update(&view(Vec::new(), false), false), "it has ended");
}

#[test]
fn its_user_sees_it_between_two_turns_and_the_next_act_has_room() {
    let mut aside = Aside::default();
    let (acts, thinks) =
        (view(vec![run(Activity::Working)], true), view(vec![run(Activity::Working)], false));
    aside.wanted();
    assert!(aside.update(&acts, false), "that was before");
    aside.wanted();
    assert!(aside.update(&acts, false), "it would cover what is worked on");
    assert!(!aside.update(&thinks, false));
    assert!(!aside.update(&thinks, false));
    assert!(aside.update(&acts, false));
    assert!(aside.update(&thinks, false), "one wish counts once");
}

#[test]
fn for_hands_of_their_own_it_makes_room_where_it_is_in_the_way_and_its_user_is_elsewhere() {
    let beside = |wants_room| {
        let one = BesideView { run: RunId("r-1".into()), window: None, pointer: None, wants_room, color: 0 };
        let view = view(vec![run(Activity::Working)], false);
        Overview { desktop: DesktopView { beside: vec![one], ..DesktopView::default() }, ..view }
    };
    let mut aside = Aside::default();
    assert!(!aside.update(&beside(false), false), "it is in nobody's way");
    assert!(!aside.update(&beside(true), true), "its user is in it");
    assert!(aside.update(&beside(true), false));
    aside.wanted();
    assert!(!aside.update(&beside(true), true), "its user has come to it");
    assert!(aside.update(&beside(true), false), "and has left it");
    assert!(aside.is_beside() && aside.run().is_none(), "no keyboard is owed for it");
    let paused = RunStatus { run: RunId("r-2".into()), ..run(Activity::Waiting) };
    let with_paused = Overview { runs: vec![run(Activity::Working), paused], ..beside(true) };
    assert!(aside.update(&with_paused, false), "another one that its user has taken over asks nothing");
    assert!(!aside.update(&beside(false), false), "it acts elsewhere");
    assert!(aside.update(&beside(true), false));
    assert!(!aside.update(&view(Vec::new(), false), false), "it has ended");
}
