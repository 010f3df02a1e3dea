//! Tests of `join`.

use protocol::geometry::{NormRect, PhysicalRect};

use super::*;

const DISPLAY: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 2000, height: 2000 };

fn view<'a>(family: Family, geometry: &'a [f64], bounds: Option<[f64; 4]>) -> View<'a> {
    View { family, geometry, bounds, scale: 2.0 }
}

#[test]
fn a_page_lies_below_its_toolbars_in_the_window_that_the_application_tells() {
    // 100,50 in points; toolbars of 88; two pixels a point.
    let geometry = [100.0, 50.0, 800.0, 700.0, 800.0, 612.0, 2.0, 1.0, 0.0, 0.0];
    for family in [Family::Safari, Family::Chromium] {
        let place = view(family, &geometry, Some([100.0, 50.0, 800.0, 700.0])).guessed().unwrap();
        let expected = NormRect { x: 110.0, y: 148.0, width: 30.0, height: 40.0 };
        assert_eq!(place.rect(10.0, 10.0, 30.0, 40.0, &DISPLAY), expected);
    }
}

#[test]
fn zoom_is_told_by_the_ratio_in_chromium_and_by_the_width_in_safari() {
    let chromium = [0.0, 0.0, 900.0, 700.0, 600.0, 400.0, 3.0, 1.0, 0.0, 0.0];
    let place = view(Family::Chromium, &chromium, None).guessed().unwrap();
    assert_eq!(place.rect(0.0, 0.0, 100.0, 0.0, &DISPLAY).width, 150.0);
    let safari = [0.0, 0.0, 900.0, 700.0, 600.0, 400.0, 2.0, 1.0, 0.0, 0.0];
    assert_eq!(view(Family::Safari, &safari, None).guessed(), Some(place));
}

#[test]
fn a_panel_beside_the_page_takes_a_pointer_event_to_be_seen() {
    // A side bar of 240 to the left, toolbars of 60.
    let geometry = [0.0, 0.0, 1040.0, 760.0, 800.0, 700.0, 2.0, 1.0, 0.0, 0.0];
    for family in [Family::Arc, Family::Safari] {
        let view = view(family, &geometry, None);
        assert_eq!(view.guessed(), None);
        let place = view.measured([520.0, 532.0, 280.0, 472.0]).unwrap();
        let expected = NormRect { x: 240.0, y: 60.0, width: 0.0, height: 0.0 };
        assert_eq!(place.rect(0.0, 0.0, 0.0, 0.0, &DISPLAY), expected);
        assert_eq!(view.within(), Some((520.0, 532.0)));
    }
}

#[test]
fn what_contradicts_the_window_is_not_believed() {
    let geometry = [100.0, 50.0, 800.0, 700.0, 800.0, 612.0, 2.0, 1.0, 0.0, 0.0];
    let other = view(Family::Chromium, &geometry, Some([100.0, 50.0, 1200.0, 700.0]));
    assert_eq!(other.guessed(), None);
    assert_eq!(other.measured([500.0, 500.0, 10.0, 10.0]), None);
    let far = view(Family::Chromium, &geometry, None);
    assert_eq!(far.measured([1900.0, 500.0, 10.0, 10.0]), None);
    assert_eq!(view(Family::Chromium, &[], None).guessed(), None);
    // A developer's panel below the page.
    let panel = [0.0, 0.0, 800.0, 900.0, 800.0, 400.0, 2.0, 1.0, 0.0, 0.0];
    assert_eq!(view(Family::Chromium, &panel, None).guessed(), None);
}
