//! The [`Desktop`] of macOS and Windows, over the threads of this folder and the platform's [`Tree`].

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use enigo::Enigo;
use futures::future::BoxFuture;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

use super::eye::Eye;
use super::hand::{self, Hand};
use super::held::{Held, Stop};
use super::place::{self, Own, Top};
use crate::lane::{Kept, Lane};
use crate::picture::{Place, develop};
use crate::{
    Abilities, Acted, Action, AppView, Area, Clipboard, Deed, Desktop, DesktopError, ElementQuery, Elements,
    Evidence, Fence, Hands, Interruption, Operated, Options, Picture, Rung, Screen, Script, Shot, Snapshot,
    Target, TextLine, WindowChange, WindowId, WindowView, Windows,
};

const LOOK: Duration = Duration::from_secs(10);
const ACT: Duration = Duration::from_secs(25);
/// Elements, where the query names no deadline.
const ELEMENTS: Duration = Duration::from_secs(10);
/// Reading or writing the focused text.
const TEXT: Duration = Duration::from_secs(2);
/// How long a field may take to show what was typed.
const READ_BACK: Duration = Duration::from_millis(1200);
/// Between two looks at the pointer, and between two tries where it cannot be asked for.
const POINTER: Duration = Duration::from_millis(50);
const RETRY: Duration = Duration::from_secs(2);

impl Kept for Eye {}
impl Kept for Hand {}
impl Kept for Enigo {}

/// A platform's accessibility tree, with what else only that platform has. Lives on one thread.
pub(crate) trait Tree: Sized + Kept {
    const SCRIPTING: bool;
    /// Opens the platform's accessibility interface.
    fn open() -> Result<Self, DesktopError>;
    /// The elements of `window`; what was not read by `deadline` is said in `cut`.
    fn elements(
        &mut self,
        window: &Top,
        query: &ElementQuery,
        display: &DisplayView,
        deadline: Instant,
    ) -> Result<Snapshot, DesktopError>;
    fn focus(&mut self, reference: &str) -> Result<Acted, DesktopError>;
    /// The text of the focused editable element; a password's is never read.
    fn focused_text(&mut self) -> Option<String>;
    /// Inserts at the caret without keys. False where that did nothing.
    fn insert(&mut self, text: &str) -> bool;
    /// Whether the tree may be read and the screen captured.
    fn checks() -> Vec<CheckView>;
    fn script(script: Script, cancel: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>>;
}

pub(crate) fn view(check: Check, state: CheckState, detail: String, mend: Option<&str>) -> CheckView {
    CheckView { check, state, detail, mend: mend.map(str::to_owned) }
}

pub(crate) fn open<T: Tree>(options: Options) -> Arc<dyn Desktop> {
    let own = Own { pid: options.own_pid, titles: options.own_titles };
    let held = Arc::new(Held::default());
    let failsafe = options.failsafe;
    let hand = {
        let (held, own) = (Arc::clone(&held), own.clone());
        Lane::new("input", move || Hand::open(Arc::clone(&held), own.clone(), failsafe))
    };
    Arc::new(Facade::<T> {
        eye: Lane::new("capture", || Ok(Eye)),
        hand,
        tree: Lane::new("elements", T::open),
        pointer: Lane::new("failsafe", hand::connect),
        held,
        own,
        failsafe,
        platform: PhantomData,
    })
}

struct Facade<T: Tree> {
    eye: Lane<Eye>,
    hand: Lane<Hand>,
    tree: Lane<T>,
    pointer: Lane<Enigo>,
    held: Arc<Held>,
    own: Own,
    failsafe: bool,
    /// `fn() -> T`: the tree itself never leaves its thread.
    platform: PhantomData<fn() -> T>,
}

impl<T: Tree> Facade<T> {
    async fn perform(&self, action: Action, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        let inner = cancel.child_token();
        let given_up = inner.clone().drop_guard();
        let stop = Stop::new(inner, &self.held);
        let work = self.hand.run(ACT, move |hand| hand.perform(&action, &stop));
        let result = tokio::select! {
            biased;
            result = work => result,
            () = cancel.cancelled() => Err(DesktopError::Cancelled),
        };
        drop(given_up);
        if matches!(result, Err(DesktopError::Cancelled | DesktopError::Timeout(_))) {
            self.release_all();
        }
        result
    }

    async fn focused_text(&self) -> Option<String> {
        self.tree.run(TEXT, |tree| Ok(tree.focused_text())).await.ok().flatten()
    }

