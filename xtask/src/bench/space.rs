//! Commands, measured: how long one takes to start and end in the sandbox, beside plain bubblewrap, by the crate's own
//! `terminal_start`; and whether the windows of the app answer while a command floods, by `flood` of `outside`. A table, and
//! `artifacts/bench-space.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, alone, beside};
use super::table;
use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading};

const COMMAND: [&str; 2] = ["command", "ours"];
const ANSWERS: Aim = Aim::MostlyWithin(200.0);

const STARTS: &[Figure] = &[
    beside("a command, in the sandbox", COMMAND, "bare", "without a sandbox", Aim::Over(30.0)),
    beside("", COMMAND, "bubblewrap", "plain bubblewrap", Aim::None),
    beside("", COMMAND, "namespaces", "without Landlock", Aim::None),
];

const FLOODS: &[Figure] = &[
    alone("the window answers: nothing runs", "flood none", "window", ANSWERS),
    alone("while runs begin and end", "flood runs", "window", Aim::None),
    alone("the first output in a fresh window", "flood first", "window", Aim::None),
    alone("beside yes", "flood yes", "window", ANSWERS),
    alone("beside cat of 1 GB", "flood cat", "window", ANSWERS),
    alone("beside 500 children", "flood children", "window", ANSWERS),
    alone("beside a fork bomb", "flood bomb", "window", ANSWERS),
    alone("the engine answers: yes", "flood yes", "socket", ANSWERS),
    alone("cat of 1 GB", "flood cat", "socket", ANSWERS),
    alone("500 children", "flood children", "socket", ANSWERS),
    alone("a fork bomb", "flood bomb", "socket", ANSWERS),
];

pub fn bench(checkout: &Checkout) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "commands are measured on Linux only, in its sandbox");
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop])?;
    crate::run::app(checkout, Build::Release)?;
    heading("building the measuring program, optimised");
    shell::run(shell::cargo(checkout).args([
        "build",
        "--release",
        "--package",
        "space",
        "--example",
        "terminal_start",
    ]))?;
    heading("measuring commands (about half a minute)");
    let starts = raced(
        Command::new(checkout.target.join("release/examples/terminal_start"))
            .arg(checkout.target.join("bench/space"))
            .arg(checkout.confiner(Build::Release)),
    )?;
    heading("measuring the windows beside floods (about a minute, and 1 GB of disk meanwhile)");
    shell::run(shell::cargo(checkout).args(["build", "--quiet", "--package", "outside", "--bin", "flood"]))?;
    let user = User::new(checkout)?;
    let floods = raced(&mut user.command())?;
    let mut rows = figures::rows(STARTS, &starts.races)?;
    rows.extend(figures::rows(FLOODS, &floods.races)?);
    table::print(&rows);
    table::leave(checkout, "bench-space.json", [starts.load[0], floods.load[1]], &rows, &[])
}

/// Whoever has the desktop: its number of processes is bounded by the kernel, which root's is not. For root, which runs
/// this on some machines, that is nobody, with the programs where it can reach them.
struct User {
    flood: PathBuf,
    app: PathBuf,
    /// Nobody's folder, removed at the end.
    folder: Option<PathBuf>,
}

impl User {
    fn new(checkout: &Checkout) -> Result<Self> {
        let (flood, app) = (checkout.target.join("debug/flood"), checkout.app(Build::Release));
        if !is_root() {
            return Ok(Self { flood, app, folder: None });
        }
        let folder = std::env::temp_dir().join(format!("miki-flood-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let user = Self { flood: folder.join("flood"), app: folder.join("miki"), folder: Some(folder) };
        let beside = [checkout.confiner(Build::Release), checkout.gui(Build::Release)];
        let beside = beside.map(|from| (user.app.with_file_name(from.file_name().unwrap_or_default()), from));
        let beside = beside.iter().map(|(to, from)| (from, to));
        for (from, to) in [(&flood, &user.flood), (&app, &user.app)].into_iter().chain(beside) {
            fs::copy(from, to).with_context(|| format!("{} is not there", from.display()))?;
        }
        user.let_it_in()?;
        Ok(user)
    }

    #[cfg(unix)]
    fn let_it_in(&self) -> Result<()> {
        use std::os::unix::fs::{PermissionsExt, chown};
        if let Some(folder) = &self.folder {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
            fs::create_dir(folder.join("home"))?;
            chown(folder.join("home"), Some(NOBODY), Some(NOBODY))?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn let_it_in(&self) -> Result<()> {
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.flood);
        command.env("MIKI_BIN", &self.app);
        #[cfg(unix)]
        if let Some(folder) = &self.folder {
            use std::os::unix::process::CommandExt;
            let home = folder.join("home");
            command.env("HOME", &home).current_dir(home).gid(NOBODY).uid(NOBODY);
        }
        command
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Nobody's number on any system.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// Whether files that this program makes are root's.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}

fn raced(command: &mut Command) -> Result<Raced> {
    let output = command.stderr(Stdio::inherit()).output().context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")
}
