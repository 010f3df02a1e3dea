//! Linux with X11: one facade over threads that may block and an accessibility bus that may not.
//!
//! Capturing and acting each have a thread (`worker.rs`) with a connection of its own; releasing and the failsafe have
//! theirs, so that neither waits for the other two. Wayland without an X server is named and refused.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use protocol::view::{Check, CheckState, CheckView};
use tokio_util::sync::CancellationToken;

use self::apps::SessionAddress;
pub use self::atspi::Accessibility;
pub(crate) use self::atspi::Readings;
use self::capture::Capturer;
use self::device_pair::DevicePair;
use self::ewmh::Ewmh;
use self::fence::Fenced;
use self::input::InputSender;
use self::locks::Locks;
use self::pressed::PressedInput;
use self::session::Session;
use self::users_window::UsersWindow;
use self::watch::Watch;
use self::watchdog::Watchdog;
pub(crate) use self::watchdog::run_watchdog;
use self::windows::Own;
use crate::marks::MarkTable;
use crate::reading::{self, TextReader};
use crate::worker::Worker;
use crate::{Abilities, Desktop, DesktopError, Options, Script};

mod as_clipboard;
mod as_elements;
mod as_hands;
mod as_screen;
mod as_windows;

mod apps;
mod atspi;
mod capture;
mod checks;
mod clipboard;
mod compose;
mod device_pair;
mod echo;
mod ewmh;
mod failsafe;
mod fence;
mod holding;
mod input;
mod keymap;
mod locks;
mod pressed;
mod scene;
mod session;
mod shared;
mod terminals;
mod typing;
mod users_window;
mod watch;
mod watchdog;
mod windows;
mod worked_off;

/// A picture, a list of displays, a check: what only looks.
const LOOK: Duration = Duration::from_secs(10);
/// How long opening may wait for an X server that does not answer.
const OPENING: Duration = Duration::from_secs(2);

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    Arc::new(LinuxDesktop::open(options))
}

struct LinuxDesktop {
    abilities: Abilities,
    capturer: Arc<Worker<Capturer>>,
    ewmh: Arc<Worker<Ewmh>>,
    address: Arc<SessionAddress>,
    fence: Arc<Fenced>,
    input: Worker<InputSender>,
    held: Arc<PressedInput>,
    /// Kept for the user where the hands are an agent's own.
    users_window: Option<Arc<UsersWindow>>,
    /// Whether acts keep out of the corner.
    corner: Arc<AtomicBool>,
    watch: Arc<Watch>,
    accessibility: Accessibility,
    text_reader: Option<Arc<TextReader>>,
    marks: Mutex<MarkTable>,
    locks: Arc<Locks>,
    own: Own,
    /// The watchdog's program.
    keeper: Vec<String>,
}

impl LinuxDesktop {
    fn open(options: Options) -> Self {
        let Options {
            failsafe,
            own_pid,
            windows,
            watchdog,
            ocr_models,
            display,
            session_bus,
            scripted_apps: _,
        } = options;
        let session = first_session(display.clone());
        let has_bus = session_bus.is_some() || names_a_bus();
        let abilities = match &session {
            Some(session) => checks::abilities(session, has_bus),
            None => Abilities::default(),
        };
        let text_reader =
            ocr_models.filter(|folder| ocr::are_in(folder)).map(|folder| Arc::new(TextReader::new(folder)));
        let abilities = Abilities { ocr: abilities.screen && text_reader.is_some(), ..abilities };
        let own = Own::new(own_pid, windows);
        let keeper = watchdog;
        let watchdog = Watchdog::new(keeper.clone(), display.clone());
        let held = PressedInput::new(display.clone(), None, session.map(Arc::new), watchdog);
        let corner = Arc::new(AtomicBool::new(failsafe));
        let watch = Watch::new(display.clone(), own.clone(), Arc::clone(&held));
        let capturer = {
            let (display, own) = (display.clone(), own.clone());
            Worker::new("capture", move || Capturer::open(display.as_deref(), own.clone()))
        };
        let fence: Arc<Fenced> = Arc::default();
        let (ewmh, input) = hands(display.as_deref(), &own, &held, &corner, &fence);
        let address = Arc::new(SessionAddress { display: display.clone(), session_bus: session_bus.clone() });
        let locks = Arc::new(Locks::new(display.clone(), session_bus.clone()));
        let mut accessibility = Accessibility::leaving_out(own.clone(), display, session_bus);
        accessibility.kept_by(keeper.clone());
        Self {
            abilities,
            capturer: Arc::new(capturer),
            ewmh,
            address,
            fence,
            input,
            held,
            users_window: None,
            corner,
            watch,
            accessibility,
            text_reader,
            marks: Mutex::default(),
            locks,
            own,
            keeper,
        }
    }

    /// To be held through an act: its user keeps their window, where the hands are an agent's own.
    fn keep_users_window(&self) -> Option<users_window::Acting> {
        self.users_window.as_ref().map(UsersWindow::begin)
    }

