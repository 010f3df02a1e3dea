//! What two glances tell of an act: windows that open and close, the focus that moves.

use std::time::Duration;

use desktop::{DesktopError, ElementAction, Evidence, Glance};

use super::stage::{Stage, elements, eventually, find_in, menu, of, operate};

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_and_the_focus_show_between_two_glances() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("mousepad", &["--disable-server", &file]);
    let desktop = stage.desktop();
    let seen =
        elements(&desktop, "mousepad", |seen| seen.iter().any(|one| one.value.starts_with("old pond"))).await;
    let titled = |glance: &Glance, part: &str| glance.windows.iter().any(|one| one.title.contains(part));
    let ask = || async { desktop.glance().await.unwrap() };
    let before = eventually("the window", ask, |now| titled(now, "pond.txt") && now.active.is_some()).await;

    // A press whose dialog keeps the application from answering is no failure.
    let done = menu(&desktop, "mousepad", &["File", "Save As..."]).await.unwrap();
    assert!(!done.acted.evidence.falls_short(), "{done:?}");
    let after = eventually("the dialog", ask, |now| now.without(&before).next().is_some()).await;
    assert!(titled(&after, "Save As"), "{after:?}");
    assert_eq!(before.without(&after).count(), 0, "{after:?}");
    eventually("the dialog's focus", ask, |now| now.active_title() == Some("Save As")).await;
    eventually("the focus of an element", ask, |now| now.focused.is_some() && now.events > 0).await;

    let dialog = elements(&desktop, "mousepad", |seen| find_in(seen, "button", "Cancel").is_some()).await;
    let cancel = find_in(&dialog, "button", "Cancel").unwrap().clone();
    operate(&desktop, of(&cancel), ElementAction::Click { button: desktop::Button::Left, count: 1 })
        .await
        .unwrap();
    eventually("the dialog's end", ask, |now| now.without(&before).next().is_none()).await;
    let gone = operate(&desktop, of(&cancel), ElementAction::Focus).await.unwrap_err();
    let DesktopError::NotFound(why) = &gone else { panic!("{gone:?}") };
    assert!(why.contains("(button \"Cancel\") is gone; "), "{why}");
    let area = seen.iter().find(|one| one.value.starts_with("old pond")).unwrap();
    eventually(
        "the focus",
        || operate(&desktop, of(area), ElementAction::Focus),
        |done| done.as_ref().is_ok_and(|done| done.acted.evidence == Evidence::ReadBack),
    )
    .await
    .unwrap();
    eventually("the text's focus", ask, |now| {
        now.focused.as_deref().is_some_and(|one| one.starts_with("text"))
    })
    .await;

    let mut times = Vec::new();
    for _ in 0..50 {
        let started = std::time::Instant::now();
        desktop.glance().await.unwrap();
        times.push(started.elapsed());
    }
    times.sort_unstable();
    println!("a glance: median {:?}, most {:?}", times[25], times[49]);
    assert!(times[25] < Duration::from_millis(60), "{times:?}");
}
