//! Applications: which run (by their windows) and which could be launched (by their desktop files).
//!
//! Starts what a desktop file names and nothing else: there is no way to a command line from here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use freedesktop_desktop_entry::{DesktopEntry, Iter, default_paths, get_languages_from_env};

use super::ewmh::{Client, Ewmh};
use crate::{Acted, AppView, DesktopError, Evidence, Fence, fence};

/// How long a program may take to show its first window.
const START: Duration = Duration::from_secs(15);
/// How long a new window may take once the program has ended: it has handed over to an instance that runs.
const HANDED_OVER: Duration = Duration::from_secs(1);
/// How long a program may take to close its windows, unless it asks its user.
const END: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(40);
/// Where the system's own programs and desktop files are.
const SYSTEMS: [&str; 7] =
    ["/usr", "/bin", "/opt", "/snap", "/var/lib/flatpak", "/var/lib/snapd", "/nix/store"];
/// Names said to someone who asked for an unknown one.
const NEAREST: usize = 5;
/// Where a program starts, and what tells it where it is shown.
pub(super) struct SessionAddress {
    pub(super) display: Option<String>,
    pub(super) session_bus: Option<String>,
}

/// Something that can be launched.
struct Launchable {
    name: String,
    entry: DesktopEntry,
}

impl Launchable {
    /// Whether a window's class or a wish is this application's: by name, file, program or declared class.
    fn is_called(&self, called: &str) -> bool {
        let entry = &self.entry;
        let program = entry.parse_exec().ok().and_then(|words| words.into_iter().next()).unwrap_or_default();
        let program =
            Path::new(&program).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let last = entry.id().rsplit('.').next().unwrap_or_default();
        [self.name.as_str(), entry.id(), last, &program, entry.startup_wm_class().unwrap_or_default()]
            .iter()
            .any(|name| !name.is_empty() && name.eq_ignore_ascii_case(called))
    }
}

/// All that may be shown to people, by name, once each.
fn launchables() -> Vec<Launchable> {
    let locales = get_languages_from_env();
    let mut all: Vec<Launchable> = Iter::new(default_paths())
        .entries(Some(&locales))
        .filter(|entry| entry.type_() == Some("Application") && !entry.no_display() && !entry.hidden())
        .filter(|entry| entry.exec().is_some() && entry.try_exec().is_none_or(is_installed))
        .map(|entry| Launchable {
            name: entry.name(&locales).unwrap_or(entry.id().into()).into_owned(),
            entry,
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.entry.id().cmp(b.entry.id())));
    all.dedup_by(|a, b| a.name == b.name);
    all
}

fn is_installed(program: &str) -> bool {
    program_file(program).is_some_and(|file| file.exists())
}

/// What runs, then what could be launched.
pub(super) fn list(ewmh: &Ewmh) -> Result<Vec<AppView>, DesktopError> {
    let launchable = launchables();
    let mut apps: Vec<AppView> = Vec::new();
    for client in ewmh.clients()? {
        let name = name_of(&client, &launchable);
        match apps.iter_mut().find(|app| app.name == name) {
            Some(app) => app.windows += 1,
            None => apps.push(AppView { name, pid: client.pid, windows: 1 }),
        }
    }
    for Launchable { name, .. } in launchable {
        if !apps.iter().any(|app| app.name == name) {
            apps.push(AppView { name, pid: None, windows: 0 });
        }
    }
    Ok(apps)
}

fn name_of(client: &Client, launchable: &[Launchable]) -> String {
    let known = launchable.iter().find(|one| one.is_called(&client.app));
    known.map_or_else(|| client.app.clone(), |known| known.name.clone())
}

fn named<'a>(all: &'a [Launchable], app: &str) -> Option<&'a Launchable> {
    // One that is called so comes before one that starts a program of this name: of Thunar's, the file manager before what
    // renames files with it.
    let is_file = |one: &&Launchable| {
        let id = one.entry.id();
        [id, id.rsplit('.').next().unwrap_or_default()].iter().any(|name| name.eq_ignore_ascii_case(app))
    };
    all.iter()
        .find(|one| one.name.eq_ignore_ascii_case(app))
        .or_else(|| all.iter().find(is_file))
        .or_else(|| all.iter().find(|one| one.is_called(app)))
        .or_else(|| only(all.iter().filter(|one| contains(&one.name, app))))
}

