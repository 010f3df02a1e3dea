//! The accessibility tree of real applications, on an X server, a session bus and a window manager of their own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's stage that cannot be set up fails the test")]

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use desktop::{Accessibility, DesktopError, Element, ElementQuery, Evidence, Snapshot};
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::{CheckState, DisplayView};

/// A private desktop; everything in it ends with it.
struct Stage {
    home: tempfile::TempDir,
    display: String,
    bus: String,
    /// Each leads a process group, so that what it starts ends with it.
    running: Vec<Child>,
}

impl Stage {
    fn open() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut stage = Self { home, display: String::new(), bus: String::new(), running: Vec::new() };
        let screen = ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"];
        stage.display = format!(":{}", stage.start_and_read("Xvfb", &screen));
        let session = ["--session", "--nofork", "--nopidfile", "--print-address=1"];
        stage.bus = stage.start_and_read("dbus-daemon", &session);
        stage.start("openbox", &[]);
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
            .env("XDG_SESSION_TYPE", "x11")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        command
    }

    fn start(&mut self, program: &str, arguments: &[&str]) -> u32 {
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

    fn accessibility(&self) -> Accessibility {
        Accessibility::new(Some(self.bus.clone()), std::process::id(), vec!["Miki".into()])
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
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

fn signal(name: &str, target: &str) {
    let _status = Command::new("kill").args(["-s", name, "--", target]).stderr(Stdio::null()).status();
}

fn screen() -> DisplayView {
    DisplayView {
        index: 0,
        name: "test".into(),
        bounds: PhysicalRect { x: 0, y: 0, width: 1280, height: 800 },
        scale: ScaleFactor(1.0),
        primary: true,
    }
}

fn query(app: &str) -> ElementQuery {
    ElementQuery { app: Some(app.into()), limit: 500, ..ElementQuery::default() }
}

/// Asks again until `found` is content; a program takes its time to start.
async fn eventually<T, F: Future<Output = T>>(
    what: &str,
    mut ask: impl FnMut() -> F,
    found: impl Fn(&T) -> bool,
) -> T
where
    T: std::fmt::Debug,
{
    let until = Instant::now() + Duration::from_secs(40);
    loop {
        let answer = ask().await;
        if found(&answer) {
            return answer;
        }
        assert!(Instant::now() < until, "{what} did not come; last: {answer:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn snapshot(
    accessibility: &Accessibility,
    query: &ElementQuery,
    has: impl Fn(&Snapshot) -> bool,
) -> Snapshot {
    let display = screen();
    let ask = || accessibility.elements(query, &display);
    eventually("the elements", ask, |answer| answer.as_ref().is_ok_and(&has)).await.unwrap()
}

fn find<'a>(snapshot: &'a Snapshot, role: &str, name: &str) -> Option<&'a Element> {
    snapshot.elements.iter().find(|element| element.role == role && element.name == name)
}

fn editable(snapshot: &Snapshot) -> Option<&Element> {
    snapshot
        .elements
        .iter()
        .find(|element| element.role == "text" && element.states.contains(&"editable".to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editors_menus_and_text_are_found_focused_and_read() {
    let mut stage = Stage::open();
    let text = "old pond\na frog leaps in\n古池や\n";
    let file = stage.write("pond.txt", text);
    let editor = stage.start("mousepad", &["--disable-server", &file]);
    let accessibility = stage.accessibility();

    let seen = snapshot(&accessibility, &ElementQuery::default(), |seen| {
        editable(seen).is_some_and(|e| !e.value.is_empty())
    })
    .await;
    assert_eq!(seen.app, "mousepad");
    assert!(seen.window.contains("pond.txt"), "{seen:#?}");
    for menu in ["File", "Edit", "Help"] {
        assert!(find(&seen, "menu", menu).is_some(), "{menu} in {seen:#?}");
    }
    let area = editable(&seen).unwrap().clone();
    assert!(area.value.starts_with("old pond"), "{area:?}");
    for element in &seen.elements {
        let bounds = element.bounds;
        assert!(bounds.x >= 0.0 && bounds.x + bounds.width <= 1000.1, "{element:?}");
        assert!(bounds.y >= 0.0 && bounds.y + bounds.height <= 1000.1, "{element:?}");
    }

    let acted = accessibility.focus(&area.reference).await.unwrap();
    assert_eq!(acted.evidence, Evidence::ReadBack, "{acted:?}");
    assert_eq!(accessibility.focused_text().await.as_deref(), Some(text));
    let started = Instant::now();
    assert_eq!(accessibility.focused_text().await.as_deref(), Some(text));
    assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());

    for unknown in ["e0", "e9999", "f1", ""] {
        let error = accessibility.focus(unknown).await.unwrap_err();
        assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
        assert!(error.to_string().contains("elementsJson"), "{error}");
    }
    signal("KILL", &editor.to_string());
    let gone = eventually(
        "the end of the editor",
        || accessibility.focus(&area.reference),
        |answer| matches!(answer, Err(DesktopError::NotFound(_))),
    )
    .await;
    assert!(gone.unwrap_err().to_string().contains("no longer there"));
    assert_eq!(accessibility.focused_text().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_come_with_states_and_values_and_the_limit_and_the_query_cut_aloud() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let accessibility = stage.accessibility();
    let all = snapshot(&accessibility, &query("widget"), |seen| seen.elements.len() > 50).await;
    let has = |role: &str, state: &str| {
        all.elements.iter().any(|one| one.role == role && one.states.iter().any(|is| is == state))
    };
    assert!(has("check box", "checked") && has("check box", "disabled") && has("page tab", "selected"));
    assert!(all.elements.iter().any(|one| one.role == "slider" && one.value == "50"), "{all:#?}");
    assert!(
        all.elements.iter().all(|one| one.role != "filler" && one.role != "panel" || !one.name.is_empty())
    );
    let references: Vec<String> = (1..=all.elements.len()).map(|number| format!("e{number}")).collect();
    assert!(all.elements.iter().map(|one| &one.reference).eq(&references));

    let limited = ElementQuery { limit: 10, ..query("widget") };
    let few = accessibility.elements(&limited, &screen()).await.unwrap();
    assert_eq!(few.elements.len(), 10);
    assert!(few.cut.iter().any(|cut| cut.contains("beyond the limit of 10")), "{:?}", few.cut);

    let wanted = ElementQuery { query: Some("CHECKBUTTON".into()), ..query("widget") };
    let boxes = accessibility.elements(&wanted, &screen()).await.unwrap();
    assert!(!boxes.elements.is_empty() && boxes.elements.iter().all(|one| one.name == "checkbutton"));
    assert!(boxes.cut.iter().any(|cut| cut.contains("do not mention")), "{:?}", boxes.cut);

    let hurried = ElementQuery { deadline: Some(Duration::ZERO), ..query("widget") };
    let error = accessibility.elements(&hurried, &screen()).await.unwrap_err();
    assert_eq!(error, DesktopError::Timeout(Duration::ZERO));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_qt_application_which_has_no_collection_is_walked() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("featherpad", &["--standalone", &file]);
    let accessibility = stage.accessibility();
    let opened = |seen: &Snapshot| editable(seen).is_some_and(|area| area.value.starts_with("old pond"));
    let seen = snapshot(&accessibility, &query("featherpad"), opened).await;
    assert!(find(&seen, "menu item", "File").is_some(), "{seen:#?}");
    assert!(find(&seen, "button", "Save").is_some(), "{seen:#?}");
    let area = editable(&seen).unwrap().reference.clone();
    eventually(
        "the focus",
        || accessibility.focus(&area),
        |acted| acted.as_ref().is_ok_and(|acted| acted.evidence == Evidence::ReadBack),
    )
    .await
    .unwrap();
    assert_eq!(accessibility.focused_text().await.as_deref(), Some("old pond\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_application_is_answered_with_those_that_exist() {
    let mut stage = Stage::open();
    stage.start("galculator", &[]);
    let accessibility = stage.accessibility();
    snapshot(&accessibility, &query("GALCULATOR"), |seen| find(seen, "toggle button", "7").is_some()).await;
    let error = accessibility.elements(&query("no such thing"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    assert!(
        error.to_string().contains("no such thing") && error.to_string().contains("galculator"),
        "{error}"
    );
    assert_eq!(accessibility.check().await.state, CheckState::Well);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_without_a_tree_gives_an_empty_snapshot_that_says_so() {
    let mut stage = Stage::open();
    stage.start("xterm", &[]);
    let accessibility = stage.accessibility();
    let empty = snapshot(&accessibility, &ElementQuery::default(), |seen| !seen.cut.is_empty()).await;
    assert_eq!(empty.elements, Vec::<Element>::new());
    assert!(empty.cut[0].contains("no window with an accessibility tree is active"), "{:?}", empty.cut);
    let error = accessibility.elements(&query("xterm"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    assert_eq!(accessibility.check().await.state, CheckState::Limited);
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_windows_do_not_exist() {
    let mut stage = Stage::open();
    let ours = stage.start("galculator", &[]);
    snapshot(&stage.accessibility(), &query("galculator"), |seen| !seen.elements.is_empty()).await;
    let by_pid = Accessibility::new(Some(stage.bus.clone()), ours, Vec::new());
    let by_title = Accessibility::new(Some(stage.bus.clone()), 1, vec!["galculator".into()]);
    for accessibility in [by_pid, by_title] {
        let error = accessibility.elements(&query("galculator"), &screen()).await.unwrap_err();
        assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
        let seen = accessibility.elements(&ElementQuery::default(), &screen()).await.unwrap();
        assert!(seen.elements.is_empty() && seen.cut[0].contains("our own window"), "{seen:#?}");
        assert_eq!(accessibility.focused_text().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_hangs_does_not_hold_up_the_others() {
    let mut stage = Stage::open();
    let hanging = stage.start("galculator", &[]);
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("mousepad", &["--disable-server", &file]);
    let accessibility = stage.accessibility();
    snapshot(&accessibility, &query("galculator"), |seen| !seen.elements.is_empty()).await;
    let seen = snapshot(&accessibility, &query("mousepad"), |seen| editable(seen).is_some()).await;
    signal("STOP", &hanging.to_string());
    let started = Instant::now();
    let again = accessibility.elements(&query("mousepad"), &screen()).await.unwrap();
    assert_eq!(again.elements.len(), seen.elements.len());
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    signal("CONT", &hanging.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_bus_is_named_with_its_mend() {
    assert!(!Path::new("/nonexistent/bus").exists());
    let accessibility = Accessibility::new(Some("unix:path=/nonexistent/bus".into()), 1, Vec::new());
    let error = accessibility.elements(&query("any"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotAvailable(_)), "{error:?}");
    assert!(error.to_string().contains("at-spi2-core"), "{error}");
    let check = accessibility.check().await;
    assert_eq!(check.state, CheckState::Missing);
    assert!(check.mend.is_some_and(|mend| mend.contains("at-spi2-core")));
    assert_eq!(accessibility.focused_text().await, None);
}
