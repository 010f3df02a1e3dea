//! The processes of a command: how many they are, how much memory they take, and their end.
//!
//! In a pid namespace one signal ends them all, and so does the end of a job object on Windows, which is no sandbox: it
//! bounds how many they are and leaves none behind, and what they may read and write stays their user's. Without either
//! (no sandbox, macOS) they are found by who started them, which a process that means to can escape.
//!
//! The code for macOS and Windows has not been run here.

use portable_pty::Child;

use super::{Confinement, Limits};

#[cfg_attr(windows, allow(dead_code, reason = "a job's memory is not watched"))]
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
    /// `None` once it has ended, or if there can be none.
    #[cfg(windows)]
    job: std::cell::RefCell<Option<win32job::Job>>,
}

impl Tree {
    pub(super) fn of(child: &(dyn Child + Send + Sync), confinement: Confinement) -> Self {
        Self {
            root: child.process_id(),
            namespace: cfg!(target_os = "linux") && confinement != Confinement::None,
            #[cfg(windows)]
            job: std::cell::RefCell::new(windows::around(child)),
        }
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

#[cfg(windows)]
mod windows {
    use portable_pty::Child;
    use win32job::{ExtendedLimitInfo, Job};

    use super::{Limits, Tree, Watched};

    /// A job object around a command that has just begun: what it started before this stays outside. `None` if the system
    /// gives none.
    pub(super) fn around(child: &(dyn Child + Send + Sync)) -> Option<Job> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).ok()?;
        job.assign_process(child.as_raw_handle()? as isize).ok()?;
        Some(job)
    }

    impl Tree {
        pub(in crate::terminal) fn watch(&self, limits: &Limits) -> Watched {
            let all = self.job.borrow().as_ref().and_then(|job| job.query_process_id_list().ok());
            match all {
                Some(all) if all.len() > limits.processes as usize => Watched::TooMany,
                _ => Watched::Within,
            }
        }

        /// The caller ends the command's own process.
        pub(in crate::terminal) fn kill(&self) {
            self.kill_leftovers();
        }

        /// Its end is that of all that are in it.
        pub(in crate::terminal) fn kill_leftovers(&self) {
            drop(self.job.take());
            let _ = (self.root, self.namespace);
        }
    }
}

/// A process as a table of all of them has it.
#[cfg(any(target_os = "macos", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listed {
    pid: u32,
    parent: u32,
    /// Bytes that are in memory.
    memory: u64,
}

/// Those of a table that a process started, directly or not, and itself.
#[cfg(any(target_os = "macos", test))]
fn below(root: u32, table: &[Listed]) -> Vec<Listed> {
    let mut all: Vec<Listed> = table.iter().copied().filter(|one| one.pid == root).collect();
    let mut at = 0;
    while let Some(Listed { pid, .. }) = all.get(at).copied() {
        at += 1;
        let is_new = |one: &&Listed| one.parent == pid && !all.iter().any(|known| known.pid == one.pid);
        let new: Vec<Listed> = table.iter().filter(is_new).copied().collect();
        all.extend(new);
    }
    all
}

#[cfg(target_os = "macos")]
mod macos {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

    use super::{Limits, Listed, Tree, Watched, below};

    impl Tree {
        pub(in crate::terminal) fn watch(&self, limits: &Limits) -> Watched {
            let all = self.members();
            if all.len() > limits.processes as usize {
                return Watched::TooMany;
            }
            let sum = all.iter().map(|one| one.memory).sum::<u64>();
            if sum > limits.memory { Watched::TooLarge } else { Watched::Within }
        }

        pub(in crate::terminal) fn kill(&self) {
            for pid in self.members().into_iter().filter_map(|one| process(one.pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            self.kill_leftovers();
        }

        pub(in crate::terminal) fn kill_leftovers(&self) {
            if let Some(pid) = self.root.and_then(process) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }

        fn members(&self) -> Vec<Listed> {
            let (Some(root), Ok(mut system)) = (self.root, System::new()) else { return Vec::new() };
            let memory = ProcessRefreshKind::nothing().with_memory();
            system.refresh_processes_specifics(ProcessesToUpdate::All, true, memory);
            let listed = |(pid, process): (&sysinfo::Pid, &sysinfo::Process)| Listed {
                pid: pid.as_u32(),
                parent: process.parent().map_or(0, sysinfo::Pid::as_u32),
                memory: process.memory(),
            };
            below(root, &system.processes().iter().map(listed).collect::<Vec<_>>())
        }
    }

    fn process(pid: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(pid).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_table_of_processes_those_that_a_command_started_are_its_own() {
        let one = |pid, parent| Listed { pid, parent, memory: u64::from(pid) };
        // A process that is its own parent, and two that are each other's: a table is read while it changes.
        let table =
            [one(1, 0), one(7, 1), one(9, 8), one(8, 7), one(5, 1), one(6, 6), one(10, 9), one(9, 10)];
        let pids = |root| below(root, &table).into_iter().map(|one| one.pid).collect::<Vec<_>>();
        assert_eq!(pids(7), [7, 8, 9, 10]);
        assert_eq!((pids(6), pids(5), pids(99)), (vec![6], vec![5], vec![]));
    }
}
