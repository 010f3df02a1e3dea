//! What is known of a display: its tiles as they were looked at, the lines found there, and what those say. Says what
//! has to be looked at again. May be left at any point: what is not known yet is what is looked at next.
//!
//! Runs no network. A tile without any change of colour holds no text, and is never looked at.

use pictures::Frame;

use crate::areas;
use crate::recognise::Text;
use crate::rect::Rect;

/// Side of a tile in pixels.
pub(crate) const TILE: u32 = 32;
/// Colours that differ by less are one.
const SAME: u8 = 20;
/// A change this near to a line's end may be a part of it.
const NEAR: u32 = 20;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub text: String,
    pub confidence: f32,
    pub at: Rect,
}

impl Line {
    pub(crate) fn new(text: Text, at: Rect) -> Self {
        Self { text: text.text, confidence: text.confidence, at }
    }
}

/// One display as it was when it was last looked at.
#[derive(Debug)]
pub(crate) struct KnownScreen {
    whole: Rect,
    columns: u32,
    /// Row by row; `None` for a tile that has not been looked at.
    tiles: Vec<Option<u64>>,
    pub lines: Vec<Line>,
    /// Lines that were found, and not read yet.
    pub unread: Vec<Rect>,
}

/// What has to be looked at again.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Tiles of the part that are looked at again, as they are now, and whether text may be in them.
    tiles: Vec<(usize, u64, bool)>,
    /// Lines that are no longer known.
    gone: Vec<Rect>,
    /// All tiles where text may be.
    to_find: Vec<bool>,
    /// The areas these make; they do not meet one another.
    pub areas: Vec<Rect>,
}

/// What tells a tile from others.
struct TileHash {
    hash: u64,
    is_plain: bool,
}

impl KnownScreen {
    pub(crate) fn empty(frame: &Frame) -> Self {
        let (columns, rows) = (frame.width.div_ceil(TILE), frame.height.div_ceil(TILE));
        let tiles = vec![None; (columns * rows) as usize];
        Self { whole: Rect::of(frame), columns, tiles, lines: Vec::new(), unread: Vec::new() }
    }

    pub(crate) fn fits(&self, frame: &Frame) -> bool {
        self.whole == Rect::of(frame)
    }

    /// What differs from what is known within `part`.
    pub(crate) fn changes(&self, frame: &Frame, part: &Rect) -> Changes {
        let mut tiles = Vec::new();
        let mut changed = vec![false; self.tiles.len()];
        let mut to_find = vec![false; self.tiles.len()];
        for at in self.tiles_in(part) {
            let tile = tile_hash(frame, &self.tile(at));
            if self.tiles.get(at).copied().flatten() != Some(tile.hash) {
                tiles.push((at, tile.hash, !tile.is_plain));
                mark(&mut changed, at);
                if !tile.is_plain {
                    mark(&mut to_find, at);
                }
            }
        }
        let mut gone = Vec::new();
        for at in self.lines.iter().map(|line| &line.at).chain(&self.unread) {
            let near = at.grown(NEAR, 0, &self.whole);
            if self.tiles_in(&near).any(|tile| changed.get(tile) == Some(&true)) {
                gone.push(*at);
                self.tiles_in(at).for_each(|tile| mark(&mut to_find, tile));
            }
        }
        for at in self.tiles_in(part) {
            if let (Some(true), Some(false), Some(&Some(hash))) =
                (to_find.get(at), changed.get(at), self.tiles.get(at))
            {
                tiles.push((at, hash, true));
            }
        }
        let areas = areas::around(&to_find, self.columns, &self.whole);
        Changes { tiles, gone, to_find, areas }
    }

    /// Forgets what has changed.
    pub(crate) fn forget(&mut self, changes: &Changes) {
        self.lines.retain(|line| !changes.gone.contains(&line.at));
        self.unread.retain(|at| !changes.gone.contains(at));
        for (tile, to_find) in self.tiles.iter_mut().zip(&changes.to_find) {
            if *to_find {
                *tile = None;
            }
        }
        for &(at, hash, _) in changes.tiles.iter().filter(|(_, _, may_hold_text)| !may_hold_text) {
            self.know(at, hash);
        }
    }

    /// Takes over what was found in one of the areas. What lies on a known line is that one, seen at the edge of what
    /// was looked at.
    pub(crate) fn found(&mut self, changes: &Changes, area: &Rect, boxes: Vec<Rect>) {
        for at in boxes {
            let covers = |known: &Rect| known.common(&at).area() * 2 > known.area().min(at.area());
            if !self.lines.iter().map(|line| &line.at).chain(&self.unread).any(covers) {
                self.unread.push(at);
            }
        }
        for &(at, hash, _) in &changes.tiles {
            if self.tile(at).meets(area) {
                self.know(at, hash);
            }
        }
    }

    /// What stands in a line that was found; `None` if it is no text.
    pub(crate) fn read(&mut self, at: &Rect, line: Option<Line>) {
        self.unread.retain(|known| known != at);
        self.lines.extend(line);
    }

    fn know(&mut self, at: usize, hash: u64) {
        if let Some(tile) = self.tiles.get_mut(at) {
            *tile = Some(hash);
        }
    }

    fn tile(&self, at: usize) -> Rect {
        let (x, y) = (at as u32 % self.columns * TILE, at as u32 / self.columns * TILE);
        Rect { left: x, top: y, right: x + TILE, bottom: y + TILE }.common(&self.whole)
    }

    fn tiles_in(&self, part: &Rect) -> impl Iterator<Item = usize> + use<> {
        let part = part.common(&self.whole);
        let columns = self.columns as usize;
        let (left, right) = (part.left / TILE, part.right.div_ceil(TILE));
        (part.top / TILE..part.bottom.div_ceil(TILE))
            .flat_map(move |y| (left..right).map(move |x| y as usize * columns + x as usize))
            .filter(move |_| !part.is_empty())
    }
}

fn mark(tiles: &mut [bool], at: usize) {
    if let Some(tile) = tiles.get_mut(at) {
        *tile = true;
    }
}

/// One pass over a tile's pixels. The fourth byte of a pixel means nothing.
fn tile_hash(frame: &Frame, tile: &Rect) -> TileHash {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut least, mut most) = ([u8::MAX; 3], [0_u8; 3]);
    for y in tile.top..tile.bottom {
        let row = y as usize * frame.width as usize;
        let bytes = (row + tile.left as usize) * 4..(row + tile.right as usize) * 4;
        let (pixels, _) = frame.pixels.get(bytes).unwrap_or_default().as_chunks::<4>();
        for &[a, b, c, _] in pixels {
            let colour = u64::from(u32::from_le_bytes([a, b, c, 0]));
            hash = (hash ^ colour).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(29);
            for ((least, most), value) in least.iter_mut().zip(&mut most).zip([a, b, c]) {
                *least = value.min(*least);
                *most = value.max(*most);
            }
        }
    }
    TileHash {
        hash,
        is_plain: least.iter().zip(most).all(|(least, most)| most.saturating_sub(*least) < SAME),
    }
}

#[cfg(test)]
mod tests;
