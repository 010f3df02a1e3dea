//! What a command cannot do, tried from inside with the system's own tools and with bare system calls.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::fs::MetadataExt;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};

use space::terminal::CommandSpec;

use crate::stage::{here, here_with};

/// A system call from perl, which every Debian and Fedora has: `0`, or the error's number.
fn call(number: i64, arguments: &str) -> String {
    format!("perl -e '$! = 0; my $r = syscall({number}, {arguments}); print $r < 0 ? $!+0 : 0'")
}

#[tokio::test]
async fn the_confinement_is_in_force() {
    let here = here();
    let status = here.says("grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status | tr -d '\\t'").await;
    assert_eq!(status, "CapEff:0000000000000000\nNoNewPrivs:1\nSeccomp:2");
}

/// Everything about a folder that could have been changed.
fn state(folder: &Path) -> BTreeMap<String, (u32, u32, i64, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let about = path.symlink_metadata().unwrap();
        let mut content = Vec::new();
        if about.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if about.is_file() {
            content = std::fs::read(&path).unwrap();
        }
        let about = (
            about.st_mode(),
            about.st_uid(),
            about.st_mtime() * 1_000_000_000 + about.st_mtime_nsec(),
            about.st_size() as i64,
            content,
        );
        all.insert(path.display().to_string(), about);
    }
    all
}

// bar: C10
#[tokio::test]
async fn nothing_outside_of_the_space_changes_by_any_of_thirty_and_more_means() {
    let here = here();
    let space = here.space.path();
    let outside = tempfile::tempdir().unwrap();
    // Something that is visible inside, too: what is installed.
    let out = outside.path().display().to_string();
    std::fs::write(outside.path().join("file"), "as it was").unwrap();
    std::fs::create_dir(outside.path().join("folder")).unwrap();
    symlink(outside.path(), space.join("link")).unwrap();
    symlink(outside.path().join("file"), space.join("leaf")).unwrap();
    symlink(outside.path().join("new"), space.join("dangling")).unwrap();
    let usr = state(Path::new("/usr/share/doc/bash"));
    let before = state(outside.path());
    let up = "../".repeat(20);
    let mount =
        [libc::SYS_mount, libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_pivot_root];
    let mut tries: Vec<String> = vec![
        format!("echo x > {out}/new"),
        format!("echo x >> {out}/file"),
        format!("cp /etc/passwd {out}/file"),
        format!("touch a && mv a {out}/file"),
        format!("ln /etc/passwd {out}/hard"),
        format!("ln -s / {out}/soft"),
        format!("rm -rf {out}"),
        format!("chmod 777 {out}/file"),
        format!("chown 1000 {out}/file"),
        format!("touch -d 2001-01-01 {out}/file"),
        format!("mkdir -p {out}/made/deep"),
        format!("rmdir {out}/folder"),
        format!("truncate -s 0 {out}/file"),
        format!("dd if=/dev/zero of={out}/file bs=1 count=3"),
        format!("perl -e 'open F, \">\", \"{out}/file\" or die; print F 1'"),
        format!("perl -e 'utime 1, 1, \"{out}/file\" or die'"),
        format!("setfattr -n user.x -v y {out}/file || perl -e 'syscall({}, \"{out}/file\", \"user.x\", \"y\", 1, 0) == 0 or die'", libc::SYS_setxattr),
        "echo x > link/new; echo x > leaf; echo x > dangling; rm -rf link/*; chmod 700 link".into(),
        format!("cd {up}; echo x > tmp/{}/new", outside.path().file_name().unwrap().display()),
        format!("mkdir t; ln -s {out} t/s; tar cf t.tar -C t s; mkdir u; cd u; tar xPf ../t.tar; echo x > s/new"),
        format!("tar cPf t.tar --transform 's|^|{out}/|' /etc/passwd; tar xPf t.tar"),
        format!("git init -q r; cd r; git config core.worktree {out}; git commit -q --allow-empty -m x; git checkout -f"),
        format!("echo x > /proc/self/root{out}/new; echo x > /proc/1/root{out}/new; echo x > /proc/self/cwd/{up}{out}/new"),
        "for p in /proc/[0-9]*/root /proc/[0-9]*/cwd; do echo x > $p/usr/share/doc/bash/new; done".into(),
        "for fd in 3 4 5 6 7 8 9 10; do echo x >&$fd; done 2>/dev/null; ls -l /proc/1/fd".into(),
        "rm -rf /usr/share/doc/bash; echo x > /usr/share/doc/bash/new; touch /usr/share/doc/bash".into(),
        "mount -o remount,rw /usr; mount -o remount,rw /; umount -l /usr; umount /tmp".into(),
        format!("unshare -Urm sh -c 'mount -o remount,rw /usr; echo x > /usr/share/doc/bash/new; mount --bind / /mnt; echo x > {out}/new'"),
        "mkdir n; unshare -r chroot n; nsenter -t 1 -a sh -c 'touch /usr/share/doc/bash/new'".into(),
        format!("su -c 'touch {out}/new'; sudo -n touch {out}/new; pkexec touch {out}/new; passwd -d root"),
        format!("mknod d b 8 0 || mknod d c 1 1; echo x > d; at now <<< 'touch {out}/new'; crontab - <<< '* * * * * touch {out}/new'"),
        format!("systemd-run --user touch {out}/new; dbus-send --session / a.b; echo 'touch {out}/new' | nc -U /run/docker.sock"),
        "echo x > /dev/sda; echo x > /dev/vda; echo x > /dev/mem; echo b > /proc/sysrq-trigger; echo '|/x' > /proc/sys/kernel/core_pattern".into(),
    ];
    tries.extend(mount.map(|number| call(number, "\"none\", \"/mnt\", \"tmpfs\", 0, 0")));
    assert!(tries.len() >= 30);
    for one in &tries {
        let spec = CommandSpec { timeout: Some(std::time::Duration::from_secs(20)), ..CommandSpec::new(one) };
        let outcome = here.run_spec(spec).await;
        assert_eq!(state(outside.path()), before, "{one}\n{}", outcome.text);
        assert_eq!(state(Path::new("/usr/share/doc/bash")), usr, "{one}\n{}", outcome.text);
        // Links that a try may have broken.
        for (name, target) in [("link", ""), ("leaf", "file"), ("dangling", "new")] {
            let _ = std::fs::remove_file(space.join(name));
            symlink(outside.path().join(target), space.join(name)).unwrap();
        }
    }
}

