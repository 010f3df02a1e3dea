//! The folders of a session's commands: its Space, and a scratch home and `/tmp` that go with the session.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems' sandboxes use less of it"))]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use super::guard::{self, Found, Guard, Repository, Shape};
use crate::files::{SpacePath, Why};
use crate::terminal::{GitConfig, Limits, Setup, TerminalError};

/// Paths of a Space that are closed to a command: each costs its start a part of a millisecond.
const MOST_CLOSED: usize = 400;

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
    scratch: Arc<TempDir>,
    guard: Guard,
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
        for name in ["home", "tmp", "git"] {
            std::fs::create_dir(scratch.path().join(name)).map_err(bad)?;
        }
        unreadable(&scratch.path().join(CLOSED)).map_err(bad)?;
        Ok(Self { setup, space, scratch: Arc::new(scratch), guard: Guard::default() })
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
            // A look at a repository writes nothing, so no hook of it runs.
            ("GIT_OPTIONAL_LOCKS", "0".into()),
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

    /// What there is in the Space now that commands may not read, or not change.
    pub(in crate::terminal) fn look(&self) -> Found {
        self.guard.look(&self.space)
    }

    /// What runs something later, outside of the sandbox, by a look at the Space.
    pub(in crate::terminal) fn runs_later(&self, found: &Found) -> BTreeMap<SpacePath, Why> {
        guard::runs_later(&self.space, found)
    }

    /// What is closed to a command that may use `opened`: a folder before what is in it, so that it cannot be moved aside
    /// and made anew.
    ///
    /// Held by each command until its end. While any runs in this Space the list stays the first one's: what is on it,
    /// none of them can swap for a link that leads out of the Space, as a folder it made itself could be between our
    /// look and the sandbox's; and what was opened for one of them is open for those that begin beside it. What comes
    /// meanwhile is guarded from the next command on that runs alone.
    pub(super) fn closed(&self, found: &Found, opened: &[SpacePath]) -> std::io::Result<ClosedPaths> {
        static HELD: Mutex<Option<HashMap<PathBuf, Weak<Closed>>>> = Mutex::new(None);
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get_or_insert_default();
        let all = match held.get(&self.space).and_then(Weak::upgrade) {
            Some(running) => running,
            None => {
                let (paths, scratch) = (self.to_close(found)?, Arc::clone(&self.scratch));
                let all = Arc::new(Closed { paths, opened: Mutex::default(), _scratch: scratch });
                held.retain(|_, list| list.strong_count() > 0);
                held.insert(self.space.clone(), Arc::downgrade(&all));
                all
            }
        };
        all.opened.lock().unwrap_or_else(PoisonError::into_inner).extend(opened.iter().cloned());
        Ok(ClosedPaths(all))
    }

    fn to_close(&self, found: &Found) -> std::io::Result<Vec<(SpacePath, ClosedPath)>> {
        let on_disk = |path: &SpacePath| guard::on_disk(&self.space, path);
        let within = |path: &Path| {
            let rest = path.strip_prefix(&self.space).unwrap_or(path);
            rest.iter().fold(SpacePath::root(), |at, name| at.join(&name.to_string_lossy()))
        };
        let (mut rest, mut copies) = (Vec::new(), 0..);
        if self.setup.git == GitConfig::ReadOnly {
            for git in &found.gits {
                let Repository { hooks, configs, attributes } = guard::repository(&on_disk(git));
                for (at, instead) in configs {
                    rest.push(match instead {
                        Some(text) => {
                            let by = self.scratch.path().join(format!("git/{}", copies.next().unwrap_or(0)));
                            std::fs::write(&by, text)?;
                            ClosedPath::Replaced { at, by }
                        }
                        None => ClosedPath::ReadOnly(at),
                    });
                }
                rest.extend(attributes.map(ClosedPath::ReadOnly));
                for hooks in hooks {
                    match hooks.symlink_metadata() {
                        Ok(kind) if kind.is_dir() => rest.push(ClosedPath::ReadOnly(hooks)),
                        Ok(_) => {}
                        Err(_) => rest.push(ClosedPath::Empty(hooks)),
                    }
                }
            }
            let later = found.later.keys().filter(|path| !found.secrets.contains_key(path));
            rest.extend(later.map(|path| ClosedPath::ReadOnly(on_disk(path))));
        }
        let by = self.scratch.path().join(CLOSED);
        let secrets: Vec<_> = found
            .secrets
            .iter()
            .map(|(path, shape)| match shape {
                Shape::File => ClosedPath::Replaced { at: on_disk(path), by: by.clone() },
                Shape::Folder => ClosedPath::Hidden(on_disk(path)),
            })
            .collect();
        // What holds keys comes first where there is too much of it all.
        if secrets.len() > MOST_CLOSED {
            return Err(std::io::Error::other(
                "too many files of the folder hold keys; work in a folder within it",
            ));
        }
        rest.truncate(MOST_CLOSED - secrets.len());
        let mut fixed: BTreeSet<PathBuf> = found.gits.iter().map(on_disk).collect();
        for closed in rest.iter().chain(&secrets) {
            let above = closed.at().ancestors().skip(1);
            fixed.extend(above.take_while(|above| *above != self.space).map(Path::to_owned));
        }
        let fixed = fixed.into_iter().map(ClosedPath::Fixed);
        Ok(fixed.chain(rest).chain(secrets).map(|closed| (within(closed.at()), closed)).collect())
    }
}

/// A file in the scratch folder that nobody may read.
const CLOSED: &str = "closed";

fn unreadable(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, "")?;
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o000))?;
    Ok(())
}

#[derive(Debug)]
struct Closed {
    paths: Vec<(SpacePath, ClosedPath)>,
    opened: Mutex<BTreeSet<SpacePath>>,
    /// What is seen in others' places is in it.
    _scratch: Arc<TempDir>,
}

/// What is closed to a command, while it runs.
pub(super) struct ClosedPaths(Arc<Closed>);

impl ClosedPaths {
    /// But for what was opened.
    pub(super) fn paths(&self) -> Vec<&ClosedPath> {
        let opened = self.0.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let is_closed = |(path, closed): &&(SpacePath, ClosedPath)| {
            let is_fixed = matches!(closed, ClosedPath::Fixed(_));
            !opened.iter().any(|opened| opened.holds(path) || (path.holds(opened) && !is_fixed))
        };
        self.0.paths.iter().filter(is_closed).map(|(_, closed)| closed).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClosedPath {
    /// Stays where it is, and can be written to.
    Fixed(PathBuf),
    ReadOnly(PathBuf),
    /// Is made, empty, and cannot be written to.
    Empty(PathBuf),
    /// A folder that cannot be looked into.
    Hidden(PathBuf),
    /// Another file is seen in its place, and cannot be written to.
    Replaced {
        at: PathBuf,
        by: PathBuf,
    },
}

impl ClosedPath {
    fn at(&self) -> &Path {
        match self {
            Self::Fixed(at)
            | Self::ReadOnly(at)
            | Self::Empty(at)
            | Self::Hidden(at)
            | Self::Replaced { at, .. } => at,
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
