//! A program that speaks over its standard streams, as servers of tools do: no terminal, no shell, and an end with whoever
//! holds it.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, mpsc};

use super::sandbox::{Enclosure, Launch};
use super::{CommandSpec, Network, Terminal, TerminalError};

/// A program with its arguments, and what is set for it beside what all get.
#[derive(Debug, Clone)]
pub struct ProgramSpec {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

/// A program that was started.
pub struct Program {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub ends: Ends,
}

/// Ends its program, with all that it started, once this is dropped.
pub struct Ends(
    // Nothing is ever sent: who waits for it hears that this is gone.
    #[allow(dead_code, reason = "held for its end")] mpsc::Sender<Infallible>,
);

impl Terminal {
    /// Starts a program in the sandbox. Blocking.
    ///
    /// # Errors
    /// There is no sandbox, no way to the network, or the program cannot be started.
    pub fn program(&self, spec: &ProgramSpec, network: Option<Network>) -> Result<Program, TerminalError> {
        let words = (spec.program.clone(), spec.arguments.clone());
        let command = CommandSpec { timeout: None, network, direct: Some(words), ..CommandSpec::new("") };
        let launch = self.sandbox.launch(&self.place, &command, &self.place.look())?;
        let mut line = Command::new(&launch.program);
        line.args(&launch.arguments).env_clear().current_dir(&launch.folder);
        line.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        line.envs(spec.environment.iter().map(|(name, value)| (name, value)));
        let failed = |error: io::Error| TerminalError::SandboxFailed { said: error.to_string() };
        start(line, Some((launch, Arc::clone(&self.place), command.network))).map_err(failed)
    }
}

impl Program {
    /// Starts a program without a sandbox: it may do what its user may. `environment` is all that it gets. Blocking.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn unconfined(spec: &ProgramSpec) -> io::Result<Self> {
        let mut line = Command::new(&spec.program);
        line.args(&spec.arguments).env_clear();
        line.envs(spec.environment.iter().map(|(name, value)| (name, value)));
        start(line, None)
    }
}

/// On a thread of its own, as long as the program is held: the sandbox ends with the thread that started it, and only who
/// has not reaped a process yet may signal it by number.
fn start(mut line: Command, held: Option<(Launch, Arc<Enclosure>, Option<Network>)>) -> io::Result<Program> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut line, 0);
    line.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (tell, started) = mpsc::sync_channel(1);
    let (ends, ended) = mpsc::channel::<Infallible>();
    let keep = move || {
        let _held = held;
        match line.spawn() {
            Ok(mut child) => {
                let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
                let _ = tell.send(Ok(streams));
                let _ = ended.recv();
                kill(&mut child);
                let _ = child.wait();
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        }
    };
    std::thread::Builder::new().name("program".into()).spawn(keep)?;
    match started.recv().map_err(io::Error::other)?? {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Program { stdin, stdout, stderr, ends: Ends(ends) }),
        _ => Err(io::Error::other("it has no standard streams")),
    }
}

/// With its process group, which has the number of its own process as long as that is not reaped.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}
