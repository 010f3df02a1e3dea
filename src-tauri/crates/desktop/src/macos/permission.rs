//! What macOS's user has to allow, whether it is allowed, and how to fix it. Looks without ever showing a dialog;
//! only where the user opens the settings, macOS is asked to list Miki there.
#![expect(unsafe_code, reason = "C functions of the system; each block says what makes it sound")]

use std::ffi::c_void;

use objc2_core_graphics::{CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess};
use protocol::view::{Check, CheckState, CheckView};

use super::ax;
use crate::portable::{settings, view};
use crate::{DesktopError, ScriptedApp};

const ACCESSIBILITY: &str =
    "allow Miki in System Settings > Privacy & Security > Accessibility, then try again";
const RECORDING: &str = "allow Miki in System Settings > Privacy & Security > Screen & System Audio Recording, then start Miki again";
const AUTOMATION: &str = "allow Miki in System Settings > Privacy & Security > Automation, then try again";
const MONITORING: &str =
    "allow Miki in System Settings > Privacy & Security > Input Monitoring, then start Miki again";

const EVENTS: &[u8] = b"com.apple.systemevents";
/// `kIOHIDRequestTypeListenEvent`
const LISTEN: u32 = 1;

/// The error of a call that may not read or operate others.
pub(super) fn accessibility() -> DesktopError {
    DesktopError::Permission {
        what: "macOS does not let Miki read and operate other applications' windows".into(),
        remedy: ACCESSIBILITY.into(),
    }
}

/// # Errors
/// `Permission` where the screen may not be recorded.
pub(super) fn recording() -> Result<(), DesktopError> {
    if CGPreflightScreenCaptureAccess() {
        return Ok(());
    }
    let what = "macOS does not let Miki record the screen".into();
    Err(DesktopError::Permission { what, remedy: RECORDING.into() })
}

pub(super) fn checks(scripted: &[ScriptedApp]) -> Vec<CheckView> {
    let allowed = |check, is: bool, well: &str, missing: &str, remedy| {
        if is {
            view(check, CheckState::Well, well.into(), None)
        } else {
            view(check, CheckState::Missing, missing.into(), Some(remedy))
        }
    };
    vec![
        allowed(
            Check::ScreenCapture,
            CGPreflightScreenCaptureAccess(),
            "screen recording is allowed",
            "macOS does not let Miki record the screen",
            RECORDING,
        ),
        allowed(
            Check::Accessibility,
            ax::is_trusted(),
            "accessibility is allowed",
            "macOS does not let Miki read and operate other applications",
            ACCESSIBILITY,
        ),
        automation(scripted),
        monitoring(),
    ]
}

/// For System Events, which scripts need most, and those of the named applications that run; others are asked for at
/// their first use.
fn automation(scripted: &[ScriptedApp]) -> CheckView {
    let apps: Vec<(&str, i32)> = scripted
        .iter()
        .map(|app| (app.name.as_str(), may_automate(app.bundle.as_bytes(), Ask::No)))
        .collect();
    let (state, detail) = settings::automation(may_automate(EVENTS, Ask::No), &apps);
    view(Check::Automation, state, detail, (state != CheckState::Well).then_some(AUTOMATION))
}

/// Has macOS list Miki on the page of a permission, with its switch off where it was never asked for. macOS may show
/// its own question, too.
pub(super) fn be_listed(check: Check, scripted: Vec<ScriptedApp>) {
    match check {
        Check::Display | Check::ScreenCapture => {
            CGRequestScreenCaptureAccess();
        }
        Check::Input | Check::Accessibility => ax::ask_for_trust(),
        Check::InputMonitoring => {
            // SAFETY: takes a number and only asks the system.
            unsafe { IOHIDRequestAccess(LISTEN) };
        }
        Check::Automation => ask_to_automate(scripted),
        _ => {}
    }
}

/// Each question waits for the user, so it has a thread.
fn ask_to_automate(scripted: Vec<ScriptedApp>) {
    let work = move || {
        let bundles = scripted.iter().map(|app| app.bundle.as_bytes());
        for bundle in std::iter::once(EVENTS).chain(bundles) {
            if may_automate(bundle, Ask::No) == settings::NOT_ASKED_YET {
                may_automate(bundle, Ask::Yes);
            }
        }
    };
    if let Err(error) = std::thread::Builder::new().name("desktop-automation".into()).spawn(work) {
        tracing::warn!(%error, "macOS was not asked whether scripts may use applications");
    }
}

fn monitoring() -> CheckView {
    // SAFETY: takes a number and only asks the system.
    match unsafe { IOHIDCheckAccess(LISTEN) } {
        0 => view(
            Check::InputMonitoring,
            CheckState::Well,
            "the user's own input is heard, and pauses a run".into(),
            None,
        ),
        _ => view(
            Check::InputMonitoring,
            CheckState::Limited,
            "the user's own mouse and keys do not pause a run; the corner still stops it".into(),
            Some(MONITORING),
        ),
    }
}

/// Whether macOS may ask its user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    No,
    Yes,
}

/// The system's number: 0 allowed, -1743 refused, -1744 not asked yet, -600 where the target does not run.
fn may_automate(bundle: &[u8], ask: Ask) -> i32 {
    const BUNDLE: u32 = u32::from_be_bytes(*b"bund");
    const ANY: u32 = u32::from_be_bytes(*b"****");
    let mut target = Descriptor { kind: 0, data: std::ptr::null_mut() };
    let Ok(length) = isize::try_from(bundle.len()) else { return -1 };
    // SAFETY: the bytes are `length` long and are copied; `target` is a valid place for the result.
    let made = unsafe { AECreateDesc(BUNDLE, bundle.as_ptr().cast(), length, &raw mut target) };
    if made != 0 {
        return i32::from(made);
    }
    // SAFETY: `target` was just made. Only where a question is asked for, the call waits for the user.
    let answer = unsafe {
        AEDeterminePermissionToAutomateTarget(&raw const target, ANY, ANY, u8::from(ask == Ask::Yes))
    };
    // SAFETY: made above, and disposed of once.
    unsafe { AEDisposeDesc(&raw mut target) };
    answer
}

/// `AEDesc`, as Apple's headers pack it.
#[repr(C, packed(2))]
struct Descriptor {
    kind: u32,
    data: *mut c_void,
}

#[link(name = "CoreServices", kind = "framework")]
unsafe extern "C" {
    fn AECreateDesc(kind: u32, data: *const c_void, length: isize, result: *mut Descriptor) -> i16;
    fn AEDisposeDesc(descriptor: *mut Descriptor) -> i16;
    fn AEDeterminePermissionToAutomateTarget(
        target: *const Descriptor,
        class: u32,
        event: u32,
        ask: u8,
    ) -> i32;
}

#[link(name = "IOKit", kind = "framework")]
unsafe extern "C" {
    fn IOHIDCheckAccess(request: u32) -> u32;
    fn IOHIDRequestAccess(request: u32) -> bool;
}
