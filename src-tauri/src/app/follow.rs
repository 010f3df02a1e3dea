//! What is not a page follows the engine's events here: tray, overlay, shortcut.

use std::sync::Arc;

use protocol::EventBody;
use protocol::command::{Window, WindowAction};
use protocol::event::Activity;
use protocol::settings::Settings;
use tauri::AppHandle;
use tokio::sync::broadcast::error::RecvError;

use super::tray::Tray;
use super::{shortcut, windows};
use crate::engine::Engine;

/// Follows until the engine ends.
pub async fn follow(app: AppHandle, engine: Arc<Engine>, tray: Option<Tray>) {
    let mut events = engine.agent().subscribe();
    let mut shown =
        Shown { activity: Activity::Idle, overlay: false, chat_hidden: false, shortcut: String::new() };
    // What was set before this listened is in the snapshot.
    if let Ok(snapshot) = engine.agent().snapshot().await {
        shown.shortcut.clone_from(&snapshot.settings.shortcut);
        show_status(&app, tray.as_ref(), &mut shown, &snapshot.status);
        show_settings(&app, tray.as_ref(), &mut shown, &snapshot.settings);
    }
    loop {
        match events.recv().await {
            Ok(event) => match event.body {
                EventBody::StatusChanged { status } => show_status(&app, tray.as_ref(), &mut shown, &status),
                EventBody::SettingsChanged { settings } => {
                    show_settings(&app, tray.as_ref(), &mut shown, &settings)
                }
                _ => {}
            },
            Err(RecvError::Lagged(_)) => {
                if let Ok(snapshot) = engine.agent().snapshot().await {
                    show_status(&app, tray.as_ref(), &mut shown, &snapshot.status);
                    show_settings(&app, tray.as_ref(), &mut shown, &snapshot.settings);
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

struct Shown {
    activity: Activity,
    overlay: bool,
    /// Whether the chat was hidden to make way for a run.
    chat_hidden: bool,
    shortcut: String,
}

fn show_status(app: &AppHandle, tray: Option<&Tray>, shown: &mut Shown, status: &protocol::event::Status) {
    if let Some(tray) = tray {
        tray.show_status(status);
    }
    if status.activity == shown.activity {
        return;
    }
    shown.activity = status.activity;
    let works = status.activity == Activity::Working;
    // Hidden but for a run: an overlay that is shown is composed all the time. It stays over a question, so that the
    // call that was approved does not meet an overlay that is only just letting clicks through.
    let overlay = works || status.activity == Activity::Waiting;
    if overlay != shown.overlay {
        shown.overlay = overlay;
        let action = if overlay { WindowAction::Show } else { WindowAction::Hide };
        windows::show_or_log(app, Window::Overlay, action);
    }
    // The agent may not act on our windows, so they must not lie over what it works on.
    windows::dashboard_below(app, works);
    if works && windows::is_visible(app, Window::Chat) {
        shown.chat_hidden = true;
        windows::show_or_log(app, Window::Chat, WindowAction::Hide);
    } else if status.activity == Activity::Waiting && std::mem::take(&mut shown.chat_hidden) {
        windows::show_or_log(app, Window::Chat, WindowAction::Show);
    }
}

fn show_settings(app: &AppHandle, tray: Option<&Tray>, shown: &mut Shown, settings: &Settings) {
    if let Some(tray) = tray {
        tray.show_settings(settings);
    }
    if settings.shortcut != shown.shortcut {
        shown.shortcut.clone_from(&settings.shortcut);
        shortcut::set(app, &settings.shortcut);
    }
}
