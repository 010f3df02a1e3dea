//! Tests of `as_elements`.

use super::*;

const PANE: PhysicalRect = PhysicalRect { x: 100, y: 100, width: 200, height: 100 };

#[test]
fn the_wheel_turns_towards_the_element_the_more_the_farther_it_is() {
    let over = PhysicalPoint { x: 200, y: 150 };
    for (x, y, expected) in [
        (120, 400, Some((over, 5, 0))),
        (120, 190, Some((over, 1, 0))),
        (120, 20, Some((over, -2, 0))),
        (120, -9_000, Some((over, -12, 0))),
        (400, 120, Some((over, 0, 3))),
        (120, 120, None),
    ] {
        let element = PhysicalRect { x, y, width: 50, height: 20 };
        assert_eq!(towards(&element, &PANE), expected);
    }
}

#[test]
fn a_pixel_comes_back_as_the_same_one() {
    let display = PhysicalRect { x: 1920, y: 0, width: 1366, height: 768 };
    for (x, y) in [(1920, 0), (3285, 767), (2500, 333)] {
        let point = PhysicalPoint { x, y };
        assert_eq!(norm(point, &display).unwrap().to_physical(&display), point);
    }
    assert_eq!(norm(PhysicalPoint { x: 5, y: 5 }, &display), None);
}
