//! From raw pixels to the JPEG that a model sees: hashing, scaling, marks, encoding; and where two pictures differ.
//!
//! Knows no screens, windows or platforms: what is in a frame is the capturer's business. A crate of its own, optimised
//! in every profile: the scaling library's loops are generic and so are compiled where they are called. Within
//! `desktop`, a debug build spent a second on each picture.

use protocol::geometry::{NormPoint, NormRect, PictureBudget};

pub use cut::{Cut, cut};
pub use encoder::{Encoder, encode};
pub use file::of_file;
pub use frame::{Frame, Order, Viewport};
pub use picture::{Mapping, Picture};
pub use scale::{PIXEL, Part, ScaleError, Scaler, Source};
pub use shapes::{Appearance, Kind, Shape, Shapes, shapes};
pub use thumbnail::{Difference, Thumbnail, thumbnail};

mod frame;
mod picture;

mod cut;
mod encoder;
mod file;
mod scale;

mod draw;
mod font;
mod marks;

mod hash;
mod jpeg;

mod thumbnail;

mod shapes;

/// What a picture is to look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style<'a> {
    /// The red dot, where an action took place: in 0-1000 of the frame's display.
    pub dot: Option<NormPoint>,
    /// A drag's line, drawn up to the dot. In the same space.
    pub trail: &'a [NormPoint],
    /// Numbered boxes. In the same space.
    pub marks: &'a [Mark],
    /// Places that must not be seen. In the same space.
    pub covers: &'a [NormRect],
    /// Scaled down to fit, never up.
    pub max: PictureBudget,
    /// JPEG quality, 20-100.
    pub quality: u8,
}

/// A numbered box around an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The element's ref; without one it is a mere frame.
    pub label: String,
    pub bounds: NormRect,
}

/// Why no picture could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PictureError {
    #[error("JPEG quality = {0} is outside 20-100")]
    Quality(u8),
    #[error("a picture needs a width and a height of at least 1")]
    NoSize,
    #[error("a picture side of {0} is over JPEG's 65535")]
    TooLarge(u32),
    /// The pixels are not as many as the frame's size says.
    #[error("the captured frame has {bytes} bytes where {width}x{height} needs {expected}")]
    Frame { bytes: usize, width: u32, height: u32, expected: u64 },
    #[error("the file is no picture that can be shown: {0}")]
    File(String),
    #[error("scale the picture: {0}")]
    Scale(#[from] ScaleError),
    #[error("encode the picture as JPEG: {0}")]
    Jpeg(String),
    /// A defect of ours: a thread panicked.
    #[error("a defect of ours: {0} the picture broke down")]
    Broken(&'static str),
}
