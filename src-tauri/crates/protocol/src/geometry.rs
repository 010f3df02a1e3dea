//! Points, sizes and rectangles, one type per coordinate space, so that they cannot be mixed.
//!
//! - *Norm*: 0-1000 on both axes of one display; what a model sees and says. Out of range is an error, never clamped.
//! - *Physical*: pixels of the display's frame buffer; what captures are made of and X11 speaks.
//! - *Logical*: points as macOS speaks them: physical divided by the display's scale.

use serde::{Deserialize, Serialize};

/// A coordinate outside 0-1000, or not a number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "coordinate {axis} = {value} is outside 0-1000 (0,0 is the display's top left corner, 1000,1000 its bottom right)"
)]
pub struct OutOfRange {
    pub axis: char,
    pub value: f64,
}

/// A point on one display, 0-1000 on both axes. Reading one from JSON checks it too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedPoint")]
pub struct NormPoint {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct UncheckedPoint {
    x: f64,
    y: f64,
}

impl TryFrom<UncheckedPoint> for NormPoint {
    type Error = OutOfRange;

    fn try_from(point: UncheckedPoint) -> Result<Self, OutOfRange> {
        Self::new(point.x, point.y)
    }
}

impl NormPoint {
    /// Checks both axes.
    ///
    /// # Errors
    /// [`OutOfRange`] names the axis and the value.
    pub fn new(x: f64, y: f64) -> Result<Self, OutOfRange> {
        for (axis, value) in [('x', x), ('y', y)] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(OutOfRange { axis, value });
            }
        }
        Ok(Self { x, y })
    }

    pub fn x(self) -> f64 {
        self.x
    }

    pub fn y(self) -> f64 {
        self.y
    }

    /// The pixel of `display` below this point; 1000 is its last pixel.
    pub fn to_physical(self, display: &PhysicalRect) -> PhysicalPoint {
        let place = |norm: f64, origin: i32, length: u32| {
            let last = f64::from(length.saturating_sub(1));
            origin + (norm / 1000.0 * f64::from(length)).floor().min(last) as i32
        };
        PhysicalPoint {
            x: place(self.x, display.x, display.width),
            y: place(self.y, display.y, display.height),
        }
    }
}

/// A rectangle on one display in 0-1000. May reach beyond the display, as elements do; only points are acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NormRect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl NormRect {
    /// The middle, where it lies on the display.
    ///
    /// # Errors
    /// [`OutOfRange`] where the middle is off the display.
    pub fn center(&self) -> Result<NormPoint, OutOfRange> {
        NormPoint::new(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

/// A pixel in the space that spans all displays; may be negative where a display lies left of or above the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhysicalPoint {
    pub x: i32,
    pub y: i32,
}

/// A rectangle in pixels, in the space that spans all displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhysicalRect {
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

impl PhysicalRect {
    /// This rectangle in 0-1000 of `display`, rounded to a tenth.
    pub fn to_norm(&self, display: &PhysicalRect) -> NormRect {
        let scale = |value: f64, length: u32| (value * 10_000.0 / f64::from(length.max(1))).round() / 10.0;
        NormRect {
            x: scale(f64::from(self.x) - f64::from(display.x), display.width),
            y: scale(f64::from(self.y) - f64::from(display.y), display.height),
            width: scale(f64::from(self.width), display.width),
            height: scale(f64::from(self.height), display.height),
        }
    }

    pub fn contains(&self, point: PhysicalPoint) -> bool {
        let inside = |value: i32, origin: i32, length: u32| {
            i64::from(value) >= i64::from(origin) && i64::from(value) < i64::from(origin) + i64::from(length)
        };
        inside(point.x, self.x, self.width) && inside(point.y, self.y, self.height)
    }
}

/// Physical pixels per logical point: 2.0 on a Retina display, 1.0 on X11.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScaleFactor(pub f64);

/// A point as macOS and the windows' CSS speak: physical divided by scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogicalPoint {
    pub x: f64,
    pub y: f64,
}

impl PhysicalPoint {
    pub fn to_logical(self, scale: ScaleFactor) -> LogicalPoint {
        LogicalPoint { x: f64::from(self.x) / scale.0, y: f64::from(self.y) / scale.0 }
    }
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PixelSize {
    pub width: u32,
    pub height: u32,
}

/// How large a picture may be for whoever looks at it. Those who count squares of so many pixels a side count those
/// that are begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureBudget {
    /// The picture fits into this.
    pub within: PixelSize,
    /// Its shorter side has no more pixels than this.
    pub shorter: u32,
    /// Side of a square, and how many there may be.
    pub square: u32,
    pub squares: u32,
}

impl From<PixelSize> for PictureBudget {
    fn from(within: PixelSize) -> Self {
        Self { within, shorter: u32::MAX, square: 1, squares: u32::MAX }
    }
}

impl PictureBudget {
    /// Squares that a picture begins.
    pub fn squares_of(&self, size: PixelSize) -> u64 {
        let along = |side: u32| u64::from(side.div_ceil(self.square.max(1)));
        along(size.width) * along(size.height)
    }

