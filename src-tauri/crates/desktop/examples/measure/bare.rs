//! The yardstick of a picture: XShm into memory that is kept, libjpeg-turbo 4:2:0 at quality 85 on one thread, base64;
//! no dot, no hash, nobody's windows left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};
use x11rb::connection::Connection as _;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::ImageFormat;
use x11rb::rust_connection::RustConnection;

use crate::work::Failure;

pub struct Bare {
    conn: RustConnection,
    root: u32,
    segment: u32,
    memory: &'static [u8],
    width: u16,
    height: u16,
    compressor: Compressor,
}

impl Bare {
    pub fn open() -> Result<Self, Failure> {
        let (conn, number) = x11rb::connect(None)?;
        let screen = &conn.setup().roots[number];
        let (root, width, height) = (screen.root, screen.width_in_pixels, screen.height_in_pixels);
        let length = usize::from(width) * usize::from(height) * 4;
        let file = rustix::fs::memfd_create("bare", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, length as u64)?;
        let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
        #[expect(unsafe_code, reason = "mapping memory, which stays mapped until the program ends")]
        // SAFETY: a new mapping of a file of this length; the server writes to it only while we wait for it.
        let memory = unsafe {
            let start = rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &file, 0)?;
            std::slice::from_raw_parts(start.cast(), length)
        };
        let segment = conn.generate_id()?;
        conn.shm_attach_fd(segment, file, false)?.check()?;
        let mut compressor = Compressor::new()?;
        compressor.set_quality(85)?;
        compressor.set_subsamp(Subsamp::Sub2x2)?;
        Ok(Self { conn, root, segment, memory, width, height, compressor })
    }

    pub fn picture(&mut self) -> Result<String, Failure> {
        let (width, height) = (self.width, self.height);
        let format = u8::from(ImageFormat::Z_PIXMAP);
        self.conn.shm_get_image(self.root, 0, 0, width, height, !0, format, self.segment, 0)?.reply()?;
        let (width, height) = (usize::from(width), usize::from(height));
        let format = PixelFormat::BGRX;
        let image = Image { pixels: self.memory, width, pitch: width * 4, height, format };
        Ok(STANDARD.encode(&self.compressor.compress_to_owned(image)?))
    }
}
