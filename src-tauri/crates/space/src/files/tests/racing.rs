//! A thread that swaps a folder for a link to a place outside, as fast as it can, during each operation.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{SECRET, Stage, go_on};
use crate::files::{Case, Content, Query, Range, WriteMode};

/// In all; each operation has its part of them.
const FLIPS: u64 = 100_000;

// bar: C4
#[test]
fn a_folder_swapped_for_a_link_a_hundred_thousand_times_lets_nothing_out() {
    let stage = Stage::new();
    stage.write("swap/secret.txt", "inside");
    stage.write("swap/deep/secret.txt", "inside");
    std::fs::create_dir(stage.outside("deep")).unwrap();
    std::fs::write(stage.outside("deep/secret.txt"), SECRET).unwrap();
    symlink(stage.outside(""), stage.at("link")).unwrap();
    let (folder, link) = (stage.at("swap"), stage.at("link"));
    let (flips, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let flip = || {
        while !ended.load(Ordering::Relaxed) {
            renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            flips.fetch_add(1, Ordering::Relaxed);
        }
    };
    let p = |path: &str| stage.path(path);
    let (secret, deep, new) = (p("swap/secret.txt"), p("swap/deep/secret.txt"), p("swap/new.txt"));
    let changes = stage.changes();
    let query = Query {
        pattern: "outside".into(),
        literal: true,
        case: Case::Smart,
        under: p("swap"),
        globs: vec![],
        context: 0,
        limit: 9,
        ignored_too: true,
    };
    let read = |path| match stage.space.read(path, Range::default(), &go_on) {
        Ok(reading) => {
            assert!(!format!("{reading:?}").contains(SECRET), "an escape");
            true
        }
        Err(_) => false,
    };
    // The way back meets the link as often; what is undone in the end is what counts.
    let back = |change: &crate::files::Change| {
        assert!((0..1_000_000).any(|_| changes.undo(change).is_ok()), "{change:?} cannot be undone");
    };
    type Operation<'a> = (&'a str, Box<dyn Fn() -> bool + 'a>);
    let operations: Vec<Operation<'_>> = vec![
        ("read", Box::new(|| read(&secret))),
        ("read deeper", Box::new(|| read(&deep))),
        (
            "list",
            Box::new(|| {
                stage
                    .space
                    .list(&p("swap"), None, 10, &go_on)
                    .map(|list| assert!(list.entries.iter().all(|e| e.bytes <= 6), "an escape"))
                    .is_ok()
            }),
        ),
        (
            "search",
            Box::new(|| {
                stage
                    .space
                    .search(&query, &go_on)
                    .map(|found| assert_eq!(found.matches, 0, "an escape"))
                    .is_ok()
            }),
        ),
        (
            "search from above",
            Box::new(|| {
                let query = Query { under: p("."), ..query.clone() };
                stage
                    .space
                    .search(&query, &go_on)
                    .map(|found| assert_eq!(found.matches, 0, "an escape"))
                    .is_ok()
            }),
        ),
        ("glob", Box::new(|| stage.space.glob("*", &p("swap"), true, 10, &go_on).is_ok())),
        ("write", Box::new(|| changes.write(&secret, Content::Whole(b"inside"), WriteMode::Either).is_ok())),
        ("append", Box::new(|| changes.write(&new, Content::Append(b""), WriteMode::Either).is_ok())),
        (
            "make a folder, undone",
            Box::new(|| changes.make_folder(&p("swap/folder")).map(|change| back(&change)).is_ok()),
        ),
        (
            "copy, undone",
            Box::new(|| {
                let Ok(change) = changes.copy(&p("swap/deep"), &p("copy")) else { return false };
                assert_eq!(stage.text("copy/secret.txt"), "inside", "an escape");
                changes.undo(&change).is_ok()
            }),
        ),
        (
            "move, and back",
            Box::new(|| {
                let Ok(change) = changes.move_to(&secret, &p("moved.txt")) else { return false };
                assert_eq!(stage.text("moved.txt"), "inside", "an escape");
                back(&change);
                true
            }),
        ),
        (
            "trash, and back",
            Box::new(|| {
                let Ok(change) = changes.trash(&deep) else { return false };
                back(&change);
                true
            }),
        ),
    ];
    std::thread::scope(|scope| {
        scope.spawn(flip);
        for (name, operation) in &operations {
            let until = flips.load(Ordering::Relaxed) + FLIPS / operations.len() as u64 + 1;
            let (mut tried, mut done) = (0, 0);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                while flips.load(Ordering::Relaxed) < until || done < 3 {
                    tried += 1;
                    done += u32::from(operation());
                }
            }));
            if let Err(panic) = result {
                ended.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
            println!("{name}: {tried} tries, {done} done, the others refused");
        }
        ended.store(true, Ordering::Relaxed);
    });
    let names = |path| {
        let mut names: Vec<_> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(stage.outside("")), ["deep", "secret.txt"]);
    assert_eq!(names(stage.outside("deep")), ["secret.txt"]);
    for path in ["secret.txt", "deep/secret.txt"] {
        assert_eq!(std::fs::read_to_string(stage.outside(path)).unwrap(), SECRET);
    }
}
