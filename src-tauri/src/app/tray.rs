//! The tray: its icon and tooltip show what the engine does, its menu opens, pauses and stops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use protocol::command::{AnyCommand, PauseRun, ResumeRun, StopRun, Window, WindowAction};
use protocol::event::Activity;
use protocol::settings::Settings;
use protocol::tool::{Door, Mode};
use tauri::image::Image;
use tauri::menu::{CheckMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry, include_image};

use super::face::{Face, Words};
use super::windows;
use crate::engine::Engine;

pub const ID: &str = "miki";

/// The tray with its entries.
pub struct Tray {
    icon: TrayIcon,
    open: MenuItem<Wry>,
    chat: MenuItem<Wry>,
    plan: CheckMenuItem<Wry>,
    pause: MenuItem<Wry>,
    stop: MenuItem<Wry>,
    quit: MenuItem<Wry>,
}

/// Makes the tray; nothing where this desktop has no means for one, which is said.
pub fn make(app: &AppHandle, settings: &Settings) -> Option<Tray> {
    // The library behind it panics where the system's indicator library is not installed.
    match catch_unwind(AssertUnwindSafe(|| build(app, settings))) {
        Ok(Ok(tray)) => Some(tray),
        Ok(Err(error)) => {
            tracing::warn!("no tray icon: {error}; closing the main window ends the app");
            None
        }
        Err(_) => {
            tracing::warn!(
                "no tray icon: install libayatana-appindicator3-1; closing the main window ends the app"
            );
            None
        }
    }
}

fn build(app: &AppHandle, settings: &Settings) -> tauri::Result<Tray> {
    let words = Words::of(settings.language);
    let entry = |id: &str, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
    let plan =
        CheckMenuItem::with_id(app, "plan", words.plan, true, settings.mode == Mode::Plan, None::<&str>)?;
    let (open, chat) = (entry("open", words.open, true)?, entry("chat", words.chat, true)?);
    let (pause, stop) = (entry("pause", words.pause, false)?, entry("stop", words.stop, false)?);
    let quit = entry("quit", words.quit, true)?;
    let line = || PredefinedMenuItem::separator(app);
    let menu = Menu::with_items(app, &[&open, &chat, &line()?, &plan, &pause, &stop, &line()?, &quit])?;
    let icon = TrayIconBuilder::with_id(ID)
        .icon(image(Activity::Idle))
        .icon_as_template(cfg!(target_os = "macos"))
        .tooltip("Miki")
        .menu(&menu)
        .show_menu_on_left_click(cfg!(not(windows)))
        .on_menu_event(chosen)
        .on_tray_icon_event(|tray, event| {
            if cfg!(windows)
                && let TrayIconEvent::Click {
                    button: MouseButton::Left,
                    button_state: MouseButtonState::Up,
                    ..
                } = event
            {
                windows::show_or_log(tray.app_handle(), Window::Dashboard, WindowAction::Show);
            }
        })
        .build(app)?;
    Ok(Tray { icon, open, chat, plan, pause, stop, quit })
}

impl Tray {
    /// Shows what the engine does, in the user's language.
    pub fn show(&self, face: &Face) {
        let shown = face.shown();
        let words = shown.words;
        said(self.icon.set_icon_with_as_template(Some(image(shown.activity)), cfg!(target_os = "macos")));
        said(self.icon.set_tooltip(Some(shown.tooltip)));
        said(self.open.set_text(words.open));
        said(self.chat.set_text(words.chat));
        said(self.plan.set_text(words.plan));
        said(self.plan.set_checked(shown.plan));
        said(self.pause.set_text(shown.pause));
        said(self.pause.set_enabled(shown.runs));
        said(self.stop.set_text(words.stop));
        said(self.stop.set_enabled(shown.runs));
        said(self.quit.set_text(words.quit));
    }
}

fn said(outcome: tauri::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!("the tray cannot show it: {error}");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape Tauri calls")]
fn chosen(app: &AppHandle, event: MenuEvent) {
    match event.id().as_ref() {
        "open" => windows::show_or_log(app, Window::Dashboard, WindowAction::Show),
        "chat" => windows::show_or_log(app, Window::Chat, WindowAction::Show),
        "quit" => super::quit(app),
        what @ ("plan" | "pause" | "stop") => {
            let (app, what) = (app.clone(), what.to_owned());
            tauri::async_runtime::spawn(async move {
                let engine = Arc::clone(&app.state::<Arc<Engine>>());
                let outcome = match what.as_str() {
                    "plan" => toggle_plan(&engine).await,
                    "pause" => pause_or_resume(&engine).await,
                    _ => engine.call(AnyCommand::StopRun(StopRun { run: None }), Door::Tray).await.map(drop),
                };
                if let Err(error) = outcome {
                    tracing::warn!("tray: {error}");
                }
            });
        }
        _ => {}
    }
}

async fn toggle_plan(engine: &Engine) -> Result<(), protocol::ErrorView> {
    let plans = Face::from(&engine.agent().snapshot().await?).plan;
    engine.agent().set_mode(if plans { Mode::Act } else { Mode::Plan }).await
}

async fn pause_or_resume(engine: &Engine) -> Result<(), protocol::ErrorView> {
    let command = match Face::from(&engine.agent().snapshot().await?).paused {
        true => AnyCommand::ResumeRun(ResumeRun { run: None }),
        false => AnyCommand::PauseRun(PauseRun { run: None }),
    };
    engine.call(command, Door::Tray).await.map(drop)
}

/// Black with transparency: macOS colours it itself.
#[cfg(target_os = "macos")]
fn image(activity: Activity) -> Image<'static> {
    match activity {
        Activity::Idle => include_image!("./icons/tray-template-idle-44.png"),
        Activity::Working => include_image!("./icons/tray-template-working-44.png"),
        Activity::Waiting => include_image!("./icons/tray-template-waiting-44.png"),
        Activity::Error => include_image!("./icons/tray-template-error-44.png"),
    }
}

#[cfg(not(target_os = "macos"))]
fn image(activity: Activity) -> Image<'static> {
    match activity {
        Activity::Idle => include_image!("./icons/tray-idle-32.png"),
        Activity::Working => include_image!("./icons/tray-working-32.png"),
        Activity::Waiting => include_image!("./icons/tray-waiting-32.png"),
        Activity::Error => include_image!("./icons/tray-error-32.png"),
    }
}
