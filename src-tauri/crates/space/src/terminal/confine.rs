//! The second layer inside the sandbox, set up by a small program of ours before the command begins: limits, Landlock
//! (writes only where they are meant), a low priority, and the first place in the queue when the system runs out of
//! memory. Where the command may reach some hosts, the same program stays beside it and leads a port to their proxy.
//!
//! It must be a small program: the application itself takes longer to start than the whole sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Limits;

/// The first argument, for a program that does other things too.
pub const SUBCOMMAND: &str = "confine";
/// Beside a command: leads the port that is its standard input to [`PROXY`].
pub const FORWARD: &str = "forward";
/// Where the socket of a command's proxy stands inside.
#[cfg(target_os = "linux")]
pub(super) const PROXY: &str = "/run/proxy";
/// If set, it says on standard error whether Landlock is in force: the probe asks.
#[cfg(target_os = "linux")]
pub(super) const TELL: &str = "CONFINE_TELL";
#[cfg(target_os = "linux")]
pub(super) const IN_FORCE: &str = "landlock in force";

#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("the arguments are not those the sandbox gives: {0}")]
    Arguments(String),
    #[error("the limit of {what} could not be set: {source}")]
    Limit { what: &'static str, source: std::io::Error },
    #[error("landlock could not be set up: {0}")]
    Landlock(String),
    #[error("the way to the network could not be set up: {0}")]
    Network(std::io::Error),
    #[error("{} could not be started: {source}", program.display())]
    Exec { program: PathBuf, source: std::io::Error },
}

/// What [`confine`] is called with, before the command's own words.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has this layer"))]
pub(super) fn arguments(limits: &Limits, writable: &[&Path], has_network: bool) -> Vec<OsString> {
    let numbers = [
        limits.file,
        limits.memory,
        limits.cpu,
        u64::from(limits.open_files),
        u64::from(limits.processes),
        u64::from(has_network),
        writable.len() as u64,
    ];
    let numbers = numbers.map(|number| OsString::from(number.to_string()));
    numbers.into_iter().chain(writable.iter().map(OsString::from)).collect()
}

