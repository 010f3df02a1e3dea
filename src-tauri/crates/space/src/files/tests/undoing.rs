//! Every change taken back, and refused where somebody else was there since.

use super::Stage;
use crate::files::{Change, Content, Edit, FileError, NoUndo, WriteMode};

fn edit(old: &str, new: &str) -> Vec<Edit> {
    vec![Edit { old: old.into(), new: new.into(), every: false }]
}

#[test]
fn a_run_of_every_kind_of_change_is_undone_to_the_byte() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    stage.write("a.txt", "one\ntwo\n");
    stage.write("script.sh", "#!/bin/sh\n");
    std::fs::set_permissions(stage.at("script.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    stage.write("tree/deep/b.txt", "b");
    std::os::unix::fs::symlink("/nowhere", stage.at("tree/link")).unwrap();
    stage.write("gone/c.txt", "c");
    let before = stage.picture();
    let changes = stage.changes();
    let p = |path: &str| stage.path(path);
    let edits = edit("two", "2");
    let done = vec![
        changes.write(&p("a.txt"), Content::Edits(&edits), WriteMode::Replace).unwrap(),
        changes.write(&p("a.txt"), Content::Append(b"three\n"), WriteMode::Either).unwrap(),
        changes.write(&p("new/er/d.txt"), Content::Whole(b"d"), WriteMode::Create).unwrap(),
        changes.write(&p("script.sh"), Content::Whole(b"#!/bin/bash\n"), WriteMode::Replace).unwrap(),
        changes.make_folder(&p("folder/in/folder")).unwrap(),
        changes.move_to(&p("a.txt"), &p("folder/a.txt")).unwrap(),
        changes.copy(&p("tree"), &p("copies/tree")).unwrap(),
        changes.write(&p("copies/tree/deep/b.txt"), Content::Whole(b"B"), WriteMode::Replace).unwrap(),
        changes.move_to(&p("tree"), &p("forest")).unwrap(),
        changes.trash(&p("gone")).unwrap(),
        changes.trash(&p("forest/deep/b.txt")).unwrap(),
        changes.trash(&p("forest/link")).unwrap(),
    ];
    assert_eq!(stage.text("folder/a.txt"), "one\n2\nthree\n");
    assert_eq!(std::fs::metadata(stage.at("script.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(!stage.at("gone").exists());
    // As it comes back from the journal.
    let text = serde_json::to_string(&done).unwrap();
    let done: Vec<Change> = serde_json::from_str(&text).unwrap();
    for change in done.iter().rev() {
        let undone = changes.undo(change).unwrap_or_else(|e| panic!("{change:?}: {e}"));
        assert_eq!(undone.left, []);
    }
    assert_eq!(stage.picture(), before);
    let trash = stage.dir.path().join("home/.local/share/Trash");
    for part in ["files", "info"] {
        assert_eq!(std::fs::read_dir(trash.join(part)).unwrap().count(), 0, "{part}");
    }
}

#[test]
fn what_somebody_changed_since_is_not_undone() {
    let stage = Stage::new();
    stage.write("a.txt", "before");
    stage.write("folder/b.txt", "b");
    let changes = stage.changes();
    let p = |path: &str| stage.path(path);
    let wrote = changes.write(&p("a.txt"), Content::Whole(b"by the agent"), WriteMode::Either).unwrap();
    let made = changes.write(&p("new.txt"), Content::Whole(b"by the agent"), WriteMode::Either).unwrap();
    let copied = changes.copy(&p("folder"), &p("copy")).unwrap();
    let folder = changes.make_folder(&p("empty")).unwrap();
    let trashed = changes.trash(&p("folder")).unwrap();
    stage.write("a.txt", "by the user");
    stage.write("new.txt", "by the user");
    stage.write("copy/b.txt", "by the user");
    stage.write("empty/c.txt", "by the user");
    stage.write("folder/b.txt", "by the user");
    let users = stage.picture();
    for change in [&wrote, &made, &copied, &folder] {
        assert!(matches!(changes.undo(change), Err(FileError::Changed { path }) if path == *change.path()));
    }
    assert!(matches!(changes.undo(&trashed), Err(FileError::Exists { path }) if path == p("folder")));
    assert_eq!(stage.picture(), users);
}

#[test]
fn what_cannot_be_undone_is_known_and_refused_before_it_is_done() {
    let stage = Stage::new();
    let huge = std::fs::File::create(stage.at("huge.bin")).unwrap();
    huge.set_len(crate::files::MAX_KEPT + 1).unwrap();
    let path = stage.path("huge.bin");
    assert_eq!(stage.space.can_undo(&path, &super::go_on).unwrap(), Err(NoUndo::TooLarge));
    let write = stage.changes().write(&path, Content::Whole(b"x"), WriteMode::Either);
    assert!(matches!(write, Err(FileError::NoUndo { why: NoUndo::TooLarge, .. })));
    assert_eq!(std::fs::metadata(stage.at("huge.bin")).unwrap().len(), crate::files::MAX_KEPT + 1);
}

// bar: C8
#[test]
fn a_change_that_was_written_down_is_taken_back_whether_it_was_made_or_not() {
    for made in [false, true] {
        let stage = Stage::new();
        stage.write("a.txt", "one\n");
        stage.write("b.txt", "b");
        stage.write("tree/c.txt", "c");
        stage.write("gone.txt", "g");
        let before = stage.picture();
        stage.keep.dies_after_intent.set(!made);
        let changes = stage.changes();
        let p = |path: &str| stage.path(path);
        let done = [
            changes.write(&p("a.txt"), Content::Append(b"two\n"), WriteMode::Either),
            changes.write(&p("new/er/d.txt"), Content::Whole(b"d"), WriteMode::Create),
            changes.make_folder(&p("folder/in/it")),
            changes.move_to(&p("b.txt"), &p("moved/b.txt")),
            changes.copy(&p("tree"), &p("copies/tree")),
            changes.trash(&p("gone.txt")),
        ];
        assert!(done.iter().all(|change| change.is_ok() == made), "{done:?}");
        // As a kill leaves it: what was about to be put in its place, and the folders made for it.
        if !made {
            stage.write(".miki-new-0123456789abcdef", "one\ntwo\n");
            stage.write(".miki-new-another", "not of this change");
            std::fs::create_dir_all(stage.at("new/er")).unwrap();
        }
        let intended = stage.keep.intended.take();
        assert_eq!(intended.len(), done.len());
        let changes = stage.changes();
        for change in intended.iter().rev() {
            let undone = changes.undo(change).unwrap_or_else(|e| panic!("{made}, {change:?}: {e}"));
            assert_eq!(undone.left, []);
            // Again, as after a kill in the middle of taking back.
            changes.undo(change).unwrap_or_else(|e| panic!("{made}, again, {change:?}: {e}"));
        }
        if !made {
            std::fs::remove_file(stage.at(".miki-new-another")).unwrap();
        }
        assert_eq!(stage.picture(), before, "{made}");
    }
}

#[test]
fn a_file_whose_bytes_cannot_be_kept_is_not_changed() {
    let stage = Stage::new();
    stage.write("a.txt", "before");
    stage.keep.refuses.set(true);
    let result = stage.changes().write(&stage.path("a.txt"), Content::Whole(b"after"), WriteMode::Either);
    assert!(matches!(result, Err(FileError::Keep { .. })));
    assert_eq!(stage.text("a.txt"), "before");
}

#[test]
fn what_was_kept_and_is_damaged_is_not_put_back() {
    let stage = Stage::new();
    stage.write("a.txt", "before");
    let change =
        stage.changes().write(&stage.path("a.txt"), Content::Whole(b"after"), WriteMode::Either).unwrap();
    stage.keep.kept.borrow_mut().values_mut().for_each(|bytes| bytes.push(b'!'));
    assert!(matches!(stage.changes().undo(&change), Err(FileError::Keep { .. })));
    assert_eq!(stage.text("a.txt"), "after");
}
