//! A real desktop of our own: X server, session bus, accessibility bus, window manager, compositor, tray, keyring.
//!
//! Everything is fresh and private: home folder, runtime folder, display, bus. The user's own session is never seen
//! by anything started here, since children get no variable but ours. All of it is gone when the stage is dropped.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::process::{Finished, Process, leashed};
use crate::waiting::wait_for;

pub use apps::Editor;
pub use cover::{COVER, Cover, USERS};
pub use screen::{Screen, Window};
pub use user::User;
pub use witness::Witness;

mod apps;
mod bus;
mod cover;
mod ping;
mod screen;
mod user;
mod witness;
mod xserver;

/// How long any part of the stage may take to come up.
const READY: Duration = Duration::from_secs(30);

pub struct Stage {
    /// Dropped last to first by hand: applications before the servers they talk to.
    processes: Vec<Process>,
    env: BTreeMap<String, OsString>,
    folder: tempfile::TempDir,
}

/// What a stage is to have beside the X server and the buses.
#[derive(Clone, Copy, Debug)]
pub struct Furniture {
    /// A compositor and a tray, which only the app with its windows needs.
    pub windows: bool,
    /// A secret service, unlocked.
    pub keyring: bool,
}

impl Stage {
    /// A stage with everything.
    ///
    /// # Errors
    /// Names the program that is missing or does not come up, with its package or its last words.
    pub fn full() -> Result<Self> {
        Self::new(Furniture { windows: true, keyring: true })
    }

    /// Enough for the engine without windows.
    ///
    /// # Errors
    /// As [`Stage::full`].
    pub fn plain() -> Result<Self> {
        Self::new(Furniture { windows: false, keyring: false })
    }

    /// As [`Stage::plain`], with a screen of fewer pixels: for tests of many steps that are not about pictures.
    ///
    /// # Errors
    /// As [`Stage::full`].
    pub fn small() -> Result<Self> {
        Self::sized(Furniture { windows: false, keyring: false }, "1024x768x24")
    }

    /// # Errors
    /// As [`Stage::full`].
    pub fn new(furniture: Furniture) -> Result<Self> {
        Self::sized(furniture, "1920x1080x24")
    }

    /// As [`Stage::new`], with a screen of another size, as the X server takes it: `1280x900x24`.
    ///
    /// # Errors
    /// As [`Stage::full`].
    pub fn sized(furniture: Furniture, screen: &str) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("miki-stage-")
            .tempdir()
            .context("cannot make a folder for the stage")?;
        let mut stage = Self { processes: Vec::new(), env: BTreeMap::new(), folder };
        for name in ["home", "run", "work", "logs"] {
            fs::create_dir(stage.path(name))?;
        }
        fs::set_permissions(stage.path("run"), fs::Permissions::from_mode(0o700))?;
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("GDK_BACKEND", "x11"),
            ("XDG_SESSION_TYPE", "x11"),
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
            ("NO_AT_BRIDGE", "0"),
            ("GNOME_ACCESSIBILITY", "1"),
            ("QT_ACCESSIBILITY", "1"),
            ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"),
            ("GSETTINGS_BACKEND", "memory"), // no settings daemon, and every program starts as if for the first time
            ("RUST_BACKTRACE", "1"),
        ] {
            stage.set_env(name, value);
        }
        stage.set_env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        stage.set_env("HOME", stage.path("home"));
        stage.set_env("XDG_RUNTIME_DIR", stage.path("run"));
        stage.start_xserver(screen)?;
        stage.start_buses()?;
        stage.start_window_manager()?;
        if furniture.windows {
            stage.start_compositor()?;
            stage.start_tray()?;
        }
        if furniture.keyring {
            stage.start_keyring()?;
        }
        Ok(stage)
    }

    /// The folder where applications are started and save their files.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A path inside the stage's own folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn set_env(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.insert(name.to_owned(), value.into());
    }

    pub fn env(&self, name: &str) -> Option<&OsStr> {
        self.env.get(name).map(OsString::as_os_str)
    }

    /// A command in this stage's world and no other.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = leashed(program);
        command.env_clear().envs(&self.env).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// Starts a program whose output goes to the stage's logs; the caller holds it.
    ///
    /// # Errors
    /// Names the program and its package where it is missing.
    pub fn launch(&self, name: &str, package: &str, mut command: Command) -> Result<Process> {
        require(program_of(&command), package)?;
        let log = File::options().create(true).append(true).open(self.log_path(name))?;
        command.stdout(log.try_clone()?).stderr(log);
        Process::spawn(name, package, command)
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// Where it is missing or does not end in time.
    pub fn run(&self, package: &str, mut command: Command, bound: Duration) -> Result<Finished> {
        require(program_of(&command), package)?;
        let (out, err) = (tempfile::NamedTempFile::new()?, tempfile::NamedTempFile::new()?);
        command.stdout(out.reopen()?).stderr(err.reopen()?);
        let name = program_of(&command).to_string_lossy().into_owned();
        let mut process = Process::spawn(&name, package, command)?;
        let ended = process.wait(bound);
        let (stdout, stderr) = (read_lossy(out.path()), read_lossy(err.path()));
        let status = ended.with_context(|| format!("{name} said: {stdout}{stderr}"))?;
        Ok(Finished { status, stdout, stderr })
    }

    /// What a program launched under `name` has said.
    pub fn log(&self, name: &str) -> String {
        read_lossy(&self.log_path(name))
    }

    fn log_path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(format!("{name}.log"))
    }

    /// Launches a part of the stage itself and keeps it.
    fn keep(&mut self, name: &str, package: &str, command: Command) -> Result<()> {
        let process = self.launch(name, package, command)?;
        self.processes.push(process);
        Ok(())
    }

    /// Waits until the part launched last is ready; its last words are in the error.
    fn until_ready(&mut self, what: &str, mut ready: impl FnMut() -> bool) -> Result<()> {
        let Some(part) = self.processes.last_mut() else { bail!("nothing was launched for {what}") };
        let name = part.name.clone();
        let up = wait_for(what, READY, || (ready() || part.has_ended()).then(&mut ready));
        match up {
            Ok(true) => Ok(()),
            Ok(false) => Err(anyhow!("{name} ended before there was {what}; it said: {}", self.log(&name))),
            Err(error) => Err(error.context(format!("{name} said: {}", self.log(&name)))),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        while let Some(process) = self.processes.pop() {
            drop(process);
        }
    }
}

/// The program behind the leash.
fn program_of(command: &Command) -> &OsStr {
    command.get_args().nth(3).unwrap_or(command.get_program())
}

/// # Errors
/// Where `program` is neither an existing path nor in `PATH`.
fn require(program: &OsStr, package: &str) -> Result<()> {
    let found = |name: &OsStr| {
        let dirs = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&dirs).any(|dir| dir.join(name).is_file())
    };
    for name in [OsStr::new("setpriv"), program] {
        // Joining an absolute path to a folder gives the path itself.
        if !found(name) {
            let package = if name == "setpriv" { "util-linux" } else { package };
            bail!("{} is missing: install the package {package}", name.to_string_lossy());
        }
    }
    Ok(())
}

fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
