//! What the fake's pictures show.

use pictures::{Frame, Order, Viewport};
use protocol::geometry::PhysicalRect;

use super::Scene;
use crate::shot::region;
use crate::{Area, DesktopError};

impl Scene {
    /// One colour, with windows a shade lighter.
    pub(super) fn look(&self, area: &Area) -> Result<(Frame, Viewport), DesktopError> {
        let bounds = |index: u32| {
            let found = self.displays.iter().find(|display| display.index == index);
            found.map(|display| display.bounds).ok_or_else(|| {
                let count = self.displays.len();
                DesktopError::NotFound(format!("display {index}; there are {count}, counted from 0"))
            })
        };
        let mut colour = self.colour;
        let viewport = match area {
            Area::Display(display) => Viewport::whole(bounds(*display)?),
            Area::Region { display, rect } => {
                let display = bounds(*display)?;
                Viewport { shows: region(rect, &display)?, display }
            }
            Area::Window(id) => {
                let found = self.windows.iter().find(|window| window.id == *id);
                let window = found.ok_or_else(|| DesktopError::NotFound(format!("window {}", id.0)))?;
                colour = colour.map(|value| value.saturating_add(20));
                let display = bounds(window.display)?;
                Viewport { shows: region(&window.bounds, &display)?, display }
            }
        };
        let [r, g, b] = colour;
        let PhysicalRect { width, height, .. } = viewport.shows;
        let pixels = [r, g, b, 0].repeat(width as usize * height as usize);
        Ok((Frame { width, height, order: Order::Rgbx, pixels }, viewport))
    }
}
