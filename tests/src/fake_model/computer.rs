//! What a mind does with a vendor's own computer tool. Each wire has it in its vendor's actions, keys and coordinates.

use super::wire::Saying;

/// A vendor's computer tool, as a request declares it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Computer {
    /// The vendor's name for it.
    pub version: String,
    /// In pixels, where the vendor is told.
    pub display: Option<(u32, u32)>,
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub enum ComputerAction {
    Look,
    /// In 0-1000 of the screen.
    Click {
        x: f64,
        y: f64,
    },
    Write(String),
    /// Keys held together, as `ctrl` and `s`.
    Press(Vec<String>),
    /// Down.
    Scroll {
        x: f64,
        y: f64,
        notches: u32,
    },
}

impl ComputerAction {
    pub fn press(keys: &[&str]) -> Self {
        Self::Press(keys.iter().map(|key| (*key).to_owned()).collect())
    }
}

impl Saying<'_> {
    /// A place in pixels of the display that was declared, else of the newest picture.
    pub(super) fn pixel(&self, x: f64, y: f64) -> [u32; 2] {
        let declared = self.asked.heard.computer.as_ref().and_then(|computer| computer.display);
        let newest = || size(self.asked.images().pop()?);
        let (width, height) = declared.or_else(newest).unwrap_or((1_000, 1_000));
        let along = |part: f64, length: u32| (part * f64::from(length) / 1_000.0) as u32;
        [along(x, width), along(y, height)]
    }
}

/// Of a picture, in pixels.
pub(super) fn size(picture: &[u8]) -> Option<(u32, u32)> {
    let reader = image::ImageReader::new(std::io::Cursor::new(picture)).with_guessed_format().ok()?;
    reader.into_dimensions().ok()
}
