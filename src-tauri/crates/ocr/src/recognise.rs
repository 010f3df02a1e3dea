//! Reading one line: the second network, fed with the line at the height it knows, and its answer put into characters.

use pictures::Frame;
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use crate::OcrError;
use crate::networks::{NetworkThread, Networks};
use crate::rect::{Planes, Rect, cut};

/// The height the network reads.
const HEIGHT: u32 = 48;
/// Widths are rounded up to this; what is beyond the line is grey. The network steps by 8, but takes an "l" for an "I"
/// where a line has no end.
const STEP: u32 = 32;
/// A longer line is squeezed.
const LONGEST: u32 = 3_200;
/// What the reader is less sure of is left out.
const SURE: f32 = 0.5;

/// What stands in a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub text: String,
    /// 0-1.
    pub confidence: f32,
}

/// Reads what is in the box `at`; `None` if there is no text the network is sure of.
pub(crate) fn read(
    networks: &Networks,
    thread: &NetworkThread,
    frame: &Frame,
    at: &Rect,
) -> Result<Option<Text>, OcrError> {
    let width = width(at);
    let (w, h) = (width.next_multiple_of(STEP) as usize, HEIGHT as usize);
    let mut planes = vec![0.0; 3 * w * h];
    cut(frame, at, (width, HEIGHT), &mut Planes { into: &mut planes, width: w, height: h })?;
    let likely = networks.recognise(thread, &NdTensor::from_data([1, 3, h, w], planes))?;
    Ok(match likely.data() {
        Some(likely) => decode(likely, &networks.alphabet),
        None => decode(&likely.to_vec(), &networks.alphabet),
    })
}

/// Of the line in the network's height.
fn width(part: &Rect) -> u32 {
    let width = (part.width() * HEIGHT).div_ceil(part.height().max(1));
    width.clamp(STEP, LONGEST)
}

/// The likeliest character of each step; repeats are one, and the first class means none.
fn decode(line: &[f32], alphabet: &[String]) -> Option<Text> {
    let mut text = String::new();
    let (mut sum, mut count) = (0.0, 0);
    let mut last = 0;
    for step in line.chunks_exact(alphabet.len()) {
        let likely = most(step);
        let class = step.iter().position(|&one| one >= likely).unwrap_or(0);
        if class != 0 && class != last {
            text.push_str(alphabet.get(class)?);
            sum += likely;
            count += 1;
        }
        last = class;
    }
    let text = text.trim().to_owned();
    let confidence = sum / count.max(1) as f32;
    (!text.is_empty() && confidence >= SURE).then_some(Text { text, confidence })
}

/// The greatest of these, many compared at once: there are 18,710 classes.
fn most(step: &[f32]) -> f32 {
    let mut most = [f32::MIN; 16];
    let (blocks, rest) = step.as_chunks::<16>();
    for part in blocks.iter().map(<[f32; 16]>::as_slice).chain([rest]) {
        for (most, &likely) in most.iter_mut().zip(part) {
            *most = if likely > *most { likely } else { *most };
        }
    }
    most.into_iter().fold(f32::MIN, f32::max)
}

#[cfg(test)]
mod tests;
