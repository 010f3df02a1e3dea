//! Tests of `capture`.

use super::*;
use pictures::Order;

#[test]
fn hatching_stays_within_the_display() {
    let area = PhysicalRect { x: 100, y: 0, width: 20, height: 20 };
    let mut pixels = vec![0; 1600];
    let mut frame = Frame { width: 20, height: 20, order: Order::Bgrx, pixels: pixels.as_mut_slice() };
    hatch(&mut frame, &area, &PhysicalRect { x: 90, y: -5, width: 15, height: 10 });
    let grey = frame.pixels.chunks(4).filter(|pixel| pixel[0] != 0).count();
    assert_eq!(grey, 5 * 5);
}
