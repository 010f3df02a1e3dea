//! What is known of a display: its tiles as they were read, and the lines read in them. Says what has to be read again.
//!
//! Runs no network. A tile without any change of colour holds no text, and is never looked at.

use super::rect::Rect;
use crate::picture::Frame;

/// Side of a tile in pixels.
const TILE: u32 = 32;
/// Colours that differ by less are one.
const SAME: u8 = 20;
/// A change this near to a line's end may be a part of it.
const NEAR: u32 = 20;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub text: String,
    pub confidence: f32,
    pub at: Rect,
}

/// One display as it was when it was last read.
#[derive(Debug)]
pub(super) struct Seen {
    whole: Rect,
    columns: u32,
    /// Row by row; nothing where a tile has not been read.
    tiles: Vec<Option<u64>>,
    pub lines: Vec<Line>,
}

/// What has to be read again.
#[derive(Debug)]
pub(super) struct Changes {
    tiles: Vec<(usize, u64)>,
    /// Lines that are no longer known.
    gone: Vec<Rect>,
    /// Where text may be; these do not meet one another.
    pub areas: Vec<Rect>,
}

/// A tile's look.
struct Look {
    hash: u64,
    is_plain: bool,
}

impl Seen {
    pub(super) fn nothing(frame: &Frame) -> Self {
        let (columns, rows) = (frame.width.div_ceil(TILE), frame.height.div_ceil(TILE));
        let tiles = vec![None; (columns * rows) as usize];
        Self { whole: Rect::of(frame), columns, tiles, lines: Vec::new() }
    }

    pub(super) fn fits(&self, frame: &Frame) -> bool {
        self.whole == Rect::of(frame)
    }

    /// What differs from what is known within `part`.
    pub(super) fn changes(&self, frame: &Frame, part: &Rect) -> Changes {
        let mut tiles = Vec::new();
        let mut changed = vec![false; self.tiles.len()];
        let mut to_read = vec![false; self.tiles.len()];
        for at in self.tiles_in(part) {
            let look = look(frame, &self.tile(at));
            if self.tiles.get(at).copied().flatten() != Some(look.hash) {
                tiles.push((at, look.hash));
                mark(&mut changed, at);
                if !look.is_plain {
                    mark(&mut to_read, at);
                }
            }
        }
        let mut gone = Vec::new();
        for line in &self.lines {
            let near = line.at.grown(NEAR, 0, &self.whole);
            if self.tiles_in(&near).any(|at| changed.get(at) == Some(&true)) {
                gone.push(line.at);
                self.tiles_in(&line.at).for_each(|at| mark(&mut to_read, at));
            }
        }
        Changes { tiles, gone, areas: self.areas(&to_read) }
    }

