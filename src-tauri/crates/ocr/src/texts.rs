//! What lines said, by their pixels: a text that scrolls, or stands in several places, is read once.
//!
//! A line is known by what is drawn in its box, without the plain margin: boxes of the same text differ by a pixel.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use pictures::Frame;

use crate::recognise::Text;
use crate::rect::Rect;

/// Lines kept in mind; several full screens.
const MOST: usize = 4_096;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    width: u32,
    height: u32,
    hash: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Texts {
    known: HashMap<Key, KnownText>,
}

#[derive(Debug)]
struct KnownText {
    text: Option<Text>,
    /// The reading that last met it.
    turn: u64,
}

impl Texts {
    /// What the line says: `None` if that is not known, `Some(None)` if there is no text in it.
    pub(crate) fn get(&mut self, key: &Key, turn: u64) -> Option<Option<Text>> {
        let known = self.known.get_mut(key)?;
        known.turn = turn;
        Some(known.text.clone())
    }

    pub(crate) fn keep(&mut self, key: Key, text: Option<Text>, turn: u64) {
        if self.known.len() >= MOST {
            // What this very reading met may be too much by itself.
            self.known.retain(|_, known| known.turn == turn);
            if self.known.len() >= MOST {
                self.known.clear();
            }
        }
        self.known.insert(key, KnownText { text, turn });
    }
}

/// What the box `at` looks like.
pub(crate) fn key(frame: &Frame, at: &Rect) -> Key {
    let ink = ink(frame, at);
    let mut hasher = DefaultHasher::new();
    for y in ink.top..ink.bottom {
        row(frame, &ink, y).for_each(|colour| hasher.write_u32(colour));
    }
    Key { width: ink.width(), height: ink.height(), hash: hasher.finish() }
}

/// The box without the rows and columns at its sides that have but the colour of its corner.
fn ink(frame: &Frame, at: &Rect) -> Rect {
    let Some(plain) = row(frame, at, at.top).next() else { return *at };
    let mut ink = Rect { left: at.right, top: at.bottom, right: at.left, bottom: at.top };
    for y in at.top..at.bottom {
        let drawn = |(x, colour): (u32, u32)| (colour != plain).then_some(x);
        let mut places = (at.left..).zip(row(frame, at, y)).filter_map(drawn);
        if let Some(first) = places.next() {
            let last = places.last().unwrap_or(first);
            ink.left = ink.left.min(first);
            ink.right = ink.right.max(last + 1);
            ink.top = ink.top.min(y);
            ink.bottom = y + 1;
        }
    }
    if ink.top < ink.bottom { ink } else { Rect { right: at.left, bottom: at.top, ..*at } }
}

/// The colours of a part's row. The fourth byte of a pixel means nothing.
fn row<'a>(frame: &'a Frame, part: &Rect, y: u32) -> impl Iterator<Item = u32> + use<'a> {
    let row = y as usize * frame.width as usize;
    let bytes = (row + part.left as usize) * 4..(row + part.right as usize) * 4;
    let (pixels, _) = frame.pixels.get(bytes).unwrap_or_default().as_chunks::<4>();
    pixels.iter().map(|&[a, b, c, _]| u32::from_le_bytes([a, b, c, 0]))
}

#[cfg(test)]
mod tests {
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
}
