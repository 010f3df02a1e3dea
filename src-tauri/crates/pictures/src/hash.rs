//! A hash of a frame's colours.

use protocol::geometry::{NormRect, PixelSize};

use crate::encoder::BAND;

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const COLOURS: u64 = 0x00ff_ffff_00ff_ffff;

/// One hash for every [`BAND`] rows, so that stripes can be hashed apart.
///
/// Made to notice change, not to withstand malice. The fourth byte of a pixel does not count.
pub(crate) fn bands(pixels: &[u8], size: PixelSize) -> Vec<u64> {
    pixels.chunks(BAND * size.width as usize * 4).map(band).collect()
}

/// Eight lanes, so that multiplications need not wait for one another. Each step can be undone, so one changed colour
/// always changes the result.
fn band(pixels: &[u8]) -> u64 {
    let step = |state: u64, word: u64| (state ^ word).wrapping_mul(MIX).rotate_left(29);
    let mut lanes: [u64; 8] = std::array::from_fn(|lane| MIX.rotate_left(7 * lane as u32));
    let (chunks, rest) = pixels.as_chunks::<64>();
    for chunk in chunks {
        let (words, _) = chunk.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word) & COLOURS);
        }
    }
    let mut state = lanes.into_iter().fold(pixels.len() as u64, step);
    for pixel in rest.as_chunks::<4>().0 {
        state = step(state, u64::from(u32::from_le_bytes(*pixel)) & COLOURS);
    }
    state
}

/// One hash for all places, in their order.
pub(crate) fn places(places: &[NormRect]) -> u64 {
    let sides = places.iter().flat_map(|place| [place.x, place.y, place.width, place.height]);
    sides.fold(0, |state, side| (state ^ side.to_bits()).wrapping_mul(MIX).rotate_left(29))
}

/// The frame's hash from those of its bands.
pub(crate) fn together(bands: &[u64], size: PixelSize) -> u64 {
    let shape = u64::from(size.width) << 32 | u64::from(size.height);
    bands.iter().fold(shape, |state, band| (state ^ band).wrapping_mul(MIX).rotate_left(29))
}
