//! The second layer inside the sandbox, set up by a small program of ours before the command begins: limits, Landlock
//! (writes only where they are meant), a low priority, and the first place in the queue when the system runs out of
//! memory.
//!
//! It must be a small program: the application itself takes longer to start than the whole sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Limits;

/// The first argument, for a program that does other things too.
pub const SUBCOMMAND: &str = "confine";
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
    #[error("{} could not be started: {source}", program.display())]
    Exec { program: PathBuf, source: std::io::Error },
}

/// What [`confine`] is called with, before the command's own words.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has this layer"))]
pub(super) fn arguments(limits: &Limits, writable: &[&Path]) -> Vec<OsString> {
    let numbers = [
        limits.file,
        limits.memory,
        limits.cpu,
        u64::from(limits.open_files),
        u64::from(limits.processes),
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

#[cfg(not(target_os = "linux"))]
pub fn confine(_arguments: impl IntoIterator<Item = OsString>) -> ConfineError {
    ConfineError::Arguments("only Linux confines in this way".into())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::convert::Infallible;
    use std::ffi::OsString;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::Command;

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};

    use super::{ConfineError, IN_FORCE, TELL};

    /// How far a command gives way to the user's own programs, as `nice` counts.
    const GIVES_WAY: i32 = 5;

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
        let count = number("number of folders")?;
        let writable: Vec<PathBuf> = (0..count).map_while(|_| words.next()).map(PathBuf::from).collect();
        let program = words.next().ok_or_else(|| ConfineError::Arguments("no command".into()))?;
        for (what, resource, most) in limits {
            let most = Some(most);
            setrlimit(resource, Rlimit { current: most, maximum: most })
                .map_err(|error| ConfineError::Limit { what, source: error.into() })?;
        }
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
        let source = Command::new(&program).args(words).env_remove(TELL).exec();
        Err(ConfineError::Exec { program: program.into(), source })
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
