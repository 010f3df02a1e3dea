//! Tests of `texts`.

use super::*;
use pictures::Order;

fn rect(left: u32, top: u32, right: u32, bottom: u32) -> Rect {
    Rect { left, top, right, bottom }
}

/// A white frame with black pixels at these places; the fourth bytes are all different.
fn frame(black: &[(u32, u32)]) -> Frame {
    let mut pixels = vec![255; 100 * 50 * 4];
    for (at, pixel) in pixels.chunks_exact_mut(4).enumerate() {
        pixel[3] = at as u8;
    }
    for (x, y) in black {
        pixels[((y * 100 + x) * 4) as usize..][..3].fill(0);
    }
    Frame { width: 100, height: 50, order: Order::Bgrx, pixels }
}

#[test]
fn a_text_is_known_again_wherever_it_stands_and_however_wide_its_margin_is() {
    let here = key(&frame(&[(10, 10), (30, 14)]), &rect(5, 5, 40, 20));
    assert_eq!((here.width, here.height), (21, 5));
    assert_eq!(here, key(&frame(&[(60, 31), (80, 35)]), &rect(50, 30, 90, 40)));
    assert_ne!(here, key(&frame(&[(10, 10), (30, 14), (29, 14)]), &rect(5, 5, 40, 20)));
    let plain = key(&frame(&[]), &rect(5, 5, 40, 20));
    assert_eq!((plain.width, plain.height), (0, 0));
}

#[test]
fn what_was_met_last_stays_when_there_is_too_much() {
    let key = |hash| Key { width: 1, height: 1, hash };
    let text = |text: &str| Some(Text { text: text.into(), confidence: 1.0 });
    let mut texts = Texts::default();
    for hash in 0..MOST as u64 {
        texts.keep(key(hash), text("old"), 1);
    }
    assert_eq!(texts.get(&key(7), 2), Some(text("old")));
    texts.keep(key(u64::MAX), None, 2);
    assert_eq!(texts.get(&key(7), 3), Some(text("old")));
    assert_eq!(texts.get(&key(u64::MAX), 3), Some(None));
    assert_eq!(texts.get(&key(8), 3), None);
    assert_eq!(texts.known.len(), 2);
}
