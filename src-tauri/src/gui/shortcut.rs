//! The global shortcut that toggles the chat widget. That it cannot be had is said, and the app goes on.

use protocol::command::{Window, WindowAction};
use tauri::AppHandle;
use tauri_plugin_global_shortcut::{GlobalShortcutExt, ShortcutState};

use super::windows;

/// Gets ready for [`set`], which `follow` calls with what is set.
pub fn make(app: &AppHandle) {
    let plugin = tauri_plugin_global_shortcut::Builder::new()
        .with_handler(|app, _, event| {
            if event.state() != ShortcutState::Pressed {
                return;
            }
            // Not on the thread that listens: it would wait for the main one, which waits for it where a shortcut is set.
            let app = app.clone();
            tauri::async_runtime::spawn_blocking(move || {
                windows::show_or_log(&app, Window::Chat, WindowAction::Toggle);
            });
        })
        .build();
    if let Err(error) = app.plugin(plugin) {
        tracing::warn!("no global shortcut here: {error}; open the chat from the tray");
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
