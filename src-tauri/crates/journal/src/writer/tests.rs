//! Groups: their order, what fails together, who is told and when; answers to questions; handles that are dropped.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use protocol::event::Event;
use protocol::ids::StreamId;
use protocol::view::Question;

use super::*;
use crate::tests::{Ticks, append, approval, block, created, journal, noted, scope, started};
use crate::{Decided, FILE_NAME, Journal, SystemClock, open};

fn work() -> (tempfile::TempDir, Work) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(FILE_NAME);
    let clock = Arc::new(Ticks::default());
    let connection = open::open(&path, clock.as_ref()).unwrap();
    let blobs = Blobs::open(&home.path().join("blobs")).unwrap();
    (home, Work { connection, path, clock, blobs, publish: None, last: Arc::default() })
}

fn task(message: &str) -> Task {
    let body = noted(message);
    let encoded = rows::encode(&body).unwrap();
    Task::Append { scope: Scope::default(), body: Box::new(body), encoded }
}

#[test]
fn the_log_is_synced_at_each_commit() {
    let (_home, work) = work();
    let number =
        |name: &str| work.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((number("synchronous"), number("foreign_keys")), (2, 1));
    let mode: String = work.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// Transactions in the write-ahead log: frames that say how long the file is after them. A header of 32 bytes, then
/// frames of 24 and a page; see SQLite's file format, 4.1.
fn commits(path: &Path) -> usize {
    let log = std::fs::read(open::beside(path, "-wal")).unwrap();
    log[32..].chunks_exact(24 + 4_096).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[test]
fn what_waits_is_written_in_one_transaction_in_the_order_in_which_it_was_queued() {
    let (_home, mut work) = work();
    let (queue, jobs) = sync_channel(QUEUE);
    let answers: Vec<_> = (1..=100)
        .map(|number| {
            let (reply, outcome) = oneshot::channel();
            queue.send(Job { task: task(&number.to_string()), reply }).unwrap();
            outcome
        })
        .collect();
    drop(queue);
    work.go_on(&jobs);
    for (number, answer) in (1..).zip(answers) {
        let Ok(Outcome::Appended(committed)) = answer.blocking_recv().unwrap() else { panic!("{number}") };
        assert_eq!((committed.event.seq(), committed.event.body), (Seq(number), noted(&number.to_string())));
    }
    assert_eq!(commits(&work.path), 1);
    assert_eq!(work.last.load(Ordering::Acquire), 100);
}

// bar: C70
#[test]
fn a_full_disk_is_said_to_all_of_a_group_and_the_journal_goes_on_when_there_is_space() {
    let (_home, mut work) = work();
    work.write(vec![task("before")]).unwrap();
    let pages: i64 = work.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    work.connection.pragma_update(None, "max_page_count", pages + 2).unwrap();
    let big = "x".repeat(100_000);
    let Err(error) = work.write(vec![task("small"), task(&big)]) else { panic!("it was written") };
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert_eq!(work.last.load(Ordering::Acquire), 1);
    assert_eq!(projection::last_seq(&work.connection).unwrap(), Seq(1), "nothing of the group is there");

    work.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    let outcomes = work.write(vec![task(&big)]).unwrap();
    let [Outcome::Appended(committed)] = outcomes.as_slice() else { panic!("one event") };
    assert_eq!(committed.event.position.map(|position| (position.seq, position.n)), Some((Seq(2), 2)));
}

#[test]
fn each_event_is_told_in_order_after_it_is_on_disk_and_before_its_writer_is_answered() {
    let (home, journal) = journal();
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = told.clone();
    let path = home.path().join(FILE_NAME);
    journal.on_commit(move |committed| {
        let seq = committed.event.seq();
        let connection = open::connect_to_read(&path).unwrap();
        assert!(projection::last_seq(&connection).unwrap() >= seq, "on disk");
        telling.lock().unwrap().push(seq.0);
    });
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for _ in 0..5 {
                    let event = append(&journal, Scope::default(), noted("n")).unwrap();
                    assert!(told.lock().unwrap().contains(&event.seq().0), "told before it was answered");
                }
            });
        }
    });
    assert_eq!(*told.lock().unwrap(), (1..=40).collect::<Vec<_>>());
}

