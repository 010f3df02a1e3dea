//! Makes a JPEG of a frame: hash, scale, marks, encode.
//!
//! The work is split into stripes of rows for several threads; what comes out does not depend on how many there are.

use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};

use protocol::geometry::{PictureBudget, PixelSize};

use crate::draw::{Canvas, Overlay};
use crate::jpeg::{self, JpegEncoder};
use crate::kept::{Form, Kept};
use crate::scale::{PIXEL, Scaler, Source};
use crate::{Frame, Mapping, Picture, PictureError, Style, Viewport, hash};

/// Rows that are hashed as one.
pub(crate) const BAND: usize = 64;
/// Rows of a stripe: of bands, of a JPEG's blocks, and few enough to stay in a core's cache from the hash to the JPEG.
const STRIPE: usize = 2 * BAND;
const MOST_THREADS: usize = 4;

/// Makes pictures; keeps the memory it needs between two of them, and each one's stripes for the next.
#[derive(Default)]
pub struct Encoder {
    scaler: Scaler,
    /// The last scaled picture's memory.
    scaled: Vec<u8>,
    kept: Kept,
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
        let full = PixelSize { width: frame.width, height: frame.height };
        let order = frame.order;
        let pixels = frame.pixels.as_mut();
        let expected = u64::from(full.width) * u64::from(full.height) * 4;
        if pixels.len() as u64 != expected || expected == 0 {
            let PixelSize { width, height } = full;
            return Err(PictureError::Frame { bytes: pixels.len(), width, height, expected });
        }
        let size = style.max.fit(full);
        let mapping = Mapping { shows: viewport.shows, size };
        let overlay = Overlay::of(style, &viewport.display, &mapping);
        let looks = hash::looks(pixels, full);
        let form = Form { size, order, quality: style.quality };
        let (bands, jpeg) = if size == full {
            encode_stripes(pixels, form, &overlay, Hashing::Wanted, &mut self.kept)?
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
            let (_, jpeg) = encode_stripes(&mut self.scaled, form, &overlay, Hashing::Done, &mut self.kept)?;
            (bands, jpeg)
        };
        Ok(Picture { jpeg, size, mapping, pixels: hash::together(&bands, full), looks })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashing {
    Wanted,
    Done,
}

/// Hashes each stripe before it is marked, then encodes it; one that is as it was in the last picture, and has no marks,
/// is taken from there. Each thread takes the next stripe when it is done with one,
/// so that on a busy machine nobody waits for a thread that does not get its turn.
fn encode_stripes(
    pixels: &mut [u8],
    form: Form,
    overlay: &Overlay,
    hashing: Hashing,
    kept: &mut Kept,
) -> Result<(Vec<u64>, Vec<u8>), PictureError> {
    let Form { size, order, quality } = form;
    let (width, height) = jpeg::sides(size)?;
    let kept = kept.of(form, height.div_ceil(STRIPE));
    let stripes = Mutex::new(pixels.chunks_mut(STRIPE * width * 4).zip(kept).enumerate());
    let next = || stripes.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut encoder = JpegEncoder::new(quality)?;
        let mut done = Vec::new();
        while let Some((index, (pixels, stripe))) = next() {
            let part = PixelSize { width: size.width, height: (pixels.len() / (width * 4)) as u32 };
            stripe.look(pixels);
            let bands = match hashing {
                Hashing::Wanted => stripe.bands(|pixels| hash::bands(pixels, part)),
                Hashing::Done => Vec::new(),
            };
            let mut canvas = Canvas { pixels, size, top: index * STRIPE, order, is_marked: false };
            overlay.draw(&mut canvas);
            let jpeg = match canvas.is_marked {
                true => encoder.encode(canvas.pixels, part, order)?,
                false => stripe.jpeg(|pixels| encoder.encode(pixels, part, order))?,
            };
            done.push((index, bands, jpeg));
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
