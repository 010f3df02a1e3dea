//! How commands are confined: what the system offers, and the command line that uses it.
//!
//! Probed once by really running something in it; never falls back to nothing by itself.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod etc;
mod git_config;
mod guard;
mod place;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CommandSpec, TerminalError, Unconfined};

pub(super) use guard::Found;
pub(super) use place::Enclosure;

/// What commands may reach. Off: a network of their own with nothing but themselves in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    Off,
}

/// What confines commands on this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strength {
    /// Linux: own namespaces, an empty file system but for what is bound into it, no network. The second layers are
    /// a filter of system calls and Landlock.
    Bubblewrap {
        seccomp: bool,
        landlock: bool,
    },
    /// macOS: writes only into the Space, no network; reads and other processes are less hidden. Weaker.
    Seatbelt,
    None {
        why: String,
    },
}

/// How one command was confined, for its card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Confinement {
    Full,
    Weaker,
    None,
}

pub struct Sandbox {
    strength: Strength,
    #[cfg(target_os = "linux")]
    bubblewrap: Option<bubblewrap::Bubblewrap>,
}

/// A command line that is ready to be started.
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) folder: PathBuf,
    pub(super) confinement: Confinement,
    /// Where the sandbox says that the command ran; gone with the launch.
    status: Option<tempfile::NamedTempFile>,
    _closed: Option<place::ClosedPaths>,
}

impl Launch {
    /// Whether the command itself was started: a sandbox that fails must not look like a command that failed.
    pub(super) fn really_ran(&self) -> bool {
        let said = self.status.as_ref().map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
        said.is_none_or(|said| said.contains("\"exit-code\""))
    }
}

impl Sandbox {
    /// Finds out what there is, by running `true` in it. `confiner` is the program that calls [`super::confine`]
    /// for the second layer, Landlock; without it that layer is left out and [`Strength`] says so.
    pub fn probe(confiner: Option<&Path>) -> Self {
        #[cfg(target_os = "linux")]
        return match bubblewrap::Bubblewrap::probe(confiner) {
            Ok(found) => Self { strength: found.strength(), bubblewrap: Some(found) },
            Err(why) => Self { strength: Strength::None { why }, bubblewrap: None },
        };
        #[cfg(target_os = "macos")]
        {
            let _ = confiner;
            let there = Path::new(seatbelt::PROGRAM).exists();
            let why = format!("{} is missing", seatbelt::PROGRAM);
            Self { strength: if there { Strength::Seatbelt } else { Strength::None { why } } }
        }
        #[cfg(not(any(target_os = "linux", target_os = "macos")))]
        {
            let _ = confiner;
            Self::none("this system has no sandbox that Miki knows")
        }
    }

    /// No sandbox: every command is refused unless the user allowed it.
    pub fn none(why: impl Into<String>) -> Self {
        Self {
            strength: Strength::None { why: why.into() },
            #[cfg(target_os = "linux")]
            bubblewrap: None,
        }
    }

    pub fn strength(&self) -> &Strength {
        &self.strength
    }

    pub(super) fn launch(
        &self,
        place: &Enclosure,
        spec: &CommandSpec,
        found: &Found,
    ) -> Result<Launch, TerminalError> {
        let folder = place.folder(spec.cwd.as_deref())?;
        #[cfg(not(target_os = "linux"))]
        let _ = found;
        match (&self.strength, spec.unconfined) {
            #[cfg(target_os = "linux")]
            (Strength::Bubblewrap { .. }, _) => match &self.bubblewrap {
                Some(bubblewrap) => bubblewrap.launch(place, &folder, &spec.command, (found, &spec.opened)),
                None => Err(TerminalError::NoSandbox { why: "bubblewrap was not probed".into() }),
            },
            #[cfg(target_os = "macos")]
            (Strength::Seatbelt, _) => Ok(seatbelt::launch(place, folder, spec)),
            (Strength::None { why }, Unconfined::Refuse) => {
                Err(TerminalError::NoSandbox { why: why.clone() })
            }
            (Strength::None { .. }, Unconfined::Allowed) => Ok(bare(place, folder, &spec.command)),
            #[allow(unreachable_patterns, reason = "the strengths of other systems")]
            (other, _) => Err(TerminalError::NoSandbox { why: format!("{other:?} is not of this system") }),
        }
    }
}

/// The command as it is, for a user who said yes to that. The environment is the short one all the same.
fn bare(place: &Enclosure, folder: PathBuf, command: &str) -> Launch {
    let (program, arguments) = shell(command);
    let mut environment = place.environment();
    if let Some(home) = std::env::home_dir() {
        environment.push(("HOME", home.into()));
    }
    Launch {
        program,
        arguments,
        environment,
        folder,
        confinement: Confinement::None,
        status: None,
        _closed: None,
    }
}

/// The user's shell scripts are mostly bash; where there is none, `sh`.
fn shell(command: &str) -> (PathBuf, Vec<OsString>) {
    if cfg!(windows) {
        return ("powershell.exe".into(), ["-NoProfile", "-Command", command].map(OsString::from).to_vec());
    }
    let bash = Path::new("/bin/bash");
    let program = if bash.exists() { bash } else { Path::new("/bin/sh") };
    (program.into(), ["-c", command].map(OsString::from).to_vec())
}
