//! Windows and applications of others, as a real window manager has them; and what was copied.

use std::process::Command;

use desktop::{
    Action, Button, Desktop, DesktopError, Evidence, Fence, Key, Taker, WindowChange, WindowId, WindowView,
};

use protocol::geometry::NormPoint;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, WindowClass,
};

use crate::screen::{Screen, Target, token};

/// Asks again until `wanted` is found.
async fn eventually<T>(desktop: &dyn Desktop, what: &str, wanted: impl Fn(&[WindowView]) -> Option<T>) -> T {
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let windows = desktop.windows().await.unwrap();
        if let Some(found) = wanted(&windows) {
            return found;
        }
        assert!(tokio::time::Instant::now() < end, "waited in vain for {what}; there are {windows:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

fn of(app: &str) -> impl Fn(&[WindowView]) -> Option<WindowView> + '_ {
    move |windows| windows.iter().find(|window| window.app.eq_ignore_ascii_case(app)).cloned()
}

fn of_title(windows: &[WindowView], title: &str) -> Option<WindowView> {
    windows.iter().find(|window| window.title == title).cloned()
}

/// Puts a window on a workspace, or shows one.
fn ask_manager(screen: &Screen, window: Option<u32>, name: &[u8], workspace: u32) {
    let conn = screen.connect();
    let root = conn.setup().roots[0].root;
    let kind = conn.intern_atom(false, name).unwrap().reply().unwrap().atom;
    let event = ClientMessageEvent::new(32, window.unwrap_or(root), kind, [workspace, 0, 0, 0, 0]);
    let heard_by = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    conn.send_event(false, root, heard_by, event).unwrap().check().unwrap();
}

/// In the corner, over all others, for as long as the connection; no window manager knows of it.
fn panel_with_the_keyboard(screen: &Screen) -> (u32, impl Sized) {
    let conn = screen.connect();
    let (panel, root) = (conn.generate_id().unwrap(), conn.setup().roots[0].root);
    let values = CreateWindowAux::new().override_redirect(1);
    let kind = WindowClass::INPUT_OUTPUT;
    conn.create_window(0, panel, root, 0, 0, 300, 300, 0, kind, 0, &values).unwrap().check().unwrap();
    conn.map_window(panel).unwrap().check().unwrap();
    conn.set_input_focus(InputFocus::PARENT, panel, x11rb::CURRENT_TIME).unwrap().check().unwrap();
    (panel, conn)
}

#[tokio::test]
async fn windows_are_listed_and_changed_and_read_back() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("xterm", &["-T", "first"]);
    let desktop = screen.desktop();
    let first = eventually(&*desktop, "the first terminal", of("xterm")).await;
    screen.run("xterm", &["-T", "second"]);
    let second = eventually(&*desktop, "the second terminal", |windows| {
        windows.iter().find(|window| window.title == "second" && window.is("focused")).cloned()
    })
    .await;
    let listed = desktop.windows().await.unwrap();
    assert_eq!(listed[0].id, second.id, "the topmost is first");
    assert_eq!(listed.len(), 2);
    // The keyboard alone goes to the other one: what a click meets is still the topmost.
    let window = u32::try_from(first.id.0).unwrap();
    screen
        .connect()
        .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
        .unwrap()
        .check()
        .unwrap();
    let focused = |windows: &[WindowView]| of_title(windows, "first").filter(|one| one.is("focused"));
    eventually(&*desktop, "the first terminal's focus", focused).await;
    assert_eq!(desktop.windows().await.unwrap()[0].id, second.id);
    assert_eq!(desktop.taker(None).await, Taker::Window(first.id));

    // A launcher or a panel is in no list of windows, and takes keys and clicks all the same.
    let (panel, connection) = panel_with_the_keyboard(&screen);
    let there = Some((0, NormPoint::new(50.0, 50.0).unwrap()));
    for at in [None, there] {
        let taker = desktop.taker(at).await;
        assert_eq!(taker, Taker::Window(WindowId(panel.into())), "{at:?}");
        assert!(desktop.windows().await.unwrap().iter().all(|window| window.id.0 != u64::from(panel)));
    }
    drop(connection);

    let done = desktop.change_window(first.id, WindowChange::Focus).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    assert!(desktop.windows().await.unwrap()[0].is("focused"));
    assert_eq!(desktop.windows().await.unwrap()[0].id, first.id);

    for (change, near) in [
        (WindowChange::Move { x: 200.0, y: 300.0 }, [Some(200.0), Some(300.0), None, None]),
        (WindowChange::Resize { width: 400.0, height: 500.0 }, [None, None, Some(400.0), Some(500.0)]),
    ] {
        let done = desktop.change_window(first.id, change).await.unwrap();
        assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
        let bounds = desktop.windows().await.unwrap()[0].bounds;
        let got = [bounds.x, bounds.y, bounds.width, bounds.height];
        for (got, wished) in got.iter().zip(near) {
            // A terminal keeps to whole characters.
            assert!(wished.is_none_or(|wished| (wished - got).abs() < 30.0), "{change:?}: {bounds:?}");
        }
    }
    for (change, state, there) in [
        (WindowChange::Maximize, "maximized", true),
        (WindowChange::Restore, "maximized", false),
        (WindowChange::Minimize, "minimized", true),
        (WindowChange::Restore, "minimized", false),
    ] {
        let done = desktop.change_window(first.id, change).await.unwrap();
        assert_eq!(done.evidence, Evidence::ReadBack, "{change:?}: {}", done.note);
        let windows = desktop.windows().await.unwrap();
        let first = windows.iter().find(|window| window.id == first.id).unwrap();
        assert_eq!(first.is(state), there, "{change:?}");
    }
    let done = desktop.change_window(first.id, WindowChange::Close).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    let gone = desktop.change_window(first.id, WindowChange::Focus).await.unwrap_err();
    let DesktopError::NotFound(said) = gone else { panic!("{gone:?}") };
    assert!(said.contains("\"second\""), "what is open is named: {said}");
}

