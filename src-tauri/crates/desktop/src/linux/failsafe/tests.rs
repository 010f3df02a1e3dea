//! Tests of `failsafe`.

use super::*;

const LEFT: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 };
const RIGHT: PhysicalRect = PhysicalRect { x: 1920, y: 0, width: 1280, height: 1024 };

#[test]
fn only_a_corner_that_stops_the_pointer_counts() {
    let at = |x, y| in_corner(PhysicalPoint { x, y }, &[LEFT, RIGHT], 0);
    assert!(at(0, 0));
    assert!(!at(1, 0) && !at(0, 1) && !at(1920, 0) && !at(960, 540));
}

#[test]
fn our_own_acts_keep_two_pixels_away() {
    let near = |x, y| in_corner(PhysicalPoint { x, y }, &[LEFT], 2);
    assert!(near(2, 2) && near(0, 2) && !near(3, 0) && !near(0, 3));
}
