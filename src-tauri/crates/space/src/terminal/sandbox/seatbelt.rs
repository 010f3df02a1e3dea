//! macOS: the profile that `sandbox-exec` holds a command to. Not run here: cross-checked only.
//!
//! Weaker than bubblewrap: there are no namespaces, so other processes can be seen, and what is not named in the
//! profile is readable. Keys, mail, messages, browsers' profiles and other users' files are named.

use std::path::{Path, PathBuf};

use crate::files::SpacePath;

#[cfg(target_os = "macos")]
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Values come as parameters, so no path is ever read as a part of the profile.
pub(super) const PROFILE: &str = r#"(version 1)
(deny default)
(allow process-fork process-exec signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read*)
(deny file-read* (subpath (param "USERS")))
(deny file-read* (subpath "/Volumes") (subpath "/private/var/root") (subpath "/Library/Keychains"))
(deny file-read* (subpath "/private/tmp") (subpath "/private/var/folders"))
(allow file-read* file-write* (subpath (param "SPACE")) (subpath (param "SCRATCH")))
(allow file-read* file-write* (literal "/dev/null") (literal "/dev/tty") (literal "/dev/zero"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow file-ioctl (regex #"^/dev/tty"))
(allow file-read* file-write* (regex #"^/dev/ttys[0-9]+$"))
(allow pseudo-tty)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow mach-lookup (global-name "com.apple.system.logger"))
(deny network*)
"#;

/// What is closed in a Space, but to a command that may use some of it: what holds keys, and what runs something later.
pub(super) const CLOSED: &str = r#"(deny file-read-data (regex #"/(\.env(\.[^/]*)?|\.envrc|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|id_(rsa|ed25519|ecdsa)|[^/]*\.(kdbx|p12|pfx))$"))
(deny file-read-data (regex #"/\.(ssh|gnupg|aws|kube|azure|password-store)(/|$)"))
(deny file-write* (regex #"/\.git/(modules/.*/)?(hooks(/|$)|config(\.worktree)?$|info/attributes$)"))
(deny file-write* (regex #"/\.(vscode|idea|zed|husky|claude|codex|cursor|gemini|miki|devcontainer)(/|$)"))
(deny file-write* (regex #"/(\.envrc|\.mcp\.json|mcp\.json|\.gitconfig|\.gitmodules|\.bashrc|\.zshrc|\.zshenv|\.profile|[^/]*\.code-workspace)$"))
"#;

/// The words before the command. `proxy` is the port of this machine that its network is behind.
pub(super) fn arguments(
    space: &Path,
    scratch: &Path,
    users: &Path,
    (opened, proxy): (&[SpacePath], Option<u16>),
) -> Vec<String> {
    let parameter = |name: &str, path: &Path| ["-D".to_owned(), format!("{name}={}", path.display())];
    let closed = if opened.is_empty() { CLOSED } else { "" };
    // The last that fits counts.
    let way = proxy
        .map(|port| format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n"))
        .unwrap_or_default();
    let mut words = vec!["-p".to_owned(), format!("{PROFILE}{closed}{way}")];
    words.extend(parameter("SPACE", space));
    words.extend(parameter("SCRATCH", scratch));
    words.extend(parameter("USERS", users));
    words
}

/// The words of a shell that takes the bounds of each process on itself, before those of the program that it becomes. How
/// many processes there are and what memory they take is watched from outside.
pub(super) fn bounded(limits: &crate::terminal::Limits) -> [String; 3] {
    let crate::terminal::Limits { file, cpu, open_files, .. } = limits;
    // Of files in blocks of 512 bytes, of processor time in seconds.
    let bounds = format!("ulimit -f {}; ulimit -t {cpu}; ulimit -n {open_files}", file / 512);
    // A bound that is lower already stays.
    ["/bin/sh".into(), "-c".into(), format!("{{ {bounds}; }} 2>/dev/null; exec \"$0\" \"$@\"")]
}

#[cfg(target_os = "macos")]
pub(super) fn launch(
    place: &super::Enclosure,
    folder: PathBuf,
    spec: &crate::terminal::CommandSpec,
) -> Result<super::Launch, crate::terminal::TerminalError> {
    let proxy = match spec.network.as_ref().map(|network| &network.proxy) {
        None => None,
        Some(super::ProxyAt::Port(port)) => Some(*port),
        Some(super::ProxyAt::Socket(_)) => {
            let why = "programs take the port of a proxy, and no socket".into();
            return Err(crate::terminal::TerminalError::NoNetwork { why });
        }
    };
    let scratch = place.scratch("home").canonicalize().unwrap_or_else(|_| place.scratch("home"));
    let mut line: Vec<std::ffi::OsString> =
        arguments(place.space(), &scratch, Path::new("/Users"), (&spec.opened, proxy))
            .into_iter()
            .map(Into::into)
            .collect();
    line.extend(bounded(&place.limits()).map(Into::into));
    let (program, arguments) = spec.words();
    line.push(program.into());
    line.extend(arguments);
    let mut environment = place.environment();
    environment.push(("HOME", scratch.clone().into()));
    environment.push(("TMPDIR", scratch.into()));
    environment.extend(proxy.into_iter().flat_map(super::proxy_variables));
    Ok(super::Launch {
        program: PROGRAM.into(),
        arguments: line,
        environment,
        folder,
        confinement: super::Confinement::Weaker,
        status: None,
        _closed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_parameter_and_never_a_part_of_the_profile() {
        let evil: PathBuf = "/Users/me/x\")(allow network*)(\"".into();
        let words = arguments(&evil, Path::new("/scratch"), Path::new("/Users"), (&[], None));
        assert_eq!(words[1], format!("{PROFILE}{CLOSED}"));
        let opened = [SpacePath::root().join(".env")];
        assert_eq!(arguments(&evil, Path::new("/s"), Path::new("/Users"), (&opened, None))[1], PROFILE);
        let led = &arguments(&evil, Path::new("/s"), Path::new("/Users"), (&[], Some(4321)))[1];
        assert!(led.ends_with("(allow network-outbound (remote ip \"localhost:4321\"))\n"), "{led}");
        assert_eq!(words[3], format!("SPACE={}", evil.display()));
        assert!(PROFILE.contains("(deny default)") && PROFILE.contains("(deny network*)"));
    }

    /// The shell is of this system; its `ulimit` is POSIX's.
    #[test]
    fn the_bounds_hold_in_what_the_shell_becomes() {
        let limits = crate::terminal::Limits { file: 1024, cpu: 7, open_files: 64, ..Default::default() };
        let [shell, flag, line] = bounded(&limits);
        let told = std::process::Command::new(shell)
            .args([&flag, &line, "/bin/sh", "-c", "ulimit -f; ulimit -t; ulimit -n; echo $1", "sh", "a b"])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout), "2\n7\n64\na b\n");
    }
}
