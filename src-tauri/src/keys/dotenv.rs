//! Taking keys over from an old `.env` file: into the keychain, read back equal, and only then out of the file.
//!
//! Other lines are kept byte for byte. A key that the keychain holds differently is left in the file and said.

use std::io;
use std::path::{Path, PathBuf};

use protocol::command::Secret;

use super::store::KeyStore;
use super::{KNOWN, store_and_compare};
use crate::atomic_file;

/// Names that old files used, and whose keys they are; the first of a provider goes first.
const NAMES: [(&str, &str); 6] = [
    ("GEMINI_API_KEY", KNOWN[0]),
    ("GOOGLE_API_KEY", KNOWN[0]),
    ("ANTHROPIC_API_KEY", KNOWN[1]),
    ("OPENAI_API_KEY", KNOWN[2]),
    ("OPENROUTER_API_KEY", KNOWN[3]),
    ("XAI_API_KEY", KNOWN[4]),
];

/// Longest file that is looked at; a `.env` is a few lines.
const MAX_BYTES: u64 = 1024 * 1024;

/// What came of one key in the file. Holds no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Migrated {
    /// In the keychain, and its line is gone.
    Moved { name: String, provider: String, file: PathBuf },
    /// Still in the file; the reason says why.
    Left { name: String, file: PathBuf, reason: String },
}

/// Moves every key of `file` into `store`. A missing file is nothing to do.
pub fn migrate(file: &Path, store: &dyn KeyStore) -> Vec<Migrated> {
    let mut done = Vec::new();
    for (name, provider) in NAMES {
        // Read anew for each key: the file may be edited meanwhile, and each removal is a write of its own.
        let Some(text) = read(file) else { return done };
        let Some(key) = value_of(&text, name) else { continue };
        let left = |reason: String| Migrated::Left { name: name.into(), file: file.to_owned(), reason };
        done.push(match keep(store, provider, &key) {
            Err(reason) => left(reason),
            Ok(()) => match atomic_file::replace(file, without(&text, name).as_bytes()) {
                Ok(()) => {
                    Migrated::Moved { name: name.into(), provider: provider.into(), file: file.to_owned() }
                }
                Err(error) => {
                    left(format!("it is in the keychain, but the file cannot be rewritten: {error}"))
                }
            },
        });
    }
    done
}

/// The file's text; nothing where it is missing, no plain file, too long or no text, which is then not ours to touch.
fn read(file: &Path) -> Option<String> {
    match std::fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_BYTES => {}
        Ok(_) => return None,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!("{} cannot be looked at: {error}", file.display());
            }
            return None;
        }
    }
    std::fs::read_to_string(file).ok()
}

fn keep(store: &dyn KeyStore, provider: &str, key: &Secret) -> Result<(), String> {
    match store.get(provider) {
        Ok(Some(kept)) if kept == *key => Ok(()),
        Ok(Some(_)) => Err(format!("the keychain has another key for {provider}; delete one of the two")),
        Ok(None) => store_and_compare(store, provider, key).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The last line that sets `name` counts, as a shell would have it.
fn value_of(text: &str, name: &str) -> Option<Secret> {
    text.lines()
        .rev()
        .find_map(|line| assignment(line, name))
        .filter(|value| !value.is_empty())
        .map(|v| Secret(v.into()))
}

/// `text` without the lines that set `name`; every other byte as it was.
fn without(text: &str, name: &str) -> String {
    text.split_inclusive('\n').filter(|line| assignment(line, name).is_none()).collect()
}

/// The value in `NAME=value`, `export NAME="value"`, `NAME='value' # comment`.
fn assignment<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let value = line.strip_prefix(name)?.trim_start().strip_prefix('=')?.trim_start();
    Some(match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
        _ => value.split([' ', '\t', '#']).next().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeStore, Fault};
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    const TEXT: &str =
        "# mine\nEDITOR=vi\nexport GEMINI_API_KEY=\"abc\" # old\r\nOPENAI_API_KEY='d e'\n\nLAST=1";

    #[test]
    fn keys_go_to_the_keychain_and_only_their_lines_go_from_the_file() {
        let (_folder, path) = file(TEXT);
        let store = FakeStore::default();
        let done = migrate(&path, &store);
        assert_eq!(done.len(), 2);
        assert!(done.iter().all(|one| matches!(one, Migrated::Moved { .. })), "{done:?}");
        assert_eq!(store.get("gemini").unwrap(), Some(Secret("abc".into())));
        assert_eq!(store.get("openai").unwrap(), Some(Secret("d e".into())));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\nEDITOR=vi\n\nLAST=1");
        assert!(migrate(&path, &store).is_empty());
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
}
