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

use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CommandSpec, TerminalError, Unconfined};

pub(super) use guard::Found;
pub(super) use place::Enclosure;

/// The way out of a command that may reach some hosts. Without one it has a network of its own with nothing in it.
#[derive(Clone)]
pub struct Network {
    /// The hosts that its proxy leads to, for whoever is asked about what the command is told later.
    pub hosts: Vec<String>,
    pub proxy: ProxyAt,
    /// Lives as long as the command.
    pub held: Arc<dyn Any + Send + Sync>,
}

/// Where a proxy for HTTP listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyAt {
    /// Linux: a socket, the only thing outside of its namespaces that a command can speak to.
    Socket(PathBuf),
    /// macOS: a port of this machine.
    Port(u16),
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// How programs are told of a proxy.
#[cfg_attr(windows, allow(dead_code, reason = "no sandbox there"))]
pub(super) fn proxy_variables(port: u16) -> impl Iterator<Item = (&'static str, OsString)> {
    let address = OsString::from(format!("http://127.0.0.1:{port}"));
    let own = ["no_proxy", "NO_PROXY"].map(|name| (name, "localhost,127.0.0.1,::1".into()));
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    names.into_iter().map(move |name| (name, address.clone())).chain(own)
}

/// What confines commands on this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strength {
    /// Linux: own namespaces, an empty file system but for what is bound into it, no network of its own. The second layers are
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
            // A job object ends what a command started, and keeps it from nothing.
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
                Some(bubblewrap) => bubblewrap.launch(place, &folder, spec, found),
                None => Err(TerminalError::NoSandbox { why: "bubblewrap was not probed".into() }),
            },
            #[cfg(target_os = "macos")]
            (Strength::Seatbelt, _) => seatbelt::launch(place, folder, spec),
            (Strength::None { why }, Unconfined::Refuse) => {
                Err(TerminalError::NoSandbox { why: why.clone() })
            }
            (Strength::None { .. }, Unconfined::Allowed) => Ok(bare(place, folder, spec)),
            #[allow(unreachable_patterns, reason = "the strengths of other systems")]
            (other, _) => Err(TerminalError::NoSandbox { why: format!("{other:?} is not of this system") }),
        }
    }
}

/// The command as it is, for a user who said yes to that. The environment is the short one all the same.
fn bare(place: &Enclosure, folder: PathBuf, spec: &CommandSpec) -> Launch {
    let (program, arguments) = spec.words();
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
pub(super) fn shell(command: &str) -> (PathBuf, Vec<OsString>) {
    if cfg!(windows) {
        return ("powershell.exe".into(), ["-NoProfile", "-Command", command].map(OsString::from).to_vec());
    }
    let bash = Path::new("/bin/bash");
    let program = if bash.exists() { bash } else { Path::new("/bin/sh") };
    (program.into(), ["-c", command].map(OsString::from).to_vec())
}
