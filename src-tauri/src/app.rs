//! The app: windows, tray and shortcut around the engine. Holds no state of its own; it follows the engine's events.

use std::sync::Arc;

use protocol::command::{ShowWindow, Window, WindowAction};
use protocol::event::Level;
use protocol::principal::Principal;
use protocol::remembered::Theme;
use protocol::view::{Check, CheckState};
use protocol::{ErrorCode, ErrorView};
use tauri::{AppHandle, Manager as _, RunEvent};

use crate::cli::{interrupt, runtime};
use crate::engine::Engine;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;
use memory::Memory;

#[cfg(target_os = "linux")]
mod active;
mod aside;
#[cfg(target_os = "linux")]
mod caret;
#[cfg(target_os = "linux")]
mod click_through;
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

/// Opens the app, or brings the one that runs to the front.
///
/// # Errors
/// No display; a data folder that cannot be used or that a command without windows has.
pub fn run(home: &Home) -> Result<Exit, ErrorView> {
    let runtime = runtime()?;
    let show = ShowWindow { window: Window::Dashboard, action: WindowAction::Show, session: None };
    let here = loop {
        match runtime.block_on(Link::open(home))? {
            Link::Here(here) => break here,
            // One instance a data folder: the second start shows the first one's window, unless that is just ending.
            link @ Link::There(_) => match runtime.block_on(link.call(show.clone())) {
                Err(error) if error.code == ErrorCode::Leaving => std::thread::sleep(Link::BETWEEN),
                shown => return shown.map(|()| Exit::Done),
            },
        }
    };
    let engine = Arc::clone(&here.engine);
    if let Err(error) = runtime.block_on(has_display(&engine)) {
        runtime.block_on(here.end());
        return Err(error);
    }
    tauri::async_runtime::set(runtime.handle().clone());
    let code = open(&engine, home);
    runtime.block_on(here.end());
    // A keychain that hangs would otherwise be waited for.
    runtime.shutdown_background();
    code.map(|code| if code == 0 { Exit::Done } else { Exit::Failed })
}

fn open(engine: &Arc<Engine>, home: &Home) -> Result<i32, ErrorView> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        ErrorView::new(ErrorCode::Display, format!("{what}: {error}"))
            .with_hint("miki run works without windows; miki doctor tells what is missing")
    };
    let (settings, file) = (engine.agent().settings(), home.remembered());
    let mut interrupts = interrupt::listen()?;
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
                engine.attach_windows(Box::new(windows::AppWindows::new(app.handle().clone())));
                windows::make(app.handle())?;
                let theme = memory.remembered().theme;
                if theme != Theme::System {
                    windows::wear(app.handle(), theme);
                }
                tauri::async_runtime::spawn(memory::keep(app.handle().clone()));
                let tray = tray::make(app.handle(), &settings);
                shortcut::make(app.handle());
                let agent = engine.agent().clone();
                tauri::async_runtime::spawn(async move {
                    if let Err(error) = agent.carry_on().await {
                        tracing::error!(%error, "what was interrupted does not go on");
                    }
                });
                tauri::async_runtime::spawn(follow::follow(app.handle().clone(), engine, tray, started_runs));
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
        RunEvent::Reopen { .. } => windows::show_or_log(app, Window::Dashboard, WindowAction::Show),
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
        if let Err(error) = engine.agent().note(Level::Warning, message, Some(hint.to_owned())).await {
            tracing::warn!("a note is lost: {error}");
        }
    });
}

/// Who speaks through a window, by its label.
fn principal(label: &str) -> Result<Principal, ErrorView> {
    let window = Window::of_label(label)
        .ok_or_else(|| ErrorView::new(ErrorCode::Forbidden, format!("window {label:?} has no rights")))?;
    Ok(Principal::of(window.surface()))
}

/// GTK ends the process where there is no display: better to say so first.
async fn has_display(engine: &Engine) -> Result<(), ErrorView> {
    if !cfg!(target_os = "linux") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    let none = |detail: &str| {
        Err(ErrorView::new(ErrorCode::Display, format!("no display to open windows on: {detail}")).with_hint(
            "work without windows with: miki run \"GOAL\"; or make a display: xvfb-run -a miki; or set DISPLAY",
        ))
    };
    if !set("DISPLAY") {
        return none("neither DISPLAY nor WAYLAND_DISPLAY is set");
    }
    let views = engine.display_checks().await;
    match views.iter().find(|view| view.check == Check::Display && view.state == CheckState::Missing) {
        Some(view) => none(&view.detail),
        None => Ok(()),
    }
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
