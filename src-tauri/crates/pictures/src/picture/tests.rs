//! Tests of `picture`.

use super::*;

#[test]
fn a_pixel_goes_to_the_screen_and_back() {
    let mapping = Mapping {
        shows: PhysicalRect { x: 1920, y: -200, width: 1600, height: 900 },
        size: PixelSize { width: 800, height: 450 },
    };
    for (x, y) in [(0, 0), (799, 449), (400, 225), (1, 448)] {
        let point = mapping.to_screen(x, y).unwrap();
        assert!(mapping.shows.contains(point));
        assert_eq!(mapping.to_picture(point), Some((x, y)));
    }
    assert_eq!(mapping.to_screen(800, 0), None);
    assert_eq!(mapping.to_picture(PhysicalPoint { x: 1919, y: 0 }), None);
}
