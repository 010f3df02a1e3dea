//! Our windows, as `protocol` lists them: what they look like, and showing and hiding them.
//!
//! One page serves all; the view is picked by the window's label. No window may leave that page or open another.

use std::sync::atomic::{AtomicBool, Ordering};

use protocol::command::{Window, WindowAction};
use protocol::{ErrorCode, ErrorView};
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent, Wry};

use crate::engine::Windows;

/// Makes all of them; the dashboard is shown, the others wait.
pub fn make(app: &AppHandle) -> tauri::Result<()> {
    #[cfg(target_os = "linux")]
    super::caret::keep_still();
    for window in Window::ALL {
        look(window, base(app, window)).build()?;
    }
    Ok(())
}

type Builder<'a> = WebviewWindowBuilder<'a, Wry, AppHandle>;

/// What a window looks like when it is made.
fn look(window: Window, builder: Builder<'_>) -> Builder<'_> {
    match window {
        Window::Dashboard => builder.inner_size(1180.0, 800.0).min_inner_size(760.0, 520.0).center(),
        Window::Chat => above_all(builder).inner_size(640.0, 340.0).center().visible(false),
        // It must never take the keyboard from what the agent types into.
        Window::Overlay => above_all(builder).focused(false).focusable(false).visible(false),
    }
}

/// Without a frame, above all others.
fn above_all(builder: Builder<'_>) -> Builder<'_> {
    builder
        .resizable(false)
        .decorations(false)
        .transparent(true)
        .shadow(false)
        .always_on_top(true)
        .skip_taskbar(true)
}

fn base(app: &AppHandle, window: Window) -> Builder<'_> {
    WebviewWindowBuilder::new(app, window.label(), WebviewUrl::App("index.html".into()))
        .title(window.title())
        // Not in recordings of other programs, and not in the agent's own pictures, where the system can do that.
        .content_protected(true)
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
}

/// `tauri://localhost`, or `http://tauri.localhost` on Windows.
fn is_ours(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => {
            cfg!(windows) && url.host_str() == Some("tauri.localhost") && url.port().is_none()
        }
        _ => false,
    }
}

/// A closed window is hidden: the tray and the next `miki` show it again. Where no tray could be made, closing the
/// dashboard ends the app, since nothing else would.
pub fn on_event(window: &tauri::Window, event: &WindowEvent) {
    if let WindowEvent::Focused(true) = event
        && window.label() == Window::Chat.label()
    {
        window.state::<CameBack>().0.store(false, Ordering::Relaxed);
    }
    if let WindowEvent::CloseRequested { api, .. } = event {
        if window.label() == Window::Dashboard.label()
            && window.app_handle().tray_by_id(super::tray::ID).is_none()
        {
            super::quit(window.app_handle());
            return;
        }
        api.prevent_close();
        if let Err(error) = window.hide() {
            tracing::warn!("window {} cannot be hidden: {error}", window.label());
        }
    }
}

/// The windows as the engine sees them.
pub struct AppWindows(AppHandle);

impl AppWindows {
    pub fn new(app: AppHandle) -> Self {
        Self(app)
    }
}

impl Windows for AppWindows {
    fn show(&self, window: Window, action: WindowAction) -> Result<(), ErrorView> {
        show(&self.0, window, action).map_err(|error| {
            ErrorView::new(
                ErrorCode::Internal,
                format!("window {} cannot be shown or hidden: {error}", window.label()),
            )
        })
    }
}

/// Keeps the dashboard below all other windows, or lets it go back among them.
pub fn dashboard_below(app: &AppHandle, below: bool) {
    let Some(view) = app.get_webview_window(Window::Dashboard.label()) else { return };
    if let Err(error) = view.set_always_on_bottom(below) {
        tracing::warn!("the dashboard cannot step aside: {error}");
    }
}

pub fn is_visible(app: &AppHandle, window: Window) -> bool {
    app.get_webview_window(window.label()).is_some_and(|view| view.is_visible().unwrap_or(false))
}

/// Whether a window has the keyboard.
pub fn is_focused(app: &AppHandle, window: Window) -> bool {
    app.get_webview_window(window.label()).is_some_and(|view| view.is_focused().unwrap_or(false))
}

