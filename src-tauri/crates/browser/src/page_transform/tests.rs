//! Tests of `page_transform`.

use super::*;

/// A window at 137,91 of 1000x700, its page 992x553, as seen of Chromium 156 on X11.
const WINDOW: [f64; 10] = [137.0, 91.0, 1000.0, 700.0, 992.0, 553.0, 1.0, 1.0, 0.0, 0.0];
const DISPLAY: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 1000 };

#[test]
fn a_page_is_where_its_pointer_events_say() {
    let events = [[143.0, 500.0, 2.0, 266.0], [1131.0, 510.0, 990.0, 276.0]];
    let place = PageTransform::measured(&WINDOW, &events).unwrap();
    assert_eq!(place, PageTransform { x: 141.0, y: 234.0, zoom: 1.0, scale: 1.0 });
    let expected = NormRect { x: 151.0, y: 254.0, width: 30.0, height: 40.0 };
    assert_eq!(place.rect(10.0, 20.0, 30.0, 40.0, &DISPLAY), expected);
    assert_eq!(place.point(2000.0, 0.0, &DISPLAY), None);
}

#[test]
fn zoom_and_the_displays_scale_are_told_apart() {
    // The page at 150 %, on a display with two pixels a unit: three pixels for one of the page's.
    let window = [100.0, 50.0, 900.0, 700.0, 600.0, 400.0, 3.0, 1.0, 0.0, 0.0];
    let events = [[100.0, 150.0, 0.0, 0.0], [400.0, 150.0, 200.0, 0.0]];
    let place = PageTransform::measured(&window, &events).unwrap();
    assert_eq!(place, PageTransform { x: 100.0, y: 150.0, zoom: 1.5, scale: 2.0 });
    assert_eq!(place.rect(10.0, 0.0, 10.0, 0.0, &DISPLAY).x, 230.0);
    assert_eq!(place.rect(10.0, 0.0, 10.0, 0.0, &DISPLAY).width, 30.0);
}

#[test]
fn events_that_lie_or_say_too_little_are_not_believed() {
    let page = [[2.0, 266.0, 2.0, 266.0], [990.0, 276.0, 990.0, 276.0]];
    assert_eq!(PageTransform::measured(&WINDOW, &page), None);
    let mut corner = WINDOW;
    (corner[0], corner[1]) = (0.0, 0.0);
    assert_eq!(PageTransform::measured(&corner, &page), None);
    assert_eq!(PageTransform::measured(&WINDOW, &page[..1]), None);
    assert_eq!(PageTransform::measured(&[], &page), None);
    let near = [[143.0, 500.0, 2.0, 266.0], [144.0, 500.0, 3.0, 266.0]];
    assert_eq!(PageTransform::measured(&WINDOW, &near), None);
}
