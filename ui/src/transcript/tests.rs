//! What the story of a session keeps, and what it says of costs and ends.

use super::*;
use protocol::event::Scope;
use protocol::ids::{Seq, Timestamp};
use protocol::turn::{Cost, StopReason, Usd};

#[test]
fn what_a_failed_or_stopped_turn_cost_is_in_the_bill_and_a_refused_one_costs_nothing() {
    let usage = Usage { input: 7, ..Usage::default() };
    let partly = Some(Cost::AtLeast { usd: Usd(5) });
    let failed = |usage, cost| EventBody::TurnFailed {
        turn: 1,
        message: "overloaded".into(),
        hint: None,
        retry: true,
        usage,
        cost,
        instead: Vec::new(),
    };
    let end = EventBody::RunEnded { end: RunEnd::Interrupted };
    let dropped = EventBody::TurnDropped { turn: 2, usage, cost: Cost::Unknown };
    let bodies = [failed(Usage::default(), None), failed(usage, partly), dropped, end];
    let events = bodies.map(|body| Event { seq: Seq(1), time: Timestamp(0), scope: Scope::default(), body });
    let transcript = Transcript::of(&events);
    let Some(Entry { body: EntryBody::End { bill, is_told: false, .. }, .. }) = transcript.entries().last()
    else {
        panic!("no end: {transcript:?}")
    };
    let usage = Usage { input: 14, ..Usage::default() };
    let spent = Spent { usd: Usd(5), turns: 2, partly: 1, unknown: 1 };
    assert_eq!(*bill, Bill { usage, spent });
    assert!(!spent.is_exact() && !spent.is_unknown());
}

#[test]
fn an_end_does_not_say_again_what_the_last_failure_said() {
    let failed = || EventBody::TurnFailed {
        turn: 1,
        message: "no such model".into(),
        hint: None,
        retry: false,
        usage: Usage::default(),
        cost: None,
        instead: Vec::new(),
    };
    let ended =
        |message: &str| EventBody::RunEnded { end: RunEnd::Failed { message: message.into(), hint: None } };
    for (bodies, told) in [
        (vec![failed(), ended("no such model")], true),
        (vec![failed(), ended("too many tries")], false),
        (vec![ended("no such model")], false),
    ] {
        let event = |body| Event { seq: Seq(1), time: Timestamp(0), scope: Scope::default(), body };
        let transcript = Transcript::of(&bodies.into_iter().map(event).collect::<Vec<_>>());
        let last = &transcript.entries().last().unwrap().body;
        assert!(matches!(last, EntryBody::End { is_told, .. } if *is_told == told), "{last:?}");
    }
}

#[test]
fn a_turn_that_only_names_its_sources_is_shown_with_them() {
    let page = Citation::new("https://example.org/a", "A page").unwrap();
    let body = EventBody::TurnFinished {
        turn: 1,
        text: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        citations: vec![page.clone()],
        usage: Usage::default(),
        cost: Cost::Unknown,
        stop: StopReason::Paused,
        raw: None,
    };
    let event = Event { seq: Seq(1), time: Timestamp(0), scope: Scope::default(), body };
    let transcript = Transcript::of([&event]);
    let [Entry { body: EntryBody::Turn { citations, .. }, .. }] = transcript.entries() else {
        panic!("no turn: {transcript:?}")
    };
    assert_eq!(*citations, [page]);
}
