//! Whose a listening port is: a port that a profile's file names may be another program's by now.

use std::path::Path;

/// Whether the process that has locked this profile of a browser listens at this port of loopback. Only Linux tells.
#[cfg(target_os = "linux")]
pub(crate) fn is_of(profile: &Path, port: u16) -> bool {
    // `host-PID`
    let lock = std::fs::read_link(profile.join("SingletonLock")).unwrap_or_default();
    let Some((_, pid)) = lock.to_str().and_then(|lock| lock.rsplit_once('-')) else { return false };
    if pid.parse::<u32>().is_err() {
        return false;
    }
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let sockets = listening(port);
    open.flatten().any(|file| {
        std::fs::read_link(file.path())
            .is_ok_and(|file| sockets.iter().any(|socket| file == Path::new(socket)))
    })
}

/// Whether a program of this user listens at a port of loopback.
#[cfg(target_os = "linux")]
pub(crate) fn is_the_users(port: u16) -> bool {
    !listening(port).is_empty()
}

/// The sockets of this user that listen at a port of loopback, as a process's folder of open files names them.
#[cfg(target_os = "linux")]
fn listening(port: u16) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    sockets(&table, port, rustix::process::geteuid().as_raw())
}

/// Those of the system's table of connections.
#[cfg(target_os = "linux")]
fn sockets(table: &str, port: u16, user: u32) -> Vec<String> {
    let (here, user) = (format!("0100007F:{port:04X}"), user.to_string());
    let socket = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_listening = words.get(3) == Some(&"0A");
        let is_it = words.get(1) == Some(&here.as_str()) && words.get(7) == Some(&user.as_str());
        words.get(9).filter(|_| is_listening && is_it).map(|inode| format!("socket:[{inode}]"))
    };
    table.lines().filter_map(socket).collect()
}

/// Nobody tells: none is met there by what its profile says.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_of(_: &Path, _: u16) -> bool {
    false
}

/// The user has named the port.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_the_users(_: u16) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_ours_where_a_program_of_this_user_listens_at_loopback() {
        const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2406 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 0100007F:2406 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 100 0 0 10 0
   2: 0100007F:2407 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 13 1 0 100 0 0 10 0
   3: 00000000:2408 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 100 0 0 10 0
   4: 0100007F:2409 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 15 1 0 100 0 0 10 0
";
        assert_eq!(sockets(TABLE, 0x2406, 1000), ["socket:[11]"]);
        // Another user's, root's, one for all the world, and none.
        for port in [0x2407, 0x2408, 0x2409, 0x2410] {
            assert_eq!(sockets(TABLE, port, 1000), Vec::<String>::new(), "{port:x}");
        }
        assert_eq!(sockets(TABLE, 0x2407, 1001), ["socket:[13]"]);
    }
}
