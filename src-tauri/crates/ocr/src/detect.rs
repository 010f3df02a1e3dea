//! Finding lines of text in a part of a frame: the first network, and boxes around what it marks.
//!
//! Boxes stand upright: text on screens does.

use pictures::Frame;
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use crate::OcrError;
use crate::networks::{NetworkThread, Networks};
use crate::rect::{Planes, Rect, cut};

/// The network wants sides that divide by this.
const STEP: u32 = 32;
/// A frame with a longer side is looked at in this size; its text is larger, too.
const LONGEST: u32 = 2_560;
/// From where on a pixel belongs to text.
const TEXT: f32 = 0.3;
/// How sure a whole box must be.
const SURE: f32 = 0.45;
/// The network marks the middle of lines; so much they are grown (the ratio it was trained with).
const GROWTH: f32 = 1.6;
/// Of the mark, in its pixels: less is no text.
const LEAST: u32 = 3;

/// The boxes around lines of text in `patch`, in the frame's pixels.
pub(crate) fn find(
    networks: &Networks,
    thread: &NetworkThread,
    frame: &Frame,
    patch: &Rect,
) -> Result<Vec<Rect>, OcrError> {
    let scale = (f64::from(LONGEST) / f64::from(frame.width.max(frame.height))).min(1.0);
    let side = |length: u32| ((f64::from(length) * scale).round() as u32).max(1);
    let (width, height) = (side(patch.width()), side(patch.height()));
    let (full_width, full_height) = (width.next_multiple_of(STEP), height.next_multiple_of(STEP));
    let mut planes = vec![0.0; 3 * (full_width * full_height) as usize];
    let (w, h) = (full_width as usize, full_height as usize);
    cut(frame, patch, (width, height), &mut Planes { into: &mut planes, width: w, height: h })?;
    let marked = networks.detect(thread, &NdTensor::from_data([1, 3, h, w], planes))?;
    let marked = marked.to_vec();
    if marked.len() != w * h {
        return Err(OcrError::Failed(format!(
            "find text: {} values came back where {w}x{h} went in",
            marked.len()
        )));
    }
    let whole = Rect { left: 0, top: 0, right: width, bottom: height };
    let back = |box_: Rect| {
        let x = |at: u32| patch.left + (f64::from(at) / scale).round() as u32;
        let y = |at: u32| patch.top + (f64::from(at) / scale).round() as u32;
        Rect { left: x(box_.left), top: y(box_.top), right: x(box_.right), bottom: y(box_.bottom) }
            .common(patch)
    };
    Ok(boxes(&marked, w, &whole).into_iter().map(back).filter(|one| !one.is_empty()).collect())
}

/// Boxes around what hangs together, grown to the height of the letters.
fn boxes(marked: &[f32], width: usize, whole: &Rect) -> Vec<Rect> {
    let mut visited = vec![false; marked.len()];
    let mut found = Vec::new();
    let mut open = Vec::new();
    for start in 0..marked.len() {
        let is_new = |at: usize, visited: &[bool]| {
            marked.get(at).is_some_and(|value| *value > TEXT) && visited.get(at) == Some(&false)
        };
        if !is_new(start, &visited) {
            continue;
        }
        let place = |at: usize| ((at % width) as u32, (at / width) as u32);
        let (x, y) = place(start);
        let mut around = Rect { left: x, top: y, right: x + 1, bottom: y + 1 };
        open.push(start);
        if let Some(seen) = visited.get_mut(start) {
            *seen = true;
        }
        while let Some(at) = open.pop() {
            let (x, y) = place(at);
            around = around.union(&Rect { left: x, top: y, right: x + 1, bottom: y + 1 });
            for near_y in y.saturating_sub(1)..=y + 1 {
                for near_x in x.saturating_sub(1)..=(x + 1).min(width as u32 - 1) {
                    let near = near_y as usize * width + near_x as usize;
                    if is_new(near, &visited)
                        && let Some(seen) = visited.get_mut(near)
                    {
                        *seen = true;
                        open.push(near);
                    }
                }
            }
        }
        if around.width().min(around.height()) >= LEAST && sureness(marked, width, &around) >= SURE {
            let half = (around.width() + around.height()) as f32 * 2.0;
            let by = (around.area() as f32 * GROWTH / half).round() as u32;
            found.push(around.grown(by, by, whole));
        }
    }
    found
}

fn sureness(marked: &[f32], width: usize, part: &Rect) -> f32 {
    let rows = (part.top as usize..part.bottom as usize)
        .filter_map(|y| marked.get(y * width + part.left as usize..y * width + part.right as usize));
    rows.flatten().sum::<f32>() / part.area().max(1) as f32
}

#[cfg(test)]
mod tests;