/// The program that a name starts, where the system's own files say so.
pub(super) fn launches(app: &str) -> Option<String> {
    let all = launchables();
    let found = named(&all, app)?;
    let program = found.entry.parse_exec().ok()?.into_iter().next()?;
    let is_plain = is_systems(&found.entry.path) && !found.entry.terminal();
    let file = program_file(&program).filter(|file| is_plain && is_systems(file))?;
    Some(file.file_name()?.to_str()?.to_owned())
}

/// Why what a name means would not be launched within a fence.
pub(super) fn outside(app: &str, fence: &Fence) -> Option<DesktopError> {
    let all = launchables();
    check_fence(fence, named(&all, app)?).err()
}

fn check_fence(fence: &Fence, one: &Launchable) -> Result<(), DesktopError> {
    fence::check_app(fence, &[&one.name, one.entry.id()])
}

/// Whether a file is where only the system's administrator installs things, links followed.
fn is_systems(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    SYSTEMS.iter().any(|folder| file.starts_with(folder))
}

/// Where a program is found by its name.
fn program_file(program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.exists())
}

/// Starts an application, and waits for a window of it that was not there before.
pub(super) fn launch(ewmh: &Ewmh, app: &str, address: &SessionAddress) -> Result<Acted, DesktopError> {
    let all = launchables();
    let Some(found) = named(&all, app) else {
        return Err(unknown(app, all.iter().map(|one| one.name.as_str())));
    };
    check_fence(&ewmh.fence.now(), found)?;
    let words = found.entry.parse_exec().map_err(|error| {
        DesktopError::Failed(format!("the desktop file of {} names no command: {error}", found.name))
    })?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(DesktopError::Failed(format!("the desktop file of {} names no command", found.name)));
    };
    let before = ewmh.clients()?;
    let mut command = if found.entry.terminal() {
        let mut terminal = Command::new("x-terminal-emulator");
        terminal.arg("-e").arg(program);
        terminal
    } else {
        Command::new(program)
    };
    command.env_clear().envs(crate::environment::for_children());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own: it lives on when this program ends, and no key of our terminal reaches it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if let Some(folder) = found.entry.path().filter(|folder| !folder.is_empty()) {
        command.current_dir(folder);
    }
    if let Some(display) = &address.display {
        command.env("DISPLAY", display);
    }
    if let Some(bus) = &address.session_bus {
        command.env("DBUS_SESSION_BUS_ADDRESS", bus);
    }
    // Not a terminal, which would hand it on to all that its user starts there.
    if ewmh.works_beside_its_user() && !found.entry.terminal() {
        // Begun long ago, by the time in it (Startup Notification Protocol): its window does not take the focus.
        command.env("DESKTOP_STARTUP_ID", "miki_TIME1");
    }
    let mut child = command
        .spawn()
        .map_err(|error| DesktopError::Failed(format!("start {} ({program}): {error}", found.name)))?;
    let pid = child.id();
    let (ends, ended) = std::sync::mpsc::channel();
    // Someone has to take its exit code, or it stays as a zombie for as long as we run.
    std::thread::spawn(move || ends.send((child.wait(), Instant::now())));
    // What it handed over to an instance that ran: its windows are this one's, whatever their class.
    let instances: Vec<u32> =
        before.iter().filter(|client| found.is_called(&client.app)).filter_map(|client| client.pid).collect();
    let is_its = |client: &Client| {
        found.is_called(&client.app) || client.pid.is_some_and(|its| its == pid || instances.contains(&its))
    };
    let was_there = |client: &Client| before.iter().any(|one| one.window == client.window);
    let name = &found.name;
    let end = Instant::now() + START;
    let mut exit = None;
    loop {
        let clients: Vec<Client> = ewmh.clients()?.into_iter().filter(is_its).collect();
        if let Some(client) = clients.iter().find(|client| !was_there(client)) {
            let note = format!("{name} runs; its window is {}", called(client));
            return Ok(Acted { evidence: Evidence::ReadBack, note });
        }
        exit = exit.or_else(|| ended.try_recv().ok());
        let now = Instant::now();
        match (&exit, clients.first()) {
            // It came, and went: what it wanted is its first instance's to do, which may bring its window up or change it.
            (Some((Ok(status), at)), Some(client)) if status.success() && now > *at + HANDED_OVER => {
                return Ok(ran_already(name, client));
            }
            (Some((Ok(status), at)), None) if !status.success() && now > *at + HANDED_OVER => {
                return Err(DesktopError::Failed(format!(
                    "{name} ended at once, with {status}, and has shown no window"
                )));
            }
            (_, Some(client)) if now > end => return Ok(ran_already(name, client)),
            (_, None) if now > end => {
                let note = format!("{name} was started; it has shown no window within {START:?}");
                return Ok(Acted { evidence: Evidence::Sent, note });
            }
            _ => std::thread::sleep(LOOK),
        }
    }
}

