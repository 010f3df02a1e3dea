//! A process that appends is killed at random moments: what it was told is on disk, is.

#![expect(clippy::unwrap_used, reason = "a test's way to say that it failed")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use journal::{Journal, JournalError, Reader, SystemClock};
use protocol::command::Which;
use protocol::event::{Event, EventBody, Level, Scope};
use protocol::ids::{RunId, Seq, SessionId};
use protocol::tool::{ApprovalMode, Mode};

const CHILD: &str = "JOURNAL_TEST_APPEND";
const ROUNDS: u64 = 20;

/// Appends until it is killed, and says each number when `append` has returned. The long messages make the log
/// grow past SQLite's checkpoints, so that some kills meet one.
async fn append_forever(home: &Path) -> ! {
    let journal = Journal::open(home, Arc::new(SystemClock)).unwrap();
    let scope =
        Scope { session: Some(SessionId::from_suffix("1")), run: Some(RunId::from_suffix("1")), agent: None };
    let created = EventBody::SessionCreated {
        title: "kill".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        origin: None,
    };
    if journal.last_seq() == Seq(0) {
        println!("\nseq {}", journal.append(scope.clone(), created).await.unwrap().seq().0);
    }
    loop {
        let message = format!("{} {}", journal.last_seq().0 + 1, "x".repeat(20_000));
        let picture = journal.blobs().put(message.as_bytes(), "text/plain").unwrap();
        let body = EventBody::Noted { level: Level::Info, message, hint: Some(picture.sha256) };
        println!("\nseq {}", journal.append(scope.clone(), body).await.unwrap().seq().0);
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

fn whole_lines_of(text: &str) -> impl Iterator<Item = u64> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.strip_prefix("seq ")?.parse().ok())
}

/// xorshift: enough to pick moments, and repeatable from the seed in the message.
fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

/// All events, page by page.
fn all(reader: &Reader<'_>) -> Result<Vec<Event>, JournalError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let page = reader.after(events.last().map_or(Seq(0), Event::seq), None, 1_000)?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

// bar: C68
#[test]
fn no_acknowledged_event_is_lost_by_kill_9_at_20_random_moments() {
    if let Some(home) = std::env::var_os(CHILD) {
        block(append_forever(Path::new(&home)));
    }
    let home = tempfile::tempdir().unwrap();
    let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
    let (mut random, mut acknowledged) = (seed, 0);
    for round in 1..=ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "no_acknowledged_event_is_lost_by_kill_9_at_20_random_moments", "--nocapture"])
            .env(CHILD, home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let wanted = 1 + next(&mut random) % 30;
        while (whole_lines_of(&said).count() as u64) < wanted {
            assert_ne!(output.read_line(&mut said).unwrap(), 0, "the child ended by itself: {said}");
        }
        // Not a wait for something: the moment of the kill within an append.
        std::thread::sleep(Duration::from_micros(next(&mut random) % 4_000));
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut said).unwrap();

        let journal = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
        let read = |reader: &Reader<'_>| Ok((all(reader)?, reader.sessions(Which::Open, None, 1)?));
        let (events, sessions) = block(journal.read(read)).unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq().0).collect();
        assert_eq!(numbers, (1..=journal.last_seq().0).collect::<Vec<_>>(), "seed {seed}, round {round}");
        acknowledged = whole_lines_of(&said).max().unwrap().max(acknowledged);
        assert!(journal.last_seq().0 >= acknowledged, "seed {seed}, round {round}: {acknowledged} is lost");
        for event in &events {
            if let EventBody::Noted { message, hint: Some(blob), .. } = &event.body {
                assert!(message.starts_with(&format!("{} ", event.seq().0)), "seed {seed}, round {round}");
                assert_eq!(
                    journal.blobs().get(blob).unwrap(),
                    message.as_bytes(),
                    "seed {seed}, round {round}"
                );
            }
        }
        assert_eq!(sessions[0].updated, events.last().unwrap().time);
    }
    assert!(acknowledged >= ROUNDS, "{acknowledged}");
}
