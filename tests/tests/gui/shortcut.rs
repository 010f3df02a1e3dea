//! The chat widget by real keys, without a driver in between.

use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{self, Miki};
use outside::stage::{Screen, Stage};
use outside::{LONG, wait_for};
use serde_json::json;

const CHAT: &str = "Miki Chat";
const OVERLAY: &str = "Miki Overlay";

fn is_shown(screen: &Screen, title: &str) -> bool {
    screen.windows().unwrap().iter().any(|window| window.shown && window.title == title)
}

#[test]
fn the_shortcut_shows_the_chat_widget_and_the_shortcut_or_escape_hides_it() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    miki.connect(LONG).unwrap();
    assert!(!is_shown(&screen, CHAT));
    for hide in [&["ctrl", "shift", "space"][..], &["escape"][..]] {
        miki::open_chat(&screen, &user).unwrap();
        // The page may get the keyboard a moment after its window has. Only Escape can be pressed again: the
        // shortcut would show it again.
        let hidden = || (!is_shown(&screen, CHAT)).then_some(());
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

fn wait_until_shown(screen: &Screen, title: &str, wanted: bool) {
    let as_wanted = || (is_shown(screen, title) == wanted).then_some(());
    wait_for(&format!("{title} to be shown: {wanted}"), LONG, as_wanted).unwrap();
}

#[test]
fn the_chat_comes_back_with_the_answer_to_its_own_goal_and_takes_no_keyboard_for_it() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    // Long enough to be seen at work.
    let thinks = |_: &Asked| MindTurn { pause: Duration::from_secs(5), ..MindTurn::done("seen to", true) };
    let model = FakeModel::start(thinks).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    miki.connect(LONG).unwrap();
    let shown = |title, wanted| wait_until_shown(&screen, title, wanted);
    let chat = {
        let chat = miki::open_chat(&screen, &user).unwrap();
        screen.place(&chat, 100, 500, chat.width, chat.height).unwrap();
        // The page may get the keyboard a moment after its window has: typed again where nothing came of it.
        let at_work =
            || wait_for("it", Duration::from_secs(5), || is_shown(&screen, OVERLAY).then_some(())).ok();
        wait_for("the run", LONG, || {
            user.type_text("see to it").ok()?;
            user.chord(&["enter"]).ok()?;
            at_work()
        })
        .unwrap();
        shown(CHAT, false);
        chat
    };

    // Where it was, with the keyboard still in the editor; the shortcut then gives it the keyboard, and hides it.
    screen.activate(&editor.window).unwrap();
    shown(CHAT, true);
    shown(OVERLAY, false);
    let back = screen.wait_for_window("the chat", LONG, |title| title == CHAT).unwrap();
    assert_eq!((back.x, back.y, screen.active().unwrap()), (100, 500, editor.window.id));
    user.chord(&["ctrl", "shift", "space"]).unwrap();
    let focused = || (screen.active().ok()? == chat.id).then_some(());
    wait_for("the chat's focus", LONG, focused).unwrap();
    screen.activate(&editor.window).unwrap();
    user.chord(&["ctrl", "shift", "space"]).unwrap();
    wait_for("the chat's focus again", LONG, focused).unwrap();
    user.chord(&["ctrl", "shift", "space"]).unwrap();
    shown(CHAT, false);

    // Not for a run from elsewhere.
    let run = miki.start(&stage, "run", &["run", "see to it", "--json"]).unwrap();
    shown(OVERLAY, true);
    shown(OVERLAY, false);
    assert!(!is_shown(&screen, CHAT), "the chat came for a run of the command line");
    drop(run);
}
