//! Taking keys over from an old `.env` file: into the keychain, read back equal, and only then out of the file.
//!
//! Only keys under the names that their providers' own tools use, and only lines whose meaning is beyond doubt. Every
//! other line is kept byte for byte, and what is left is said with the reason.

use std::io;
use std::path::{Path, PathBuf};

use models::Provider;
use protocol::ErrorView;
use protocol::command::Secret;

use super::store::{KeyError, KeyStore};
use super::{could_be_a_key, store_and_compare};
use crate::atomic_file;

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

/// Moves every provider's key of `file` into `store`. A missing file is nothing to do.
pub fn migrate(file: &Path, store: &dyn KeyStore) -> Vec<Migrated> {
    let mut done = Vec::new();
    for (name, provider) in names() {
        // Read anew for each key: the file may be edited meanwhile, and each removal is a write of its own.
        let Some(text) = read(file) else { return done };
        let left = |reason: String| Migrated::Left { name: name.into(), file: file.to_owned(), reason };
        let key = match value_of(&text, name) {
            Ok(Some(key)) => key,
            Ok(None) => continue,
            Err(unclear) => {
                done.push(left(unclear.to_string()));
                continue;
            }
        };
        done.push(match keep(store, provider, &key) {
            Err(reason) => left(reason),
            Ok(()) => match atomic_file::rewrite(file, without(&text, name).as_bytes()) {
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

/// With what to do about it.
fn told(error: &KeyError, provider: &str) -> String {
    let ErrorView { message, hint, .. } = error.view(provider);
    hint.map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"))
}

/// Names under which keys are looked for, and whose they are; the first of a provider goes first.
fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |provider: &'static Provider| {
        provider.key_variables.iter().map(|name| (name.as_str(), provider.id.as_str()))
    };
    Provider::known().iter().flat_map(of)
}

/// The file's text; `None` if it is missing, no plain file, too long or no text, which is then not ours to touch.
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
        Ok(None) => store_and_compare(store, provider, key).map_err(|error| told(&error, provider)),
        Err(error) => Err(told(&error, provider)),
    }
}

/// Why a line is not taken for what it may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Unclear {
    #[error("its line can be read in more than one way; write it as NAME=key")]
    Line,
    #[error("it is set more than once, to different values; leave the right one")]
    Twice,
    #[error("a quote before it is not closed on its line, so that it may be part of another value")]
    OpenQuote,
    #[error("its value has blanks in it, which no key has")]
    NoKey,
}

/// The one value of `name`; `None` if it is not set, or empty.
fn value_of(text: &str, name: &str) -> Result<Option<Secret>, Unclear> {
    let mut found: Option<&str> = None;
    let mut open_quote = false;
    for line in text.lines() {
        let Some((of, value)) = assignment(line) else { continue };
        if of != name {
            open_quote |= opens_a_quote(value);
            continue;
        }
        if open_quote {
            return Err(Unclear::OpenQuote);
        }
        let value = plain(value).ok_or(Unclear::Line)?;
        if found.is_some_and(|before| before != value) {
            return Err(Unclear::Twice);
        }
        found = Some(value);
    }
    match found {
        None | Some("") => Ok(None),
        Some(value) if could_be_a_key(value) => Ok(Some(Secret(value.into()))),
        Some(_) => Err(Unclear::NoKey),
    }
}

/// `text` without the lines that set `name`; every other byte as it was.
fn without(text: &str, name: &str) -> String {
    text.split_inclusive('\n').filter(|line| assignment(line).is_none_or(|(of, _)| of != name)).collect()
}

/// The name and all that stands after the `=`, in `NAME=value` and `export NAME=value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    (!name.starts_with('#')).then_some((name, value))
}

/// The value in `value`, `"value"` and `'value'`, with a comment after a blank or without; `None` if a shell, or one
/// of the many readers of such files, might read something else.
fn plain(value: &str) -> Option<&str> {
    let start = value.trim_start();
    let (found, rest) = match start.chars().next() {
        None => return Some(""),
        Some('#') => return (start.len() < value.len()).then_some(""),
        Some(quote @ ('"' | '\'')) => start[1..].split_once(quote)?,
        Some(_) => start.split_at(start.find([' ', '\t']).unwrap_or(start.len())),
    };
    let only_a_comment =
        rest.trim().is_empty() || (rest.starts_with([' ', '\t']) && rest.trim().starts_with('#'));
    (only_a_comment && !found.contains(['"', '\'', '\\', '$', '`'])).then_some(found)
}

/// Whether a value goes on in the next line.
fn opens_a_quote(value: &str) -> bool {
    match value.trim_start().chars().next() {
        Some(quote @ ('"' | '\'')) => value.matches(quote).count() % 2 == 1,
        _ => false,
    }
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
        assert!(matches!(done[..], [Migrated::Moved { .. }, Migrated::Left { .. }]), "{done:?}");
        assert_eq!(store.get("gemini").unwrap(), Some(Secret("abc".into())));
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "# mine\nEDITOR=vi\nOPENAI_API_KEY='d e'\n\nLAST=1"
        );
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
}
