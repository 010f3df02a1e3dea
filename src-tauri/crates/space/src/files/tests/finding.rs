//! Names by globs, lines by patterns, as `.gitignore` says.

use super::{Stage, go_on};
use crate::files::{Case, FileError, Query, SpacePath};

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write(".gitignore", "target/\n*.log\n!keep.log\n");
    stage.write("src/main.rs", "fn main() {\n    let Needle = 1;\n    needle();\n}\n");
    stage.write("src/lib.rs", "// nothing\n");
    stage.write("src/.gitignore", "/generated\n");
    stage.write("src/generated/a.rs", "needle\n");
    stage.write("src/b.log", "");
    stage.write("src/keep.log", "");
    stage.write("generated/b.rs", "needle\n");
    stage.write("target/c.rs", "needle\n");
    stage.write("a.log", "needle\n");
    stage.write("keep.log", "needle\n");
    stage.write(".git/config", "needle\n");
    stage.write("binary.bin", "needle\nneedle\n\0\0");
    stage
}

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.into(),
        literal: false,
        case: Case::Smart,
        under: SpacePath::root(),
        globs: vec![],
        context: 0,
        limit: 100,
        ignored_too: false,
    }
}

#[test]
fn globs_find_names_in_order_without_what_is_ignored() {
    let stage = stage();
    let glob = |pattern: &str, under: &str, all| {
        let found = stage.space.glob(pattern, &stage.path(under), all, 100, &go_on).unwrap();
        found.paths.into_iter().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(glob("*.rs", ".", false), ["generated/b.rs", "src/lib.rs", "src/main.rs"]);
    assert_eq!(glob("src/*", ".", false), ["src/.gitignore", "src/keep.log", "src/lib.rs", "src/main.rs"]);
    assert_eq!(glob("**/*.{log,bin}", ".", false), ["binary.bin", "keep.log", "src/keep.log"]);
    assert_eq!(glob("*.rs", "src", false), ["src/lib.rs", "src/main.rs"]);
    assert_eq!(
        glob("*.rs", "src/generated", false),
        ["src/generated/a.rs"],
        "a folder that is named is looked into, ignored or not"
    );
    assert_eq!(glob("*.log", "src", false), ["src/keep.log"], "rules of the folders above hold");
    assert_eq!(glob("a.*", ".", true), ["a.log", "src/generated/a.rs"]);
    let few = stage.space.glob("*", &SpacePath::root(), true, 3, &go_on).unwrap();
    assert_eq!((few.paths.len(), few.more), (3, true));
    let bad = stage.space.glob("a[", &SpacePath::root(), true, 3, &go_on);
    assert!(matches!(bad, Err(FileError::Pattern { .. })));
}

#[test]
fn a_search_finds_lines_with_their_numbers_and_says_what_it_skipped() {
    let stage = stage();
    let found = stage.space.search(&query("needle"), &go_on).unwrap();
    let lines: Vec<String> = found
        .files
        .iter()
        .flat_map(|file| {
            file.lines.iter().map(move |line| format!("{}:{}:{}", file.path, line.number, line.text))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "generated/b.rs:1:needle",
            "keep.log:1:needle",
            "src/main.rs:2:    let Needle = 1;",
            "src/main.rs:3:    needle();"
        ]
    );
    assert_eq!((found.matches, found.more, found.skipped.binary), (4, false, 1));
    let one = stage
        .space
        .search(&Query { globs: vec!["*.rs".into()], context: 1, ..query("Needle") }, &go_on)
        .unwrap();
    let lines: Vec<_> = one.files[0].lines.iter().map(|line| (line.number, line.matches)).collect();
    assert_eq!(lines, [(1, false), (2, true), (3, false)]);
    let limited = stage.space.search(&Query { limit: 2, ..query("needle") }, &go_on).unwrap();
    assert_eq!((limited.matches, limited.more), (2, true));
    let file =
        stage.space.search(&Query { under: stage.path("target/c.rs"), ..query("needle") }, &go_on).unwrap();
    assert_eq!(file.matches, 1, "a file that is named is searched, ignored or not");
    let literal = stage.space.search(&Query { literal: true, ..query("needle()") }, &go_on).unwrap();
    assert_eq!(literal.matches, 1);
    assert!(matches!(stage.space.search(&query("a("), &go_on), Err(FileError::Pattern { .. })));
    assert!(matches!(stage.space.search(&query("needle"), &|| true), Err(FileError::Stopped)));
}

#[test]
fn a_listing_tells_kinds_sizes_and_targets() {
    let stage = stage();
    std::os::unix::fs::symlink("src", stage.at("link")).unwrap();
    let list = stage.space.list(&SpacePath::root(), None, 100, &go_on).unwrap();
    let shown: Vec<String> = list
        .entries
        .iter()
        .map(|e| format!("{} {} {} {}", e.name, e.kind, e.bytes, e.target.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(
        shown,
        [
            ".git folder 0 -",
            ".gitignore file 24 -",
            "a.log file 7 -",
            "binary.bin file 16 -",
            "generated folder 0 -",
            "keep.log file 7 -",
            "link symbolic link 0 src",
            "src folder 0 -",
            "target folder 0 -",
        ]
    );
    assert_eq!((list.total, list.counted), (9, true));
}
