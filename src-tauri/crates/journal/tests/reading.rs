//! Pages at their edges, and reads beside writes.

#![expect(clippy::unwrap_used, reason = "a test's way to say that it failed")]

use std::sync::Arc;
use std::sync::mpsc::channel;

use journal::{Journal, JournalError, PAGE_BYTES, SystemClock};
use protocol::event::{Event, EventBody, Level, Scope};
use protocol::ids::{Seq, SessionId, StreamId};

fn journal() -> (tempfile::TempDir, Journal) {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    (home, journal)
}

fn session(name: &str) -> Scope {
    Scope { session: Some(SessionId::from_suffix(name)), ..Scope::default() }
}

fn stream(name: &str) -> StreamId {
    StreamId::of_session(&SessionId::from_suffix(name))
}

fn noted(message: impl Into<String>) -> EventBody {
    EventBody::Noted { level: Level::Info, message: message.into(), hint: None }
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().filter_map(|event| event.position).map(|position| position.n).collect()
}

#[tokio::test]
async fn a_page_is_the_newest_or_what_is_before_or_after_a_number() {
    let (_home, journal) = journal();
    for number in 1..=5 {
        journal.append(session("1"), noted(number.to_string())).await.unwrap();
        journal.append(session("2"), noted("another stream's")).await.unwrap();
    }
    let page = async |before, after, limit| {
        let page = journal.read(move |reader| reader.page(&stream("1"), before, after, limit)).await.unwrap();
        assert_eq!(page.last, 5);
        assert!(page.events.iter().all(|event| event.stream == stream("1")));
        numbers(&page.events)
    };
    assert_eq!(page(None, None, 2).await, [4, 5]);
    assert_eq!(page(None, None, 5).await, [1, 2, 3, 4, 5]);
    assert_eq!(page(None, None, u32::MAX).await, [1, 2, 3, 4, 5]);
    assert_eq!(page(None, None, 0).await, [5], "one at least");

    assert_eq!(page(Some(4), None, 2).await, [2, 3]);
    assert_eq!(page(Some(2), None, 2).await, [1]);
    assert_eq!(page(Some(6), None, 2).await, [4, 5]);
    assert_eq!(page(Some(u64::MAX), None, 2).await, [4, 5]);
    for first in [0, 1] {
        assert_eq!(page(Some(first), None, 2).await, [0; 0], "nothing is before {first}");
    }

    assert_eq!(page(None, Some(0), 2).await, [1, 2]);
    assert_eq!(page(None, Some(3), 2).await, [4, 5]);
    assert_eq!(page(None, Some(4), 2).await, [5]);
    assert_eq!(page(None, Some(5), 2).await, [0; 0], "the reader has all");
    assert_eq!(page(Some(4), Some(1), 9).await, [2, 3]);
    assert_eq!(page(Some(2), Some(3), 9).await, [0; 0]);
}

#[tokio::test]
async fn a_page_beyond_the_end_and_an_unknown_stream_are_said() {
    let (_home, journal) = journal();
    journal.append(session("1"), noted("n")).await.unwrap();
    for after in [2, u64::MAX] {
        let beyond = journal.read(move |reader| reader.page(&stream("1"), None, Some(after), 1)).await;
        let error = beyond.unwrap_err();
        assert_eq!(error.to_string(), format!("the stream s-1 has no event {after}: its last is number 1"));
        assert_eq!(error.hint().unwrap(), "read on after number 1, or from the beginning: 0");
        assert!(error.is_about_the_data());
    }
    let unknown = journal.read(|reader| reader.page(&stream("9"), None, None, 1)).await.unwrap_err();
    assert!(matches!(unknown, JournalError::UnknownStream { .. }), "{unknown}");
    let app = journal.read(|reader| reader.page(&StreamId::app(), None, None, 1)).await.unwrap();
    assert_eq!((app.events, app.last), (vec![], 0), "the app has one always");
}

