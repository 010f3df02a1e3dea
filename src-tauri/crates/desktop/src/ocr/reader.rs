//! One look at a display: what changed, where lines of text are in it, what they say, and all lines in reading order.
//!
//! What was done when time is up stays done: the next look goes on from there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pictures::{Frame, Viewport};
use protocol::geometry::{NormRect, PhysicalRect};

use super::models::Networks;
use super::rect::Rect;
use super::seen::{Line, Seen};
use super::texts::{self, Key, Texts};
use super::{Leave, detect, recognise};
use crate::lane::Kept;
use crate::{Area, DesktopError, TextLine, TextRead, Unread};

/// Pixels around what changed that are looked at with it: letters at its edge are whole then.
const AROUND: u32 = 32;
/// A line whose middle is so near to an area may have it in there by another measure; better found twice than not at
/// all.
const BLUR: u32 = 3;
/// Displays and windows that are known at a time.
const MOST_KNOWN: usize = 12;

/// What is to be read.
pub(crate) struct Look {
    pub what: What,
    /// All of it.
    pub frame: Frame,
    /// Where it was taken.
    pub viewport: Viewport,
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
    pub text: TextRead,
    /// The number of this look, counted from one.
    pub turn: u64,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the tests look at: how much it had to do"))]
    pub work: Work,
}

/// How much a look had to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Parts that the first network looked at.
    pub areas: usize,
    /// Lines that the second network read.
    pub lines: usize,
    pub finding: Duration,
    pub reading: Duration,
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
    texts: Texts,
    turn: u64,
}

impl Kept for Reader {}

impl Reader {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, networks: None, seen: HashMap::new(), texts: Texts::default(), turn: 0 }
    }

    /// # Errors
    /// [`DesktopError::Cancelled`] where nobody waits any more; what was done until then is kept, too.
    pub(super) fn read(&mut self, look: &Look, leave: &Leave) -> Result<Reading, DesktopError> {
        let (frame, part) = (&look.frame, in_frame(look)?);
        self.turn += 1;
        if self.seen.len() >= MOST_KNOWN && !self.seen.contains_key(&look.what) {
            // Windows come and go, displays stay.
            self.seen.retain(|what, _| matches!(what, What::Display(_)));
        }
        let seen = self.seen.entry(look.what).or_insert_with(|| Seen::nothing(frame));
        if !seen.fits(frame) {
            *seen = Seen::nothing(frame);
        }
        let mut pass = Pass {
            frame,
            leave,
            turn: self.turn,
            folder: &self.folder,
            networks: &mut self.networks,
            texts: &mut self.texts,
            work: Work::default(),
        };
        let unlooked = pass.find(seen, &part)?;
        pass.recognise(seen, &part)?;
        let work = pass.work;
        leave.check()?;
        let Work { areas, lines, finding, reading } = work;
        tracing::debug!(areas, lines, ?finding, ?reading, "read a display");
        let within: Vec<&Line> = seen.lines.iter().filter(|line| part.holds(line.at.middle())).collect();
        let lines = in_order(within).into_iter().map(|line| placed(line, &look.viewport)).collect();
        let unread = Unread {
            lines: seen.unread.iter().filter(|at| part.holds(at.middle())).count(),
            percent: (unlooked * 100).div_ceil(part.area()).min(100) as u8,
        };
        let unread = (unread != Unread::default()).then_some(unread);
        Ok(Reading { text: TextRead { lines, unread }, turn: self.turn, work })
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

/// The work of one look.
struct Pass<'a> {
    frame: &'a Frame,
    leave: &'a Leave,
    turn: u64,
    folder: &'a Path,
    networks: &'a mut Option<Networks>,
    texts: &'a mut Texts,
    work: Work,
}

impl Pass<'_> {
    /// Finds the lines in what changed within `part`; answers how many pixels there was no time for.
    fn find(&mut self, seen: &mut Seen, part: &Rect) -> Result<u64, DesktopError> {
        let changes = seen.changes(self.frame, part);
        seen.forget(&changes);
        if changes.areas.is_empty() {
            return Ok(0);
        }
        let started = Instant::now();
        let whole = Rect::of(self.frame);
        let (frame, networks) = (self.frame, loaded(self.networks, self.folder)?);
        let found = networks.each(&changes.areas, self.leave, |hand, area| {
            let boxes = detect::find(networks, hand, frame, &area.grown(AROUND, AROUND, &whole))?;
            let near = area.grown(BLUR, BLUR, &whole);
            Ok(boxes.into_iter().filter(|one| near.holds(one.middle())).collect())
        })?;
        let mut left = 0;
        for (area, boxes) in changes.areas.iter().zip(found) {
            match boxes {
                Some(boxes) => {
                    seen.found(&changes, area, boxes);
                    self.work.areas += 1;
                }
                None => left += area.common(part).area(),
            }
        }
        self.work.finding = started.elapsed();
        Ok(left)
    }

    /// Reads the lines that were found in `part`, from top to bottom, as far as there is time.
    fn recognise(&mut self, seen: &mut Seen, part: &Rect) -> Result<(), DesktopError> {
        let mut waiting: Vec<Rect> =
            seen.unread.iter().filter(|at| part.holds(at.middle())).copied().collect();
        waiting.sort_by_key(|at| at.middle().1);
        let mut places: HashMap<Key, Vec<Rect>> = HashMap::new();
        let mut jobs: Vec<(Key, Rect)> = Vec::new();
        for at in waiting {
            let key = texts::key(self.frame, &at);
            match self.texts.get(&key, self.turn) {
                Some(text) => seen.read(&at, text.map(|text| Line::new(text, at))),
                None => {
                    let alike = places.entry(key).or_default();
                    if alike.is_empty() {
                        jobs.push((key, at));
                    }
                    alike.push(at);
                }
            }
        }
        if jobs.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let (frame, networks) = (self.frame, loaded(self.networks, self.folder)?);
        let read =
            networks.each(&jobs, self.leave, |hand, (_, at)| recognise::read(networks, hand, frame, at))?;
        for ((key, _), text) in jobs.iter().zip(read) {
            let Some(text) = text else { continue };
            self.texts.keep(*key, text.clone(), self.turn);
            for at in places.get(key).into_iter().flatten() {
                seen.read(at, text.clone().map(|text| Line::new(text, *at)));
            }
            self.work.lines += 1;
        }
        self.work.reading = started.elapsed();
        Ok(())
    }
}

/// The networks, loaded where they are not.
fn loaded<'a>(kept: &'a mut Option<Networks>, folder: &Path) -> Result<&'a Networks, DesktopError> {
    Ok(match kept {
        Some(networks) => networks,
        empty => empty.insert(Networks::load(folder)?),
    })
}

/// The part to read, in the frame's pixels.
fn in_frame(look: &Look) -> Result<Rect, DesktopError> {
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
        return Err(DesktopError::BadInput("the region to read text in is empty or off what is read".into()));
    }
    Ok(part)
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

fn placed(line: &Line, viewport: &Viewport) -> TextLine {
    let Viewport { shows, display } = viewport;
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
        assert_eq!(placed(&line, &Viewport::whole(shows)).bounds, bounds);
        let window = PhysicalRect { x: 2112, y: 108, width: 960, height: 540 };
        let bounds = NormRect { x: 200.0, y: 200.0, width: 100.0, height: 100.0 };
        assert_eq!(placed(&line, &Viewport { shows: window, display: shows }).bounds, bounds);
    }
}
