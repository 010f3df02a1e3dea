//! The surfaces that a line of text stands on: the words of two buttons side by side are two texts, though the network
//! that finds lines takes them for one. Pixels alone, no network.
//!
//! A surface is what hangs together in one colour, or in one that changes slowly, as the inside of a button does
//! around its words, whatever shape its border has.

use pictures::Frame;

use crate::rect::Rect;

/// Neighbours that differ by less are of one surface: a shade, and no border.
const SHADE: u8 = 8;
/// A border between two cells is no wider, in pixels.
const BORDER: usize = 4;

/// What a column of a line stands on.
#[derive(Clone, Copy)]
struct Column {
    x: u32,
    surface: usize,
    /// There is nothing on it.
    is_bare: bool,
}

/// The parts of a line that stand on surfaces of their own. What is on another one within a line, as a selected word,
/// is part of it: there is neither bare ground between the two nor a border.
pub(crate) fn apart(frame: &Frame, line: &Rect) -> Vec<Rect> {
    let columns = columns(frame, line);
    let runs: Vec<&[Column]> = columns.chunk_by(|one, next| one.surface == next.surface).collect();
    let mut parts = Vec::new();
    let mut left = line.left;
    for (at, run) in runs.iter().enumerate() {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        // Round borders reach into the ground at both its ends.
        let ground = run.iter().skip_while(|column| !column.is_bare);
        let ground = ground.take_while(|column| column.is_bare).count();
        let is_bare = ground > 0 && (last.x - first.x + 1) as usize <= ground + BORDER;
        let borders = |other: Option<&&[Column]>| {
            let before = other.and_then(|run| run.last());
            before.is_some_and(|before| (2..=BORDER + 1).contains(&((first.x - before.x) as usize)))
        };
        if is_bare {
            parts.push(Rect { left, right: first.x, ..*line });
            left = last.x + 1;
        } else if at > 0 && borders(runs.get(at - 1)) {
            parts.push(Rect { left, right: first.x, ..*line });
            left = first.x;
        }
    }
    parts.push(Rect { left, ..*line });
    // All on one surface, or nothing but ground before and after it.
    if runs.len() < 2 {
        return vec![*line];
    }
    parts.retain(|part| part.width() * 3 >= part.height());
    parts
}

/// Of each column the surface in its middle; of those in the midst of a letter or a border none.
fn columns(frame: &Frame, line: &Rect) -> Vec<Column> {
    let around = line.grown(line.height(), line.height() / 2, &Rect::of(frame));
    let (of, areas) = surfaces(frame, &around);
    // More than a letter covers.
    let least = u64::from(line.height()).pow(2) / 2;
    let spare = line.height() * 3 / 10;
    let rows = line.top + spare..line.bottom.saturating_sub(spare);
    let surface = |x: u32, y: u32| {
        let at = (y - around.top) as usize * around.width() as usize + (x - around.left) as usize;
        of.get(at).copied().filter(|surface| areas.get(*surface).is_some_and(|area| *area >= least))
    };
    let column = |x: u32| {
        let there: Vec<usize> = rows.clone().filter_map(|y| surface(x, y)).collect();
        let count = |surface: usize| there.iter().filter(|one| **one == surface).count();
        let most = there.iter().copied().max_by_key(|one| count(*one))?;
        Some(Column { x, surface: most, is_bare: count(most) == rows.len() })
    };
    (line.left..line.right).filter_map(column).collect()
}

/// Of each pixel in `part` its surface, row by row, and how many pixels each has.
fn surfaces(frame: &Frame, part: &Rect) -> (Vec<usize>, Vec<u64>) {
    const NONE: usize = usize::MAX;
    let (width, height) = (part.width() as usize, part.height() as usize);
    let pixel = |at: usize| {
        let (x, y) = (part.left as usize + at % width, part.top as usize + at / width);
        frame.pixels.get((y * frame.width as usize + x) * 4..).and_then(|rest| rest.first_chunk::<3>())
    };
    let mut of = vec![NONE; width * height];
    let mut areas = Vec::new();
    let mut open = Vec::new();
    for start in 0..of.len() {
        if of.get(start) != Some(&NONE) {
            continue;
        }
        let surface = areas.len();
        let mut area = 0;
        open.push(start);
        while let Some(at) = open.pop() {
            let Some(seen) = of.get_mut(at).filter(|seen| **seen == NONE) else { continue };
            *seen = surface;
            area += 1;
            let beside = [
                (at % width > 0).then(|| at - 1),
                (at % width + 1 < width).then_some(at + 1),
                at.checked_sub(width),
                (at + width < of.len()).then_some(at + width),
            ];
            let alike = |next: &usize| match (pixel(at), pixel(*next)) {
                (Some(one), Some(other)) => one.iter().zip(other).all(|(a, b)| a.abs_diff(*b) < SHADE),
                _ => false,
            };
            open.extend(
                beside.into_iter().flatten().filter(|next| of.get(*next) == Some(&NONE)).filter(alike),
            );
        }
        areas.push(area);
    }
    (of, areas)
}

#[cfg(test)]
mod tests;
