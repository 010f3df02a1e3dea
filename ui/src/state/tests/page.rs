//! What is shown: what the user chose stays, and nothing of it is lost.

use super::*;
use protocol::view::SessionHistory;

#[test]
fn work_in_another_session_takes_the_page_only_where_the_user_chose_none() {
    let mut state = after(vec![created()]);
    let elsewhere = [in_session("s-2", 2, created()), in_session("s-2", 3, started())];
    assert_eq!(reduce(&mut state.clone(), &in_session("s-2", 2, started())), Reduced::NeedsSnapshot);

    state.show_new();
    for event in &elsewhere {
        assert_eq!(reduce(&mut state, event), Reduced::Applied);
    }
    assert_eq!((&state.shown, bodies(&state)), (&None, vec![]));
    assert_eq!((state.running(), state.run_shown()), (Some(&RunId("r-1".into())), None));
    assert_eq!(state.sessions.len(), 2);
}

#[test]
fn a_snapshot_leaves_the_new_session_that_the_user_chose() {
    let mut feed = Feed::default();
    let mut state = after(vec![created(), started()]);
    let current = state.shown.clone();
    state.show_new();
    let snapshot = SnapshotView { seq: Seq(2), sessions: state.sessions.clone(), current, ..view() };
    let (renewed, _) = feed.snapshot(Some(&state), snapshot);
    assert_eq!((renewed.shown, renewed.chosen), (None, true));
}

#[test]
fn a_snapshot_leaves_the_session_that_the_user_chose_and_has_it_read_again() {
    let mut feed = Feed::default();
    let mut state = after(vec![created()]);
    let session = state.sessions[0].clone();
    let number = state.open(session.id.clone());
    state.show(number, &SessionHistory { session: session.clone(), events: vec![event(1, created())] });
    let current = Some(SessionId("s-2".into()));
    let (mut renewed, _) = feed.snapshot(Some(&state), SnapshotView { seq: Seq(3), current, ..view() });
    assert_eq!(renewed.shown, Some(session.id.clone()));

    let (again, opening) = renewed.opening().unwrap();
    assert_eq!(opening, session.id);
    let missed = event(2, EventBody::RunSteered { text: "missed".into() });
    renewed.show(again, &SessionHistory { session, events: vec![event(1, created()), missed] });
    assert_eq!(
        (bodies(&renewed), renewed.opening()),
        (vec![EntryBody::Said { text: "missed".into() }], None)
    );
}

#[test]
fn an_older_session_is_shown_without_what_is_still_to_come() {
    let mut state = after(vec![created(), started()]);
    let session = state.sessions[0].clone();
    let number = state.open(session.id.clone());
    state.show(number, &SessionHistory { session, events: vec![steered(2), steered(3)] });
    assert_eq!(bodies(&state), [said(2)]);
    assert_eq!(reduce(&mut state, &steered(3)), Reduced::Applied);
    assert_eq!(bodies(&state), [said(2), said(3)]);
}

#[test]
fn what_happens_while_a_session_is_opened_is_in_what_is_shown() {
    let mut state = after(vec![created(), started()]);
    let session = state.sessions[0].clone();
    state.show_new();
    let number = state.open(session.id.clone());
    for seq in [3, 4] {
        assert_eq!(reduce(&mut state, &steered(seq)), Reduced::Applied);
    }
    let delta = event(4, EventBody::TextDelta { text: "I ".into() });
    assert_eq!(reduce(&mut state, &delta), Reduced::Applied);
    state.show(number, &SessionHistory { session, events: vec![steered(3)] });
    assert_eq!(bodies(&state), [said(3), said(4)]);
    assert_eq!(state.transcript.streaming.text, "I ");
}

#[test]
fn the_session_that_was_chosen_last_is_shown_whichever_history_comes_first() {
    let mut state = after(vec![created(), started()]);
    let session = state.sessions[0].clone();
    let history = |seq| SessionHistory { session: session.clone(), events: vec![steered(seq)] };
    let (first, second) = (state.open(session.id.clone()), state.open(session.id.clone()));
    state.show(second, &history(2));
    state.show(first, &history(1));
    assert_eq!(bodies(&state), [said(2)]);

    let third = state.open(session.id.clone());
    state.show_new();
    state.show(third, &history(2));
    assert_eq!((&state.shown, bodies(&state)), (&None, vec![]));
}

#[test]
fn another_sessions_events_stay_out_of_the_one_shown() {
    let mut state = after(vec![created(), started()]);
    let before = bodies(&state);
    let other = in_session("s-2", 3, EventBody::RunSteered { text: "faster".into() });
    assert_eq!(reduce(&mut state, &other), Reduced::Applied);
    assert_eq!(bodies(&state), before);
}
