//! What runs took, as it is kept from turn to turn.

use fold::forecast::PastRun;
use proptest::prelude::*;
use protocol::event::Scope;
use protocol::ids::{ModelId, SessionId};
use protocol::turn::{Cost, StopReason, Usage, Usd};
use protocol::view::Origin;

use super::*;
use crate::tests::{append, created, journal, noted, read, scope, started};
use crate::{FILE_NAME, Journal};

const PRICED: Cost = Cost::Priced { usd: Usd(5) };

fn turn(turn: u32, cost: Cost) -> EventBody {
    turn_of(turn, Usage { input: 100, output: 10, thinking: 1, ..Usage::default() }, cost)
}

fn turn_of(turn: u32, usage: Usage, cost: Cost) -> EventBody {
    let (text, thinking, stop) = (String::new(), String::new(), StopReason::End);
    let (calls, citations, raw) = (Vec::new(), Vec::new(), None);
    EventBody::TurnFinished { turn, text, thinking, calls, citations, usage, cost, stop, raw }
}

fn failed(cost: Option<Cost>) -> EventBody {
    let usage = Usage { input: 20, ..Usage::default() };
    let (message, hint, suggestions) = ("m".into(), None, Vec::new());
    EventBody::TurnFailed { turn: 2, message, hint, retry: true, usage, cost, suggestions }
}

fn dropped(cost: Cost) -> EventBody {
    let usage = Usage { output: 3, ..Usage::default() };
    EventBody::TurnDropped { turn: 2, usage, cost, text: String::new() }
}

fn completed() -> EventBody {
    EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } }
}

fn past(journal: &Journal, model: &str) -> Vec<PastRun> {
    let model = ModelId(model.into());
    read(journal, move |reader| reader.past_runs(&model)).unwrap()
}

fn took(steps: u32, tokens: u64, cost: Option<u64>) -> PastRun {
    PastRun { steps, tokens, cost: cost.map(Usd) }
}

#[test]
fn what_runs_took_that_came_to_their_end_is_known_by_their_model_the_newest_first() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("1")).unwrap();
    let stopped = || EventBody::RunEnded { end: RunEnd::Stopped { reason: "by the user".into() } };
    for (run, then) in [
        ("a", vec![turn(1, PRICED), turn(2, PRICED), completed()]),
        ("stopped", vec![turn(1, PRICED), stopped()]),
        ("b", vec![turn(1, Cost::Unknown), completed()]),
        // Begun, and not at its end.
        ("open", vec![turn(1, PRICED)]),
        // Another try of a turn is none of its own, and costs all the same.
        ("c", vec![turn(1, PRICED), failed(Some(PRICED)), failed(None), turn(2, PRICED), completed()]),
        ("d", vec![turn(1, PRICED), turn(1, PRICED), dropped(PRICED.at_least()), completed()]),
        ("none", vec![completed()]),
    ] {
        for body in [vec![started(run)], then].concat() {
            append(&journal, scope("1", run), body).unwrap();
        }
    }
    let expected = [
        took(0, 0, None),
        took(1, 225, None),
        took(2, 242, Some(15)),
        took(1, 111, None),
        took(2, 222, Some(10)),
    ];
    assert_eq!(past(&journal, "gemini/x"), expected);
    assert_eq!(past(&journal, "gemini/y"), []);
}

