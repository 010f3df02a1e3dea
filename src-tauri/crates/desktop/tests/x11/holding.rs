//! What stays down: buttons, keys, holds; and that it comes up.

use std::time::{Duration, Instant};

use desktop::{Action, Button, DesktopError, Evidence, Key};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask};

use crate::acting::held_keys;
use crate::prompt::assert_prompt;
use crate::screen::{HEIGHT, Screen, Target, WIDTH, at, click, token, wait_for};

fn down(x: f64, y: f64) -> Action {
    Action::ButtonDown { display: 0, at: at(x, y), button: Button::Left }
}

fn up(x: f64, y: f64) -> Action {
    Action::ButtonUp { display: 0, at: at(x, y), button: Button::Left }
}

fn mask(target: &Target) -> u16 {
    u16::from(target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask)
}

fn scene() -> (Screen, Target) {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    (screen, target)
}

#[tokio::test]
async fn a_button_stays_down_over_other_acts_and_a_refused_one_and_drags() {
    let (screen, target) = scene();
    let desktop = screen.desktop();
    desktop.act(down(100.0, 100.0), token()).await.unwrap();
    assert_eq!(mask(&target) & u16::from(KeyButMask::BUTTON1), u16::from(KeyButMask::BUTTON1));
    for refused in [down(1.0, 300.0), click(300.0, 300.0)] {
        let result = desktop.act(refused, token()).await;
        assert!(matches!(result, Err(DesktopError::BadInput(_))), "{result:?}");
    }
    desktop.act(Action::Move { display: 0, to: at(300.0, 100.0) }, token()).await.unwrap();
    desktop.act(up(300.0, 250.0), token()).await.unwrap();
    assert_eq!(mask(&target), 0);
    let mut moves = 0;
    let mut ends = Vec::new();
    for event in target.events() {
        match event {
            Event::ButtonPress(e) | Event::ButtonRelease(e) => ends.push((e.root_x, e.root_y)),
            Event::MotionNotify(e) => {
                moves += usize::from(u16::from(e.state) & u16::from(KeyButMask::BUTTON1) != 0);
            }
            _ => {}
        }
    }
    assert_eq!(ends, [(100, 100), (300, 250)]);
    assert!(moves > 10, "{moves}");
    let again = desktop.act(up(300.0, 250.0), token()).await;
    assert!(matches!(again, Err(DesktopError::BadInput(_))), "{again:?}");
}

#[tokio::test]
async fn a_key_stays_down_through_hotkeys_with_it_and_typing_is_refused_meanwhile() {
    let (screen, target) = scene();
    let desktop = screen.desktop();
    desktop.act(Action::KeyDown { key: Key::Ctrl }, token()).await.unwrap();
    desktop.act(Action::Hotkey { keys: vec![Key::Ctrl, Key::Char('a')] }, token()).await.unwrap();
    assert_eq!(mask(&target) & u16::from(KeyButMask::CONTROL), u16::from(KeyButMask::CONTROL));
    for refused in [Action::Type { text: "a".into() }, Action::KeyDown { key: Key::Ctrl }] {
        let result = desktop.act(refused, token()).await;
        assert!(matches!(result, Err(DesktopError::BadInput(_))), "{result:?}");
    }
    desktop.act(Action::KeyUp { key: Key::Cmd }, token()).await.unwrap();
    assert_eq!((mask(&target), held_keys(&target)), (0, 0));
    let again = desktop.act(Action::KeyUp { key: Key::Ctrl }, token()).await;
    assert!(matches!(again, Err(DesktopError::BadInput(_))), "{again:?}");
}

#[tokio::test]
async fn a_hold_lasts_as_long_as_wished_and_ends_early_when_stopped_or_when_another_window_gets_the_focus() {
    let (screen, target) = scene();
    let desktop = screen.desktop();
    let hold = |millis| Action::Hold { keys: vec![Key::Right], time: Duration::from_millis(millis) };
    let begun = Instant::now();
    desktop.act(hold(400), token()).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let presses = target.events().iter().filter(|event| matches!(event, Event::KeyPress(_))).count();
    assert!(presses >= 1);
    assert_eq!(held_keys(&target), 0);

    let trial = async || {
        let cancel = token();
        let stop = async {
            while held_keys(&target) == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            cancel.cancel();
            Instant::now()
        };
        let (result, stopped) = tokio::join!(desktop.act(hold(9_000), cancel.clone()), stop);
        let took = stopped.elapsed();
        assert_eq!(result, Err(DesktopError::Cancelled));
        assert_eq!(held_keys(&target), 0);
        took
    };
    assert_prompt("a stopped hold", Duration::from_millis(200), trial).await;

    let ours = Target::ours(&screen, (200, 150, 400, 300), 0x0010_30d0);
    let terminal = Target::new(&screen, "terminal", (700, 150, 400, 300), 0);
    for other in [&ours, &terminal] {
        target.focus();
        let focus = async {
            while held_keys(&target) == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            other.focus();
        };
        let (acted, ()) = tokio::join!(desktop.act(hold(9_000), token()), focus);
        assert_eq!(acted.unwrap().evidence, Evidence::Mismatch);
        assert_eq!(held_keys(&target), 0);
    }
}

#[tokio::test]
async fn what_is_left_down_comes_up_on_release_and_when_the_desktop_goes() {
    let (screen, target) = scene();
    let desktop = screen.desktop();
    desktop.act(down(100.0, 100.0), token()).await.unwrap();
    desktop.act(Action::Move { display: 0, to: at(300.0, 200.0) }, token()).await.unwrap();
    desktop.act(Action::KeyDown { key: Key::Shift }, token()).await.unwrap();
    desktop.release_all();
    wait_for("all to be up", || (mask(&target) == 0 && held_keys(&target) == 0).then_some(()));
    // What was dragged is dropped where it began.
    let dropped = target.event("the button's release", |event| match event {
        Event::ButtonRelease(event) => Some((event.root_x, event.root_y)),
        _ => None,
    });
    assert_eq!(dropped, (100, 100));
    desktop.act(down(100.0, 100.0), token()).await.unwrap();
    desktop.act(Action::KeyDown { key: Key::Shift }, token()).await.unwrap();
    drop(desktop);
    wait_for("all to be up", || (mask(&target) == 0 && held_keys(&target) == 0).then_some(()));
}

#[tokio::test]
async fn bad_holds_are_named_and_nothing_goes_down_on_our_own_windows() {
    let (screen, target) = scene();
    let desktop = screen.desktop();
    for (keys, time) in [
        (vec![], Duration::from_secs(1)),
        (vec![Key::Shift; 7], Duration::from_secs(1)),
        (vec![Key::Shift], Duration::ZERO),
        (vec![Key::Shift], Duration::from_secs(11)),
    ] {
        let result = desktop.act(Action::Hold { keys, time }, token()).await;
        assert!(matches!(result, Err(DesktopError::BadInput(_))), "{result:?}");
    }
    let ours = Target::ours(&screen, (200, 150, 400, 300), 0x0010_30d0);
    ours.focus();
    let hold = Action::Hold { keys: vec![Key::Enter], time: Duration::from_secs(1) };
    for action in [down(300.0, 200.0), Action::KeyDown { key: Key::Enter }, hold] {
        let result = desktop.act(action, token()).await;
        assert!(matches!(result, Err(DesktopError::Forbidden(_))), "{result:?}");
    }
    assert_eq!((mask(&target), held_keys(&target)), (0, 0));
}
