//! The windows, tray and shortcut: a process of their own beside the engine's, which starts it. Holds no state of its own; it
//! follows the engine's events.

use std::sync::Arc;

use protocol::command::Window;
use protocol::principal::Surface;
use protocol::remembered::Theme;
use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};
use tauri::{AppHandle, Manager as _, RunEvent};
use tokio::sync::mpsc;

use crate::cli::{interrupt, runtime, say_error};
use crate::exit::Exit;
use crate::home::Home;
use crate::line::{self, Asks};
use engine::Engine;
use memory::Memory;

#[cfg(target_os = "linux")]
mod active;
mod aside;
#[cfg(target_os = "linux")]
mod caret;
#[cfg(target_os = "linux")]
mod click_through;
mod engine;
mod folder;
mod follow;
mod ipc;
mod memory;
mod notices;
mod picture;
mod places;
mod shortcut;
#[cfg(target_os = "linux")]
mod stacking;
mod tray;
mod tray_state;
mod window_runs;
mod windows;

/// The process of the windows, from its start to its end.
pub fn main() -> Exit {
    let ended = (|| {
        let (runtime, home) = (runtime()?, Home::open()?);
        let interrupts = interrupt::listen()?;
        let (engine, asked) = {
            let _inside = runtime.enter();
            Engine::open(&home)?
        };
        tauri::async_runtime::set(runtime.handle().clone());
        let code = runtime
            .block_on(engine.overview())
            .and_then(|overview| open(&engine, &home, &overview.settings, asked, interrupts));
        let exit = match code {
            Ok(0) if !engine.is_unreadable() => Exit::Done,
            Ok(_) => Exit::Failed,
            Err(error) => {
                runtime.block_on(engine.failed(error));
                Exit::Failed
            }
        };
        // What still waits for a disk or a display is not waited for.
        runtime.shutdown_background();
        Ok(exit)
    })();
    ended.unwrap_or_else(|error: ErrorView| {
        say_error(&error);
        Exit::Usage
    })
}

fn open(
    engine: &Arc<Engine>,
    home: &Home,
    settings: &Settings,
    asked: mpsc::UnboundedReceiver<Asks>,
    mut interrupts: mpsc::Receiver<()>,
) -> Result<i32, ErrorView> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        ErrorView::new(ErrorCode::Display, format!("{what}: {error}"))
            .with_hint("miki run works without windows; miki doctor tells what is missing")
    };
    // What its windows are known by.
    #[cfg(target_os = "linux")]
    gtk::glib::set_prgname(Some("miki"));
    let (settings, file) = (settings.clone(), home.remembered());
    let (started, started_runs) = tokio::sync::mpsc::channel(16);
    let app = tauri::Builder::default()
        .invoke_handler(ipc::handler())
        .register_asynchronous_uri_scheme_protocol("picture", picture::answer)
        .manage(Arc::clone(engine))
        .manage(ipc::Subscriptions::default())
        .manage(ipc::StartedRuns(started))
        .manage(windows::Keyboards::default())
        .on_window_event(windows::on_event)
        .setup({
            let engine = Arc::clone(engine);
            move |app| {
                let memory = Arc::new(Memory::open(app.handle(), file, settings.theme));
                if settings.theme.is_some() && memory.save().is_ok() {
                    tauri::async_runtime::spawn(memory::forget_old_theme(Arc::clone(&engine)));
                }
                app.manage(Arc::clone(&memory));
                windows::make(app.handle(), std::env::args().any(|word| word == line::AGAIN))?;
                let theme = memory.remembered().theme;
                if theme != Theme::System {
                    windows::wear(app.handle(), theme);
                }
                tauri::async_runtime::spawn(memory::keep(app.handle().clone()));
                let tray = tray::make(app.handle(), &settings);
                shortcut::make(app.handle());
                let follow = follow::follow(app.handle().clone(), Arc::clone(&engine), tray, started_runs);
                tauri::async_runtime::spawn(follow);
                tauri::async_runtime::spawn(windows::serve(app.handle().clone(), asked));
                tauri::async_runtime::spawn(async move { engine.ready().await });
                let handle = app.handle().clone();
                tauri::async_runtime::spawn(async move {
                    if interrupts.recv().await.is_some() {
                        quit(&handle);
                    }
                });
                Ok(())
            }
        })
        .build(tauri::generate_context!())
        .map_err(|error| failed("the windows cannot be opened", &error))?;
    Ok(app.run_return(|app, event| match event {
        // All windows closed is no end: the tray stays. `exit` with a code is.
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        RunEvent::Exit => app.state::<Arc<Memory>>().save_or_log(),
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => {
            windows::show_or_log(app, Window::Dashboard, protocol::command::WindowAction::Show);
        }
        _ => {}
    }))
}

/// Ends the app; the engine is ended after the event loop, so that nothing is held and all is written.
fn quit(app: &AppHandle) {
    windows::note_places(app);
    app.exit(0);
}

/// Tells every surface of something that does not work here, but stops nothing.
fn note(app: &AppHandle, message: String, hint: &'static str) {
    let engine = Arc::clone(&app.state::<Arc<Engine>>());
    tauri::async_runtime::spawn(async move {
        engine.note(message, hint).await;
    });
}

/// Who speaks through a window, by its label.
fn surface(label: &str) -> Result<Surface, ErrorView> {
    let window = Window::of_label(label)
        .ok_or_else(|| ErrorView::new(ErrorCode::Forbidden, format!("window {label:?} has no rights")))?;
    Ok(window.surface())
}
