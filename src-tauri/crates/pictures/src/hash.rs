//! Two hashes of a frame: of every colour as it is, and of what it looks like from afar.

use protocol::geometry::PixelSize;

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

/// The frame's hash from those of its bands.
pub(crate) fn together(bands: &[u64], size: PixelSize) -> u64 {
    let shape = u64::from(size.width) << 32 | u64::from(size.height);
    bands.iter().fold(shape, |state, band| (state ^ band).wrapping_mul(MIX).rotate_left(29))
}

/// Cells of the grid a frame is seen as: 8 differences in each of 8 rows.
const COLUMNS: usize = 9;
const ROWS: usize = 8;
/// Points looked at in a cell, a side.
const POINTS: usize = 16;
/// Cells differ where their brightness does by more than this of 255; less is noise.
const FLAT: u64 = 1;

/// A difference hash: bit by bit, whether a cell is brighter than its left neighbour.
pub(crate) fn looks(pixels: &[u8], size: PixelSize) -> u64 {
    let (width, height) = (size.width as usize, size.height as usize);
    let brightness = |x: usize, y: usize| match pixels.get((y * width + x) * 4..) {
        // Blue and red change places between platforms; weighed alike, that does not matter.
        Some([one, green, other, ..]) => u64::from(*one) + 2 * u64::from(*green) + u64::from(*other),
        _ => 0,
    };
    let cell = |column: usize, row: usize| -> u64 {
        let along = |index: usize, point: usize, cells: usize, length: usize| {
            (2 * (index * POINTS + point) + 1) * length / (2 * cells * POINTS)
        };
        let xs = |point| along(column, point, COLUMNS, width);
        (0..POINTS)
            .map(|v| along(row, v, ROWS, height))
            .map(|y| (0..POINTS).map(|u| brightness(xs(u), y)).sum::<u64>())
            .sum()
    };
    let flat = FLAT * 4 * (POINTS * POINTS) as u64;
    let mut bits = 0;
    for row in 0..ROWS {
        let mut left = cell(0, row);
        for column in 1..COLUMNS {
            let here = cell(column, row);
            bits = bits << 1 | u64::from(here > left + flat);
            left = here;
        }
    }
    bits
}