// bar: C10
#[tokio::test]
async fn what_git_runs_later_cannot_be_written_nor_moved_aside() {
    let here = here();
    let git = here.space.path().join(".git");
    std::fs::create_dir_all(git.join("hooks")).unwrap();
    std::fs::write(git.join("config"), "[core]\n").unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    // Not there yet in the second one.
    let nested = here.space.path().join("a/b/.git");
    std::fs::create_dir_all(&nested).unwrap();
    std::fs::write(nested.join("config"), "").unwrap();
    for one in [
        "echo evil > .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "mv .git/hooks .git/h; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm .git/config; echo evil > .git/config; echo evil > c; mv -f c .git/config",
        "git config core.hooksPath /tmp",
        "mkdir -p a/b/.git/hooks; echo evil > a/b/.git/hooks/pre-commit",
        "mv a x; mkdir -p a/b/.git/hooks; echo evil > a/b/.git/hooks/pre-commit; mv x/b/.git/hooks x/b/.git/h",
    ] {
        here.run(one).await;
        let hooks = std::fs::read_dir(git.join("hooks")).unwrap().count();
        let config = std::fs::read_to_string(git.join("config")).unwrap();
        assert_eq!((hooks, config.as_str()), (0, "[core]\n"), "{one}");
        let nested = here.space.path().join("a/b/.git/hooks");
        assert_eq!(std::fs::read_dir(nested).map_or(0, Iterator::count), 0, "{one}");
        let _ = std::fs::rename(here.space.path().join("x"), here.space.path().join("a"));
    }
    assert_eq!(here.says("echo content > .git/index && cat .git/index").await, "content");
}

