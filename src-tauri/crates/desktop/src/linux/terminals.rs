//! When the program in a terminal is ready for the next line. A shell reads its line with the terminal in a way of its
//! own, and gives it back before a command runs; what comes meanwhile has line ends that the command does not know, and
//! it would wait for a line for ever. A person does not type that fast.

use std::fs;
use std::time::{Duration, Instant};

use super::pressed::Stop;
use crate::DesktopError;

/// Between two looks, and how many of them in a row find the same program waiting.
const A_LOOK: Duration = Duration::from_millis(15);
const LOOKS: u32 = 4;
/// A program that computes is not waited for longer than that: what is typed is its own matter then.
const MOST: Duration = Duration::from_secs(1);
/// Where nothing can be seen of the program.
const UNSEEN: Duration = Duration::from_millis(150);

/// Waits after an Enter in the terminal with this process.
pub(super) fn rest(terminal: Option<u32>, stop: &Stop) -> Result<(), DesktopError> {
    let end = Instant::now() + MOST;
    let (mut before, mut same) = (None, 0);
    while same < LOOKS {
        stop.pause(A_LOOK)?;
        let Some(now) = terminal.and_then(in_front) else { return stop.pause(UNSEEN) };
        same = if now.waits && before == Some(now.groups.clone()) { same + 1 } else { 0 };
        before = Some(now.groups);
        if Instant::now() >= end {
            break;
        }
    }
    Ok(())
}

/// The process groups that have the keyboard of a terminal's windows, and whether all that is in them waits.
struct InFront {
    groups: Vec<i32>,
    waits: bool,
}

fn in_front(terminal: u32) -> Option<InFront> {
    let processes: Vec<Process> = fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str()?.parse::<u32>().ok()?;
            Process::read(&fs::read_to_string(entry.path().join("stat")).ok()?)
        })
        .collect();
    let shells = processes.iter().filter(|one| one.parent == terminal && one.terminal != 0);
    let mut groups: Vec<i32> = shells.map(|one| one.in_front).filter(|group| *group > 0).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut of_them = processes.iter().filter(|one| groups.contains(&one.group));
    let waits = of_them.all(|one| one.state == 'S');
    (!groups.is_empty()).then_some(InFront { groups, waits })
}

struct Process {
    state: char,
    parent: u32,
    group: i32,
    terminal: i32,
    /// The group that has its terminal's keyboard.
    in_front: i32,
}

impl Process {
    /// From a line of `/proc/PID/stat`: the name, in brackets, may hold anything.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let terminal = fields.nth(1)?.parse().ok()?;
        Some(Self { state, parent, group, terminal, in_front: fields.next()?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_it_is_called() {
        let line = "41 (a) b) S 7 41 40 34816 99 4194304 0";
        let read = Process::read(line).unwrap();
        assert_eq!(
            (read.state, read.parent, read.group, read.terminal, read.in_front),
            ('S', 7, 41, 34816, 99)
        );
        assert!(Process::read("nothing").is_none());
    }
}
