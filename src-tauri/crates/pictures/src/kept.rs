//! The stripes of the last picture: most of a screen is as it was a moment ago, and is not encoded again.
//!
//! Pixels are compared, not hashes: who draws on the screen must not be able to have an old picture shown for a new one.

use protocol::geometry::PixelSize;

use crate::Order;

/// What a stripe's JPEG depends on besides its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) size: PixelSize,
    pub(crate) order: Order,
    pub(crate) quality: u8,
}

/// One stripe, without marks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stripe {
    pixels: Vec<u8>,
    bands: Vec<u64>,
    jpeg: Vec<u8>,
}

/// All stripes of the last picture.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    form: Option<Form>,
    stripes: Vec<Stripe>,
}

impl Kept {
    /// The stripes of a picture of this form; as new where the last one had another.
    pub(crate) fn of(&mut self, form: Form, count: usize) -> &mut [Stripe] {
        if self.form != Some(form) || self.stripes.len() != count {
            self.form = Some(form);
            self.stripes = vec![Stripe::default(); count];
        }
        &mut self.stripes
    }
}

impl Stripe {
    /// Makes this the stripe of these pixels: what it knew of others is forgotten.
    pub(crate) fn look(&mut self, pixels: &[u8]) {
        if self.pixels != pixels {
            self.pixels.clear();
            self.pixels.extend_from_slice(pixels);
            self.bands.clear();
            self.jpeg.clear();
        }
    }

    pub(crate) fn bands(&mut self, hash: impl FnOnce(&[u8]) -> Vec<u64>) -> Vec<u64> {
        if self.bands.is_empty() {
            self.bands = hash(&self.pixels);
        }
        self.bands.clone()
    }

    /// # Errors
    /// As `encode`.
    pub(crate) fn jpeg<E>(&mut self, encode: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        if self.jpeg.is_empty() {
            self.jpeg = encode(&self.pixels)?;
        }
        Ok(self.jpeg.clone())
    }
}
