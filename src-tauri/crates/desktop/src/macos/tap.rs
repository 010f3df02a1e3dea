//! Hears the user's own mouse and keys: an event tap that only listens. What we sent ourselves carries enigo's mark.
#![expect(unsafe_code, reason = "a C callback; each block says what makes it sound")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use objc2_core_foundation::{CFMachPort, CFRunLoop, kCFRunLoopDefaultMode};
use objc2_core_graphics::{
    CGEvent, CGEventField, CGEventTapLocation, CGEventTapOptions, CGEventTapPlacement, CGEventTapProxy,
    CGEventType,
};
use protocol::geometry::PhysicalPoint;

use crate::DesktopError;
use crate::portable::Listening;
use crate::portable::watch::{Heard, Way};

/// Between two looks whether listening has ended.
const TURN: f64 = 0.25;
/// Escape's key code on every Apple keyboard.
const ESCAPE: i64 = 53;
const HEARD: [CGEventType; 10] = [
    CGEventType::MouseMoved,
    CGEventType::LeftMouseDragged,
    CGEventType::RightMouseDragged,
    CGEventType::OtherMouseDragged,
    CGEventType::LeftMouseDown,
    CGEventType::RightMouseDown,
    CGEventType::OtherMouseDown,
    CGEventType::ScrollWheel,
    CGEventType::KeyDown,
    CGEventType::KeyUp,
];

struct Ears {
    end: Arc<AtomicBool>,
}

impl Listening for Ears {}

impl Drop for Ears {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
    }
}

/// What the callback finds by its pointer.
struct Context {
    hear: Box<dyn Fn(Heard) + Send>,
}

pub(super) fn listen(hear: Box<dyn Fn(Heard) + Send>) -> Result<Box<dyn Listening>, DesktopError> {
    let end = Arc::new(AtomicBool::new(false));
    let (opened, answer) = mpsc::sync_channel(1);
    let ended = Arc::clone(&end);
    let work = move || run(hear, &ended, &opened);
    std::thread::Builder::new()
        .name("desktop-user".into())
        .spawn(work)
        .map_err(|error| DesktopError::Failed(format!("start the listening thread: {error}")))?;
    match answer.recv() {
        Ok(true) => Ok(Box::new(Ears { end })),
        Ok(false) | Err(_) => Err(DesktopError::Permission {
            what: "macOS does not let Miki hear the user's own mouse and keys".into(),
            remedy:
                "allow Miki in System Settings > Privacy & Security > Input Monitoring, then start Miki again"
                    .into(),
        }),
    }
}

fn run(hear: Box<dyn Fn(Heard) + Send>, end: &AtomicBool, opened: &mpsc::SyncSender<bool>) {
    let context = Box::new(Context { hear });
    let mask = HEARD.iter().fold(0_u64, |mask, kind| mask | 1 << kind.0);
    // SAFETY: the context outlives the tap, which is invalidated below before the context is dropped, and the
    // callback runs on this thread only, in the run loop below.
    let tap = unsafe {
        CGEvent::tap_create(
            CGEventTapLocation::SessionEventTap,
            CGEventTapPlacement::HeadInsertEventTap,
            CGEventTapOptions::ListenOnly,
            mask,
            Some(on_event),
            ptr::from_ref(&*context).cast_mut().cast(),
        )
    };
    let source = tap.as_ref().and_then(|tap| CFMachPort::new_run_loop_source(None, Some(tap), 0));
    let (Some(tap), Some(source), Some(run_loop)) = (tap, source, CFRunLoop::current()) else {
        let _gone = opened.send(false);
        return;
    };
    // SAFETY: a constant of the system's.
    let mode = unsafe { kCFRunLoopDefaultMode };
    run_loop.add_source(Some(&source), mode);
    CGEvent::tap_enable(&tap, true);
    let _gone = opened.send(true);
    while !end.load(Ordering::SeqCst) {
        CFRunLoop::run_in_mode(mode, TURN, false);
        // macOS turns off a tap that was slow once.
        CGEvent::tap_enable(&tap, true);
    }
    run_loop.remove_source(Some(&source), mode);
    tap.invalidate();
}

unsafe extern "C-unwind" fn on_event(
    _: CGEventTapProxy,
    kind: CGEventType,
    event: NonNull<CGEvent>,
    context: *mut c_void,
) -> *mut CGEvent {
    // SAFETY: the system hands a living event for the length of this call, and the context that `run` gave it.
    let (told, context) = unsafe { (event.as_ref(), &*context.cast::<Context>()) };
    if let Some(heard) = meaning(kind, told) {
        (context.hear)(heard);
    }
    event.as_ptr()
}

/// `None` for what we sent ourselves.
#[expect(clippy::cast_possible_truncation, reason = "positions on a screen")]
fn meaning(kind: CGEventType, event: &CGEvent) -> Option<Heard> {
    let field = |field| CGEvent::integer_value_field(Some(event), field);
    if field(CGEventField::EventSourceUserData) == i64::from(enigo::EVENT_MARKER) {
        return None;
    }
    let place = CGEvent::location(Some(event));
    let at = PhysicalPoint { x: place.x.round() as i32, y: place.y.round() as i32 };
    let is_escape = || field(CGEventField::KeyboardEventKeycode) == ESCAPE;
    match kind {
        CGEventType::MouseMoved => Some(Heard::Moved(at)),
        CGEventType::LeftMouseDragged | CGEventType::RightMouseDragged | CGEventType::OtherMouseDragged => {
            Some(Heard::Moved(at))
        }
        CGEventType::LeftMouseDown
        | CGEventType::RightMouseDown
        | CGEventType::OtherMouseDown
        | CGEventType::ScrollWheel => Some(Heard::Pressed(at)),
        CGEventType::KeyDown => Some(if is_escape() { Heard::Escape(Way::Down) } else { Heard::Key }),
        CGEventType::KeyUp if is_escape() => Some(Heard::Escape(Way::Up)),
        _ => None,
    }
}
