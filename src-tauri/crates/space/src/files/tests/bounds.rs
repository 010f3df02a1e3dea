//! Files and folders of absurd size: bounded memory, and what is left out is said.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use super::{Stage, go_on, places};
use crate::files::{Case, Content, FileError, Kind, Query, Range, Reading, Space, SpacePath, WriteMode};

const PLACE: &str = "MIKI_TEST_BOUNDS";

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.into(),
        literal: false,
        case: Case::Sensitive,
        under: SpacePath::root(),
        globs: vec![],
        context: 0,
        limit: 10,
        ignored_too: true,
    }
}

/// Runs in a process of its own that may have 256 MiB of address space in all.
#[test]
fn reads_what_is_huge_when_it_is_started_again() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let space = Space::open(&Path::new(&place).join("home/mia"), &places(Path::new(&place))).unwrap();
    let read = |path: &str, range| space.read(&space.path(path).unwrap(), range, &go_on).unwrap();
    assert!(matches!(read("sparse", Range::default()), Reading::Binary { bytes: 10_737_418_240, .. }));
    let Reading::Text(text) = read("begins-as-text", Range { lines: 3, ..Range::default() }) else {
        panic!()
    };
    assert_eq!(
        (text.text.as_str(), text.total, text.more, text.bytes),
        ("line\nline\nline\n", None, true, 10_737_418_240)
    );
    let Reading::Text(text) = read("line", Range::default()) else { panic!() };
    assert_eq!((text.lines, text.shortened, text.total, text.more), (1, 1, Some(1), false));
    assert!(
        text.text.len() < 2100 && text.text.ends_with("… [+104855599 bytes]\n"),
        "{}",
        &text.text[1990..]
    );
    let found = space.search(&query("needle"), &go_on).unwrap();
    assert_eq!((found.matches, found.skipped.binary, found.skipped.long_lines), (0, 2, 1));
    let keep = super::InMemory::default();
    let changes = space.changes(&keep, &go_on);
    for path in ["sparse", "begins-as-text", "line"] {
        let path = space.path(path).unwrap();
        let append = changes.write(&path, Content::Append(b"x"), WriteMode::Either);
        assert!(matches!(append, Err(FileError::TooLarge { .. })), "{append:?}");
        assert!(space.preview(&path, Content::Whole(b"x"), WriteMode::Either).unwrap().opaque);
    }
    println!("all read");
}

// bar: C9
#[test]
fn a_sparse_file_of_ten_gigabytes_and_a_line_of_a_hundred_megabytes_take_little_memory() {
    let stage = Stage::new();
    let sparse = |name: &str, text: &str| {
        let mut file = std::fs::File::create(stage.at(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_len(10 << 30).unwrap();
    };
    sparse("sparse", "");
    sparse("begins-as-text", &"line\n".repeat(10_000));
    std::fs::write(stage.at("line"), vec![b'x'; 100 << 20]).unwrap();
    let run = "ulimit -v 262144; exec \"$0\" --exact files::tests::bounds::reads_what_is_huge_when_it_is_started_again --nocapture";
    let output = Command::new("sh")
        .args(["-c", run])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, stage.dir.path())
        .env("RUST_TEST_THREADS", "1")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("all read"), "{output:?}");
}

// bar: C9
#[test]
fn a_folder_of_a_million_entries_is_listed_by_its_first_names() {
    // In memory: a disk takes a minute to make so many.
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let root = dir.path().join("home/mia");
    std::fs::create_dir_all(root.join("many")).unwrap();
    let first = root.join("many/0000000");
    std::fs::write(&first, "needle").unwrap();
    for number in 1..1_000_000 {
        std::fs::hard_link(&first, root.join(format!("many/{number:07}"))).unwrap();
    }
    let space = Space::open(&root, &places(dir.path())).unwrap();
    let many = space.path("many").unwrap();
    let list = space.list(&many, None, 3, &go_on).unwrap();
    let names: Vec<_> = list.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, list.total, list.counted), (vec!["0000000", "0000001", "0000002"], 1_000_000, true));
    let list = space.list(&many, Some("0999997"), 3, &go_on).unwrap();
    let names: Vec<_> = list.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["0999998", "0999999"]);
    let glob = space.glob("*", &many, true, 5, &go_on).unwrap();
    assert_eq!((glob.paths.len(), glob.more, glob.skipped.beyond), (5, true, 900_000));
    let keep = super::InMemory::default();
    let copy = space.changes(&keep, &go_on).copy(&many, &space.path("copy").unwrap());
    assert!(matches!(copy, Err(FileError::TooMany { .. })), "{copy:?}");
    assert!(matches!(space.can_undo(&many, &go_on), Ok(Err(crate::files::NoUndo::TooMany))));
    // Whoever stops it does not wait for it.
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 10;
    assert!(matches!(space.list(&many, None, 3, &stop), Err(FileError::Stopped)));
}

// bar: C9
#[test]
fn names_that_are_not_utf8_are_shown_and_marked_and_go_with_their_folder() {
    let stage = Stage::new();
    std::fs::create_dir(stage.at("folder")).unwrap();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(stage.at("folder").join(name), "needle").unwrap();
    let folder = stage.path("folder");
    let list = stage.space.list(&folder, None, 10, &go_on).unwrap();
    let entry = &list.entries[0];
    assert_eq!((entry.name.as_str(), entry.unnameable, entry.kind), ("caf\u{fffd}.txt", true, Kind::File));
    // It cannot be named: the shown name is another.
    assert!(matches!(
        stage.space.look(&stage.path("folder/caf\u{fffd}.txt")),
        Err(FileError::Missing { .. })
    ));
    let found = stage.space.search(&query("needle"), &go_on).unwrap();
    assert_eq!((found.matches, found.skipped.unnameable), (0, 1));
    let before = stage.picture();
    let changes = stage.changes();
    let done = [
        changes.copy(&folder, &stage.path("copy")).unwrap(),
        changes.move_to(&folder, &stage.path("moved")).unwrap(),
        changes.trash(&stage.path("copy")).unwrap(),
    ];
    assert_eq!(std::fs::read(stage.at("moved").join(name)).unwrap(), b"needle");
    for change in done.iter().rev() {
        changes.undo(change).unwrap();
    }
    assert_eq!(stage.picture(), before);
}

#[test]
fn a_deep_tree_ends_in_a_word_and_not_in_a_crash() {
    let stage = Stage::new();
    let mut at = stage.at("");
    for _ in 0..300 {
        at.push("d");
        std::fs::create_dir(&at).unwrap();
    }
    std::fs::write(at.join("needle.txt"), "needle").unwrap();
    let found = stage.space.search(&query("needle"), &go_on).unwrap();
    assert_eq!((found.matches, found.skipped.beyond), (0, 1));
    let copy = stage.changes().copy(&stage.path("d"), &stage.path("copy"));
    assert!(matches!(copy, Err(FileError::TooMany { .. })));
    assert!(!stage.at("copy").exists());
}
