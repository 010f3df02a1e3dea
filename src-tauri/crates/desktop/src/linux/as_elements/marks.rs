//! Marks on Linux: where an application tells nothing of what it shows, the text and the shapes in its window's picture,
//! and clicks on them.
//!
//! A window is looked at by itself, so that what lies over it is never taken for it; before a click it is looked at again.

use std::time::Duration;

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use protocol::view::DisplayView;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use x11rb::protocol::xproto::Window;

use super::super::atspi::lock;
use super::super::ewmh::{self, Client};
use super::super::{LOOK, LinuxDesktop};
use super::on_display;
use crate::marks::{FoundMark, KnownMark, find_again, together};
use crate::{
    Action, ActionMethod, Area, DesktopError, ElementAction, ElementQuery, Hands as _, Operated, Owner,
    PictureMark, Snapshot, WindowId,
};

/// Longest reading for one look: a list must not wait as long as one who asked for text. The next look goes on.
const READING: Duration = Duration::from_secs(6);

/// A window that tells nothing, or the part of one.
struct Untold {
    window: Window,
    app: String,
    place: PhysicalRect,
}

/// What is seen in a window, in pixels of it.
struct WindowPicture {
    seen: Vec<FoundMark>,
    /// There was time for all text, and not too much else.
    whole: bool,
    /// Where the window is.
    shows: PhysicalRect,
}

impl LinuxDesktop {
    /// What an application told, and what is read where it told nothing; the answer says which is which.
    pub(super) async fn with_marks(
        &self,
        told: Result<Snapshot, DesktopError>,
        query: &ElementQuery,
        display: &DisplayView,
        until: Instant,
    ) -> Result<Snapshot, DesktopError> {
        let has_tree = told.as_ref().is_ok_and(|told| told.number > 0);
        if has_tree && told.as_ref().is_ok_and(|told| told.untold.is_empty()) {
            return told;
        }
        let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await?;
        let (mut snapshot, untold) = match told {
            Ok(told) if has_tree => {
                let untold = self.windows_of(&told, &clients).await?;
                (told, untold)
            }
            told => match without_tree(&told, query, &clients) {
                Some(client) => told_nothing(client, told.map(|told| told.cut).unwrap_or_default()),
                None => return told,
            },
        };
        let (mut whole, mut found) = (true, 0);
        for Untold { window, app, place } in &untold {
            // Leaves time to hand over what was read.
            let left = until.saturating_duration_since(Instant::now()).mul_f32(0.8).min(READING);
            let read = match self.look_at_window(*window, Some(place), left).await {
                Ok(read) => read,
                Err(error) => {
                    snapshot.cut.push(format!("its picture was not read: {error}"));
                    continue;
                }
            };
            whole &= read.whole;
            found += read.seen.len();
            let marks = lock(&self.marks).enter((*window).into(), app, read.seen);
            let marks = marks.into_iter().map(|mark| {
                let (reference, bounds) = (mark.reference(), moved(&mark.seen.at, &read.shows));
                PictureMark { reference, bounds: bounds.to_norm(&display.bounds), ..mark.seen.what.into() }
            });
            let is_told = |mark: &PictureMark| snapshot.elements.iter().any(|element| tells(element, mark));
            let new: Vec<PictureMark> =
                marks.filter(|mark| mentions(mark, query) && !is_told(mark)).collect();
            snapshot.marks.extend(new);
        }
        // Texts of all windows come first.
        snapshot.marks.sort_by_key(|mark| mark.text.is_empty());
        snapshot.marks.truncate((query.limit as usize).saturating_sub(snapshot.elements.len()));
        if !untold.is_empty() {
            snapshot.cut.push(match (found, snapshot.marks.len()) {
                (0, _) => "no text and no shape is seen in the picture of what is not told; look at a screenshot, and \
                           click at points"
                    .into(),
                (all, shown) => format!(
                    "marks: {shown} of {all} texts and shapes that are seen in the picture of what is not told; the \
                     application tells nothing of them; click one by its ref, or look at a screenshot"
                ),
            });
        }
        if !whole {
            snapshot
                .cut
                .push("marks: the time was up before all was read, or there is too much; ask again, it goes on from here".into());
        }
        Ok(snapshot)
    }

