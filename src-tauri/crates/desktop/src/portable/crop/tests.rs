//! Tests of `crop`.

use super::*;
use pictures::Order;

const SCREEN: PhysicalRect = PhysicalRect { x: 100, y: 50, width: 10, height: 10 };

#[test]
fn a_region_is_clipped_to_its_display_and_one_beside_it_is_refused() {
    let of = |x, y, width, height| region(&NormRect { x, y, width, height }, &SCREEN);
    let part = PhysicalRect { x: 105, y: 50, width: 5, height: 2 };
    assert_eq!(of(500.0, -100.0, 900.0, 300.0), Ok(part));
    assert!(matches!(of(1000.0, 0.0, 50.0, 50.0), Err(DesktopError::BadInput(_))));
    assert!(matches!(of(f64::NAN, 0.0, f64::NAN, 50.0), Err(DesktopError::BadInput(_))));
}

#[test]
fn a_crop_has_the_pixels_of_its_part_also_in_a_frame_of_another_scale() {
    // Twice as many pixels as the display says, each holding its own place.
    let pixels = (0..20_u8).flat_map(|y| (0..20_u8).flat_map(move |x| [x, y, 0, 0])).collect();
    let frame = Frame { width: 20, height: 20, order: Order::Rgbx, pixels };
    let part = PhysicalRect { x: 102, y: 53, width: 2, height: 1 };
    let cut = crop(&frame, &SCREEN, &part).unwrap();
    assert_eq!((cut.width, cut.height), (4, 2));
    assert_eq!(&cut.pixels[..8], [4, 6, 0, 0, 5, 6, 0, 0]);
    assert_eq!(&cut.pixels[28..], [7, 7, 0, 0]);
    let short = Frame { pixels: vec![0; 8], ..frame };
    assert!(matches!(crop(&short, &SCREEN, &part), Err(DesktopError::Failed(_))));
}
