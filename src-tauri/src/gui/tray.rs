//! The tray: its icon and tooltip show what the engine does, its menu opens, pauses and stops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::command::{AnyCommand, PauseRun, ResumeRun, StopRun, Window, WindowAction};
use protocol::event::Activity;
use protocol::ids::RunId;
use protocol::principal::Surface;
use protocol::settings::Settings;
use protocol::tool::Mode;
use tauri::image::Image;
use tauri::menu::{CheckMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry, include_image};

use super::engine::Engine;
use super::tray_state::{TrayState, Words};
use super::windows;

pub const ID: &str = "miki";

/// What the entries that stop one run say, and the entries.
type Stops = (Vec<(RunId, String)>, Vec<MenuItem<Wry>>);

/// The tray with its entries.
pub struct Tray {
    icon: TrayIcon,
    open: MenuItem<Wry>,
    chat: MenuItem<Wry>,
    plan: CheckMenuItem<Wry>,
    pause: MenuItem<Wry>,
    stop: MenuItem<Wry>,
    quit: MenuItem<Wry>,
    menu: Menu<Wry>,
    /// Entries that stop one run alone, in front of `stop`, and what they say.
    stops: Mutex<Stops>,
}

/// Entries in front of those: open, chat, a line, plan, pause.
const STOPS_AT: usize = 5;
/// What the ids of entries that stop one run begin with.
const STOP_RUN: &str = "stop:";

/// Makes the tray; `None` if this desktop has no means for one, which is said.
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
    Ok(Tray { icon, open, chat, plan, pause, stop, quit, menu, stops: Mutex::default() })
}

impl Tray {
    /// Shows what the engine does, in the user's language.
    pub fn show(&self, shown: &TrayState) {
        let words = shown.words;
        said(self.icon.set_icon_with_as_template(Some(image(shown.activity)), cfg!(target_os = "macos")));
        said(self.icon.set_tooltip(Some(&shown.tooltip)));
        said(self.icon.set_title(Some(&shown.badge)));
        said(self.open.set_text(&shown.open));
        said(self.chat.set_text(words.chat));
        said(self.plan.set_text(words.plan));
        said(self.plan.set_checked(shown.plan));
        said(self.pause.set_text(shown.pause));
        said(self.pause.set_enabled(shown.runs));
        said(self.stop.set_text(shown.stop));
        said(self.stop.set_enabled(shown.runs));
        said(self.quit.set_text(words.quit));
        said(self.show_stops(&shown.stops));
    }

    fn show_stops(&self, wanted: &[(RunId, String)]) -> tauri::Result<()> {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        let (shown, entries) = &mut *stops;
        if shown == wanted {
            return Ok(());
        }
        for entry in entries.drain(..) {
            self.menu.remove(&entry)?;
        }
        for (at, (run, words)) in wanted.iter().enumerate() {
            let id = format!("{STOP_RUN}{run}");
            let entry = MenuItem::with_id(self.menu.app_handle(), id, words, true, None::<&str>)?;
            self.menu.insert(&entry, STOPS_AT + at)?;
            entries.push(entry);
        }
        *shown = wanted.to_vec();
        Ok(())
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
                    _ => send(&engine, AnyCommand::StopRun(StopRun { run: None })).await,
                };
                if let Err(error) = outcome {
                    tracing::warn!("tray: {error}");
                }
            });
        }
        what => {
            let Some(run) = what.strip_prefix(STOP_RUN).map(|run| RunId(run.to_owned())) else { return };
            let app = app.clone();
            tauri::async_runtime::spawn(async move {
                let engine = Arc::clone(&app.state::<Arc<Engine>>());
                if let Err(error) = send(&engine, AnyCommand::StopRun(StopRun { run: Some(run) })).await {
                    tracing::warn!("tray: {error}");
                }
            });
        }
    }
}

async fn toggle_plan(engine: &Engine) -> Result<(), protocol::ErrorView> {
    let plans = TrayState::from(&engine.overview().await?).plan;
    engine.set_mode(if plans { Mode::Act } else { Mode::Plan }).await
}

/// Every run: one after the other is told, and each waits for nothing but its own step.
async fn pause_or_resume(engine: &Engine) -> Result<(), protocol::ErrorView> {
    let view = engine.overview().await?;
    let paused = TrayState::from(&view).paused;
    let mut outcome = Ok(());
    for run in view.runs.into_iter().filter(|run| run.status.paused == paused) {
        let run = Some(run.run);
        let command = match paused {
            true => AnyCommand::ResumeRun(ResumeRun { run }),
            false => AnyCommand::PauseRun(PauseRun { run }),
        };
        outcome = send(engine, command).await.and(outcome);
    }
    outcome
}

async fn send(engine: &Engine, command: AnyCommand) -> Result<(), protocol::ErrorView> {
    engine.call(command, Surface::Tray).await.map(drop)
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