    /// By the accessibility interface, then paste or keys; reads back where the field can be read.
    async fn write(&self, text: String, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let own = self.own.clone();
        let ours = move |_: &mut Eye| Ok(Eye::tops()?.iter().any(|top| top.focused && own.has(top)));
        if self.eye.run(LOOK, ours).await? {
            return Err(DesktopError::Forbidden("Miki's own window has the keyboard".into()));
        }
        let before = self.focused_text().await;
        if before.is_some() {
            let wished = text.clone();
            let inserted = self.tree.run(TEXT, move |tree| Ok(tree.insert(&wished))).await.unwrap_or(false);
            if inserted {
                let note = format!("typed {} characters, read back", text.chars().count());
                return Ok(Acted { evidence: Evidence::ReadBack, note });
            }
        }
        let acted = self.perform(Action::Type { text: text.clone() }, cancel).await?;
        let Some(before) = before else { return Ok(acted) };
        let end = Instant::now() + READ_BACK;
        let mut readable = false;
        while Instant::now() < end && !cancel.is_cancelled() {
            if let Some(after) = self.focused_text().await {
                readable = true;
                if after != before && after.contains(&text) {
                    let note = format!("{}, read back", acted.note);
                    return Ok(Acted { evidence: Evidence::ReadBack, note });
                }
            }
            tokio::time::sleep(POINTER).await;
        }
        // Enter and Tab may have emptied or left the field: what it shows now says nothing.
        if !readable || text.contains(['\n', '\t']) {
            return Ok(acted);
        }
        let note = format!("{}, but the focused field does not show it", acted.note);
        Ok(Acted { evidence: Evidence::Mismatch, note })
    }

    async fn watch_corner(&self) {
        loop {
            let look = self.pointer.run(LOOK, |enigo| {
                let displays = Eye::displays()?;
                // The corner is 0,0 of a display in points and in pixels alike where that display is the first.
                Ok(place::in_corner(hand::pointer(enigo)?, &hand::bounds(&displays), 0))
            });
            match look.await {
                Ok(true) => return,
                Ok(false) => tokio::time::sleep(POINTER).await,
                Err(error) => {
                    tracing::debug!(%error, "the failsafe corner cannot be watched");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}

impl<T: Tree> Drop for Facade<T> {
    fn drop(&mut self) {
        hand::release(self.held.end_all());
    }
}

impl<T: Tree> Screen for Facade<T> {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.eye.run(LOOK, |_| Eye::displays()))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(self.eye.run(LOOK, move |_| {
            let Area::Display(display) = shot.area else {
                return Err(DesktopError::NotAvailable("not yet on this platform".into()));
            };
            develop(&mut Eye::look(display)?, Place::whole(Eye::display(display)?.bounds), &shot)
        }))
    }

    fn read_text(&self, _: Area) -> BoxFuture<'_, Result<Vec<TextLine>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}

impl<T: Tree> Hands for Facade<T> {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            match action {
                Action::Type { text } => self.write(text, &cancel).await,
                action => self.perform(action, &cancel).await,
            }
        })
    }

    fn release_all(&self) {
        hand::release(self.held.end_all());
    }

    fn fence(&self, _: Fence) {}

    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        if self.failsafe {
            Box::pin(async move {
                self.watch_corner().await;
                Interruption::Corner
            })
        } else {
            Box::pin(std::future::pending())
        }
    }
}

impl<T: Tree> Elements for Facade<T> {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        let limit = query.deadline.unwrap_or(ELEMENTS);
        let own = self.own.clone();
        Box::pin(self.tree.run(limit, move |tree| {
            let deadline = Instant::now() + limit.mul_f32(0.8);
            let tops = Eye::tops()?;
            let window = place::meant(&tops, &own, query.app.as_deref())?;
            tree.elements(window, &query, &Eye::display(query.display)?, deadline)
        }))
    }

    fn operate(
        &self,
        target: Target,
        deed: Deed,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            let (Target::Ref(reference), Deed::Focus) = (target, deed) else {
                return Err(DesktopError::NotAvailable("not yet on this platform".into()));
            };
            let called = reference.clone();
            let acted = self.tree.run(LOOK, move |tree| tree.focus(&reference)).await?;
            Ok(Operated { acted, called, at: None, by: Rung::Accessibility })
        })
    }

    fn press_menu(
        &self,
        _: Option<String>,
        _: Vec<String>,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}

impl<T: Tree> Windows for Facade<T> {
    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn change_window(&self, _: WindowId, _: WindowChange) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn launch(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn quit(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}

impl<T: Tree> Clipboard for Facade<T> {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn set_clipboard(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}

impl<T: Tree> Desktop for Facade<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            screen: true,
            input: true,
            elements: true,
            scripting: T::SCRIPTING,
            ..Abilities::default()
        }
    }

    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>> {
        T::script(script, cancel)
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
            all.extend(T::checks());
            all.push(match self.pointer.run(LOOK, |enigo| hand::pointer(enigo)).await {
                Ok(_) => view(Check::Input, CheckState::Well, "pointer and keys can be sent".into(), None),
                Err(error) => view(
                    Check::Input,
                    CheckState::Missing,
                    error.to_string(),
                    Some("give the permission named, then start Miki again"),
                ),
            });
            let clipboard = self.eye.run(LOOK, |_| {
                arboard::Clipboard::new()
                    .map(|_| ())
                    .map_err(|error| DesktopError::Failed(format!("open the clipboard: {error}")))
            });
            all.push(match clipboard.await {
                Ok(()) => view(Check::Clipboard, CheckState::Well, "the clipboard opens".into(), None),
                Err(error) => view(
                    Check::Clipboard,
                    CheckState::Limited,
                    error.to_string(),
                    Some("close the program that holds the clipboard; long texts are pasted"),
                ),
            });
            all
        })
    }

    fn open_permission(&self, _: Check) -> BoxFuture<'_, Result<(), DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}
