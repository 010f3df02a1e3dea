//! Linux: bubblewrap's command line.
//!
//! The file system is built from nothing: what is not named here does not exist for a command. Sockets of X11, D-Bus,
//! ssh-agent and docker live in `/run`, `/tmp` and the home, which are all the command's own.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::{NamedTempFile, TempDir};

use super::etc;
use super::guard::Found;
use super::place::{ClosedPath, ClosedPaths, Enclosure};
use super::{Confinement, Launch, ProxyAt, Strength, seccomp};
use crate::terminal::{CommandSpec, Limits, TerminalError, confine};

const ROOTS: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const HOME: &str = concat!("/home", "/space");
/// Where the confiner stands inside.
const CONFINER: &str = "/run/confine";
/// Shared memory is not counted with any process.
const SHARED_MEMORY: &str = "268435456";

/// Descriptors cannot be handed through the pseudo-terminal's own start of a process: a shell outside of the sandbox
/// opens the files. It is given no word of the command to read.
const OPEN_FILES: &str = r#"a=$1 b=$2 c=$3; shift 3; exec "$@" 3<"$a" 4<"$b" 5>"$c""#;
/// Inside, where there is no confiner: limits, and the first to go when the system's memory ends. One kilobyte of
/// file size is two blocks in some shells and one in others.
const LIMITS: &str = r#"ulimit -c 0; ulimit -f "$1"; ulimit -d "$2"; ulimit -t "$3"; ulimit -n "$4"
ulimit -u "$5" 2>/dev/null || ulimit -p "$5" 2>/dev/null; echo 1000 >/proc/self/oom_score_adj
shift 5; exec "$@""#;

pub(super) struct Bubblewrap {
    program: PathBuf,
    confiner: Option<PathBuf>,
    landlock: bool,
    /// The filters of system calls, as files.
    filters: Option<TempDir>,
    etc: TempDir,
}

impl Bubblewrap {
    /// The reason, for people, where it cannot be had.
    pub(super) fn probe(confiner: Option<&Path>) -> Result<Self, String> {
        let program = find("bwrap").ok_or("bubblewrap is not installed")?;
        let mut found = Self {
            program,
            confiner: confiner.and_then(|path| path.canonicalize().ok()),
            landlock: false,
            filters: seccomp::write().ok(),
            etc: etc::copy().map_err(|error| format!("a part of /etc could not be copied: {error}"))?,
        };
        let mut tried = found.try_true();
        if tried.is_err() && found.filters.take().is_some() {
            tried = found.try_true();
        }
        if tried.is_err() && found.confiner.take().is_some() {
            tried = found.try_true();
        }
        let said = tried?;
        found.landlock = found.confiner.is_some() && said.contains(confine::IN_FORCE);
        Ok(found)
    }

    pub(super) fn strength(&self) -> Strength {
        Strength::Bubblewrap { seccomp: self.filters.is_some(), landlock: self.landlock }
    }

