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
mod tests;
