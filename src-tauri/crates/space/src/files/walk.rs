//! All files below a folder, by handles, as `.gitignore` files see it.
//!
//! Of ripgrep's `ignore` the rules are taken, not its walk: that goes by paths, and a folder swapped for a link would
//! lead it out.

use std::io::Read;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Serialize;

use super::error::FileError;
use super::handle;
use super::kind::Kind;
use super::path::SpacePath;
use super::{Space, Stop};

/// Entries of one folder that are looked at; further ones are counted as skipped.
const ENTRIES: usize = 100_000;
/// Folders within folders.
const DEPTH: usize = 100;
/// The largest ignore file that is read.
const IGNORE_FILE: u64 = 256 * 1024;

/// What a walk or a search did not look at, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Symbolic links, pipes, sockets and devices.
    pub special: u64,
    /// Files and folders without permission, or gone meanwhile.
    pub unreadable: u64,
    /// Names that are not UTF-8.
    pub unnameable: u64,
    /// Entries of folders that have too many, and folders too deep.
    pub beyond: u64,
    /// Files with further names (hard links).
    pub hard_linked: u64,
    /// Files that are not text.
    pub binary: u64,
    /// Files with a line that is too long.
    pub long_lines: u64,
    /// Files that hold keys: whether they match would tell what is in them.
    pub secret: u64,
}

/// Which entries a walk meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignoring {
    /// What ignore files name, and `.git`, is left out.
    Ignored,
    Nothing,
}

struct Level {
    dir: Dir,
    path: SpacePath,
    ignore: Option<Gitignore>,
    /// Sorted backwards: the next is the last.
    left: Vec<(String, Kind)>,
}

/// What goes on after an entry.
pub(super) enum Then {
    On,
    End,
}

/// What is done with an entry: the handle of its folder, its path, what it is, and what was skipped so far.
type Meet<'a> = &'a mut dyn FnMut(&Dir, &SpacePath, Kind, &mut Skipped) -> Result<Then, FileError>;

/// Meets every file and folder below `under`, in the order of names, each with the handle of its folder.
pub(super) fn walk(
    space: &Space,
    under: &SpacePath,
    ignoring: Ignoring,
    stop: Stop<'_>,
    meet: Meet<'_>,
) -> Result<Skipped, FileError> {
    let mut skipped = Skipped::default();
    // Rules of the folders above hold, too.
    let mut levels = Vec::new();
    if ignoring == Ignoring::Ignored {
        let mut above = SpacePath::root();
        for name in under.parts() {
            let dir = space.folder(&above)?;
            let ignore = rules(&dir, &above);
            levels.push(Level { dir, path: above.clone(), ignore, left: Vec::new() });
            above = above.join(name);
        }
    }
    levels.push(level(space.folder(under)?, under.clone(), ignoring, stop, &mut skipped)?);
    while let Some(top) = levels.last_mut() {
        if stop() {
            return Err(FileError::Stopped);
        }
        let Some((name, kind)) = top.left.pop() else {
            levels.pop();
            continue;
        };
        let path = top.path.join(&name);
        if ignoring == Ignoring::Ignored
            && ((kind == Kind::Folder && name == ".git") || is_ignored(&levels, &path, kind))
        {
            continue;
        }
        let Some(top) = levels.last() else { break };
        match kind {
            Kind::File | Kind::Folder => {
                if let Then::End = meet(&top.dir, &path, kind, &mut skipped)? {
                    return Ok(skipped);
                }
            }
            _ => skipped.special += 1,
        }
        if kind == Kind::Folder {
            if levels.len() >= DEPTH {
                skipped.beyond += 1;
                continue;
            }
            match top.dir.open_dir_nofollow(&name) {
                Ok(dir) => {
                    let next = level(dir, path, ignoring, stop, &mut skipped)?;
                    levels.push(next);
                }
                Err(_) => skipped.unreadable += 1,
            }
        }
    }
    Ok(skipped)
}

fn level(
    dir: Dir,
    path: SpacePath,
    ignoring: Ignoring,
    stop: Stop<'_>,
    skipped: &mut Skipped,
) -> Result<Level, FileError> {
    let mut left = Vec::new();
    match dir.entries() {
        Err(_) => skipped.unreadable += 1,
        Ok(entries) => {
            for (count, entry) in entries.enumerate() {
                if count % 1024 == 1023 && stop() {
                    return Err(FileError::Stopped);
                }
                let Ok(entry) = entry else {
                    skipped.unreadable += 1;
                    break;
                };
                if left.len() == ENTRIES {
                    skipped.beyond += 1;
                    continue;
                }
                match (entry.file_name().into_string(), entry.file_type()) {
                    (Ok(name), Ok(kind)) => left.push((name, Kind::of(kind))),
                    (Err(_), _) => skipped.unnameable += 1,
                    (_, Err(_)) => skipped.unreadable += 1,
                }
            }
        }
    }
    left.sort_unstable_by(|a, b| b.0.cmp(&a.0));
    let ignore = (ignoring == Ignoring::Ignored).then(|| rules(&dir, &path)).flatten();
    Ok(Level { dir, path, ignore, left })
}

/// The rules of a folder's `.gitignore` and `.ignore`, the second stronger.
fn rules(dir: &Dir, path: &SpacePath) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let mut any = false;
    for name in [".gitignore", ".ignore"] {
        let Ok((file, _)) = handle::open_file(dir, name, &path.join(name)) else { continue };
        let mut text = Vec::new();
        if file.take(IGNORE_FILE).read_to_end(&mut text).is_err() {
            continue;
        }
        for line in String::from_utf8_lossy(&text).lines() {
            // A line that is no pattern is left out, as git does.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    any.then(|| builder.build().ok()).flatten()
}

/// The deepest folder with a word about it decides.
fn is_ignored(levels: &[Level], path: &SpacePath, kind: Kind) -> bool {
    for level in levels.iter().rev() {
        let Some(rules) = &level.ignore else { continue };
        let base = level.path.as_str();
        let relative = path.as_str().strip_prefix(base).unwrap_or_default().trim_start_matches('/');
        match rules.matched(relative, kind == Kind::Folder) {
            ignore::Match::None => {}
            ignore::Match::Ignore(_) => return true,
            ignore::Match::Whitelist(_) => return false,
        }
    }
    false
}
