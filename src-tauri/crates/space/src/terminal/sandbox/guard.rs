//! What of a Space is closed to its commands: what holds keys cannot be read, and what runs something later, outside of
//! the sandbox, cannot be changed. A command can reach a file without naming it, so its words are no fence.
//!
//! Found before each command by a look at folders that have changed since the last one, those near the top first.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems' sandboxes use less of it"))]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::git_config;
use crate::files::{SpacePath, Why, holds_secret, may_be_public, protected};

/// Entries of all folders that are looked at; what is deeper in a larger Space is not found.
const MOST: usize = 20_000;
const DEPTH: usize = 16;
/// What others made and nobody opens or signs in by.
const LEFT_OUT: &[&str] = &["node_modules", "site-packages", "__pycache__", "target", ".venv", "venv"];
/// So much of a file tells whether it holds a private key.
const HEAD: u64 = 16 << 10;
/// The largest configuration of Git that is looked through.
const CONFIG: u64 = 256 << 10;
/// A folder's time tells of a change only where it is older than the look by this.
const FINE: Duration = Duration::from_millis(50);

/// What a name in a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Holds keys; and why it runs something later, where it does that, too.
    Secret(Shape, Option<Why>),
    /// Runs something later, as a whole folder or as a file.
    Later(Why),
    /// A repository's folder.
    Git,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::terminal) enum Shape {
    File,
    Folder,
}

/// What was found in a Space.
#[derive(Debug, Default)]
pub(in crate::terminal) struct Found {
    pub(super) secrets: BTreeMap<SpacePath, Shape>,
    /// The outermost of what runs something later.
    pub(super) later: BTreeMap<SpacePath, Why>,
    /// The folders of repositories.
    pub(super) gits: BTreeSet<SpacePath>,
}

impl Found {
    /// What holds keys.
    pub(in crate::terminal) fn closed(&self) -> Vec<SpacePath> {
        self.secrets.keys().cloned().collect()
    }
}

/// Looks through one Space, and remembers folders that have not changed since.
#[derive(Default)]
pub(in crate::terminal) struct Guard {
    known: Mutex<HashMap<PathBuf, Known>>,
}

struct Known {
    stamp: Stamp,
    entries: usize,
    folders: Vec<OsString>,
    marks: Vec<(String, Mark)>,
}

/// A folder's number and the time of its last change, which nobody can set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    number: u64,
    changed: Duration,
}

impl Stamp {
    /// `None` if that is not told, or was too short ago to tell one change from the next.
    fn of(about: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let changed =
                Duration::new(u64::try_from(about.ctime()).ok()?, u32::try_from(about.ctime_nsec()).ok()?);
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
            let stamp = Self { device: about.dev(), number: about.ino(), changed };
            (changed + FINE < now).then_some(stamp)
        }
        #[cfg(not(unix))]
        {
            let _ = (about, FINE, SystemTime::UNIX_EPOCH);
            None
        }
    }
}

impl Guard {
    pub(in crate::terminal) fn look(&self, root: &Path) -> Found {
        let mut found = Found::default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = HashMap::new();
        let mut left = VecDeque::from([(root.to_owned(), SpacePath::root(), IsLater::No, 0)]);
        let mut looked_at = 0;
        while let Some((folder, path, is_later, depth)) = left.pop_front() {
            let Ok(about) = folder.symlink_metadata() else { continue };
            if !about.is_dir() {
                continue;
            }
            let stamp = Stamp::of(&about);
            let before = known.remove(&folder).filter(|before| Some(before.stamp) == stamp);
            let here = match before {
                Some(before) => before,
                None => read(&folder, &path, stamp),
            };
            for (name, mark) in &here.marks {
                let at = path.join(name);
                match mark {
                    Mark::Secret(shape, why) => {
                        found.later.extend(why.map(|why| (at.clone(), why)));
                        found.secrets.insert(at, *shape);
                    }
                    Mark::Git => drop(found.gits.insert(at)),
                    Mark::Later(why) if is_later == IsLater::No => drop(found.later.insert(at, *why)),
                    Mark::Later(_) => {}
                }
            }
            looked_at += here.entries;
            if looked_at > MOST {
                break;
            }
            for name in here.folders.iter().filter(|_| depth < DEPTH) {
                let text = name.to_string_lossy();
                let marked = here.marks.iter().find(|(marked, _)| *marked == text).map(|(_, mark)| *mark);
                let is_later = match marked {
                    Some(Mark::Secret(..) | Mark::Git) => continue,
                    Some(Mark::Later(_)) => IsLater::Yes,
                    None => is_later,
                };
                left.push_back((folder.join(name), path.join(&text), is_later, depth + 1));
            }
            if stamp.is_some() {
                seen.insert(folder, here);
            }
        }
        *known = seen;
        found
    }
}

/// Whether a folder is within one that runs something later as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsLater {
    Yes,
    No,
}

fn read(folder: &Path, path: &SpacePath, stamp: Option<Stamp>) -> Known {
    let nothing = Stamp { device: 0, number: 0, changed: Duration::ZERO };
    let mut known =
        Known { stamp: stamp.unwrap_or(nothing), entries: 0, folders: Vec::new(), marks: Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return known };
    for entry in entries.flatten().take(MOST) {
        known.entries += 1;
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let text = name.to_string_lossy().into_owned();
        let at = path.join(&text);
        // What is only called like it by letters that are left out elsewhere is no repository of this system's Git.
        let mark = if kind.is_dir() && text == ".git" {
            Some(Mark::Git)
        } else if kind.is_dir() {
            of_folder(&at)
        } else if kind.is_file() {
            of_file(&entry.path(), &at)
        } else {
            None
        };
        known.marks.extend(mark.map(|mark| (text.clone(), mark)));
        if kind.is_dir() && !LEFT_OUT.contains(&text.as_str()) {
            known.folders.push(name);
        }
    }
    known
}

