//! Text into real programs: an editor that can be read back, and a terminal that cannot.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{Action, Desktop, DesktopError, ElementQuery, Evidence, Key, Options, Shot};
use protocol::geometry::PixelSize;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::ConnectionExt;

use crate::screen::{Screen, Target, token, wait_for};

/// An editor with the focus in its text.
pub async fn editor() -> (Screen, Arc<dyn Desktop>) {
    let mut screen = Screen::new().with_bus().with_window_manager();
    screen.run("mousepad", &["--disable-server"]);
    let desktop = screen.desktop();
    focused_field(&*desktop, "").await;
    (screen, desktop)
}

/// Waits until the text field of this name has the focus: what is typed now arrives there.
async fn focused_field(desktop: &dyn Desktop, name: &str) {
    element(desktop, name, |states| {
        let has = |state: &str| states.iter().any(|known| known == state);
        has("focused") && has("editable")
    })
    .await;
}

/// Waits for an element of the editor with this name and these states.
async fn element(desktop: &dyn Desktop, name: &str, is_meant: impl Fn(&[String]) -> bool) {
    let mut last = String::new();
    for _ in 0..400 {
        let query = ElementQuery { app: Some("mousepad".into()), limit: 200, ..ElementQuery::default() };
        let found = desktop.elements(query).await;
        last = format!("{found:?}");
        if let Ok(snapshot) = found
            && snapshot.elements.iter().any(|element| element.name == name && is_meant(&element.states))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no element {name:?} as wished: {last}");
}

pub async fn write(desktop: &dyn Desktop, text: &str) -> desktop::Acted {
    desktop.act(Action::Type { text: text.into() }, token()).await.unwrap()
}

pub fn clipboard(screen: &Screen) -> String {
    let output = Command::new("xclip")
        .args(["-selection", "clipboard", "-o", "-display", &screen.display])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

pub fn copy(screen: &Screen, text: &str) {
    let file = screen.home().join("copied");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard", "-in", "-display", &screen.display]).arg(&file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    // It takes the clipboard after it has gone into the background.
    wait_for("the copy", || (clipboard(screen) == text).then_some(()));
}

#[tokio::test]
async fn text_in_any_script_and_length_is_read_back_from_a_real_editor_and_saved() {
    let (screen, desktop) = editor().await;
    let typed = write(&*desktop, "Hello, World! {~\"'\\`}\n").await;
    assert!(typed.note.contains("by keys"), "{}", typed.note);
    assert_eq!(typed.evidence, Evidence::ReadBack, "{}", typed.note);

    copy(&screen, "what the user had copied");
    let pasted = write(&*desktop, "枯枝に烏のとまりけり秋の暮 🍁").await;
    assert!(pasted.note.contains("by paste"), "{}", pasted.note);
    assert_eq!(pasted.evidence, Evidence::ReadBack, "{}", pasted.note);
    assert!(!pasted.note.contains("枯枝"), "it may be a password: {}", pasted.note);
    assert_eq!(clipboard(&screen), "what the user had copied");

    let long = " long".repeat(2000);
    let pasted = write(&*desktop, &long).await;
    assert_eq!(pasted.evidence, Evidence::ReadBack, "{}", pasted.note);

    let path = screen.home().join("saved.txt");
    desktop.act(Action::Hotkey { keys: Key::chord("ctrl+s").unwrap() }, token()).await.unwrap();
    focused_field(&*desktop, "Name:").await;
    desktop.act(Action::Hotkey { keys: Key::chord("ctrl+a").unwrap() }, token()).await.unwrap();
    let named = write(&*desktop, "saved.txt").await;
    assert_eq!(named.evidence, Evidence::ReadBack, "{}", named.note);
    // The dialog looks into its folder first; Enter does nothing until then.
    element(&*desktop, "Save", |states| !states.iter().any(|state| state == "disabled")).await;
    desktop.act(Action::Press { key: Key::Enter, times: 1 }, token()).await.unwrap();
    let expected = format!("Hello, World! {{~\"'\\`}}\n枯枝に烏のとまりけり秋の暮 🍁{long}");
    let saved = wait_for("the file", || std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty()));
    assert_eq!(saved.trim_end_matches('\n'), expected);
}

/// Whether the window with the focus is of this class; while a window manager makes up its mind, it is another.
fn focused_is(conn: &x11rb::rust_connection::RustConnection, class: &str) -> bool {
    use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};
    let focus = conn.get_input_focus().unwrap().reply().unwrap().focus;
    let read = conn.get_property(false, focus, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 64).unwrap();
    // The focus may be on no window (0, 1), or on one that is gone by now.
    read.reply()
        .is_ok_and(|reply| String::from_utf8_lossy(&reply.value).split('\0').any(|name| name == class))
}

