//! Linux: the caret of text fields does not blink for ever, so that an open window at rest costs next to nothing.

use gtk::prelude::GtkSettingsExt;

/// Half of it is how long WebKit waits between two looks of the caret.
const A_DAY_MS: i32 = 24 * 60 * 60 * 1000;

/// Keeps WebKit's caret still, for all windows made after this. It would blink for ever, and each blink keeps three
/// processes awake for a third of a second. The stylesheet has it blink when a field gets the focus, and then rest, as
/// GTK's own fields do. (Not `gtk-cursor-blink`: without it WebKit 2.50 asks for a new frame all the time.)
pub fn keep_still() {
    match gtk::Settings::default() {
        Some(settings) => settings.set_gtk_cursor_blink_time(A_DAY_MS),
        None => tracing::debug!("GTK has no settings here: the caret blinks for ever"),
    }
}
