//! One look at a display: what changed, where text is in it, what it says, and all lines in reading order.

use std::collections::HashMap;
use std::path::PathBuf;

use protocol::geometry::{NormRect, PhysicalRect};

use super::models::Networks;
use super::rect::Rect;
use super::seen::{Line, Seen};
use super::{Leave, detect, recognise};
use crate::lane::Kept;
use crate::picture::{Frame, Place};
use crate::{Area, DesktopError, TextLine};

/// Pixels around what changed that are looked at with it: letters at its edge are whole then.
const AROUND: u32 = 32;
/// Displays and windows that are known at a time.
const MOST_KNOWN: usize = 12;

/// What is to be read.
pub(crate) struct Look {
    pub what: What,
    /// All of it.
    pub frame: Frame,
    /// Its place.
    pub place: Place,
    /// Only this part of it, in 0-1000 of it.
    pub part: Option<NormRect>,
}

/// What was read of these stays known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Display(u32),
    Window(u64),
}

pub(super) struct Reading {
    /// In reading order.
    pub lines: Vec<TextLine>,
    /// Lines that a network had to read for it.
    #[cfg_attr(not(test), expect(dead_code, reason = "what the tests look at: how much work it was"))]
    pub read_again: usize,
    /// The number of this look, counted from one.
    pub turn: u64,
}

impl What {
    /// What is read of an area, what is to be captured for it, and which part of that is meant. Of a region the whole
    /// display is taken, of which more may be known already.
    pub(crate) fn of(area: Area) -> (Self, Area, Option<NormRect>) {
        match area {
            Area::Display(display) => (Self::Display(display), area, None),
            Area::Region { display, rect } => (Self::Display(display), Area::Display(display), Some(rect)),
            Area::Window(window) => (Self::Window(window.0), area, None),
        }
    }
}

/// What the reading thread keeps.
pub(super) struct Reader {
    folder: PathBuf,
    networks: Option<Networks>,
    seen: HashMap<What, Seen>,
    turn: u64,
}

impl Kept for Reader {}

impl Reader {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, networks: None, seen: HashMap::new(), turn: 0 }
    }

    pub(super) fn read(&mut self, look: &Look, leave: &Leave) -> Result<Reading, DesktopError> {
        leave.check()?;
        self.turn += 1;
        let frame = &look.frame;
        let expected = u64::from(frame.width) * u64::from(frame.height) * 4;
        if frame.pixels.len() as u64 != expected || expected == 0 {
            return Err(DesktopError::Failed(format!(
                "the captured frame has {} bytes where {}x{} needs {expected}",
                frame.pixels.len(),
                frame.width,
                frame.height
            )));
        }
        let part = look.part.map_or(Rect::of(frame), |part| in_pixels(&part, frame));
        if part.is_empty() {
            return Err(DesktopError::BadInput(
                "the region to read text in is empty or off what is read".into(),
            ));
        }
        if self.seen.len() >= MOST_KNOWN && !self.seen.contains_key(&look.what) {
            // Windows come and go, displays stay.
            self.seen.retain(|what, _| matches!(what, What::Display(_)));
        }
        let seen = self.seen.entry(look.what).or_insert_with(|| Seen::nothing(frame));
        if !seen.fits(frame) {
            *seen = Seen::nothing(frame);
        }
        let changes = seen.changes(frame, &part);
        let mut boxes = Vec::new();
        let mut texts = Vec::new();
        if !changes.areas.is_empty() {
            let networks = match &mut self.networks {
                Some(networks) => networks,
                empty => empty.insert(Networks::load(&self.folder)?),
            };
            let whole = Rect::of(frame);
            for area in &changes.areas {
                let found = detect::find(networks, frame, &area.grown(AROUND, AROUND, &whole), leave)?;
                boxes.extend(found.into_iter().filter(|one| area.holds(one.middle())));
            }
            texts = recognise::read(networks, frame, &boxes, leave)?;
        }
        let read_again = boxes.len();
        let lines = boxes.into_iter().zip(texts).filter_map(|(at, text)| {
            text.map(|text| Line { text: text.text, confidence: text.confidence, at })
        });
        let lines = lines.collect();
        seen.learn(&changes, lines);
        let within: Vec<&Line> = seen.lines.iter().filter(|line| part.holds(line.at.middle())).collect();
        let lines = in_order(within).into_iter().map(|line| placed(line, &look.place)).collect();
        Ok(Reading { lines, read_again, turn: self.turn })
    }

    /// Lets go of the networks where nobody has looked since that turn.
    pub(super) fn rest(&mut self, turn: u64) {
        if self.turn == turn {
            self.networks = None;
        }
    }

    #[cfg(test)]
    pub(super) fn is_rested(&self) -> bool {
        self.networks.is_none()
    }
}

fn in_pixels(part: &NormRect, frame: &Frame) -> Rect {
    let place = |norm: f64, length: u32| (norm / 1000.0 * f64::from(length)).clamp(0.0, f64::from(length));
    Rect {
        left: place(part.x, frame.width).floor() as u32,
        top: place(part.y, frame.height).floor() as u32,
        right: place(part.x + part.width, frame.width).ceil() as u32,
        bottom: place(part.y + part.height, frame.height).ceil() as u32,
    }
}

fn placed(line: &Line, place: &Place) -> TextLine {
    let Place { shows, display } = place;
    let at = PhysicalRect {
        x: shows.x + line.at.left as i32,
        y: shows.y + line.at.top as i32,
        width: line.at.width(),
        height: line.at.height(),
    };
    TextLine { text: line.text.clone(), bounds: at.to_norm(display), confidence: line.confidence }
}

/// From top to bottom; what stands side by side from left to right.
fn in_order(mut lines: Vec<&Line>) -> Vec<&Line> {
    lines.sort_by_key(|line| (line.at.middle().1, line.at.left));
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        let beside = |row: &Vec<&Line>| {
            row.first().is_some_and(|first| (first.at.top..first.at.bottom).contains(&line.at.middle().1))
        };
        match rows.last_mut() {
            Some(row) if beside(row) => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    for row in &mut rows {
        row.sort_by_key(|line| line.at.left);
    }
    rows.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_side_by_side_are_read_from_left_to_right() {
        let line = |text: &str, left, top| Line {
            text: text.into(),
            confidence: 1.0,
            at: Rect { left, top, right: left + 50, bottom: top + 20 },
        };
        let lines = [line("d", 300, 44), line("b", 200, 9), line("a", 10, 12), line("c", 10, 40)];
        let order: String = in_order(lines.iter().collect()).iter().map(|line| line.text.as_str()).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn a_lines_place_is_in_the_displays_thousandths() {
        let line = Line {
            text: "x".into(),
            confidence: 1.0,
            at: Rect { left: 192, top: 108, right: 384, bottom: 216 },
        };
        let shows = PhysicalRect { x: 1920, y: 0, width: 1920, height: 1080 };
        let bounds = NormRect { x: 100.0, y: 100.0, width: 100.0, height: 100.0 };
        assert_eq!(placed(&line, &Place::whole(shows)).bounds, bounds);
        let window = PhysicalRect { x: 2112, y: 108, width: 960, height: 540 };
        let bounds = NormRect { x: 200.0, y: 200.0, width: 100.0, height: 100.0 };
        assert_eq!(placed(&line, &Place { shows: window, display: shows }).bounds, bounds);
    }
}