#[tokio::test]
async fn an_empty_clipboard_is_empty_again_after_a_paste() {
    let (screen, desktop) = editor().await;
    let pasted = write(&*desktop, "höher").await;
    assert_eq!(pasted.evidence, Evidence::ReadBack, "{}", pasted.note);
    assert_eq!(clipboard(&screen), "");
}

#[tokio::test]
async fn a_terminal_gets_keys_and_pastes_exactly() {
    let mut screen = Screen::new().with_window_manager();
    let out = screen.home().join("out");
    let script = format!("cat > {}", out.display());
    screen.run("xterm", &["-u8", "-e", "sh", "-c", &script]);
    let desktop = screen.desktop();
    let conn = screen.connect();
    wait_for("the terminal's focus", || focused_is(&conn, "xterm").then_some(()));
    // It has the focus before it heeds keys, and tells nobody when it does.
    let begin = Instant::now();
    while std::fs::read(&out).map_or(true, |read| read.is_empty()) {
        assert!(begin.elapsed() < Duration::from_secs(20), "the terminal heeds no keys");
        desktop.act(Action::Press { key: Key::Enter, times: 1 }, token()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    write(&*desktop, "plain\n").await;
    let pasted = write(&*desktop, "grüße, 世界\n").await;
    assert_eq!(pasted.evidence, Evidence::Sent, "{}", pasted.note);
    desktop.act(Action::Hotkey { keys: Key::chord("ctrl+d").unwrap() }, token()).await.unwrap();
    let seen = wait_for("the terminal's output", || {
        std::fs::read_to_string(&out).ok().filter(|text| text.ends_with("世界\n"))
    });
    assert_eq!(seen.trim_start_matches('\n'), "plain\ngrüße, 世界\n");
}

#[tokio::test]
async fn a_line_break_runs_a_command_in_a_shell_that_brackets_what_is_pasted() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("xterm", &["-u8", "-e", "bash", "--norc", "--noprofile", "-i"]);
    let desktop = screen.desktop();
    let conn = screen.connect();
    wait_for("the terminal's focus", || focused_is(&conn, "xterm").then_some(()));
    let home = screen.home().to_owned();
    let begin = Instant::now();
    while !home.join("ready").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the shell heeds no keys");
        write(&*desktop, "touch ready\n").await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let many: String = (0..30).map(|n| format!("echo größe {n} >> many\n")).collect();
    let pasted = write(&*desktop, &format!("echo grüße > one\n\necho 世界 > two\n{many}")).await;
    assert!(pasted.note.contains("by paste"), "{}", pasted.note);
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap_or_default();
    wait_for("the commands", || (read("many").lines().count() == 30).then_some(()));
    assert_eq!((read("one").as_str(), read("two").as_str()), ("grüße\n", "世界\n"));
    assert_eq!(read("many"), (0..30).map(|n| format!("größe {n}\n")).collect::<String>());
}

/// Until the screen shows the same for half a second.
async fn rests(desktop: &dyn Desktop) {
    let mut last = None;
    let begin = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let shot = Shot::of_display(0, PixelSize { width: 640, height: 480 }, 60);
        let now = Some(desktop.screenshot(shot).await.unwrap().pixels);
        if now == last {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "the screen never rests");
        last = now;
    }
}

