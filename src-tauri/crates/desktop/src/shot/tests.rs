//! Tests of `shot`.

use super::*;

#[test]
fn a_region_is_all_pixels_it_touches_and_none_beyond_the_display() {
    let display = PhysicalRect { x: 1920, y: 10, width: 1280, height: 800 };
    let rect = |x, y, width, height| NormRect { x, y, width, height };
    let cases = [
        (rect(0.0, 0.0, 1000.0, 1000.0), display),
        (rect(500.0, 250.0, 250.0, 125.0), PhysicalRect { x: 2560, y: 210, width: 320, height: 100 }),
        (rect(999.9, 999.9, 0.1, 0.1), PhysicalRect { x: 3199, y: 809, width: 1, height: 1 }),
        (rect(0.5, 0.0, 0.1, 1.25), PhysicalRect { x: 1920, y: 10, width: 1, height: 1 }),
    ];
    for (wished, expected) in cases {
        assert_eq!(region(&wished, &display), Ok(expected), "{wished:?}");
    }
    for bad in [
        rect(-1.0, 0.0, 10.0, 10.0),
        rect(990.0, 0.0, 11.0, 10.0),
        rect(0.0, 1000.0, 10.0, 10.0),
        rect(0.0, 0.0, 0.0, 10.0),
        rect(f64::NAN, 0.0, 10.0, 10.0),
        rect(0.0, 0.0, 10.0, f64::INFINITY),
    ] {
        assert!(matches!(region(&bad, &display), Err(DesktopError::BadInput(_))), "{bad:?}");
    }
}
