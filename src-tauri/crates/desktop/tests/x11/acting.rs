//! What arrives at a window: clicks, drags, keys; stopping, the failsafe, and what is refused.

use std::time::Duration;

use desktop::{Action, Button, DesktopError, Evidence, Key, Options, WindowsProcess};
use protocol::geometry::NormPoint;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask};

use crate::prompt::assert_prompt;
use crate::screen::{HEIGHT, OURS, Screen, Target, WIDTH, at, click, token};

const GREEN: u32 = 0x0020_b040;
const BLUE: u32 = 0x0010_30d0;

pub fn held_keys(target: &Target) -> usize {
    let map = target.conn.query_keymap().unwrap().reply().unwrap();
    map.keys.iter().map(|byte| byte.count_ones() as usize).sum()
}

#[tokio::test]
async fn a_click_lands_on_the_pixel_of_its_point_with_button_count_and_modifiers() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let desktop = screen.desktop();
    for (x, y) in [(3.0, 5.0), (640.0, 400.0), (f64::from(WIDTH) - 1.0, f64::from(HEIGHT) - 1.0)] {
        desktop.act(click(x, y), token()).await.unwrap();
        let pressed = target.event("the press", |event| match event {
            Event::ButtonPress(event) => Some((event.detail, event.root_x, event.root_y)),
            _ => None,
        });
        assert_eq!(pressed, (1, x as i16, y as i16));
    }
    target.events();
    let held = vec![Key::Ctrl];
    let action = Action::Click { display: 0, at: at(50.0, 60.0), button: Button::Right, count: 2, held };
    desktop.act(action, token()).await.unwrap();
    let events = target.events();
    let times: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            Event::ButtonPress(e) => Some(e.time),
            _ => None,
        })
        .collect();
    assert!(times[1] > times[0], "presses of the same time count as one: {times:?}");
    let presses: Vec<(u8, bool)> = events
        .iter()
        .filter_map(|event| match event {
            Event::ButtonPress(e) => {
                Some((e.detail, u16::from(e.state) & u16::from(KeyButMask::CONTROL) != 0))
            }
            _ => None,
        })
        .collect();
    assert_eq!(presses, [(3, true), (3, true)]);
    assert_eq!(held_keys(&target), 0);
}

#[tokio::test]
async fn two_clicks_of_one_each_are_no_double_click() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let desktop = screen.desktop();
    target.events();
    for (x, y) in [(50.0, 60.0), (53.0, 62.0)] {
        desktop.act(click(x, y), token()).await.unwrap();
    }
    let mut times = Vec::new();
    for event in target.events() {
        if let Event::ButtonPress(press) = event {
            times.push(press.time);
        }
    }
    let [first, second] = times[..] else { panic!("{times:?}") };
    assert!(second - first > 400, "an application takes it for a double click: {times:?}");
}

#[tokio::test]
async fn a_move_is_read_back() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let acted = desktop.act(Action::Move { display: 0, to: at(321.0, 123.0) }, token()).await.unwrap();
    assert_eq!(acted.evidence, Evidence::ReadBack);
    assert!(acted.note.contains("321,123"), "{}", acted.note);
}

#[tokio::test]
async fn a_drag_presses_at_its_start_moves_and_releases_at_its_end() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let path = vec![at(100.0, 100.0), at(300.0, 100.0), at(300.0, 250.0)];
    let action = Action::Drag { display: 0, path, button: Button::Left, held: vec![] };
    screen.desktop().act(action, token()).await.unwrap();
    let mut held_moves = 0;
    let mut ends = Vec::new();
    for event in target.events() {
        match event {
            Event::ButtonPress(e) | Event::ButtonRelease(e) => ends.push((e.root_x, e.root_y)),
            Event::MotionNotify(e) => {
                held_moves += usize::from(u16::from(e.state) & u16::from(KeyButMask::BUTTON1) != 0);
            }
            _ => {}
        }
    }
    assert_eq!(ends, [(100, 100), (300, 250)]);
    assert!(held_moves > 10, "{held_moves} moves while held");
}

