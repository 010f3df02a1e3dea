//! The session bus, the accessibility bus and the secret service.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;

use anyhow::{Context, Result, bail, ensure};

use super::{READY, Stage};
use crate::process::Process;

/// Where distributions put it.
const LAUNCHERS: [&str; 3] = [
    "/usr/libexec/at-spi-bus-launcher",
    "/usr/lib/at-spi2-core/at-spi-bus-launcher",
    "/usr/lib/at-spi-bus-launcher",
];

impl Stage {
    pub(super) fn start_buses(&mut self) -> Result<()> {
        super::require("dbus-daemon".as_ref(), "dbus")?;
        let mut command = self.command("dbus-daemon");
        command.args(["--session", "--nofork", "--nopidfile", "--print-address=1"]);
        command.stdout(Stdio::piped()).stderr(fs::File::create(self.log_path("dbus-daemon"))?);
        let mut bus = Process::spawn("dbus-daemon", "dbus", command)?;
        let stdout = bus.child().stdout.take().context("dbus-daemon has no output")?;
        let (said, address) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = said.send(line.trim().to_owned());
        });
        let address = address.recv_timeout(READY).unwrap_or_default();
        self.processes.push(bus);
        ensure!(!address.is_empty(), "dbus-daemon gave no address; it said: {}", self.log("dbus-daemon"));
        self.set_env("DBUS_SESSION_BUS_ADDRESS", address);
        let Some(launcher) = LAUNCHERS.iter().find(|path| Path::new(path).is_file()) else {
            bail!("at-spi-bus-launcher is missing: install the package at-spi2-core");
        };
        let mut command = self.command(launcher);
        command.arg("--launch-immediately");
        self.keep("at-spi-bus-launcher", "at-spi2-core", command)?;
        self.until_named("org.a11y.Bus")?;
        let properties = "org.freedesktop.DBus.Properties.Set";
        self.gdbus("org.a11y.Bus", "/org/a11y/bus", properties, &["org.a11y.Status", "IsEnabled", "<true>"])?;
        Ok(())
    }

    pub(super) fn start_keyring(&mut self) -> Result<()> {
        let mut command = self.command("gnome-keyring-daemon");
        command.args(["--unlock", "--components=secrets", "--foreground"]).stdin(Stdio::piped());
        self.keep("gnome-keyring-daemon", "gnome-keyring", command)?;
        let daemon = self.processes.last_mut().context("no keyring")?;
        let mut stdin = daemon.child().stdin.take().context("gnome-keyring-daemon has no input")?;
        // An empty line is the password of a new, unlocked login keyring.
        stdin.write_all(b"\n")?;
        drop(stdin);
        self.until_named("org.freedesktop.secrets")
    }

    /// The keyring's service ends, and another one opens the same keyring.
    ///
    /// # Errors
    /// Where it does not.
    pub fn restart_keyring(&mut self) -> Result<()> {
        self.processes.retain(|process| process.name != "gnome-keyring-daemon");
        crate::wait_for("the end of the keyring", READY, || {
            let name = ["org.freedesktop.secrets"];
            let owned = self.gdbus("org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", &name);
            owned.is_ok_and(|answer| answer.contains("false")).then_some(())
        })?;
        self.start_keyring()
    }

    fn until_named(&mut self, name: &str) -> Result<()> {
        let Some(position) = self.processes.len().checked_sub(1) else { bail!("nothing owns {name}") };
        let mut owner = self.processes.remove(position);
        let up = crate::wait_for(&format!("the bus name {name}"), READY, || {
            let owned = self
                .gdbus("org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", &[name])
                .is_ok_and(|answer| answer.contains("true"));
            (owned || owner.has_ended()).then_some(owned)
        });
        let said = self.log(&owner.name);
        let program = owner.name.clone();
        self.processes.push(owner);
        ensure!(up.with_context(|| said.clone())?, "{program} ended before it owned {name}; it said: {said}");
        Ok(())
    }

    /// One call on the session bus.
    ///
    /// # Errors
    /// What the bus says.
    pub fn gdbus(&self, name: &str, path: &str, method: &str, arguments: &[&str]) -> Result<String> {
        let mut command = self.command("gdbus");
        command
            .args(["call", "--session", "--timeout", "10", "-d", name, "-o", path, "-m", method])
            .args(arguments);
        let done = self.run("libglib2.0-bin", command, READY)?;
        ensure!(done.status.success(), "{method}: {}", done.stderr);
        Ok(done.stdout)
    }
}
