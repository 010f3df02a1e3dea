//! What is read of an old `.env`, and what is left alone.

use super::super::fake::{FakeStore, Fault};
use super::*;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".env");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

const TEXT: &str = "# mine\nEDITOR=vi\nexport GEMINI_API_KEY=\"abc\" # old\r\nOPENAI_API_KEY='d e'\n\nLAST=1";

#[test]
fn keys_go_to_the_keychain_and_only_their_lines_go_from_the_file() {
    let (_folder, path) = file(TEXT);
    let store = FakeStore::default();
    let done = migrate(&path, &store);
    assert!(matches!(done[..], [Migrated::Moved { .. }, Migrated::Left { .. }]), "{done:?}");
    assert_eq!(store.get("gemini").unwrap(), Some(Secret("abc".into())));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\nEDITOR=vi\nOPENAI_API_KEY='d e'\n\nLAST=1");
    assert!(matches!(migrate(&path, &store)[..], [Migrated::Left { .. }]));
}

#[test]
fn each_providers_key_goes_where_that_one_is_looked_for() {
    let (_folder, path) = file("OPENAI_API_KEY=sk-1\nANTHROPIC_API_KEY=sk-2\nGROQ_API_KEY=sk-3\n");
    let store = FakeStore::default();
    assert_eq!(migrate(&path, &store).len(), 2);
    assert_eq!(store.get("openai").unwrap(), Some(Secret("sk-1".into())));
    assert_eq!(store.get("anthropic").unwrap(), Some(Secret("sk-2".into())));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "GROQ_API_KEY=sk-3\n");
}

#[test]
fn a_hash_is_a_comment_only_after_a_blank() {
    let value = |line: &str| value_of(line, "GEMINI_API_KEY").unwrap().map(|key| key.0);
    assert_eq!(value("GEMINI_API_KEY=abc#def").as_deref(), Some("abc#def"));
    assert_eq!(value("GEMINI_API_KEY=abc # def").as_deref(), Some("abc"));
    assert_eq!(value("GEMINI_API_KEY = 'a#b'\t# def").as_deref(), Some("a#b"));
    assert_eq!(value("GEMINI_API_KEY= # none"), None);
    assert_eq!(value("GEMINI_API_KEY=''"), None);
}

#[test]
fn what_can_be_read_in_two_ways_is_left_and_said() {
    for text in [
        "GEMINI_API_KEY=#abc\n",
        "GEMINI_API_KEY=\"abc\n",
        "GEMINI_API_KEY='abc'def\n",
        "GEMINI_API_KEY='abc'#def\n",
        "GEMINI_API_KEY=\"a\\nb\"\n",
        "GEMINI_API_KEY=$OTHER\n",
        "GEMINI_API_KEY=abc def\n",
        "GEMINI_API_KEY='abc def'\n",
        "GEMINI_API_KEY=abc\nGEMINI_API_KEY=def\n",
        "GEMINI_API_KEY=abc\nGEMINI_API_KEY=\n",
        "NOTE=\"first\nGEMINI_API_KEY=abc\nlast\"\n",
    ] {
        let (_folder, path) = file(text);
        let store = FakeStore::default();
        let done = migrate(&path, &store);
        assert!(matches!(done[..], [Migrated::Left { .. }]), "{text}: {done:?}");
        assert!(!format!("{done:?}").contains("abc"), "{done:?}");
        assert!(store.kept.lock().unwrap().is_empty(), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn the_same_value_twice_is_one_key() {
    let (_folder, path) = file("GEMINI_API_KEY=abc\nA=1\nexport GEMINI_API_KEY='abc'\n");
    assert!(matches!(migrate(&path, &FakeStore::default())[..], [Migrated::Moved { .. }]));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "A=1\n");
}

#[cfg(unix)]
#[test]
fn the_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;

    let (_folder, path) = file("GEMINI_API_KEY=abc\nA=1\n");
    for mode in [0o644, 0o600] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        std::fs::write(&path, "GEMINI_API_KEY=abc\nA=1\n").unwrap();
        assert!(matches!(migrate(&path, &FakeStore::default())[..], [Migrated::Moved { .. }]));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn a_keychain_that_fails_forgets_or_garbles_leaves_the_file_untouched() {
    for fault in [Fault::Locked, Fault::Absent, Fault::Forgets, Fault::Garbles] {
        let (_folder, path) = file(TEXT);
        let done = migrate(&path, &FakeStore::failing(fault));
        assert!(done.iter().all(|one| matches!(one, Migrated::Left { .. })), "{fault:?}: {done:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TEXT, "{fault:?}");
        assert!(!format!("{done:?}").contains("abc"));
    }
}

#[test]
fn another_key_in_the_keychain_is_never_overwritten() {
    let (_folder, path) = file("GEMINI_API_KEY=new\n");
    let store = FakeStore::default();
    store.set("gemini", &Secret("old".into())).unwrap();
    assert!(matches!(migrate(&path, &store)[..], [Migrated::Left { .. }]));
    assert_eq!(store.get("gemini").unwrap(), Some(Secret("old".into())));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "GEMINI_API_KEY=new\n");
}

#[test]
fn a_removal_cut_short_is_finished_the_next_time() {
    let (_folder, path) = file("GEMINI_API_KEY=abc\n");
    let store = FakeStore::default();
    store.set("gemini", &Secret("abc".into())).unwrap();
    assert!(matches!(migrate(&path, &store)[..], [Migrated::Moved { .. }]));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn names_that_only_begin_alike_and_comments_are_left_alone() {
    let text = "GEMINI_API_KEY_OLD=x\n#GEMINI_API_KEY=y\nGEMINI_API_KEY=\nMY_GEMINI_API_KEY=z\n";
    let (_folder, path) = file(text);
    assert!(migrate(&path, &FakeStore::default()).is_empty());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_missing_file_and_a_folder_are_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    assert!(migrate(&folder.path().join(".env"), &FakeStore::default()).is_empty());
    assert!(migrate(folder.path(), &FakeStore::default()).is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let (folder, path) = file("GEMINI_API_KEY=abc\n");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(migrate(&link, &FakeStore::default()).is_empty());
}
