//! Journals of versions 7 and 10, whose tables are filled with what follows from their events, as this version reads
//! them. `data/README.md` says what is in them.

#![expect(clippy::unwrap_used, reason = "a test's way to say that it failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use journal::forecast::PastRun;
use journal::{FILE_NAME, Journal, SystemClock, Tidied, Tidy};
use protocol::command::Which;
use protocol::event::{EventBody, RunEnd, Scope};
use protocol::ids::{ModelId, RunId, SessionId, Timestamp};
use protocol::turn::Usd;
use rusqlite::{Connection, OpenFlags};

/// The last one that knew nothing of what is kept of files, and the last one that read at a run's end what it took.
const VERSIONS: [u32; 2] = [7, 10];

/// What its blobs hold, by what they are.
const OWN: &str = "letter, as it was";
const SHARED: &str = "shared, as it was";
const THROWN: &str = "thrown away";
const RAW: &str = "raw of one";
const SEEN: &str = "picture of one";
const SEEN_BY_OPEN: &str = "picture of two";
const SEEN_IN_TRASH: &str = "picture of the trash";
const ALL: [&str; 7] = [OWN, SHARED, THROWN, RAW, SEEN, SEEN_BY_OPEN, SEEN_IN_TRASH];

/// As that version left it, in a folder of its own, with its blobs, which were written long ago.
struct Old {
    home: tempfile::TempDir,
    names: Vec<String>,
}

impl Old {
    fn of(version: u32) -> Self {
        let (home, makes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/version-{version}.db"));
        fs::copy(data, home.path().join(FILE_NAME)).unwrap();
        fs::create_dir(home.path().join("blobs")).unwrap();
        let journal = Journal::open(makes.path(), Arc::new(SystemClock)).unwrap();
        let put = |bytes: &str| journal.blobs().put(bytes.as_bytes(), "image/png").unwrap().sha256;
        let names: Vec<String> = ALL.iter().map(|bytes| put(bytes)).collect();
        let old = Self { home, names };
        for (name, bytes) in old.names.iter().zip(ALL) {
            fs::write(old.blob(name), bytes).unwrap();
        }
        old.make_old();
        old
    }

    fn open(&self) -> Journal {
        Journal::open(self.home.path(), Arc::new(SystemClock)).unwrap()
    }

    fn blob(&self, name: &str) -> PathBuf {
        self.home.path().join("blobs").join(name)
    }

    fn make_old(&self) {
        for entry in fs::read_dir(self.home.path().join("blobs")).unwrap() {
            let file = fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
        }
    }

    /// Those of its blobs whose files are there.
    fn there(&self) -> Vec<&'static str> {
        let is_there = |name: &String| self.blob(name).exists();
        self.names.iter().zip(ALL).filter(|(name, _)| is_there(name)).map(|(_, bytes)| bytes).collect()
    }

    /// All rows of a query, as text.
    fn rows(&self, sql: &str) -> Vec<String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(self.home.path().join(FILE_NAME), flags).unwrap();
        let mut select = connection.prepare(sql).unwrap();
        let columns = select.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..columns).map(|column| row.get_ref(column).map(|value| format!("{value:?} "))).collect()
        };
        select.query_map([], row).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }
}

fn scope(session: &str, run: &str) -> Scope {
    Scope { session: Some(SessionId::from_suffix(session)), run: Some(RunId::from_suffix(run)), agent: None }
}

async fn tidy(journal: &Journal, tidy: Tidy) -> Tidied {
    journal.tidy(tidy).await.unwrap()
}

fn deleted() -> Tidy {
    Tidy { deleted_before: Some(Timestamp(i64::MAX)), ..Tidy::default() }
}

fn pictures() -> Tidy {
    Tidy { pictures_before: Some(Timestamp(i64::MAX)), picture_bytes: Some(0), ..Tidy::default() }
}

