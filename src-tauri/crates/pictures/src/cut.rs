//! A part of a finished picture, at the same scale: for whoever has the rest already.

use protocol::geometry::{NormRect, PhysicalRect, PixelSize};

use crate::file::unpacked;
use crate::{Frame, Order, PictureError, Style, Viewport, encode};

/// A part of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    /// What it shows, in 0-1000 of the whole picture: the very edges of its pixels.
    pub shows: NormRect,
}

/// Cuts what is within `part`, in 0-1000 of the picture, out of a JPEG. Blocking: it is unpacked whole.
///
/// # Errors
/// The JPEG cannot be read, the quality is out of range, or nothing of the part is in the picture.
pub fn cut(jpeg: &[u8], part: &NormRect, quality: u8) -> Result<Cut, PictureError> {
    let whole = unpacked(jpeg)?;
    let (width, height) = whole.dimensions();
    let along = |from: f64, length: f64, of: u32| {
        let pixel = |at: f64| at.clamp(0.0, 1000.0) * f64::from(of) / 1000.0;
        (pixel(from).floor() as u32, pixel(from + length).ceil() as u32)
    };
    let (left, right) = along(part.x, part.width, width);
    let (top, bottom) = along(part.y, part.height, height);
    let size = PixelSize { width: right.saturating_sub(left), height: bottom.saturating_sub(top) };
    if size.width == 0 || size.height == 0 {
        return Err(PictureError::NoSize);
    }
    let pixels = image::imageops::crop_imm(&whole, left, top, size.width, size.height).to_image().into_raw();
    let mut frame = Frame { width: size.width, height: size.height, order: Order::Rgbx, pixels };
    let viewport = Viewport::whole(PhysicalRect { x: 0, y: 0, width: size.width, height: size.height });
    let style = Style { dot: None, trail: &[], marks: &[], covers: &[], max: size.into(), quality };
    let jpeg = encode(&mut frame, viewport, &style)?.jpeg;
    let norm = |pixels: u32, of: u32| f64::from(pixels) * 1000.0 / f64::from(of);
    let shows = NormRect {
        x: norm(left, width),
        y: norm(top, height),
        width: norm(size.width, width),
        height: norm(size.height, height),
    };
    Ok(Cut { jpeg, size, shows })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grey, with one red box.
    fn picture(width: u32, height: u32, red: [u32; 4]) -> Vec<u8> {
        let [x, y, w, h] = red;
        let within = |at: u32| {
            let (column, row) = (at % width, at / width);
            (x..x + w).contains(&column) && (y..y + h).contains(&row)
        };
        let pixel = |at: u32| if within(at) { [250, 20, 20, 0] } else { [128, 128, 128, 0] };
        let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
        let mut frame = Frame { width, height, order: Order::Rgbx, pixels };
        let viewport = Viewport::whole(PhysicalRect { x: 0, y: 0, width, height });
        let max = PixelSize { width, height }.into();
        let style = Style { dot: None, trail: &[], marks: &[], covers: &[], max, quality: 90 };
        encode(&mut frame, viewport, &style).unwrap().jpeg
    }

    #[test]
    fn a_point_of_the_cut_is_the_point_of_the_screen_that_it_says() {
        let whole = picture(400, 200, [100, 50, 40, 20]);
        let part = NormRect { x: 200.3, y: 200.0, width: 200.0, height: 200.0 };
        let cut = cut(&whole, &part, 90).unwrap();
        let seen = image::load_from_memory(&cut.jpeg).unwrap().to_rgb8();
        assert_eq!((seen.width(), seen.height()), (cut.size.width, cut.size.height));
        // Every corner of the red box, out of the cut's own words.
        for (u, v) in (0..cut.size.width).flat_map(|u| (0..cut.size.height).map(move |v| (u, v))) {
            let place = |at: u32, from: f64, length: f64, of: u32| {
                from + (f64::from(at) + 0.5) * length / f64::from(of)
            };
            let x = place(u, cut.shows.x, cut.shows.width, cut.size.width) * 0.4;
            let y = place(v, cut.shows.y, cut.shows.height, cut.size.height) * 0.2;
            let inside = (100.0..140.0).contains(&x) && (50.0..70.0).contains(&y);
            let edge = [100.0, 140.0].iter().any(|at| (x - at).abs() < 3.0)
                || [50.0, 70.0].iter().any(|at| (y - at).abs() < 3.0);
            let [red, green, _] = seen.get_pixel(u, v).0;
            let is_red = red > 200 && green < 90;
            assert!(edge || is_red == inside, "{u} {v}: {x} {y} {red} {green}");
        }
    }

    #[test]
    fn a_part_beyond_the_edge_ends_at_it_and_one_that_is_nowhere_is_refused() {
        let whole = picture(100, 100, [0, 0, 1, 1]);
        let part = |x, y| NormRect { x, y, width: 300.0, height: 300.0 };
        let beyond = cut(&whole, &part(900.0, 900.0), 90).unwrap();
        assert_eq!(beyond.size, PixelSize { width: 10, height: 10 });
        assert!(matches!(cut(&whole, &part(1_200.0, 0.0), 90), Err(PictureError::NoSize)));
        assert!(matches!(cut(b"nothing", &part(0.0, 0.0), 90), Err(PictureError::File(_))));
    }
}
