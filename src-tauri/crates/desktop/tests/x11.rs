//! The desktop on a real X server: what is seen, and what arrives at a real window.
#![cfg(target_os = "linux")]

mod screen;

use std::time::Duration;

use desktop::{Action, Button, DesktopError, Evidence, Key, Shot};
use protocol::geometry::{NormPoint, PixelSize};
use protocol::view::{Check, CheckState};
use screen::{HEIGHT, Screen, Target, WIDTH, wait_for};
use tokio_util::sync::CancellationToken;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::shape::{ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    AtomEnum, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, KeyButMask, PropMode, StackMode,
};
use x11rb::wrapper::ConnectionExt as _;

const RED: u32 = 0x00cc_2010;
const GREEN: u32 = 0x0020_b040;
const BLUE: u32 = 0x0010_30d0;

/// The point in the middle of a pixel.
fn at(x: f64, y: f64) -> NormPoint {
    NormPoint::new((x + 0.5) * 1000.0 / f64::from(WIDTH), (y + 0.5) * 1000.0 / f64::from(HEIGHT)).unwrap()
}

fn shot() -> Shot {
    let max = PixelSize { width: u32::from(WIDTH), height: u32::from(HEIGHT) };
    Shot { display: 0, dot: None, max, quality: 95 }
}

fn token() -> CancellationToken {
    CancellationToken::new()
}

fn click(x: f64, y: f64) -> Action {
    Action::Click { display: 0, at: at(x, y), button: Button::Left, count: 1, held: vec![] }
}

async fn colour(desktop: &dyn desktop::Desktop, x: u32, y: u32) -> u32 {
    let picture = desktop.screenshot(shot()).await.unwrap();
    let image = image::load_from_memory(&picture.jpeg).unwrap().to_rgb8();
    let [r, g, b] = image.get_pixel(x, y).0;
    u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b)
}

fn is_near(seen: u32, wished: u32) -> bool {
    [16, 8, 0].iter().all(|shift| (seen >> shift & 0xff).abs_diff(wished >> shift & 0xff) < 14)
}

#[track_caller]
fn assert_near(seen: u32, wished: u32) {
    assert!(is_near(seen, wished), "saw {seen:06x}, wished for {wished:06x}");
}

fn held_keys(target: &Target) -> usize {
    let map = target.conn.query_keymap().unwrap().reply().unwrap();
    map.keys.iter().map(|byte| byte.count_ones() as usize).sum()
}

#[tokio::test]
async fn a_picture_shows_windows_in_their_colours_and_its_hash_changes_with_them() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let empty = desktop.screenshot(shot()).await.unwrap();
    let _target = Target::new(&screen, "target", (100, 100, 200, 150), RED);
    let full = desktop.screenshot(shot()).await.unwrap();
    assert_ne!(empty.pixels, full.pixels);
    assert_eq!(full.pixels, desktop.screenshot(shot()).await.unwrap().pixels);
    assert_near(colour(&*desktop, 200, 175).await, RED);
    assert_near(colour(&*desktop, 600, 400).await, 0);
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
    let presses: Vec<(u8, bool)> = target
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::ButtonPress(e) => Some((e.detail, u16::from(e.state) & u16::from(KeyButMask::CONTROL) != 0)),
            _ => None,
        })
        .collect();
    assert_eq!(presses, [(3, true), (3, true)]);
    assert_eq!(held_keys(&target), 0);
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
    let action = Action::Drag { display: 0, path, button: Button::Left };
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
async fn a_scroll_is_so_many_turns_of_the_wheel() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let action = Action::Scroll { display: 0, at: at(400.0, 300.0), down: 3, right: -2 };
    screen.desktop().act(action, token()).await.unwrap();
    let turns: Vec<u8> = target
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::ButtonPress(e) => Some(e.detail),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [5, 5, 5, 6, 6]);
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
    let cancel = token();
    let action = desktop.act(Action::Drag { display: 0, path, button: Button::Left }, cancel.clone());
    let stop = async {
        while target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask & KeyButMask::BUTTON1
            != KeyButMask::BUTTON1
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
        std::time::Instant::now()
    };
    let (result, stopped) = tokio::join!(action, stop);
    assert!(stopped.elapsed() < Duration::from_millis(100), "{:?}", stopped.elapsed());
    assert_eq!(result, Err(DesktopError::Cancelled));
    let mask = target.conn.query_pointer(target.window).unwrap().reply().unwrap().mask;
    assert_eq!(u16::from(mask), 0);
    assert_eq!(held_keys(&target), 0);
}

