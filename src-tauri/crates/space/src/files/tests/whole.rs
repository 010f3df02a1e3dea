//! Killed or without space in the middle of a write: the old bytes or the new, never part. The test starts itself
//! again as the process that is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{InMemory, Stage, go_on, places};
use crate::files::{Content, FileError, Space, WriteMode};

/// Where the process that is started again works; it is not set in a run of the tests.
const PLACE: &str = "MIKI_TEST_PLACE";
const BYTES: usize = 400_000;

fn again(test: &str, before: &str) -> Command {
    let mut command = Command::new("sh");
    let me = std::env::current_exe().unwrap();
    let run = format!("{before} exec \"$0\" --exact files::tests::whole::{test} --nocapture");
    command.args(["-c", &run]).arg(me).stdin(Stdio::null());
    command
}

fn place() -> Option<String> {
    std::env::var(PLACE).ok()
}

/// The process that is killed: writes `a`s, then `b`s, for ever.
#[test]
fn writes_until_it_is_killed_when_it_is_started_again() {
    let Some(place) = place() else { return };
    let space = Space::open(&Path::new(&place).join("home/mia"), &places(Path::new(&place))).unwrap();
    let path = space.path("file.txt").unwrap();
    println!("writing");
    loop {
        for letter in [b'a', b'b'] {
            let keep = InMemory::default();
            let content = vec![letter; BYTES];
            space.changes(&keep, &go_on).write(&path, Content::Whole(&content), WriteMode::Either).unwrap();
        }
    }
}

// bar: C8
#[test]
fn a_write_that_is_killed_leaves_the_old_bytes_or_the_new() {
    let stage = Stage::new();
    stage.write("file.txt", vec![b'a'; BYTES]);
    let (mut old, mut new) = (0, 0);
    // More than 60, and later in each, where a busy disk let no write come to its end before.
    for round in 0..200_u64 {
        if round >= 60 && old > 0 && new > 0 {
            break;
        }
        let mut child = again("writes_until_it_is_killed_when_it_is_started_again", "")
            .env(PLACE, stage.dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("writing")));
        // At another point of a write each time.
        std::thread::sleep(Duration::from_micros(round * round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(stage.at("file.txt")).unwrap();
        assert_eq!(bytes.len(), BYTES, "round {round}");
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "round {round}: part of both");
        if bytes[0] == b'a' {
            old += 1
        } else {
            new += 1
        }
        for entry in std::fs::read_dir(stage.at("")).unwrap() {
            let entry = entry.unwrap();
            // Named, whole, and not yet in its place.
            assert_eq!(
                entry.metadata().unwrap().len(),
                BYTES as u64,
                "round {round}: {:?}",
                entry.file_name()
            );
        }
    }
    println!("kills: {old} times the one, {new} times the other");
    assert!(old > 0 && new > 0);
}

/// The process that has no space: every way of writing more fails, and the files are as they were.
#[test]
fn has_no_space_when_it_is_started_again() {
    let Some(place) = place() else { return };
    let space = Space::open(Path::new(&place), &places(Path::new("/nowhere"))).unwrap();
    let keep = InMemory::default();
    let changes = space.changes(&keep, &go_on);
    let path = space.path("file.txt").unwrap();
    let small = vec![b'a'; 100_000];
    changes.write(&path, Content::Whole(&small), WriteMode::Either).unwrap();
    let big = vec![b'b'; 1_000_000];
    let full = |result: Result<_, FileError>| {
        assert!(matches!(result, Err(FileError::DiskFull { .. })), "{result:?}")
    };
    full(changes.write(&path, Content::Whole(&big), WriteMode::Either));
    full(changes.write(&path, Content::Append(&big), WriteMode::Either));
    full(changes.write(&space.path("new/folder/file.txt").unwrap(), Content::Whole(&big), WriteMode::Create));
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["file.txt"]);
    assert_eq!(std::fs::read(Path::new(&place).join("file.txt")).unwrap(), small);
    println!("nothing changed");
}

/// The process whose Space is on a disk of its own: what is deleted stays on that disk.
#[test]
fn trashes_on_another_disk_when_it_is_started_again() {
    let Some(place) = place() else { return };
    let place = Path::new(&place);
    std::fs::create_dir_all(place.join("space/folder")).unwrap();
    std::fs::write(place.join("space/folder/a b.txt"), "a").unwrap();
    let mut places = places(Path::new("/nowhere"));
    places.trash = place.with_file_name("trash");
    let space = Space::open(&place.join("space"), &places).unwrap();
    let keep = InMemory::default();
    let changes = space.changes(&keep, &go_on);
    let change = changes.trash(&space.path("folder/a b.txt").unwrap()).unwrap();
    let trash = place.join(format!(".Trash-{}", rustix::process::getuid().as_raw()));
    assert_eq!(std::fs::read_to_string(trash.join("files/a b.txt")).unwrap(), "a");
    let note = std::fs::read_to_string(trash.join("info/a b.txt.trashinfo")).unwrap();
    assert!(note.contains("\nPath=space/folder/a%20b.txt\n"), "{note}");
    changes.undo(&change).unwrap();
    assert_eq!(std::fs::read_to_string(place.join("space/folder/a b.txt")).unwrap(), "a");
    println!("trashed and back");
}

/// Starts a test again with a small disk of its own at its place.
fn on_a_small_disk(test: &str) -> String {
    format!(
        "if [ -z \"$IN\" ]; then IN=1 exec unshare --map-root-user --mount sh -c \
         'mount -t tmpfs -o size=512k none \"$MIKI_TEST_PLACE\" && \
         exec \"$0\" --exact files::tests::whole::{test} --nocapture' \"$0\"; fi;"
    )
}

#[test]
fn what_is_on_another_disk_goes_into_the_trash_of_that_disk() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let test = "trashes_on_another_disk_when_it_is_started_again";
    let output = again(test, &on_a_small_disk(test)).env(PLACE, &place).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("trashed and back"), "{output:?}");
}

// bar: C8
#[test]
fn a_write_without_space_leaves_the_old_bytes_and_nothing_else() {
    let test = "has_no_space_when_it_is_started_again";
    // No file may be larger; nor may the disk.
    for limit in ["trap '' XFSZ; ulimit -f 400;", &on_a_small_disk(test)] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        std::fs::create_dir(&place).unwrap();
        let output = again(test, limit).env(PLACE, &place).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("nothing changed"), "{limit}: {output:?}");
    }
}
