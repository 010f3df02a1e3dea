//! Reading pixels out of the X server: by XShm into memory that both see and that is kept, else over the socket.

use std::ffi::c_void;
use std::os::fd::OwnedFd;

use pictures::{Frame, Order};
use protocol::geometry::PhysicalRect;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use x11rb::connection::Connection as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, ImageFormat};

use super::session::Session;
use crate::DesktopError;

/// Where pixels land.
#[derive(Default)]
pub(super) struct FrameBuffer {
    segment: Option<Segment>,
    /// Shared memory was tried and refused: a remote display.
    without_shm: bool,
    /// What came over the socket.
    received: Vec<u8>,
}

struct Segment {
    id: shm::Seg,
    memory: Memory,
}

impl FrameBuffer {
    /// The pixels of a part of a drawable; overwritten by the next ones.
    pub(super) fn read(
        &mut self,
        session: &Session,
        from: Drawable,
        area: PhysicalRect,
    ) -> Result<Frame<&mut [u8]>, DesktopError> {
        let part = Part::of(area)?;
        if !self.without_shm {
            match self.read_shared(session, from, &part) {
                Ok(()) => {}
                Err(error) if !session.is_alive() => return Err(error),
                // What cannot be read at all is no fault of the memory's.
                Err(error) if self.segment.is_some() => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "no shared memory with the X server; reading over the socket");
                    self.without_shm = true;
                }
            }
        }
        let size = part.bytes();
        let pixels = match &mut self.segment {
            Some(segment) if !self.without_shm => segment.memory.bytes(size)?,
            _ => {
                let Part { x, y, width, height } = part;
                let asked = session.conn.get_image(ImageFormat::Z_PIXMAP, from, x, y, width, height, !0)?;
                self.received = asked.reply()?.data;
                &mut self.received
            }
        };
        let (width, height) = (u32::from(part.width), u32::from(part.height));
        Ok(Frame { width, height, order: Order::Bgrx, pixels })
    }

    fn read_shared(&mut self, session: &Session, from: Drawable, part: &Part) -> Result<(), DesktopError> {
        let size = part.bytes();
        let segment = match self.segment.take() {
            Some(segment) if segment.memory.length >= size => segment,
            Some(small) => {
                session.conn.shm_detach(small.id)?;
                share(session, size)?
            }
            None => share(session, size)?,
        };
        let Segment { id, .. } = *self.segment.insert(segment);
        let Part { x, y, width, height } = *part;
        let format = u8::from(ImageFormat::Z_PIXMAP);
        session.conn.shm_get_image(from, x, y, width, height, !0, format, id, 0)?.reply()?;
        Ok(())
    }
}

fn share(session: &Session, size: usize) -> Result<Segment, DesktopError> {
    if !session.has(shm::X11_EXTENSION_NAME) {
        return Err(DesktopError::NotAvailable("the X server has no MIT-SHM".into()));
    }
    // Descriptors may be passed from version 1.2 on, and only over a local socket.
    session.conn.shm_query_version()?.reply()?;
    let (memory, theirs) = Memory::new(size)?;
    let id = session.conn.generate_id()?;
    session.conn.shm_attach_fd(id, theirs, false)?.check()?;
    Ok(Segment { id, memory })
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> DesktopError {
    DesktopError::Failed(format!("{what} the memory for the screen's picture: {error}"))
}

/// Memory that the X server sees too. It writes only while it answers a request, which we wait for.
struct Memory {
    start: *mut c_void,
    length: usize,
}

#[expect(
    unsafe_code,
    reason = "the mapping is reached from wherever its owner is; nothing in it is bound to a thread"
)]
// SAFETY: the pointer is to a mapping of this process, valid on each of its threads, and `Memory` is its only owner.
unsafe impl Send for Memory {}

impl Memory {
    /// With the descriptor that is the server's.
    fn new(length: usize) -> Result<(Self, OwnedFd), DesktopError> {
        let file = rustix::fs::memfd_create("miki-capture", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .map_err(|error| failed("create", &error))?;
        rustix::fs::ftruncate(&file, length as u64).map_err(|error| failed("size", &error))?;
        // Nobody may cut it short below our mapping.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)
            .map_err(|error| failed("seal", &error))?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        #[expect(unsafe_code, reason = "mapping memory")]
        // SAFETY: the kernel chooses the address, so that nothing of ours is mapped over; the file has this length.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &file, 0) }
                .map_err(|error| failed("map", &error))?;
        Ok((Self { start, length }, file))
    }

    /// The first `length` bytes.
    fn bytes(&mut self, length: usize) -> Result<&mut [u8], DesktopError> {
        if length > self.length {
            return Err(failed("read", &"it is too small"));
        }
        #[expect(unsafe_code, reason = "reading mapped memory")]
        // SAFETY: mapped for as long as `self` lives, sealed against shrinking, borrowed from `self` as a whole; the
        // server writes only between our request and its reply, and then no such borrow exists.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start.cast(), length) })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "unmapping memory")]
        // SAFETY: this very mapping, which nothing borrows any more.
        let unmapped = unsafe { rustix::mm::munmap(self.start, self.length) };
        if let Err(error) = unmapped {
            tracing::debug!(%error, "the memory for the screen's picture stays mapped");
        }
    }
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
        let out = |_| DesktopError::Failed(format!("an area of {}x{} is too large", area.width, area.height));
        Ok(Self {
            x: i16::try_from(area.x).map_err(out)?,
            y: i16::try_from(area.y).map_err(out)?,
            width: u16::try_from(area.width).map_err(out)?,
            height: u16::try_from(area.height).map_err(out)?,
        })
    }

    fn bytes(&self) -> usize {
        usize::from(self.width) * usize::from(self.height) * 4
    }
}
