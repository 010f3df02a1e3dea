//! The tray: its icon and tooltip show what the engine does, its menu opens, pauses and stops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::command::{AnyCommand, PauseRun, ResumeRun, StopRun, UpdateSettings, Window, WindowAction};
use protocol::event::{Activity, Status};
use protocol::settings::{Language, Settings, SettingsPatch};
use protocol::tool::{Door, Mode};
use tauri::image::Image;
use tauri::menu::{CheckMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry, include_image};

use super::windows;
use crate::engine::Engine;

pub const ID: &str = "miki";

/// The tray with the entries that change.
pub struct Tray {
    icon: TrayIcon,
    plan: CheckMenuItem<Wry>,
    pause: MenuItem<Wry>,
    stop: MenuItem<Wry>,
    language: Mutex<Language>,
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
    let entry = |id: &str, text: &str| MenuItem::with_id(app, id, text, true, None::<&str>);
    let plan =
        CheckMenuItem::with_id(app, "plan", words.plan, true, settings.mode == Mode::Plan, None::<&str>)?;
    let pause = MenuItem::with_id(app, "pause", words.pause, false, None::<&str>)?;
    let stop = MenuItem::with_id(app, "stop", words.stop, false, None::<&str>)?;
    let menu = Menu::with_items(
        app,
        &[
            &entry("open", words.open)?,
            &entry("chat", words.chat)?,
            &PredefinedMenuItem::separator(app)?,
            &plan,
            &pause,
            &stop,
            &PredefinedMenuItem::separator(app)?,
            &entry("quit", words.quit)?,
        ],
    )?;
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
    Ok(Tray { icon, plan, pause, stop, language: Mutex::new(settings.language) })
}

impl Tray {
    /// Shows what the engine does.
    pub fn show_status(&self, status: &Status) {
        let words = Words::of(*self.language.lock().unwrap_or_else(PoisonError::into_inner));
        let runs = matches!(status.activity, Activity::Working | Activity::Waiting);
        let tooltip =
            if status.detail.is_empty() { "Miki".into() } else { format!("Miki: {}", status.detail) };
        // A run that waits without a question is paused; either way, "resume" is what helps there.
        let pause = if status.activity == Activity::Waiting { words.resume } else { words.pause };
        said(self.icon.set_icon_with_as_template(Some(image(status.activity)), cfg!(target_os = "macos")));
        said(self.icon.set_tooltip(Some(tooltip)));
        said(self.pause.set_text(pause));
        said(self.pause.set_enabled(runs));
        said(self.stop.set_enabled(runs));
    }

    /// Shows the settings that the menu has a part in.
    pub fn show_settings(&self, settings: &Settings) {
        *self.language.lock().unwrap_or_else(PoisonError::into_inner) = settings.language;
        said(self.plan.set_checked(settings.mode == Mode::Plan));
        said(self.plan.set_text(Words::of(settings.language).plan));
        said(self.stop.set_text(Words::of(settings.language).stop));
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
    let mode = match engine.agent().snapshot().await?.settings.mode {
        Mode::Plan => "act",
        Mode::Act => "plan",
    };
    let patch = SettingsPatch(serde_json::Map::from_iter([("mode".into(), mode.into())]));
    engine.call(AnyCommand::UpdateSettings(UpdateSettings { patch }), Door::Tray).await.map(drop)
}

async fn pause_or_resume(engine: &Engine) -> Result<(), protocol::ErrorView> {
    let command = match engine.agent().snapshot().await?.status.activity {
        Activity::Waiting => AnyCommand::ResumeRun(ResumeRun { run: None }),
        Activity::Working | Activity::Idle | Activity::Error => AnyCommand::PauseRun(PauseRun { run: None }),
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

/// The menu's words in the user's language.
struct Words {
    open: &'static str,
    chat: &'static str,
    plan: &'static str,
    pause: &'static str,
    resume: &'static str,
    stop: &'static str,
    quit: &'static str,
}

impl Words {
    fn of(language: Language) -> Self {
        match language {
            Language::English => Self {
                open: "Open Miki",
                chat: "Chat",
                plan: "Plan only (look, don't act)",
                pause: "Pause",
                resume: "Resume",
                stop: "Stop",
                quit: "Quit",
            },
            Language::Japanese => Self {
                open: "Miki を開く",
                chat: "チャット",
                plan: "計画のみ（操作しない）",
                pause: "一時停止",
                resume: "再開",
                stop: "停止",
                quit: "終了",
            },
        }
    }
}
