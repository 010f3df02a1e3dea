//! What a window shows: what the user chose stays, and nothing of it is lost.

use fold::transcript::EntryBody;
use protocol::event::{DeltaKind, RunEnd};
use protocol::ids::{RunId, Seq};
use protocol::settings::{Language, Settings};
use protocol::tool::{Grant, Risk};
use protocol::view::DesktopView;

use super::sample::{
    event, opened, overview, page, question, run, run_id, said, session, session_id, stream, with_run,
};
use super::*;

fn texts(state: &State) -> Vec<String> {
    let text = |entry: &fold::transcript::Entry| match &entry.body {
        EntryBody::Said { text } => text.clone(),
        other => format!("{other:?}"),
    };
    state.transcript().map(|transcript| transcript.entries().iter().map(text).collect()).unwrap_or_default()
}

fn subscribed(wants: &[Want]) -> Option<(Vec<StreamId>, Seq)> {
    wants.iter().find_map(|want| match want {
        Want::Subscribe(subscribe) => Some((subscribe.streams.clone()?, subscribe.after?)),
        Want::Read(_) => None,
    })
}

fn reads(wants: &[Want]) -> Vec<&ReadEvents> {
    wants.iter().filter_map(|want| if let Want::Read(read) = want { Some(read) } else { None }).collect()
}

#[test]
fn a_window_begins_with_the_newest_session_and_follows_it_from_the_overview_on() {
    let (state, wants) = State::new(overview(&[], &["new", "old"]), Follows::TheUser);
    assert_eq!(state.shown(), Some(&session_id("new")));
    assert_eq!(subscribed(&wants), Some((vec![StreamId::app(), stream("new")], Seq(10))));
    let [read] = reads(&wants)[..] else { panic!("{wants:?}") };
    assert_eq!((&read.stream, read.before, read.after), (&stream("new"), None, None));

    let (state, _) = State::new(overview(&["a", "b"], &["new"]), Follows::TheUser);
    assert_eq!(state.shown(), Some(&session_id("b")), "a run goes before a newer session at rest");
    let (state, wants) = State::new(overview(&["a"], &[]), Follows::TheUserAnew);
    assert_eq!((state.shown(), wants.len()), (None, 1));
}

#[test]
fn the_session_of_the_last_time_is_shown_again_unless_a_run_is_under_way_or_it_is_gone() {
    let begin = |at_work: &[&str], follows| {
        let (mut state, _) = State::new(overview(at_work, &["new", "old"]), follows);
        let wants = state.reopen(session_id("old"));
        (state.shown().cloned(), wants.as_deref().and_then(subscribed))
    };
    let followed = Some((vec![StreamId::app(), stream("old")], Seq(10)));
    assert_eq!(begin(&[], Follows::TheUser), (Some(session_id("old")), followed));
    assert_eq!(begin(&["work"], Follows::TheUser), (Some(session_id("work")), None));
    // Its own run is under way, and an agent's that began later.
    assert_eq!(begin(&["old", "agent"], Follows::TheUser).0, Some(session_id("old")));
    assert_eq!(begin(&[], Follows::TheUserAnew), (None, None));
    let (mut state, _) = State::new(overview(&[], &["new"]), Follows::TheUser);
    assert_eq!((state.reopen(session_id("gone")), state.reopen(session_id("new"))), (None, None));
    assert_eq!(state.shown(), Some(&session_id("new")));
}

#[test]
fn a_run_that_begins_elsewhere_never_takes_the_page() {
    let mut state = opened(overview(&[], &["mine"]), "mine", vec![said("one")]);
    let begins = EventBody::SessionChanged { session: Box::new(with_run("other", None)) };
    let status = EventBody::StatusChanged { status: run("other", Activity::Working).status };
    for body in [begins, status] {
        assert_eq!(state.event(&event("other", 0, body)), []);
    }
    assert_eq!((state.shown(), texts(&state)), (Some(&session_id("mine")), vec!["one".to_owned()]));
    assert_eq!((state.run_shown(), state.other_runs().count()), (None, 1));
    assert_eq!(state.status().activity, Activity::Idle, "the page's own session is at rest");

    let _ = state.show_new();
    let ended = with_run("other", Some(RunEnd::Stopped { reason: "by the user".into() }));
    let wants = state.event(&event("other", 0, EventBody::SessionChanged { session: Box::new(ended) }));
    assert_eq!((state.shown(), wants, state.other_runs().count()), (None, vec![], 0));
}

