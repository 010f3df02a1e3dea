//! What hangs together in a frame: surfaces of one colour, and what stands on the large ones. In runs of pixels, row by
//! row, so that each pixel is looked at twice whatever is on the screen.

use std::ops::Range;

use super::Edges;
use crate::Frame;

/// Neighbours that differ by less are of one surface: a shade, and no border.
const SHADE: u8 = 8;
/// Pixels from where on a surface is ground that other things stand on.
const GROUND: u64 = 1_500;
/// Pixels between the parts of one figure: those of an icon lie apart, beside each other less than above.
const BESIDE: u32 = 2;
const BELOW: usize = 3;
/// Runs in a frame: a screen full of windows has a third; noise alone has as many as pixels.
const MOST_RUNS: usize = 1_500_000;

/// Pixels of one row, from and to (without).
#[derive(Clone, Copy)]
struct Run {
    row: u32,
    from: u32,
    to: u32,
    surface: u32,
}

/// What hangs together, in the frame's pixels.
#[derive(Clone, Copy, Default)]
pub(super) struct Surface {
    pub edges: Edges,
    pub area: u64,
    /// Pixels of it that lie on its left, top, right and bottom edge.
    on_edges: [u32; 4],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Texts,
    TheRest,
}

pub(super) struct Surfaces {
    runs: Vec<Run>,
    pub all: Vec<Surface>,
    /// There was not too much in it.
    pub whole: bool,
}

/// Sets that are united; each is known by one of its members.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, at: usize) -> usize {
        let mut at = at;
        while self.0[at] as usize != at {
            let above = self.0[self.0[at] as usize];
            self.0[at] = above;
            at = above as usize;
        }
        at
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other) as u32;
    }

    /// The runs numbered by their sets, and what each set is.
    fn surfaces(mut self, runs: &mut [Run]) -> Vec<Surface> {
        let mut all: Vec<Surface> = Vec::new();
        for at in 0..runs.len() {
            let root = self.root(at);
            // The root comes first.
            if root == at {
                runs[at].surface = all.len() as u32;
                all.push(Surface::default());
            } else {
                runs[at].surface = runs[root].surface;
            }
            all[runs[at].surface as usize].add(&runs[at]);
        }
        for run in runs {
            all[run.surface as usize].count_on_edges(run);
        }
        all
    }
}

impl Surface {
    fn add(&mut self, run: &Run) {
        let edges = Edges { left: run.from, top: run.row, right: run.to, bottom: run.row + 1 };
        self.edges = if self.area == 0 { edges } else { self.edges.around(&edges) };
        self.area += u64::from(run.to - run.from);
    }

    fn count_on_edges(&mut self, run: &Run) {
        let Edges { left, top, right, bottom } = self.edges;
        let length = run.to - run.from;
        let here = [
            u32::from(run.from == left),
            if run.row == top { length } else { 0 },
            u32::from(run.to == right),
            if run.row + 1 == bottom { length } else { 0 },
        ];
        for (all, here) in self.on_edges.iter_mut().zip(here) {
            *all += here;
        }
    }

    /// Of each edge the part that is its own, in percent: left, top, right, bottom.
    pub(super) fn straightness(&self) -> [u32; 4] {
        let (width, height) = (self.edges.width().max(1), self.edges.height().max(1));
        let [left, top, right, bottom] = self.on_edges;
        [left * 100 / height, top * 100 / width, right * 100 / height, bottom * 100 / width]
    }
}

impl Surfaces {
    /// Of the frame's pixels in `part`.
    pub(super) fn of(frame: &Frame, part: &Edges) -> Self {
        let pixels = frame.pixels.as_chunks::<4>().0;
        let mut runs: Vec<Run> = Vec::new();
        let mut sets = Sets(Vec::new());
        let (mut above, mut row_above): (usize, &[[u8; 4]]) = (0, &[]);
        let mut whole = true;
        for y in part.top..part.bottom {
            let start = (y * frame.width + part.left) as usize;
            let Some(row) = pixels.get(start..start + part.width() as usize) else { break };
            let begin = runs.len();
            let mut from = 0;
            for x in 1..=row.len() {
                if x == row.len() || !alike(row[x - 1], row[x]) {
                    sets.0.push(runs.len() as u32);
                    let (from, to) = (part.left + from as u32, part.left + x as u32);
                    runs.push(Run { row: y, from, to, surface: 0 });
                }
                if x < row.len() && !alike(row[x - 1], row[x]) {
                    from = x;
                }
            }
            for (up, down) in meeting(&runs, above..begin, begin..runs.len(), 0) {
                let (one, other) = (runs[up], runs[down]);
                let common = one.from.max(other.from)..one.to.min(other.to);
                let mut common = common.map(|x| (x - part.left) as usize);
                if common.any(|x| alike(row_above[x], row[x])) {
                    sets.unite(up, down);
                }
            }
            (above, row_above) = (begin, row);
            if runs.len() > MOST_RUNS {
                whole = false;
                break;
            }
        }
        let all = sets.surfaces(&mut runs);
        Self { runs, all, whole }
    }

    /// What stands on the grounds, within these texts or without what is in them.
    pub(super) fn figures(&self, texts: &[Edges], within: Within) -> Vec<Surface> {
        let mut runs: Vec<Run> = Vec::new();
        let mut sets = Sets(Vec::new());
        // Where each row begins.
        let mut rows = Vec::new();
        for row in self.runs.chunk_by(|one, next| one.row == next.row) {
            let y = row.first().map_or(0, |run| run.row);
            let here: Vec<&Edges> =
                texts.iter().filter(|text| (text.top..text.bottom).contains(&y)).collect();
            let stands_here = |run: &&Run| {
                let is_ground = self.all[run.surface as usize].area >= GROUND;
                let is_in_text = here.iter().any(|text| text.left <= run.from && run.to <= text.right);
                !is_ground && is_in_text == (within == Within::Texts)
            };
            let begin = runs.len();
            runs.extend(row.iter().filter(stands_here));
            sets.0.extend(begin as u32..runs.len() as u32);
            for at in begin + 1..runs.len() {
                if runs[at].from <= runs[at - 1].to + BESIDE {
                    sets.unite(at - 1, at);
                }
            }
            let mut below = begin;
            for above in rows.iter().rev().take(BELOW + 1).copied() {
                for (up, down) in meeting(&runs, above..below, begin..runs.len(), BESIDE) {
                    sets.unite(up, down);
                }
                below = above;
            }
            rows.push(begin);
        }
        sets.surfaces(&mut runs)
    }
}

/// The runs of two rows that are above each other, or no more than so many pixels beside it.
fn meeting(
    runs: &[Run],
    above: Range<usize>,
    below: Range<usize>,
    beside: u32,
) -> impl Iterator<Item = (usize, usize)> {
    let (mut up, mut down) = (above.start, below.start);
    std::iter::from_fn(move || {
        while up < above.end && down < below.end {
            let (one, other) = (&runs[up], &runs[down]);
            let pair = (up, down);
            if one.to <= other.to {
                up += 1;
            } else {
                down += 1;
            }
            if one.from < other.to + beside && other.from < one.to + beside {
                return Some(pair);
            }
        }
        None
    })
}

fn alike(one: [u8; 4], other: [u8; 4]) -> bool {
    one[0].abs_diff(other[0]) < SHADE
        && one[1].abs_diff(other[1]) < SHADE
        && one[2].abs_diff(other[2]) < SHADE
}
