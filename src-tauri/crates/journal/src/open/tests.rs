//! Damage, newer and foreign files, and migrations that fail or are killed.

use std::sync::Arc;

use protocol::event::Scope;

use super::*;
use crate::tests::{Ticks, append, block, journal, noted};
use crate::{Journal, SystemClock};

fn reopen(home: &Path) -> Result<Journal, JournalError> {
    Journal::open(home, Arc::new(SystemClock))
}

/// A closed journal of some pages: its path and its folder.
fn filled() -> (tempfile::TempDir, PathBuf) {
    let (home, journal) = journal();
    for _ in 0..20 {
        append(&journal, Scope::default(), noted(&"x".repeat(5_000))).unwrap();
    }
    drop(journal);
    let path = home.path().join(FILE_NAME);
    (home, path)
}

fn files(home: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(home)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .filter(|path| !["-shm", ".clean"].iter().any(|end| path.to_string_lossy().ends_with(end)))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .filter(|(name, content)| !(name.ends_with("-wal") && content.is_empty()))
        .collect();
    files.sort();
    files
}

/// Changes the journal, as long as it takes for its time to be another: file systems' clocks tick slowly.
fn damage(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let changed = || fs::metadata(path).unwrap().modified().unwrap();
    let (before, mut bytes) = (changed(), fs::read(path).unwrap());
    change(&mut bytes);
    while changed() == before {
        fs::write(path, &bytes).unwrap();
    }
}

const PAGE: usize = 4_096;

/// The root of a table that is longer than a page: the events'. Such a page begins with a 5.
fn zero_root_page(bytes: &mut [u8]) {
    let root = bytes.chunks_exact_mut(PAGE).find(|page| page[0] == 5).unwrap();
    root.fill(0);
}

/// Three starts meet the same damage: the same error, the original untouched, one copy equal to it.
fn check_refused(home: &Path, what: &str, expected: fn(&JournalError) -> bool) {
    let path = home.join(FILE_NAME);
    let before = files(home);
    for start in 1..=3 {
        let Err(error) = reopen(home) else { panic!("{what}: opened") };
        assert!(expected(&error), "{what}: {error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{what}: {error}");
        assert!(error.hint().is_some(), "{what}");
        let after = files(home);
        let (copies, originals): (Vec<_>, Vec<_>) =
            after.into_iter().partition(|(name, _)| name.contains(".quarantine-"));
        assert_eq!(originals, before, "{what}, start {start}: the originals are untouched");
        assert_eq!(copies.len(), before.len(), "{what}, start {start}: one copy of each");
        for ((_, copy), (_, original)) in copies.iter().zip(&before) {
            assert_eq!(copy, original, "{what}, start {start}");
        }
    }
}

fn damaged(error: &JournalError) -> bool {
    matches!(error, JournalError::Damaged { copy: Some(_), .. })
}

fn foreign(error: &JournalError) -> bool {
    matches!(error, JournalError::NotAJournal { copy: Some(_), .. })
}

// bar: C71
#[test]
fn a_damaged_journal_is_refused_with_one_copy_and_nothing_changed() {
    type Case = (&'static str, fn(&mut Vec<u8>), fn(&JournalError) -> bool);
    let matrix: [Case; 6] = [
        ("truncated to half", |bytes| bytes.truncate(bytes.len() / 2), damaged),
        ("truncated within the header", |bytes| bytes.truncate(50), foreign),
        ("a zeroed page", |bytes| zero_root_page(bytes), damaged),
        ("0 bytes", Vec::clear, damaged),
        ("garbage", |bytes| bytes.fill(b'x'), foreign),
        ("a zeroed first page", |bytes| bytes[..PAGE].fill(0), foreign),
    ];
    for (what, change, expected) in matrix {
        let (home, path) = filled();
        damage(&path, change);
        check_refused(home.path(), what, expected);
    }
}

// bar: C71
#[test]
fn a_newer_journal_is_refused_not_downgraded() {
    let (home, path) = filled();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 1_000).unwrap();
    check_refused(home.path(), "newer", |error| {
        matches!(error, JournalError::Newer { found: 1_000, known: 12, copy: Some(_), .. })
    });
}

