//! Linux: the system calls no command needs and exploits like. The filters are handed to bubblewrap as files.
//!
//! A list of what is refused, not of what is allowed: commands are any program there is. What keeps them in are the
//! namespaces; this takes away ways of attacking the kernel, other processes and the terminal.

use std::collections::BTreeMap;
use std::io;

#[allow(clippy::wildcard_imports, reason = "only numbers, under the names of the calls themselves")]
use libc::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use tempfile::TempDir;

/// Calls that answer "not permitted".
pub(super) const REFUSED: &str = "refused";
/// Calls that answer "no such call", so that programs take the older way.
pub(super) const UNKNOWN: &str = "unknown";

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(super) fn write() -> io::Result<TempDir> {
    let dir = tempfile::tempdir()?;
    for (name, rules, errno) in [(REFUSED, refused()?, EPERM), (UNKNOWN, unknown(), ENOSYS)] {
        std::fs::write(dir.path().join(name), compile(rules, errno)?)?;
    }
    Ok(dir)
}

fn refused() -> io::Result<Rules> {
    let mut rules = Rules::new();
    // Other processes' memory; mounts and namespaces; the kernel itself; keys; handles that walk around mounts.
    for call in [
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_process_madvise,
        SYS_pidfd_getfd,
        SYS_kcmp,
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_chroot,
        SYS_move_mount,
        SYS_open_tree,
        SYS_fsopen,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fspick,
        SYS_mount_setattr,
        SYS_setns,
        SYS_unshare,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_userfaultfd,
        SYS_kexec_load,
        SYS_init_module,
        SYS_finit_module,
        SYS_delete_module,
        SYS_reboot,
        SYS_swapon,
        SYS_swapoff,
        SYS_acct,
        SYS_quotactl,
        SYS_syslog,
        SYS_vhangup,
        SYS_settimeofday,
        SYS_clock_settime,
        SYS_clock_adjtime,
        SYS_sethostname,
        SYS_setdomainname,
        SYS_keyctl,
        SYS_add_key,
        SYS_request_key,
        SYS_open_by_handle_at,
        SYS_name_to_handle_at,
        SYS_fanotify_init,
        SYS_memfd_secret,
        SYS_quotactl_fd,
        SYS_personality,
        SYS_move_pages,
        SYS_migrate_pages,
        SYS_nfsservctl,
        SYS_kexec_file_load,
    ] {
        rules.insert(call, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    for call in [
        SYS_iopl,
        SYS_ioperm,
        SYS_modify_ldt,
        SYS_uselib,
        SYS_ustat,
        SYS_sysfs,
        SYS__sysctl,
        SYS_lookup_dcookie,
    ] {
        rules.insert(call, Vec::new());
    }
    // Typing into a terminal that another program reads.
    let typing = [TIOCSTI, TIOCLINUX].map(|request| when(1, Op::Eq, request));
    rules.insert(SYS_ioctl, typing.into_iter().collect::<io::Result<_>>()?);
    // A namespace of one's own is where most kernel bugs start. (`clone3` hides its flags: see `unknown`.)
    let namespaces =
        [CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP];
    let flags = namespaces.map(|flag| when(0, Op::MaskedEq(flag as u64), flag as u64));
    rules.insert(SYS_clone, flags.into_iter().collect::<io::Result<_>>()?);
    // Sockets: the namespace's own, IPv4 and IPv6. Not the kernel's (netlink, alg), the host's (vsock) or raw ones.
    let families = [AF_UNIX, AF_INET, AF_INET6];
    let other = || -> io::Result<SeccompRule> {
        let conditions = families.map(|family| condition(0, Op::Ne, family as u64));
        SeccompRule::new(conditions.into_iter().collect::<io::Result<_>>()?).map_err(io::Error::other)
    };
    rules.insert(SYS_socket, vec![other()?]);
    rules.insert(SYS_socketpair, vec![other()?]);
    Ok(rules)
}

fn unknown() -> Rules {
    [SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register]
        .map(|call| (call, Vec::new()))
        .into()
}

fn condition(argument: u8, op: Op, value: u64) -> io::Result<SeccompCondition> {
    // The kernel reads these arguments as 32 bits; the upper ones must not tell them apart.
    SeccompCondition::new(argument, Len::Dword, op, value).map_err(io::Error::other)
}

fn when(argument: u8, op: Op, value: u64) -> io::Result<SeccompRule> {
    SeccompRule::new(vec![condition(argument, op, value)?]).map_err(io::Error::other)
}

/// The program in the bytes the kernel reads. A call of another architecture ends the process.
fn compile(mut rules: Rules, errno: i32) -> io::Result<Vec<u8>> {
    // x32: the same calls under other numbers.
    if cfg!(target_arch = "x86_64") {
        let again: Vec<_> = rules.iter().map(|(call, rules)| (call | 0x4000_0000, rules.clone())).collect();
        rules.extend(again);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let action = SeccompAction::Errno(errno as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    Ok(bytes)
}
