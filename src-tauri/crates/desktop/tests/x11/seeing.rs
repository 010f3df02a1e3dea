//! What is seen: pictures, our own windows left out of them, and what is said where there is nothing to see.

use std::time::Duration;

use desktop::{DesktopError, Shot};
use protocol::geometry::PixelSize;
use protocol::view::{Check, CheckState};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::shape::{ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{ClipOrdering, ConfigureWindowAux, ConnectionExt as _, StackMode};

use crate::screen::{HEIGHT, Screen, Target, WIDTH, click, token, wait_for};

const RED: u32 = 0x00cc_2010;
const GREEN: u32 = 0x0020_b040;
const BLUE: u32 = 0x0010_30d0;

fn shot() -> Shot {
    let max = PixelSize { width: u32::from(WIDTH), height: u32::from(HEIGHT) };
    Shot::of_display(0, max, 95)
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
async fn our_own_windows_are_absent_from_pictures_and_what_they_cover_is_seen() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let _below = Target::new(&screen, "below", (100, 100, 400, 300), RED);
    let ours = Target::ours(&screen, (200, 150, 400, 300), BLUE);
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
    let ours = Target::ours(&screen, (100, 100, 500, 400), BLUE);
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
async fn a_click_goes_through_the_overlay_and_the_overlay_is_in_no_picture() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), GREEN);
    let overlay = Target::ours(&screen, (0, 0, WIDTH, HEIGHT), BLUE);
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
    assert!(display.remedy.is_some());
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
        assert_eq!((found.state, &found.remedy), (CheckState::Well, &None), "{found:?}");
    }
    assert!(checks.iter().any(|check| check.check == Check::Accessibility));
    let input = checks.iter().find(|check| check.check == Check::Input).unwrap();
    assert!(input.detail.contains("an agent's own by XInput 2."), "{input:?}");
}