/// By what any file in it would be.
fn of_folder(path: &SpacePath) -> Option<Mark> {
    let inside = path.join("x");
    if holds_secret(path) || holds_secret(&inside) {
        return Some(Mark::Secret(Shape::Folder, None));
    }
    protected(path).or_else(|| protected(&inside)).map(Mark::Later)
}

fn of_file(file: &Path, path: &SpacePath) -> Option<Mark> {
    let later = protected(path).filter(|why| *why != Why::Secret);
    if holds_secret(path) && (!may_be_public(path) || has_private_key(file)) {
        return Some(Mark::Secret(Shape::File, later));
    }
    later.map(Mark::Later)
}

/// What cannot be read may be one.
fn has_private_key(file: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_err() || String::from_utf8_lossy(&head).contains("PRIVATE KEY")
}

/// What Git's folder has that runs something, and what is left of its configurations without that.
#[derive(Debug, Default)]
pub(super) struct Repository {
    pub(super) hooks: Vec<PathBuf>,
    /// Each with what takes its place; `None` if it may be read as it is.
    pub(super) configs: Vec<(PathBuf, Option<String>)>,
    pub(super) attributes: Option<PathBuf>,
}

/// Looks into the folder of a repository, and of its modules.
pub(super) fn repository(git: &Path) -> Repository {
    let mut found = Repository::default();
    let mut left = vec![(git.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        found.hooks.push(folder.join("hooks"));
        for name in ["config", "config.worktree"] {
            let file = folder.join(name);
            if file.symlink_metadata().is_ok_and(|about| about.is_file()) {
                let text = read_config(&file);
                found.configs.push((file, git_config::disarmed(&text)));
            }
        }
        if depth < 4 && found.configs.len() < 100 {
            // A module's name may have slashes: those that are no repository are on the way to one.
            let is_repository = depth == 0 || folder.join("HEAD").exists();
            let inner = if is_repository { folder.join("modules") } else { folder.clone() };
            if !is_repository {
                found.hooks.pop();
            }
            let folders = fs::read_dir(inner).into_iter().flatten().flatten();
            let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            left.extend(folders.map(|entry| (entry.path(), depth + 1)));
        }
    }
    let attributes = git.join("info/attributes");
    found.attributes = attributes.symlink_metadata().is_ok_and(|about| about.is_file()).then_some(attributes);
    found
}

fn read_config(file: &Path) -> String {
    let mut text = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(CONFIG).read_to_end(&mut text));
    // What is not whole is not understood either.
    if read.is_err() || text.len() as u64 == CONFIG {
        return "[".to_owned();
    }
    String::from_utf8(text).unwrap_or_else(|_| "[".to_owned())
}

/// What runs something later on this machine: the outermost paths.
pub(in crate::terminal) fn runs_later(root: &Path, found: &Found) -> BTreeMap<SpacePath, Why> {
    // What only builds or signs in runs nothing by itself here.
    let is_meant = |why: &Why| !matches!(why, Why::BuildHook | Why::Secret);
    let mut all: BTreeMap<SpacePath, Why> =
        found.later.iter().filter(|(_, why)| is_meant(why)).map(|(path, why)| (path.clone(), *why)).collect();
    for git in &found.gits {
        let folder = on_disk(root, git);
        let Repository { hooks, configs, .. } = repository(&folder);
        let within = |path: &Path| {
            let rest = path.strip_prefix(&folder).ok()?;
            Some(rest.iter().fold(git.clone(), |at, name| at.join(&name.to_string_lossy())))
        };
        let has_hooks = |folder: &&PathBuf| {
            let all = fs::read_dir(folder).into_iter().flatten().flatten();
            // What `git init` lays down runs nothing.
            all.into_iter().any(|entry| !entry.file_name().to_string_lossy().ends_with(".sample"))
        };
        let hooks = hooks.iter().filter(has_hooks).filter_map(|path| within(path));
        let configs = configs.iter().filter(|(_, left)| left.is_some()).filter_map(|(path, _)| within(path));
        all.extend(hooks.chain(configs).map(|path| (path, Why::Git)));
    }
    // A file that leads to a repository found above is as harmless as that.
    all.retain(|path, _| path.name() != Some(".git") || !leads_within(root, path, &found.gits));
    all
}

fn leads_within(root: &Path, file: &SpacePath, gits: &BTreeSet<SpacePath>) -> bool {
    let at = on_disk(root, file);
    let text = fs::read_to_string(&at).unwrap_or_default();
    let Some(target) = text.strip_prefix("gitdir:").map(str::trim) else { return false };
    let folder = at.parent().unwrap_or(root).join(target).canonicalize();
    folder.is_ok_and(|folder| gits.iter().any(|git| folder.starts_with(on_disk(root, git))))
}

pub(super) fn on_disk(root: &Path, path: &SpacePath) -> PathBuf {
    path.parts().fold(root.to_owned(), |at, name| at.join(name))
}
