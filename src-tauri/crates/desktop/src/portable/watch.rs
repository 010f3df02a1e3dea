//! What the user's own mouse and keys mean: nothing, a pause, or a stop. Pure rules over what a platform hears; our
//! own events never come here.

use std::time::{Duration, Instant};

use protocol::geometry::PhysicalPoint;

use crate::Interruption;

/// Escape held for this long stops everything.
const ESCAPE: Duration = Duration::from_secs(1);
/// A desk that shakes moves the pointer less than this, in the platform's unit.
const SHAKE: i32 = 24;
/// Movement counts together while its parts are no further apart.
const TOGETHER: Duration = Duration::from_millis(300);

/// One thing the user did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Heard {
    Moved(PhysicalPoint),
    /// A button or the wheel.
    Pressed(PhysicalPoint),
    Escape(Way),
    /// Any other key.
    Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Down,
    Up,
}

/// Where the user did it: to see whether a window of ours was meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum UserInputAt {
    Pointer(PhysicalPoint),
    Keyboard,
}

/// What was heard, taken together.
#[derive(Default)]
pub(crate) struct Watch {
    escape: Option<Instant>,
    moving: Option<(PhysicalPoint, Instant)>,
}

impl Watch {
    /// What it means, and where it was.
    pub(crate) fn note(&mut self, heard: Heard, now: Instant) -> Option<(Interruption, UserInputAt)> {
        match heard {
            Heard::Escape(Way::Down) => {
                // A held key repeats: the first one counts.
                self.escape.get_or_insert(now);
                self.due(now)
            }
            Heard::Escape(Way::Up) => {
                let due = self.due(now);
                self.escape = None;
                due.or(Some((Interruption::UserInput, UserInputAt::Keyboard)))
            }
            Heard::Key => Some((Interruption::UserInput, UserInputAt::Keyboard)),
            Heard::Pressed(at) => Some((Interruption::UserInput, UserInputAt::Pointer(at))),
            Heard::Moved(to) => {
                let from = match self.moving {
                    Some((from, last)) if now.duration_since(last) <= TOGETHER => from,
                    _ => to,
                };
                self.moving = Some((from, now));
                let far = (to.x - from.x).abs().max((to.y - from.y).abs()) >= SHAKE;
                far.then(|| {
                    self.moving = None;
                    (Interruption::UserInput, UserInputAt::Pointer(to))
                })
            }
        }
    }

    /// Whether Escape has been held for long enough.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(Interruption, UserInputAt)> {
        let held = now.duration_since(self.escape?) >= ESCAPE;
        held.then(|| {
            self.escape = None;
            (Interruption::Escape, UserInputAt::Keyboard)
        })
    }
}

#[cfg(test)]
mod tests;
