//! What the user had copied is there again after a paste of ours: whatever it was, and whatever happens meanwhile.

use std::process::{Command, Stdio};
use std::time::Duration;

use desktop::{Action, Desktop, Evidence};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use crate::screen::{Screen, Target, token, wait_for};
use crate::typing::write;

fn copy(screen: &Screen, bytes: &[u8], kind: &str) {
    let file = screen.home().join("copied");
    std::fs::write(&file, bytes).unwrap();
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard", "-in", "-t", kind, "-display", &screen.display]).arg(&file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    wait_for("the copy", || (pasted(screen, kind) == bytes).then_some(()));
}

fn pasted(screen: &Screen, kind: &str) -> Vec<u8> {
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard", "-o", "-t", kind, "-display", &screen.display]);
    command.stdin(Stdio::null()).output().unwrap().stdout
}

fn scene() -> (Screen, Target) {
    let screen = Screen::new();
    let target = Target::new(&screen, "deaf", (0, 0, 300, 300), 0x00ff_ffff);
    target.focus();
    (screen, target)
}

async fn paste(desktop: &dyn Desktop) {
    desktop.act(Action::Type { text: "ünread".into() }, token()).await.unwrap();
}

// bar: C80
#[tokio::test]
async fn text_markup_and_pictures_come_back_as_they_were() {
    let (screen, _target) = scene();
    let desktop = screen.desktop();
    // Of a picture only the bytes matter; these are more than one property takes at once with some servers.
    let picture: Vec<u8> = (0..300_000_u32).map(|i| (i * 31 % 251) as u8).collect();
    let all: [(&[u8], &str); 3] =
        [("plain, größer".as_bytes(), "UTF8_STRING"), (b"<b>bold</b>", "text/html"), (&picture, "image/png")];
    for (bytes, kind) in all {
        copy(&screen, bytes, kind);
        paste(&*desktop).await;
        assert!(pasted(&screen, kind) == bytes, "{kind} is another one");
    }
}

// bar: C80
#[tokio::test]
async fn an_empty_clipboard_is_empty_again() {
    let (screen, target) = scene();
    paste(&*screen.desktop()).await;
    let name = target.conn.intern_atom(false, b"CLIPBOARD").unwrap().reply().unwrap().atom;
    let owner = target.conn.get_selection_owner(name).unwrap().reply().unwrap().owner;
    assert_eq!(owner, x11rb::NONE);
}

// bar: C80
#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_copies_meanwhile_stays() {
    let (screen, _target) = scene();
    copy(&screen, b"old", "UTF8_STRING");
    let desktop = screen.desktop();
    let typing = tokio::spawn({
        let desktop = std::sync::Arc::clone(&desktop);
        async move { paste(&*desktop).await }
    });
    let ours = "ünread".as_bytes();
    tokio::task::block_in_place(|| {
        wait_for("the paste", || (pasted(&screen, "UTF8_STRING") == ours).then_some(()));
        copy(&screen, b"new", "UTF8_STRING");
    });
    typing.await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(pasted(&screen, "UTF8_STRING"), b"new");
}

/// What a client asks an offer for, one after another, or how long it does something else in between, in milliseconds.
enum Asks {
    Targets(usize),
    Text,
    Later(u64),
}
use Asks::{Later, Targets, Text};

/// What is pasted into a client of this name that asks so: each text that it got.
async fn pasted_into(name: &str, asks: &'static [Asks]) -> Vec<String> {
    let screen = Screen::new();
    let target = Target::new(&screen, name, (0, 0, 300, 300), 0x00ff_ffff);
    target.focus();
    target.events();
    let reader = tokio::task::spawn_blocking(move || {
        // Control, then the letter.
        for _ in 0..2 {
            target.event("a key", |event| matches!(event, Event::KeyPress(_)).then_some(()));
        }
        let mut texts = Vec::new();
        for ask in asks {
            match ask {
                Targets(times) => (0..*times).for_each(|_| _ = converted(&target, b"TARGETS")),
                Text => texts.push(converted(&target, b"UTF8_STRING")),
                Later(pause) => std::thread::sleep(Duration::from_millis(*pause)),
            }
        }
        texts
    });
    let acted = write(&*screen.desktop(), "枯枝").await;
    assert_eq!(acted.evidence, Evidence::Sent, "{}", acted.note);
    reader.await.unwrap()
}

/// The clipboard's content in this form; empty if nobody offers it.
fn converted(target: &Target, form: &[u8]) -> String {
    let Target { conn, window } = target;
    let atom = |name: &[u8]| conn.intern_atom(false, name).unwrap().reply().unwrap().atom;
    let property = atom(b"CHROME_SELECTION");
    conn.convert_selection(*window, atom(b"CLIPBOARD"), atom(form), property, x11rb::CURRENT_TIME).unwrap();
    conn.flush().unwrap();
    let given = target.event("the answer", |event| match event {
        Event::SelectionNotify(event) => Some(event.property),
        _ => None,
    });
    if given == x11rb::NONE {
        return String::new();
    }
    let read = conn.get_property(true, *window, given, AtomEnum::ANY, 0, 1000).unwrap().reply().unwrap();
    String::from_utf8_lossy(&read.value).into_owned()
}

/// Chrome and CEF look what the text is before the page gets the key; a page that is busy takes it much later.
#[tokio::test]
async fn what_is_pasted_is_there_still_when_a_busy_page_comes_to_take_it() {
    let asks = &[Targets(1), Text, Targets(1), Later(700), Targets(9), Text, Targets(2)];
    assert_eq!(pasted_into("Chromium clipboard", asks).await, ["枯枝", "枯枝"]);
}
