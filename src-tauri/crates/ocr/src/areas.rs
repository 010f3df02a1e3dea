//! Which parts of a display to look at: rectangles around marked tiles, with little between them that is not marked.
//! Arithmetic only.

use crate::known::TILE;
use crate::rect::Rect;

/// So many empty rows or columns of tiles between two parts, and looking at each by itself is less work: what is
/// around a part is looked at with it.
const GAP: usize = 3;
/// Rows of tiles in one part. Bounds the memory, lets threads share the work, and is the step in which it can be left.
const MOST_ROWS: usize = 8;

/// Rectangles that hold all marked tiles and do not meet, from top to bottom. `tiles` are those of `whole`, row by row.
pub(crate) fn around(tiles: &[bool], columns: u32, whole: &Rect) -> Vec<Rect> {
    let columns = columns as usize;
    let rows = tiles.len().checked_div(columns).unwrap_or(0);
    let mut open = vec![Span { left: 0, top: 0, right: columns, bottom: rows }];
    let mut areas = Vec::new();
    while let Some(span) = open.pop() {
        let is_marked = |x: usize, y: usize| tiles.get(y * columns + x) == Some(&true);
        let in_row = |y: &usize| (span.left..span.right).any(|x| is_marked(x, *y));
        let in_column = |x: &usize| (span.top..span.bottom).any(|y| is_marked(*x, y));
        let marked_rows: Vec<usize> = (span.top..span.bottom).filter(in_row).collect();
        let marked_columns: Vec<usize> = (span.left..span.right).filter(in_column).collect();
        let (by_row, by_column) = (runs(&marked_rows), runs(&marked_columns));
        match (by_row.as_slice(), by_column.as_slice()) {
            (&[(top, bottom)], &[(left, right)]) => {
                let tight = Span { left, top, right, bottom };
                if bottom - top <= MOST_ROWS {
                    areas.push(tight.in_pixels(whole));
                } else {
                    let parts = (bottom - top).div_ceil(MOST_ROWS);
                    let each = (bottom - top).div_ceil(parts);
                    open.extend((top..bottom).step_by(each).map(|top| Span {
                        top,
                        bottom: (top + each).min(bottom),
                        ..tight
                    }));
                }
            }
            (rows, &[(left, right)]) => {
                open.extend(rows.iter().map(|&(top, bottom)| Span { left, top, right, bottom }));
            }
            (_, columns) => {
                open.extend(columns.iter().map(|&(left, right)| Span { left, right, ..span }));
            }
        }
    }
    areas.sort_by_key(|area| (area.top, area.left));
    areas
}

/// A rectangle of tiles; `right` and `bottom` are outside of it.
#[derive(Clone, Copy)]
struct Span {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Span {
    fn in_pixels(&self, whole: &Rect) -> Rect {
        let at = |tile: usize| tile as u32 * TILE;
        Rect { left: at(self.left), top: at(self.top), right: at(self.right), bottom: at(self.bottom) }
            .common(whole)
    }
}

/// From where to where these ascending places go on without a wide gap.
fn runs(places: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &at in places {
        match runs.last_mut() {
            Some((_, end)) if at < *end + GAP => *end = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests;
