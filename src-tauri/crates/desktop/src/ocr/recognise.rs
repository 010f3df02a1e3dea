//! Reading lines: the second network, fed with lines of like width at once, and its answer put into characters.

use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::Leave;
use super::models::Networks;
use super::rect::{Planes, Rect, cut};
use crate::DesktopError;
use crate::picture::Frame;

/// The height the network reads.
const HEIGHT: u32 = 48;
/// Widths are rounded up to this, so that lines of like width go together.
const STEP: u32 = 32;
/// A longer line is squeezed.
const LONGEST: u32 = 3_200;
/// Pixels of all lines read at once: bounds the memory, and the time until a stop is heeded.
const AT_ONCE: u32 = 1_600;
/// What the reader is less sure of is left out.
const SURE: f32 = 0.5;

/// What stands in a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub text: String,
    /// 0-1.
    pub confidence: f32,
}

/// Reads each box; nothing where there is no text the network is sure of. In the order of `boxes`.
pub(super) fn read(
    networks: &Networks,
    frame: &Frame,
    boxes: &[Rect],
    leave: &Leave,
) -> Result<Vec<Option<Text>>, DesktopError> {
    let widths: Vec<u32> = boxes.iter().map(width).collect();
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by_key(|&at| widths.get(at).copied());
    let mut texts = vec![None; boxes.len()];
    let mut rest = order.as_slice();
    while let Some(&first) = rest.first() {
        leave.check()?;
        let padded = |at: usize| widths.get(at).copied().unwrap_or(1).next_multiple_of(STEP);
        let together = rest.iter().take_while(|&&at| padded(at) == padded(first)).count();
        let (now, later) = rest.split_at(together.min((AT_ONCE / padded(first)).max(1) as usize));
        rest = later;
        let size = 3 * (padded(first) * HEIGHT) as usize;
        let (w, h) = (padded(first) as usize, HEIGHT as usize);
        let mut lines = vec![0.0; now.len() * size];
        for (&at, into) in now.iter().zip(lines.chunks_exact_mut(size)) {
            if let (Some(part), Some(&width)) = (boxes.get(at), widths.get(at)) {
                cut(frame, part, (width, HEIGHT), &mut Planes { into, width: w, height: h })?;
            }
        }
        let likely = networks.recognise(&NdTensor::from_data([now.len(), 3, h, w], lines))?;
        let steps = likely.len() / now.len() / networks.alphabet.len();
        let likely = likely.to_vec();
        for (&at, line) in now.iter().zip(likely.chunks_exact((steps * networks.alphabet.len()).max(1))) {
            if let Some(text) = texts.get_mut(at) {
                *text = decode(line, &networks.alphabet);
            }
        }
    }
    Ok(texts)
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
        let (class, likely) =
            step.iter().enumerate().fold(
                (0, f32::MIN),
                |most, (class, &likely)| {
                    if likely > most.1 { (class, likely) } else { most }
                },
            );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_one_character_unless_nothing_is_between_them() {
        let alphabet: Vec<String> = ["", "a", "あ", " "].map(str::to_owned).to_vec();
        let line: Vec<f32> = [1, 1, 0, 1, 2, 2, 0, 3, 0]
            .iter()
            .flat_map(|&class| (0..4).map(move |at| if at == class { 0.8 } else { 0.1 }))
            .collect();
        let text = decode(&line, &alphabet).unwrap();
        assert_eq!(text.text, "aaあ");
        assert!((text.confidence - 0.8).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_sure_or_empty_is_no_text() {
        let alphabet: Vec<String> = ["", "a"].map(str::to_owned).to_vec();
        assert_eq!(decode(&[0.6, 0.4, 0.7, 0.3], &alphabet), None);
        assert_eq!(decode(&[0.1, 0.4], &alphabet), None);
    }
}
