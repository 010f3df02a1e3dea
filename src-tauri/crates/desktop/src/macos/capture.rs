//! Pixels by ScreenCaptureKit, on macOS 14 and later: our own windows are left out by its filter.
#![expect(unsafe_code, reason = "Apple's capture interface; each block says what makes it sound")]

use std::sync::mpsc;
use std::time::Duration;

use block2::RcBlock;
use objc2::AnyThread as _;
use objc2::rc::Retained;
use objc2::runtime::AnyClass;
use objc2_core_foundation::CFRetained;
use objc2_core_graphics::{CGDataProvider, CGImage};
use objc2_foundation::{NSArray, NSError};
use objc2_screen_capture_kit::{
    SCContentFilter, SCScreenshotManager, SCShareableContent, SCStreamConfiguration, SCWindow,
};
use pictures::{Frame, Order};

use super::permission;
use crate::DesktopError;
use crate::portable::Capture;
use crate::portable::scene::Own;

/// For the capture service to answer; it hangs now and then.
const PATIENCE: Duration = Duration::from_secs(4);

/// Moves a retained object of Apple's to the thread that waits for it.
struct Sent<T>(T);

// SAFETY: what is sent is immutable and its reference counts are atomic, as Apple's documentation of SCShareableContent
// and CGImage says; it is used on one thread after the other, never on two.
unsafe impl<T> Send for Sent<T> {}

/// Whether this macOS has it.
pub(super) fn is_there() -> bool {
    AnyClass::get(c"SCScreenshotManager").is_some()
}

pub(super) fn take(wish: &Capture, own: &Own) -> Result<Frame, DesktopError> {
    permission::recording()?;
    let content = content()?;
    let (Capture::Display { width, height, .. } | Capture::Window { width, height, .. }) = *wish;
    let filter = filter(&content, wish, own)?;
    // SAFETY: a new object of our own; sizes are in pixels, and the pointer is drawn by nobody but the user's screen.
    let configuration = unsafe {
        let configuration = SCStreamConfiguration::new();
        configuration.setWidth(width as usize);
        configuration.setHeight(height as usize);
        configuration.setShowsCursor(false);
        configuration
    };
    let (sender, answer) = mpsc::sync_channel(1);
    let done = RcBlock::new(move |image: *mut CGImage, error: *mut NSError| {
        let result = match std::ptr::NonNull::new(image) {
            // SAFETY: the image is alive for the length of this call; retaining it keeps it.
            Some(image) => Ok(Sent(unsafe { CFRetained::retain(image) })),
            None => Err(said(error)),
        };
        let _late = sender.try_send(result);
    });
    // SAFETY: filter, configuration and block live until the call returns, and the block is retained by it.
    unsafe {
        SCScreenshotManager::captureImageWithFilter_configuration_completionHandler(
            &filter,
            &configuration,
            Some(&done),
        );
    }
    let image = answer.recv_timeout(PATIENCE).map_err(|_| DesktopError::Timeout(PATIENCE))??;
    pixels(&image.0)
}

fn content() -> Result<Retained<SCShareableContent>, DesktopError> {
    let (sender, answer) = mpsc::sync_channel(1);
    let done = RcBlock::new(move |content: *mut SCShareableContent, error: *mut NSError| {
        // SAFETY: the content is alive for the length of this call; retaining it keeps it.
        let result = unsafe { Retained::retain(content) }.map(Sent).ok_or_else(|| said(error));
        let _late = sender.try_send(result);
    });
    // SAFETY: the block lives until the call returns, and is retained by it.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, true, &done,
        );
    }
    let content = answer.recv_timeout(PATIENCE).map_err(|_| DesktopError::Timeout(PATIENCE))??;
    Ok(content.0)
}

fn filter(
    content: &SCShareableContent,
    wish: &Capture,
    own: &Own,
) -> Result<Retained<SCContentFilter>, DesktopError> {
    let gone = |what: &str, id: u32| DesktopError::NotFound(format!("{what} {id} in the capture service"));
    // SAFETY: reads properties of living, immutable objects, and makes a filter of our own out of them.
    unsafe {
        match *wish {
            Capture::Display { id, .. } => {
                let displays = content.displays();
                let display = displays
                    .iter()
                    .find(|display| display.displayID() == id)
                    .ok_or_else(|| gone("display", id))?;
                let ours: Vec<Retained<SCWindow>> =
                    content.windows().iter().filter(|window| is_ours(window, own)).collect();
                let ours = NSArray::from_retained_slice(&ours);
                Ok(SCContentFilter::initWithDisplay_excludingWindows(
                    SCContentFilter::alloc(),
                    &display,
                    &ours,
                ))
            }
            Capture::Window { id, .. } => {
                let windows = content.windows();
                let window = windows
                    .iter()
                    .find(|window| window.windowID() == id)
                    .ok_or_else(|| gone("window", id))?;
                Ok(SCContentFilter::initWithDesktopIndependentWindow(SCContentFilter::alloc(), &window))
            }
        }
    }
}

fn is_ours(window: &SCWindow, own: &Own) -> bool {
    // SAFETY: reads properties of a living, immutable object.
    unsafe {
        let pid = window.owningApplication().and_then(|app| u32::try_from(app.processID()).ok());
        pid.is_some_and(|pid| own.is(pid))
    }
}

fn said(error: *mut NSError) -> DesktopError {
    // SAFETY: null, or an error that is alive for the length of the callback.
    let error = unsafe { error.as_ref() };
    let said =
        error.map_or_else(|| "no reason given".into(), |error| error.localizedDescription().to_string());
    DesktopError::Failed(format!("ScreenCaptureKit: {said}"))
}

/// The image's rows without the gaps between them; ScreenCaptureKit's pixels are BGRA.
fn pixels(image: &CGImage) -> Result<Frame, DesktopError> {
    let (width, height) = (CGImage::width(Some(image)), CGImage::height(Some(image)));
    let row = CGImage::bytes_per_row(Some(image));
    let short = || DesktopError::Failed("ScreenCaptureKit's picture has no pixels".into());
    let provider = CGImage::data_provider(Some(image)).ok_or_else(short)?;
    let bytes = CGDataProvider::data(Some(&provider)).ok_or_else(short)?.to_vec();
    let mut pixels = Vec::with_capacity(width * height * 4);
    for line in 0..height {
        let start = line * row;
        pixels.extend_from_slice(bytes.get(start..start + width * 4).ok_or_else(short)?);
    }
    let side = |length: usize| u32::try_from(length).map_err(|_| short());
    Ok(Frame { width: side(width)?, height: side(height)?, order: Order::Bgrx, pixels })
}