/// Writes into a terminal until it is read back: on a busy machine its picture may not be read in time, and what is said then
/// is no more than that it was sent.
async fn write_readable(desktop: &dyn Desktop, text: &str) -> desktop::Acted {
    const TRIES: usize = 5;
    for _ in 1..TRIES {
        let acted = write(desktop, text).await;
        if acted.evidence != Evidence::Sent {
            return acted;
        }
        // Whatever of it is in the line.
        desktop.act(Action::Hotkey { keys: Key::chord("ctrl+u").unwrap() }, token()).await.unwrap();
        rests(desktop).await;
    }
    write(desktop, text).await
}

/// The application tells nothing of what it holds: its picture does.
#[tokio::test]
async fn what_a_terminal_shows_of_a_line_is_read_back_and_what_it_hides_or_moves_is_not() {
    let mut screen = Screen::new().with_window_manager();
    screen.run(
        "xterm",
        &["-u8", "-fa", "DejaVu Sans Mono", "-fs", "12", "-e", "bash", "--norc", "--noprofile", "-i"],
    );
    let models = Some(crate::reading::models());
    let desktop = desktop::open(Options { ocr_models: models, ..screen.options() });
    let conn = screen.connect();
    wait_for("the terminal's focus", || focused_is(&conn, "xterm").then_some(()));
    let ready = screen.home().join("ready");
    let begin = Instant::now();
    while !ready.exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the shell heeds no keys");
        write(&*desktop, "touch ready\n").await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    write(&*desktop, "clear\n").await;
    rests(&*desktop).await;
    let line = write_readable(&*desktop, "echo harbour").await;
    assert_eq!(line.evidence, Evidence::ReadBack, "{}", line.note);
    desktop.act(Action::Press { key: Key::Enter, times: 1 }, token()).await.unwrap();
    rests(&*desktop).await;
    let entered = write_readable(&*desktop, "echo lantern\n").await;
    assert_eq!(entered.evidence, Evidence::ReadBack, "{}", entered.note);
    assert!(entered.note.ends_with("Enter was taken"), "{}", entered.note);
    // Too short to be told from others, and more than a line.
    for text in ["ls\n", "echo one\necho two\n"] {
        let sent = write(&*desktop, text).await;
        assert_eq!(sent.evidence, Evidence::Sent, "{text}: {}", sent.note);
    }
    write(&*desktop, "clear; read -s secret\n").await;
    let hidden = write(&*desktop, "lighthouse\n").await;
    assert_eq!(hidden.evidence, Evidence::Sent, "{}", hidden.note);
    // What stood there before comes into view with what is typed unseen.
    write(&*desktop, "seq 200; echo lighthouse; read -s secret\n").await;
    let moved = write(&*desktop, "lighthouse\n").await;
    assert_eq!(moved.evidence, Evidence::Sent, "{}", moved.note);
}

#[tokio::test]
async fn a_line_break_enters_a_name_that_is_pasted() {
    let (screen, desktop) = editor().await;
    write(&*desktop, "plop").await;
    desktop.act(Action::Hotkey { keys: Key::chord("ctrl+s").unwrap() }, token()).await.unwrap();
    focused_field(&*desktop, "Name:").await;
    write(&*desktop, "pond").await;
    // Until the dialog has looked into its folder, Enter does nothing.
    element(&*desktop, "Save", |states| !states.iter().any(|state| state == "disabled")).await;
    desktop.act(Action::Hotkey { keys: Key::chord("ctrl+a").unwrap() }, token()).await.unwrap();
    write(&*desktop, "古池.txt\n").await;
    let saved = wait_for("the file", || std::fs::read_to_string(screen.home().join("古池.txt")).ok());
    assert_eq!(saved.trim_end(), "plop");
}

#[tokio::test]
async fn lines_are_pasted_one_by_one_and_too_many_are_refused_before_anything_is_typed() {
    let (screen, desktop) = editor().await;
    copy(&screen, "what the user had copied");
    let lines: String = (0..40).map(|n| format!("{n} 枯枝に烏\n\n")).collect();
    let pasted = write(&*desktop, &lines).await;
    assert_eq!(pasted.evidence, Evidence::ReadBack, "{}", pasted.note);
    assert_eq!(clipboard(&screen), "what the user had copied");

    let too_many = "枯枝に烏\n".repeat(101);
    let error = desktop.act(Action::Type { text: too_many }, token()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("101 lines")), "{error:?}");
    let keys = "plain\n".repeat(300);
    let typed = write(&*desktop, &keys).await;
    assert!(typed.note.contains("by keys"), "{}", typed.note);
}

