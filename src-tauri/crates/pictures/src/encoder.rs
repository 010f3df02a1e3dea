//! Makes a JPEG of a frame: hash, scale, marks, encode.
//!
//! The work is split into stripes of rows for several threads; what comes out does not depend on how many there are.

use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};

use protocol::geometry::{PictureBudget, PixelSize};

use crate::draw::{Canvas, Overlay};
use crate::jpeg::{self, JpegEncoder};
use crate::scale::{PIXEL, Scaler, Source};
use crate::{Frame, Mapping, Order, Picture, PictureError, Style, Thumbnail, Viewport, hash};

/// Rows that are hashed as one.
pub(crate) const BAND: usize = 64;
/// Rows of a stripe: of bands, of a JPEG's blocks, and few enough to stay in a core's cache from the hash to the JPEG.
const STRIPE: usize = 2 * BAND;
const MOST_THREADS: usize = 4;

/// Makes pictures and thumbnails; keeps the memory it needs between two of them.
#[derive(Default)]
pub struct Encoder {
    scaler: Scaler,
    /// The last scaled picture's memory.
    scaled: Vec<u8>,
}

/// Makes one picture. Marks are drawn into the frame itself where it is not scaled.
///
/// # Errors
/// As [`Encoder::encode`].
pub fn encode<P: AsMut<[u8]>>(
    frame: &mut Frame<P>,
    viewport: Viewport,
    style: &Style<'_>,
) -> Result<Picture, PictureError> {
    Encoder::default().encode(frame, viewport, style)
}

impl Encoder {
    /// Hashes, scales, marks and encodes one frame as `style` says.
    ///
    /// # Errors
    /// A quality or size is out of range, or the frame's bytes do not fit its size.
    pub fn encode<P: AsMut<[u8]>>(
        &mut self,
        frame: &mut Frame<P>,
        viewport: Viewport,
        style: &Style<'_>,
    ) -> Result<Picture, PictureError> {
        check(style)?;
        let order = frame.order;
        let bytes = frame.pixels.as_mut().len();
        let full = frame.checked_size(bytes)?;
        let pixels = frame.pixels.as_mut();
        let size = style.max.fit(full);
        let mapping = Mapping { shows: viewport.shows, size };
        let overlay = Overlay::of(style, &viewport.display, &mapping);
        let stripes = Stripes { size, order, quality: style.quality, overlay };
        let (bands, jpeg) = if size == full {
            stripes.encode(pixels, Hashing::Wanted)?
        } else {
            let raw: &[u8] = pixels;
            self.scaled.resize(size.width as usize * size.height as usize * PIXEL, 0);
            let (bands, scaled) = std::thread::scope(|scope| {
                let hashing = scope.spawn(|| hash::bands(raw, full));
                let source = Source { pixels: raw, width: full.width, height: full.height };
                let scaled = self.scaler.scale(source, None, (size.width, size.height), &mut self.scaled);
                (hashing.join(), scaled)
            });
            let bands = bands.map_err(|_| PictureError::Broken("hashing"))?;
            scaled?;
            let (_, jpeg) = stripes.encode(&mut self.scaled, Hashing::Done)?;
            (bands, jpeg)
        };
        let pixels = hash::together(&bands, full);
        Ok(Picture { jpeg, size, mapping, pixels, covered: hash::places(style.covers) })
    }

    /// A small grey copy of one frame.
    ///
    /// # Errors
    /// The frame's bytes do not fit its size.
    pub fn thumbnail<P: AsRef<[u8]>>(&mut self, frame: &Frame<P>) -> Result<Thumbnail, PictureError> {
        Thumbnail::of(frame, &mut self.scaler, &mut self.scaled)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashing {
    Wanted,
    Done,
}

/// What all stripes of a picture have in common.
struct Stripes {
    /// Of the whole picture.
    size: PixelSize,
    order: Order,
    quality: u8,
    overlay: Overlay,
}

impl Stripes {
    /// Hashes each stripe before it is marked, then encodes it; answers the hashes and the whole picture's JPEG. Each
    /// thread takes the next stripe when it is done with one, so that on a busy machine nobody waits for a thread that
    /// does not get its turn.
    fn encode(&self, pixels: &mut [u8], hashing: Hashing) -> Result<(Vec<u64>, Vec<u8>), PictureError> {
        let Self { size, order, quality, overlay } = self;
        let (width, height) = jpeg::sides(*size)?;
        let stripes = Mutex::new(pixels.chunks_mut(STRIPE * width * 4).enumerate());
        let next = || stripes.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut encoder = JpegEncoder::new(*quality)?;
            let mut done = Vec::new();
            while let Some((index, pixels)) = next() {
                let part = PixelSize { width: size.width, height: (pixels.len() / (width * 4)) as u32 };
                let bands = match hashing {
                    Hashing::Wanted => hash::bands(pixels, part),
                    Hashing::Done => Vec::new(),
                };
                overlay.draw(&mut Canvas { pixels, size: *size, top: index * STRIPE, order: *order });
                done.push((index, bands, encoder.encode(pixels, part, *order)?));
            }
            Ok(done)
        };
        let done: Vec<Result<_, PictureError>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads(height)).map(|_| scope.spawn(work)).collect();
            let ours = work();
            let joined =
                others.into_iter().map(|other| other.join().unwrap_or(Err(PictureError::Broken("encoding"))));
            std::iter::once(ours).chain(joined).collect()
        });
        let mut done = done.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        done.sort_by_key(|(index, ..)| *index);
        let (bands, jpegs): (Vec<_>, Vec<_>) = done.into_iter().map(|(_, bands, jpeg)| (bands, jpeg)).unzip();
        Ok((bands.concat(), jpeg::join(jpegs, STRIPE, width, height)?))
    }
}

/// No more than there is work for.
fn threads(height: usize) -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let most = *THREADS
        .get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS));
    most.min(height.div_ceil(2 * STRIPE)).max(1)
}

fn check(style: &Style<'_>) -> Result<(), PictureError> {
    if !(20..=100).contains(&style.quality) {
        return Err(PictureError::Quality(style.quality));
    }
    let PictureBudget { within, shorter, square, squares } = style.max;
    if [within.width, within.height, shorter, square, squares].contains(&0) {
        return Err(PictureError::NoSize);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
