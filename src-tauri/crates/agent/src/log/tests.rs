//! What whoever follows the events may rely on, at any pace.

use journal::SystemClock;
use protocol::event::{DeltaKind, Level};
use protocol::ids::SessionId;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode};

use super::*;

fn log(backlog: usize) -> (tempfile::TempDir, Log) {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock);
    let journal = Journal::open(home.path(), clock.clone()).unwrap();
    (home, Log::with_backlog(journal, clock, backlog))
}

fn scope(session: &str, run: &str) -> Scope {
    let (session, run) = (Some(SessionId::from_suffix(session)), Some(RunId::from_suffix(run)));
    Scope { session, run, agent: None }
}

fn stream(session: &str) -> StreamId {
    StreamId::of_session(&SessionId::from_suffix(session))
}

fn noted(message: &str) -> EventBody {
    EventBody::Noted { level: Level::Info, message: message.into(), hint: None }
}

fn created(title: &str) -> EventBody {
    EventBody::SessionCreated {
        title: title.into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        origin: None,
    }
}

fn delta(index: u32) -> EventBody {
    EventBody::TurnDelta { turn: 1, index, kind: DeltaKind::Text, text: "word".into() }
}

fn working(detail: &str) -> Status {
    Status { activity: Activity::Working, detail: detail.into(), step: 1, max_steps: 9, ..Status::default() }
}

async fn until(events: &mut Subscription, last: Seq) -> Vec<Event> {
    let mut heard = Vec::new();
    loop {
        let event = events.next().await.unwrap();
        let is_last = event.seq() == last;
        heard.push(event);
        if is_last {
            return heard;
        }
    }
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().filter_map(|event| event.position).map(|position| position.seq.0).collect()
}

fn deltas(events: &[Event]) -> Vec<u32> {
    let index = |event: &Event| match event.body {
        EventBody::TurnDelta { index, .. } => Some(index),
        _ => None,
    };
    events.iter().filter_map(index).collect()
}