#[test]
fn a_run_that_was_copied_is_counted_where_it_ran() {
    let (_home, journal) = journal();
    for body in [created("one"), started("a"), turn(1, PRICED), completed()] {
        append(&journal, scope("1", "1"), body).unwrap();
    }
    let id = SessionId::from_suffix("1");
    let (view, events) =
        read(&journal, move |reader| Ok((reader.session(&id)?.unwrap(), reader.tail(&id, 100)?))).unwrap();
    for (make, name) in [(fold::branched as fn(&_, fold::Into<'_>) -> _, "2"), (fold::imported, "3")] {
        let session =
            SessionView { id: SessionId::from_suffix(name), origin: Some(Origin::default()), ..view.clone() };
        let mut number = 0;
        let mut fresh = || {
            number += 1;
            format!("{name}-{number}")
        };
        let copied = make(&events, fold::Into { session: &session, fresh: &mut fresh, reason: "r" });
        crate::tests::block(journal.append_all(copied)).unwrap();
    }
    assert_eq!(past(&journal, "gemini/x"), [took(1, 111, Some(5))]);
}

#[test]
fn a_run_that_comes_to_its_end_reads_none_of_its_turns() {
    let (home, journal) = journal();
    append(&journal, scope("1", "1"), created("1")).unwrap();
    append(&journal, scope("1", "1"), started("long")).unwrap();
    for number in 1..=50 {
        append(&journal, scope("1", "1"), turn(number, PRICED)).unwrap();
    }
    // Whoever reads one of its events now fails.
    let beside = Connection::open(home.path().join(FILE_NAME)).unwrap();
    assert_eq!(beside.execute("UPDATE events SET body = 'no JSON' WHERE run = 'r-1'", []).unwrap(), 52);
    append(&journal, scope("1", "1"), completed()).unwrap();
    assert_eq!(past(&journal, "gemini/x"), [took(50, 5_550, Some(250))]);
}

#[test]
fn sums_that_are_too_large_stay_at_the_largest_number() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("1")).unwrap();
    append(&journal, scope("1", "1"), started("much")).unwrap();
    let (most, usd) = (Usage { input: u64::MAX, ..Usage::default() }, Usd(u64::MAX));
    for number in 1..=3 {
        append(&journal, scope("1", "1"), turn_of(number, most, Cost::Billed { usd })).unwrap();
    }
    append(&journal, scope("1", "1"), completed()).unwrap();
    let largest = i64::MAX as u64;
    assert_eq!(past(&journal, "gemini/x"), [took(3, largest, Some(largest))]);
}

/// The same from all events of the run.
fn folded(events: &[Event]) -> PastRun {
    let mut used = Used::default();
    events.iter().for_each(|event| used.fold(event));
    let cost = used.spent.is_exact().then_some(used.spent.usd);
    PastRun { steps: used.turns, tokens: used.tokens(), cost }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_a_run_took_is_the_fold_of_its_events(steps in prop::collection::vec((0..2usize, 0..13usize), 1..40)) {
        let (_home, journal) = journal();
        let mut events: [Vec<Event>; 2] = Default::default();
        let mut expected: [Option<(u64, PastRun)>; 2] = [None; 2];
        let of = |run: usize| scope("1", &run.to_string());
        append(&journal, Scope { run: None, ..of(0) }, created("1")).unwrap();
        for (run, what) in steps {
            let bodies = [
                started("g"), noted("n"), failed(None), failed(Some(PRICED)), failed(Some(Cost::Unknown)), dropped(PRICED),
                dropped(PRICED.at_least()), turn(1, PRICED), turn(2, PRICED), turn(2, Cost::Billed { usd: Usd(7) }),
                turn(3, Cost::Unknown), completed(), EventBody::RunPaused { reason: "r".into() },
            ];
            let event = append(&journal, of(run), bodies[what].clone()).unwrap();
            match event.body {
                EventBody::RunStarted(_) => events[run] = vec![event],
                // Only from its start on.
                _ if events[run].is_empty() => {}
                EventBody::RunEnded { .. } => expected[run] = Some((event.seq().0, folded(&events[run]))),
                _ => events[run].push(event),
            }
        }
        let mut expected: Vec<(u64, PastRun)> = expected.into_iter().flatten().collect();
        expected.sort_by_key(|(ended, _)| std::cmp::Reverse(*ended));
        let expected: Vec<PastRun> = expected.into_iter().map(|(_, past)| past).collect();
        prop_assert_eq!(past(&journal, "gemini/x"), expected);
    }
}