// bar: C11
#[tokio::test]
async fn with_the_network_off_nothing_gets_out() {
    let here = here();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let said = here.says(&format!("echo x > /dev/tcp/127.0.0.1/{tcp_port} && echo through")).await;
    assert!(said.contains("refused") && !said.contains("through"), "{said}");
    here.run(&format!("echo x > /dev/udp/127.0.0.1/{udp_port}")).await;
    let said = here.says("echo x > /dev/tcp/1.1.1.1/53 && echo through").await;
    assert!(said.contains("unreachable"), "{said}");
    assert_ne!(here.says("getent hosts example.com && echo found").await, "found");
    assert_eq!(tcp.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(udp.recv(&mut [0; 8]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    // netlink, packet, alg, vsock, bluetooth: not permitted.
    for family in [libc::AF_NETLINK, libc::AF_PACKET, libc::AF_ALG, libc::AF_VSOCK, libc::AF_BLUETOOTH] {
        let said = here.says(&call(libc::SYS_socket, &format!("{family}, 2, 0"))).await;
        assert_eq!(said, libc::EPERM.to_string(), "family {family}");
    }
    for number in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        assert_eq!(here.says(&call(number, "8, 0")).await, libc::ENOSYS.to_string());
    }
}

// bar: C12
#[tokio::test]
async fn sockets_of_the_desktop_cannot_be_reached() {
    let here = here();
    // One where X11 puts its own, one beside the Space, an abstract one, and one where session buses are.
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("bus");
    let name = format!("miki-test-{}", std::process::id());
    let listeners = [
        UnixListener::bind(&path).unwrap(),
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
    ];
    let connect = |address: &str| {
        format!(
            "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); print connect(S, pack_sockaddr_un({address})) ? \"through\" : \"no\"'"
        )
    };
    assert_eq!(here.says(&connect(&format!("\"{}\"", path.display()))).await, "no");
    assert_eq!(here.says(&connect(&format!("\"\\0{name}\""))).await, "no");
    for listener in listeners {
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }
    assert_eq!(
        here.says("ls -A /run /tmp/.X11-unix /var/run 2>/dev/null | grep -v confine")
            .await
            .replace("/run:", "")
            .trim(),
        ""
    );
    assert_eq!(here.says("find / -xdev -type s 2>/dev/null; find /tmp /run -type s 2>/dev/null").await, "");
    assert_eq!(
        here.says("echo \"$DISPLAY$WAYLAND_DISPLAY$DBUS_SESSION_BUS_ADDRESS$SSH_AUTH_SOCK$XDG_RUNTIME_DIR\"")
            .await,
        ""
    );
}

/// Not a test of its own: what the next ones start, with an environment of their choice. Says what a command in the
/// terminal of such a process says.
#[tokio::test]
async fn a_process_that_runs_what_it_is_told() {
    let Ok(command) = std::env::var("SPACE_TEST_RUN") else { return };
    let here = here_with(|_| {});
    let spec = CommandSpec { columns: 900, ..CommandSpec::new(command) };
    let job = here.terminal.start(spec, |_| {}).unwrap();
    println!("\nstarted");
    let outcome = job.wait().await.unwrap();
    println!("{}\nended", outcome.text);
}

pub fn told(command: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "--nocapture", "confinement::a_process_that_runs_what_it_is_told"]);
    program.env("SPACE_TEST_RUN", command).stdout(Stdio::piped()).stderr(Stdio::null());
    program
}

fn said_by(mut program: Command) -> String {
    let output = program.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, said) = text.split_once("started\n").unwrap_or_else(|| panic!("{text}"));
    said.split_once("\nended").unwrap_or_else(|| panic!("{text}")).0.to_owned()
}

