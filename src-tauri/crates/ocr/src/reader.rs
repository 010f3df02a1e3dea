//! One reading of a display or window: what changed, where lines of text are in it, what they say, and all lines in
//! reading order.
//!
//! What was done when time is up stays done: the next reading goes on from there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pictures::{Frame, Viewport};
use protocol::geometry::{NormRect, PhysicalRect};

use crate::known::{KnownScreen, Line};
use crate::networks::Networks;
use crate::rect::Rect;
use crate::texts::{self, Key, Texts};
use crate::{OcrError, TextLine, TextRead, Unread, detect, recognise, surfaces};

/// Pixels around what changed that are looked at with it: letters at its edge are whole then.
const AROUND: u32 = 32;
/// A line whose middle is so near to an area may have it in there by another measure; better found twice than not at
/// all.
const BLUR: u32 = 3;
/// Displays and windows that are known at a time.
const MOST_KNOWN: usize = 12;

/// What is to be read.
pub struct ReadRequest {
    pub source: Source,
    /// All of it.
    pub frame: Frame,
    /// Where it was taken.
    pub viewport: Viewport,
    /// Only this part of it, in 0-1000 of it; all of it if `None`.
    pub part: Option<NormRect>,
}

/// What was read of these stays known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    Display(u32),
    Window(u64),
}

pub struct Reading {
    pub text: TextRead,
    /// The number of this reading, counted from one.
    pub turn: u64,
    /// How much there was to do.
    pub work: Work,
}

/// How much a reading had to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Parts that the first network looked at.
    pub areas: usize,
    /// Lines that the second network read.
    pub lines: usize,
    pub finding: Duration,
    pub reading: Duration,
}

/// Reads text, and knows what it has read. Blocks its thread for seconds.
pub struct Reader {
    folder: PathBuf,
    networks: Option<Networks>,
    known: HashMap<Source, KnownScreen>,
    texts: Texts,
    turn: u64,
}

impl Reader {
    /// The reader with the networks of this folder; nothing is opened yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, networks: None, known: HashMap::new(), texts: Texts::default(), turn: 0 }
    }

    /// The lines of text in a display or window, or in a part of it, in reading order.
    ///
    /// What there was no time for is said, and done when it is asked for again.
    ///
    /// # Errors
    /// [`OcrError::Cancelled`] if nobody waits any more; what was done until then is kept, too.
    pub fn read(&mut self, request: &ReadRequest, deadline: &Deadline) -> Result<Reading, OcrError> {
        let (frame, part) = (&request.frame, in_frame(request)?);
        self.turn += 1;
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&request.source) {
            // Windows come and go, displays stay.
            self.known.retain(|source, _| matches!(source, Source::Display(_)));
        }
        let known = self.known.entry(request.source).or_insert_with(|| KnownScreen::empty(frame));
        if !known.fits(frame) {
            *known = KnownScreen::empty(frame);
        }
        let mut pass = Pass {
            frame,
            deadline,
            turn: self.turn,
            folder: &self.folder,
            networks: &mut self.networks,
            texts: &mut self.texts,
            work: Work::default(),
        };
        let unlooked = pass.find(known, &part)?;
        pass.recognise(known, &part)?;
        let work = pass.work;
        deadline.check()?;
        let Work { areas, lines, finding, reading } = work;
        tracing::debug!(areas, lines, ?finding, ?reading, "read a display");
        let within: Vec<&Line> = known.lines.iter().filter(|line| part.holds(line.at.middle())).collect();
        let lines = in_order(within).into_iter().map(|line| placed(line, &request.viewport)).collect();
        let unread = Unread {
            lines: known.unread.iter().filter(|at| part.holds(at.middle())).count(),
            percent: (unlooked * 100).div_ceil(part.area()).min(100) as u8,
        };
        let unread = (unread != Unread::default()).then_some(unread);
        Ok(Reading { text: TextRead { lines, unread }, turn: self.turn, work })
    }

    /// Lets go of the networks (about 100 MB) if nothing was read after that turn.
    pub fn rest(&mut self, turn: u64) {
        if self.turn == turn {
            self.networks = None;
        }
    }

    /// Whether no networks are loaded.
    pub fn is_rested(&self) -> bool {
        self.networks.is_none()
    }
}

/// When to leave off: asked between two steps of a reading.
pub struct Deadline {
    abandoned: Arc<AtomicBool>,
    at: Instant,
}

