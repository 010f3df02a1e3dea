//! Eyes and hands: capture, pointer, keyboard, text, accessibility elements, clipboard, scripting.
//!
//! Knows nothing of agents, models, tools or policy. Everything above this crate sees one trait, [`Desktop`];
//! the platforms are below it, in `linux/`, `macos/` and `windows/`, and differ in nothing that callers see but
//! in [`Abilities`]. Blocking platform calls never run on the caller's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use ocr::TextRead;
use pictures::{Picture, PictureError, Thumbnail};
use protocol::geometry::NormPoint;
use protocol::view::{Check, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

/// One desktop, all of it. All coordinates are 0-1000 of the chosen display.
///
/// Every method honours its deadline itself and answers [`DesktopError::Timeout`]; `cancel` ends an action between
/// two input events, and whatever it held is released before it answers.
pub trait Desktop: Screen + Hands + Elements + Windows + Clipboard {
    fn abilities(&self) -> Abilities;
    /// The same desktop with a pointer and a keyboard of its own, beside the user's, which are gone with it: acts move
    /// neither the user's pointer nor the focus. Its fence is its own, too. `agent` is what they are called.
    ///
    /// # Errors
    /// [`DesktopError::NotAvailable`] says why there are none here.
    fn with_own_hands(&self, _agent: String) -> BoxFuture<'_, Result<Arc<dyn Desktop>, DesktopError>> {
        let none = "a pointer and a keyboard of an agent's own need X11";
        Box::pin(async move { Err(DesktopError::NotAvailable(none.into())) })
    }
    /// Runs AppleScript in a killable child; `DesktopError::NotAvailable` off macOS.
    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>>;
    /// Display, capture, input, accessibility, clipboard: what is there and how to fix what is not.
    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>>;
    /// Opens the system's own settings where this permission is given.
    fn open_permission(&self, check: Check) -> BoxFuture<'_, Result<(), DesktopError>>;
}

/// What can be seen.
pub trait Screen: Send + Sync {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>>;
    /// Captures, leaves our own windows out, marks, scales, encodes.
    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>>;
    /// Captures as a picture does and encodes nothing: what an area looks like, to be compared with another time.
    fn thumbnail(&self, area: Area) -> BoxFuture<'_, Result<Thumbnail, DesktopError>>;
    /// The text that can be read in the pixels of an area (OCR), for what has no tree. If it takes too long, what was
    /// read until then, and how much is left; nothing of it is lost.
    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>>;
    /// Whether the screen is locked, or blanked by its saver: then nothing is looked at and nothing done. `false` where
    /// nobody knows.
    fn is_locked(&self) -> BoxFuture<'_, bool>;
}

/// Pointer and keyboard, and how the user stops them.
pub trait Hands: Send + Sync {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// Releases every key and button this program holds down. Never waits for another call.
    fn release_all(&self);
    /// Whether any key or button is held down now.
    fn is_holding(&self) -> bool;
    /// From now on acts only within these displays and applications.
    fn fence(&self, fence: Fence);
    /// Where acts may go now.
    fn fenced(&self) -> Fence;
    /// Whether acts keep out of the failsafe's corner from now on; at first as [`Options::failsafe`] says.
    fn keep_corner(&self, _on: bool) {}
    /// Closes an open menu or its like, which would take the user's next click and keys; whether there was one. `false`
    /// where no menu holds them.
    fn close_menus(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { false })
    }
    /// Completes when the user steps in after this call. What our own acts do never counts.
    fn interrupted(&self) -> BoxFuture<'_, Interruption>;
    /// How often the user has pressed a key or a button on no window of ours; what brings one of ours to the front does not
    /// count, nor does a pointer that only moves. Counted while someone waits for [`Hands::interrupted`], on Linux alone.
    fn presses(&self) -> u64 {
        0
    }
    /// The user's last presses, as they come; told where and while [`Hands::presses`] counts.
    fn last_press(&self) -> LastPress {
        LastPress::default()
    }
}

