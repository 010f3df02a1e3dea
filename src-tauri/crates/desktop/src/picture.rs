//! From a frame of raw pixels to the JPEG that a model sees: hash, scale, marks, encode.
//!
//! Knows no platform and no windows; what is in the frame is the capturer's business. The work is split into stripes
//! of rows for several threads; what comes out does not depend on how many there are.

use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};

use protocol::geometry::{PhysicalRect, PictureBudget, PixelSize};

use self::draw::{Canvas, Overlay};
use self::encode::Encoder;
use self::kept::{Form, Kept};
use self::scale::Scaler;
use crate::{DesktopError, Mapping, Picture, Shot};

mod draw;
mod encode;
mod font;
mod hash;
mod kept;
mod mark;
mod scale;

/// Raw pixels, four bytes each, rows without gaps; its own, or those of memory that is kept elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame<P = Vec<u8>> {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) order: Order,
    pub(crate) pixels: P,
}

/// Order of a pixel's bytes; the fourth byte means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "X11's order"))]
    Bgrx,
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "the order of macOS and Windows captures"))]
    Rgbx,
}

/// Where a frame was taken, in the space that spans all displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What the frame shows.
    pub(crate) shows: PhysicalRect,
    /// The display whose 0-1000 the shot's points are in.
    pub(crate) display: PhysicalRect,
}

impl Place {
    /// A whole display.
    pub(crate) fn whole(display: PhysicalRect) -> Self {
        Self { shows: display, display }
    }
}

/// Rows that are hashed as one.
const BAND: usize = 64;
/// Rows of a stripe: of bands, of a JPEG's blocks, and few enough to stay in a core's cache from the hash to the JPEG.
const STRIPE: usize = 2 * BAND;
const MOST_THREADS: usize = 4;

/// Makes pictures; keeps the memory it needs between two of them, and each one's stripes for the next.
#[derive(Default)]
pub(crate) struct Darkroom {
    scaler: Scaler,
    kept: Kept,
}

/// Makes one picture. Marks are drawn into the frame itself where it is not scaled.
///
/// # Errors
/// As [`Darkroom::develop`].
pub(crate) fn develop<P: AsMut<[u8]>>(
    frame: &mut Frame<P>,
    place: Place,
    shot: &Shot,
) -> Result<Picture, DesktopError> {
    Darkroom::default().develop(frame, place, shot)
}

impl Darkroom {
    /// Hashes, scales, marks and encodes one frame as `shot` wishes.
    ///
    /// # Errors
    /// [`DesktopError::BadInput`] for a quality or size out of range, [`DesktopError::Failed`] where the frame's bytes
    /// do not fit its size.
    pub(crate) fn develop<P: AsMut<[u8]>>(
        &mut self,
        frame: &mut Frame<P>,
        place: Place,
        shot: &Shot,
    ) -> Result<Picture, DesktopError> {
        check(shot)?;
        let full = PixelSize { width: frame.width, height: frame.height };
        let order = frame.order;
        let pixels = frame.pixels.as_mut();
        let expected = u64::from(full.width) * u64::from(full.height) * 4;
        if pixels.len() as u64 != expected || expected == 0 {
            return Err(DesktopError::Failed(format!(
                "the captured frame has {} bytes where {}x{} needs {expected}",
                pixels.len(),
                full.width,
                full.height
            )));
        }
        let size = shot.max.fit(full);
        let mapping = Mapping { shows: place.shows, size };
        let overlay = Overlay::of(shot, &place.display, &mapping);
        let looks = hash::looks(pixels, full);
        let form = Form { size, order, quality: shot.quality };
        let (bands, jpeg) = if size == full {
            develop_stripes(pixels, form, &overlay, Hashing::Wanted, &mut self.kept)?
        } else {
            let raw: &[u8] = pixels;
            let (bands, scaled) = std::thread::scope(|scope| {
                let hashing = scope.spawn(|| hash::bands(raw, full));
                let scaled = self.scaler.scale(raw, full, size);
                (hashing.join(), scaled)
            });
            let bands = bands.map_err(|_| broken("hashing"))?;
            let (_, jpeg) = develop_stripes(scaled?, form, &overlay, Hashing::Done, &mut self.kept)?;
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
fn develop_stripes(
    pixels: &mut [u8],
    form: Form,
    overlay: &Overlay,
    hashing: Hashing,
    kept: &mut Kept,
) -> Result<(Vec<u64>, Vec<u8>), DesktopError> {
    let Form { size, order, quality } = form;
    let (width, height) = encode::sides(size)?;
    let kept = kept.of(form, height.div_ceil(STRIPE));
    let stripes = Mutex::new(pixels.chunks_mut(STRIPE * width * 4).zip(kept).enumerate());
    let next = || stripes.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut encoder = Encoder::new(quality)?;
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
    let done: Vec<Result<_, DesktopError>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads(height)).map(|_| scope.spawn(work)).collect();
        let ours = work();
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err(broken("encoding"))));
        std::iter::once(ours).chain(joined).collect()
    });
    let mut done = done.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    done.sort_by_key(|(index, ..)| *index);
    let (bands, jpegs): (Vec<_>, Vec<_>) = done.into_iter().map(|(_, bands, jpeg)| (bands, jpeg)).unzip();
    Ok((bands.concat(), encode::join(jpegs, STRIPE, width, height)?))
}

/// No more than there is work for.
fn threads(height: usize) -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let most = *THREADS
        .get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS));
    most.min(height.div_ceil(2 * STRIPE)).max(1)
}

fn broken(what: &str) -> DesktopError {
    DesktopError::Failed(format!("a defect of ours: {what} the picture broke down"))
}

fn check(shot: &Shot) -> Result<(), DesktopError> {
    if !(20..=100).contains(&shot.quality) {
        return Err(DesktopError::BadInput(format!("JPEG quality = {} is outside 20-100", shot.quality)));
    }
    let PictureBudget { within, shorter, square, squares } = shot.max;
    if [within.width, within.height, shorter, square, squares].contains(&0) {
        return Err(DesktopError::BadInput("a picture needs a width and a height of at least 1".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