/// Held by who waits for a reading: once this is dropped, the reading ends early.
pub struct Waiting(Arc<AtomicBool>);

impl Deadline {
    /// The time counts from now, so that waiting for another reading is in it.
    pub fn after(within: Duration) -> Self {
        Self { abandoned: Arc::default(), at: Instant::now() + within }
    }

    /// For who waits.
    pub fn waiting(&self) -> Waiting {
        Waiting(Arc::clone(&self.abandoned))
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.at
    }

    /// # Errors
    /// [`OcrError::Cancelled`] if nobody waits any more.
    fn check(&self) -> Result<(), OcrError> {
        if self.abandoned.load(Ordering::Relaxed) { Err(OcrError::Cancelled) } else { Ok(()) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The work of one reading.
struct Pass<'a> {
    frame: &'a Frame,
    deadline: &'a Deadline,
    turn: u64,
    folder: &'a Path,
    networks: &'a mut Option<Networks>,
    texts: &'a mut Texts,
    work: Work,
}

impl Pass<'_> {
    /// Finds the lines in what changed within `part`; answers how many pixels there was no time for.
    fn find(&mut self, known: &mut KnownScreen, part: &Rect) -> Result<u64, OcrError> {
        let changes = known.changes(self.frame, part);
        known.forget(&changes);
        if changes.areas.is_empty() {
            return Ok(0);
        }
        let started = Instant::now();
        let whole = Rect::of(self.frame);
        let (frame, networks) = (self.frame, loaded(self.networks, self.folder)?);
        let found = networks.each(&changes.areas, self.deadline, |thread, area| {
            let boxes = detect::find(networks, thread, frame, &area.grown(AROUND, AROUND, &whole))?;
            let near = area.grown(BLUR, BLUR, &whole);
            let boxes = boxes.into_iter().filter(|one| near.holds(one.middle()));
            Ok(boxes.flat_map(|one| surfaces::apart(frame, &one)).collect())
        })?;
        let mut left = 0;
        for (area, boxes) in changes.areas.iter().zip(found) {
            match boxes {
                Some(boxes) => {
                    known.found(&changes, area, boxes);
                    self.work.areas += 1;
                }
                None => left += area.common(part).area(),
            }
        }
        self.work.finding = started.elapsed();
        Ok(left)
    }

    /// Reads the lines that were found in `part`, from top to bottom, as far as there is time.
    fn recognise(&mut self, known: &mut KnownScreen, part: &Rect) -> Result<(), OcrError> {
        let mut waiting: Vec<Rect> =
            known.unread.iter().filter(|at| part.holds(at.middle())).copied().collect();
        waiting.sort_by_key(|at| at.middle().1);
        let mut places: HashMap<Key, Vec<Rect>> = HashMap::new();
        let mut jobs: Vec<(Key, Rect)> = Vec::new();
        for at in waiting {
            let key = texts::key(self.frame, &at);
            match self.texts.get(&key, self.turn) {
                Some(text) => known.read(&at, text.map(|text| Line::new(text, at))),
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
        let read = networks
            .each(&jobs, self.deadline, |thread, (_, at)| recognise::read(networks, thread, frame, at))?;
        for ((key, _), text) in jobs.iter().zip(read) {
            let Some(text) = text else { continue };
            self.texts.keep(*key, text.clone(), self.turn);
            for at in places.get(key).into_iter().flatten() {
                known.read(at, text.clone().map(|text| Line::new(text, *at)));
            }
            self.work.lines += 1;
        }
        self.work.reading = started.elapsed();
        Ok(())
    }
}

/// The networks, loaded if they are not yet.
fn loaded<'a>(kept: &'a mut Option<Networks>, folder: &Path) -> Result<&'a Networks, OcrError> {
    Ok(match kept {
        Some(networks) => networks,
        empty => empty.insert(Networks::load(folder)?),
    })
}

/// The part to read, in the frame's pixels.
fn in_frame(request: &ReadRequest) -> Result<Rect, OcrError> {
    let frame = &request.frame;
    let expected = u64::from(frame.width) * u64::from(frame.height) * 4;
    if frame.pixels.len() as u64 != expected || expected == 0 {
        return Err(OcrError::Failed(format!(
            "the captured frame has {} bytes where {}x{} needs {expected}",
            frame.pixels.len(),
            frame.width,
            frame.height
        )));
    }
    let part = request.part.map_or(Rect::of(frame), |part| in_pixels(&part, frame));
    if part.is_empty() {
        return Err(OcrError::Region);
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
mod tests;
