//! A picture out of a file, as a model sees it: PNG and JPEG, bounded in size before they are unpacked.

use std::io::Cursor;

use image::{ImageReader, Limits, RgbaImage};
use protocol::geometry::{PhysicalRect, PictureBudget};

use crate::{Frame, Order, Picture, PictureError, Style, Viewport, encode};

/// Longest side that is unpacked, in pixels: what a few kB of PNG can claim to be has no end.
const SIDE: u32 = 20_000;
/// Bytes that unpacking may take.
const MEMORY: u64 = 400 * 1024 * 1024;

/// Unpacks a PNG or JPEG, and scales it down to `max`. Blocking.
///
/// # Errors
/// [`PictureError::File`] where it is neither, damaged or too large.
pub fn of_file(bytes: &[u8], max: PictureBudget, quality: u8) -> Result<Picture, PictureError> {
    let pixels = unpacked(bytes)?;
    let (width, height) = pixels.dimensions();
    let mut pixels = pixels.into_raw();
    // What is seen through is white, as on paper: JPEG has no other way.
    for pixel in pixels.chunks_exact_mut(4) {
        let alpha = u16::from(pixel[3]);
        for colour in &mut pixel[..3] {
            *colour = ((u16::from(*colour) * alpha + 255 * (255 - alpha)) / 255) as u8;
        }
    }
    let mut frame = Frame { width, height, order: Order::Rgbx, pixels };
    let whole = Viewport::whole(PhysicalRect { x: 0, y: 0, width, height });
    encode(&mut frame, whole, &Style { dot: None, trail: &[], marks: &[], covers: &[], max, quality })
}

/// The pixels of a PNG or JPEG.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<RgbaImage, PictureError> {
    let unread = |error: &dyn std::fmt::Display| PictureError::File(error.to_string());
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| unread(&error))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE);
    limits.max_image_height = Some(SIDE);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    Ok(reader.decode().map_err(|error| unread(&error))?.into_rgba8())
}

#[cfg(test)]
mod tests {
    use protocol::geometry::PixelSize;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let pixels = image::RgbaImage::from_pixel(width, height, image::Rgba([255, 0, 0, 128]));
        pixels.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_pictures_file_is_scaled_to_what_a_model_takes_and_lies_on_white() {
        let max = PictureBudget::from(PixelSize { width: 100, height: 100 });
        let picture = of_file(&png(400, 200), max, 85).unwrap();
        assert_eq!(picture.size, PixelSize { width: 100, height: 50 });
        let seen = image::load_from_memory(&picture.jpeg).unwrap().to_rgb8();
        let [red, green, blue] = seen.get_pixel(50, 25).0;
        assert!(
            red > 245 && (115..140).contains(&green) && (115..140).contains(&blue),
            "{red} {green} {blue}"
        );
    }

    #[test]
    fn what_is_no_picture_or_claims_to_be_huge_is_refused() {
        let max = PictureBudget::from(PixelSize { width: 100, height: 100 });
        assert!(matches!(of_file(b"no picture", max, 85), Err(PictureError::File(_))));
        let mut huge = png(1, 1);
        // The width and the height in the header, with no pixels behind.
        huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert!(matches!(of_file(&huge, max, 85), Err(PictureError::File(_))));
        let cut = png(50, 50);
        assert!(matches!(of_file(&cut[..cut.len() / 2], max, 85), Err(PictureError::File(_))));
    }
}
