//! Where things are: displays, windows, the failsafe's corner, and which window is meant or hit. Pure rules over
//! what the platform told.

use protocol::geometry::{PhysicalPoint, PhysicalRect};

use crate::DesktopError;

/// How our own windows are known.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) pid: u32,
    pub(crate) titles: Vec<String>,
}

/// A window on the screen. The list it is in begins with the topmost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Top {
    pub(crate) pid: u32,
    pub(crate) app: String,
    pub(crate) title: String,
    pub(crate) rect: PhysicalRect,
    pub(crate) focused: bool,
}

impl Own {
    pub(crate) fn has(&self, top: &Top) -> bool {
        top.pid == self.pid || self.titles.contains(&top.title)
    }
}

/// Whether a point is within `reach` of a corner that the pointer can be thrown into: a display's top left one, with
/// no display beyond it.
pub(crate) fn in_corner(point: PhysicalPoint, displays: &[PhysicalRect], reach: i32) -> bool {
    displays.iter().any(|display| {
        let left = PhysicalPoint { x: display.x - 1, y: display.y };
        let above = PhysicalPoint { x: display.x, y: display.y - 1 };
        let open = displays.iter().any(|other| other.contains(left) || other.contains(above));
        let near = |value: i32, corner: i32| (0..=reach).contains(&(value - corner));
        !open && near(point.x, display.x) && near(point.y, display.y)
    })
}

/// Whether a click at `point` would go to a window of ours. One that covers a display is the overlay, which lets
/// clicks through.
pub(crate) fn hits_own(tops: &[Top], own: &Own, point: PhysicalPoint, displays: &[PhysicalRect]) -> bool {
    let covers = |top: &Top| displays.contains(&top.rect);
    tops.iter()
        .filter(|top| !(own.has(top) && covers(top)))
        .find(|top| top.rect.contains(point))
        .is_some_and(|top| own.has(top))
}

/// The window whose elements are meant: the one named, or the active one, or the topmost where that is ours.
pub(crate) fn meant<'a>(tops: &'a [Top], own: &Own, wanted: Option<&str>) -> Result<&'a Top, DesktopError> {
    let others: Vec<&Top> = tops.iter().filter(|top| !own.has(top)).collect();
    let found = match wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) {
        Some(wanted) => {
            let wanted = wanted.to_lowercase();
            let says = |top: &&&Top| {
                top.app.to_lowercase().contains(&wanted) || top.title.to_lowercase().contains(&wanted)
            };
            others.iter().find(|top| top.focused && says(top)).or_else(|| others.iter().find(says))
        }
        None => others.iter().find(|top| top.focused).or(others.first()),
    };
    found.copied().ok_or_else(|| {
        let names: Vec<String> = others.iter().map(|top| format!("{} ({})", top.app, top.title)).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join("; ") };
        DesktopError::NotFound(match wanted {
            Some(wanted) => format!("no application or window named \"{wanted}\"; there are: {names}"),
            None => format!("no window of another program; there are: {names}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 800 };
    const RIGHT: PhysicalRect = PhysicalRect { x: 1000, y: 0, width: 1000, height: 800 };

    fn top(pid: u32, app: &str, title: &str, rect: PhysicalRect) -> Top {
        Top { pid, app: app.into(), title: title.into(), rect, focused: false }
    }

    fn own() -> Own {
        Own { pid: 1, titles: vec!["Miki Chat".into()] }
    }

    #[test]
    fn only_a_corner_that_stops_the_pointer_counts() {
        let at = |x, y| in_corner(PhysicalPoint { x, y }, &[SCREEN, RIGHT], 0);
        assert!(at(0, 0));
        assert!(!at(1, 0) && !at(0, 1) && !at(1000, 0));
    }

    #[test]
    fn a_click_on_our_window_is_known_and_the_overlay_lets_it_through() {
        let small = PhysicalRect { x: 100, y: 100, width: 200, height: 200 };
        let tops = [
            top(1, "Miki", "Miki Overlay", SCREEN),
            top(7, "Miki", "Miki Chat", small),
            top(2, "Editor", "pond.txt", SCREEN),
        ];
        let hits = |x, y| hits_own(&tops, &own(), PhysicalPoint { x, y }, &[SCREEN]);
        assert!(hits(150, 150));
        assert!(!hits(500, 500));
        let above = PhysicalRect { x: 100, y: 100, width: 50, height: 50 };
        let covered = [top(2, "Editor", "menu", above), tops[1].clone()];
        assert!(!hits_own(&covered, &own(), PhysicalPoint { x: 120, y: 120 }, &[SCREEN]));
    }

    #[test]
    fn the_active_window_is_meant_and_ours_never_is() {
        let mut tops = [
            top(1, "Miki", "Miki", SCREEN),
            top(2, "Editor", "pond.txt", SCREEN),
            top(3, "Browser", "News", SCREEN),
        ];
        tops[0].focused = true;
        assert_eq!(meant(&tops, &own(), None), Ok(&tops[1]));
        tops[2].focused = true;
        assert_eq!(meant(&tops, &own(), None), Ok(&tops[2]));
        assert_eq!(meant(&tops, &own(), Some("POND")), Ok(&tops[1]));
        let error = meant(&tops, &own(), Some("miki")).unwrap_err().to_string();
        assert!(error.contains("Editor (pond.txt); Browser (News)"), "{error}");
    }
}
