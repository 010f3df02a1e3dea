//! From a frame of raw pixels to the JPEG that a model sees: hash, scale, red dot, encode.
//!
//! Knows no platform and no windows; what is in the frame is the capturer's business.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use protocol::geometry::{NormPoint, PhysicalRect, PixelSize};

use crate::{DesktopError, Mapping, Picture, Shot};

/// Raw pixels, four bytes each, rows without gaps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) order: Order,
    pub(crate) pixels: Vec<u8>,
}

/// Order of a pixel's bytes; the fourth byte means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "X11's order"))]
    Bgrx,
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "the order of macOS and Windows captures"))]
    Rgbx,
}

/// Marks, scales and encodes one frame as `shot` wishes. `shows` is where the frame is on the screen.
///
/// # Errors
/// [`DesktopError::BadInput`] for a quality or size out of range, [`DesktopError::Failed`] where the frame's bytes
/// do not fit its size.
pub(crate) fn develop(frame: &Frame, shows: PhysicalRect, shot: &Shot) -> Result<Picture, DesktopError> {
    check(shot)?;
    let expected = u64::from(frame.width) * u64::from(frame.height) * 4;
    if frame.pixels.len() as u64 != expected || expected == 0 {
        return Err(DesktopError::Failed(format!(
            "the captured frame has {} bytes where {}x{} needs {expected}",
            frame.pixels.len(),
            frame.width,
            frame.height
        )));
    }
    let pixels = hash(&frame.pixels);
    let size = fit(PixelSize { width: frame.width, height: frame.height }, shot.max);
    let mut scaled = scale(frame, size)?;
    if let Some(dot) = shot.dot {
        draw_dot(&mut scaled, size, frame.order, dot);
    }
    let jpeg = encode(&scaled, size, frame.order, shot.quality)?;
    Ok(Picture { jpeg, size, mapping: Mapping { shows, size }, pixels, looks: pixels })
}

fn check(shot: &Shot) -> Result<(), DesktopError> {
    if !(20..=100).contains(&shot.quality) {
        return Err(DesktopError::BadInput(format!("JPEG quality = {} is outside 20-100", shot.quality)));
    }
    if shot.max.width == 0 || shot.max.height == 0 {
        return Err(DesktopError::BadInput("a picture needs a width and a height of at least 1".into()));
    }
    Ok(())
}

/// The largest size within `max` of the same shape; never larger than `full`.
pub(crate) fn fit(full: PixelSize, max: PixelSize) -> PixelSize {
    let ratio = (f64::from(max.width) / f64::from(full.width))
        .min(f64::from(max.height) / f64::from(full.height))
        .min(1.0);
    let side =
        |length: u32, most: u32| ((f64::from(length) * ratio).round() as u32).clamp(1, most.min(length));
    PixelSize { width: side(full.width, max.width), height: side(full.height, max.height) }
}

/// A hash of all colours. Made to notice change, not to withstand malice; the fourth byte of a pixel does not count.
pub(crate) fn hash(pixels: &[u8]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const COLOURS: u128 = 0x00ff_ffff_00ff_ffff_00ff_ffff_00ff_ffff;
    let fold = |a: u64, b: u64| {
        let wide = u128::from(a) * u128::from(b);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let mut state = SEED ^ pixels.len() as u64;
    let (chunks, rest) = pixels.as_chunks::<16>();
    for chunk in chunks {
        let wide = u128::from_le_bytes(*chunk) & COLOURS;
        state = fold(state ^ (wide as u64) ^ SEED, ((wide >> 64) as u64) ^ 0xd1b5_4a32_d192_ed03)
            ^ state.rotate_left(23);
    }
    for (i, byte) in rest.iter().enumerate().filter(|(i, _)| i % 4 != 3) {
        state = fold(state ^ u64::from(*byte) ^ SEED, 0xd1b5_4a32_d192_ed03 ^ i as u64);
    }
    state
}

fn scale(frame: &Frame, size: PixelSize) -> Result<Vec<u8>, DesktopError> {
    if (size.width, size.height) == (frame.width, frame.height) {
        return Ok(frame.pixels.clone());
    }
    let failed = |error: &dyn std::fmt::Display| DesktopError::Failed(format!("scale the picture: {error}"));
    let source =
        ImageRef::new(frame.width, frame.height, &frame.pixels, PixelType::U8x4).map_err(|e| failed(&e))?;
    let mut target = Image::new(size.width, size.height, PixelType::U8x4);
    // The fourth byte is no alpha: multiplying by it would blacken the picture.
    let options =
        ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false);
    Resizer::new().resize(&source, &mut target, &options).map_err(|e| failed(&e))?;
    Ok(target.into_vec())
}

/// A filled red disc in a white ring: seen on any background, about one hundredth of the width across.
fn draw_dot(pixels: &mut [u8], size: PixelSize, order: Order, at: NormPoint) {
    let area = PhysicalRect { x: 0, y: 0, width: size.width, height: size.height };
    let centre = at.to_physical(&area);
    let radius = (f64::from(size.width) * 0.006).max(4.0);
    let ring = radius + (radius * 0.4).max(2.0);
    let reach = ring.ceil() as i32;
    let red: [u8; 3] = match order {
        Order::Bgrx => [30, 20, 230],
        Order::Rgbx => [230, 20, 30],
    };
    for y in centre.y - reach..=centre.y + reach {
        for x in centre.x - reach..=centre.x + reach {
            let distance = f64::from(x - centre.x).hypot(f64::from(y - centre.y));
            let colour = if distance <= radius {
                red
            } else if distance <= ring {
                [255; 3]
            } else {
                continue;
            };
            if !area.contains(protocol::geometry::PhysicalPoint { x, y }) {
                continue;
            }
            let start = (y as usize * size.width as usize + x as usize) * 4;
            if let Some(pixel) = pixels.get_mut(start..start + 3) {
                pixel.copy_from_slice(&colour);
            }
        }
    }
}

