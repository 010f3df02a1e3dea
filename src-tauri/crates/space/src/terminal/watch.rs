//! The processes of a command: how many they are, how much memory they take, and their end.
//!
//! In a pid namespace one signal ends them all. Without one (no sandbox, other systems) they are found by who started
//! them, which a process that means to can escape.

use super::{Confinement, Limits};

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "limits are watched on Linux only"))]
pub(super) enum Watched {
    Within,
    TooMany,
    TooLarge,
}

pub(super) struct Tree {
    root: Option<u32>,
    /// The root's end is everybody's.
    #[cfg_attr(
        not(any(target_os = "linux", windows)),
        allow(dead_code, reason = "only Linux has pid namespaces")
    )]
    namespace: bool,
}

impl Tree {
    pub(super) fn of(root: Option<u32>, confinement: Confinement) -> Self {
        Self { root, namespace: cfg!(target_os = "linux") && confinement != Confinement::None }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    use super::{Limits, Tree, Watched};

    impl Tree {
        pub(in crate::terminal) fn watch(&self, limits: &Limits) -> Watched {
            // The root is the sandbox itself, with a monitor and an init that are not the command's.
            let most = limits.processes as usize + 3;
            let all = self.members(most + 1);
            if all.len() > most {
                return Watched::TooMany;
            }
            let sum = |of: fn(u32) -> u64| all.iter().map(|&pid| of(pid)).sum::<u64>();
            let too_large = sum(resident) > limits.memory && sum(proportional) > limits.memory;
            if too_large { Watched::TooLarge } else { Watched::Within }
        }

        pub(in crate::terminal) fn kill(&self) {
            // In a pid namespace the first signal is enough: its init dies with the root. The next few are for one that
            // is only being set up.
            let all = self.members(if self.namespace { 32 } else { 10_000 });
            for pid in all.into_iter().filter_map(process) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }

        pub(in crate::terminal) fn kill_leftovers(&self) {
            // The process group has the number of the command's own process; while it has members the number is theirs.
            if let Some(pid) = self.root.and_then(process) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }

        fn members(&self, most: usize) -> Vec<u32> {
            let mut all: Vec<u32> = self.root.into_iter().collect();
            let mut at = 0;
            while at < all.len() && all.len() <= most {
                let pid = all[at];
                at += 1;
                let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
                for task in tasks.flatten() {
                    let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
                    all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
                }
            }
            all
        }
    }

    fn process(pid: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(pid).ok()?)
    }

    /// Memory a process wrote to, private and shared. Shared memory is counted for each that maps it.
    fn resident(pid: u32) -> u64 {
        kilobytes(&format!("/proc/{pid}/status"), &["RssAnon:", "RssShmem:"])
    }

    /// The same with shared memory divided by those who share it: exact, and slow.
    fn proportional(pid: u32) -> u64 {
        kilobytes(&format!("/proc/{pid}/smaps_rollup"), &["Pss_Anon:", "Pss_Shmem:"])
    }

    fn kilobytes(file: &str, names: &[&str]) -> u64 {
        let text = fs::read_to_string(file).unwrap_or_default();
        let value = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
        let lines = text.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
        lines.filter_map(value).sum::<u64>() << 10
    }
}

#[cfg(not(target_os = "linux"))]
impl Tree {
    pub(super) fn watch(&self, _limits: &Limits) -> Watched {
        Watched::Within
    }

    /// The caller ends the command's own process; its group is all that is known here.
    pub(super) fn kill(&self) {
        self.kill_leftovers();
    }

    pub(super) fn kill_leftovers(&self) {
        #[cfg(unix)]
        if let Some(pid) = self.root.and_then(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?))
        {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        #[cfg(not(unix))]
        let _ = (self.root, self.namespace);
    }
}
