//! A stream read in pages, late, twice and with gaps shows what the whole of it shows.

use proptest::prelude::*;
use protocol::event::{EventBody, RunEnd};
use protocol::ids::SessionId;

use super::*;
use crate::sample::{
    click, created, delta, event, event_of, events, of_run, said, started, tool_finished, tool_started, turn,
};

fn id() -> StreamId {
    StreamId::of_session(&SessionId("s-1".into()))
}

/// The journal's answer.
fn read(journal: &[Event], read: &ReadEvents) -> EventPage {
    let durable: Vec<&Event> = journal.iter().filter(|event| event.position.is_some()).collect();
    let before = read.before.unwrap_or(u64::MAX);
    let wanted = durable
        .iter()
        .filter(|event| number(event).is_some_and(|n| n < before && n > read.after.unwrap_or(0)));
    let mut events: Vec<Event> = wanted.map(|event| (**event).clone()).collect();
    let limit = read.limit as usize;
    if read.after.is_some() {
        events.truncate(limit);
    } else {
        events.drain(..events.len().saturating_sub(limit));
    }
    EventPage { events, last: durable.len() as u64 }
}

/// Reads to the beginning and to the end.
fn read_all(stream: &mut Stream, journal: &[Event], mut next: Option<ReadEvents>) {
    loop {
        while let Some(wanted) = next {
            next = stream.page(read(journal, &wanted));
        }
        next = stream.older();
        if next.is_none() {
            return;
        }
    }
}

/// A session with that many steps in each of its runs.
fn session(runs: &[u32]) -> Vec<Event> {
    let mut bodies = vec![created()];
    for (run, steps) in runs.iter().enumerate() {
        bodies.push(started());
        for step in 1..=*steps {
            let call = format!("c-{run}-{step}");
            bodies.push(delta(step, 0, "I "));
            bodies.push(delta(step, 1, "click"));
            bodies.push(turn(step, "I click", vec![click(&call)]));
            bodies.push(tool_started(&call));
            bodies.push(tool_finished(&call));
        }
        bodies.push(EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } });
    }
    let mut events = events(bodies);
    let mut run = 0;
    for event in &mut events {
        run += u32::from(matches!(event.body, EventBody::RunStarted(_)));
        event.scope = of_run("s-1", &format!("r-{run}"));
    }
    events
}

#[test]
fn a_long_session_opens_with_its_newest_page_alone() {
    let journal = session(&[2_000]);
    let (mut stream, first) = Stream::open(id());
    assert_eq!(stream.page(read(&journal, &first)), None);
    assert_eq!(stream.events.len(), PAGE as usize);
    assert!(stream.has_older() && !stream.transcript().bill.is_whole);
    let keys = |stream: &Stream| {
        let key = |entry: &crate::transcript::Entry| (entry.id, entry.revision);
        stream.transcript().entries().iter().rev().take(100).map(key).collect::<Vec<_>>()
    };
    let newest = keys(&stream);

    let older = stream.older().unwrap();
    assert_eq!(stream.older(), None, "one page at a time");
    assert_eq!(stream.page(read(&journal, &older)), None);
    assert_eq!(stream.events.len(), 2 * PAGE as usize);
    assert_eq!(keys(&stream), newest, "what was shown is not drawn anew");
    read_all(&mut stream, &journal, None);
    assert!(
        stream.transcript().bill.is_whole && keys(&stream)[0] != newest[0],
        "the end says what the run took"
    );
}

#[test]
fn what_comes_before_the_first_page_is_in_it_or_after_it() {
    let journal = session(&[1]);
    let (mut stream, first) = Stream::open(id());
    for late in &journal[3..] {
        assert_eq!(stream.event(late), None);
    }
    let half: Vec<Event> = journal[..5].to_vec();
    assert_eq!(stream.page(read(&half, &first)), None);
    assert_eq!(*stream.transcript(), Transcript::of(&journal));
}

#[test]
fn after_a_gap_only_what_is_missing_is_read() {
    let journal = session(&[3]);
    let (mut stream, first) = Stream::open(id());
    assert_eq!(stream.page(read(&journal[..2], &first)), None);
    let missing = stream.event(journal.last().unwrap()).unwrap();
    assert_eq!((missing.after, missing.before), (Some(2), None));
    assert_eq!(stream.event(journal.last().unwrap()), None, "it is asked for once");
    assert_eq!(stream.page(read(&journal, &missing)), None);
    assert_eq!(*stream.transcript(), Transcript::of(&journal));
}