#[test]
fn another_programs_database_is_refused() {
    let home = tempfile::tempdir().unwrap();
    Connection::open(home.path().join(FILE_NAME)).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    check_refused(home.path(), "another program's", foreign);
}

/// A journal with its last events in the WAL only, as a kill leaves it.
fn with_wal() -> (tempfile::TempDir, PathBuf) {
    let (home, journal) = journal();
    for _ in 0..5 {
        append(&journal, Scope::default(), noted("n")).unwrap();
    }
    let copy = tempfile::tempdir().unwrap();
    for (name, content) in files(home.path()) {
        fs::write(copy.path().join(name), content).unwrap();
    }
    let path = copy.path().join(FILE_NAME);
    assert!(!is_empty(&beside(&path, "-wal")).unwrap());
    (copy, path)
}

#[test]
fn events_in_the_log_alone_are_there_after_a_kill() {
    let (home, _) = with_wal();
    assert_eq!(reopen(home.path()).unwrap().last_seq(), Seq(5));
}

// bar: C71
#[test]
fn a_log_without_its_database_is_refused_not_deleted() {
    let (home, path) = with_wal();
    fs::remove_file(&path).unwrap();
    check_refused(home.path(), "database gone", |error| matches!(error, JournalError::Damaged { .. }));
}

// bar: C71
#[test]
fn a_log_that_is_none_is_refused_not_written_over() {
    let (home, path) = with_wal();
    fs::write(beside(&path, "-wal"), [b'x'; 9_000]).unwrap();
    check_refused(home.path(), "garbage in the log", damaged);
}

// bar: C71
#[test]
fn without_its_log_a_journal_is_what_it_was_at_the_last_checkpoint() {
    let (home, path) = with_wal();
    fs::remove_file(beside(&path, "-wal")).unwrap();
    let journal = reopen(home.path()).unwrap();
    assert_eq!(journal.last_seq(), Seq(0));
    assert_eq!(append(&journal, Scope::default(), noted("n")).unwrap().seq(), Seq(1));
}

// bar: C71
#[test]
fn a_log_cut_at_any_frame_opens_with_a_whole_prefix_of_the_events() {
    let (home, path) = with_wal();
    let (database, wal) = (fs::read(&path).unwrap(), fs::read(beside(&path, "-wal")).unwrap());
    let mut last = Seq(0);
    for cut in (33..wal.len()).step_by(1_031) {
        fs::write(&path, &database).unwrap();
        fs::write(beside(&path, "-wal"), &wal[..cut]).unwrap();
        let _ = fs::remove_file(beside(&path, "-shm"));
        let journal = reopen(home.path()).unwrap();
        let events = block(journal.read(|reader| reader.after(Seq(0), None, 100))).unwrap();
        assert_eq!(events.len() as u64, journal.last_seq().0);
        assert!(journal.last_seq() >= last, "cut at {cut}");
        last = journal.last_seq();
    }
}

#[test]
fn a_missing_number_is_damage() {
    let (home, path) = filled();
    Connection::open(&path).unwrap().execute("DELETE FROM events WHERE seq = 3", []).unwrap();
    damage(&path, |_| {});
    check_refused(home.path(), "a gap", damaged);
}

#[cfg(unix)]
#[test]
fn the_journal_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let home = parent.path().join("miki");
    let journal = reopen(&home).unwrap();
    append(&journal, Scope::default(), noted("n")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("blobs"))), (0o700, 0o700));
    assert_eq!((mode(&home.join(FILE_NAME)), mode(&home.join("journal.db-wal"))), (0o600, 0o600));
}

