//! Tests of `detect`.

use super::*;

#[test]
fn marks_that_hang_together_become_one_box_and_specks_none() {
    let (width, height) = (64, 32);
    let mut marked = vec![0.0; width * height];
    for y in 10..14 {
        for x in 8..40 {
            marked[y * width + x] = 0.9;
        }
    }
    marked[25 * width + 50] = 0.9;
    let whole = Rect { left: 0, top: 0, right: 60, bottom: 32 };
    // 32 x 4 pixels: 128 * 1.6 / 72 = 2.8, so three on each side.
    let expected = Rect { left: 5, top: 7, right: 43, bottom: 17 };
    assert_eq!(boxes(&marked, width, &whole), [expected]);
}

#[test]
fn a_mark_the_network_is_not_sure_of_is_no_text() {
    let marked = vec![0.35; 64 * 8];
    assert_eq!(boxes(&marked, 64, &Rect { left: 0, top: 0, right: 64, bottom: 8 }), []);
}
