//! Tests of `ewmh`.

use super::*;
use protocol::geometry::ScaleFactor;

fn display(x: i32) -> DisplayView {
    let bounds = PhysicalRect { x, y: 0, width: 1000, height: 500 };
    DisplayView { index: 0, name: String::new(), bounds, scale: ScaleFactor(1.0), primary: x == 0 }
}

#[test]
fn a_window_is_on_the_display_that_shows_most_of_it() {
    let displays = [display(0), display(1000)];
    let at = |x| most_of(&PhysicalRect { x, y: 10, width: 400, height: 100 }, &displays);
    assert_eq!((at(0), at(700), at(900), at(5000)), (0, 0, 1, 0));
}