#[tokio::test]
async fn releasing_all_ends_the_act_under_way_from_any_thread() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let desktop = screen.desktop();
    let path = (0..400).map(|i| at(100.0 + f64::from(i % 2) * 50.0, 100.0 + f64::from(i))).collect();
    let action = desktop.act(Action::Drag { display: 0, path, button: Button::Left }, token());
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
    let early = tokio::time::timeout(Duration::from_millis(200), desktop.failsafe()).await;
    assert!(early.is_err());
    let conn = screen.connect();
    let root = conn.setup().roots[0].root;
    let warp = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        conn.warp_pointer(x11rb::NONE, root, 0, 0, 0, 0, 0, 0).unwrap();
        conn.flush().unwrap();
        std::time::Instant::now()
    };
    let tripped = tokio::time::timeout(Duration::from_secs(10), desktop.failsafe());
    let (tripped, warped) = tokio::join!(tripped, warp);
    tripped.unwrap();
    assert!(warped.elapsed() < Duration::from_millis(250), "{:?}", warped.elapsed());
}

#[tokio::test]
async fn our_own_acts_never_go_into_the_failsafes_corner() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let corner = NormPoint::new(0.0, 0.0).unwrap();
    for action in [Action::Move { display: 0, to: corner }, click(2.0, 1.0)] {
        assert!(matches!(desktop.act(action, token()).await, Err(DesktopError::Forbidden(_))));
    }
    let without = desktop::open(desktop::Options { failsafe: false, ..screen.options() });
    without.act(Action::Move { display: 0, to: corner }, token()).await.unwrap();
}

#[tokio::test]
async fn our_own_windows_are_absent_from_pictures_and_what_they_cover_is_seen() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let _below = Target::new(&screen, "below", (100, 100, 400, 300), RED);
    let ours = Target::new(&screen, "Miki", (200, 150, 400, 300), BLUE);
    assert_near(colour(&*desktop, 300, 200).await, RED);
    assert_near(colour(&*desktop, 550, 430).await, 0);
    // A window above ours is drawn where it is.
    let _above = Target::new(&screen, "above", (350, 250, 100, 100), GREEN);
    assert_near(colour(&*desktop, 400, 300).await, GREEN);
    assert_near(colour(&*desktop, 300, 200).await, RED);
    // Moving ours changes nothing in the picture.
    let before = desktop.screenshot(shot()).await.unwrap().pixels;
    ours.conn.configure_window(ours.window, &ConfigureWindowAux::new().x(10).y(20)).unwrap();
    ours.conn.get_input_focus().unwrap().reply().unwrap();
    assert_eq!(desktop.screenshot(shot()).await.unwrap().pixels, before);
}

#[tokio::test]
async fn our_own_windows_are_absent_below_a_compositor_and_in_a_frame() {
    let mut screen = Screen::new().with_window_manager();
    screen.run("picom", &["--backend", "xrender", "--config", "/dev/null"]);
    let conn = screen.connect();
    let manager = conn.intern_atom(false, b"_NET_WM_CM_S0").unwrap().reply().unwrap().atom;
    wait_for("the compositor", || {
        let owner = conn.get_selection_owner(manager).unwrap().reply().unwrap().owner;
        (owner != x11rb::NONE).then_some(())
    });
    let desktop = screen.desktop();
    let below = Target::new(&screen, "below", (100, 100, 600, 400), RED);
    let ours = Target::new(&screen, "Miki", (100, 100, 500, 400), BLUE);
    let place = |target: &Target| {
        let root = target.conn.setup().roots[0].root;
        let origin = target.conn.translate_coordinates(target.window, root, 0, 0).unwrap().reply().unwrap();
        (u32::try_from(origin.dst_x).unwrap(), u32::try_from(origin.dst_y).unwrap())
    };
    let (x, y) = place(&below);
    let (own_x, own_y) = place(&ours);
    let (x, y) = (x.max(own_x) + 30, y.max(own_y) + 30);
    let seen = wait_for_colour(&*desktop, x, y, RED).await;
    assert_near(seen, RED);
    let (px, py) = (f64::from(x), f64::from(y));
    assert!(matches!(desktop.act(click(px, py), token()).await, Err(DesktopError::Forbidden(_))));
}