    /// The windows in which the places lie that an application tells nothing of.
    async fn windows_of(&self, told: &Snapshot, clients: &[Client]) -> Result<Vec<Untold>, DesktopError> {
        let mut untold = Vec::new();
        for &place in &told.untold {
            let at = middle(&place);
            let cover = self.input.run(LOOK, move |input| input.session.cover_at(at, &input.own)).await?;
            let is_its = |pid: Option<u32>| pid.is_some() && pid == told.pid;
            // Popups are no clients; a window that another one covers is not on top.
            let popup = cover.filter(|cover| is_its(cover.pid)).map(|cover| cover.window);
            let below = || clients.iter().find(|client| is_its(client.pid) && client.rect.contains(at));
            let window = popup.or_else(|| below().map(|client| client.window));
            untold.extend(window.map(|window| Untold { window, app: told.app.clone(), place }));
        }
        Ok(untold)
    }

    async fn look_at_window(
        &self,
        window: Window,
        place: Option<&PhysicalRect>,
        enough: Duration,
    ) -> Result<WindowPicture, DesktopError> {
        let area = Area::Window(WindowId(window.into()));
        let (text, frame, viewport) =
            self.read(area, |viewport| place.map(|place| place.to_norm(&viewport.shows)), enough).await?;
        let (shows, display) = (viewport.shows, viewport.display);
        let pixels = |norm: f64, length: u32| (norm * f64::from(length) / 1000.0).round() as i32;
        let lines = text.lines.into_iter().map(|line| {
            let bounds = line.bounds;
            let at = PhysicalRect {
                x: display.x + pixels(bounds.x, display.width) - shows.x,
                y: display.y + pixels(bounds.y, display.height) - shows.y,
                width: pixels(bounds.width, display.width).unsigned_abs(),
                height: pixels(bounds.height, display.height).unsigned_abs(),
            };
            (line.text, at)
        });
        let texts: Vec<(String, PhysicalRect)> = lines.collect();
        let places: Vec<PhysicalRect> = texts.iter().map(|(_, at)| *at).collect();
        let part = place.unwrap_or(&shows);
        let part = PhysicalRect { x: part.x - shows.x, y: part.y - shows.y, ..*part };
        let shapes = tokio::task::spawn_blocking(move || pictures::shapes(&frame, &part, &places)).await;
        let shapes = shapes.map_err(|error| DesktopError::Failed(format!("look for shapes: {error}")))?;
        let whole = text.unread.is_none() && shapes.whole;
        Ok(WindowPicture { seen: together(texts, shapes.all), whole, shows })
    }

    pub(super) fn mark(&self, reference: &str) -> Option<KnownMark> {
        lock(&self.marks).find(reference).cloned()
    }

    /// `None` if its window names no process.
    pub(super) async fn owner_of_mark(&self, reference: &str) -> Option<Owner> {
        let mark = self.mark(reference)?;
        let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await.ok()?;
        let client = clients.iter().find(|client| u64::from(client.window) == mark.window)?;
        Some(Owner { app: mark.app, pid: client.pid? })
    }

    /// A click on a mark, once it is seen there again and nothing lies over it.
    pub(super) async fn click_mark(
        &self,
        reference: &str,
        action: &ElementAction,
        cancel: &CancellationToken,
    ) -> Result<Operated, DesktopError> {
        let Some(mark) = self.mark(reference) else {
            let message = format!("mark {reference} is not known; call elementsJson again for new refs");
            return Err(DesktopError::NotFound(message));
        };
        let called = mark.called();
        let &ElementAction::Click { button, count } = action else {
            return Err(DesktopError::BadInput(format!(
                "{called} is seen in a picture, and nothing more is known of it: click it with clickElement, then type"
            )));
        };
        let window = u32::try_from(mark.window).unwrap_or(0);
        let clients = self.ewmh.run(LOOK, |ewmh| ewmh.clients()).await?;
        let client = clients.iter().find(|client| client.window == window);
        client.map_or(Ok(()), |client| check_usable(&called, client, &clients))?;
        let now = self.look_at_window(window, client.map(|client| &client.inside), READING).await?;
        let seen = find_again(&mark, &now.seen)?;
        let at = middle(&moved(&seen.at, &now.shows));
        let cover = self.input.run(LOOK, move |input| input.session.cover_at(at, &input.own)).await?;
        if cover.as_ref().map(|cover| cover.window) != Some(window) {
            let cover = cover.map(|cover| format!(" by the window \"{}\"", cover.title)).unwrap_or_default();
            let message = format!("{called} is covered{cover}; bring its own window to the front first");
            return Err(DesktopError::BadInput(message));
        }
        let displays = self.capturer.run(LOOK, super::super::capture::Capturer::displays).await?;
        let (display, at) = on_display(at, &displays)?;
        let click = Action::Click { display, at, button, count, held: Vec::new() };
        let mut acted = self.act(click, cancel.clone()).await?;
        acted.note = format!("{}; only the picture tells what was clicked", acted.note);
        Ok(Operated { acted, called, at: Some(at), by: ActionMethod::Input })
    }
}

