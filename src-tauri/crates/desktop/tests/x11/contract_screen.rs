//! What holds for every `Screen`: the fake and the real one are put through the same.

use desktop::{Area, Desktop, DesktopError, Shot, WindowId};
use pictures::Mark;
use protocol::geometry::{NormRect, PixelSize};

use crate::screen::{Screen, Target, at};

const LARGE: PixelSize = PixelSize { width: 8000, height: 8000 };

fn shot(area: Area) -> Shot {
    Shot { area, ..Shot::of_display(0, LARGE, 85) }
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> NormRect {
    NormRect { x, y, width, height }
}

/// `window` is one that is there.
async fn holds(desktop: &dyn Desktop, window: WindowId) {
    let displays = desktop.displays().await.unwrap();
    assert_eq!(displays.iter().filter(|display| display.primary).count(), 1, "{displays:?}");
    for (at, display) in displays.iter().enumerate() {
        assert_eq!(usize::try_from(display.index).unwrap(), at);
        assert!(display.bounds.width > 0 && display.bounds.height > 0 && display.scale.0 > 0.0);
    }
    for display in &displays {
        let whole = desktop.screenshot(shot(Area::Display(display.index))).await.unwrap();
        assert_eq!(whole.mapping.shows, display.bounds);
        assert_eq!((whole.size.width, whole.size.height), (display.bounds.width, display.bounds.height));
        let decoded = image::load_from_memory(&whole.jpeg).unwrap();
        assert_eq!((decoded.width(), decoded.height()), (whole.size.width, whole.size.height));
        let again = desktop.screenshot(shot(Area::Display(display.index))).await.unwrap();
        assert_eq!(again.pixels, whole.pixels);
        // A region's pixels are the display's own, not scaled.
        let region = Area::Region { display: display.index, rect: rect(250.0, 500.0, 500.0, 250.0) };
        let part = desktop.screenshot(shot(region)).await.unwrap();
        assert_eq!(part.size.width, display.bounds.width / 2);
        assert_eq!(part.mapping.shows.x, display.bounds.x + (display.bounds.width / 4).cast_signed());
    }
    let wished = PixelSize { width: 200, height: 200 }.into();
    let marks = vec![Mark { label: "e1".into(), bounds: rect(10.0, 10.0, 50.0, 50.0) }];
    let (dot, trail) = (Some(at(300.0, 300.0)), vec![at(100.0, 100.0)]);
    let plain = desktop.screenshot(Shot { max: wished, ..shot(Area::Display(0)) }).await.unwrap();
    let marked = Shot { max: wished, dot, trail, marks, ..shot(Area::Display(0)) };
    let marked = desktop.screenshot(marked).await.unwrap();
    assert!(plain.size.width <= 200 && plain.size.height <= 200);
    assert_eq!(plain.pixels, marked.pixels);
    assert_ne!(plain.jpeg, marked.jpeg);

    let picture = desktop.screenshot(shot(Area::Window(window))).await.unwrap();
    assert_eq!(
        (picture.size.width, picture.size.height),
        (picture.mapping.shows.width, picture.mapping.shows.height)
    );

    refuses(desktop).await;
}

async fn refuses(desktop: &dyn Desktop) {
    let missing = desktop.screenshot(shot(Area::Display(77))).await.unwrap_err();
    assert!(matches!(&missing, DesktopError::NotFound(words) if words.contains("77")), "{missing}");
    let missing = desktop.screenshot(shot(Area::Window(WindowId(0x7fff_fff1)))).await.unwrap_err();
    assert!(matches!(&missing, DesktopError::NotFound(words) if words.contains("2147483633")), "{missing}");
    for bad in [
        rect(-1.0, 0.0, 10.0, 10.0),
        rect(0.0, 995.0, 10.0, 10.0),
        rect(5.0, 5.0, 0.0, 10.0),
        rect(f64::NAN, 0.0, 1.0, 1.0),
    ] {
        let refused = desktop.screenshot(shot(Area::Region { display: 0, rect: bad })).await;
        assert!(matches!(refused, Err(DesktopError::BadInput(_))), "{bad:?}");
    }
    for bad in [0, 19, 101] {
        let refused = desktop.screenshot(Shot { quality: bad, ..shot(Area::Display(0)) }).await;
        assert!(matches!(refused, Err(DesktopError::BadInput(_))), "{bad}");
    }
}

#[tokio::test]
async fn the_fake_screen_keeps_the_contract() {
    let fake = desktop::fake::FakeDesktop::new();
    let window = desktop::WindowView {
        id: WindowId(7),
        title: "Editor".into(),
        app: "editor".into(),
        pid: None,
        display: 0,
        bounds: rect(100.0, 100.0, 300.0, 300.0),
        states: Vec::new(),
    };
    fake.edit(|scene| {
        scene.windows = vec![window];
        let mut second = scene.displays[0].clone();
        (second.index, second.primary, second.bounds.x) = (1, false, 1920);
        scene.displays.push(second);
    });
    holds(&*fake, WindowId(7)).await;
}

#[tokio::test]
async fn the_x11_screen_keeps_the_contract() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (100, 100, 200, 150), 0x00cc_2010);
    holds(&*screen.desktop(), WindowId(target.window.into())).await;
}

#[tokio::test]
async fn the_x11_screen_of_two_monitors_keeps_the_contract() {
    let screen = Screen::new();
    screen.split();
    let target = Target::new(&screen, "target", (700, 100, 200, 150), 0x00cc_2010);
    holds(&*screen.desktop(), WindowId(target.window.into())).await;
}