#[tokio::test]
async fn a_window_on_another_workspace_is_not_called_minimized_and_comes_up_as_it_was() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("xterm", &["-T", "away"]);
    let desktop = screen.desktop();
    let WindowView { id, .. } = eventually(&*desktop, "the terminal", of("xterm")).await;
    desktop.change_window(id, WindowChange::Maximize).await.unwrap();
    ask_manager(&screen, None, b"_NET_NUMBER_OF_DESKTOPS", 2);
    let window = u32::try_from(id.0).unwrap();
    for change in [WindowChange::Restore, WindowChange::Focus] {
        ask_manager(&screen, None, b"_NET_CURRENT_DESKTOP", 0);
        ask_manager(&screen, Some(window), b"_NET_WM_DESKTOP", 1);
        let away = |windows: &[WindowView]| of_title(windows, "away").filter(|one| one.is("otherWorkspace"));
        let away = eventually(&*desktop, "the terminal's absence", away).await;
        assert!(!away.is_shown() && !away.is("minimized") && away.is("maximized"), "{away:?}");

        let done = desktop.change_window(id, change).await.unwrap();
        let now = desktop.windows().await.unwrap();
        assert_eq!(done.evidence, Evidence::ReadBack, "{change:?}: {}; {now:?}", done.note);
        let there = of_title(&desktop.windows().await.unwrap(), "away").unwrap();
        assert!(there.is_shown() && there.is("maximized"), "{change:?}: {there:?}");
    }
}

#[tokio::test]
async fn our_own_windows_are_not_listed_and_not_changed() {
    let screen = Screen::new().with_window_manager();
    let ours = Target::ours(&screen, (100, 100, 300, 200), 0x00ff_0000);
    let theirs = Target::new(&screen, "theirs", (500, 100, 300, 200), 0x0000_ff00);
    let desktop = screen.desktop();
    let listed =
        eventually(&*desktop, "their window", |windows| (!windows.is_empty()).then(|| windows.to_vec()));
    let listed = listed.await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].id, WindowId(u64::from(theirs.window)));
    for change in [WindowChange::Close, WindowChange::Move { x: 0.0, y: 0.0 }, WindowChange::Focus] {
        let refused = desktop.change_window(WindowId(u64::from(ours.window)), change).await.unwrap_err();
        assert!(matches!(refused, DesktopError::Forbidden(_)), "{refused:?}");
    }
}

#[tokio::test]
async fn while_our_own_window_has_the_focus_no_other_is_listed_with_it_and_one_can_get_it_back() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("xterm", &["-T", "theirs"]);
    let desktop = screen.desktop();
    let focused = |windows: &[WindowView]| windows.iter().find(|window| window.is("focused")).cloned();
    let theirs = eventually(&*desktop, "their window with the focus", focused).await;
    let ours = Target::ours(&screen, (600, 100, 300, 200), 0x00ff_0000);
    ours.focus();
    let nobodys = |windows: &[WindowView]| focused(windows).is_none().then_some(windows.len());
    assert_eq!(eventually(&*desktop, "our window to have the focus", nobodys).await, 1);
    let press = || desktop.act(Action::Press { key: Key::Char('a'), times: 1 }, token());
    let refused = press().await.unwrap_err();
    assert!(matches!(refused, DesktopError::Forbidden(_)), "{refused:?}");
    let done = desktop.change_window(theirs.id, WindowChange::Focus).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    assert_eq!(focused(&desktop.windows().await.unwrap()).unwrap().id, theirs.id);
    press().await.unwrap();
}

