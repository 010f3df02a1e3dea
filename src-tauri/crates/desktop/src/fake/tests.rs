//! Tests of `fake`.

use super::*;
use crate::Key;
use protocol::geometry::PixelSize;

fn press() -> Action {
    Action::Press { key: Key::Enter, times: 1 }
}

fn shot() -> Shot {
    Shot::of_display(0, PixelSize { width: 64, height: 64 }, 50)
}

#[tokio::test]
async fn an_action_is_recorded_and_its_reaction_shows_in_the_next_picture() {
    let fake = FakeDesktop::new();
    fake.react(|_, scene| scene.colour = [200, 0, 0]);
    let before = fake.screenshot(shot()).await.unwrap();
    fake.act(press(), CancellationToken::new()).await.unwrap();
    let after = fake.screenshot(shot()).await.unwrap();
    assert_ne!(before.pixels, after.pixels);
    assert_eq!(fake.actions(), [press()]);
}

#[tokio::test]
async fn a_failure_is_used_up_once() {
    let fake = FakeDesktop::new();
    fake.fail_next(DesktopError::Failed("broken".into()));
    assert!(fake.act(press(), CancellationToken::new()).await.is_err());
    assert!(fake.act(press(), CancellationToken::new()).await.is_ok());
}

#[tokio::test]
async fn a_delayed_action_ends_when_it_is_cancelled() {
    let fake = FakeDesktop::new();
    fake.edit(|scene| scene.delay = Duration::from_secs(3600));
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(fake.act(press(), cancel).await, Err(DesktopError::Cancelled));
}

#[tokio::test]
async fn an_interruption_is_told_once_it_is_there() {
    let fake = FakeDesktop::new();
    fake.interrupt(Interruption::Corner);
    assert_eq!(fake.interrupted().await, Interruption::Corner);
}
