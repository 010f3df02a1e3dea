//! The screen, a window or a region as raw pixels, our own windows left out.
//!
//! Where no window of ours is in view, the root window is read as it is. Where one is, the screen is composed anew
//! from the others (`compose.rs`); so is a window that others cover. Only a server without Composite leaves us to
//! hatch our windows' places; there the overlay cannot be transparent either, and the shell keeps it hidden.

use pictures::{Encoder, Frame, Picture, Thumbnail, Viewport};
use protocol::geometry::PhysicalRect;
use protocol::view::{CheckView, DisplayView};
use x11rb::connection::Connection as _;
use x11rb::protocol::screensaver::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, ImageOrder, Window};

use super::checks;
use super::compose::Composer;
use super::session::Session;
use super::shared::FrameBuffer;
use super::windows::{Own, Top, overlap};
use crate::shot::region;
use crate::worker::WorkerState;
use crate::{Area, DesktopError, Shot, WindowId, locked};

/// What capturing keeps open.
pub(super) struct Capturer {
    session: Session,
    own: Own,
    buffer: FrameBuffer,
    composer: Option<Composer>,
    encoder: Encoder,
}

impl WorkerState for Capturer {
    fn is_alive(&self) -> bool {
        self.session.is_alive()
    }
}

impl Capturer {
    pub(super) fn open(display: Option<&str>, own: Own) -> Result<Self, DesktopError> {
        let session = Session::connect(display)?;
        check_format(&session)?;
        let composer = Composer::open(&session)?;
        Ok(Self { session, own, buffer: FrameBuffer::default(), composer, encoder: Encoder::default() })
    }

    pub(super) fn displays(&mut self) -> Result<Vec<DisplayView>, DesktopError> {
        self.session.displays()
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn checks(&self) -> Vec<CheckView> {
        checks::of_display(Ok(&self.session))
    }

    pub(super) fn photograph(&mut self, shot: &Shot) -> Result<Picture, DesktopError> {
        let Self { session, own, buffer, composer, encoder } = self;
        let (mut frame, viewport) = look(session, own, buffer, composer.as_mut(), &shot.area)?;
        Ok(encoder.encode(&mut frame, viewport, &shot.style())?)
    }

    pub(super) fn thumbnail(&mut self, area: &Area) -> Result<Thumbnail, DesktopError> {
        let Self { session, own, buffer, composer, encoder } = self;
        let (frame, _) = look(session, own, buffer, composer.as_mut(), area)?;
        Ok(encoder.thumbnail(&frame)?)
    }

    pub(super) fn is_blanked(&self) -> bool {
        is_blanked(&self.session)
    }

    /// An area as it is now, without our own windows.
    pub(super) fn look(&mut self, area: &Area) -> Result<(Frame<&mut [u8]>, Viewport), DesktopError> {
        look(&self.session, &self.own, &mut self.buffer, self.composer.as_mut(), area)
    }
}

fn look<'p>(
    session: &Session,
    own: &Own,
    buffer: &'p mut FrameBuffer,
    composer: Option<&mut Composer>,
    area: &Area,
) -> Result<(Frame<&'p mut [u8]>, Viewport), DesktopError> {
    if is_blanked(session) {
        return Err(locked());
    }
    let viewport = match area {
        Area::Display(display) => Viewport::whole(session.display(*display)?),
        Area::Region { display, rect } => {
            let display = session.display(*display)?;
            Viewport { shows: region(rect, &display)?, display }
        }
        Area::Window(window) => return look_at_window(session, own, buffer, composer, *window),
    };
    let area = viewport.shows;
    let tops = session.tops(own)?;
    let ours = |top: &&Top| top.own.is_some() && overlap(&top.rect, &area);
    if !tops.iter().any(|top| ours(&top)) {
        return Ok((buffer.read(session, session.root, area)?, viewport));
    }
    if let Some(composer) = composer {
        let composed = composer.compose(session, &tops, own, area, |top| top.own.is_none())?;
        return Ok((read_composed(session, buffer, composed, area)?, viewport));
    }
    let mut hidden = Vec::new();
    for top in tops.iter().filter(ours) {
        if !session.is_click_through(top.own.unwrap_or(top.window))? {
            hidden.push(top.rect);
        }
    }
    let mut frame = buffer.read(session, session.root, area)?;
    for rect in hidden {
        hatch(&mut frame, &area, &rect);
    }
    Ok((frame, viewport))
}