#[tokio::test]
async fn nothing_outside_the_fence_is_acted_on() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("xterm", &["-T", "inside", "-class", "Inside", "-geometry", "60x20+50+50"]);
    screen.run("xterm", &["-T", "outside", "-class", "Outside", "-geometry", "60x20+700+400"]);
    let desktop = screen.desktop();
    let inside = eventually(&*desktop, "the terminal inside", of("Inside")).await;
    let outside = eventually(&*desktop, "the terminal outside", of("Outside")).await;
    desktop.fence(Fence { displays: vec![0], apps: vec!["inside".into()], never: vec![] });
    let click = |window: &WindowView| {
        let at = window.bounds.center().unwrap();
        desktop.act(Action::Click { display: 0, at, button: Button::Left, count: 1, held: vec![] }, token())
    };
    click(&inside).await.unwrap();
    let refused = click(&outside).await.unwrap_err();
    assert!(matches!(&refused, DesktopError::Forbidden(said) if said.contains("inside")), "{refused:?}");
    let change = desktop.change_window(outside.id, WindowChange::Close).await.unwrap_err();
    assert!(matches!(change, DesktopError::Forbidden(_)), "{change:?}");
    let launch = desktop.launch("mousepad".into()).await.unwrap_err();
    assert!(matches!(launch, DesktopError::Forbidden(_)), "{launch:?}");
    let quit = desktop.quit("Outside".into()).await.unwrap_err();
    assert!(matches!(quit, DesktopError::Forbidden(_)), "{quit:?}");
    let (here, there) = (inside.bounds.center().unwrap(), outside.bounds.center().unwrap());
    let (display, button, held) = (0, Button::Left, Vec::new);
    for act in [
        Action::Drag { display, path: vec![here, there], button, held: held() },
        Action::Drag { display, path: vec![there, here], button, held: held() },
        Action::Scroll { display, at: there, down: 1, right: 0, held: held() },
        Action::ButtonDown { display, at: there, button },
    ] {
        let refused = desktop.act(act.clone(), token()).await.unwrap_err();
        assert!(matches!(refused, DesktopError::Forbidden(_)), "{act:?}: {refused:?}");
    }
    assert!(!desktop.is_holding());
    desktop.fence(Fence { displays: vec![1], apps: vec![], never: vec![] });
    let other_display = click(&inside).await.unwrap_err();
    assert!(matches!(other_display, DesktopError::Forbidden(_)), "{other_display:?}");
    // The click that was allowed gives its window the keyboard, soon.
    let focused = |windows: &[WindowView]| of("Inside")(windows).filter(|window| window.is("focused"));
    eventually(&*desktop, "the focus inside", focused).await;
    desktop.fence(Fence { displays: vec![], apps: vec!["outside".into()], never: vec![] });
    let keys = desktop.act(Action::Press { key: Key::Enter, times: 1 }, token()).await.unwrap_err();
    assert!(matches!(keys, DesktopError::Forbidden(_)), "{keys:?}");
    desktop.fence(Fence { never: vec!["OUTSIDE".into()], ..Fence::default() });
    click(&inside).await.unwrap();
    let never = click(&outside).await.unwrap_err();
    assert!(matches!(&never, DesktopError::Forbidden(said) if said.contains("never lets")), "{never:?}");
    desktop.fence(Fence::default());
    click(&outside).await.unwrap();
}

#[tokio::test]
async fn a_place_off_the_display_is_refused_and_the_window_stays() {
    let screen = Screen::new().with_window_manager();
    let target = Target::new(&screen, "target", (100, 100, 300, 200), 0x0000_ff00);
    let desktop = screen.desktop();
    let before = eventually(&*desktop, "the window", |windows| windows.first().cloned()).await;
    let id = WindowId(u64::from(target.window));
    for change in [
        WindowChange::Move { x: -1.0, y: 10.0 },
        WindowChange::Move { x: f64::NAN, y: 10.0 },
        WindowChange::Resize { width: 0.0, height: 100.0 },
        WindowChange::Resize { width: 100.0, height: 1001.0 },
    ] {
        let refused = desktop.change_window(id, change).await.unwrap_err();
        assert!(matches!(refused, DesktopError::BadInput(_)), "{change:?}: {refused:?}");
    }
    assert_eq!(desktop.windows().await.unwrap()[0].bounds, before.bounds);
}

