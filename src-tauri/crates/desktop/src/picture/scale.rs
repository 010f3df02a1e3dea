//! Scaling down, into memory that is kept.

use protocol::geometry::PixelSize;
use scale::{PIXEL, Source};

use crate::DesktopError;

#[derive(Default)]
pub(super) struct Scaler {
    scaler: scale::Scaler,
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
        let source = Source { pixels, width: from.width, height: from.height };
        self.scaled.resize(to.width as usize * to.height as usize * PIXEL, 0);
        self.scaler
            .scale(source, None, (to.width, to.height), &mut self.scaled)
            .map_err(|error| DesktopError::Failed(format!("scale the picture: {error}")))?;
        Ok(&mut self.scaled)
    }
}