/// What is true of an application that showed no new window, as it had one.
fn ran_already(name: &str, client: &Client) -> Acted {
    let its = called(client);
    if client.is("focused") {
        let note = format!("{name} is already running; its window {its} is in front");
        return Acted { evidence: Evidence::ReadBack, note };
    }
    let note =
        format!("{name} is already running; its window {its} is not in front: focusWindow brings it up");
    Acted { evidence: Evidence::Sent, note }
}

fn called(client: &Client) -> String {
    format!("\"{}\" ({})", client.title, client.window)
}

/// Asks all windows of a running application to close.
pub(super) fn quit(ewmh: &Ewmh, app: &str) -> Result<Acted, DesktopError> {
    let launchable = launchables();
    let clients = ewmh.clients()?;
    let named: Vec<(String, &Client)> =
        clients.iter().map(|client| (name_of(client, &launchable), client)).collect();
    let is_exact = |(name, client): &&(String, &Client)| {
        name.eq_ignore_ascii_case(app)
            || client.app.eq_ignore_ascii_case(app)
            || launchable.iter().any(|one| one.name == *name && one.is_called(app))
    };
    let mut meant: Vec<&(String, &Client)> = named.iter().filter(is_exact).collect();
    if meant.is_empty() {
        meant = named.iter().filter(|(name, _)| contains(name, app)).collect();
    }
    let Some((name, _)) = meant.first() else {
        return Err(unknown(app, named.iter().map(|(name, _)| name.as_str())));
    };
    if let Some((other, _)) = meant.iter().find(|(other, _)| other != name) {
        return Err(DesktopError::BadInput(format!("{app:?} is part of {name} and of {other}; name one")));
    }
    for (name, client) in &meant {
        ewmh.fence.check_app(&[name, &client.app])?;
    }
    let windows: Vec<u32> = meant.iter().map(|(_, client)| client.window).collect();
    for &window in &windows {
        ewmh.close(window)?;
    }
    let end = Instant::now() + END;
    loop {
        let open: Vec<String> = ewmh
            .clients()?
            .into_iter()
            .filter(|client| windows.contains(&client.window) || name_of(client, &launchable) == *name)
            .map(|client| format!("\"{}\"", client.title))
            .collect();
        if open.is_empty() {
            return Ok(Acted {
                evidence: Evidence::ReadBack,
                note: format!("{name} has closed its windows"),
            });
        }
        if Instant::now() > end {
            let note = format!(
                "{name} was asked to end and still shows {}; perhaps it asks its user first",
                open.join(", ")
            );
            return Ok(Acted { evidence: Evidence::Sent, note });
        }
        std::thread::sleep(LOOK);
    }
}

fn contains(name: &str, part: &str) -> bool {
    !part.is_empty() && name.to_lowercase().contains(&part.to_lowercase())
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Names the nearest of those that there are.
fn unknown<'a>(app: &str, names: impl Iterator<Item = &'a str>) -> DesktopError {
    let wanted = app.to_lowercase();
    let mut names: Vec<(&str, f64)> =
        names.map(|name| (name, strsim::jaro_winkler(&wanted, &name.to_lowercase()))).collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    names.dedup_by_key(|(name, _)| *name);
    let nearest: Vec<&str> = names.iter().take(NEAREST).map(|(name, _)| *name).collect();
    let nearest = if nearest.is_empty() {
        "there is none".into()
    } else {
        format!("the nearest are {}", nearest.join(", "))
    };
    DesktopError::NotFound(format!("application {app:?}; {nearest}"))
}

#[cfg(test)]
mod tests;
