//! Child processes that never outlive us: each in a group of its own, killed at drop, and by the kernel when we die.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, getpgid, kill_process_group};

use crate::patience::wait_for;

/// A program under way with all that it started.
pub struct Process {
    pub name: String,
    child: Child,
}

/// What a program left when it ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The exit code; -1 where a signal ended it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }
}

impl Process {
    /// Starts `command`, whose program must have been wrapped by [`leashed`].
    ///
    /// # Errors
    /// Names the program, and the package that has it.
    pub fn spawn(name: &str, package: &str, mut command: Command) -> Result<Self> {
        command.process_group(0);
        let child = spawn_from_a_lasting_thread(command)
            .with_context(|| format!("cannot start {name}: install the package {package}"))?;
        Ok(Self { name: name.to_owned(), child })
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether a process is this program or one that it started: of its group, but for what has left that.
    pub fn has_started(&self, pid: u32) -> bool {
        let group = i32::try_from(pid).ok().and_then(Pid::from_raw).and_then(|pid| getpgid(Some(pid)).ok());
        group.is_some_and(|group| u32::try_from(group.as_raw_nonzero().get()) == Ok(self.child.id()))
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal to the program and all that it started.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may be gone already, which is what a signal to a group is usually for.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ctrl-C.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Ends it at once, without a chance to tidy up, and waits until it is gone.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When `bound` has passed.
    pub fn wait(&mut self, bound: Duration) -> Result<ExitStatus> {
        let name = self.name.clone();
        wait_for(&format!("the end of {name}"), bound, || self.child.try_wait().ok().flatten())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A command that the kernel kills when we die, however we die.
pub fn leashed(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// The kernel's leash is tied to the thread that spawned, not to the process: a test's thread ends too early, a
/// pool's thread when it is idle. So one thread, which never ends, does all the spawning.
fn spawn_from_a_lasting_thread(command: Command) -> io::Result<Child> {
    type Order = (Command, mpsc::Sender<io::Result<Child>>);
    static SPAWNER: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (orders, inbox) = mpsc::channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        orders
    });
    let (answer, outcome) = mpsc::channel();
    let gone = || io::Error::other("the spawning thread is gone");
    spawner.send((command, answer)).map_err(|_| gone())?;
    outcome.recv().map_err(|_| gone())?
}
