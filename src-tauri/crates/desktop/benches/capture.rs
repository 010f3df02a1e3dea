//! Screen -> red dot -> JPEG q85 -> base64 at full size, against the bare parts: XShm into memory that is kept,
//! libjpeg-turbo 4:2:0 on one thread, base64. Prints one line of JSON; needs `DISPLAY`.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::time::Instant;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use desktop::{Options, Shot};
    use protocol::geometry::{NormPoint, PixelSize};
    use x11rb::connection::Connection as _;
    use x11rb::protocol::shm::ConnectionExt as _;
    use x11rb::protocol::xproto::ImageFormat;

    const ROUNDS: usize = 60;

    pub fn main() {
        match measure() {
            Ok((ours, bare)) => {
                let ratio = ours / bare;
                println!(
                    r#"{{"ours_ms":{ours:.2},"bare_ms":{bare:.2},"ratio":{ratio:.3},"rounds":{ROUNDS}}}"#
                );
            }
            Err(error) => {
                eprintln!("capture bench: {error}");
                std::process::exit(1);
            }
        }
    }

    /// Medians in milliseconds; taken by turns, so that a busy machine is busy for both.
    fn measure() -> Result<(f64, f64), Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let desktop = desktop::open(Options { failsafe: false, ..Options::default() });
        let mut bare = Bare::open()?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS + 5 {
            let begun = Instant::now();
            let dot = Some(NormPoint::new(400.0, 300.0)?);
            let max = PixelSize { width: u32::MAX, height: u32::MAX };
            let shot = Shot { dot, ..Shot::of_display(0, max, 85) };
            let picture = runtime.block_on(desktop.screenshot(shot))?;
            std::hint::black_box(STANDARD.encode(&picture.jpeg));
            ours.push(begun.elapsed().as_secs_f64() * 1e3);
            let begun = Instant::now();
            std::hint::black_box(bare.picture()?);
            theirs.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok((median(&ours[5..]), median(&theirs[5..])))
    }

    fn median(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    struct Bare {
        conn: x11rb::rust_connection::RustConnection,
        root: u32,
        segment: u32,
        memory: &'static [u8],
        width: u16,
        height: u16,
    }

    impl Bare {
        fn open() -> Result<Self, Box<dyn Error>> {
            let (conn, number) = x11rb::connect(None)?;
            let screen = &conn.setup().roots[number];
            let (root, width, height) = (screen.root, screen.width_in_pixels, screen.height_in_pixels);
            let length = usize::from(width) * usize::from(height) * 4;
            let file = rustix::fs::memfd_create("bench", rustix::fs::MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&file, length as u64)?;
            let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
            #[expect(unsafe_code, reason = "mapping memory, which stays mapped until the bench ends")]
            // SAFETY: a new mapping of a file of this length; the server writes to it only while we wait for it.
            let memory = unsafe {
                let start = rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &file, 0)?;
                std::slice::from_raw_parts(start.cast(), length)
            };
            let segment = conn.generate_id()?;
            conn.shm_attach_fd(segment, file, false)?.check()?;
            Ok(Self { conn, root, segment, memory, width, height })
        }

        fn picture(&mut self) -> Result<String, Box<dyn Error>> {
            let (width, height) = (self.width, self.height);
            let format = u8::from(ImageFormat::Z_PIXMAP);
            self.conn.shm_get_image(self.root, 0, 0, width, height, !0, format, self.segment, 0)?.reply()?;
            let mut compressor = turbojpeg::Compressor::new()?;
            compressor.set_quality(85)?;
            compressor.set_subsamp(turbojpeg::Subsamp::Sub2x2)?;
            let (width, height) = (usize::from(width), usize::from(height));
            let format = turbojpeg::PixelFormat::BGRX;
            let image = turbojpeg::Image { pixels: self.memory, width, pitch: width * 4, height, format };
            Ok(STANDARD.encode(&compressor.compress_to_owned(image)?))
        }
    }
}
