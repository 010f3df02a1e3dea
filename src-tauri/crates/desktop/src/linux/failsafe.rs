//! The failsafe's corner: where the user throws the pointer to stop everything. A pure rule.
//!
//! Our own acts never go there (`input.rs` refuses them), so whoever put the pointer there was not us. `watch.rs`
//! looks.

use protocol::geometry::{PhysicalPoint, PhysicalRect};

/// Whether a point is within `reach` pixels of a corner that the pointer can be thrown into: a display's top left
/// one, with no display beyond it.
pub(super) fn in_corner(point: PhysicalPoint, displays: &[PhysicalRect], reach: i32) -> bool {
    displays.iter().any(|display| {
        let left = PhysicalPoint { x: display.x - 1, y: display.y };
        let above = PhysicalPoint { x: display.x, y: display.y - 1 };
        let open = displays.iter().any(|other| other.contains(left) || other.contains(above));
        let near = |value: i32, corner: i32| (0..=reach).contains(&(value - corner));
        !open && near(point.x, display.x) && near(point.y, display.y)
    })
}

#[cfg(test)]
mod tests;