#[tokio::test]
async fn nothing_of_an_older_journal_is_lost_and_what_it_said_it_says() {
    for version in VERSIONS {
        let old = Old::of(version);
        let written = |sql: &str| (old.rows(sql), old.rows("SELECT * FROM gaps"));
        let events = "SELECT seq, stream, n, time, session, run, agent, type, body FROM events ORDER BY seq";
        let before = written(events);
        assert_eq!((before.0.len(), before.1.len()), (29, 5), "version {version}");
        let journal = old.open();
        assert_eq!(written(events), before, "version {version}");
        assert_eq!(old.there(), ALL, "version {version}");
        let (titles, trash, open, questions, found) = journal
            .read(|reader| {
                let titles = |which| {
                    let views = reader.sessions(which, None, 10)?;
                    Ok::<_, journal::JournalError>(
                        views.into_iter().map(|view| view.title).collect::<Vec<_>>(),
                    )
                };
                let found = reader.search("letters in order", 10)?;
                let found: Vec<String> = found.into_iter().map(|found| found.session.title).collect();
                let open = reader.open_runs()?;
                Ok((titles(Which::Open)?, titles(Which::Deleted)?, open, reader.questions()?, found))
            })
            .await
            .unwrap();
        assert_eq!(titles, ["Tidy the letters, again", "Sort the bills", "Tidy the letters"]);
        assert_eq!(trash, ["Throw away"]);
        assert_eq!(found, ["Tidy the letters, again", "Tidy the letters"]);
        let [open] = open.as_slice() else { panic!("{open:?}") };
        assert_eq!((open.scope.run.clone(), open.turn), (Some(RunId::from_suffix("open")), 2));
        assert_eq!(open.approval.as_ref(), questions.first().map(|question| &question.approval));
        assert_eq!(questions.len(), 1);
        // A second start, which looks at all of it, finds it as it is.
        drop(journal);
        fs::remove_file(old.home.path().join("journal.db.clean")).unwrap();
        drop(old.open());
        assert_eq!(written(events), before, "version {version}");
    }
}

#[tokio::test]
async fn what_an_older_journal_kept_of_files_goes_with_the_last_session_that_names_it_and_pictures_as_ever() {
    for version in VERSIONS {
        let old = Old::of(version);
        let journal = old.open();
        let of_deleted = tidy(&journal, deleted()).await;
        assert_eq!(of_deleted.sessions, [SessionId::from_suffix("trash")], "version {version}");
        assert_eq!(old.there(), [OWN, SHARED, RAW, SEEN, SEEN_BY_OPEN], "version {version}");

        // A picture goes, but for that of a run that may go on; what is kept of files is none.
        assert_eq!(tidy(&journal, pictures()).await.files, 1, "version {version}");
        assert_eq!(old.there(), [OWN, SHARED, RAW, SEEN_BY_OPEN], "version {version}");

        let one = Scope { run: None, ..scope("one", "done") };
        journal.append(one, EventBody::SessionDeleted).await.unwrap();
        tidy(&journal, deleted()).await;
        assert_eq!(old.there(), [SHARED, SEEN_BY_OPEN], "version {version}");

        let end = RunEnd::Stopped { reason: "by the user".into() };
        journal.append(scope("two", "open"), EventBody::RunEnded { end }).await.unwrap();
        journal.append(scope("two", "open"), EventBody::SessionDeleted).await.unwrap();
        assert_eq!(tidy(&journal, deleted()).await.files, 2, "version {version}");
        assert_eq!(old.there(), [""; 0], "version {version}");
        assert_eq!(tidy(&journal, Tidy { picture_bytes: Some(0), ..deleted() }).await, Tidied::default());
        let left = "SELECT sha256 FROM blobs UNION ALL SELECT sha256 FROM blob_uses";
        assert_eq!(old.rows(left), [""; 0], "version {version}");
    }
}

#[tokio::test]
async fn what_the_runs_of_an_older_journal_took_is_known_and_goes_on_where_one_is_open() {
    for version in VERSIONS {
        let old = Old::of(version);
        let journal = old.open();
        let past = async || {
            let model = ModelId("gemini/x".into());
            journal.read(move |reader| reader.past_runs(&model)).await.unwrap()
        };
        let took = |steps, tokens, cost| PastRun { steps, tokens, cost: Some(Usd(cost)) };
        // Neither the copy nor the one that was stopped.
        assert_eq!(past().await, [took(3, 704, 26)], "version {version}");
        let end = RunEnd::Completed { summary: "sorted".into() };
        journal.append(scope("two", "open"), EventBody::RunEnded { end }).await.unwrap();
        assert_eq!(past().await, [took(2, 122, 7), took(3, 704, 26)], "version {version}");
    }
}
