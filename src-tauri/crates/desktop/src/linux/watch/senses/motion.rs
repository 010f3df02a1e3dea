//! How far a device has moved, in pixels, and whether that is more than a shaken table. Pure.

use std::time::{Duration, Instant};

use x11rb::protocol::xinput::{DeviceClassData, Fp3232, RawButtonPressEvent, ValuatorMode, XIDeviceInfo};

/// Pixels that the pointer may shake, and the time in which they are counted together.
const JITTER: f64 = 4.0;
const SHAKE: Duration = Duration::from_millis(500);

/// The first two axes of a device: across and down.
#[derive(Default)]
pub(super) struct Axes([Axis; 2]);

#[derive(Clone, Copy, Default)]
struct Axis {
    /// Least and greatest value of a device that tells where it is; `None` if it tells how far it went.
    absolute: Option<(f64, f64)>,
    last: Option<f64>,
}

impl Axes {
    pub(super) fn of(device: &XIDeviceInfo) -> Self {
        let mut axes = Self::default();
        for class in &device.classes {
            if let DeviceClassData::Valuator(valuator) = &class.data
                && let Some(axis) = axes.0.get_mut(usize::from(valuator.number))
                && valuator.mode == ValuatorMode::ABSOLUTE
            {
                axis.absolute = Some((number(valuator.min), number(valuator.max)));
            }
        }
        axes
    }

    /// The way that this event tells of, in pixels of a screen of this size.
    pub(super) fn way(&mut self, motion: &RawButtonPressEvent, screen: (u32, u32)) -> (f64, f64) {
        let mut way = [0.0; 2];
        let mask = motion.valuator_mask.iter().enumerate();
        let told = mask.flat_map(|(word, bits)| {
            (0..32_usize).filter(move |bit| bits & (1 << bit) != 0).map(move |bit| word * 32 + bit)
        });
        for (axis, value) in told.zip(&motion.axisvalues) {
            let Some(known) = self.0.get_mut(axis) else { continue };
            let value = number(*value);
            let length = f64::from(if axis == 0 { screen.0 } else { screen.1 });
            way[axis] = match known.absolute {
                None => value,
                Some((least, most)) => {
                    let scale = if most > least { length / (most - least) } else { 1.0 };
                    known.last.replace(value).map_or(0.0, |last| (value - last) * scale)
                }
            };
        }
        (way[0], way[1])
    }
}

/// What the pointer has moved lately.
#[derive(Default)]
pub(super) struct Shake {
    begun: Option<Instant>,
    sum: (f64, f64),
}

impl Shake {
    /// Whether the pointer has gone further than a shake goes.
    pub(super) fn is_meant(&mut self, way: (f64, f64), now: Instant) -> bool {
        if self.begun.is_none_or(|begun| now.duration_since(begun) > SHAKE) {
            *self = Self { begun: Some(now), sum: (0.0, 0.0) };
        }
        self.sum.0 += way.0;
        self.sum.1 += way.1;
        self.sum.0.hypot(self.sum.1) > JITTER
    }
}

fn number(value: Fp3232) -> f64 {
    f64::from(value.integral) + f64::from(value.frac) / 4_294_967_296.0
}

#[cfg(test)]
mod tests;
