//! Our windows, as `protocol` lists them: what they look like, and showing and hiding them.
//!
//! One page serves all; the view is picked by the window's label. No window may leave that page or open another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::command::{ShowWindow, Window, WindowAction};
use protocol::geometry::PhysicalRect;
use protocol::remembered::{Change, Heard, Theme};
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Manager, Monitor, PhysicalPosition, PhysicalSize, Url, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder, WindowEvent, Wry,
};
use tokio::sync::{Notify, mpsc};

#[cfg(target_os = "linux")]
use super::active::has_keyboard;
use super::engine::Engine;
use super::ipc::Subscriptions;
use super::memory::Memory;
use super::places::{Display, WindowBounds};
use crate::line::{AskFolder, Asks, Request};

/// The smallest that the dashboard may be, in points.
const DASHBOARD_LEAST: (f64, f64) = (760.0, 520.0);
/// Before a page that ended is loaded again: one that ends each time must not keep the processor busy.
#[cfg(target_os = "linux")]
const REVIVAL: Duration = Duration::from_millis(500);
/// For what is to be written at the end.
const LAST_WORDS: Duration = Duration::from_secs(4);
/// Windows that their user moves about; the overlay is where the work is.
const MOVABLE: [Window; 2] = [Window::Dashboard, Window::Chat];

/// Makes all of them; the dashboard is shown where it was the last time, the others wait. `again`: in place of others that have
/// ended by themselves, so that it takes the keyboard from nobody.
pub fn make(app: &AppHandle, again: bool) -> tauri::Result<()> {
    #[cfg(target_os = "linux")]
    super::caret::keep_still();
    for window in Window::ALL {
        revive(&look(window, base(app, window)).visible(false).build()?)?;
    }
    if again {
        bring_dashboard_forward(app, false);
        return Ok(());
    }
    show(app, Window::Dashboard, WindowAction::Show)
}

/// Loads a page again whose process has ended, killed or out of memory: its window would stay as it was, or white. macOS and
/// Windows: not seen to.
#[cfg(target_os = "linux")]
fn revive(view: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt as _;

    let label = view.label().to_owned();
    view.with_webview(move |webview| {
        webview.inner().connect_web_process_terminated(move |page, reason| {
            tracing::error!("the page of window {label} ended ({reason:?}) and is loaded again");
            let page = page.clone();
            gtk::glib::timeout_add_local_once(REVIVAL, move || page.reload());
        });
    })
}

/// Whether WebKit draws pages by the processor alone: in a transparent window it leaves there what was drawn before.
pub fn leaves_remains() -> bool {
    cfg!(target_os = "linux") && std::env::var_os(crate::windows::UNCOMPOSED).is_some()
}

