//! What goes and what never does.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use protocol::event::{EventBody, RunEnd, Scope};
use protocol::ids::{BlobRef, Seq, SessionId, StreamId, Timestamp};
use protocol::tool::PictureView;
use protocol::turn::StopReason;

use super::*;
use crate::tests::{append, block, call, changed, created, journal, noted, read, result, scope, started};
use crate::{Journal, SystemClock};

fn put(journal: &Journal, bytes: &[u8]) -> BlobRef {
    journal.blobs().put(bytes, "image/jpeg").unwrap()
}

fn seen(journal: &Journal, of: &Scope, bytes: &[u8]) -> BlobRef {
    let blob = put(journal, bytes);
    let picture = Some(PictureView { blob: blob.clone(), width: 1, height: 1, dot: None });
    let result = protocol::tool::ExecResult { picture, ..result() };
    append(journal, of.clone(), EventBody::ToolFinished { call: call("1").id, result }).unwrap();
    blob
}

fn turn(journal: &Journal, of: &Scope, bytes: &[u8]) -> BlobRef {
    let blob = put(journal, bytes);
    let body = EventBody::TurnFinished {
        turn: 1,
        text: "t".into(),
        thinking: String::new(),
        calls: Vec::new(),
        citations: Vec::new(),
        usage: Default::default(),
        cost: Default::default(),
        stop: StopReason::End,
        raw: Some(blob.clone()),
    };
    append(journal, of.clone(), body).unwrap();
    blob
}

fn end(journal: &Journal, of: &Scope) {
    let end = RunEnd::Completed { summary: "done".into() };
    append(journal, of.clone(), EventBody::RunEnded { end }).unwrap();
}

/// As if they had been written long ago.
fn make_old(home: &Path) {
    for entry in fs::read_dir(home.join("blobs")).unwrap() {
        let file = fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
    }
}

fn tidy(journal: &Journal, what: Tidy) -> Tidied {
    block(journal.tidy(what)).unwrap()
}

fn is_there(journal: &Journal, blob: &BlobRef) -> bool {
    journal.blobs().path(&blob.sha256).unwrap().exists()
}

const ALL: Option<Timestamp> = Some(Timestamp(i64::MAX));

#[test]
fn a_purged_session_goes_with_the_blobs_that_nobody_else_names_and_its_numbers_stay_used() {
    let (home, journal) = journal();
    let (one, two) = (scope("1", "1"), scope("2", "2"));
    append(&journal, one.clone(), created("one")).unwrap();
    append(&journal, one.clone(), started("first")).unwrap();
    let (own, shared) = (seen(&journal, &one, b"own"), seen(&journal, &one, b"shared"));
    let raw = turn(&journal, &one, b"raw");
    end(&journal, &one);
    append(&journal, two.clone(), created("two")).unwrap();
    seen(&journal, &two, b"shared");
    append(&journal, two, noted("n")).unwrap();
    append(&journal, one, EventBody::SessionDeleted).unwrap();
    let last = journal.last_seq();
    make_old(home.path());

    let nothing = tidy(&journal, Tidy { deleted_before: Some(Timestamp(1)), ..Tidy::default() });
    assert_eq!(nothing, Tidied::default(), "it was deleted later");
    let tidied = tidy(&journal, Tidy { deleted_before: ALL, ..Tidy::default() });
    let id = SessionId::from_suffix("1");
    assert_eq!((tidied.sessions.as_slice(), tidied.files), ([id.clone()].as_slice(), 2));
    assert_eq!([&own, &raw, &shared].map(|blob| is_there(&journal, blob)), [false, false, true]);
    let (stream, of) = (StreamId::of_session(&id), id.clone());
    assert!(read(&journal, move |reader| reader.page(&stream, None, None, 1)).is_err());
    assert_eq!(read(&journal, move |reader| reader.session(&of)).unwrap(), None);
    // The next number is a new one, and a check of the whole file finds nothing missing.
    let said = read(&journal, move |reader| reader.after(last, None, 10)).unwrap();
    assert_eq!(
        said.iter().map(|event| &event.body).collect::<Vec<_>>(),
        [&EventBody::SessionPurged { purged: id }]
    );
    drop(journal);
    fs::remove_file(home.path().join("journal.db.clean")).unwrap();
    let journal = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    assert_eq!(journal.last_seq(), Seq(last.0 + 1));
    let bytes = fs::read(home.path().join("journal.db")).unwrap();
    let is_in = |words: &[u8]| bytes.windows(words.len()).any(|part| part == words);
    assert!(is_in(b"\"two\"") && !is_in(b"\"goal\":\"first\""), "what was deleted is not in the file");
}

#[test]
fn what_is_kept_of_changed_files_goes_with_its_session_and_not_with_old_pictures() {
    let (home, journal) = journal();
    let (one, two) = (scope("1", "1"), scope("2", "2"));
    let kept = |bytes: &[u8]| journal.blobs().put(bytes, protocol::tool::KEPT).unwrap();
    let (own, shared, only_intended) = (kept(b"own"), kept(b"both"), kept(b"int"));
    let finished = |of: &Scope, blobs: &[&BlobRef]| {
        let changes = blobs.iter().map(|blob| changed(&blob.sha256)).collect();
        let result = protocol::tool::ExecResult { changes, picture: None, ..result() };
        append(&journal, of.clone(), EventBody::ToolFinished { call: call("1").id, result }).unwrap();
    };
    append(&journal, one.clone(), created("one")).unwrap();
    append(&journal, one.clone(), started("first")).unwrap();
    finished(&one, &[&own, &shared]);
    let change = changed(&only_intended.sha256);
    append(&journal, one.clone(), EventBody::ChangeIntended { call: call("2").id, change }).unwrap();
    end(&journal, &one);
    append(&journal, two.clone(), created("two")).unwrap();
    finished(&two, &[&shared]);
    make_old(home.path());
    let there = || [&own, &shared, &only_intended].map(|blob| is_there(&journal, blob));
    let pictures = Tidy { pictures_before: ALL, picture_bytes: Some(0), ..Tidy::default() };
    tidy(&journal, pictures);
    assert_eq!(there(), [true; 3]);
    append(&journal, one, EventBody::SessionDeleted).unwrap();
    make_old(home.path());
    let tidied = tidy(&journal, Tidy { deleted_before: ALL, ..Tidy::default() });
    assert_eq!((tidied.files, there()), (2, [false, true, false]));
}