#[test]
fn who_is_told_hears_of_a_session_when_a_list_shows_it_otherwise_and_of_questions_when_others_are_open() {
    let (_home, journal) = journal();
    let (tell, told) = channel();
    journal.on_commit(move |committed| tell.send(committed.clone()).unwrap());
    let check = |body, session: Option<&str>, open: Option<&[&str]>| {
        append(&journal, scope("1", "1"), body).unwrap();
        let committed = told.recv().unwrap();
        assert_eq!(committed.session.as_ref().map(|view| view.title.as_str()), session);
        let ids = |open: &Vec<Question>| open.iter().map(|one| one.approval.id.0.clone()).collect::<Vec<_>>();
        assert_eq!(
            committed.questions.as_ref().map(ids),
            open.map(|open| open.iter().map(|id| (*id).into()).collect())
        );
    };
    let asked = |id| EventBody::ApprovalRequested { approval: approval(id, id) };
    let answered = |id| EventBody::ApprovalAnswered {
        approval: ApprovalId::from_suffix(id),
        answer: Answer::Once,
        by: Surface::Chat,
    };
    check(noted("before there is a session"), None, None);
    check(created("t"), Some("t"), None);
    check(noted("only later"), None, None);
    check(started("g"), Some("t"), None);
    check(asked("1"), None, Some(&["q-1"]));
    check(asked("2"), None, Some(&["q-1", "q-2"]));
    check(answered("1"), None, Some(&["q-2"]));
    check(answered("1"), None, None);
    check(
        EventBody::RunEnded { end: protocol::event::RunEnd::Interrupted { reason: None } },
        Some("t"),
        Some(&[]),
    );
}

#[test]
fn a_question_is_answered_exactly_once_by_whoever_is_first() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), EventBody::ApprovalRequested { approval: approval("1", "1") }).unwrap();
    let id = ApprovalId::from_suffix("1");
    let decide = |digest: &str, answer| block(journal.decide(&id, digest, answer, Surface::Chat)).unwrap();
    assert_eq!(decide("another", Answer::Once), Decided::OtherCall);
    let decided: Vec<Decided> = std::thread::scope(|threads| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let answer = if thread % 2 == 0 { Answer::Once } else { Answer::Deny };
                threads.spawn(move || decide("d", answer))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let answers: Vec<&Event> = decided
        .iter()
        .filter_map(|decided| match decided {
            Decided::Answered(asked, event) => {
                assert_eq!(*asked, approval("1", "1"));
                Some(event)
            }
            Decided::NotOpen => None,
            Decided::OtherCall => panic!("the digest is the question's"),
        })
        .collect();
    let [answer] = answers.as_slice() else { panic!("{decided:?}") };
    assert_eq!(answer.scope, scope("1", "1"), "in the scope of the question");
    let events = block(journal.read(|reader| reader.after(Seq(0), None, 100))).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(&&events[1], answer);

    assert_eq!(decide("d", Answer::Once), Decided::NotOpen);
    assert_eq!(decide("another", Answer::Once), Decided::NotOpen);
    let never = ApprovalId::from_suffix("9");
    assert_eq!(block(journal.decide(&never, "d", Answer::Once, Surface::Chat)).unwrap(), Decided::NotOpen);
}

#[tokio::test]
async fn an_append_that_nobody_waits_for_any_more_is_written_whole() {
    let (home, journal) = journal();
    for number in 1..=20_u64 {
        let append = journal.append(scope("1", "1"), noted(&number.to_string()));
        // Polled once, and dropped.
        let _ = tokio::time::timeout(std::time::Duration::ZERO, append).await;
    }
    // The last handle waits for what is queued.
    drop(journal);
    let again = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    let stream = StreamId::of_session(&protocol::ids::SessionId::from_suffix("1"));
    let page = again.read(move |reader| reader.page(&stream, None, None, 100)).await.unwrap();
    assert_eq!(page.last, 20);
    for (number, event) in (1_u64..).zip(&page.events) {
        assert_eq!((event.seq(), &event.body), (Seq(number), &noted(&number.to_string())));
    }
}

#[tokio::test]
async fn more_writers_than_there_is_room_for_are_all_answered() {
    let (_home, journal) = journal();
    let (begin, begun) = channel();
    let (go_on, wait) = channel::<()>();
    let mut wait = Some((begin, wait));
    // The writer stands still after its first event, until the queue is full.
    journal.on_commit(move |_| {
        if let Some((begin, wait)) = wait.take() {
            begin.send(()).unwrap();
            let _ = wait.recv();
        }
    });
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..QUEUE + 50 {
        let journal = journal.clone();
        writers.spawn(async move { journal.append(Scope::default(), noted(&number.to_string())).await });
    }
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    go_on.send(()).unwrap();
    let mut numbers: Vec<u64> = Vec::new();
    while let Some(written) = writers.join_next().await {
        numbers.push(written.unwrap().unwrap().seq().0);
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=QUEUE as u64 + 50).collect::<Vec<_>>());
}
