//! Linux: WebKitGTK draws no more than it must, so that an open window at rest costs next to nothing.

use std::path::Path;

use gtk::prelude::GtkSettingsExt;
use tauri::WebviewWindow;
use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt, WebViewExt};

/// Half of it is how long WebKit waits between two looks of the caret.
const A_DAY_MS: i32 = 24 * 60 * 60 * 1000;

/// Keeps WebKit's caret still, for all windows made after this. It would blink for ever, and each blink keeps three
/// processes awake for a third of a second. The stylesheet has it blink when a field gets the focus, and then rest, as
/// GTK's own fields do. (Not `gtk-cursor-blink`: without it WebKit 2.50 asks for a new frame all the time.)
pub fn still_caret() {
    match gtk::Settings::default() {
        Some(settings) => settings.set_gtk_cursor_blink_time(A_DAY_MS),
        None => tracing::debug!("GTK has no settings here: the caret blinks for ever"),
    }
}

/// Where the processor plays the graphics card, only what changed is drawn; the compositor would do the whole window
/// anew for every change.
pub fn no_compositor_without_card(view: &WebviewWindow) {
    if has_card() {
        return;
    }
    let outcome = view.with_webview(|view| {
        if let Some(settings) = view.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    });
    if let Err(error) = outcome {
        tracing::debug!("window {} draws as it is: {error}", view.label());
    }
}

/// Whether there is a graphics card that programs may draw with.
fn has_card() -> bool {
    if std::env::var_os("LIBGL_ALWAYS_SOFTWARE").is_some_and(|value| value == "1" || value == "true") {
        return false;
    }
    let renders = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with("renderD"));
    let mut devices = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    devices.any(|device| renders(&device.file_name())) || Path::new("/dev/nvidiactl").exists()
}
