//! The screen as raw pixels: by XShm into a segment that is kept, our own windows left out.
//!
//! Where no window of ours is in view, the root window is read as it is. Where one is, the screen is composed anew
//! from the others (`compose.rs`). Only a server without Composite leaves us to hatch our windows' places; there
//! the overlay cannot be transparent either, and the shell keeps it hidden.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use protocol::geometry::PhysicalRect;
use protocol::view::{CheckView, DisplayView};
use x11rb::connection::Connection as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, ImageFormat, ImageOrder};

use super::checks;
use super::compose::Composer;
use super::session::Session;
use super::windows::{Own, Top, overlap};
use crate::DesktopError;
use crate::lane::Kept;
use crate::picture::{Frame, Order};

/// What capturing keeps open.
pub(super) struct Eye {
    session: Session,
    own: Own,
    segment: Option<Segment>,
    /// Shared memory was tried and refused: a remote display.
    without_shm: bool,
    composer: Option<Composer>,
}

/// Memory shared with the server. It is read through its file, which needs no unsafe mapping here.
struct Segment {
    id: shm::Seg,
    file: File,
    size: u64,
}

impl Kept for Eye {
    fn is_alive(&self) -> bool {
        self.session.is_alive()
    }
}

impl Eye {
    pub(super) fn open(display: Option<&str>, own: Own) -> Result<Self, DesktopError> {
        let session = Session::connect(display)?;
        check_format(&session)?;
        let composer = Composer::open(&session)?;
        Ok(Self { session, own, segment: None, without_shm: false, composer })
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

    /// One display as it is now, without our own windows.
    pub(super) fn look(&mut self, display: u32) -> Result<(Frame, PhysicalRect), DesktopError> {
        let area = self.session.display(display)?;
        Ok((self.look_at(area)?, area))
    }

    fn look_at(&mut self, area: PhysicalRect) -> Result<Frame, DesktopError> {
        let tops = self.session.tops(&self.own)?;
        let ours = |top: &&Top| top.own.is_some() && overlap(&top.rect, &area);
        if !tops.iter().any(|top| ours(&top)) {
            return self.read(self.session.root, area);
        }
        if let Some(composer) = &mut self.composer {
            let composed = composer.compose(&self.session, &tops, &self.own, area)?;
            let read = self.read(composed, PhysicalRect { x: 0, y: 0, ..area });
            self.session.conn.free_pixmap(composed)?;
            return read;
        }
        let mut frame = self.read(self.session.root, area)?;
        for top in tops.iter().filter(ours) {
            if !self.session.is_click_through(top.own.unwrap_or(top.window))? {
                hatch(&mut frame, &area, &top.rect);
            }
        }
        Ok(frame)
    }

    fn read(&mut self, from: Drawable, area: PhysicalRect) -> Result<Frame, DesktopError> {
        let part = Part::of(area)?;
        if !self.without_shm {
            match self.read_shared(from, &part) {
                Ok(pixels) => return Ok(part.frame(pixels)),
                Err(error) if !self.session.is_alive() => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "no shared memory with the X server; reading over the socket");
                    self.without_shm = true;
                }
            }
        }
        let Part { x, y, width, height } = part;
        let reply =
            self.session.conn.get_image(ImageFormat::Z_PIXMAP, from, x, y, width, height, !0)?.reply()?;
        Ok(part.frame(reply.data))
    }

    fn read_shared(&mut self, from: Drawable, part: &Part) -> Result<Vec<u8>, DesktopError> {
        let size = part.bytes();
        let segment = match self.segment.take() {
            Some(segment) if segment.size >= size => segment,
            Some(small) => {
                self.session.conn.shm_detach(small.id)?;
                share(&self.session, size)?
            }
            None => share(&self.session, size)?,
        };
        let Segment { id, .. } = *self.segment.insert(segment);
        let Part { x, y, width, height } = *part;
        let format = u8::from(ImageFormat::Z_PIXMAP);
        self.session.conn.shm_get_image(from, x, y, width, height, !0, format, id, 0)?.reply()?;
        let mut pixels = vec![0; size as usize];
        if let Some(segment) = &self.segment {
            segment.file.read_exact_at(&mut pixels, 0).map_err(|error| failed("read", &error))?;
        }
        Ok(pixels)
    }
}

fn share(session: &Session, size: u64) -> Result<Segment, DesktopError> {
    if !session.has(shm::X11_EXTENSION_NAME) {
        return Err(DesktopError::NotAvailable("the X server has no MIT-SHM".into()));
    }
    // Descriptors may be passed from version 1.2 on, and only over a local socket.
    session.conn.shm_query_version()?.reply()?;
    let memory = rustix::fs::memfd_create("miki-capture", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| failed("create", &error))?;
    let file = File::from(memory);
    file.set_len(size).map_err(|error| failed("size", &error))?;
    let theirs = file.try_clone().map_err(|error| failed("share", &error))?;
    let id = session.conn.generate_id()?;
    session.conn.shm_attach_fd(id, std::os::fd::OwnedFd::from(theirs), false)?.check()?;
    Ok(Segment { id, file, size })
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> DesktopError {
    DesktopError::Failed(format!("{what} the memory for the screen's picture: {error}"))
}

/// A rectangle in the protocol's small numbers.
#[derive(Clone, Copy)]
struct Part {
    x: i16,
    y: i16,
    width: u16,
    height: u16,
}

impl Part {
    fn of(area: PhysicalRect) -> Result<Self, DesktopError> {
        let out =
            |_| DesktopError::Failed(format!("a display of {}x{} is too large", area.width, area.height));
        Ok(Self {
            x: i16::try_from(area.x).map_err(out)?,
            y: i16::try_from(area.y).map_err(out)?,
            width: u16::try_from(area.width).map_err(out)?,
            height: u16::try_from(area.height).map_err(out)?,
        })
    }

    fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * 4
    }

    fn frame(&self, pixels: Vec<u8>) -> Frame {
        Frame { width: u32::from(self.width), height: u32::from(self.height), order: Order::Bgrx, pixels }
    }
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
fn hatch(frame: &mut Frame, area: &PhysicalRect, window: &PhysicalRect) {
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
mod tests {
    use super::*;

    #[test]
    fn hatching_stays_within_the_display() {
        let area = PhysicalRect { x: 100, y: 0, width: 20, height: 20 };
        let mut frame = Frame { width: 20, height: 20, order: Order::Bgrx, pixels: vec![0; 1600] };
        hatch(&mut frame, &area, &PhysicalRect { x: 90, y: -5, width: 15, height: 10 });
        let grey = frame.pixels.chunks(4).filter(|pixel| pixel[0] != 0).count();
        assert_eq!(grey, 5 * 5);
    }
}