    pub fn holds(&self, size: PixelSize) -> bool {
        size.width <= self.within.width
            && size.height <= self.within.height
            && size.width.min(size.height) <= self.shorter
            && self.squares_of(size) <= u64::from(self.squares)
    }

    /// The largest size of the same shape that holds; never larger than `full`, and never nothing.
    pub fn fit(&self, full: PixelSize) -> PixelSize {
        let part = |most: u32, of: u32| f64::from(most) / f64::from(of.max(1));
        let ratio = part(self.within.width, full.width)
            .min(part(self.within.height, full.height))
            .min(part(self.shorter, full.width.min(full.height)))
            .min(1.0);
        let side = |length: u32, ratio: f64, most: u32| {
            ((f64::from(length) * ratio).round() as u32).clamp(1, most.min(length).max(1))
        };
        let scaled = |ratio: f64| PixelSize {
            width: side(full.width, ratio, self.within.width),
            height: side(full.height, ratio, self.within.height),
        };
        let boxed = scaled(ratio);
        if self.squares_of(boxed) <= u64::from(self.squares) {
            return boxed;
        }
        // More pixels of the longer side never begin fewer squares: the most that hold are found by halving.
        let longer = full.width.max(full.height);
        let (mut holds, mut too_many) = (1, boxed.width.max(boxed.height));
        while too_many - holds > 1 {
            let middle = holds.midpoint(too_many);
            let fits = self.squares_of(scaled(part(middle, longer))) <= u64::from(self.squares);
            *(if fits { &mut holds } else { &mut too_many }) = middle;
        }
        scaled(part(holds, longer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size((width, height): (u32, u32)) -> PixelSize {
        PixelSize { width, height }
    }

    #[test]
    fn a_picture_is_made_to_fit_and_never_larger() {
        let cases = [
            ((1920, 1080), (1280, 1280), (1280, 720)),
            ((1920, 1080), (4000, 4000), (1920, 1080)),
            ((1080, 1920), (1280, 800), (450, 800)),
            ((5000, 1), (100, 100), (100, 1)),
        ];
        for (full, max, expected) in cases {
            assert_eq!(PictureBudget::from(size(max)).fit(size(full)), size(expected));
        }
    }

    #[test]
    fn squares_and_the_shorter_side_are_counted_and_nothing_is_given_away() {
        let within = size((2000, 2000));
        let budget = PictureBudget { within, shorter: 768, square: 28, squares: 1_000 };
        for full in [(1920, 1080), (1080, 1920), (3440, 1440), (800, 800), (20, 9_000), (300, 200)] {
            let fitted = budget.fit(size(full));
            assert!(budget.holds(fitted), "{full:?}: {fitted:?}");
            let shape = |width: u32, height: u32| f64::from(width) / f64::from(height);
            let off = shape(fitted.width, fitted.height) / shape(full.0, full.1);
            assert!(fitted.height < 10 || fitted.width < 10 || (0.98..1.02).contains(&off), "{fitted:?}");
            let longer = fitted.width.max(fitted.height) + 2;
            let ratio = f64::from(longer) / f64::from(full.0.max(full.1));
            let more = |side: u32| (f64::from(side) * ratio).round() as u32;
            let larger = size((more(full.0), more(full.1)));
            assert!(fitted == size(full) || !budget.holds(larger), "{full:?}: {larger:?} holds as well");
        }
    }

    const DISPLAY: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 };

    #[test]
    fn a_point_off_the_display_is_refused_not_clamped() {
        for (x, y) in [(-0.1, 0.0), (0.0, 1000.1), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(NormPoint::new(x, y).is_err(), "{x},{y}");
        }
    }

    #[test]
    fn a_point_off_the_display_is_refused_from_json_too() {
        assert!(serde_json::from_str::<NormPoint>(r#"{"x":1,"y":1001}"#).is_err());
    }

    #[test]
    fn the_corners_are_the_first_and_the_last_pixel() {
        let at = |x, y| NormPoint::new(x, y).unwrap().to_physical(&DISPLAY);
        assert_eq!(at(0.0, 0.0), PhysicalPoint { x: 0, y: 0 });
        assert_eq!(at(1000.0, 1000.0), PhysicalPoint { x: 1919, y: 1079 });
        assert_eq!(at(500.0, 500.0), PhysicalPoint { x: 960, y: 540 });
    }

    #[test]
    fn a_rectangle_goes_to_norm_and_its_center_comes_back_to_the_pixel() {
        let second = PhysicalRect { x: 1920, y: 0, width: 1000, height: 500 };
        let button = PhysicalRect { x: 2020, y: 50, width: 100, height: 50 };
        let norm = button.to_norm(&second);
        assert_eq!(norm, NormRect { x: 100.0, y: 100.0, width: 100.0, height: 100.0 });
        assert!(button.contains(norm.center().unwrap().to_physical(&second)));
    }
}
