//! Tests of `scene`.

use super::*;

const SCREEN: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 800 };
const RIGHT: PhysicalRect = PhysicalRect { x: 1000, y: 0, width: 1000, height: 800 };

fn top(pid: u32, app: &str, title: &str, rect: PhysicalRect) -> Top {
    Top { id: 0, pid, app: app.into(), title: title.into(), rect, focused: false }
}

fn own() -> Own {
    Own { pid: 1, windows: WindowsProcess::default() }
}

#[test]
fn only_a_corner_that_stops_the_pointer_counts() {
    let at = |x, y| in_corner(PhysicalPoint { x, y }, &[SCREEN, RIGHT], 0);
    assert!(at(0, 0));
    assert!(!at(1, 0) && !at(0, 1) && !at(1000, 0));
}

#[test]
fn a_click_on_our_window_is_known_and_the_overlay_lets_it_through() {
    let small = PhysicalRect { x: 100, y: 100, width: 200, height: 200 };
    let tops = [
        top(1, "Miki", "Miki Overlay", SCREEN),
        top(1, "Miki", "Miki Chat", small),
        top(2, "Editor", "pond.txt", SCREEN),
    ];
    let hits = |x, y| hits_own(&tops, &own(), PhysicalPoint { x, y }, &[SCREEN]);
    assert!(hits(150, 150));
    assert!(!hits(500, 500));
    // A window is not ours for what it calls itself.
    let namesake = [top(7, "Editor", "Miki Chat", small)];
    assert!(!hits_own(&namesake, &own(), PhysicalPoint { x: 150, y: 150 }, &[SCREEN]));
    let above = PhysicalRect { x: 100, y: 100, width: 50, height: 50 };
    let covered = [top(2, "Editor", "menu", above), tops[1].clone()];
    assert!(!hits_own(&covered, &own(), PhysicalPoint { x: 120, y: 120 }, &[SCREEN]));
}

#[test]
fn the_active_window_is_meant_and_ours_never_is() {
    let mut tops = [
        top(1, "Miki", "Miki", SCREEN),
        top(2, "Editor", "pond.txt", SCREEN),
        top(3, "Browser", "News", SCREEN),
    ];
    tops[0].focused = true;
    assert_eq!(meant(&tops, &own(), None), Ok(&tops[1]));
    tops[2].focused = true;
    assert_eq!(meant(&tops, &own(), None), Ok(&tops[2]));
    assert_eq!(meant(&tops, &own(), Some("POND")), Ok(&tops[1]));
    let error = meant(&tops, &own(), Some("miki")).unwrap_err().to_string();
    assert!(error.contains("Editor (pond.txt); Browser (News)"), "{error}");
}

#[test]
fn acts_stay_within_the_fence() {
    let left = PhysicalRect { width: 500, ..SCREEN };
    let mut tops = [top(2, "Editor", "pond.txt", left), top(3, "Browser", "News", SCREEN)];
    tops[1].focused = true;
    let apps = Fence { displays: vec![0], apps: vec!["edit".into()], never: vec![] };
    let aim = |display, x| check_fence(&apps, &tops, &own(), Some((display, PhysicalPoint { x, y: 5 })));
    assert_eq!(aim(0, 100), Ok(()));
    assert!(matches!(aim(0, 700), Err(DesktopError::Forbidden(_))));
    assert!(matches!(aim(1, 100), Err(DesktopError::Forbidden(_))));
    assert!(matches!(check_fence(&apps, &tops, &own(), None), Err(DesktopError::Forbidden(_))));
    assert_eq!(check_fence(&Fence::default(), &tops, &own(), None), Ok(()));
}

#[test]
fn a_window_is_on_the_display_that_shows_most_of_it() {
    let at = |x| shows_most(&[SCREEN, RIGHT], &PhysicalRect { x, y: 0, width: 100, height: 100 });
    assert_eq!([at(0), at(940), at(960), at(1500), at(9000)], [0, 0, 1, 1, 0]);
}

#[test]
fn a_wish_for_a_window_becomes_pixels_of_its_display() {
    let change = |wish| to_change(wish, &RIGHT);
    let to = PhysicalPoint { x: 1500, y: 400 };
    assert_eq!(change(WindowChange::Move { x: 500.0, y: 500.0 }), Ok(Change::Move(to)));
    let size = Change::Resize { width: 500, height: 200 };
    assert_eq!(change(WindowChange::Resize { width: 500.0, height: 250.0 }), Ok(size));
    for bad in [f64::NAN, 0.0, 1001.0] {
        let wish = WindowChange::Resize { width: bad, height: 500.0 };
        assert!(matches!(change(wish), Err(DesktopError::BadInput(_))), "{bad}");
    }
    let off = WindowChange::Move { x: -1.0, y: 0.0 };
    assert!(matches!(change(off), Err(DesktopError::BadInput(_))));
}

#[test]
fn a_change_is_only_told_as_done_when_the_window_shows_it() {
    let there = top(2, "Editor", "pond.txt", SCREEN);
    let maximized = ["maximized".to_owned()];
    assert!(!has_come(Change::Focus, Some(&there), true, &[]));
    assert!(has_come(Change::Focus, Some(&Top { focused: true, ..there.clone() }), true, &[]));
    assert!(has_come(Change::Move(PhysicalPoint { x: 8, y: 20 }), Some(&there), true, &[]));
    assert!(!has_come(Change::Move(PhysicalPoint { x: 80, y: 0 }), Some(&there), true, &[]));
    assert!(has_come(Change::Resize { width: 990, height: 800 }, Some(&there), true, &[]));
    assert!(has_come(Change::Minimize, None, true, &[]) && !has_come(Change::Minimize, None, false, &[]));
    assert!(has_come(Change::Maximize(SCREEN), Some(&there), true, &maximized));
    assert!(!has_come(Change::Restore, Some(&there), true, &maximized));
    assert!(has_come(Change::Close, None, false, &[]) && !has_come(Change::Close, None, true, &[]));
}
