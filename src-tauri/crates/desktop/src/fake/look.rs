//! What the fake's pictures show.

use pictures::{Frame, Order, Viewport};
use protocol::geometry::PhysicalRect;

use super::Scene;
use crate::shot::region;
use crate::{Area, DesktopError};

impl Scene {
    /// One colour, with windows a shade lighter, and what is painted on it.
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
        let mut pixels = [r, g, b, 0].repeat(width as usize * height as usize);
        for (at, [r, g, b]) in &self.painted {
            let along = |from: i32, length: u32, origin: i32, most: u32| {
                let clamped = |at: i64| (at - i64::from(origin)).clamp(0, i64::from(most)) as usize;
                clamped(from.into())..clamped(i64::from(from) + i64::from(length))
            };
            let columns = along(at.x, at.width, viewport.shows.x, width);
            for row in along(at.y, at.height, viewport.shows.y, height) {
                let begin = row * width as usize;
                let line = &mut pixels[(begin + columns.start) * 4..(begin + columns.end) * 4];
                line.as_chunks_mut::<4>().0.fill([*r, *g, *b, 0]);
            }
        }
        Ok((Frame { width, height, order: Order::Rgbx, pixels }, viewport))
    }
}
