//! Finding a browser: one that runs and allows debugging, else one to start with a profile of its own.
//!
//! A browser that we start has no port: it is driven through a pipe, and ends with us (on Windows, which hands on no
//! pipes by number, it listens on loopback). One that is met by its port is trusted only where `listener.rs` says so.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use desktop::DesktopError;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::listener;
use crate::live::Live;
use crate::wire::Wire;
use crate::{Attach, Options};

const PORT_FILE: &str = "DevToolsActivePort";
/// A cold start on a loaded machine.
const START: Duration = Duration::from_secs(45);
const ANSWER: Duration = Duration::from_secs(3);
/// Between two looks, or two tries.
const AGAIN: Duration = Duration::from_millis(100);

#[cfg(target_os = "linux")]
const PROGRAMS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "brave-browser",
    "brave",
    "microsoft-edge",
    "microsoft-edge-stable",
    "vivaldi",
    "vivaldi-stable",
    "opera",
];
#[cfg(target_os = "macos")]
const PROGRAMS: &[&str] = &[
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Vivaldi.app/Contents/MacOS/Vivaldi",
    "/Applications/Opera.app/Contents/MacOS/Opera",
];
/// Below the folders of programs.
#[cfg(windows)]
const PROGRAMS: &[&str] = &[
    r"Chromium\Application\chrome.exe",
    r"Google\Chrome\Application\chrome.exe",
    r"BraveSoftware\Brave-Browser\Application\brave.exe",
    r"Microsoft\Edge\Application\msedge.exe",
    r"Vivaldi\Application\vivaldi.exe",
    r"Programs\Opera\opera.exe",
];

/// Profiles of browsers, below the home folder.
#[cfg(target_os = "linux")]
const PROFILES: &[&str] = &[
    ".config/chromium",
    ".config/google-chrome",
    ".config/BraveSoftware/Brave-Browser",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
];
#[cfg(target_os = "macos")]
const PROFILES: &[&str] = &[
    "Library/Application Support/Chromium",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/BraveSoftware/Brave-Browser",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/Vivaldi",
    "Library/Application Support/com.operasoftware.Opera",
];
#[cfg(windows)]
const PROFILES: &[&str] = &[
    r"AppData\Local\Chromium\User Data",
    r"AppData\Local\Google\Chrome\User Data",
    r"AppData\Local\BraveSoftware\Brave-Browser\User Data",
    r"AppData\Local\Microsoft\Edge\User Data",
    r"AppData\Local\Vivaldi\User Data",
    r"AppData\Roaming\Opera Software\Opera Stable",
];

/// Why there is no browser to be had. Looks at files only.
pub(crate) fn missing(options: &Options) -> Option<String> {
    let found = options.port.is_some()
        || profiles(options).iter().any(|profile| profile.join(PORT_FILE).exists())
        || (program(options).is_some() && has_display(options));
    (!found).then(|| {
        if program(options).is_some() {
            "a browser needs a display; start this from a desktop session, or set DISPLAY".to_owned()
        } else {
            "no browser was found; install Chromium, Chrome, Brave, Edge, Vivaldi or Opera".to_owned()
        }
    })
}

/// What the browser that would be started is called: its program's name.
pub(crate) fn called(options: &Options) -> String {
    program(options)
        .and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .unwrap_or_default()
}

/// What a running process is called: its program's name; empty if that is not told.
pub(crate) fn program_of(pid: u32) -> String {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(any(target_os = "macos", test))]
pub(crate) fn can_start(options: &Options) -> bool {
    program(options).is_some() && has_display(options)
}

