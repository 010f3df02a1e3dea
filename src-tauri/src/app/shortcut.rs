//! The global shortcut that toggles the chat widget. That it cannot be had is said, and the app goes on.

use protocol::command::{Window, WindowAction};
use tauri::AppHandle;
use tauri_plugin_global_shortcut::{GlobalShortcutExt, ShortcutState};

use super::windows;

/// Starts to listen.
pub fn make(app: &AppHandle, shortcut: &str) {
    let plugin = tauri_plugin_global_shortcut::Builder::new()
        .with_handler(|app, _, event| {
            if event.state() == ShortcutState::Pressed {
                windows::show_or_log(app, Window::Chat, WindowAction::Toggle);
            }
        })
        .build();
    match app.plugin(plugin) {
        Ok(()) => set(app, shortcut),
        Err(error) => tracing::warn!("no global shortcut here: {error}; open the chat from the tray"),
    }
}

/// Takes `shortcut` in place of the one before.
pub fn set(app: &AppHandle, shortcut: &str) {
    // Not there where the plugin could not be started.
    let Some(shortcuts) = app.try_state_of_shortcuts() else { return };
    if let Err(error) = shortcuts.unregister_all() {
        tracing::warn!("the old shortcut cannot be given back: {error}");
    }
    if let Err(error) = shortcuts.register(shortcut) {
        tracing::warn!("shortcut {shortcut} cannot be had: {error}");
        super::note(
            app,
            format!("the shortcut {shortcut} cannot be had: {error}"),
            "another program has it; set another one in the settings, or open the chat from the tray",
        );
    }
}

trait ShortcutsIfAny {
    fn try_state_of_shortcuts(&self) -> Option<&tauri_plugin_global_shortcut::GlobalShortcut<tauri::Wry>>;
}

impl ShortcutsIfAny for AppHandle {
    fn try_state_of_shortcuts(&self) -> Option<&tauri_plugin_global_shortcut::GlobalShortcut<tauri::Wry>> {
        use tauri::Manager;

        self.try_state::<tauri_plugin_global_shortcut::GlobalShortcut<tauri::Wry>>()
            .map(|_| self.global_shortcut())
    }
}