#[test]
fn a_making_that_was_killed_is_begun_anew() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("journal.db.new"), "half a database").unwrap();
    fs::write(home.path().join("journal.db.new-journal"), "half a log").unwrap();
    append(&reopen(home.path()).unwrap(), Scope::default(), noted("n")).unwrap();
    let names: Vec<String> = files(home.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [FILE_NAME]);
}

type Apply = fn(&Connection, &Path) -> Result<(), JournalError>;

const MORE: Apply = |connection, path| {
    connection
        .execute_batch("CREATE TABLE notes (x); INSERT INTO notes VALUES (1)")
        .map_err(|e| JournalError::sqlite(path, e))
};

/// All migrations, and one more.
fn with_more(apply: Apply) -> Vec<Migration> {
    let known = MIGRATIONS.iter().map(|known| Migration { apply: known.apply, ..*known });
    known.chain([Migration { version: schema::newest(MIGRATIONS) + 1, name: "more", apply }]).collect()
}

fn applied(connection: &Connection) -> Vec<(i64, String)> {
    let mut select = connection.prepare("SELECT version, name FROM migrations ORDER BY version").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_migration_keeps_the_events_and_is_written_down() {
    let (_home, path) = filled();
    let connection = open_with(&path, &Ticks::default(), &with_more(MORE)).unwrap();
    assert_eq!(crate::projection::last_seq(&connection).unwrap(), Seq(20));
    let names = MIGRATIONS.iter().map(|known| known.name).chain(["more"]).map(String::from);
    assert_eq!(applied(&connection), (1..).zip(names).collect::<Vec<_>>());
}

// bar: C74
#[test]
fn a_migration_that_fails_midway_leaves_the_version_before_it() {
    let (home, path) = filled();
    let failing = with_more(|connection, path| {
        MORE(connection, path)?;
        connection.execute_batch("THIS IS NOT SQL").map_err(|e| JournalError::sqlite(path, e))
    });
    assert!(open_with(&path, &Ticks::default(), &failing).is_err());
    let connection = Connection::open(&path).unwrap();
    assert_eq!(schema::user_version(&connection).unwrap(), schema::newest(MIGRATIONS));
    assert!(connection.prepare("SELECT * FROM notes").is_err());
    drop(connection);
    assert_eq!(reopen(home.path()).unwrap().last_seq(), Seq(20));
    open_with(&path, &Ticks::default(), &with_more(MORE)).unwrap();
}

// bar: C74
#[test]
fn a_migration_killed_midway_leaves_the_version_before_it() {
    const CHILD: &str = "JOURNAL_TEST_MIGRATE";
    if let Some(path) = std::env::var_os(CHILD) {
        let killed = with_more(|connection, path| {
            MORE(connection, path)?;
            std::process::abort()
        });
        let _ = open_with(Path::new(&path), &Ticks::default(), &killed);
        unreachable!("the migration aborts");
    }
    let (home, path) = filled();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "open::tests::a_migration_killed_midway_leaves_the_version_before_it",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success() && status.code().is_none(), "the child died of its abort: {status}");
    assert_eq!(reopen(home.path()).unwrap().last_seq(), Seq(20));
    let connection = open_with(&path, &Ticks::default(), &with_more(MORE)).unwrap();
    assert_eq!(applied(&connection).len(), MIGRATIONS.len() + 1);
}

/// The path of a whole journal of version 1, in a folder of its own; `tests/data/README.md` says what is in it.
fn version_1() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(FILE_NAME);
    fs::write(&path, include_bytes!("../../tests/data/version-1.db")).unwrap();
    (home, path)
}

