//! JPEG, 4:2:0: stripes of rows encoded each by itself and joined with restart markers, which need no second encoding.
//!
//! libjpeg-turbo on Linux: measured at 7.6 ms of CPU for 1920x1080 at quality 85 where `jpeg-encoder` takes 19. That
//! one is for platforms where C cannot be cross-checked.

use protocol::geometry::PixelSize;

use crate::{Order, PictureError};

/// Side of the blocks that 4:2:0 codes as one.
const BLOCK: usize = 16;

/// Width and height, where JPEG can have them.
pub(crate) fn sides(size: PixelSize) -> Result<(usize, usize), PictureError> {
    let side =
        |length: u32| u16::try_from(length).map(usize::from).map_err(|_| PictureError::TooLarge(length));
    Ok((side(size.width)?, side(size.height)?))
}

fn blocks(rows: usize, width: usize) -> usize {
    rows / BLOCK * width.div_ceil(BLOCK)
}

fn failed(error: &dyn std::fmt::Display) -> PictureError {
    PictureError::Jpeg(error.to_string())
}

/// Encodes stripes, one after the other.
#[cfg(target_os = "linux")]
pub(crate) struct JpegEncoder {
    compressor: turbojpeg::Compressor,
    /// Room for the longest JPEG that a stripe can become, taken once and not for each.
    room: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl JpegEncoder {
    pub(crate) fn new(quality: u8) -> Result<Self, PictureError> {
        let mut compressor = turbojpeg::Compressor::new().map_err(|error| failed(&error))?;
        compressor.set_quality(i32::from(quality)).map_err(|error| failed(&error))?;
        compressor.set_subsamp(turbojpeg::Subsamp::Sub2x2).map_err(|error| failed(&error))?;
        Ok(Self { compressor, room: Vec::new() })
    }

    pub(crate) fn encode(
        &mut self,
        pixels: &[u8],
        size: PixelSize,
        order: Order,
    ) -> Result<Vec<u8>, PictureError> {
        let (width, height) = sides(size)?;
        let format = match order {
            Order::Bgrx => turbojpeg::PixelFormat::BGRX,
            Order::Rgbx => turbojpeg::PixelFormat::RGBX,
        };
        let image = turbojpeg::Image { pixels, width, pitch: width * 4, height, format };
        let most = self.compressor.buf_len(width, height).map_err(|error| failed(&error))?;
        if self.room.len() < most {
            self.room = vec![0; most];
        }
        let length = self.compressor.compress_to_slice(image, &mut self.room);
        Ok(self.room[..length.map_err(|error| failed(&error))?].to_vec())
    }
}

/// Encodes stripes, one after the other.
#[cfg(not(target_os = "linux"))]
pub(crate) struct JpegEncoder(u8);

#[cfg(not(target_os = "linux"))]
impl JpegEncoder {
    pub(crate) fn new(quality: u8) -> Result<Self, PictureError> {
        Ok(Self(quality))
    }

    pub(crate) fn encode(
        &mut self,
        pixels: &[u8],
        size: PixelSize,
        order: Order,
    ) -> Result<Vec<u8>, PictureError> {
        use jpeg_encoder::{ColorType, SamplingFactor};
        let (width, height) = sides(size)?;
        let side = |length: usize| u16::try_from(length).map_err(|error| failed(&error));
        let colours = match order {
            Order::Bgrx => ColorType::Bgra,
            Order::Rgbx => ColorType::Rgba,
        };
        let mut jpeg = Vec::with_capacity(pixels.len() / 16);
        let mut encoder = jpeg_encoder::Encoder::new(&mut jpeg, self.0);
        encoder.set_sampling_factor(SamplingFactor::F_2_2);
        encoder.encode(pixels, side(width)?, side(height)?, colours).map_err(|error| failed(&error))?;
        Ok(jpeg)
    }
}

/// One JPEG of `height` rows from stripes of `rows` rows each, but for the last.
pub(crate) fn join(
    mut stripes: Vec<Vec<u8>>,
    rows: usize,
    width: usize,
    height: usize,
) -> Result<Vec<u8>, PictureError> {
    let parts = stripes.iter().map(|stripe| Parts::of(stripe)).collect::<Option<Vec<_>>>();
    let odd = || failed(&"the encoder wrote what cannot be joined");
    let parts = parts.ok_or_else(odd)?;
    let [first, others @ ..] = parts.as_slice() else { return Err(odd()) };
    if others.is_empty() {
        return stripes.pop().ok_or_else(odd);
    }
    if others.iter().any(|other| !other.is_coded_as(first)) {
        return Err(odd());
    }
    let length = stripes.iter().map(|stripe| stripe.len()).sum::<usize>() + 16;
    let mut jpeg = Vec::with_capacity(length);
    let (before, scan_header) = first.head.split_at(first.scan_header);
    jpeg.extend_from_slice(before);
    let sides = u16::try_from(height).map_err(|error| failed(&error))?.to_be_bytes();
    jpeg[first.height_at..first.height_at + 2].copy_from_slice(&sides);
    let interval = u16::try_from(blocks(rows, width)).map_err(|error| failed(&error))?.to_be_bytes();
    jpeg.extend_from_slice(&[0xff, 0xdd, 0, 4, interval[0], interval[1]]);
    jpeg.extend_from_slice(scan_header);
    jpeg.extend_from_slice(first.scan);
    for (index, other) in others.iter().enumerate() {
        jpeg.extend_from_slice(&[0xff, 0xd0 + (index % 8) as u8]);
        jpeg.extend_from_slice(other.scan);
    }
    jpeg.extend_from_slice(&[0xff, 0xd9]);
    Ok(jpeg)
}

/// A baseline JPEG taken apart.
struct Parts<'a> {
    /// All before the coded blocks.
    head: &'a [u8],
    /// Where in the head the number of rows is, and where the scan's own header begins.
    height_at: usize,
    scan_header: usize,
    /// The coded blocks, without the end marker.
    scan: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(jpeg: &'a [u8]) -> Option<Self> {
        let (mut at, mut height_at) = (2, None);
        loop {
            let [0xff, marker, high, low] = *jpeg.get(at..at + 4)?.first_chunk()? else { return None };
            let after = at + 2 + usize::from(u16::from_be_bytes([high, low]));
            match marker {
                0xc0 => height_at = Some(at + 5),
                0xda => {
                    let scan = jpeg.get(after..)?.strip_suffix(&[0xff, 0xd9])?;
                    return Some(Self { head: &jpeg[..after], height_at: height_at?, scan_header: at, scan });
                }
                _ => {}
            }
            at = after;
        }
    }

    /// Whether the heads say the same but for the height.
    fn is_coded_as(&self, other: &Self) -> bool {
        let around = |parts: &Self| {
            let (before, from) = parts.head.split_at(parts.height_at);
            (before.to_vec(), from.get(2..).map(<[u8]>::to_vec))
        };
        around(self) == around(other)
    }
}
