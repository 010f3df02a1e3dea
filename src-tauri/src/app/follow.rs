//! What is not a page follows the engine's events here: tray, overlay, shortcut.

use std::sync::Arc;

use protocol::EventBody;
use protocol::command::{Window, WindowAction};
use protocol::event::Activity;
use protocol::settings::Settings;
use tauri::AppHandle;
use tokio::sync::broadcast::error::RecvError;

use super::face::{Face, Wants};
use super::tray::Tray;
use super::{shortcut, windows};
use crate::engine::Engine;

/// Follows until the engine ends.
pub async fn follow(app: AppHandle, engine: Arc<Engine>, tray: Option<Tray>) {
    let mut events = engine.agent().subscribe();
    let mut shown =
        Shown { activity: Activity::Idle, overlay: false, chat_hidden: false, shortcut: String::new() };
    let mut face: Option<Face> = None;
    // What was set before this listened is in the snapshot.
    let mut behind = true;
    loop {
        if std::mem::take(&mut behind)
            && let Ok(snapshot) = engine.agent().snapshot().await
        {
            face = Some(Face::from(&snapshot));
            show_face(tray.as_ref(), face.as_ref());
            show_status(&app, &mut shown, &snapshot.status);
            show_settings(&app, &mut shown, &snapshot.settings);
        }
        match events.recv().await {
            Ok(event) => {
                let before = face.clone();
                let wants = face.as_mut().map_or(Wants::Snapshot, |face| face.fold(&event.body));
                behind = wants == Wants::Snapshot;
                if face != before {
                    show_face(tray.as_ref(), face.as_ref());
                }
                match event.body {
                    EventBody::StatusChanged { status } => show_status(&app, &mut shown, &status),
                    EventBody::SettingsChanged { settings } => show_settings(&app, &mut shown, &settings),
                    _ => {}
                }
            }
            Err(RecvError::Lagged(_)) => behind = true,
            Err(RecvError::Closed) => return,
        }
    }
}

fn show_face(tray: Option<&Tray>, face: Option<&Face>) {
    if let (Some(tray), Some(face)) = (tray, face) {
        tray.show(face);
    }
}

struct Shown {
    activity: Activity,
    overlay: bool,
    /// Whether the chat was hidden to make way for a run.
    chat_hidden: bool,
    shortcut: String,
}

fn show_status(app: &AppHandle, shown: &mut Shown, status: &protocol::event::Status) {
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

fn show_settings(app: &AppHandle, shown: &mut Shown, settings: &Settings) {
    if settings.shortcut != shown.shortcut {
        shown.shortcut.clone_from(&settings.shortcut);
        shortcut::set(app, &settings.shortcut);
    }
}
