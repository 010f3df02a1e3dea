//! A session that says that it is locked: nothing is looked at and nothing done, until it says that it is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use desktop::{Action, DesktopError, Key, Shot};
use protocol::geometry::PixelSize;

use crate::screen::{Screen, token};

/// A locker as desktops have it.
struct Saver(Arc<AtomicBool>);

#[zbus::interface(name = "org.freedesktop.ScreenSaver")]
impl Saver {
    fn get_active(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

fn shot() -> Shot {
    Shot::of_display(0, PixelSize { width: 800, height: 600 }, 85)
}

#[tokio::test]
async fn a_session_whose_locker_says_so_is_neither_seen_nor_operated() {
    let screen = Screen::new().with_bus();
    let options = screen.options();
    let locked = Arc::new(AtomicBool::new(true));
    let _bus = zbus::connection::Builder::address(options.session_bus.as_deref().unwrap())
        .unwrap()
        .name("org.freedesktop.ScreenSaver")
        .unwrap()
        .serve_at("/org/freedesktop/ScreenSaver", Saver(Arc::clone(&locked)))
        .unwrap()
        .build()
        .await
        .unwrap();
    let desktop = desktop::open(options);
    let press = || desktop.act(Action::Press { key: Key::Char('a'), times: 1 }, token());
    // On a loaded machine a locker may be slow to answer, and nobody waits for it long.
    let refused =
        |error: &DesktopError| matches!(error, DesktopError::NotAvailable(why) if why.contains("locked"));
    let end = Instant::now() + Duration::from_secs(30);
    while !desktop.screenshot(shot()).await.is_err_and(|error| refused(&error)) {
        assert!(Instant::now() < end, "the locked screen is still shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    while !press().await.is_err_and(|error| refused(&error)) {
        assert!(Instant::now() < end, "the locked screen still gets keys");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    locked.store(false, Ordering::SeqCst);
    while desktop.screenshot(shot()).await.is_err() {
        assert!(Instant::now() < end, "the unlocked screen is not shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    press().await.unwrap();
}
