//! What the user had copied is there again after a paste of ours: whatever it was, and whatever happens meanwhile.

use std::process::{Command, Stdio};
use std::time::Duration;

use desktop::{Action, Desktop};
use x11rb::protocol::xproto::ConnectionExt as _;

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

/// Reads what is pasted twice, as CEF does, and keeps what it read the second time.
const READS_TWICE: &str = r#"
import sys, tkinter as tk
root = tk.Tk()
def read():
    try:
        return root.selection_get(selection="CLIPBOARD", type="UTF8_STRING")
    except tk.TclError:
        return "nothing"
def tell(text):
    with open(sys.argv[1], "a") as log:
        log.write(text + "\n")
def paste(_):
    read()
    root.after(90, lambda: tell(read()))
root.bind("<Control-v>", paste)
root.bind("<FocusIn>", lambda _: tell("ready"))
root.mainloop()
"#;

#[tokio::test]
async fn what_is_pasted_is_there_still_where_its_reader_asks_once_more() {
    let mut screen = Screen::new().with_window_manager();
    let log = screen.home().join("log");
    screen.run("/usr/bin/python3", &["-c", READS_TWICE, log.to_str().unwrap()]);
    let desktop = screen.desktop();
    let line = |at: usize| std::fs::read_to_string(&log).ok()?.lines().nth(at).map(str::to_owned);
    wait_for("the focus", || line(0));
    write(&*desktop, "枯枝").await;
    let told =
        || std::fs::read_to_string(&log).ok()?.lines().find(|line| *line != "ready").map(str::to_owned);
    assert_eq!(wait_for("what was read", told), "枯枝");
}