/// Attaches to the first browser that answers; `None` if none does.
pub(crate) async fn attach_running(options: &Options) -> Result<Option<Live>, DesktopError> {
    if let Some(port) = options.port {
        if !listener::is_the_users(port) {
            return Err(DesktopError::NotAvailable(format!(
                "no program of yours listens at port {port} of this machine; start a browser with \
                 --remote-debugging-port={port} and a profile folder of its own (--user-data-dir)"
            )));
        }
        let path = endpoint(port).await.map_err(|why| {
            DesktopError::NotAvailable(format!(
                "no browser answers at port {port} of this machine ({why}); start it with --remote-debugging-port={port} \
                 and a profile folder of its own (--user-data-dir)"
            ))
        })?;
        return Live::attach(Wire::connect(port, &path).await?).await.map(Some);
    }
    for profile in profiles(options) {
        let Some((port, path)) = active_port(&profile) else { continue };
        if !listener::is_of(&profile, port) {
            tracing::warn!(port, profile = %profile.display(), "another program listens where a browser did");
            continue;
        }
        match tokio::time::timeout(ANSWER, Wire::connect(port, &path)).await {
            Ok(Ok(wire)) => return Live::attach(wire).await.map(Some),
            // The file of a browser that crashed, or whose user has not allowed it.
            Ok(Err(error)) => tracing::debug!(%error, "a profile names a port that does not answer"),
            Err(_) => tracing::debug!(port, "a browser lets us wait"),
        }
    }
    Ok(None)
}

fn own_profile(options: &Options) -> PathBuf {
    options.data.join("browser")
}

/// Our own first, then the user's.
fn profiles(options: &Options) -> Vec<PathBuf> {
    let mut profiles = vec![own_profile(options)];
    if options.attach == Attach::Any
        && let Some(home) = std::env::home_dir()
    {
        profiles.extend(PROFILES.iter().map(|profile| home.join(profile)));
    }
    profiles
}

/// Port and path as the browser has written them.
fn active_port(profile: &Path) -> Option<(u16, String)> {
    parse_port(&std::fs::read_to_string(profile.join(PORT_FILE)).ok()?)
}

fn parse_port(text: &str) -> Option<(u16, String)> {
    let mut lines = text.lines();
    let port = lines.next()?.trim().parse().ok().filter(|port| *port != 0)?;
    let path = lines.next()?.trim();
    path.starts_with("/devtools/browser").then(|| (port, path.to_owned()))
}

/// Asks a port for the path of its browser's endpoint.
async fn endpoint(port: u16) -> Result<String, String> {
    let ask = async {
        let mut stream = TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port)).await?;
        let request =
            format!("GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        // The browser keeps the connection open, whatever it is asked: the end of the JSON is the end.
        let mut chunk = [0; 4096];
        while answer.len() < 64 * 1024 && !answer.ends_with(b"}") && !answer.trim_ascii_end().ends_with(b"}")
        {
            match stream.read(&mut chunk).await? {
                0 => break,
                count => answer.extend_from_slice(&chunk[..count]),
            }
        }
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = match tokio::time::timeout(ANSWER, ask).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("no answer".into()),
    };
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let told: serde_json::Value = serde_json::from_str(body).map_err(|_| "it is no browser".to_owned())?;
    let address = told["webSocketDebuggerUrl"].as_str().unwrap_or_default();
    match address.find("/devtools/") {
        Some(at) => Ok(address[at..].to_owned()),
        None => Err("it is no browser".into()),
    }
}