#[test]
fn an_empty_page_that_nobody_has_used_shows_the_run_that_begins_and_stays_with_it() {
    let begins =
        |id: &str| event(id, 0, EventBody::StatusChanged { status: run(id, Activity::Working).status });
    let (mut state, _) = State::new(overview(&[], &[]), Follows::TheUser);
    let wants = state.event(&begins("a"));
    assert_eq!(state.shown(), Some(&session_id("a")));
    assert_eq!(subscribed(&wants), Some((vec![StreamId::app(), stream("a")], Seq(10))));
    assert_eq!(reads(&wants).len(), 1);
    assert_eq!((state.event(&begins("b")), state.shown()), (vec![], Some(&session_id("a"))));
}

#[test]
fn an_empty_page_that_is_the_users_or_the_chats_stays_empty_when_a_run_begins() {
    let begins = event("a", 0, EventBody::StatusChanged { status: run("a", Activity::Working).status });
    let untouched = |follows| State::new(overview(&[], &[]), follows).0;
    let (mut typed, mut chosen) = (untouched(Follows::TheUser), untouched(Follows::TheUser));
    typed.touch();
    let _ = chosen.show_new();
    for mut state in [typed, chosen, untouched(Follows::TheUserAnew)] {
        assert_eq!((state.event(&begins), state.shown()), (vec![], None));
        assert_eq!(state.other_runs().count(), 1);
    }
}

#[test]
fn a_page_at_rest_says_that_a_question_of_another_session_waits() {
    let view = Overview { questions: vec![question("b")], ..overview(&["a", "b"], &["rests"]) };
    let mut state = opened(view, "rests", vec![]);
    assert_eq!(state.questions_elsewhere(), 1);
    let _ = state.open(session_id("a"));
    assert_eq!(state.questions_elsewhere(), 0, "its own run is at work");
    let _ = state.show_new();
    assert_eq!(state.questions_elsewhere(), 1);
    state.overview.questions.clear();
    assert_eq!(state.questions_elsewhere(), 0);
}

#[test]
fn a_yes_is_for_the_whole_session_only_where_it_is_asked_once_for_a_tool() {
    let asked = |risk, tool: &str| {
        let mut asked = question("a");
        (asked.approval.risk, asked.approval.call.tool) = (risk, tool.into());
        asked
    };
    let offered = |asks, asked: &Question| {
        let mut asked = asked.clone();
        asked.approval.asks = asks;
        // What was chosen for the session since is for its next run.
        let mut view = overview(&["a"], &[]);
        view.sessions[0].approval = ApprovalMode::Thread;
        let state = State::new(view, Follows::TheUser).0;
        (state.for_run(&asked).is_some(), state.may_be_for_longer(&asked))
    };
    let may = |approval, risk, tool: &str| offered(approval, &asked(risk, tool));
    let (never, in_run, longer) = ((false, false), (true, false), (true, true));
    assert_eq!(may(ApprovalMode::Thread, Risk::Edit, "click"), longer);
    assert_eq!(may(ApprovalMode::Ask, Risk::Edit, "click"), in_run, "every step is asked about");
    assert_eq!(may(ApprovalMode::Auto, Risk::Edit, "click"), never);
    for approval in [ApprovalMode::Ask, ApprovalMode::Thread] {
        assert_eq!(may(approval, Risk::Consequential, "click"), never);
    }
    // A batch's tools can be named, where they are all in one application.
    let mut batch = asked(Risk::Edit, "batch");
    let touched = batch.approval.touches[0].clone();
    batch.approval.touches.push(Grant { tool: "type".into(), ..touched.clone() });
    assert_eq!(offered(ApprovalMode::Thread, &batch), longer);
    batch.approval.touches.push(Grant { app: None, ..touched });
    assert_eq!(offered(ApprovalMode::Thread, &batch), never);
    // The card names one place: a yes to it is for no other.
    let mut drag = asked(Risk::Edit, "drag");
    let touched = drag.approval.touches[0].clone();
    drag.approval.touches.push(touched.clone());
    assert_eq!(offered(ApprovalMode::Thread, &drag), longer);
    drag.approval.touches.push(Grant { app: Some("Elsewhere".into()), ..touched });
    assert_eq!(offered(ApprovalMode::Thread, &drag), never);
}