    /// Takes over what was read where it had changed. A new line that lies on a known one is that one, seen at the
    /// edge of what was looked at.
    pub(super) fn learn(&mut self, changes: &Changes, read: Vec<Line>) {
        self.lines.retain(|line| !changes.gone.contains(&line.at));
        for line in read {
            let covers =
                |known: &Line| known.at.common(&line.at).area() * 2 > known.at.area().min(line.at.area());
            if !self.lines.iter().any(covers) {
                self.lines.push(line);
            }
        }
        for &(at, hash) in &changes.tiles {
            if let Some(tile) = self.tiles.get_mut(at) {
                *tile = Some(hash);
            }
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

    /// Rectangles around the tiles that lie together; words of one line may have a tile between them.
    fn areas(&self, tiles: &[bool]) -> Vec<Rect> {
        let mut areas: Vec<Rect> = Vec::new();
        let marked = tiles.iter().enumerate().filter(|(_, marked)| **marked);
        for tile in marked.map(|(at, _)| self.tile(at)) {
            let mut area = tile;
            // An area that has grown may meet others now.
            while let Some(at) =
                areas.iter().position(|known| known.meets(&area.grown(TILE + 1, 1, &self.whole)))
            {
                area = area.union(&areas.swap_remove(at));
            }
            areas.push(area);
        }
        areas.sort_by_key(|area| (area.top, area.left));
        areas
    }
}

fn mark(tiles: &mut [bool], at: usize) {
    if let Some(tile) = tiles.get_mut(at) {
        *tile = true;
    }
}

/// One pass over a tile's pixels. The fourth byte of a pixel means nothing.
fn look(frame: &Frame, tile: &Rect) -> Look {
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
    Look { hash, is_plain: least.iter().zip(most).all(|(least, most)| most.saturating_sub(*least) < SAME) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Order;

    fn frame() -> Frame {
        Frame { width: 330, height: 200, order: Order::Bgrx, pixels: vec![255; 330 * 200 * 4] }
    }

    fn rect(left: u32, top: u32, right: u32, bottom: u32) -> Rect {
        Rect { left, top, right, bottom }
    }

    fn draw(frame: &mut Frame, at: Rect) {
        for y in at.top..at.bottom {
            for x in (at.left..at.right).step_by(2) {
                frame.pixels[(y * frame.width + x) as usize * 4] = 0;
            }
        }
    }

    fn line(text: &str, at: Rect) -> Line {
        Line { text: text.into(), confidence: 0.9, at }
    }

    #[test]
    fn plain_tiles_are_never_read_and_unchanged_ones_not_again() {
        let mut frame = frame();
        draw(&mut frame, rect(40, 40, 90, 50));
        let whole = Rect::of(&frame);
        let mut seen = Seen::nothing(&frame);
        let changes = seen.changes(&frame, &whole);
        assert_eq!(changes.areas, [rect(32, 32, 96, 64)]);
        seen.learn(&changes, vec![line("a", rect(40, 40, 90, 50))]);
        let changes = seen.changes(&frame, &whole);
        assert_eq!((changes.areas.len(), changes.tiles.len()), (0, 0));
        seen.learn(&changes, vec![]);
        assert_eq!(seen.lines.len(), 1);
    }

    #[test]
    fn a_line_is_read_again_whole_when_something_is_added_to_its_end() {
        let mut frame = frame();
        let whole = Rect::of(&frame);
        draw(&mut frame, rect(10, 40, 62, 50));
        draw(&mut frame, rect(10, 140, 62, 150));
        let mut seen = Seen::nothing(&frame);
        let changes = seen.changes(&frame, &whole);
        seen.learn(&changes, vec![line("up", rect(10, 40, 62, 50)), line("down", rect(10, 140, 62, 150))]);
        draw(&mut frame, rect(68, 40, 74, 50));
        let changes = seen.changes(&frame, &whole);
        assert_eq!(changes.areas, [rect(0, 32, 96, 64)]);
        seen.learn(&changes, vec![line("up!", rect(10, 40, 74, 50))]);
        let texts: Vec<_> = seen.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["down", "up!"]);
    }

    #[test]
    fn a_line_whose_place_is_plain_now_is_forgotten() {
        let mut before = frame();
        draw(&mut before, rect(10, 40, 62, 50));
        let whole = Rect::of(&before);
        let mut seen = Seen::nothing(&before);
        let changes = seen.changes(&before, &whole);
        seen.learn(&changes, vec![line("gone", rect(10, 40, 62, 50))]);
        let changes = seen.changes(&frame(), &whole);
        seen.learn(&changes, vec![]);
        assert_eq!(seen.lines, []);
    }

    #[test]
    fn outside_the_part_nothing_counts_as_read() {
        let mut frame = frame();
        draw(&mut frame, rect(10, 40, 62, 50));
        draw(&mut frame, rect(200, 140, 262, 150));
        let mut seen = Seen::nothing(&frame);
        let changes = seen.changes(&frame, &rect(0, 0, 100, 100));
        assert_eq!(changes.areas, [rect(0, 32, 64, 64)]);
        seen.learn(&changes, vec![]);
        let whole = Rect::of(&frame);
        assert_eq!(seen.changes(&frame, &whole).areas, [rect(192, 128, 288, 160)]);
    }

    #[test]
    fn a_known_line_is_not_learnt_twice() {
        let frame = frame();
        let mut seen = Seen::nothing(&frame);
        let changes = seen.changes(&frame, &Rect::of(&frame));
        seen.learn(&changes, vec![line("whole", rect(10, 10, 90, 26)), line("hole", rect(20, 11, 90, 26))]);
        assert_eq!(seen.lines, [line("whole", rect(10, 10, 90, 26))]);
    }
}
