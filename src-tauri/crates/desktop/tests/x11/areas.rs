//! Displays, windows and regions: what a picture of each shows, and what is said where there is none.

use desktop::{Action, Area, Button, DesktopError, Shot, WindowId};
use pictures::Picture;
use protocol::geometry::{NormPoint, NormRect, PhysicalRect, PixelSize};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _, ScreenSaver, StackMode};

use crate::screen::{HEIGHT, Screen, Target, WIDTH, at, click, token, wait_for};

const RED: [u8; 3] = [0xcc, 0x20, 0x10];
const GREEN: [u8; 3] = [0x20, 0xb0, 0x40];
const BLUE: [u8; 3] = [0x10, 0x30, 0xd0];

fn pixel([r, g, b]: [u8; 3]) -> u32 {
    u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b)
}

fn shot(area: Area) -> Shot {
    Shot { area, ..Shot::of_display(0, PixelSize { width: 4000, height: 4000 }, 95) }
}

fn window(target: &Target) -> Area {
    Area::Window(WindowId(target.window.into()))
}

fn is_near(picture: &Picture, (x, y): (u32, u32), wished: [u8; 3]) -> bool {
    let seen = image::load_from_memory(&picture.jpeg).unwrap().to_rgb8().get_pixel(x, y).0;
    seen.iter().zip(wished).all(|(seen, wished)| seen.abs_diff(wished) < 14)
}

fn place(target: &Target, change: ConfigureWindowAux) {
    target.conn.configure_window(target.window, &change).unwrap();
    target.conn.get_input_focus().unwrap().reply().unwrap();
}

#[tokio::test]
async fn a_window_is_seen_where_others_and_ours_cover_it() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let below = Target::new(&screen, "below", (100, 100, 400, 300), pixel(RED));
    let open = desktop.screenshot(shot(window(&below))).await.unwrap();
    assert_eq!(open.mapping.shows, PhysicalRect { x: 100, y: 100, width: 400, height: 300 });
    let _above = Target::new(&screen, "above", (90, 90, 300, 200), pixel(GREEN));
    let _ours = Target::ours(&screen, (300, 200, 300, 300), pixel(BLUE));
    let covered = desktop.screenshot(shot(window(&below))).await.unwrap();
    assert_eq!((covered.size.width, covered.size.height), (400, 300));
    for spot in [(5, 5), (150, 80), (250, 150), (390, 290)] {
        assert!(is_near(&covered, spot, RED), "{spot:?}");
    }
    assert_eq!(covered.pixels, open.pixels);
}

#[tokio::test]
async fn a_window_half_off_the_screen_is_seen_whole() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (-150, 700, 300, 200), pixel(RED));
    let picture = screen.desktop().screenshot(shot(window(&target))).await.unwrap();
    assert_eq!(picture.mapping.shows, PhysicalRect { x: -150, y: 700, width: 300, height: 200 });
    assert!(is_near(&picture, (200, 50), RED));
    assert!(is_near(&picture, (10, 190), RED));
}

#[tokio::test]
async fn a_window_is_shown_with_its_frame_and_the_dot_is_where_it_was_clicked() {
    let screen = Screen::new().with_window_manager();
    let target = Target::new(&screen, "framed", (300, 200, 300, 200), pixel(GREEN));
    let desktop = screen.desktop();
    wait_for("the frame", || {
        let tree = target.conn.query_tree(target.window).unwrap().reply().unwrap();
        (tree.parent != tree.root).then_some(())
    });
    let picture = desktop.screenshot(shot(window(&target))).await.unwrap();
    assert!(picture.size.height > 200, "{:?}", picture.size);
    let shows = picture.mapping.shows;
    let (x, y) = (shows.x + 150, shows.y + 100);
    let dot = Some(at(f64::from(x), f64::from(y)));
    let dotted = desktop.screenshot(Shot { dot, ..shot(window(&target)) }).await.unwrap();
    assert!(is_near(&dotted, (150, 100), [230, 20, 30]));
}

#[tokio::test]
async fn our_own_closed_and_hidden_windows_have_no_picture_and_each_says_why() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let ours = Target::ours(&screen, (200, 150, 400, 300), pixel(BLUE));
    let error = desktop.screenshot(shot(window(&ours))).await.unwrap_err();
    assert!(matches!(error, DesktopError::Forbidden(_)), "{error}");

    let other = Target::new(&screen, "A Title", (10, 10, 50, 50), pixel(RED));
    let gone = Target::new(&screen, "gone", (70, 10, 50, 50), pixel(RED));
    gone.conn.destroy_window(gone.window).unwrap();
    gone.conn.get_input_focus().unwrap().reply().unwrap();
    let error = desktop.screenshot(shot(window(&gone))).await.unwrap_err();
    let DesktopError::NotFound(words) = &error else { panic!("{error}") };
    assert!(words.contains("may have been closed"), "{words}");
    assert!(words.contains(&format!("{} \"A Title\"", other.window)), "{words}");
    assert!(!words.contains("Miki"), "{words}");

    other.conn.unmap_window(other.window).unwrap();
    other.conn.get_input_focus().unwrap().reply().unwrap();
    let error = desktop.screenshot(shot(window(&other))).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(words) if words.contains("minimized")), "{error}");
}