#[test]
fn a_session_that_came_by_itself_does_not_bring_its_leave_to_act_unasked() {
    let unasked = SessionView { approval: ApprovalMode::Auto, ..with_run("cli", None) };
    let (mut state, _) = State::new(overview(&[], &[]), Follows::TheUser);
    for body in [
        EventBody::SessionChanged { session: Box::new(unasked) },
        EventBody::StatusChanged { status: run("cli", Activity::Working).status },
    ] {
        let _ = state.event(&event("cli", 0, body));
    }
    assert_eq!((state.shown(), state.chosen()), (Some(&session_id("cli")), None));
    assert_eq!(state.approval_mode(), ApprovalMode::Ask);
    state.choose();
    assert_eq!(state.approval_mode(), ApprovalMode::Auto);
    let (mut newest, _) = State::new(state.overview.clone(), Follows::TheUser);
    assert_eq!(newest.approval_mode(), ApprovalMode::Ask, "the newest was not chosen, either");
    let _ = newest.open(session_id("cli"));
    assert_eq!(newest.approval_mode(), ApprovalMode::Auto);
}

#[test]
fn a_thousand_words_and_a_thousand_settings_ask_for_nothing() {
    let mut state = opened(overview(&["a"], &[]), "a", vec![said("one")]);
    for index in 0..1_000 {
        let delta = EventBody::TurnDelta { turn: 1, index, kind: DeltaKind::Text, text: "a".into() };
        assert_eq!(state.event(&event("a", 0, delta)), []);
        let language = if index % 2 == 0 { Language::Japanese } else { Language::English };
        let settings = Box::new(Settings { language, ..Settings::default() });
        let mut changed = event("a", u64::from(index) + 1, EventBody::SettingsChanged { settings });
        (changed.stream, changed.scope) = (StreamId::app(), Default::default());
        assert_eq!(state.event(&changed), []);
    }
    assert_eq!(state.transcript().map(|transcript| transcript.streaming.text.len()), Some(1_000));
    assert_eq!((state.overview.settings.language, state.overview.seq), (Language::English, Seq(1_010)));
}

#[test]
fn what_happens_while_a_session_is_opened_is_in_what_is_shown() {
    let (mut state, _) = State::new(overview(&["a"], &[]), Follows::TheUser);
    assert_eq!(state.event(&event("a", 3, said("three"))), []);
    assert_eq!(texts(&state), Vec::<String>::new());
    assert_eq!(state.take_page(&stream("a"), page("a", vec![said("one"), said("two")])), None);
    assert_eq!(texts(&state), ["one", "two", "three"]);
}

#[test]
fn a_page_of_a_session_that_is_no_longer_shown_changes_nothing() {
    let (mut state, _) = State::new(overview(&[], &["a", "b"]), Follows::TheUser);
    let _ = state.open(session_id("b"));
    assert_eq!(state.take_page(&stream("a"), page("a", vec![said("of a")])), None);
    assert!(!state.page_failed(&stream("a")) && state.page_failed(&stream("b")));
    assert_eq!(state.take_page(&stream("b"), page("b", vec![said("of b")])), None);
    assert_eq!(texts(&state), ["of b"]);
    let _ = state.show_new();
    assert_eq!(state.take_page(&stream("b"), page("b", vec![said("of b")])), None);
    assert_eq!((state.shown(), texts(&state)), (None, vec![]));
}

#[test]
fn another_sessions_events_stay_out_of_the_one_shown() {
    let mut state = opened(overview(&["a", "b"], &[]), "a", vec![said("one")]);
    assert_eq!(state.event(&event("b", 2, said("faster"))), []);
    assert_eq!(texts(&state), ["one"]);
}

#[test]
fn a_new_subscription_goes_on_from_what_is_known() {
    let mut state = opened(overview(&["a"], &[]), "a", vec![said("one")]);
    assert_eq!(state.event(&event("a", 2, said("two"))), []);
    let again = state.subscribe();
    assert_eq!(subscribed(&[again]), Some((vec![StreamId::app(), stream("a")], Seq(12))));
    assert_eq!(state.event(&event("a", 2, said("two"))), []);
    assert_eq!(texts(&state), ["one", "two"], "what is told again counts once");
}

