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
mod tests;