    fn try_true(&self) -> Result<String, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let setup = crate::terminal::Setup::new(dir.path());
        let place = Enclosure::new(setup).map_err(|error| error.to_string())?;
        let launch = self.launch(&place, place.space(), &CommandSpec::new("true"), &place.look());
        let mut launch = launch.map_err(|error| error.to_string())?;
        if self.confiner.is_some() {
            launch.environment.push((confine::TELL, "1".into()));
        }
        let output = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() && launch.really_ran() { Ok(said) } else { Err(reason(said)) }
    }

    pub(super) fn launch(
        &self,
        place: &Enclosure,
        folder: &Path,
        spec: &CommandSpec,
        found: &Found,
    ) -> Result<Launch, TerminalError> {
        let proxy = self.proxy(spec)?;
        let failed = |error: std::io::Error| TerminalError::SandboxFailed { said: error.to_string() };
        let status = NamedTempFile::new().map_err(failed)?;
        let mut line = Line::default();
        let filters = self.filters.as_ref().map(TempDir::path);
        let filter = |name: &str| filters.map_or_else(|| PathBuf::from("/dev/null"), |dir| dir.join(name));
        line.add(["-c", OPEN_FILES, "sh"]).path(&filter(seccomp::REFUSED)).path(&filter(seccomp::UNKNOWN));
        line.path(status.path()).path(&self.program);
        self.namespaces(&mut line);
        let closed = place.closed(found, &spec.opened).map_err(failed)?;
        file_system(&mut line, place, self.etc.path(), &closed);
        if let Some(confiner) = &self.confiner {
            line.add(["--ro-bind"]).path(confiner).add([CONFINER]);
        }
        if let Some(socket) = proxy {
            // A socket is connected to, and nothing else done to it.
            line.add(["--ro-bind"]).path(socket).add([confine::PROXY]);
        }
        line.add(["--remount-ro", "/", "--chdir"]).path(folder).add(["--"]);
        let limits = place.limits();
        match &self.confiner {
            Some(_) => {
                line.add([CONFINER, confine::SUBCOMMAND]);
                line.0.extend(confine::arguments(
                    &limits,
                    &[place.space(), Path::new(HOME), Path::new("/tmp")],
                    proxy.is_some(),
                ));
            }
            None => line.add(["/bin/sh", "-c", LIMITS, "sh"]).limits(&limits),
        }
        let (program, arguments) = spec.words();
        line.path(&program).0.extend(arguments);
        let mut environment = place.environment();
        environment.push(("HOME", HOME.into()));
        Ok(Launch {
            program: "/bin/sh".into(),
            arguments: line.0,
            environment,
            folder: place.space().to_owned(),
            confinement: if filters.is_some() { Confinement::Full } else { Confinement::Weaker },
            status: Some(status),
            _closed: Some(closed),
        })
    }

    /// Where its proxy listens, if it has one. The confiner leads to it.
    fn proxy<'a>(&self, spec: &'a CommandSpec) -> Result<Option<&'a Path>, TerminalError> {
        let no = |why: &str| TerminalError::NoNetwork { why: why.into() };
        match spec.network.as_ref().map(|network| &network.proxy) {
            None => Ok(None),
            Some(_) if self.confiner.is_none() => Err(no("miki-confine is missing, or does not run")),
            Some(ProxyAt::Port(_)) => Err(no("a port of this machine cannot be reached from the sandbox")),
            Some(ProxyAt::Socket(socket)) => Ok(Some(socket)),
        }
    }

    fn namespaces(&self, line: &mut Line) {
        line.add(["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
        line.add(["--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL", "--hostname", "space"]);
        if self.filters.is_some() {
            line.add(["--add-seccomp-fd", "3", "--add-seccomp-fd", "4"]);
        }
        line.add(["--json-status-fd", "5"]);
    }
}

fn file_system(line: &mut Line, place: &Enclosure, etc: &Path, closed: &ClosedPaths) {
    line.add(["--ro-bind", "/usr", "/usr"]);
    for root in ROOTS.iter().map(Path::new) {
        match root.symlink_metadata() {
            Ok(kind) if kind.is_symlink() => {
                let target = fs::read_link(root)
                    .unwrap_or_else(|_| Path::new("/usr").join(&root.as_os_str().to_string_lossy()[1..]));
                line.add(["--symlink"]).path(&target).path(root);
            }
            Ok(_) => drop(line.add(["--ro-bind"]).path(root).path(root)),
            Err(_) => {}
        }
    }
    line.add(["--ro-bind"]).path(etc).add(["/etc"]);
    for more in ["/opt", "/nix/store"].iter().map(Path::new).filter(|path| path.exists()) {
        line.add(["--ro-bind"]).path(more).path(more);
    }
    line.add(["--proc", "/proc", "--dev", "/dev", "--size", SHARED_MEMORY, "--tmpfs", "/dev/shm"]);
    line.add(["--dir", "/run", "--dir", "/var/tmp"]);
    line.add(["--bind"]).path(&place.scratch("tmp")).add(["/tmp"]);
    line.add(["--bind"]).path(&place.scratch("home")).add([HOME]);
    for path in place.readable() {
        line.add(["--ro-bind-try"]).path(path).path(path);
    }
    line.add(["--bind"]).path(place.space()).path(place.space());
    for closed in closed.paths() {
        match closed {
            ClosedPath::Fixed(path) => line.add(["--bind"]).path(path).path(path),
            ClosedPath::ReadOnly(path) => line.add(["--ro-bind"]).path(path).path(path),
            ClosedPath::Empty(path) => line.add(["--tmpfs"]).path(path).add(["--remount-ro"]).path(path),
            ClosedPath::Hidden(path) => {
                line.add(["--perms", "0000", "--tmpfs"]).path(path).add(["--remount-ro"]).path(path)
            }
            ClosedPath::Replaced { at, by } => line.add(["--ro-bind"]).path(by).path(at),
        };
    }
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn add<const N: usize>(&mut self, words: [&str; N]) -> &mut Self {
        self.0.extend(words.map(OsString::from));
        self
    }

    fn path(&mut self, path: &Path) -> &mut Self {
        self.0.push(path.into());
        self
    }

    fn limits(&mut self, limits: &Limits) {
        let numbers = [
            limits.file >> 10,
            limits.memory >> 10,
            limits.cpu,
            u64::from(limits.open_files),
            u64::from(limits.processes),
        ];
        self.0.extend(numbers.map(|number| number.to_string().into()));
    }
}

/// Only where the system keeps its programs: the user's own `PATH` could name another `bwrap`.
fn find(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
    folders.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

fn reason(said: String) -> String {
    let off = ["No permissions to create", "Creating new namespace failed", "setting up uid map"];
    if off.iter().any(|sign| said.contains(sign)) {
        return format!("user namespaces are switched off on this system: {said}");
    }
    if said.is_empty() { "bubblewrap did not start a command and said nothing".into() } else { said }
}