/// The window without a tree that is meant: by its name, the front one where none is named.
fn without_tree<'a>(
    told: &Result<Snapshot, DesktopError>,
    query: &ElementQuery,
    clients: &'a [Client],
) -> Option<&'a Client> {
    let is_untold = match told {
        Ok(_) => true,
        Err(error) => matches!(error, DesktopError::NotFound(_) | DesktopError::NotAvailable(_)),
    };
    let says = |text: &str, wanted: &Option<String>| {
        wanted.as_ref().is_none_or(|wanted| text.to_lowercase().contains(&wanted.trim().to_lowercase()))
    };
    let is_meant = |client: &&Client| {
        (says(&client.app, &query.app) || says(&client.title, &query.app))
            && says(&client.title, &query.window)
            && client.put_away().is_none()
    };
    let front = clients.iter().filter(is_meant).find(|client| client.is("focused"));
    front.or_else(|| clients.iter().find(is_meant)).filter(|_| is_untold && query.root.is_none())
}

fn told_nothing(client: &Client, mut cut: Vec<String>) -> (Snapshot, Vec<Untold>) {
    let Client { window, app, title, .. } = client;
    cut.push(format!("not told: what the window \"{title}\" shows: no accessibility tree has it"));
    let untold = Untold { window: *window, app: app.clone(), place: client.inside };
    (Snapshot { app: app.clone(), window: title.clone(), cut, ..Snapshot::default() }, vec![untold])
}

fn check_usable(called: &str, client: &Client, clients: &[Client]) -> Result<(), DesktopError> {
    let title = &client.title;
    if let Some(why) = client.put_away() {
        return Err(DesktopError::BadInput(format!("{called} is in the window \"{title}\", which {why}")));
    }
    match ewmh::modal_over(client, clients) {
        Some(dialog) => Err(DesktopError::BadInput(format!(
            "{called} is behind the dialog \"{}\"; answer that first",
            dialog.title
        ))),
        None => Ok(()),
    }
}

/// From pixels of a window to those of the screen.
fn moved(at: &PhysicalRect, window: &PhysicalRect) -> PhysicalRect {
    PhysicalRect { x: at.x + window.x, y: at.y + window.y, ..*at }
}

fn middle(rect: &PhysicalRect) -> PhysicalPoint {
    PhysicalPoint { x: rect.x + (rect.width / 2) as i32, y: rect.y + (rect.height / 2) as i32 }
}

/// A reader of pixels sees spaces where there are none, and the other way round.
fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn mentions(mark: &PictureMark, query: &ElementQuery) -> bool {
    let says = |wanted: &String| {
        [&mark.text, &mark.looks_like, &mark.beside]
            .into_iter()
            .any(|text| folded(text).contains(&folded(wanted)))
    };
    query.query.as_ref().is_none_or(says)
}

/// Whether an element says what is read at its place, or is as large as the shape there.
fn tells(element: &crate::Element, mark: &PictureMark) -> bool {
    let (x, y) = (mark.bounds.x + mark.bounds.width / 2.0, mark.bounds.y + mark.bounds.height / 2.0);
    let within = |at: f64, from: f64, length: f64| (from..from + length).contains(&at);
    let bounds = &element.bounds;
    let says = |text: &str| folded(text).contains(&folded(&mark.text));
    let is_the_same = if mark.text.is_empty() {
        bounds.width < 2.0 * mark.bounds.width && bounds.height < 2.0 * mark.bounds.height
    } else {
        says(&element.name) || says(&element.value)
    };
    within(x, bounds.x, bounds.width) && within(y, bounds.y, bounds.height) && is_the_same
}
