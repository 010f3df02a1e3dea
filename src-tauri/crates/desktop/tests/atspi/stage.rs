//! A private desktop with a window manager and accessibility, and real programs on it.

use std::future::Future;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{
    Accessibility, Desktop, DesktopError, Element, ElementAction, ElementQuery, Operated, Options, Selector,
    Snapshot, Target, ToldElements,
};
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;
use tokio_util::sync::CancellationToken;
use x11rb::rust_connection::RustConnection;

#[allow(clippy::duplicate_mod, reason = "one test has the other stage beside this one")]
#[path = "../x11/managed.rs"]
mod managed;

use self::managed::wait_for_manager;

/// A private desktop; everything in it ends with it.
pub struct Stage {
    home: tempfile::TempDir,
    pub display: String,
    pub bus: String,
    /// Each leads a process group, so that what it starts ends with it.
    running: Vec<Child>,
}

impl Stage {
    pub fn open() -> Self {
        let mut stage = Self::without_manager();
        stage.start("openbox", &[]);
        wait_for_manager(&RustConnection::connect(Some(&stage.display)).unwrap().0);
        stage
    }

    pub fn without_manager() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut stage = Self { home, display: String::new(), bus: String::new(), running: Vec::new() };
        let screen = ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"];
        stage.display = format!(":{}", stage.start_and_read("Xvfb", &screen));
        let session = ["--session", "--nofork", "--nopidfile", "--print-address=1"];
        stage.bus = stage.start_and_read("dbus-daemon", &session);
        stage.start("/usr/libexec/at-spi-bus-launcher", &["--launch-immediately"]);
        stage
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.home.path())
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("AT_SPI_BUS_ADDRESS")
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.home.path())
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("NO_AT_BRIDGE", "0")
            .env("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")
            .env("GDK_BACKEND", "x11")
            .env("GSK_RENDERER", "cairo")
            .env("XDG_SESSION_TYPE", "x11")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        command
    }

    pub fn start(&mut self, program: &str, arguments: &[&str]) -> u32 {
        let child = self.command(program, arguments).spawn();
        let child = child.unwrap_or_else(|error| panic!("start {program}: {error}"));
        let pid = child.id();
        self.running.push(child);
        pid
    }

    fn start_and_read(&mut self, program: &str, arguments: &[&str]) -> String {
        let child = self.command(program, arguments).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("start {program}: {error}"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.running.push(child);
        assert!(!line.trim().is_empty(), "{program} ended without a word");
        line.trim().to_owned()
    }

    pub fn accessibility(&self) -> Accessibility {
        Accessibility::on_display(Some(self.display.clone()), Some(self.bus.clone()), std::process::id())
    }

    /// The whole desktop, to act on it too.
    pub fn desktop(&self) -> Arc<dyn Desktop> {
        self.desktop_of(std::process::id())
    }

    /// The same for which the windows of a process are its own.
    pub fn desktop_of(&self, own_pid: u32) -> Arc<dyn Desktop> {
        desktop::open(Options {
            failsafe: false,
            own_pid,
            display: Some(self.display.clone()),
            session_bus: Some(self.bus.clone()),
            ..Options::default()
        })
    }

    /// Where a file or folder of this name is or would be in the home folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Starts a program; the file has what it says of errors.
    pub fn start_and_hear(&mut self, program: &str, arguments: &[&str]) -> PathBuf {
        let path = self.path("complaints");
        let child = self.command(program, arguments).stderr(std::fs::File::create(&path).unwrap()).spawn();
        self.running.push(child.unwrap_or_else(|error| panic!("start {program}: {error}")));
        path
    }

    /// One of our own programs of `tests/truth`, with its window; what it says was done is what `said` reads.
    pub fn start_orders(&mut self, app: &str) {
        self.start_ours(app, "reset");
    }

    /// The same with the window that it is told to open.
    pub fn start_ours(&mut self, app: &str, asked: &str) -> u32 {
        let program = format!("{}/../../../tests/truth/{app}.py", env!("CARGO_MANIFEST_DIR"));
        let log = std::fs::File::create(self.path(app)).unwrap();
        let mut command = self.command("/usr/bin/python3", &[&program]);
        let mut child = command.stdin(Stdio::piped()).stdout(log).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{asked}").unwrap();
        let pid = child.id();
        self.running.push(child);
        pid
    }

    /// `key=value` for each thing that was done, since its window came.
    pub fn said(&self, app: &str) -> Vec<String> {
        let said = self.logged(app).into_iter().filter_map(|line| Some(line.strip_prefix('@')?.to_owned()));
        said.filter(|line| !line.starts_with("ready=")).collect()
    }

    fn logged(&self, app: &str) -> Vec<String> {
        std::fs::read_to_string(self.path(app)).unwrap().lines().map(str::to_owned).collect()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What a program started may have left its process group; so it is looked for by its parent, too.
        for pid in descendants(self.running.iter().map(Child::id).collect()) {
            signal("KILL", &pid.to_string());
        }
        for child in self.running.iter_mut().rev() {
            signal("KILL", &format!("-{}", child.id()));
            let _reaped = child.wait();
        }
    }
}