/// The accessibility tree.
pub trait Elements: Send + Sync {
    /// One bounded, pruned snapshot, on wish with the text in the picture of what is not told. Its refs are valid for as long as their elements are there.
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>>;
    /// An agent was told of these elements. From then on their refs stand for what they were then: an act on what has
    /// become something else is refused, whatever was looked at in between, of which nobody was told.
    fn told(&self, told: ToldElements) -> BoxFuture<'_, ()>;
    /// What a ref was given to; `None` if it was never given. Asks no application, so that it is quick.
    fn listed(&self, reference: String) -> BoxFuture<'_, Option<ListedElement>>;
    /// The application that an act on this would go to now; a menu is a selector with its application alone. `None` if
    /// elements are found by their windows, or if it is not known.
    fn owner(&self, _target: Target) -> BoxFuture<'_, Option<Owner>> {
        Box::pin(async { None })
    }
    /// Where a link that was listed leads, by its application's word; `None` if it is none, or if that is not told.
    fn leads_to(&self, _reference: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { None })
    }
    /// Whether an element that was listed is a page's.
    fn inside(&self, _reference: String) -> BoxFuture<'_, Inside> {
        Box::pin(async { Inside::Untold })
    }
    /// The editable field that has the keyboard; `None` if none has it, or if that is not known.
    fn field(&self) -> BoxFuture<'_, Option<Field>> {
        Box::pin(async { None })
    }
    /// Does something to an element: by an accessibility action where there is one, else with pointer and keys.
    fn operate(
        &self,
        target: Target,
        action: ElementAction,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>>;
    /// Chooses a menu's item by its path (`["File", "Save As..."]`); in the active application where `app` is empty.
    fn press_menu(
        &self,
        app: Option<String>,
        path: Vec<String>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>>;
}

/// Windows and applications of others.
pub trait Windows: Send + Sync {
    /// From top to bottom; which one has the focus is among its states.
    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>>;
    fn change_window(
        &self,
        window: WindowId,
        change: WindowChange,
    ) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// Gives the keyboard back to a window that its user had it in: no act of an agent, so that no fence has a say.
    ///
    /// # Errors
    /// `NotFound` if it has closed; `Forbidden` for one of ours.
    fn give_keyboard(&self, window: WindowId) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// Applications that run or could be launched.
    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>>;
    /// The focus and the open windows, cheaply: taken before and after an act.
    fn glance(&self) -> BoxFuture<'_, Result<Glance, DesktopError>> {
        Box::pin(async {
            let windows = self.windows().await?;
            let is_active = |one: &&WindowView| one.states.iter().any(|state| state == "focused");
            let active = windows.iter().find(is_active).map(|one| one.id);
            let windows = windows.into_iter().map(|one| Glimpse { id: one.id, title: one.title }).collect();
            Ok(Glance { windows, active, ..Glance::default() })
        })
    }
    /// What a process runs, by its program's file: windows can be called anything. `None` if the system does not tell.
    fn program(&self, _pid: u32) -> Option<String> {
        None
    }
    /// Which window gets the keys now, or a click at this point of a display: by the system's word, not by the list of
    /// windows.
    fn taker(&self, _at: Option<(u32, NormPoint)>) -> BoxFuture<'_, Taker> {
        Box::pin(async { Taker::Unsaid })
    }
    /// Where the pointer is that acts: on which display, and there in 0-1000. `None` if nobody knows.
    fn pointer(&self) -> BoxFuture<'_, Option<(u32, NormPoint)>> {
        Box::pin(async { None })
    }
    /// The window that this one belongs to and stands above, as a dialog does. `None` also where nobody knows.
    fn belongs_to(&self, _window: WindowId) -> BoxFuture<'_, Option<WindowId>> {
        Box::pin(async { None })
    }
    /// The program that [`Windows::launch`] would start for this name, where both what names it and the program itself are
    /// the system's, and nothing that the user's own programs can write. `None` also where nobody knows.
    fn launches(&self, _app: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { None })
    }
    /// Why [`Windows::launch`] would not start what this name means within a fence; `None` if it would, or if nobody knows.
    fn outside(&self, app: String, fence: Fence) -> BoxFuture<'_, Option<DesktopError>> {
        Box::pin(async move { fence::check_app(&fence, &[&app]).err() })
    }
    /// Starts an application by its name, and waits until it has a window.
    fn launch(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// Asks an application to end; it may ask its user to save first.
    fn quit(&self, app: String) -> BoxFuture<'_, Result<Acted, DesktopError>>;
}

/// What was copied.
pub trait Clipboard: Send + Sync {
    /// The clipboard's text; empty if it holds none.
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>>;
    fn set_clipboard(&self, text: String) -> BoxFuture<'_, Result<Acted, DesktopError>>;
}

/// Opens the desktop of this platform. Never fails: what is missing is said by [`Desktop::checks`] and by each call.
pub fn open(options: Options) -> Arc<dyn Desktop> {
    platform::open(options)
}

/// Whether this folder holds the models of OCR; only Linux uses them.
pub fn has_ocr_models(folder: &std::path::Path) -> bool {
    #[cfg(target_os = "linux")]
    let has = ocr::are_in(folder);
    #[cfg(not(target_os = "linux"))]
    let has = folder.is_dir();
    has
}

/// The watchdog's whole program: waits on standard input for the end of the process that started it, and lets go of
/// what that one held.
///
/// # Errors
/// Where the display cannot be reached, or input cannot be sent.
pub fn run_watchdog() -> Result<(), DesktopError> {
    #[cfg(target_os = "linux")]
    return platform::run_watchdog();
    #[cfg(not(target_os = "linux"))]
    return portable::run_watchdog();
}