#[test]
fn questions_of_every_session_are_there_and_the_shown_ones_first() {
    let view = Overview { questions: vec![question("b"), question("a")], ..overview(&["a", "b"], &[]) };
    let state = opened(view, "a", vec![]);
    assert_eq!(state.questions(), [question("a"), question("b")]);
    assert_eq!(state.name_of(&session_id("b")), Some("b"));
    // An agent's are its tree's.
    let asked = vec![question("b"), question("c")];
    let mut view = Overview { questions: asked, ..overview(&["a", "b", "c"], &[]) };
    view.runs[2].parent = Some(view.runs[0].run.clone());
    let state = opened(view, "a", vec![]);
    assert_eq!(state.questions(), [question("c"), question("b")]);
}

#[test]
fn a_session_without_a_title_is_called_by_its_goal() {
    let mut view = overview(&["a"], &[]);
    view.sessions[0].title = " ".into();
    let (mut state, _) = State::new(view, Follows::TheUser);
    assert_eq!(state.name_of(&session_id("a")), Some("a goal"));
    state.overview.sessions.clear();
    assert_eq!(state.name_of(&session_id("a")), Some("a goal"));
    assert_eq!(state.name_of(&session_id("gone")), None);
}

#[test]
fn why_the_shown_run_failed_stays_until_its_next() {
    let failed = with_run("a", Some(RunEnd::Failed { message: "bad key".into(), hint: None }));
    let view = Overview { sessions: vec![failed, session("b")], ..overview(&[], &[]) };
    let mut state = opened(view, "a", vec![]);
    let status = state.status();
    assert_eq!((status.activity, status.detail.as_str()), (Activity::Error, "bad key"));
    let _ = state.open(session_id("b"));
    assert_eq!(state.status(), Status::default());
}

#[test]
fn the_overlay_shows_whoever_has_the_desktop_and_stays_with_it_between_two_turns() {
    let (mut state, _) = State::new(overview(&["a", "b"], &[]), Follows::TheDesktop);
    assert_eq!(state.shown(), Some(&session_id("a")));
    let has = |owner: Option<RunId>| {
        let desktop = DesktopView { owner, ..DesktopView::default() };
        event("b", 0, EventBody::DesktopChanged { desktop })
    };
    let wants = state.event(&has(Some(run_id("b"))));
    assert_eq!((wants.len(), state.shown()), (2, Some(&session_id("b"))));
    assert_eq!(state.event(&has(None)), []);
    assert_eq!(state.shown(), Some(&session_id("b")));
    let ended = with_run("b", Some(RunEnd::Interrupted { reason: None }));
    let wants = state.event(&event("b", 0, EventBody::SessionChanged { session: Box::new(ended) }));
    assert_eq!((wants.len(), state.shown()), (2, Some(&session_id("a"))));
}

#[test]
fn the_overlay_shows_whoever_asks_before_whoever_has_the_desktop() {
    let (mut state, _) = State::new(overview(&["a", "b"], &[]), Follows::TheDesktop);
    let asks = |questions| event("b", 0, EventBody::QuestionsChanged { questions });
    assert_eq!(state.event(&asks(vec![question("b")])).len(), 2);
    assert_eq!(state.shown(), Some(&session_id("b")));
}

#[test]
fn a_broken_journal_is_told_and_nothing_runs_any_more() {
    let mut state = opened(overview(&["a"], &[]), "a", vec![]);
    let failed = EventBody::JournalFailed { message: "disk full".into(), hint: Some("make room".into()) };
    assert_eq!(state.event(&event("a", 0, failed)), []);
    assert_eq!(state.broken, Some(ErrorView::new(ErrorCode::Storage, "disk full").with_hint("make room")));
    assert_eq!(state.run_shown(), None);
}

#[test]
fn older_sessions_come_after_those_that_are_listed() {
    let (mut state, _) = State::new(overview(&[], &["a", "b"]), Follows::TheUser);
    state.take_older_sessions(vec![session("b"), session("c")]);
    let listed: Vec<&str> = state.overview.sessions.iter().map(|session| session.title.as_str()).collect();
    assert_eq!(listed, ["a", "b", "c"]);
}