/// Draws a window's page from nothing: WebKit does so where its size changes.
pub fn draw_anew(app: &AppHandle, window: Window) {
    #[cfg(target_os = "linux")]
    if let Some(view) = app.get_webview_window(window.label()) {
        use gtk::prelude::WidgetExt as _;

        let resized = view.with_webview(|webview| {
            let page = webview.inner();
            page.set_margin_bottom(1 - page.margin_bottom());
        });
        if let Err(error) = resized {
            tracing::debug!("the page of window {} is not drawn anew: {error}", window.label());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (app, window);
}

#[cfg(not(target_os = "linux"))]
fn revive(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

type Builder<'a> = WebviewWindowBuilder<'a, Wry, AppHandle>;

/// What a window looks like when it is made.
fn look(window: Window, builder: Builder<'_>) -> Builder<'_> {
    match window {
        Window::Dashboard => {
            let (width, height) = DASHBOARD_LEAST;
            builder.inner_size(1180.0, 800.0).min_inner_size(width, height).center()
        }
        Window::Chat => above_all(builder).inner_size(640.0, 520.0).center(),
        // It must never take the keyboard from what the agent types into.
        Window::Overlay => above_all(builder).focused(false).focusable(false),
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
    let app = window.app_handle();
    match event {
        WindowEvent::Focused(has_it) => {
            if let Some(window @ (Window::Dashboard | Window::Chat)) = Window::of_label(window.label()) {
                keyboard_changed(app, window, *has_it);
            }
        }
        WindowEvent::Moved(_) | WindowEvent::Resized(_) => memory(app).touch(),
        _ => {}
    }
    if let WindowEvent::CloseRequested { api, .. } = event {
        if window.label() == Window::Dashboard.label() && app.tray_by_id(super::tray::ID).is_none() {
            super::quit(app);
            return;
        }
        api.prevent_close();
        if let Some(window) = Window::of_label(window.label()) {
            show_or_log(app, window, WindowAction::Hide);
        }
    }
}

/// Does what the engine asks for, until it is gone; then the app ends.
pub async fn serve(app: AppHandle, mut asked: mpsc::UnboundedReceiver<Asks>) {
    // Two dialogs at once would answer for each other.
    let asks_folder = Arc::new(tokio::sync::Mutex::new(()));
    while let Some(Asks { number, what }) = asked.recv().await {
        let (app, asks_folder) = (app.clone(), Arc::clone(&asks_folder));
        let engine = Arc::clone(&app.state::<Arc<Engine>>());
        match what {
            // In the order in which they come.
            Request::Show(command) => {
                engine.answer(number, show_for_engine(&app, &command).map(|()| Value::Null)).await;
            }
            Request::ChooseFolder(asks) => {
                tokio::spawn(async move {
                    engine.answer(number, choose_folder(&app, &asks_folder, asks).await).await;
                });
            }
        }
    }
    // Whatever hangs: without their engine these windows answer nobody.
    std::thread::spawn(|| {
        std::thread::sleep(LAST_WORDS);
        std::process::exit(1);
    });
    super::quit(&app);
}

fn show_for_engine(app: &AppHandle, command: &ShowWindow) -> Result<(), ErrorView> {
    let ShowWindow { window, action, session } = command;
    show(app, *window, *action).map_err(|error| {
        let message = format!("window {} cannot be shown or hidden: {error}", window.label());
        ErrorView::new(ErrorCode::Internal, message)
    })?;
    if let Some(session) = session {
        app.state::<Subscriptions>().tell(*window, Heard::Open(session.clone()));
    }
    Ok(())
}

async fn choose_folder(
    app: &AppHandle,
    one_at_a_time: &tokio::sync::Mutex<()>,
    asks: AskFolder,
) -> Result<Value, ErrorView> {
    let _alone = one_at_a_time.try_lock().map_err(|_| {
        ErrorView::new(ErrorCode::Busy, "a folder is being chosen already")
            .with_hint("answer the dialog that is open")
    })?;
    let chosen = super::folder::choose(app, asks).await?;
    serde_json::to_value(chosen).map_err(|error| {
        ErrorView::new(ErrorCode::BadRequest, format!("the folder's name cannot be told: {error}"))
            .with_hint("choose one whose name is text")
    })
}

pub fn remember(app: &AppHandle, change: Change) {
    if let Change::Theme(theme) = change {
        wear(app, theme);
    }
    memory(app).remember(change);
}

/// What the system draws of a page, such as the list of a choice, is as bright as the page.
pub fn wear(app: &AppHandle, theme: Theme) {
    app.set_theme(match theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    });
}

pub fn memory(app: &AppHandle) -> Arc<Memory> {
    Arc::clone(&app.state::<Arc<Memory>>())
}

/// Remembers where the windows are that are to be seen.
pub fn note_places(app: &AppHandle) {
    for window in MOVABLE {
        let Some(view) = app.get_webview_window(window.label()) else { continue };
        if let Err(error) = note_place(&view) {
            tracing::debug!("where window {} is cannot be told: {error}", window.label());
        }
    }
}

/// A window that is not to be seen is nowhere, and one that is minimised or fills a display for a while has its place still.
fn note_place(view: &WebviewWindow) -> tauri::Result<()> {
    if !view.is_visible()? || view.is_minimized()? || view.is_fullscreen()? {
        return Ok(());
    }
    let (corner, size) = (view.outer_position()?, view.inner_size()?);
    let at = PhysicalRect { x: corner.x, y: corner.y, width: size.width, height: size.height };
    let seen = WindowBounds { at, maximised: view.is_maximized()? };
    let displays = displays(view)?;
    memory(view.app_handle()).note_place(view.label(), seen, &displays);
    Ok(())
}

/// Puts a window that is not to be seen where it was; in the middle of the first display where that is not known.
fn put_back(window: Window, view: &WebviewWindow) -> tauri::Result<()> {
    let is_sizable = window == Window::Dashboard;
    let least = if is_sizable { DASHBOARD_LEAST } else { (0.0, 0.0) };
    let displays = displays(view)?;
    let was = memory(view.app_handle()).place(window.label(), &displays, least);
    let size = view.inner_size()?;
    let middle = || displays.first().map(|display| display.middle(size.width, size.height));
    let Some(WindowBounds { at, maximised }) = was.or_else(middle) else { return Ok(()) };
    if !view.is_maximized()? {
        view.set_position(PhysicalPosition::new(at.x, at.y))?;
        if is_sizable {
            view.set_size(PhysicalSize::new(at.width, at.height))?;
        }
    }
    if maximised {
        view.maximize()?;
    }
    Ok(())
}

/// All, the primary one first.
fn displays(view: &WebviewWindow) -> tauri::Result<Vec<Display>> {
    let mut displays: Vec<Display> = Vec::new();
    let mut monitors = view.available_monitors()?;
    if let Some(primary) = view.primary_monitor()? {
        monitors.sort_by_key(|monitor| monitor.position() != primary.position());
    }
    for monitor in monitors {
        let name = name_of(&monitor);
        let same = displays.iter().filter(|other| other.name.starts_with(&name)).count();
        let name = if same == 0 { name } else { format!("{name} no. {}", same + 1) };
        let rect = |at: &PhysicalPosition<i32>, size: &PhysicalSize<u32>| PhysicalRect {
            x: at.x,
            y: at.y,
            width: size.width,
            height: size.height,
        };
        let free = monitor.work_area();
        displays.push(Display {
            name,
            bounds: rect(monitor.position(), monitor.size()),
            free: rect(&free.position, &free.size),
            scale: monitor.scale_factor(),
        });
    }
    Ok(displays)
}

fn name_of(monitor: &Monitor) -> String {
    let PhysicalSize { width, height } = monitor.size();
    format!("{} {width} x {height}", monitor.name().map_or("display", String::as_str))
}

/// The windows that were above the dashboard when it stepped aside; empty where the system does not tell.
#[derive(Debug, Default)]
pub struct Above(#[cfg_attr(not(target_os = "linux"), allow(dead_code))] Vec<u32>);

/// Keeps the dashboard below all other windows.
pub fn step_aside(app: &AppHandle) -> Above {
    let Some(view) = app.get_webview_window(Window::Dashboard.label()) else { return Above::default() };
    #[cfg(target_os = "linux")]
    let above = Above(super::stacking::above(&view));
    #[cfg(not(target_os = "linux"))]
    let above = Above::default();
    if let Err(error) = view.set_always_on_bottom(true) {
        tracing::warn!("the dashboard cannot step aside: {error}");
    }
    above
}

/// Lets the dashboard go back among the other windows, to where it was.
pub fn step_back(app: &AppHandle, above: Above) {
    let Some(view) = app.get_webview_window(Window::Dashboard.label()) else { return };
    if let Err(error) = back_among(&view, above) {
        tracing::warn!("the dashboard stays below the other windows: {error}");
    }
}

/// A window manager puts what is kept below no more above all others, so it is told where to.
#[cfg(target_os = "linux")]
fn back_among(view: &WebviewWindow, above: Above) -> tauri::Result<()> {
    use gtk::prelude::{GtkWindowExt, WidgetExt};

    let window = view.clone();
    view.run_on_main_thread(move || match window.gtk_window() {
        Ok(gtk_window) => {
            gtk_window.set_keep_below(false);
            // Over another connection, and after that.
            gtk_window.display().sync();
            super::stacking::put_below(&window, &above.0);
        }
        Err(error) => tracing::debug!("the dashboard stays where it is: {error}"),
    })
}

#[cfg(not(target_os = "linux"))]
fn back_among(view: &WebviewWindow, _: Above) -> tauri::Result<()> {
    view.set_always_on_bottom(false)
}

/// Puts the dashboard above other windows. `with_keyboard` or else it leaves that to whoever has it, where the system can do
/// so.
pub fn bring_dashboard_forward(app: &AppHandle, with_keyboard: bool) {
    let Some(view) = app.get_webview_window(Window::Dashboard.label()) else { return };
    let forward = || {
        if !view.is_visible()? {
            put_back(Window::Dashboard, &view)?;
            show_without_focus(&view)?;
        }
        raise(&view)?;
        if with_keyboard { take_keyboard(&view) } else { Ok(()) }
    };
    if let Err(error) = forward() {
        tracing::warn!("the dashboard cannot come forward: {error}");
    }
}

#[cfg(target_os = "linux")]
fn raise(view: &WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::{GtkWindowExt, WidgetExt};

    let window = view.clone();
    view.run_on_main_thread(move || match window.gtk_window() {
        Ok(window) => {
            // It stepped aside for the work; what is still on its way of that must not come after.
            window.set_keep_below(false);
            // One that was minimised does not come up otherwise.
            window.deiconify();
            if let Some(window) = window.window() {
                window.raise();
            }
        }
        Err(error) => tracing::debug!("the dashboard stays where it is: {error}"),
    })
}

#[cfg(not(target_os = "linux"))]
fn raise(view: &WebviewWindow) -> tauri::Result<()> {
    view.set_always_on_top(true)?;
    view.set_always_on_top(false)
}

pub fn is_visible(app: &AppHandle, window: Window) -> bool {
    app.get_webview_window(window.label()).is_some_and(|view| view.is_visible().unwrap_or(false))
}

/// Whether a window has the keyboard.
pub fn is_focused(app: &AppHandle, window: Window) -> bool {
    app.get_webview_window(window.label()).is_some_and(|view| view.is_focused().unwrap_or(false))
}

#[cfg(not(target_os = "linux"))]
fn has_keyboard(view: &WebviewWindow) -> tauri::Result<bool> {
    view.is_focused()
}

/// For the tray and the shortcut, which have nobody to answer to.
pub fn show_or_log(app: &AppHandle, window: Window, action: WindowAction) {
    if let Err(error) = show(app, window, action) {
        tracing::warn!("window {} cannot be shown or hidden: {error}", window.label());
    }
}

/// Where the keyboard of our windows went.
#[derive(Default)]
pub struct Keyboards {
    pub dashboard: Keyboard,
    pub chat: Keyboard,
}

fn keyboard_changed(app: &AppHandle, window: Window, has_it: bool) {
    fn keyboard(keyboards: &Keyboards, window: Window) -> &Keyboard {
        if window == Window::Chat { &keyboards.chat } else { &keyboards.dashboard }
    }
    let change = keyboard(&app.state::<Keyboards>(), window).changed(has_it);
    if has_it {
        return;
    }
    let (app, went) = (app.clone(), Instant::now());
    tauri::async_runtime::spawn(async move {
        let engine = Arc::clone(&app.state::<Arc<Engine>>());
        let hands = engine.hands().await;
        // The run may have ended before this is asked.
        if hands.last_taken.is_some_and(|ago| ago <= went.elapsed()) {
            keyboard(&app.state::<Keyboards>(), window).was_taken(change, hands.presses);
        }
    });
}

/// The keyboard of one window.
#[derive(Default)]
pub struct Keyboard {
    gained: Notify,
    taken: Notify,
    /// How it went; `None` while the window has it, and after its user went elsewhere.
    lost: Mutex<Option<Lost>>,
    /// How often it has come and gone.
    changes: AtomicU64,
}

#[derive(Clone, Copy)]
struct Lost {
    /// What the user had pressed in windows of others until then.
    presses: u64,
    /// A run took it for its act, or has had the desktop since: where it is now is the run's doing. The user's own hands
    /// would have paused that run.
    taken: bool,
}

impl Keyboard {
    /// It has come or gone: the how-manieth time.
    fn changed(&self, has_it: bool) -> u64 {
        if has_it {
            *self.lost() = None;
            self.gained.notify_one();
        }
        self.changes.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// A run had taken it when it went the how-manieth time. Of no account where it has come or gone since.
    fn was_taken(&self, change: u64, presses: u64) {
        let mut lost = self.lost();
        if self.changes() == change {
            *lost = Some(Lost { presses, taken: true });
            self.taken.notify_one();
        }
    }

    /// The window has it, and is about to be hidden for a run.
    pub fn goes(&self, presses: u64) {
        *self.lost() = Some(Lost { presses, taken: false });
    }

    /// By a run.
    pub fn desktop_is_taken(&self) {
        if let Some(lost) = &mut *self.lost() {
            lost.taken = true;
        }
    }

    /// How often it has come and gone.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Waits until the window gets it.
    pub async fn gained(&self) {
        self.gained.notified().await;
    }

    /// Waits until it is known that a run has taken it.
    pub async fn taken(&self) {
        self.taken.notified().await;
    }

    /// Whether a run has it from the window's user, who has gone nowhere else since.
    pub fn is_taken(&self) -> bool {
        self.lost().is_some_and(|lost| lost.taken)
    }

    /// The same, if they have not pressed anything elsewhere either.
    pub fn is_owed(&self, presses: u64) -> bool {
        self.lost().is_some_and(|lost| lost.taken && lost.presses == presses)
    }

    fn lost(&self) -> MutexGuard<'_, Option<Lost>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows a hidden chat where it was: `with_keyboard`, or else it leaves that to whoever has it, where the system can do so.
pub fn bring_chat_back(app: &AppHandle, with_keyboard: bool) {
    let Some(view) = app.get_webview_window(Window::Chat.label()) else { return };
    let back = || {
        // A window manager forgets where a window was when it is hidden.
        view.set_position(view.outer_position()?)?;
        show_without_focus(&view)?;
        if with_keyboard { take_keyboard(&view) } else { Ok(()) }
    };
    if let Err(error) = back() {
        tracing::warn!("the chat cannot come back: {error}");
    }
}

fn show_without_focus(view: &WebviewWindow) -> tauri::Result<()> {
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

/// Shows a window with the keyboard. Asked for with the time of what was last done in one of ours, it stays with a window in
/// which something was done since, if only by a run.
#[cfg(target_os = "linux")]
fn take_keyboard(view: &WebviewWindow) -> tauri::Result<()> {
    use gtk::glib::object::Cast as _;
    use gtk::prelude::{GtkWindowExt, WidgetExt};

    let window = view.clone();
    view.run_on_main_thread(move || {
        let window = match window.gtk_window() {
            Ok(window) => window,
            Err(error) => return tracing::debug!("a window does not get the keyboard: {error}"),
        };
        window.set_focus_on_map(true);
        let on_x11 = window.window().and_then(|window| window.downcast::<gdkx11::X11Window>().ok());
        let now = on_x11.map_or(gtk::gdk::ffi::GDK_CURRENT_TIME as u32, |on_x11| {
            let now = gdkx11::functions::x11_get_server_time(&on_x11);
            on_x11.set_user_time(now);
            now
        });
        window.present_with_time(now);
    })
}

#[cfg(not(target_os = "linux"))]
fn take_keyboard(view: &WebviewWindow) -> tauri::Result<()> {
    view.set_focus()
}

fn show(app: &AppHandle, window: Window, action: WindowAction) -> tauri::Result<()> {
    let Some(view) = app.get_webview_window(window.label()) else { return Err(tauri::Error::WindowNotFound) };
    let visible = match action {
        WindowAction::Show => true,
        WindowAction::Hide => false,
        // A window that is shown without the keyboard gets that first.
        WindowAction::Toggle => !view.is_visible()? || !has_keyboard(&view)?,
    };
    if !visible {
        note_places(app);
        return view.hide();
    }
    match window {
        Window::Overlay => show_overlay(&view),
        Window::Dashboard | Window::Chat => {
            // What is hidden may be put elsewhere by the system when it is shown.
            if !view.is_visible()? {
                put_back(window, &view)?;
            }
            if window == Window::Dashboard {
                view.unminimize()?;
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
    #[cfg(target_os = "linux")]
    {
        let window = view.clone();
        view.run_on_main_thread(move || {
            // Where nothing composes the screen, it would be black all over.
            if !gtk::gdk::Screen::default().is_some_and(|screen| screen.is_composited()) {
                tracing::debug!("no overlay: no compositor runs");
                return;
            }
            if let Err(error) = window.show() {
                tracing::warn!("the overlay cannot be shown: {error}");
            }
            // Last, since on X11 it is possible only for a window that was shown.
            super::click_through::hold(window);
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        view.show()?;
        view.set_ignore_cursor_events(true)
    }
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
