//! Tests of `thumbnail`.

use super::*;

fn frame((width, height): (u32, u32), paint: impl Fn(u32, u32) -> u8) -> Frame {
    let pixel = |at: u32| [paint(at % width, at / width); 4];
    let pixels = (0..width * height).flat_map(pixel).collect();
    Frame { width, height, order: Order::Bgrx, pixels }
}

#[test]
fn the_box_is_around_what_changed_in_small_frames_and_large_ones() {
    // A large frame's edge is blurred over two of the thumbnail's pixels.
    for (scale, room) in [(1, 0.0), (8, 7.0)] {
        let size = (400 * scale, 200 * scale);
        let texture = |x: u32, y: u32| ((x / scale * 7 + y / scale * 13) % 200) as u8;
        let inside = |x: u32, y: u32| (160..240).contains(&(x / scale)) && (80..120).contains(&(y / scale));
        let before = thumbnail(&frame(size, texture)).unwrap();
        let after = thumbnail(&frame(size, |x, y| if inside(x, y) { 255 } else { texture(x, y) })).unwrap();
        assert_ne!(before.pixels, after.pixels);
        let Difference { bounds, percent } = before.difference(&after).unwrap();
        let is_near = |is: f64, wanted: f64| (is - wanted).abs() <= room;
        assert!(is_near(bounds.x, 400.0) && is_near(bounds.width, 200.0), "{bounds:?}");
        assert!(is_near(bounds.y, 400.0) && is_near(bounds.height, 200.0), "{bounds:?}");
        assert!((3.8..=4.4).contains(&percent), "{percent}");
    }
}

#[test]
fn equal_frames_and_those_of_another_size_have_no_difference() {
    let one = thumbnail(&frame((300, 200), |x, _| x as u8)).unwrap();
    assert_eq!(one.difference(&one), None);
    let faint = thumbnail(&frame((300, 200), |x, _| (x as u8).saturating_add(3))).unwrap();
    assert_ne!(one.pixels, faint.pixels);
    assert_eq!(one.difference(&faint), None);
    let other = thumbnail(&frame((200, 300), |x, _| x as u8)).unwrap();
    assert_eq!(one.difference(&other), None);
    let broken = Frame { pixels: vec![0; 7], ..frame((2, 2), |_, _| 0) };
    assert!(matches!(thumbnail(&broken), Err(PictureError::Frame { .. })));
}

#[test]
fn green_is_brighter_than_blue_in_either_order() {
    let of = |order, pixel: [u8; 4]| {
        thumbnail(&Frame { width: 1, height: 1, order, pixels: pixel.to_vec() }).unwrap().grey
    };
    assert_eq!(of(Order::Rgbx, [0, 0, 200, 9]), of(Order::Bgrx, [200, 0, 0, 0]));
    assert!(of(Order::Rgbx, [0, 200, 0, 0]) > of(Order::Rgbx, [200, 0, 0, 0]));
}