#[tokio::test]
async fn an_application_is_launched_by_its_name_and_quit_again() {
    let screen = Screen::new().with_bus().with_window_manager();
    let desktop = screen.desktop();
    // One that opens nothing of the last time, whoever ran it.
    assert_eq!(
        desktop.launches("galculator".into()).await.as_deref(),
        Some("galculator"),
        "the system's own"
    );
    let done = desktop.launch("galculator".into()).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    let apps = desktop.apps().await.unwrap();
    let running: Vec<_> = apps.iter().filter(|app| app.windows > 0).collect();
    assert_eq!(running.len(), 1, "{running:?}");
    assert_eq!(running[0].name, "Galculator");
    // This program was started by cargo, which sets variables that are of no use to a calculator: so would be our keys.
    let environment = std::fs::read(format!("/proc/{}/environ", running[0].pid.unwrap())).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(environment.contains("PATH=") && environment.contains("DISPLAY="), "{environment}");
    assert!(!environment.contains("CARGO"), "{environment}");
    let done = desktop.quit("Galculator".into()).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    assert_eq!(desktop.windows().await.unwrap(), []);
}

#[tokio::test]
async fn one_that_hands_over_to_its_first_instance_is_said_to_run_already_with_its_window() {
    let screen = Screen::new().with_bus().with_window_manager();
    let desktop = screen.desktop();
    let first = desktop.launch("mousepad".into()).await.unwrap();
    assert_eq!(first.evidence, Evidence::ReadBack, "{}", first.note);
    let began = std::time::Instant::now();
    let again = desktop.launch("mousepad".into()).await.unwrap();
    // What it opens there is a tab of the window that it has.
    assert_eq!(desktop.windows().await.unwrap().len(), 1);
    assert!(again.note.contains("already running") && again.note.contains("is in front"), "{}", again.note);
    assert_eq!(again.evidence, Evidence::ReadBack, "{}", again.note);
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    // One that was put away comes up, or is said to be behind.
    let window = desktop.windows().await.unwrap()[0].id;
    desktop.change_window(window, WindowChange::Minimize).await.unwrap();
    let back = desktop.launch("mousepad".into()).await.unwrap();
    let is_in_front = desktop.windows().await.unwrap()[0].states.iter().any(|state| state == "focused");
    assert_eq!(back.note.contains("is in front"), is_in_front, "{}", back.note);
}

#[tokio::test]
async fn an_unknown_application_is_answered_with_the_nearest_names() {
    let screen = Screen::new().with_window_manager();
    let desktop = screen.desktop();
    let unknown = desktop.launch("mosepad".into()).await.unwrap_err();
    assert!(matches!(&unknown, DesktopError::NotFound(said) if said.contains("Mousepad")), "{unknown:?}");
    let none = desktop.quit("Mousepad".into()).await.unwrap_err();
    assert!(matches!(none, DesktopError::NotFound(_)), "{none:?}");
}

#[tokio::test]
async fn what_is_copied_reads_back_and_other_programs_can_paste_it() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    assert_eq!(desktop.clipboard().await.unwrap(), "");
    let text = "grüße, 世界\nsecond line";
    let done = desktop.set_clipboard(text.into()).await.unwrap();
    assert_eq!(done.evidence, Evidence::ReadBack, "{}", done.note);
    assert_eq!(desktop.clipboard().await.unwrap(), text);
    let pasted = Command::new("xclip")
        .args(["-selection", "clipboard", "-o"])
        .env("DISPLAY", &screen.display)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(pasted.stdout).unwrap(), text);
}

#[tokio::test]
async fn a_password_in_the_clipboard_is_not_read() {
    let screen = Screen::new().with_window_manager();
    // The paste of a text that is typed is marked as password managers mark theirs: it is offered while nobody reads.
    let deaf = Target::new(&screen, "deaf", (0, 0, 300, 300), 0x00ff_ffff);
    deaf.focus();
    let desktop = screen.desktop();
    let typing = desktop.act(Action::Type { text: "sécret".into() }, token());
    let reading = async {
        let end = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            match desktop.clipboard().await {
                Err(refused) => return refused,
                Ok(text) => assert!(!text.contains("sécret"), "it was read"),
            }
            assert!(tokio::time::Instant::now() < end, "it was never offered");
        }
    };
    let (_typed, refused) = tokio::join!(typing, reading);
    assert!(matches!(refused, DesktopError::Forbidden(_)), "{refused:?}");
}