#[tokio::test]
async fn a_page_holds_four_mebibytes_at_most_but_one_event_at_least() {
    let (_home, journal) = journal();
    let sizes = [PAGE_BYTES / 2, PAGE_BYTES / 4, PAGE_BYTES / 4, PAGE_BYTES + 1, 10];
    for size in sizes {
        journal.append(session("1"), noted("x".repeat(size))).await.unwrap();
    }
    let page = async |before, after| {
        let page = journal.read(move |reader| reader.page(&stream("1"), before, after, 100)).await.unwrap();
        let length = serde_json::to_string(&page.events).unwrap().len();
        assert!(length <= PAGE_BYTES || page.events.len() == 1, "{length}");
        numbers(&page.events)
    };
    assert_eq!(page(None, Some(0)).await, [1, 2]);
    assert_eq!(page(None, Some(2)).await, [3]);
    assert_eq!(page(None, Some(3)).await, [4], "longer than a page");
    assert_eq!(page(None, None).await, [5]);
    assert_eq!(page(Some(5), None).await, [4]);
    assert_eq!(page(Some(4), None).await, [2, 3]);
    let after = journal.read(|reader| reader.after(Seq(0), None, 100)).await.unwrap();
    assert_eq!(numbers(&after), [1, 2]);
    let tail = journal.read(|reader| reader.tail(&SessionId::from_suffix("1"), 2)).await.unwrap();
    assert_eq!(numbers(&tail), [4, 5]);
}

#[tokio::test]
async fn events_after_a_number_are_of_all_streams_or_of_those_that_are_named() {
    let (_home, journal) = journal();
    for name in ["1", "2", "3", "1", "2", "3"] {
        journal.append(session(name), noted("n")).await.unwrap();
    }
    let after = async |seq, names: Option<&[&str]>, limit| {
        let streams: Option<Vec<StreamId>> =
            names.map(|names| names.iter().map(|name| stream(name)).collect());
        let events = journal.read(move |reader| reader.after(Seq(seq), streams.as_deref(), limit)).await;
        events.unwrap().iter().map(|event| event.seq().0).collect::<Vec<_>>()
    };
    assert_eq!(after(0, None, 2).await, [1, 2]);
    assert_eq!(after(4, None, 9).await, [5, 6]);
    assert_eq!(after(6, None, 9).await, [0; 0]);
    assert_eq!(after(0, Some(&["1", "3"]), 3).await, [1, 3, 4]);
    assert_eq!(after(4, Some(&["1", "3"]), 3).await, [6]);
    assert_eq!(after(0, Some(&[]), 3).await, [0; 0]);
    assert_eq!(after(0, Some(&["9"]), 3).await, [0; 0]);
}

#[tokio::test]
async fn a_read_that_takes_long_holds_up_no_append_and_sees_one_state() {
    let (_home, journal) = journal();
    journal.append(session("1"), noted("before")).await.unwrap();
    let (begin, begun) = channel();
    let (end, ended) = channel::<()>();
    let reading = {
        let journal = journal.clone();
        tokio::spawn(async move {
            journal
                .read(move |reader| {
                    let first = reader.last_seq()?;
                    begin.send(()).unwrap();
                    ended.recv().unwrap();
                    Ok((first, reader.last_seq()?, reader.tail(&SessionId::from_suffix("1"), 10)?.len()))
                })
                .await
        })
    };
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    // Past SQLite's checkpoints, too: 1,000 pages.
    for _ in 0..60 {
        journal.append(session("1"), noted("x".repeat(100_000))).await.unwrap();
    }
    let meanwhile = journal.read(|reader| reader.last_seq()).await.unwrap();
    assert_eq!(meanwhile, Seq(61), "another read sees them");
    end.send(()).unwrap();
    assert_eq!(reading.await.unwrap().unwrap(), (Seq(1), Seq(1), 1));
}

#[tokio::test]
async fn a_read_that_panics_takes_no_connection_from_the_others() {
    let (_home, journal) = journal();
    journal.append(session("1"), noted("n")).await.unwrap();
    for _ in 0..10 {
        let error = journal.read(|_| -> Result<(), JournalError> { panic!("a defect") }).await.unwrap_err();
        assert!(matches!(error, JournalError::Ended { .. }), "{error}");
    }
    assert_eq!(journal.read(|reader| reader.last_seq()).await.unwrap(), Seq(1));
}