/// One window with its frame: read from the screen where it is wholly in view, else from what the server keeps of it.
fn look_at_window<'p>(
    session: &Session,
    own: &Own,
    buffer: &'p mut FrameBuffer,
    composer: Option<&mut Composer>,
    id: WindowId,
) -> Result<(Frame<&'p mut [u8]>, Viewport), DesktopError> {
    let tops = session.tops(own)?;
    let framed = u32::try_from(id.0).ok().and_then(|window| session.top_of(window));
    let Some(framed) = framed else {
        let there = session.windows_by_name(&tops)?;
        return Err(DesktopError::NotFound(format!(
            "window {}; it may have been closed; there are {there}",
            id.0
        )));
    };
    let Some(at) = tops.iter().position(|top| top.window == framed) else {
        let message = format!(
            "a picture of window {}: it is minimized or on another workspace; restore it first",
            id.0
        );
        return Err(DesktopError::NotFound(message));
    };
    let (top, above) = (&tops[at], &tops[at + 1..]);
    if top.own.is_some() {
        return Err(DesktopError::Forbidden(format!("window {} is Miki's own, and in no picture", id.0)));
    }
    let display = shown_on(session, &top.rect)?;
    let viewport = Viewport { shows: top.rect, display };
    let is_covered = above.iter().any(|other| overlap(&other.rect, &top.rect));
    let pixels = if !is_covered && session.shows_whole(&top.rect)? {
        buffer.read(session, session.root, top.rect)
    } else if let Some(composer) = composer {
        let is_it = |top: &Top| top.window == framed;
        let composed = composer.compose(session, &tops, own, top.rect, is_it)?;
        read_composed(session, buffer, composed, top.rect)
    } else {
        Err(DesktopError::NotAvailable(format!(
            "window {} is not wholly in view, and the X server lacks Composite, Render or XFixes; bring it to the front",
            id.0
        )))
    };
    // It may have closed between two requests; then what was read is not it.
    match pixels {
        Ok(frame) if session.top_of(framed).is_some() => Ok((frame, viewport)),
        Err(error) if session.top_of(framed).is_some() || !session.is_alive() => Err(error),
        Ok(_) | Err(_) => {
            Err(DesktopError::NotFound(format!("window {}: it was closed while its picture was taken", id.0)))
        }
    }
}

fn read_composed<'p>(
    session: &Session,
    buffer: &'p mut FrameBuffer,
    composed: u32,
    area: PhysicalRect,
) -> Result<Frame<&'p mut [u8]>, DesktopError> {
    let frame = buffer.read(session, composed, PhysicalRect { x: 0, y: 0, ..area });
    session.conn.free_pixmap(composed)?;
    frame
}

/// The display that shows most of a rectangle; the first where none does.
fn shown_on(session: &Session, rect: &PhysicalRect) -> Result<PhysicalRect, DesktopError> {
    let displays = session.displays()?;
    let shared = |display: &&DisplayView| {
        let along = |from: i32, length: u32, other: i32, others: u32| {
            let end = (i64::from(from) + i64::from(length)).min(i64::from(other) + i64::from(others));
            (end - i64::from(from.max(other))).max(0)
        };
        let bounds = display.bounds;
        along(rect.x, rect.width, bounds.x, bounds.width)
            * along(rect.y, rect.height, bounds.y, bounds.height)
    };
    // The first of equals: `max_by_key` would take the last.
    let most = displays.iter().rev().max_by_key(shared);
    most.map(|display| display.bounds).ok_or_else(|| DesktopError::NotFound("a display".into()))
}

impl Session {
    /// The child of the root window that this window is in, or is; `None` if it is gone.
    pub(super) fn top_of(&self, window: Window) -> Option<Window> {
        let mut at = window;
        // Frames nest a few deep; more is a loop between two looks.
        for _ in 0..16 {
            let tree = self.conn.query_tree(at).ok()?.reply().ok()?;
            match tree.parent {
                0 => return None,
                parent if parent == self.root => return Some(at),
                parent => at = parent,
            }
        }
        None
    }

    fn shows_whole(&self, rect: &PhysicalRect) -> Result<bool, DesktopError> {
        let root = self.conn.get_geometry(self.root)?.reply()?;
        let fits = |from: i32, length: u32, most: u16| from >= 0 && from as u32 + length <= u32::from(most);
        Ok(fits(rect.x, rect.width, root.width) && fits(rect.y, rect.height, root.height))
    }
}

/// Only what X itself knows: a screen saver that is on, which lockers start with or follow.
fn is_blanked(session: &Session) -> bool {
    let saver = || session.conn.screensaver_query_info(session.root).ok()?.reply().ok();
    session.has(screensaver::X11_EXTENSION_NAME)
        && saver().is_some_and(|saver| saver.state == u8::from(screensaver::State::ON))
}

/// We read 32 bits a pixel, blue first: what every X server of today has.
fn check_format(session: &Session) -> Result<(), DesktopError> {
    let setup = session.conn.setup();
    let screen = setup.roots.iter().find(|screen| screen.root == session.root);
    let depth = screen.map_or(0, |screen| screen.root_depth);
    let bits = setup.pixmap_formats.iter().find(|format| format.depth == depth).map(|f| f.bits_per_pixel);
    if setup.image_byte_order == ImageOrder::LSB_FIRST && bits == Some(32) && matches!(depth, 24 | 32) {
        return Ok(());
    }
    Err(DesktopError::NotAvailable(format!(
        "the X screen has {depth} bits of colour; set it to 24 (for Xvfb: -screen 0 1920x1080x24)"
    )))
}

/// Grey stripes where a window of ours is.
fn hatch(frame: &mut Frame<&mut [u8]>, area: &PhysicalRect, window: &PhysicalRect) {
    let within = |value: i32, most: u32| value.clamp(0, most as i32) as usize;
    let left = within(window.x - area.x, frame.width);
    let right = within(window.x - area.x + window.width as i32, frame.width);
    let top = within(window.y - area.y, frame.height);
    let bottom = within(window.y - area.y + window.height as i32, frame.height);
    for y in top..bottom {
        for x in left..right {
            let grey = if (x + y) / 8 % 2 == 0 { 96 } else { 128 };
            let start = (y * frame.width as usize + x) * 4;
            if let Some(pixel) = frame.pixels.get_mut(start..start + 3) {
                pixel.fill(grey);
            }
        }
    }
}

#[cfg(test)]
mod tests;