#[tokio::test]
async fn a_window_that_comes_and_goes_while_it_is_captured_breaks_nothing() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let _cover = Target::new(&screen, "cover", (0, 0, WIDTH, HEIGHT), pixel(GREEN));
    for _ in 0..20 {
        let target = Target::new(&screen, "brief", (100, 100, 600, 400), pixel(RED));
        place(&target, ConfigureWindowAux::new().stack_mode(StackMode::BELOW));
        let area = window(&target);
        let (desktop, conn) = (std::sync::Arc::clone(&desktop), target.conn);
        let taking = tokio::spawn(async move { desktop.screenshot(shot(area)).await });
        conn.destroy_window(target.window).unwrap();
        conn.get_input_focus().unwrap().reply().unwrap();
        match taking.await.unwrap() {
            Ok(_) | Err(DesktopError::NotFound(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    desktop.screenshot(shot(Area::Display(0))).await.unwrap();
}

#[tokio::test]
async fn a_region_shows_its_pixels_at_full_resolution_without_our_windows() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let _below = Target::new(&screen, "below", (640, 400, 320, 200), pixel(RED));
    let ours = Target::ours(&screen, (600, 380, 500, 300), pixel(BLUE));
    let rect = NormRect { x: 500.0, y: 500.0, width: 250.0, height: 250.0 };
    let small =
        Shot { max: PixelSize { width: 400, height: 400 }.into(), ..shot(Area::Region { display: 0, rect }) };
    let picture = desktop.screenshot(small.clone()).await.unwrap();
    assert_eq!(picture.mapping.shows, PhysicalRect { x: 640, y: 400, width: 320, height: 200 });
    assert_eq!(picture.size, PixelSize { width: 320, height: 200 });
    assert!(is_near(&picture, (2, 2), RED) && is_near(&picture, (317, 197), RED));
    place(&ours, ConfigureWindowAux::new().x(0).y(0));
    assert_eq!(desktop.screenshot(small).await.unwrap().pixels, picture.pixels);
}

#[tokio::test]
async fn each_monitor_is_a_display_with_its_own_picture_and_its_own_0_to_1000() {
    let screen = Screen::new();
    screen.split();
    let desktop = screen.desktop();
    let displays = desktop.displays().await.unwrap();
    let known: Vec<_> = displays.iter().map(|display| (display.name.as_str(), display.bounds)).collect();
    let half = |x| PhysicalRect { x, y: 0, width: 640, height: 800 };
    assert_eq!(known, [("LEFT", half(0)), ("RIGHT", half(640))]);
    let target = Target::new(&screen, "right", (640, 0, 640, 800), pixel(GREEN));
    let left = desktop.screenshot(shot(Area::Display(0))).await.unwrap();
    let right = desktop.screenshot(shot(Area::Display(1))).await.unwrap();
    assert!(is_near(&left, (630, 400), [0; 3]) && is_near(&right, (5, 5), GREEN));
    let rect = NormRect { x: 0.0, y: 0.0, width: 500.0, height: 500.0 };
    let part = desktop.screenshot(shot(Area::Region { display: 1, rect })).await.unwrap();
    assert_eq!(part.mapping.shows, PhysicalRect { x: 640, y: 0, width: 320, height: 400 });
    let error = desktop.screenshot(shot(Area::Display(2))).await.unwrap_err();
    let named = "display 2; there are 2: 0 (LEFT, 640x800), 1 (RIGHT, 640x800)";
    assert_eq!(error, DesktopError::NotFound(named.into()));

    let middle = NormPoint::new(500.0, 500.0).unwrap();
    let on = |display| Action::Click { display, at: middle, button: Button::Left, count: 1, held: vec![] };
    desktop.act(on(1), token()).await.unwrap();
    let pressed = target.event("the press", |event| match event {
        Event::ButtonPress(event) => Some((event.root_x, event.root_y)),
        _ => None,
    });
    assert_eq!(pressed, (640 + 320, 400));
    assert_eq!(desktop.act(on(2), token()).await.unwrap_err(), DesktopError::NotFound(named.into()));
}

#[tokio::test]
async fn a_screen_that_its_saver_blanked_is_refused_and_seen_again_when_woken() {
    let screen = Screen::new();
    let desktop = screen.desktop();
    let conn = screen.connect();
    conn.force_screen_saver(ScreenSaver::ACTIVE).unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    let error = desktop.screenshot(shot(Area::Display(0))).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotAvailable(words) if words.contains("locked")), "{error}");
    conn.force_screen_saver(ScreenSaver::RESET).unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    desktop.screenshot(shot(Area::Display(0))).await.unwrap();
    desktop.act(click(300.0, 200.0), token()).await.unwrap();
}
