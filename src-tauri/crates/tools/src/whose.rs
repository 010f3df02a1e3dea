//! Which window, and which application, an act goes to: by what the system says of keys and clicks, by the accessibility
//! tree, and by names where neither does.

use desktop::{Desktop, Owner, Selector, Taker, Target, WindowView};
use protocol::geometry::{NormPoint, NormRect};

use crate::applications;
use crate::reach::Reach;
use crate::target::{PATIENCE, Touched};

/// The window that has the keyboard, or while one of ours has it, the topmost.
pub(crate) fn front(windows: &[WindowView]) -> Option<&WindowView> {
    windows.iter().find(|one| one.is("focused")).or_else(|| windows.iter().find(|one| one.is_shown()))
}

/// The window that gets the keys, or a click at a point of a display; `None` if it is in no list, as a panel's and a
/// launcher's.
pub(crate) async fn taker<'a>(
    desktop: &dyn Desktop,
    windows: &'a [WindowView],
    at: Option<(u32, NormPoint)>,
) -> Option<&'a WindowView> {
    let asked = tokio::time::timeout(PATIENCE, desktop.taker(at)).await;
    match asked.unwrap_or(Taker::Other) {
        Taker::Window(id) => windows.iter().find(|window| window.id == id),
        Taker::Popup(pid) => {
            let is_its = |window: &&WindowView| window.pid == Some(pid);
            front(windows).filter(is_its).or_else(|| windows.iter().find(is_its))
        }
        Taker::Other => None,
        // One of ours steps aside, or gives the keyboard back, before anything is done.
        Taker::Ours | Taker::Unsaid => match at {
            None => front(windows),
            Some((display, point)) => window_at(windows, display, point),
        },
    }
}

/// Whether the keys go to a window that is in no list, by the system's word.
pub(crate) async fn is_unlisted(desktop: &dyn Desktop) -> bool {
    matches!(tokio::time::timeout(PATIENCE, desktop.taker(None)).await, Ok(Taker::Other))
}

/// Programs that ask for a password over all others and take the keyboard for it, whichever window has the focus. The names
/// of their programs: gcr, GnuPG's pinentry, ssh-askpass and polkit's agents, as of 2026.
const PROMPTERS: [&str; 4] = ["gcr-prompter", "pinentry", "askpass", "polkit"];

/// A window that asks for a password and may have the keyboard.
pub(crate) fn prompter<'a>(desktop: &dyn Desktop, windows: &'a [WindowView]) -> Option<&'a WindowView> {
    let asks = |name: &str| PROMPTERS.iter().any(|part| name.to_lowercase().contains(part));
    windows.iter().filter(|window| window.is_shown()).find(|window| {
        asks(&window.app) || window.pid.and_then(|pid| desktop.program(pid)).is_some_and(|name| asks(&name))
    })
}

/// The topmost window at a point; the desktop itself is none.
pub(crate) fn window_at(windows: &[WindowView], display: u32, point: NormPoint) -> Option<&WindowView> {
    let is_there =
        |window: &&WindowView| window.display == display && window.is_shown() && holds(&window.bounds, point);
    windows.iter().find(is_there)
}

pub(crate) fn holds(bounds: &NormRect, point: NormPoint) -> bool {
    let within = |at: f64, from: f64, length: f64| (from..from + length).contains(&at);
    within(point.x(), bounds.x, bounds.width) && within(point.y(), bounds.y, bounds.height)
}

/// Where an element or a menu is, by the word of whoever would act on it; by the windows' names where it has none.
pub(crate) async fn owned(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Option<Touched> {
    let (target, app) = match reach {
        Reach::Element(target @ Target::Ref(_)) => (target.clone(), None),
        Reach::Element(target @ Target::Selector(selector)) => (target.clone(), selector.app.clone()),
        Reach::Menu { app, .. } => {
            (Target::Selector(Selector { app: app.clone(), ..Selector::default() }), app.clone())
        }
        _ => return None,
    };
    let is_ref = matches!(target, Target::Ref(_));
    match tokio::time::timeout(PATIENCE, desktop.owner(target)).await.ok().flatten() {
        Some(Owner { app, pid }) => {
            let program = desktop.program(pid);
            let class = applications::class_of_window(&app, program.as_deref());
            let is_its = |window: &&WindowView| window.pid == Some(pid);
            let window = front(windows).filter(is_its).or_else(|| windows.iter().find(is_its));
            let is_modal = windows.iter().filter(is_its).any(|window| window.is("modal"));
            Some(match window.map(|window| Touched::of(desktop, window)) {
                Some(found) => Touched { class: found.class.or(class), is_modal, ..found },
                None => Touched { pid: Some(pid), program, ..Touched::of_name(&app, class) },
            })
        }
        None if is_ref => None,
        None => in_app(desktop, windows, app.as_deref()),
    }
}

pub(crate) fn in_app(desktop: &dyn Desktop, windows: &[WindowView], app: Option<&str>) -> Option<Touched> {
    match app {
        Some(app) => Some(named(desktop, windows, app)),
        None => front(windows).map(|window| Touched::of(desktop, window)),
    }
}

/// By a part of its application's name or of its title, as the tools take it.
fn called<'a>(windows: &'a [WindowView], name: &str) -> Option<&'a WindowView> {
    let wanted = name.to_lowercase();
    let is = |window: &&WindowView| {
        [&window.app, &window.title].iter().any(|text| text.to_lowercase().contains(&wanted))
    };
    front(windows).filter(is).or_else(|| windows.iter().find(is))
}

/// An application by its name, or by a part of it.
pub(crate) fn named(desktop: &dyn Desktop, windows: &[WindowView], name: &str) -> Touched {
    let by_name = applications::class_of([name]);
    match called(windows, name).map(|window| Touched::of(desktop, window)) {
        Some(found) => Touched { class: found.class.or(by_name), ..found },
        None => Touched::of_name(name, by_name),
    }
}