#[tokio::test]
async fn a_scroll_is_so_many_turns_of_the_wheel_with_its_modifiers_held() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let action =
        Action::Scroll { display: 0, at: at(400.0, 300.0), down: 3, right: -2, held: vec![Key::Ctrl] };
    screen.desktop().act(action, token()).await.unwrap();
    let turns: Vec<(u8, bool)> = target
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::ButtonPress(e) => {
                Some((e.detail, u16::from(e.state) & u16::from(KeyButMask::CONTROL) != 0))
            }
            _ => None,
        })
        .collect();
    assert_eq!(turns, [(5, true), (5, true), (5, true), (6, true), (6, true)]);
    assert_eq!(held_keys(&target), 0);
}

#[tokio::test]
async fn a_hotkey_holds_its_modifiers_and_cmd_is_ctrl_here() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, 400, 400), GREEN);
    target.focus();
    let keys = vec![Key::Cmd, Key::Shift, Key::Char('S')];
    let acted = screen.desktop().act(Action::Hotkey { keys }, token()).await.unwrap();
    assert!(acted.note.contains("cmd is ctrl"), "{}", acted.note);
    let states: Vec<u16> = target
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::KeyPress(e) => Some(u16::from(e.state)),
            _ => None,
        })
        .collect();
    let (control, shift) = (u16::from(KeyButMask::CONTROL), u16::from(KeyButMask::SHIFT));
    assert_eq!(states, [0, control, control | shift]);
    assert_eq!(held_keys(&target), 0);
}

#[tokio::test]
async fn a_stopped_act_ends_within_100_ms_and_holds_nothing() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let desktop = screen.desktop();
    // 400 points take over a second.
    let path = (0..400).map(|i| at(100.0 + f64::from(i % 2) * 50.0, 100.0 + f64::from(i))).collect();
    let drag = Action::Drag { display: 0, path, button: Button::Left, held: vec![] };
    let mask = || u16::from(target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask);
    let trial = async || {
        let cancel = token();
        let stop = async {
            while mask() & u16::from(KeyButMask::BUTTON1) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancel.cancel();
            std::time::Instant::now()
        };
        let (result, stopped) = tokio::join!(desktop.act(drag.clone(), cancel.clone()), stop);
        let took = stopped.elapsed();
        assert_eq!(result, Err(DesktopError::Cancelled));
        assert_eq!(mask(), 0);
        // Nothing is dropped where the stop happened to come.
        let dropped = target.event("the button's release", |event| match event {
            Event::ButtonRelease(event) => Some((event.root_x, event.root_y)),
            _ => None,
        });
        assert_eq!(dropped, (100, 100));
        assert_eq!(held_keys(&target), 0);
        took
    };
    assert_prompt("a stopped drag", Duration::from_millis(100), trial).await;
}

#[tokio::test]
async fn releasing_all_ends_the_act_under_way_from_any_thread() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let desktop = screen.desktop();
    let path = (0..400).map(|i| at(100.0 + f64::from(i % 2) * 50.0, 100.0 + f64::from(i))).collect();
    let action = desktop.act(Action::Drag { display: 0, path, button: Button::Left, held: vec![] }, token());
    let release = async {
        while target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask & KeyButMask::BUTTON1
            != KeyButMask::BUTTON1
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let desktop = std::sync::Arc::clone(&desktop);
        std::thread::spawn(move || desktop.release_all()).join().unwrap();
    };
    let (result, ()) = tokio::join!(action, release);
    assert_eq!(result, Err(DesktopError::Cancelled));
    let mask = target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask;
    assert_eq!(u16::from(mask), 0);
}

#[tokio::test]
async fn the_failsafe_trips_when_the_pointer_is_put_into_the_corner_and_not_before() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    desktop.act(Action::Move { display: 0, to: at(3.0, 3.0) }, token()).await.unwrap();
    let conn = screen.connect();
    let root = conn.setup().roots[0].root;
    let warp = |x, y| {
        conn.warp_pointer(x11rb::NONE, root, 0, 0, 0, 0, x, y).unwrap();
        conn.get_input_focus().unwrap().reply().unwrap();
        std::time::Instant::now()
    };
    // That nothing happens has no condition to wait for: several looks' time stands for it.
    let early = tokio::time::timeout(Duration::from_millis(200), desktop.interrupted()).await;
    assert!(early.is_err());
    let mut took = Vec::new();
    for _ in 0..9 {
        warp(300, 300);
        let mut tripped = desktop.interrupted();
        // Watched from here on; a look at the trial before may still be told in this very moment.
        let warped = tokio::select! {
            biased;
            _ = &mut tripped => continue,
            warped = async { warp(0, 0) } => warped,
        };
        tokio::time::timeout(Duration::from_secs(10), tripped).await.unwrap();
        took.push(warped.elapsed());
    }
    took.sort();
    assert!(took[took.len() / 2] < Duration::from_millis(100), "{took:?}");
}