#[test]
fn events_of_other_streams_stay_out() {
    let (mut stream, first) = Stream::open(id());
    let journal = events([created(), started()]);
    assert_eq!(stream.page(read(&journal, &first)), None);
    let before = stream.clone();
    assert_eq!(stream.event(&event_of(of_run("s-2", "r-2"), 3, said("faster"))), None);
    assert_eq!(stream, before);
}

#[test]
fn text_goes_on_streaming_while_older_pages_come_in_front() {
    let mut journal = session(&[200]);
    journal.pop();
    let (mut stream, first) = Stream::open(id());
    assert_eq!(stream.page(read(&journal, &first)), None);
    let n = journal.iter().filter_map(number).max().unwrap();
    let mut streams = event(n, delta(201, 0, "Autumn "));
    streams.scope = of_run("s-1", "r-1");
    assert_eq!(stream.event(&streams), None);
    let older = stream.older().unwrap();
    assert_eq!(stream.page(read(&journal, &older)), None);
    let mut more = event(n, delta(201, 1, "moon"));
    more.scope = of_run("s-1", "r-1");
    assert_eq!(stream.event(&more), None);
    assert_eq!(stream.transcript().streaming.text, "Autumn moon");
}

#[test]
fn a_page_that_could_not_be_had_is_asked_for_again() {
    let journal = session(&[200]);
    let (mut stream, first) = Stream::open(id());
    assert_eq!(stream.page(read(&journal, &first)), None);
    let older = stream.older();
    stream.not_read();
    assert_eq!(stream.older(), older);
}

#[test]
fn the_oldest_of_a_long_stream_are_forgotten_and_come_back() {
    let journal = session(&[1_200]);
    let (mut stream, first) = Stream::open(id());
    assert_eq!(stream.page(read(&journal[..3], &first)), None);
    for event in &journal {
        assert_eq!(stream.event(event), None);
        stream.forget_oldest();
        assert!(stream.events.len() < MOST_EVENTS + FORGOTTEN);
    }
    assert!(stream.has_older());
    read_all(&mut stream, &journal, None);
    assert_eq!(*stream.transcript(), Transcript::of(&journal));
}

proptest! {
    /// The journal grows while it is read; events come late, twice, or not at all.
    #[test]
    fn however_it_is_read_a_stream_shows_what_all_its_events_show(
        runs in prop::collection::vec(0_u32..60, 1..4),
        opened in 0.0..1.0_f64,
        fates in prop::collection::vec(0_u8..8, 64),
        limit in 1_u32..40,
    ) {
        let journal = session(&runs);
        let (mut stream, mut next) = Stream::open(id());
        let opened = ((journal.len() as f64) * opened) as usize;
        next.limit = limit;
        let mut wanted = None;
        for (at, event) in journal.iter().enumerate() {
            let known = &journal[..=at];
            if at == opened {
                wanted = stream.page(read(known, &next));
            }
            let fate = fates[at % fates.len()];
            // 0: lost. 1: told twice.
            for _ in 0..[0, 2, 1, 1, 1, 1, 1, 1][usize::from(fate)] {
                wanted = stream.event(event).or(wanted);
            }
            if fate == 1 && let Some(mut page) = wanted.take() {
                page.limit = limit;
                wanted = stream.page(read(known, &page));
            }
            if fate == 2 && wanted.is_none() && let Some(mut older) = stream.older() {
                older.limit = limit;
                prop_assert_eq!(stream.page(read(known, &older)), None);
            }
        }
        // Something happens after the last loss, so that it is noticed.
        let last = journal.iter().filter_map(number).max().unwrap_or(0);
        let mut more = event(last + 1, said("thanks"));
        more.scope = of_run("s-1", &format!("r-{}", runs.len()));
        let whole: Vec<Event> = journal.into_iter().chain([more.clone()]).collect();
        wanted = stream.event(&more).or(wanted);
        read_all(&mut stream, &whole, wanted);
        prop_assert_eq!(stream.transcript(), &Transcript::of(&whole));
    }
}