fn encode(pixels: &[u8], size: PixelSize, order: Order, quality: u8) -> Result<Vec<u8>, DesktopError> {
    let side = |length: u32| {
        u16::try_from(length)
            .map_err(|_| DesktopError::BadInput(format!("a picture side of {length} is over JPEG's 65535")))
    };
    let (width, height) = (side(size.width)?, side(size.height)?);
    let colours = match order {
        Order::Bgrx => ColorType::Bgra,
        Order::Rgbx => ColorType::Rgba,
    };
    let mut jpeg = Vec::with_capacity(pixels.len() / 16);
    let mut encoder = Encoder::new(&mut jpeg, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder
        .encode(pixels, width, height, colours)
        .map_err(|error| DesktopError::Failed(format!("encode the picture as JPEG: {error}")))?;
    Ok(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: u32, height: u32, bgrx: [u8; 4]) -> Frame {
        Frame { width, height, order: Order::Bgrx, pixels: bgrx.repeat((width * height) as usize) }
    }

    fn shot(width: u32, height: u32) -> Shot {
        Shot::of_display(0, PixelSize { width, height }, 85)
    }

    fn shown(frame: &Frame, shot: &Shot) -> Result<Picture, DesktopError> {
        let shows = PhysicalRect { x: 0, y: 0, width: frame.width, height: frame.height };
        develop(frame, shows, shot)
    }

    fn decode(picture: &Picture) -> image::RgbImage {
        image::load_from_memory(&picture.jpeg).unwrap().to_rgb8()
    }

    #[test]
    fn a_frame_is_scaled_to_fit_and_never_up() {
        let cases = [
            ((1920, 1080), (1280, 1280), (1280, 720)),
            ((1920, 1080), (4000, 4000), (1920, 1080)),
            ((1080, 1920), (1280, 800), (450, 800)),
            ((5000, 1), (100, 100), (100, 1)),
        ];
        for (full, max, expected) in cases {
            let size = |(width, height)| PixelSize { width, height };
            assert_eq!(fit(size(full), size(max)), size(expected));
        }
    }

    #[test]
    fn colours_survive_scaling_and_encoding() {
        let picture = shown(&frame(800, 600, [10, 120, 240, 0]), &shot(400, 400)).unwrap();
        let decoded = decode(&picture);
        assert_eq!(decoded.dimensions(), (400, 300));
        let [r, g, b] = decoded.get_pixel(200, 150).0;
        assert!(r.abs_diff(240) < 6 && g.abs_diff(120) < 6 && b.abs_diff(10) < 6, "{r},{g},{b}");
    }

    #[test]
    fn the_dot_is_red_in_a_white_ring_at_its_point_and_the_hash_is_of_the_unmarked_pixels() {
        let plain = frame(1000, 1000, [0, 0, 0, 0]);
        let dot = Some(NormPoint::new(250.0, 750.0).unwrap());
        let marked = shown(&plain, &Shot { dot, ..shot(1000, 1000) }).unwrap();
        let unmarked = shown(&plain, &shot(1000, 1000)).unwrap();
        assert_eq!(marked.pixels, unmarked.pixels);
        let decoded = decode(&marked);
        let [r, g, b] = decoded.get_pixel(250, 750).0;
        assert!(r > 190 && g < 80 && b < 90, "{r},{g},{b}");
        assert!(decoded.get_pixel(250, 757).0.iter().all(|c| *c > 150));
        assert!(decoded.get_pixel(250, 780).0.iter().all(|c| *c < 30));
    }

    #[test]
    fn a_dot_in_a_corner_stays_within_the_picture() {
        for (x, y) in [(0.0, 0.0), (1000.0, 0.0), (0.0, 1000.0), (1000.0, 1000.0)] {
            let dot = NormPoint::new(x, y).ok();
            shown(&frame(64, 48, [9, 9, 9, 0]), &Shot { dot, ..shot(64, 48) }).unwrap();
        }
    }

    #[test]
    fn one_changed_pixel_changes_the_hash_and_the_unused_byte_does_not() {
        let before = frame(641, 481, [1, 2, 3, 0]);
        for at in [0, 641 * 240 * 4 + 1, 641 * 481 * 4 - 2] {
            let mut after = before.clone();
            after.pixels[at] ^= 1;
            assert_ne!(hash(&after.pixels), hash(&before.pixels), "byte {at}");
        }
        assert_eq!(hash(&frame(641, 481, [1, 2, 3, 255]).pixels), hash(&before.pixels));
    }

    #[test]
    fn a_wish_out_of_range_is_refused_by_name() {
        let plain = frame(10, 10, [0; 4]);
        for bad in [Shot { quality: 5, ..shot(10, 10) }, Shot { quality: 101, ..shot(10, 10) }, shot(0, 10)] {
            assert!(matches!(shown(&plain, &bad), Err(DesktopError::BadInput(_))));
        }
    }
}