#[tokio::test]
async fn a_paste_that_nobody_takes_is_no_change_and_leaves_the_clipboard() {
    let screen = Screen::new();
    let target = Target::new(&screen, "deaf", (0, 0, 300, 300), 0x00ff_ffff);
    target.focus();
    copy(&screen, "kept");
    let acted = write(&*screen.desktop(), "ünread").await;
    assert_eq!(acted.evidence, Evidence::Nothing, "{}", acted.note);
    assert_eq!(clipboard(&screen), "kept");
}

#[tokio::test]
async fn keys_arrive_in_order_with_their_shifts() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, 300, 300), 0x00ff_ffff);
    target.focus();
    target.events();
    let desktop = screen.desktop();
    let acted = write(&*desktop, "aA!").await;
    assert_eq!(acted.evidence, Evidence::Sent);
    assert!(!acted.note.contains("aA!"), "it may be a password: {}", acted.note);
    assert_eq!(presses(&target), 4, "a, shift, a, 1");
}

fn presses(target: &Target) -> usize {
    target.events().iter().filter(|event| matches!(event, Event::KeyPress(_))).count()
}

#[tokio::test]
async fn what_is_left_of_the_keys_is_not_for_the_window_that_came_to_the_front_meanwhile() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let long = Action::Type { text: "rm -rf pond\n".repeat(300) };
    let enters = Action::Press { key: Key::Enter, times: 200 };
    for action in [long, enters] {
        let mut cut_short = 0;
        for _ in 0..50 {
            let target = Target::new(&screen, "target", (0, 0, 300, 300), 0x00ff_ffff);
            let terminal = Target::new(&screen, "terminal", (400, 0, 300, 300), 0);
            target.focus();
            let comes_up = tokio::task::spawn_blocking(move || {
                while !matches!(target.conn.wait_for_event().unwrap(), Event::KeyPress(_)) {}
                terminal.focus();
                (terminal, target)
            });
            let acted = desktop.act(action.clone(), token()).await.unwrap();
            let (terminal, _) = comes_up.await.unwrap();
            assert_eq!(presses(&terminal), 0, "{}", acted.note);
            // On a busy machine it may come up after the last key.
            if acted.evidence == Evidence::Mismatch {
                assert!(acted.note.contains("look again before the rest"), "{}", acted.note);
                cut_short += 1;
            }
            if cut_short == 3 {
                break;
            }
        }
        assert_eq!(cut_short, 3, "the window never came to the front in the middle of {action:?}");
    }
}

fn clipboards_owner(conn: &impl ConnectionExt) -> u32 {
    let clipboard = conn.intern_atom(false, b"CLIPBOARD").unwrap().reply().unwrap().atom;
    conn.get_selection_owner(clipboard).unwrap().reply().unwrap().owner
}

#[tokio::test]
async fn stopping_a_paste_gives_the_clipboard_back() {
    let screen = Screen::new();
    let target = Target::new(&screen, "deaf", (0, 0, 300, 300), 0x00ff_ffff);
    target.focus();
    copy(&screen, "kept");
    let desktop = screen.desktop();
    let cancel = token();
    let action = desktop.act(Action::Type { text: "ünread".into() }, cancel.clone());
    let (conn, theirs) = (screen.connect(), clipboards_owner(&screen.connect()));
    let stop = async {
        let began = Instant::now();
        while clipboards_owner(&conn) == theirs {
            assert!(began.elapsed() < Duration::from_secs(20), "the clipboard was not taken for the paste");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(action, stop);
    assert_eq!(result, Err(DesktopError::Cancelled));
    wait_for("the earlier clipboard", || (clipboard(&screen) == "kept").then_some(()));
}