// bar: C13, C14
#[test]
fn a_commands_environment_is_the_short_list_and_ours_cannot_be_read() {
    let canaries: Vec<(String, String)> =
        ["MIKI_KEY_ANTHROPIC", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DISPLAY"]
            .iter()
            .map(|name| (*name).to_owned())
            .chain((0..20).map(|n| format!("CANARY_{n}")))
            .map(|name| (name.clone(), format!("canary-of-{name}")))
            .collect();
    let mut program = told("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'");
    program.envs(canaries).env("LC_TIME", "C").env("LD_PRELOAD", "").env("BASH_ENV", "/canary");
    let said = said_by(program);
    assert!(!said.contains("canary"), "{said}");
    let names: std::collections::BTreeSet<&str> =
        said.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let allowed = [
        "PATH",
        "TERM",
        "HOME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "USER",
        "LOGNAME",
        "PWD",
        "SHELL",
        "PAGER",
        "GIT_PAGER",
        "GIT_TERMINAL_PROMPT",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_VALUE_0",
        "GIT_CONFIG_KEY_1",
        "GIT_CONFIG_VALUE_1",
        "GIT_OPTIONAL_LOCKS",
        "SHLVL",
        "_",
        "OLDPWD",
    ];
    for name in names {
        assert!(allowed.contains(&name) || name.starts_with("LC_"), "{name}");
    }
}

// bar: C13
#[tokio::test]
async fn our_memory_our_files_and_other_processes_are_out_of_sight() {
    let here = here();
    let us = std::process::id();
    // A pid namespace of its own: our number is nobody there, or one of the command's.
    let seen = here.says("ls /proc | grep -c '^[0-9]'").await;
    assert!(seen.parse::<u32>().unwrap() < 10, "{seen}");
    let said = here.says(&format!("cat /proc/{us}/environ; cat /proc/{us}/maps; echo")).await;
    assert!(said.contains("No such file"), "{said}");
    let home = std::env::home_dir().unwrap();
    assert_eq!(here.says(&format!("ls -A {} 2>/dev/null | grep -v '^space$'", home.display())).await, "");
    for secret in
        ["/etc/shadow", "/etc/ssh", "/etc/machine-id", "/root", "/var/lib", "/sys", "/boot", "/etc/sudoers"]
    {
        assert_eq!(
            here.says(&format!("ls -Ad {secret}/* {secret} 2>/dev/null | head -3")).await,
            "",
            "{secret}"
        );
    }
    for number in [
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_bpf,
        libc::SYS_keyctl,
        libc::SYS_userfaultfd,
        libc::SYS_perf_event_open,
        libc::SYS_unshare,
        libc::SYS_setns,
    ] {
        assert_eq!(here.says(&call(number, "0, 1, 0, 0, 0")).await, libc::EPERM.to_string(), "{number}");
    }
    assert_eq!(
        here.says(&call(libc::SYS_clone, &format!("{} | 17, 0, 0, 0, 0", libc::CLONE_NEWUSER))).await,
        libc::EPERM.to_string()
    );
    assert_eq!(here.says(&call(libc::SYS_clone3, "0, 0")).await, libc::ENOSYS.to_string());
    // The same call under its x32 number.
    #[cfg(target_arch = "x86_64")]
    assert_ne!(here.says(&call(libc::SYS_bpf | 0x4000_0000, "0, 0, 0")).await, "0");
}

// bar: C18
#[tokio::test]
async fn typing_into_the_terminal_by_ioctl_is_refused_and_would_reach_nobody() {
    let here = here();
    let spec = "perl -e 'for my $r (0x5412, 0x541C, 0x1_0000_5412) { my $x = \"x\"; $! = 0; ioctl(STDIN, $r, $x); print $!+0, \" \"; }'";
    let said = here.says(spec).await;
    assert!(said.starts_with("1 1 1"), "{said}");
    // The terminal is the command's own: opened for it, and closed with it.
    let one = here.says("stat -Lc %t:%T /proc/self/fd/0").await;
    assert!(one.starts_with("88:"), "{one}");
}

/// What a command says of a file that is closed to it.
const CLOSED: &str = "Permission denied";

// bar: C7
#[tokio::test]
async fn what_holds_keys_cannot_be_read_by_a_command_that_was_not_allowed_to() {
    let here = here();
    let space = here.space.path();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n";
    for (name, text) in [
        (".env", "TOKEN=canary"),
        ("app/.env.local", "TOKEN=canary"),
        (".npmrc", "//r/:_authToken=canary"),
        ("a/b/c/d/.netrc", "password canary"),
        (".ssh/config", "canary"),
        ("certs/own.pem", key),
        ("certs/id_ed25519", key),
        ("certs/public.pem", "-----BEGIN CERTIFICATE-----\nfor all"),
        (".env.example", "TOKEN= for all"),
        ("notes.txt", "for all"),
    ] {
        let path = space.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for one in [
        "grep -rn canary . ; cat .e* ; cat */*/*/*/.n* ; cat .ssh/* certs/*",
        "find . -type f -exec cat {} +",
        "cp -r . /tmp/all; grep -r canary /tmp/all",
        "tar cf /tmp/x.tar . ; tar xOf /tmp/x.tar",
        "ln .env link; cat link; mv .env moved; cat moved; cat /proc/self/cwd/.env",
        "chmod 644 .env; cat .env; umount .env; cat .env",
        "mv app other; cat other/.env.local; mv .ssh ssh; cat ssh/config; mv other app",
        "perl -e 'open F, \"<.env\" and print <F>'; dd if=.env; strings .env; mv a x; cat x/b/c/d/.netrc",
    ] {
        let said = here.says(one).await;
        assert!(!said.contains("canary"), "{one}: {said}");
    }
    let said = here.says("cat .env; cat certs/public.pem .env.example notes.txt").await;
    assert!(said.contains(CLOSED) && said.matches("for all").count() == 3, "{said}");
    assert_eq!(std::fs::read_to_string(space.join(".env")).unwrap(), "TOKEN=canary");
    // What the user said yes to is open, and nothing else.
    let opened = vec![space::files::SpacePath::parse(".env", space, space::files::Names::HERE).unwrap()];
    let spec = CommandSpec { opened, ..CommandSpec::new("cat .env .npmrc; echo more >> .env") };
    let said = here.run_spec(spec).await.text;
    assert!(said.contains("TOKEN=canary") && said.contains(CLOSED) && !said.contains("_authToken"), "{said}");
    assert_eq!(std::fs::read_to_string(space.join(".env")).unwrap(), "TOKEN=canarymore\n");
    // What came since is closed to the next one.
    std::fs::write(space.join("app/.env"), "TOKEN=canary").unwrap();
    let said = here.says("cat app/.env").await;
    assert!(said.contains(CLOSED) && !said.contains("canary"), "{said}");
}

// bar: C7, C10
#[tokio::test]
async fn what_runs_something_later_cannot_be_changed_by_a_command_and_what_it_makes_is_told() {
    let here = here();
    let space = here.space.path();
    for name in [".vscode/tasks.json", ".envrc", "sub/.husky/pre-commit", ".mcp.json", "sub/x.code-workspace"]
    {
        let path = space.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "as it was").unwrap();
    }
    let before = state(space);
    let kept = |all: &BTreeMap<String, (u32, u32, i64, i64, Vec<u8>)>| {
        all.iter().map(|(path, about)| (path.clone(), about.4.clone())).collect::<BTreeMap<_, _>>()
    };
    for one in [
        "echo evil > .vscode/tasks.json; echo evil > .vscode/new.json; echo evil >> .envrc; rm -f .mcp.json",
        "mv .vscode v; rm -rf .vscode; mv -f /etc/passwd .envrc; cp /etc/passwd .mcp.json; rm -rf sub",
        "mv sub other; mkdir -p sub/.husky; echo evil > sub/.husky/pre-commit; chmod 755 .envrc",
        "echo evil > sub/.husky/post-merge; sed -i s/as/evil/ sub/x.code-workspace; ln -sf /x .envrc",
    ] {
        here.run(one).await;
        assert_eq!(kept(&state(space)), kept(&before), "{one}");
    }
    let made = async |line: &str, opened: &[&str]| {
        let parse =
            |name: &&str| space::files::SpacePath::parse(name, space, space::files::Names::HERE).unwrap();
        let spec = CommandSpec { opened: opened.iter().map(parse).collect(), ..CommandSpec::new(line) };
        let job = here.terminal.start(spec, |_| {}).unwrap();
        job.wait().await.unwrap();
        let made = here.terminal.made_by(&job);
        made.into_iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        made("mkdir -p n/.vscode; echo x > n/.vscode/tasks.json; echo x > n/.envrc", &[]).await,
        ["n/.envrc", "n/.vscode"]
    );
    assert_eq!(
        made("mkdir -p m/.vscode; echo x > m/.vscode/tasks.json", &["m/.vscode/tasks.json"]).await,
        [""; 0]
    );
    assert_eq!(made("git init -q r; echo x > r/a; git -C r add .", &[]).await, [""; 0]);
    assert_eq!(
        made("git init -q e; git -C e config core.fsmonitor ./x; echo x > e/.git/hooks/pre-commit", &[])
            .await,
        ["e/.git/config", "e/.git/hooks"]
    );
    assert_eq!(made("mkdir l; echo 'gitdir: ../elsewhere' > l/.git; git init -q deep/down; git -C deep/down config diff.external x", &[]).await, [
        "deep/down/.git/config",
        "l/.git"
    ]);
}

#[tokio::test]
async fn a_look_at_a_repository_runs_nothing_that_its_configuration_or_its_hooks_name() {
    let here = here();
    let space = here.space.path();
    let git = |arguments: &[&str]| {
        let mut line = Command::new("git");
        line.args(arguments).current_dir(space).env("HOME", space).env("GIT_CONFIG_NOSYSTEM", "1");
        line.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(git(&["init"]));
    std::fs::write(space.join("evil"), "#!/bin/sh\ntouch ran\ncat \"$@\" 2>/dev/null\n").unwrap();
    std::fs::set_permissions(space.join("evil"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    std::fs::write(space.join("a.txt"), "one\n").unwrap();
    std::fs::write(space.join(".gitattributes"), "*.txt diff=evil filter=evil merge=evil\n").unwrap();
    assert!(git(&["add", "a.txt", ".gitattributes"]));
    assert!(git(&["-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-m", "one"]));
    let config = "[core]\n\tfsmonitor = ./evil\n\tpager = ./evil\n\thooksPath = .\n[diff]\n\texternal = ./evil\n\
                  [diff \"evil\"]\n\ttextconv = ./evil\n\tcommand = ./evil\n[filter \"evil\"]\n\tclean = ./evil\n\tsmudge = ./evil\n\
                  [gpg]\n\tprogram = ./evil\n[log]\n\tshowSignature = true\n[include]\n\tpath = ../more\n";
    let own = std::fs::read_to_string(space.join(".git/config")).unwrap();
    std::fs::write(space.join(".git/config"), format!("{own}{config}")).unwrap();
    std::fs::write(space.join("more"), "[core]\n\tfsmonitor = ./evil\n").unwrap();
    std::fs::create_dir_all(space.join(".git/hooks")).unwrap();
    std::fs::copy(space.join("evil"), space.join(".git/hooks/post-index-change")).unwrap();
    std::fs::write(space.join("a.txt"), "two\n").unwrap();
    let mut said = String::new();
    for one in [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git blame a.txt",
        "git log --show-signature",
        "git ls-files -m",
        "git describe --always",
    ] {
        assert_eq!(
            space::terminal::policy::weigh(one).effect,
            space::terminal::policy::Effect::Reads,
            "{one}"
        );
        said += &here.says(one).await;
        assert!(!space.join("ran").exists(), "{one}: {said}");
    }
    assert!(said.contains("+two") && said.contains("modified"), "{said}");
    assert!(
        std::fs::read_to_string(space.join(".git/config")).unwrap().contains("./evil"),
        "it is the user's"
    );
}