/// Everything below `found`, those excluded.
fn descendants(mut found: Vec<u32>) -> Vec<u32> {
    let roots = found.len();
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // After the name, which is in brackets and may hold anything: state, parent.
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, parent))
        })
        .collect();
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| pid));
        next += 1;
    }
    found.split_off(roots)
}

pub fn signal(name: &str, target: &str) {
    let _status = Command::new("kill").args(["-s", name, "--", target]).stderr(Stdio::null()).status();
}

pub fn screen() -> DisplayView {
    DisplayView {
        index: 0,
        name: "test".into(),
        bounds: PhysicalRect { x: 0, y: 0, width: 1280, height: 800 },
        scale: ScaleFactor(1.0),
        primary: true,
    }
}

pub fn query(app: &str) -> ElementQuery {
    ElementQuery { app: Some(app.into()), limit: 500, ..ElementQuery::default() }
}

/// Asks again until `found` is content; a program takes its time to start.
pub async fn eventually<T, F: Future<Output = T>>(
    what: &str,
    mut ask: impl FnMut() -> F,
    found: impl Fn(&T) -> bool,
) -> T
where
    T: std::fmt::Debug,
{
    let until = Instant::now() + Duration::from_secs(90);
    loop {
        let answer = ask().await;
        if found(&answer) {
            return answer;
        }
        assert!(Instant::now() < until, "{what} did not come; last: {answer:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub async fn snapshot(
    accessibility: &Accessibility,
    query: &ElementQuery,
    has: impl Fn(&Snapshot) -> bool,
) -> Snapshot {
    let display = screen();
    let ask = || accessibility.elements(query, &display);
    eventually("the elements", ask, |answer| answer.as_ref().is_ok_and(&has)).await.unwrap()
}

pub fn find<'a>(snapshot: &'a Snapshot, role: &str, name: &str) -> Option<&'a Element> {
    find_in(&snapshot.elements, role, name)
}

/// The elements of an application, once they are as wished.
pub async fn elements(
    desktop: &Arc<dyn Desktop>,
    app: &str,
    has: impl Fn(&[Element]) -> bool,
) -> Vec<Element> {
    let query = || ElementQuery { app: Some(app.into()), limit: 1_000, ..ElementQuery::default() };
    let found = eventually(
        "the elements",
        || desktop.elements(query()),
        |seen| seen.as_ref().is_ok_and(|seen| has(&seen.elements)),
    );
    let found = found.await.unwrap();
    tell(desktop, &found).await;
    found.elements
}

/// As an agent is told of a snapshot.
pub async fn tell(desktop: &Arc<dyn Desktop>, snapshot: &Snapshot) {
    let refs = snapshot.elements.iter().map(|one| one.reference.clone()).collect();
    desktop.told(ToldElements { snapshot: snapshot.number, refs }).await;
}

pub fn find_in<'a>(elements: &'a [Element], role: &str, name: &str) -> Option<&'a Element> {
    elements.iter().find(|element| element.role == role && element.name == name)
}

pub fn editable(snapshot: &Snapshot) -> Option<&Element> {
    snapshot
        .elements
        .iter()
        .find(|element| element.role == "text" && element.states.contains(&"editable".to_owned()))
}

pub fn by(app: &str, role: &str, name: &str) -> Target {
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Target::Selector(Selector { app: filled(app), role: filled(role), name: filled(name), within: None })
}

pub fn of(element: &Element) -> Target {
    Target::Ref(element.reference.clone())
}

pub async fn operate(
    desktop: &Arc<dyn Desktop>,
    target: Target,
    action: ElementAction,
) -> Result<Operated, DesktopError> {
    desktop.operate(target, action, CancellationToken::new()).await
}

pub async fn menu(desktop: &Arc<dyn Desktop>, app: &str, path: &[&str]) -> Result<Operated, DesktopError> {
    let path = path.iter().map(|step| (*step).to_owned()).collect();
    desktop.press_menu(Some(app.into()), path, CancellationToken::new()).await
}