async fn wait_for_colour(desktop: &dyn desktop::Desktop, x: u32, y: u32, wished: u32) -> u32 {
    let mut seen = 0;
    for _ in 0..200 {
        seen = colour(desktop, x, y).await;
        if is_near(seen, wished) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    seen
}

#[tokio::test]
async fn our_own_windows_take_neither_clicks_nor_keys() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let ours = Target::new(&screen, "Miki", (200, 150, 400, 300), BLUE);
    ours.focus();
    let scroll = Action::Scroll { display: 0, at: at(300.0, 200.0), down: 1, right: 0 };
    let drag =
        Action::Drag { display: 0, path: vec![at(50.0, 50.0), at(300.0, 200.0)], button: Button::Left };
    let press = Action::Press { key: Key::Enter, times: 1 };
    let text = Action::Type { text: "yes".into() };
    for action in [click(300.0, 200.0), scroll, drag, press, text] {
        let result = desktop.act(action.clone(), token()).await;
        assert!(matches!(result, Err(DesktopError::Forbidden(_))), "{action:?}: {result:?}");
    }
    let input = |event: &Event| matches!(event, Event::ButtonPress(_) | Event::KeyPress(_));
    assert!(!ours.events().iter().any(input));
}

#[tokio::test]
async fn our_own_process_is_known_by_its_id_too() {
    let screen = Screen::new();
    let target = Target::new(&screen, "untitled", (200, 150, 400, 300), BLUE);
    let name = target.conn.intern_atom(false, b"_NET_WM_PID").unwrap().reply().unwrap().atom;
    target
        .conn
        .change_property32(PropMode::REPLACE, target.window, name, AtomEnum::CARDINAL, &[0x7fff_fff0])
        .unwrap();
    target.conn.get_input_focus().unwrap().reply().unwrap();
    let desktop = screen.desktop();
    assert!(matches!(desktop.act(click(300.0, 200.0), token()).await, Err(DesktopError::Forbidden(_))));
    assert_near(colour(&*desktop, 300, 200).await, 0);
}

#[tokio::test]
async fn a_click_goes_through_the_overlay_and_the_overlay_is_in_no_picture() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let overlay = Target::new(&screen, "Miki Overlay", (0, 0, WIDTH, HEIGHT), BLUE);
    overlay
        .conn
        .shape_rectangles(SO::SET, SK::INPUT, ClipOrdering::UNSORTED, overlay.window, 0, 0, &[])
        .unwrap();
    let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
    overlay.conn.configure_window(overlay.window, &above).unwrap();
    overlay.conn.get_input_focus().unwrap().reply().unwrap();
    let desktop = screen.desktop();
    assert_near(colour(&*desktop, 300, 200).await, GREEN);
    desktop.act(click(300.0, 200.0), token()).await.unwrap();
    target.event("the click below the overlay", |event| {
        matches!(event, Event::ButtonPress(e) if (e.root_x, e.root_y) == (300, 200)).then_some(())
    });
}

#[tokio::test]
async fn without_a_display_each_call_says_so_and_nothing_hangs() {
    let desktop = desktop::open(desktop::Options { display: Some(":65000".into()), ..Default::default() });
    assert!(!desktop.abilities().screen && !desktop.abilities().input);
    assert!(matches!(desktop.screenshot(shot()).await, Err(DesktopError::NotAvailable(_))));
    assert!(matches!(desktop.act(click(9.0, 9.0), token()).await, Err(DesktopError::NotAvailable(_))));
    assert!(matches!(desktop.displays().await, Err(DesktopError::NotAvailable(_))));
    desktop.release_all();
    let checks = desktop.checks().await;
    let display = checks.iter().find(|check| check.check == Check::Display).unwrap();
    assert_eq!(display.state, CheckState::Missing);
    assert!(display.mend.is_some());
}

#[tokio::test]
async fn a_server_that_comes_back_is_used_again() {
    let mut screen = Screen::new();
    let desktop = screen.desktop();
    desktop.screenshot(shot()).await.unwrap();
    screen.restart();
    assert!(desktop.screenshot(shot()).await.is_err());
    desktop.screenshot(shot()).await.unwrap();
}

#[tokio::test]
async fn the_checks_of_a_whole_session_are_well() {
    let screen = Screen::new();
    let checks = screen.desktop().checks().await;
    for wished in [Check::Display, Check::ScreenCapture, Check::Input, Check::Clipboard] {
        let found = checks.iter().find(|check| check.check == wished).unwrap();
        assert_eq!((found.state, &found.mend), (CheckState::Well, &None), "{found:?}");
    }
    assert!(checks.iter().any(|check| check.check == Check::Accessibility));
}

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
        Action::Drag { display: 0, path: vec![place], button: Button::Left },
        Action::Scroll { display: 0, at: place, down: 0, right: 0 },
        Action::Scroll { display: 0, at: place, down: i32::MIN, right: i32::MIN },
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