/// For the tray and the shortcut, which have nobody to answer to.
pub fn show_or_log(app: &AppHandle, window: Window, action: WindowAction) {
    if let Err(error) = show(app, window, action) {
        tracing::warn!("window {} cannot be shown or hidden: {error}", window.label());
    }
}

/// Whether the chat came back by itself, and has not had the keyboard since.
#[derive(Default)]
pub struct CameBack(AtomicBool);

/// Shows a hidden chat where it was, and leaves the keyboard to whoever has it, where the system can do that.
pub fn bring_chat_back(app: &AppHandle) {
    let Some(view) = app.get_webview_window(Window::Chat.label()) else { return };
    match show_without_focus(&view) {
        Ok(()) => app.state::<CameBack>().0.store(true, Ordering::Relaxed),
        Err(error) => tracing::warn!("the chat cannot come back: {error}"),
    }
}

fn show_without_focus(view: &WebviewWindow) -> tauri::Result<()> {
    // A window manager forgets where a window was when it is hidden.
    view.set_position(view.outer_position()?)?;
    #[cfg(target_os = "linux")]
    focus_when_shown(view, false)?;
    #[cfg(not(target_os = "linux"))]
    view.set_focusable(false)?;
    view.show()?;
    #[cfg(not(target_os = "linux"))]
    view.set_focusable(true)?;
    Ok(())
}

/// Linux: whether the window manager is asked to give the window the keyboard whenever it is shown.
#[cfg(target_os = "linux")]
fn focus_when_shown(view: &WebviewWindow, wished: bool) -> tauri::Result<()> {
    use gtk::prelude::GtkWindowExt;

    let window = view.clone();
    view.run_on_main_thread(move || match window.gtk_window() {
        Ok(window) => window.set_focus_on_map(wished),
        Err(error) => tracing::debug!("whether a window takes the keyboard is left as it is: {error}"),
    })
}

fn show(app: &AppHandle, window: Window, action: WindowAction) -> tauri::Result<()> {
    let Some(view) = app.get_webview_window(window.label()) else { return Err(tauri::Error::WindowNotFound) };
    let visible = match action {
        WindowAction::Show => true,
        WindowAction::Hide => false,
        // A window that came back by itself gets the keyboard first.
        WindowAction::Toggle => !view.is_visible()? || app.state::<CameBack>().0.load(Ordering::Relaxed),
    };
    if window == Window::Chat {
        app.state::<CameBack>().0.store(false, Ordering::Relaxed);
    }
    if !visible {
        return view.hide();
    }
    match window {
        Window::Overlay => show_overlay(&view),
        Window::Dashboard | Window::Chat => {
            if window == Window::Dashboard {
                view.unminimize()?;
            } else if !view.is_visible()? {
                view.center()?;
            }
            #[cfg(target_os = "linux")]
            focus_when_shown(&view, true)?;
            view.show()?;
            view.set_focus()
        }
    }
}

/// Over the whole primary display, and clicks go through it.
fn show_overlay(view: &WebviewWindow) -> tauri::Result<()> {
    // Some X servers name no primary display.
    let display = match view.primary_monitor()? {
        Some(display) => Some(display),
        None => view.available_monitors()?.into_iter().next(),
    };
    if let Some(display) = display {
        view.set_position(*display.position())?;
        view.set_size(*display.size())?;
    }
    view.show()?;
    // Last, since on X11 it is possible only for a window that was shown.
    #[cfg(target_os = "linux")]
    super::click_through::hold(view.clone());
    #[cfg(not(target_os = "linux"))]
    view.set_ignore_cursor_events(true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_may_be_shown() {
        assert!(is_ours(&Url::parse("tauri://localhost/index.html").unwrap()));
        for foreign in [
            "https://example.org/",
            "http://localhost:1420/",
            "tauri://evil/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "about:blank",
        ] {
            assert!(!is_ours(&Url::parse(foreign).unwrap()), "{foreign}");
        }
        if !cfg!(windows) {
            assert!(!is_ours(&Url::parse("http://tauri.localhost/").unwrap()));
        }
    }
}
