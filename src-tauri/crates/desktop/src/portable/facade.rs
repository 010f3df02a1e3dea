//! The [`Desktop`] of macOS and Windows, over the threads of this folder and the platform's parts. Its entries are one
//! file each: `as_screen.rs`, `as_hands.rs`, `as_elements.rs`, `as_windows.rs`, `as_clipboard.rs`.

use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use enigo::Enigo;
use futures::future::BoxFuture;
use protocol::view::{Check, CheckState, CheckView};
use tokio_util::sync::CancellationToken;

use super::capture::Capturer;
use super::input::{self, InputSender};
use super::platform::{Platform, view};
use super::pressed::PressedInput;
use super::reader::{Reader, ScreenContents};
use super::scene::Own;
use super::watchdog::Watchdog;
#[cfg(windows)]
use crate::reading::{self, TextReader};
use crate::worker::{Worker, WorkerState};
use crate::{Abilities, Desktop, DesktopError, Fence, Hands as _, Options, Screen as _, Script, ScriptedApp};

/// For looking and for short questions.
pub(super) const LOOK: Duration = Duration::from_secs(10);
/// How long the end of this program may wait until everything is up.
const LAST_WORD: Duration = Duration::from_millis(200);

impl WorkerState for Capturer {}
impl WorkerState for InputSender {}
impl WorkerState for Enigo {}

/// The thread for windows, applications and settings keeps nothing.
pub(super) struct Desk;

impl WorkerState for Desk {}

pub(crate) fn open<P: Platform>(options: Options) -> Arc<dyn Desktop> {
    let own = Own { pid: options.own_pid, windows: options.windows.clone() };
    let held = Arc::new(PressedInput::guarded(Watchdog::new(options.watchdog)));
    let fence = Arc::new(Mutex::new(Fence::default()));
    let failsafe = Arc::new(AtomicBool::new(options.failsafe));
    let input = {
        let (held, own, fence) = (Arc::clone(&held), own.clone(), Arc::clone(&fence));
        let failsafe = Arc::clone(&failsafe);
        Worker::new("input", move || {
            InputSender::open(Arc::clone(&held), own.clone(), Arc::clone(&fence), Arc::clone(&failsafe))
        })
    };
    Arc::new(Facade::<P> {
        capturer: Worker::new("capture", || Ok(Capturer)),
        input,
        tree: Worker::new("elements", Reader::open),
        pointer: Worker::new("failsafe", input::connect),
        desk: Worker::new("windows", || Ok(Desk)),
        held,
        own,
        fence,
        failsafe,
        scripted: options.scripted_apps,
        #[cfg(windows)]
        text_reader: options.ocr_models.filter(|folder| ocr::are_in(folder)).map(TextReader::new),
        platform: PhantomData,
    })
}

pub(super) struct Facade<P: Platform> {
    pub(super) capturer: Worker<Capturer>,
    pub(super) input: Worker<InputSender>,
    pub(super) tree: Worker<Reader<P::Tree>>,
    pub(super) pointer: Worker<Enigo>,
    pub(super) desk: Worker<Desk>,
    pub(super) held: Arc<PressedInput>,
    pub(super) own: Own,
    pub(super) fence: Arc<Mutex<Fence>>,
    /// Whether acts keep out of the corner.
    pub(super) failsafe: Arc<AtomicBool>,
    scripted: Vec<ScriptedApp>,
    #[cfg(windows)]
    pub(super) text_reader: Option<TextReader>,
    /// `fn() -> P`: nothing of the platform's own leaves its thread.
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform> Facade<P> {
    #[cfg(windows)]
    fn reads(&self) -> bool {
        self.text_reader.is_some()
    }

    /// Vision is always there.
    #[cfg(not(windows))]
    fn reads(&self) -> bool {
        true
    }

    /// What is on the screen now.
    pub(super) async fn sight(&self) -> Result<ScreenContents, DesktopError> {
        let (tops, displays) =
            self.capturer.run(LOOK, |_| Ok((Capturer::tops()?, Capturer::displays()?))).await?;
        Ok(ScreenContents { tops, displays, own: self.own.clone(), fence: self.fenced() })
    }
}

impl<P: Platform> Drop for Facade<P> {
    fn drop(&mut self) {
        // What is not up by then is the watchdog's, whose pipe ends with this program.
        let _late = input::release(&self.held).recv_timeout(LAST_WORD);
    }
}

impl<P: Platform> Desktop for Facade<P> {
    fn abilities(&self) -> Abilities {
        Abilities {
            screen: true,
            input: true,
            elements: true,
            windows: true,
            ocr: self.reads(),
            scripting: P::SCRIPTING,
        }
    }

    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>> {
        P::script(script, cancel)
    }

    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        Box::pin(async move {
            let mut all = vec![match self.displays().await {
                Ok(displays) => {
                    view(Check::Display, CheckState::Well, format!("{} displays", displays.len()), None)
                }
                Err(error) => view(
                    Check::Display,
                    CheckState::Missing,
                    error.to_string(),
                    Some("connect a display or log in to a desktop session"),
                ),
            }];
            let scripted = self.scripted.clone();
            all.extend(self.desk.run(LOOK, move |_| Ok(P::checks(&scripted))).await.unwrap_or_else(
                |error| {
                    let remedy = "start Miki again; a system service may hang";
                    vec![view(Check::Accessibility, CheckState::Missing, error.to_string(), Some(remedy))]
                },
            ));
            all.push(match self.pointer.run(LOOK, |enigo| input::pointer(enigo)).await {
                Ok(_) => view(Check::Input, CheckState::Well, "pointer and keys can be sent".into(), None),
                Err(error) => view(
                    Check::Input,
                    CheckState::Missing,
                    error.to_string(),
                    Some("give the permission named, then start Miki again"),
                ),
            });
            let clipboard = self.capturer.run(LOOK, |_| super::as_clipboard::open().map(|_| ()));
            all.push(match clipboard.await {
                Ok(()) => view(Check::Clipboard, CheckState::Well, "the clipboard opens".into(), None),
                Err(error) => view(
                    Check::Clipboard,
                    CheckState::Limited,
                    error.to_string(),
                    Some("close the program that holds the clipboard; long texts are pasted"),
                ),
            });
            #[cfg(windows)]
            all.push(reading::check(self.text_reader.as_ref()));
            all
        })
    }

    fn open_permission(&self, check: Check) -> BoxFuture<'_, Result<(), DesktopError>> {
        let scripted = self.scripted.clone();
        Box::pin(self.desk.run(LOOK, move |_| P::open_permission(check, scripted)))
    }
}