/// How the desktop is to be used.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether acts keep out of the corner that stops everything. The corner itself is always watched.
    pub failsafe: bool,
    /// The process of ours that has the desktop: its windows, and on Linux those of others that run the same program, are left out of pictures
    /// and element lists, and never acted on. What a window calls itself does not count.
    pub own_pid: u32,
    /// The other process of ours, which has our windows: as much left alone as `own_pid`.
    pub windows: WindowsProcess,
    /// The program and first arguments that wait beside this one, and release what it held should it be killed; none
    /// if empty. It runs [`run_watchdog`].
    pub watchdog: Vec<String>,
    /// What scripts of ours use beside System Events: whether they may is checked, and asked for, with each. Ignored off
    /// macOS.
    pub scripted_apps: Vec<ScriptedApp>,
    /// Folder with the models of OCR; no OCR if `None`. Ignored on macOS.
    pub ocr_models: Option<std::path::PathBuf>,
    /// The X display, `:0`; the environment's `DISPLAY` where empty. Ignored off Linux.
    pub display: Option<String>,
    /// Address of the session bus; the environment's if `None`. Ignored off Linux.
    pub session_bus: Option<String>,
}

impl Default for Options {
    /// Failsafe on, and no windows of our own but this process's.
    fn default() -> Self {
        Self {
            failsafe: true,
            own_pid: std::process::id(),
            windows: WindowsProcess::default(),
            watchdog: Vec::new(),
            scripted_apps: Vec::new(),
            ocr_models: None,
            display: None,
            session_bus: None,
        }
    }
}

/// The process that shows our windows. It may end and be started again while the desktop is open.
#[derive(Clone, Debug, Default)]
pub struct WindowsProcess {
    program: Option<std::path::PathBuf>,
    pid: Arc<AtomicU32>,
}

impl WindowsProcess {
    /// Not started yet. On Linux, windows of every process that runs `program` are ours.
    pub fn of(program: std::path::PathBuf) -> Self {
        Self { program: Some(program), pid: Arc::default() }
    }

    /// It was started, or has ended.
    pub fn set(&self, pid: Option<u32>) {
        self.pid.store(pid.unwrap_or(0), Ordering::SeqCst);
    }

    pub fn program(&self) -> Option<&std::path::Path> {
        self.program.as_deref()
    }

    fn is(&self, pid: u32) -> bool {
        pid != 0 && self.pid.load(Ordering::SeqCst) == pid
    }
}

/// An application that scripts use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedApp {
    pub name: String,
    /// `com.apple.Safari`
    pub bundle: String,
}

/// What this platform and session can do; tools that cannot work are not offered to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    pub screen: bool,
    pub input: bool,
    pub elements: bool,
    /// Windows and applications can be listed and changed.
    pub windows: bool,
    /// Text in pictures can be read.
    pub ocr: bool,
    pub scripting: bool,
}

/// An AppleScript with its arguments, which are passed to `on run argv`, never concatenated.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub source: String,
    pub arguments: Vec<String>,
    pub timeout: Duration,
}

/// Why the desktop could not do it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DesktopError {
    /// "not available here: ..."
    #[error("not available here: {0}")]
    NotAvailable(String),
    #[error("no permission: {what}; {remedy}")]
    Permission { what: String, remedy: String },
    #[error("not found: {0}")]
    NotFound(String),
    #[error("{0}")]
    BadInput(String),
    /// The target is our own window, or the failsafe corner.
    #[error("forbidden: {0}")]
    Forbidden(String),
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    #[error("stopped")]
    Cancelled,
    #[error("{0}")]
    Failed(String),
}

impl From<PictureError> for DesktopError {
    fn from(error: PictureError) -> Self {
        match error {
            PictureError::Quality(_)
            | PictureError::NoSize
            | PictureError::TooLarge(_)
            | PictureError::File(_) => Self::BadInput(error.to_string()),
            PictureError::Frame { .. }
            | PictureError::Scale(_)
            | PictureError::Jpeg(_)
            | PictureError::Broken(_) => Self::Failed(error.to_string()),
        }
    }
}

/// What is said of a locked screen.
pub const LOCKED: &str = "the screen is locked or blanked by its screen saver; unlock it, then try again";

fn locked() -> DesktopError {
    DesktopError::NotAvailable(LOCKED.into())
}

pub use act::{Acted, Action, Button, Evidence, Interruption, LastPress};
pub use choose::{may_mean, plain as plain_name};
pub use element::{
    ActionMethod, Element, ElementAction, ElementQuery, Field, Inside, ListedElement, Operated, Owner,
    PictureMark, Scope, Selector, Snapshot, Target, ToldElements,
};
pub use glance::{Glance, Glimpse};
pub use keys::{Key, UnknownKey};
pub use one_look::one_look;
#[cfg(target_os = "linux")]
pub use platform::Accessibility;
pub use protocol::run::Fence;
pub use shot::{Area, Shot};
pub use window::{AppView, Taker, WindowChange, WindowId, WindowView};

mod act;
mod element;
mod glance;
mod one_look;
mod shot;
mod window;

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the other platforms choose by themselves"))]
mod choose;

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux reads where nothing is told"))]
mod marks;

pub mod environment;
pub mod fake;
pub mod fence;
mod keys;
#[cfg(any(target_os = "linux", windows))]
mod reading;
mod worker;

#[cfg(any(target_os = "macos", test))]
pub mod osascript;
// What macOS and Windows share; its pure parts are tested on Linux too.
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;
#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;
#[cfg(windows)]
use windows as platform;