fn last_status(events: &[Event]) -> Option<Status> {
    events.iter().rev().find_map(|event| match &event.body {
        EventBody::StatusChanged { status } => Some(status.clone()),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_of_every_pace_see_each_durable_event_once_in_order_beside_a_flood_of_deltas() {
    const EVENTS: u64 = 1_000;
    let (_home, log) = log(64);
    let log = Arc::new(log);
    let (on_disk, written) = tokio::sync::watch::channel(0);
    let readers: Vec<_> = [0, 10, 100, 1_000]
        .into_iter()
        .map(|behind| {
            let (mut events, mut written) = (log.subscribe(None, Some(Seq(0))), written.clone());
            tokio::spawn(async move {
                let mut heard = Vec::new();
                for event in 1..=EVENTS {
                    // A slow reader: always this many events behind, the slowest all of them.
                    written.wait_for(|last| *last >= EVENTS.min(event + behind)).await.unwrap();
                    heard.extend(until(&mut events, Seq(event)).await);
                }
                heard
            })
        })
        .collect();
    let says = {
        let log = log.clone();
        tokio::spawn(async move {
            for index in 0..1_000 {
                log.broadcast_transient(scope("1", "1"), delta(index));
                tokio::task::yield_now().await;
            }
        })
    };
    for _ in 0..EVENTS {
        let settings = Box::new(Settings::default());
        let event = log.append(Scope::default(), EventBody::SettingsChanged { settings }).await.unwrap();
        on_disk.send(event.seq().0).unwrap();
    }
    says.await.unwrap();
    for reader in readers {
        let heard = reader.await.unwrap();
        assert_eq!(numbers(&heard), (1..=EVENTS).collect::<Vec<_>>());
        let deltas = deltas(&heard);
        assert!(deltas.is_sorted_by(|a, b| a < b), "each delta at most once, in order: {deltas:?}");
    }
}

#[tokio::test]
async fn a_reader_that_keeps_up_hears_each_delta_between_the_events_around_it() {
    let (_home, log) = log(64);
    let mut events = log.subscribe(None, None);
    log.append(scope("1", "1"), noted("a")).await.unwrap();
    log.broadcast_transient(scope("1", "1"), delta(0));
    log.broadcast_transient(scope("1", "1"), delta(1));
    let last = log.append(scope("1", "1"), noted("b")).await.unwrap();
    let heard = until(&mut events, last.seq()).await;
    let order: Vec<_> = heard.iter().map(|event| event.position.map(|position| position.n)).collect();
    assert_eq!(order, [Some(1), None, None, Some(2)]);
}

#[tokio::test]
async fn a_reader_of_one_stream_hears_of_others_only_what_is_for_anyone() {
    let (_home, log) = log(64);
    log.append(scope("1", "1"), created("one")).await.unwrap();
    let mut events = log.subscribe(Some(vec![stream("1")]), None);
    log.append(scope("2", "2"), created("two")).await.unwrap();
    log.append(scope("2", "2"), noted("two's")).await.unwrap();
    log.broadcast_transient(scope("2", "2"), delta(0));
    log.set_status(scope("2", "2"), working("two"));
    log.broadcast_transient(scope("1", "1"), delta(1));
    let last = log.append(scope("1", "1"), noted("one's")).await.unwrap();
    let heard = until(&mut events, last.seq()).await;
    assert_eq!(numbers(&heard), [last.seq().0]);
    assert_eq!(deltas(&heard), [1]);
    assert_eq!(last_status(&heard), Some(working("two")));
    let EventBody::SessionChanged { session } = &heard[0].body else { panic!("{heard:?}") };
    assert_eq!(session.title, "two");
    assert_eq!(heard.len(), 4);
}

#[tokio::test]
async fn who_follows_on_from_a_number_hears_what_came_since_and_then_how_everything_stands() {
    let (_home, log) = log(64);
    for title in ["1", "2"] {
        log.append(scope(title, title), created(title)).await.unwrap();
    }
    log.append(scope("2", "2"), noted("n")).await.unwrap();
    log.set_status(scope("2", "2"), working("now"));
    let mut events = log.subscribe(None, Some(Seq(1)));
    assert_eq!(events.start(), Seq(1));
    let mut heard = Vec::new();
    while last_status(&heard).is_none() {
        heard.push(events.next().await.unwrap());
    }
    assert_eq!(numbers(&heard), [2, 3]);
    let changed: Vec<_> = heard
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::SessionChanged { session } => Some(session.title.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(changed, ["2"]);
    // And then what comes.
    log.append(scope("1", "1"), noted("m")).await.unwrap();
    assert_eq!(numbers(&until(&mut events, Seq(4)).await), [4]);
}

#[tokio::test]
async fn a_reader_that_lagged_hears_the_status_that_it_missed() {
    let (_home, log) = log(16);
    let mut events = log.subscribe(Some(vec![stream("1")]), None);
    log.set_status(scope("2", "2"), working("the last word"));
    for index in 0..100 {
        log.broadcast_transient(scope("2", "2"), delta(index));
    }
    let mut heard = Vec::new();
    while last_status(&heard).is_none() {
        heard.push(events.next().await.unwrap());
    }
    assert_eq!(last_status(&heard), Some(working("the last word")));
}

#[tokio::test]
async fn a_reader_that_lagged_right_after_an_event_hears_what_it_changed() {
    let (_home, log) = log(4);
    let mut events = log.subscribe(None, None);
    log.append(scope("1", "1"), created("one")).await.unwrap();
    assert_eq!(events.next().await.unwrap().seq(), Seq(1));
    for index in 0..100 {
        log.broadcast_transient(scope("1", "1"), delta(index));
    }
    let changed = events.next().await.unwrap();
    assert!(matches!(changed.body, EventBody::SessionChanged { .. }), "{changed:?}");
}

#[tokio::test]
async fn a_reader_who_comes_late_is_told_what_a_turn_under_way_has_said() {
    let (_home, log) = log(16);
    log.append(scope("1", "1"), created("one")).await.unwrap();
    for index in 0..3 {
        log.broadcast_transient(scope("1", "1"), delta(index));
        log.broadcast_transient(scope("2", "2"), delta(index));
    }
    let so_far = async |log: &Log| {
        let mut events = log.subscribe(Some(vec![stream("1")]), Some(Seq(0)));
        let last = log.append(scope("1", "1"), noted("end")).await.unwrap().seq();
        let heard = until(&mut events, last).await;
        let mut told = heard.into_iter().filter(|event| matches!(event.body, EventBody::TurnSoFar { .. }));
        (told.next().map(|event| (event.scope, event.body)), told.count())
    };
    let body = EventBody::TurnSoFar { turn: 1, next: 3, text: "word".repeat(3), thinking: String::new() };
    let mut late = log.subscribe(Some(vec![stream("1")]), Some(log.journal().last_seq()));
    let told = loop {
        let event = late.next().await.unwrap();
        if matches!(event.body, EventBody::TurnSoFar { .. }) {
            break event;
        }
    };
    assert_eq!((told.scope, told.body), (scope("1", "1"), body));
    let (usage, cost) = Default::default();
    let dropped = EventBody::TurnDropped { turn: 1, usage, cost, text: String::new() };
    log.append(scope("1", "1"), dropped).await.unwrap();
    assert_eq!(so_far(&log).await, (None, 0), "of a turn that is over");
}

#[tokio::test]
async fn a_number_of_another_journal_is_not_waited_for() {
    let (_home, log) = log(16);
    let mut events = log.subscribe(None, Some(Seq(700)));
    assert_eq!(events.start(), Seq(0));
    log.append(Scope::default(), noted("n")).await.unwrap();
    assert_eq!(numbers(&until(&mut events, Seq(1)).await), [1]);
}

#[tokio::test]
async fn a_status_is_said_when_it_changes_and_idle_is_forgotten() {
    let (_home, log) = log(16);
    let mut events = log.subscribe(None, None);
    for status in [working("a"), working("a"), working("b"), Status::default(), Status::default()] {
        log.set_status(scope("1", "1"), status);
    }
    log.set_status(scope("1", "2"), working("other"));
    assert_eq!(log.statuses(), [(scope("1", "2"), working("other"))]);
    let last = log.append(Scope::default(), noted("end")).await.unwrap();
    let said: Vec<_> = until(&mut events, last.seq())
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::StatusChanged { status } => Some(status.detail),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["a", "b", "", "other"]);
}

#[tokio::test]
async fn an_event_that_is_refused_for_itself_closes_nothing() {
    let (_home, log) = log(16);
    let refused = log.append(Scope::default(), delta(0)).await.unwrap_err();
    assert_eq!(refused.message, "cannot journal turnDelta: it is a passing event");
    assert!(!log.has_failed());
    assert_eq!(log.append(Scope::default(), noted("n")).await.unwrap().seq(), Seq(1));
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_is_said_once_and_takes_nothing_more() {
    let (home, log) = log(64);
    let mut events = log.subscribe(None, None);
    // In the blobs' place stands a file: nothing can be written there.
    std::fs::remove_dir_all(home.path().join("blobs")).unwrap();
    std::fs::write(home.path().join("blobs"), "").unwrap();
    log.put_blob(b"picture".to_vec(), "image/png").await.unwrap_err();
    assert!(log.has_failed());
    assert_eq!(log.append(Scope::default(), noted("n")).await.unwrap_err(), closed());
    log.put_blob(b"picture".to_vec(), "image/png").await.unwrap_err();
    log.set_status(scope("1", "1"), working("after"));
    let mut failures = 0;
    loop {
        match events.next().await.unwrap().body {
            EventBody::JournalFailed { .. } => failures += 1,
            EventBody::StatusChanged { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(failures, 1);
}

#[tokio::test]
async fn a_subscription_ends_with_its_log() {
    let (home, log) = log(16);
    let mut events = log.subscribe(None, None);
    log.append(Scope::default(), noted("n")).await.unwrap();
    drop(log);
    assert_eq!(events.next().await.unwrap().seq(), Seq(1), "what was said before is heard");
    assert_eq!(events.next().await.unwrap_err().code, ErrorCode::Unavailable);
    let again = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    assert_eq!(again.last_seq(), Seq(1), "and the journal is closed");
}