#[tokio::test]
async fn our_own_acts_never_go_into_the_failsafes_corner() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let corner = NormPoint::new(0.0, 0.0).unwrap();
    for action in [Action::Move { display: 0, to: corner }, click(2.0, 1.0)] {
        assert!(matches!(desktop.act(action, token()).await, Err(DesktopError::Forbidden(_))));
    }
    // The settings may change at any time.
    desktop.keep_corner(false);
    desktop.act(Action::Move { display: 0, to: corner }, token()).await.unwrap();
}

#[tokio::test]
async fn our_own_windows_take_neither_clicks_nor_keys() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let ours = Target::ours(&screen, (200, 150, 400, 300), BLUE);
    ours.focus();
    let scroll = Action::Scroll { display: 0, at: at(300.0, 200.0), down: 1, right: 0, held: vec![] };
    let drag = Action::Drag {
        display: 0,
        path: vec![at(50.0, 50.0), at(300.0, 200.0)],
        button: Button::Left,
        held: vec![],
    };
    let press = Action::Press { key: Key::Enter, times: 1 };
    let text = Action::Type { text: "yes".into() };
    for action in [click(300.0, 200.0), scroll, drag, press, text] {
        let result = desktop.act(action.clone(), token()).await;
        assert!(matches!(result, Err(DesktopError::Forbidden(_))), "{action:?}: {result:?}");
    }
    let input = |event: &Event| matches!(event, Event::ButtonPress(_) | Event::KeyPress(_));
    assert!(!ours.events().iter().any(input));
    // A page or a program can call its window as it likes.
    let namesake = Target::new(&screen, "Miki", (200, 150, 400, 300), GREEN);
    desktop.act(click(300.0, 200.0), token()).await.unwrap();
    namesake.event("the click", |event| input(event).then_some(()));
}

#[tokio::test]
async fn the_windows_of_our_other_process_are_as_much_ours() {
    let screen = Screen::new();
    let windows = WindowsProcess::default();
    // Another process than that of the windows has the desktop.
    let options = Options { own_pid: std::process::id(), windows: windows.clone(), ..screen.options() };
    let desktop = desktop::open(options);
    let ours = Target::ours(&screen, (200, 150, 400, 300), BLUE);
    let pressed = |event: &Event| matches!(event, Event::ButtonPress(_)).then_some(());
    for pid in [None, Some(OURS), None] {
        windows.set(pid);
        let result = desktop.act(click(300.0, 200.0), token()).await;
        match pid {
            Some(_) => {
                assert!(matches!(result, Err(DesktopError::Forbidden(_))), "{result:?}");
                assert!(!ours.events().iter().any(|event| pressed(event).is_some()));
            }
            None => {
                result.unwrap();
                ours.event("the click", pressed);
            }
        }
    }
}

// bar: C64
#[tokio::test]
async fn bad_input_is_named_and_does_nothing() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    target.focus();
    target.events();
    let desktop = screen.desktop();
    let place = at(100.0, 100.0);
    let bad = [
        Action::Click { display: 0, at: place, button: Button::Left, count: 0, held: vec![] },
        Action::Click { display: 0, at: place, button: Button::Left, count: 4, held: vec![] },
        Action::Drag { display: 0, path: vec![place], button: Button::Left, held: vec![] },
        Action::Scroll { display: 0, at: place, down: 0, right: 0, held: vec![] },
        Action::Scroll { display: 0, at: place, down: i32::MIN, right: i32::MIN, held: vec![] },
        Action::Press { key: Key::Enter, times: 0 },
        Action::Hotkey { keys: vec![] },
        Action::Type { text: String::new() },
    ];
    for action in bad {
        let result = desktop.act(action.clone(), token()).await;
        assert!(matches!(result, Err(DesktopError::BadInput(_))), "{action:?}: {result:?}");
    }
    let nowhere = desktop.act(Action::Move { display: 7, to: place }, token()).await;
    assert!(matches!(nowhere, Err(DesktopError::NotFound(_))), "{nowhere:?}");
    assert!(target.events().is_empty());
}