#[test]
fn an_older_journal_with_a_row_that_is_no_event_is_refused_with_the_reason_and_nothing_changed() {
    let rows = ["not JSON", r#"{"type":"somethingElse"}"#, r#"{"type":"runStarted","goal":"g"}"#];
    for row in rows {
        let (home, path) = version_1();
        let connection = Connection::open(&path).unwrap();
        connection.execute("UPDATE events SET body = ?1 WHERE seq = 7", [row]).unwrap();
        connection.close().unwrap();
        check_refused(home.path(), row, |error| {
            damaged(error) && error.to_string().contains("cannot read event 7")
        });
    }
}

#[test]
fn an_older_journal_with_its_last_events_in_the_log_is_migrated_whole() {
    let (_old, path) = version_1();
    let connection = Connection::open(&path).unwrap();
    let insert = r#"INSERT INTO events (seq, time, type, body) VALUES (28, 1, 'noted', '{"type":"noted","level":"info","message":"m","hint":null}')"#;
    connection.execute(insert, []).unwrap();
    let killed = tempfile::tempdir().unwrap();
    for name in [FILE_NAME, "journal.db-wal"] {
        fs::copy(path.with_file_name(name), killed.path().join(name)).unwrap();
    }
    assert_eq!(reopen(killed.path()).unwrap().last_seq(), Seq(28));
}

/// Damage that only a check of the whole file finds.
fn make_a_gap(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute("DELETE FROM events WHERE seq = 3", []).unwrap();
    connection.close().unwrap();
}

#[test]
fn a_journal_as_it_was_closed_is_not_checked_whole_again() {
    let (home, path) = filled();
    assert!(clean::is_marked(&path).unwrap());
    make_a_gap(&path);
    clean::mark(&path);
    reopen(home.path()).expect("nothing looked at each event");
}

#[test]
fn a_journal_that_is_open_or_was_killed_has_no_mark() {
    let (home, journal) = journal();
    let path = home.path().join(FILE_NAME);
    drop(journal);
    assert!(clean::is_marked(&path).unwrap());
    let journal = reopen(home.path()).unwrap();
    assert!(!clean::is_marked(&path).unwrap());
    append(&journal, Scope::default(), noted("n")).unwrap();
    // Even with a mark that somebody left: there is a log.
    clean::mark(&path);
    assert!(!clean::is_marked(&path).unwrap());
}

/// What a search and the lists tell of a journal of version 1.
fn known(home: &Path) -> (Vec<String>, usize, usize, usize) {
    let journal = reopen(home).unwrap();
    block(journal.read(|reader| {
        let found = reader.search("letter", 10)?.into_iter().map(|found| found.session.title).collect();
        let sessions = reader.sessions(protocol::command::Which::Open, None, 10)?.len();
        Ok((found, sessions, reader.open_runs()?.len(), reader.questions()?.len()))
    }))
    .unwrap()
}

// bar: C74
#[test]
fn the_making_of_the_index_killed_midway_is_begun_anew_from_the_events() {
    const CHILD: &str = "JOURNAL_TEST_INDEX";
    if let Some(path) = std::env::var_os(CHILD) {
        let killed: Vec<Migration> = MIGRATIONS
            .iter()
            .map(|known| match known.version {
                11 => Migration {
                    apply: |connection, path| {
                        (MIGRATIONS[10].apply)(connection, path)?;
                        std::process::abort()
                    },
                    ..*known
                },
                _ => Migration { apply: known.apply, ..*known },
            })
            .collect();
        let _ = open_with(Path::new(&path), &Ticks::default(), &killed);
        unreachable!("the migration aborts");
    }
    let expected = (vec!["Save the letter".to_owned()], 2, 1, 1);
    let (whole, _) = version_1();
    assert_eq!(known(whole.path()), expected);
    let (home, path) = version_1();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "open::tests::the_making_of_the_index_killed_midway_is_begun_anew_from_the_events",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success() && status.code().is_none(), "the child died of its abort: {status}");
    // All versions before it are whole.
    assert_eq!(schema::user_version(&Connection::open(&path).unwrap()).unwrap(), 10);
    assert_eq!(known(home.path()), expected);
    assert_eq!(known(home.path()), expected, "and stays so");
}
