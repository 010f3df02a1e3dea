//! The folders of a session's commands: its Space, and a scratch home and `/tmp` that go with the session.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems' sandboxes use less of it"))]

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use crate::terminal::{GitConfig, Limits, Network, Setup, TerminalError};

/// Variables a command is given if we have them. No key, no session bus, no display, no agent's socket is among them.
const PASSED: &[&str] = &["LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"];
#[cfg(windows)]
const PASSED_TOO: &[&str] = &[
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "NUMBER_OF_PROCESSORS",
];
#[cfg(not(windows))]
const PASSED_TOO: &[&str] = &[];
const LOCALE: &[&str] =
    &["LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "LC_PAPER"];

pub(in crate::terminal) struct Enclosure {
    setup: Setup,
    space: PathBuf,
    scratch: TempDir,
}

impl Enclosure {
    pub(in crate::terminal) fn new(setup: Setup) -> Result<Self, TerminalError> {
        let bad = |source| TerminalError::Folder { path: setup.space.clone(), source };
        let space = setup.space.canonicalize().map_err(bad)?;
        if !space.is_dir() {
            return Err(bad(std::io::ErrorKind::NotADirectory.into()));
        }
        if is_too_wide(&space) {
            return Err(TerminalError::SpaceTooWide(space));
        }
        let scratch = tempfile::Builder::new().prefix("space-").tempdir().map_err(bad)?;
        for name in ["home", "tmp"] {
            std::fs::create_dir(scratch.path().join(name)).map_err(bad)?;
        }
        Ok(Self { setup, space, scratch })
    }

    pub(in crate::terminal) fn space(&self) -> &Path {
        &self.space
    }

    pub(in crate::terminal) fn limits(&self) -> Limits {
        self.setup.limits
    }

    pub(super) fn readable(&self) -> &[PathBuf] {
        &self.setup.readable
    }

    pub(super) fn network(&self) -> &Network {
        &self.setup.network
    }

    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Where a command begins. The sandbox holds it within the Space afterwards; this is for a clear error.
    pub(super) fn folder(&self, cwd: Option<&Path>) -> Result<PathBuf, TerminalError> {
        let Some(cwd) = cwd else { return Ok(self.space.clone()) };
        let path = self.space.join(cwd);
        let found = path.canonicalize().map_err(|source| TerminalError::Folder { path, source })?;
        if found.starts_with(&self.space) { Ok(found) } else { Err(TerminalError::OutsideSpace(found)) }
    }

    /// What every command's environment is made of; `HOME` is the sandbox's to add.
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let mut all = vec![("PATH", path), ("TERM", "xterm-256color".into())];
        // Nobody turns pages or types a password here.
        all.extend([
            ("PAGER", "cat".into()),
            ("GIT_PAGER", "cat".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
        ]);
        // What a repository says in its own file runs nothing when it is only looked at.
        all.extend([
            ("GIT_CONFIG_COUNT", "2".into()),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor".into()),
            ("GIT_CONFIG_VALUE_0", "false".into()),
            ("GIT_CONFIG_KEY_1", "safe.bareRepository".into()),
            ("GIT_CONFIG_VALUE_1", "explicit".into()),
        ]);
        for &name in PASSED.iter().chain(PASSED_TOO).chain(LOCALE) {
            all.extend(std::env::var_os(name).map(|value| (name, value)));
        }
        all
    }

    /// Folders and files of git whose content runs code: `(path, whether it is one of those)`, a repository before
    /// what is in it, so that the repository itself cannot be moved aside and made anew.
    ///
    /// Held by each command until its end. While any runs in this Space the list stays the first one's: what is on it,
    /// none of them can swap for a link that leads out of the Space, as a folder it made itself could be between our
    /// look and the sandbox's. A repository made meanwhile is guarded from the next command on that runs alone.
    pub(super) fn git(&self) -> Arc<Vec<GitPath>> {
        static HELD: Mutex<Option<HashMap<PathBuf, Weak<Vec<GitPath>>>>> = Mutex::new(None);
        if self.setup.git != GitConfig::ReadOnly {
            return Arc::default();
        }
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get_or_insert_default();
        if let Some(running) = held.get(&self.space).and_then(Weak::upgrade) {
            return running;
        }
        let (mut looked_at, mut found) = (0, Vec::new());
        find_git(&self.space, 3, &mut looked_at, &mut found);
        let found = Arc::new(found);
        held.retain(|_, list| list.strong_count() > 0);
        held.insert(self.space.clone(), Arc::downgrade(&found));
        found
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GitPath {
    /// Stays where it is, and can be written to.
    Fixed(PathBuf),
    ReadOnly(PathBuf),
    /// Is made, empty, and cannot be written to.
    Empty(PathBuf),
}

/// A Space's own repository and those near its top; bounded, since this is done before every command. The folders on
/// the way to a repository stay where they are, too.
fn find_git(folder: &Path, depth: u32, looked_at: &mut u32, found: &mut Vec<GitPath>) {
    let git = folder.join(".git");
    if let Ok(kind) = git.symlink_metadata() {
        if kind.is_dir() {
            found.push(GitPath::Fixed(git.clone()));
            let config = git.join("config");
            if config.symlink_metadata().is_ok_and(|kind| kind.is_file()) {
                found.push(GitPath::ReadOnly(config));
            }
            let hooks = git.join("hooks");
            match hooks.symlink_metadata() {
                Ok(kind) if kind.is_dir() => found.push(GitPath::ReadOnly(hooks)),
                Ok(_) => {}
                Err(_) => found.push(GitPath::Empty(hooks)),
            }
        } else if kind.is_file() {
            found.push(GitPath::ReadOnly(git));
        }
    }
    if depth == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        *looked_at += 1;
        if *looked_at > 2_000 {
            return;
        }
        let hidden = entry.file_name() == ".git" || entry.file_name() == "node_modules";
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let before = found.len();
            find_git(&entry.path(), depth - 1, looked_at, found);
            if found.len() > before {
                found.insert(before, GitPath::Fixed(entry.path()));
            }
        }
    }
}

/// The whole system, a part of it, or everything of a user: a command there could reach keys and other programs.
fn is_too_wide(space: &Path) -> bool {
    let system =
        ["/bin", "/sbin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sys", "/usr"];
    let top = ["/", "/home", "/opt", "/root", "/srv", "/tmp", "/var", "/var/tmp", "/Users", "/private/tmp"];
    let under_system = system.iter().any(|path| space.starts_with(path));
    let is_top = top.iter().any(|path| space == Path::new(path)) || space.parent().is_none();
    // A folder above the home has the home in it.
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    under_system || is_top || home.is_some_and(|home| home.starts_with(space))
}
