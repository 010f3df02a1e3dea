//! Applications that run, by AppKit.

use objc2_app_kit::{
    NSApplicationActivationOptions, NSApplicationActivationPolicy, NSRunningApplication, NSWorkspace,
};

use crate::DesktopError;

/// Those with a face: a Dock icon and windows.
pub(super) fn running() -> Vec<(String, u32)> {
    NSWorkspace::sharedWorkspace()
        .runningApplications()
        .iter()
        .filter(|app| app.activationPolicy() == NSApplicationActivationPolicy::Regular && !app.isTerminated())
        .filter_map(|app| {
            let name = app.localizedName()?.to_string();
            Some((name, u32::try_from(app.processIdentifier()).ok()?))
        })
        .collect()
}

pub(super) fn end(pid: u32) -> Result<(), DesktopError> {
    if find(pid)?.terminate() {
        Ok(())
    } else {
        Err(DesktopError::Failed(format!("process {pid} did not take the wish to end")))
    }
}

/// Brings an application to the front; whether macOS let us.
pub(super) fn activate(pid: u32) -> bool {
    find(pid).is_ok_and(|app| app.activateWithOptions(NSApplicationActivationOptions::empty()))
}

fn find(pid: u32) -> Result<objc2::rc::Retained<NSRunningApplication>, DesktopError> {
    i32::try_from(pid)
        .ok()
        .and_then(NSRunningApplication::runningApplicationWithProcessIdentifier)
        .ok_or_else(|| DesktopError::NotFound(format!("application with process {pid}")))
}
