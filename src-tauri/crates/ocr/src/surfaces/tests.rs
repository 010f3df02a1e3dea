//! Tests of `surfaces`.

use pictures::Order;

use super::*;

const LINE: Rect = Rect { left: 20, top: 20, right: 220, bottom: 50 };

/// Boxes on grey ground, each filled with a colour; the parts that the line is of.
fn parts(boxes: &[(Rect, u8)]) -> Vec<(u32, u32)> {
    let (width, height) = (240, 70);
    let colour = |at: u32| {
        let point = (at % width, at / width);
        boxes.iter().rev().find(|(one, _)| one.holds(point)).map_or(200, |(_, colour)| *colour)
    };
    let pixels = (0..width * height).flat_map(|at| [colour(at); 4]).collect();
    let frame = Frame { width, height, order: Order::Bgrx, pixels };
    apart(&frame, &LINE).iter().map(|part| (part.left, part.right)).collect()
}

fn rect(left: u32, top: u32, right: u32, bottom: u32) -> Rect {
    Rect { left, top, right, bottom }
}

/// Letters like stems from `left` on.
fn word(left: u32) -> Vec<(Rect, u8)> {
    (0..8).map(|at| (rect(left + at * 8, 28, left + at * 8 + 3, 42), 0)).collect()
}

#[test]
fn the_words_of_two_buttons_are_two_texts_and_those_on_one_surface_one() {
    let button = |left: u32, right: u32| {
        vec![(rect(left, 18, right, 52), 0), (rect(left + 1, 19, right - 1, 51), 255)]
    };
    let words = [word(30), word(135)].concat();
    assert_eq!(parts(&words), [(20, 220)]);
    let bordered = [button(15, 100), button(110, 225), words.clone()].concat();
    assert_eq!(parts(&bordered), [(20, 100), (111, 220)]);
    // Round ends: one more pixel of the ground at each.
    let round = [(rect(100, 30, 101, 40), 0), (rect(109, 30, 110, 40), 0)];
    assert_eq!(parts(&[bordered.clone(), round.to_vec()].concat()).len(), 2);
    let flat = [vec![(rect(15, 18, 100, 52), 255), (rect(112, 18, 225, 52), 120)], words.clone()].concat();
    assert_eq!(parts(&flat), [(20, 100), (112, 220)]);
    let cells = [vec![(rect(110, 0, 111, 70), 0)], words.clone()].concat();
    assert_eq!(parts(&cells), [(20, 111), (111, 220)]);
}

#[test]
fn a_caret_and_a_selected_word_cut_no_line() {
    let words = [word(30), word(135)].concat();
    let caret = [vec![(rect(110, 22, 112, 48), 0)], words.clone()].concat();
    assert_eq!(parts(&caret), [(20, 220)]);
    let selected = [vec![(rect(132, 22, 200, 48), 90)], words].concat();
    assert_eq!(parts(&selected), [(20, 200)], "bare ground behind it is none of it");
}