#[test]
fn a_long_session_leaves_the_search_in_parts_and_goes_with_the_last() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("one")).unwrap();
    for number in 0..3 * TEXTS {
        let text = format!("the words of number {number}");
        append(&journal, scope("1", "1"), EventBody::RunSteered { text }).unwrap();
    }
    append(&journal, scope("1", "1"), EventBody::SessionDeleted).unwrap();
    let goes = Tidy { deleted_before: ALL, ..Tidy::default() };
    let left = || {
        read(&journal, |reader| {
            let counted = reader.connection.query_row("SELECT COUNT(*) FROM texts", [], |row| row.get(0));
            Ok(counted.unwrap())
        })
        .unwrap()
    };
    let mut before: usize = left();
    loop {
        let tidied = tidy(&journal, goes);
        assert!(tidied.more);
        assert!(before - left() <= TEXTS, "others wait to write");
        before = left();
        if !tidied.sessions.is_empty() {
            break;
        }
    }
    assert_eq!(before, 0);
    assert_eq!(tidy(&journal, goes), Tidied::default());
}

#[test]
fn a_session_with_an_open_run_is_not_purged() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "1"), created("one")).unwrap();
    append(&journal, scope("1", "1"), started("first")).unwrap();
    append(&journal, scope("1", "1"), EventBody::SessionDeleted).unwrap();
    assert_eq!(tidy(&journal, Tidy { deleted_before: ALL, ..Tidy::default() }), Tidied::default());
}

#[test]
fn old_pictures_go_and_turns_open_runs_and_what_was_just_written_stay() {
    let (home, journal) = journal();
    let (done, open) = (scope("1", "1"), scope("1", "2"));
    append(&journal, done.clone(), created("one")).unwrap();
    append(&journal, done.clone(), started("first")).unwrap();
    let old = seen(&journal, &done, b"old");
    let raw = turn(&journal, &done, b"raw");
    let both = turn(&journal, &done, b"both");
    seen(&journal, &done, b"both");
    end(&journal, &done);
    append(&journal, open.clone(), started("second")).unwrap();
    let needed = seen(&journal, &open, b"needed");
    let pictures = Tidy { pictures_before: ALL, ..Tidy::default() };
    assert_eq!(tidy(&journal, pictures).files, 0, "each was written a moment ago");
    make_old(home.path());
    let tidied = tidy(&journal, pictures);
    assert_eq!((tidied.files, tidied.bytes, tidied.more), (1, 3, false));
    assert_eq!([&old, &raw, &both, &needed].map(|blob| is_there(&journal, blob)), [false, true, true, true]);
    // It is seen again: it is there again, and goes again.
    end(&journal, &open);
    seen(&journal, &done, b"old");
    assert!(is_there(&journal, &old));
    make_old(home.path());
    assert_eq!(tidy(&journal, pictures).files, 2);
    assert_eq!(tidy(&journal, pictures), Tidied::default());
}

#[test]
fn the_oldest_pictures_go_until_the_rest_is_small_enough() {
    let (home, journal) = journal();
    let of = scope("1", "1");
    append(&journal, of.clone(), created("one")).unwrap();
    let pictures: Vec<BlobRef> = (0..5).map(|n| seen(&journal, &of, &[n; 100])).collect();
    // The first one is seen once more: it is the newest.
    seen(&journal, &of, &[0; 100]);
    make_old(home.path());
    let tidied = tidy(&journal, Tidy { picture_bytes: Some(250), ..Tidy::default() });
    assert_eq!((tidied.files, tidied.bytes), (3, 300));
    let left: Vec<bool> = pictures.iter().map(|blob| is_there(&journal, blob)).collect();
    assert_eq!(left, [true, false, false, false, true]);
}

#[test]
fn a_kill_between_the_rows_and_the_files_leaves_nothing_behind() {
    let (home, journal) = journal();
    append(&journal, scope("1", "1"), created("one")).unwrap();
    let own = seen(&journal, &scope("1", "1"), b"own");
    append(&journal, scope("1", "1"), EventBody::SessionDeleted).unwrap();
    // The file was just written: it stays, as after a kill.
    assert_eq!(tidy(&journal, Tidy { deleted_before: ALL, ..Tidy::default() }).files, 0);
    assert!(is_there(&journal, &own));
    drop(journal);
    make_old(home.path());
    let journal = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    assert_eq!(tidy(&journal, Tidy::default()).files, 1);
    assert!(!is_there(&journal, &own));
}

#[test]
fn all_of_many_events_are_written_or_none() {
    let (_home, journal) = journal();
    let copied = |body| crate::Copied { time: Timestamp(7), scope: scope("1", "1"), body };
    let bad = EventBody::StatusChanged { status: Default::default() };
    let all = vec![copied(created("one")), copied(bad)];
    assert!(block(journal.append_all(all)).unwrap_err().is_about_the_data());
    assert_eq!(journal.last_seq(), Seq(0));
    let last = block(journal.append_all(vec![copied(created("one")), copied(noted("n"))])).unwrap();
    assert_eq!((last.seq(), last.time), (Seq(2), Timestamp(7)));
}