/// Confines the calling process and becomes the command. Returns only where that failed; the caller says why and
/// ends with code 126. `arguments` are those after [`SUBCOMMAND`].
#[cfg(target_os = "linux")]
pub fn confine(arguments: impl IntoIterator<Item = OsString>) -> ConfineError {
    match linux::confine(&mut arguments.into_iter()) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

/// Leads connections to the proxy of the command beside it, until the sandbox ends. Returns only where that failed.
#[cfg(target_os = "linux")]
pub fn forward() -> ConfineError {
    match linux::forward() {
        Ok(never) => match never {},
        Err(error) => ConfineError::Network(error),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn forward() -> ConfineError {
    ConfineError::Arguments("only Linux leads to a proxy in this way".into())
}

#[cfg(not(target_os = "linux"))]
pub fn confine(_arguments: impl IntoIterator<Item = OsString>) -> ConfineError {
    ConfineError::Arguments("only Linux confines in this way".into())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::convert::Infallible;
    use std::ffi::OsString;
    use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use nix::sys::signal::{SigSet, Signal};
    use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

    use super::super::GIVES_WAY;
    use super::super::sandbox::proxy_variables;
    use super::{ConfineError, FORWARD, IN_FORCE, PROXY, TELL};

    pub(super) fn confine(words: &mut dyn Iterator<Item = OsString>) -> Result<Infallible, ConfineError> {
        let mut number = |what: &str| {
            let word = words.next().and_then(|word| word.to_str().and_then(|word| word.parse::<u64>().ok()));
            word.ok_or_else(|| ConfineError::Arguments(format!("no {what}")))
        };
        let limits = [
            ("file size", Resource::Fsize, number("file size")?),
            ("memory", Resource::Data, number("memory")?),
            ("processor time", Resource::Cpu, number("processor time")?),
            ("open files", Resource::Nofile, number("open files")?),
            ("processes", Resource::Nproc, number("processes")?),
            ("core", Resource::Core, 0),
        ];
        let has_network = number("network")? == 1;
        let count = number("number of folders")?;
        let writable: Vec<PathBuf> = (0..count).map_while(|_| words.next()).map(PathBuf::from).collect();
        let program = words.next().ok_or_else(|| ConfineError::Arguments("no command".into()))?;
        for (what, resource, most) in limits {
            let most = Some(most);
            setrlimit(resource, Rlimit { current: most, maximum: most })
                .map_err(|error| ConfineError::Limit { what, source: error.into() })?;
        }
        take_the_terminal();
        // Not to be had everywhere, and no harm where they are not.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        let _ = setpriority_process(None, GIVES_WAY);
        // Where the kernel shares the processors among sessions, a process's own priority counts only within its own. It takes
        // one such wish of a user in a tenth of a second.
        let _ = std::fs::write("/proc/self/autogroup", GIVES_WAY.to_string());
        let in_force = landlock(&writable).map_err(|error| ConfineError::Landlock(error.to_string()))?;
        if in_force && std::env::var_os(TELL).is_some() {
            eprintln!("{IN_FORCE}");
        }
        let mut command = Command::new(&program);
        if has_network {
            command.envs(proxy_variables(forwarder().map_err(ConfineError::Network)?));
        }
        let source = command.args(words).env_remove(TELL).exec();
        Err(ConfineError::Exec { program: program.into(), source })
    }

    /// Puts the command into a group of its own, the one that the terminal's Ctrl-C goes to: it ends the command, and not the
    /// sandbox around it, which tells how the command ended. No harm where there is no terminal.
    fn take_the_terminal() {
        let _ = rustix::process::setpgid(None, None);
        // A terminal that is taken from behind stops who takes it, unless they do not hear that.
        let unheard = SigSet::from(Signal::SIGTTOU);
        let _ = unheard.thread_block();
        let _ = rustix::termios::tcsetpgrp(std::io::stdin(), rustix::process::getpid());
        let _ = unheard.thread_unblock();
        // Nobody is there to go on with what a Ctrl-Z stopped; a shell that knows what to do with it says so itself.
        let _ = SigSet::from(Signal::SIGTSTP).thread_block();
    }

    /// A port of the sandbox's own loopback that leads to the proxy, served by this program once more, under the same limits.
    /// It ends with the sandbox.
    fn forwarder() -> std::io::Result<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        // In a group of its own, so that a Ctrl-C is the command's alone; it holds nothing of the terminal.
        Command::new(std::env::current_exe()?)
            .arg(FORWARD)
            .env_clear()
            .stdin(OwnedFd::from(listener))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(port)
    }

    /// Never returns but for an error of the port itself.
    pub(super) fn forward() -> std::io::Result<Infallible> {
        let listener = TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        loop {
            let client = listener.accept()?.0;
            // Whoever cannot be served sees its connection close.
            let Ok(proxy) = UnixStream::connect(PROXY) else { continue };
            let _ = lead(client, proxy);
        }
    }

    fn lead(client: TcpStream, proxy: UnixStream) -> std::io::Result<()> {
        const STACK: usize = 128 << 10;
        let (mut from_client, mut to_client) = (client.try_clone()?, client);
        let (mut from_proxy, mut to_proxy) = (proxy.try_clone()?, proxy);
        let out = move || {
            let _ = std::io::copy(&mut from_client, &mut to_proxy);
            let _ = to_proxy.shutdown(Shutdown::Write);
        };
        let back = move || {
            let _ = std::io::copy(&mut from_proxy, &mut to_client);
            let _ = to_client.shutdown(Shutdown::Write);
        };
        let thread = || std::thread::Builder::new().stack_size(STACK);
        thread().spawn(out)?;
        thread().spawn(back)?;
        Ok(())
    }

    /// Reads and runs what the sandbox shows; writes only to the session's folders and devices; reaches no abstract
    /// socket and signals no process outside. What an older kernel lacks is left out.
    fn landlock(writable: &[PathBuf]) -> Result<bool, landlock::RulesetError> {
        let abi = ABI::V6;
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?
            .add_rules(path_beneath_rules(["/"], AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(writable, AccessFs::from_all(abi)))?
            .add_rules(path_beneath_rules(["/dev", "/proc/self"], AccessFs::from_all(abi)))?;
        Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
    }
}
