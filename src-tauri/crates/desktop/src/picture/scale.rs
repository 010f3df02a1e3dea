//! Scaling down with SIMD, into memory that is kept.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use protocol::geometry::PixelSize;

use crate::DesktopError;

#[derive(Default)]
pub(super) struct Scaler {
    resizer: Resizer,
    scaled: Vec<u8>,
}

impl Scaler {
    /// The frame in another size; overwritten by the next one.
    pub(super) fn scale(
        &mut self,
        pixels: &[u8],
        from: PixelSize,
        to: PixelSize,
    ) -> Result<&mut [u8], DesktopError> {
        let failed =
            |error: &dyn std::fmt::Display| DesktopError::Failed(format!("scale the picture: {error}"));
        let source =
            ImageRef::new(from.width, from.height, pixels, PixelType::U8x4).map_err(|e| failed(&e))?;
        self.scaled.resize(to.width as usize * to.height as usize * 4, 0);
        let mut target = Image::from_slice_u8(to.width, to.height, &mut self.scaled, PixelType::U8x4)
            .map_err(|e| failed(&e))?;
        // The fourth byte is no alpha: multiplying by it would blacken the picture.
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false);
        self.resizer.resize(&source, &mut target, &options).map_err(|e| failed(&e))?;
        Ok(&mut self.scaled)
    }
}