    /// The same screen and the same eyes, with other hands.
    fn with_hands(&self, held: Arc<PressedInput>, users_window: Arc<UsersWindow>) -> Self {
        let fence: Arc<Fenced> = Arc::default();
        let display = self.address.display.as_deref();
        let (ewmh, input) = hands(display, &self.own, &held, &self.corner, &fence);
        let windows = Arc::clone(&ewmh);
        let active = move || {
            let windows = Arc::clone(&windows);
            let asked = async move { windows.run(LOOK, |ewmh| ewmh.active_named()).await.ok().flatten() };
            Box::pin(asked) as BoxFuture<'static, Option<(u32, String)>>
        };
        let accessibility = self.accessibility.working_in(Arc::new(active));
        Self {
            abilities: self.abilities,
            capturer: Arc::clone(&self.capturer),
            ewmh,
            address: Arc::clone(&self.address),
            fence,
            input,
            held,
            users_window: Some(users_window),
            corner: Arc::clone(&self.corner),
            watch: Arc::clone(&self.watch),
            accessibility,
            text_reader: self.text_reader.clone(),
            marks: Mutex::default(),
            locks: Arc::clone(&self.locks),
            own: self.own.clone(),
            keeper: self.keeper.clone(),
        }
    }
}

/// What acts within a fence: on windows, and with pointer and keys.
fn hands(
    display: Option<&str>,
    own: &Own,
    held: &Arc<PressedInput>,
    corner: &Arc<AtomicBool>,
    fence: &Arc<Fenced>,
) -> (Arc<Worker<Ewmh>>, Worker<InputSender>) {
    let ewmh = {
        let (display, own, fence) = (display.map(str::to_owned), own.clone(), Arc::clone(fence));
        let pair = held.pair.clone();
        Arc::new(Worker::new("windows", move || {
            Ewmh::open(display.as_deref(), pair.as_deref(), own.clone(), Arc::clone(&fence))
        }))
    };
    let (display, own, held) = (display.map(str::to_owned), own.clone(), Arc::clone(held));
    let (corner, fence) = (Arc::clone(corner), Arc::clone(fence));
    let input = move || {
        let (corner, fence) = (Arc::clone(&corner), Arc::clone(&fence));
        InputSender::open(display.clone(), own.clone(), Arc::clone(&held), corner, fence)
    };
    (ewmh, Worker::new("input", input))
}

impl Drop for LinuxDesktop {
    fn drop(&mut self) {
        self.held.end();
    }
}

/// The connection kept for releasing. An X server that accepts but never answers must not hang the start.
fn first_session(display: Option<String>) -> Option<Session> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("desktop-open".into())
        .spawn(move || {
            let _gone = sender.send(Session::connect(display.as_deref()));
        })
        .ok()?;
    receiver.recv_timeout(OPENING).ok()?.ok()
}

/// Whether there is a session bus to ask for the accessibility bus.
fn names_a_bus() -> bool {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    named
        || std::env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|folder| std::path::Path::new(&folder).join("bus").exists())
}

impl Desktop for LinuxDesktop {
    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn with_own_hands(&self, agent: String) -> BoxFuture<'_, Result<Arc<dyn Desktop>, DesktopError>> {
        Box::pin(async move {
            let (display, own) = (self.address.display.clone(), self.own.clone());
            let watchdog = Watchdog::new(self.keeper.clone(), display.clone());
            let watch = Arc::clone(&self.watch);
            let make = move |_: &mut Ewmh| {
                let pair = Arc::new(DevicePair::make(display.as_deref(), &agent, &own, &watchdog)?);
                let session = Session::connect_as(display.as_deref(), Some(&pair))?;
                let users_window = UsersWindow::keep(display.as_deref(), own.clone(), watch, pair.ids)?;
                let held = PressedInput::new(display, Some(pair), Some(Arc::new(session)), watchdog);
                Ok((held, users_window))
            };
            let (held, users_window) = self.ewmh.run(LOOK, make).await?;
            Ok(Arc::new(self.with_hands(held, users_window)) as Arc<dyn Desktop>)
        })
    }

    fn run_script(&self, _: Script, _: CancellationToken) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("AppleScript needs macOS".into())) })
    }

    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        Box::pin(async move {
            let display = self.capturer.run(LOOK, |capturer| Ok(capturer.checks())).await;
            let mut all = display.unwrap_or_else(|error| checks::of_display(Err(&error)));
            let accessibility = tokio::time::timeout(LOOK, self.accessibility.check()).await;
            all.push(accessibility.unwrap_or_else(|_| {
                let detail = format!("the accessibility bus did not answer within {LOOK:?}");
                let remedy = "log out and in again, or restart at-spi2-core";
                checks::view(Check::Accessibility, CheckState::Missing, detail, Some(remedy))
            }));
            all.push(reading::check(self.text_reader.as_deref()));
            all
        })
    }

    fn open_permission(&self, _: Check) -> BoxFuture<'_, Result<(), DesktopError>> {
        let message = "X11 has no permissions to give; `miki doctor` says what is missing";
        Box::pin(async move { Err(DesktopError::NotAvailable(message.into())) })
    }
}
