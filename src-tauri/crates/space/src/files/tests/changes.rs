//! Writing, editing, moving, copying: what they do, and what they refuse.

use super::{Stage, go_on};
use crate::files::{Content, Edit, EditError, FileError, WriteMode};

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.into(), new: new.into(), every: false }
}

fn wrong(result: Result<impl std::fmt::Debug, FileError>) -> EditError {
    match result {
        Err(FileError::Edit { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edit_must_fit_exactly_once_and_says_what_is_there_instead() {
    let stage = Stage::new();
    let text = "fn main() {\n    let total = 1;\n    print(total);\n    print(total);\n}\n";
    stage.write("a.rs", text);
    let path = stage.path("a.rs");
    let try_edits = |edits: &[Edit]| stage.changes().write(&path, Content::Edits(edits), WriteMode::Replace);
    let missing = wrong(try_edits(&[edit("let totl = 1;", "x")]));
    let EditError::NotFound { edit: 1, nearest: Some(near) } = &missing else { panic!("{missing:?}") };
    assert_eq!((near.line, near.text.as_str()), (2, "    let total = 1;"));
    assert_eq!(
        missing.to_string(),
        "edit 1: the old text is not in the file; the nearest is line 2: \"    let total = 1;\""
    );
    let many = wrong(try_edits(&[edit("print(total);", "x")]));
    assert_eq!(many, EditError::Many { edit: 1, count: 2, lines: vec![3, 4] });
    assert_eq!(wrong(try_edits(&[edit("", "x")])), EditError::Empty { edit: 1 });
    assert_eq!(wrong(try_edits(&[edit("main", "main")])), EditError::Same { edit: 1 });
    // All or none: the second does not fit.
    assert!(matches!(
        wrong(try_edits(&[edit("main", "start"), edit("none", "x")])),
        EditError::NotFound { edit: 2, .. }
    ));
    assert_eq!(stage.text("a.rs"), text);
    try_edits(&[edit("main", "start"), Edit { every: true, ..edit("print(total)", "show(total)") }]).unwrap();
    assert_eq!(
        stage.text("a.rs"),
        "fn start() {\n    let total = 1;\n    show(total);\n    show(total);\n}\n"
    );
}

#[test]
fn line_ends_and_encodings_stay_as_they_are() {
    let stage = Stage::new();
    stage.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
    let write = |name: &str, content: Content<'_>| {
        stage.changes().write(&stage.path(name), content, WriteMode::Replace).unwrap()
    };
    write("dos.txt", Content::Edits(&[edit("one\ntwo", "1\n2")]));
    assert_eq!(stage.text("dos.txt"), "1\r\n2\r\nthree\r\n");
    write("dos.txt", Content::Patch("--- a\n+++ b\n@@ -2,2 +2,2 @@\n 2\n-three\n+3\n"));
    assert_eq!(stage.text("dos.txt"), "1\r\n2\r\n3\r\n");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    stage.write("wide.txt", utf16("\u{feff}Grüße\n"));
    write("wide.txt", Content::Edits(&[edit("Grüße", "Küsse 🎉")]));
    assert_eq!(std::fs::read(stage.at("wide.txt")).unwrap(), utf16("\u{feff}Küsse 🎉\n"));
    stage.write("latin.txt", b"Gr\xfc\xdfe\n");
    let edits = [edit("Gr", "K")];
    let latin = stage.changes().write(&stage.path("latin.txt"), Content::Edits(&edits), WriteMode::Replace);
    assert!(
        matches!(latin, Err(FileError::NotText { .. })),
        "a text that cannot be written back is not edited"
    );
}

#[test]
fn a_patch_fits_where_its_lines_are_and_nowhere_else() {
    let stage = Stage::new();
    stage.write("a.txt", "new head\none\ntwo\nthree\nfour\n");
    let patch =
        |text: &str| stage.changes().write(&stage.path("a.txt"), Content::Patch(text), WriteMode::Replace);
    patch("--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n").unwrap();
    assert_eq!(stage.text("a.txt"), "new head\none\n2\nthree\nfour\n");
    assert!(matches!(
        wrong(patch("--- a\n+++ a\n@@ -1,2 +1,2 @@\n nowhere\n-two\n+2\n")),
        EditError::NoFit { .. }
    ));
    assert!(matches!(wrong(patch("change two into three, please")), EditError::BadPatch { .. }));
}

#[test]
fn a_preview_shows_what_a_change_would_do_and_does_nothing() {
    let stage = Stage::new();
    stage.write("a.txt", "one\ntwo\nthree\n");
    let before = stage.picture();
    let show = |path: &str, content: Content<'_>| {
        stage.space.preview(&stage.path(path), content, WriteMode::Either).unwrap()
    };
    let diff = show("a.txt", Content::Edits(&[edit("two", "2")]));
    assert_eq!(diff.text, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!((diff.added, diff.removed, diff.new, diff.cut), (1, 1, false, false));
    let new = show("not/yet/b.txt", Content::Whole(b"x"));
    assert_eq!(new.text, "@@ -0,0 +1 @@\n+x\n\\ no line end at the end of the file\n");
    assert!(new.new);
    assert!(show("a.txt", Content::Whole(b"\0\x01")).opaque);
    let long: String = (0..100_000).map(|n| format!("{n}\n")).collect();
    let long = show("a.txt", Content::Whole(long.as_bytes()));
    assert!(long.cut && long.text.len() < 70_000, "{}", long.text.len());
    assert_eq!((long.added, long.removed), (100_000, 3));
    assert_eq!(stage.picture(), before);
}

#[test]
fn modes_and_names_that_are_taken_are_refused() {
    let stage = Stage::new();
    stage.write("a.txt", "a");
    stage.write("b.txt", "b");
    stage.write("folder/c.txt", "c");
    let before = stage.picture();
    let changes = stage.changes();
    let p = |path: &str| stage.path(path);
    let write = |path: &str, mode| changes.write(&p(path), Content::Whole(b"x"), mode).map(|_| ());
    assert!(matches!(write("a.txt", WriteMode::Create), Err(FileError::Exists { .. })));
    assert!(matches!(write("none/new.txt", WriteMode::Replace), Err(FileError::Missing { .. })));
    assert!(matches!(write("folder", WriteMode::Either), Err(FileError::NotAFile { .. })));
    assert!(matches!(write("a.txt/b", WriteMode::Either), Err(FileError::NotAFolder { .. })));
    assert!(matches!(write(".", WriteMode::Either), Err(FileError::WholeSpace { .. })));
    assert!(matches!(changes.make_folder(&p("folder")), Err(FileError::Exists { .. })));
    assert!(matches!(changes.move_to(&p("a.txt"), &p("b.txt")), Err(FileError::Exists { .. })));
    assert!(matches!(changes.move_to(&p("none"), &p("new/place")), Err(FileError::Missing { .. })));
    assert!(matches!(
        changes.move_to(&p("folder"), &p("folder/in/itself")),
        Err(FileError::IntoItself { .. })
    ));
    assert!(matches!(changes.copy(&p("folder"), &p("folder/in/itself")), Err(FileError::IntoItself { .. })));
    assert!(matches!(changes.copy(&p("a.txt"), &p("b.txt")), Err(FileError::Exists { .. })));
    assert!(matches!(changes.copy(&p("none"), &p("new/place")), Err(FileError::Missing { .. })));
    for path in [".", "folder/.."] {
        assert!(matches!(changes.trash(&p(path)), Err(FileError::WholeSpace { .. })));
        assert!(matches!(changes.move_to(&p(path), &p("x")), Err(FileError::WholeSpace { .. })));
    }
    assert_eq!(stage.picture(), before, "and no folder made for them is left");
}

#[test]
fn a_stop_leaves_no_half_copy() {
    let stage = Stage::new();
    for number in 0..50 {
        stage.write(&format!("folder/{number}.txt"), "x");
    }
    let before = stage.picture();
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 20;
    let copy = stage.space.changes(&stage.keep, &stop).copy(&stage.path("folder"), &stage.path("new/copy"));
    assert!(matches!(copy, Err(FileError::Stopped)));
    assert_eq!(stage.picture(), before);
}

#[test]
fn what_is_in_the_trash_is_found_by_the_desktop() {
    let stage = Stage::new();
    let trash = stage.dir.path().join("home/.local/share/Trash");
    for (number, content) in [(1, "one"), (2, "two")] {
        stage.write("a b.txt", content);
        stage.changes().trash(&stage.path("a b.txt")).unwrap();
        let name = if number == 1 { "a b.txt".to_owned() } else { "a b.txt 2".to_owned() };
        assert_eq!(std::fs::read_to_string(trash.join("files").join(&name)).unwrap(), content);
        let note = std::fs::read_to_string(trash.join("info").join(format!("{name}.trashinfo"))).unwrap();
        let lines: Vec<&str> = note.lines().collect();
        assert_eq!(lines[0], "[Trash Info]");
        assert!(lines[1].starts_with("Path=/") && lines[1].ends_with("/home/mia/a%20b.txt"), "{note}");
        assert!(lines[2].starts_with("DeletionDate=20") && lines[2].len() == 32, "{note}");
    }
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(trash.join("files")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}: others may not look into it");
}

#[test]
fn a_file_written_by_somebody_else_between_reading_and_writing_stays() {
    struct Meddles<'a>(&'a Stage);
    impl crate::files::Keep for Meddles<'_> {
        fn keep(&self, bytes: &mut dyn std::io::Read) -> std::io::Result<String> {
            self.0.keep.keep(bytes)
        }
        fn open(&self, name: &str) -> std::io::Result<Box<dyn std::io::Read>> {
            self.0.keep.open(name)
        }
        fn intend(&self, _: &crate::files::Change) -> std::io::Result<()> {
            std::fs::write(self.0.at("a.txt"), "by the user")
        }
    }
    let stage = Stage::new();
    stage.write("a.txt", "before");
    let meddles = Meddles(&stage);
    let changes = stage.space.changes(&meddles, &go_on);
    let result = changes.write(&stage.path("a.txt"), Content::Whole(b"by the agent"), WriteMode::Either);
    assert!(matches!(result, Err(FileError::Changed { .. })), "{result:?}");
    assert_eq!(stage.text("a.txt"), "by the user");
    assert_eq!(stage.picture().len(), 1);
}
