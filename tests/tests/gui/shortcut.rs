//! The chat widget by real keys, without a driver in between.

use std::time::Duration;

use outside::miki::{self, Miki};
use outside::stage::{Screen, Stage};
use outside::{LONG, wait_for};

fn is_shown(screen: &Screen) -> bool {
    screen.windows().unwrap().iter().any(|window| window.shown && window.title == "Miki Chat")
}

#[test]
fn the_shortcut_shows_the_chat_widget_and_the_shortcut_or_escape_hides_it() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    miki.connect(LONG).unwrap();
    assert!(!is_shown(&screen));
    for hide in [&["ctrl", "shift", "space"][..], &["escape"][..]] {
        miki::open_chat(&screen, &user).unwrap();
        // The page may get the keyboard a moment after its window has. Only Escape can be pressed again: the
        // shortcut would show it again.
        let hidden = || (!is_shown(&screen)).then_some(());
        user.chord(hide).unwrap();
        wait_for(&format!("{hide:?} to hide the chat widget"), LONG, || {
            wait_for("it", Duration::from_secs(2), hidden).ok().or_else(|| {
                if hide == ["escape"] {
                    user.chord(hide).ok()?;
                }
                None
            })
        })
        .unwrap();
    }
    let middle = (1920 / 2, 1080 / 2);
    let chat = miki::open_chat(&screen, &user).unwrap();
    let off = (chat.x + (chat.width / 2) as i32 - middle.0, chat.y + (chat.height / 2) as i32 - middle.1);
    assert!(off.0.abs() < 40 && off.1.abs() < 60, "not in the middle, but off by {off:?}");
}