/// The browser to start.
fn program(options: &Options) -> Option<PathBuf> {
    if let Some(program) = &options.program {
        return Some(program.clone());
    }
    folders()
        .iter()
        .flat_map(|folder| PROGRAMS.iter().map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

#[cfg(not(windows))]
fn folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

#[cfg(windows)]
fn folders() -> Vec<PathBuf> {
    ["ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA"]
        .iter()
        .filter_map(|name| std::env::var_os(name).map(PathBuf::from))
        .collect()
}

fn has_display(options: &Options) -> bool {
    let named = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || options.display.is_some() || named("DISPLAY") || named("WAYLAND_DISPLAY")
}

/// Starts one.
pub(crate) async fn start(options: &Options) -> Result<Live, DesktopError> {
    if let Some(why) = missing(options) {
        return Err(DesktopError::NotAvailable(why));
    }
    let Some(program) = program(options) else {
        return Err(DesktopError::NotAvailable(
            "no browser that runs allows debugging, and none was found to start".into(),
        ));
    };
    let profile = own_profile(options);
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        DesktopError::NotAvailable(format!("{} {what}: {error}", program.display()))
    };
    std::fs::create_dir_all(&profile).map_err(|error| failed("gets no profile folder", &error))?;
    // What an earlier browser left would be taken for this one's.
    let _none = std::fs::remove_file(profile.join(PORT_FILE));
    let mut command = Command::new(if cfg!(unix) { Path::new("/bin/sh") } else { &program });
    command.env_clear().envs(desktop::environment::for_children());
    #[cfg(target_os = "linux")]
    if let Some(display) = &options.display {
        command.env("DISPLAY", display);
    }
    #[cfg(unix)]
    {
        // The pipe's ends are to be its files 3 and 4. A Ctrl-C to us is none to the browser.
        let numbered = r#"exec 3<&0 4>&1 </dev/null >/dev/null; exec "$0" "$@""#;
        command.args(["-c", numbered]).arg(&program).arg("--remote-debugging-pipe").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
    }
    #[cfg(windows)]
    command
        .args(["--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
        .args(ARGUMENTS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(&options.arguments)
        .stderr(Stdio::null());
    #[cfg(target_os = "linux")]
    {
        if options.display.is_some() {
            command.arg("--ozone-platform=x11");
        }
        // Chromium's sandbox refuses to work for root; nobody else is without it.
        if rustix::process::geteuid().is_root() {
            tracing::warn!("the browser is started without its sandbox, since this runs as root");
            command.arg("--no-sandbox");
        }
    }
    command.arg("about:blank");
    let end = Instant::now() + START;
    while Instant::now() < end {
        let mut child = command.spawn().map_err(|error| failed("does not start", &error))?;
        match answering(&mut child, &profile, end).await {
            Ok(wire) => {
                // Someone has to take its exit code.
                tokio::spawn(async move { child.wait().await });
                let live = Live::attach(wire).await?;
                // It answers before its first window is there.
                let shown = |state: &crate::state::BrowserState| (!state.tabs().is_empty()).then_some(());
                live.wire.until(ANSWER, shown).await;
                return Ok(live);
            }
            Err(Some(status)) if !status.success() => return Err(failed("ended at once", &status)),
            // It left its start to another one with this profile, which may be just ending.
            Err(Some(_)) => tokio::time::sleep(AGAIN).await,
            Err(None) => {
                let _ended = child.start_kill();
            }
        }
    }
    Err(failed("does not answer", &"it was given 45 s"))
}

/// The connection to a browser that was just started, once it answers; else how it ended, `None` if it did not.
#[cfg(unix)]
async fn answering(child: &mut Child, _: &Path, end: Instant) -> Result<Wire, Option<ExitStatus>> {
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else { return Err(None) };
    let wire = Wire::by_pipe(to, from);
    let left = end.saturating_duration_since(Instant::now());
    let answer = match wire.send(None, "Browser.getVersion", serde_json::json!({})).await {
        Ok(asked) => asked.answer(left).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(_) => Ok(wire),
        Err(_) if wire.is_open() => Err(None),
        Err(_) => Err(child.wait().await.ok()),
    }
}

#[cfg(windows)]
async fn answering(child: &mut Child, profile: &Path, end: Instant) -> Result<Wire, Option<ExitStatus>> {
    while Instant::now() < end {
        if let Some((port, path)) = active_port(profile)
            && let Ok(wire) = Wire::connect(port, &path).await
        {
            return Ok(wire);
        }
        if let Some(status) = child.try_wait().ok().flatten().filter(|status| !status.success()) {
            return Err(Some(status));
        }
        tokio::time::sleep(AGAIN).await;
    }
    Err(None)
}

const ARGUMENTS: &[&str] =
    &["--no-first-run", "--no-default-browser-check", "--disable-sync", "--password-store=basic"];

#[cfg(test)]
mod tests;
