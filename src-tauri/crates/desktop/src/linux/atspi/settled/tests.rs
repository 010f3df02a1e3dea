//! Tests of `settled`.

use super::*;

const PANEL: u32 = 39;

#[test]
fn what_is_below_a_pane_that_lags_is_moved_with_it_but_for_parts_of_the_toolkit() {
    let told = [
        (None, number::FRAME, (0, 0, 1280, 800)),
        (Some(0), PANEL, (0, 44, 1280, 756)),
        (Some(1), number::ROOT_PANE, (0, 19, 1280, 756)),
        (Some(2), number::TABLE, (41, 157, 1166, 559)),
        (Some(3), number::TABLE_CELL, (41, 157, 60, 17)),
        (Some(2), PANEL, (4, 99, 162, 34)),
        // A field of the toolkit, where it is.
        (Some(5), PANEL, (4, 124, 162, 34)),
        (Some(6), number::TEXT, (4, 124, 126, 34)),
    ];
    let lag = (0, 25);
    assert_eq!(lags(&told), [(0, 0), (0, 0), lag, lag, lag, lag, (0, 0), (0, 0)]);
}

#[test]
fn nothing_is_moved_where_the_pane_is_where_its_frame_is() {
    let told = [
        (None, PANEL, (0, 44, 1280, 756)),
        (Some(0), number::ROOT_PANE, (0, 44, 1280, 756)),
        (Some(1), number::TABLE, (41, 182, 1166, 559)),
    ];
    assert_eq!(lags(&told), [(0, 0); 3]);
}
