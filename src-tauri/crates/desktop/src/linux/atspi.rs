//! The accessibility tree of Linux (AT-SPI 2): one bounded snapshot, the keyboard focus, the focused text.
//!
//! Everything is asked in bulk and pipelined, on the application's own bus where it has one; a call that would need
//! one round trip for each property is a defect. Presses nothing and types nothing. Our own windows do not exist here.
//!
//! KnownObject limit: content embedded from another process (a WebKitGTK page) is not followed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use protocol::view::{Check, CheckState, CheckView};
use tokio::time::Instant;

use self::applications::Applications;
use self::bus::{Bus, CallError, Object, Program};
pub(crate) use self::look::Readings;
use self::quirks::Quirks;
use self::ref_table::{KnownObject, RefTable};
use self::role::States;
use super::windows::Own;
use crate::{Acted, DesktopError, Evidence, Field, Inside, WindowsProcess};

pub(super) use self::acting::{Operand, Tried};
pub(super) use self::choosing::ByHand;
pub(super) use self::menu::{Choice, Chosen};
pub(super) use self::quirks::{Typing, is_look};
pub(super) use self::setting::{is_on, shortened, unified};
pub(super) use self::visibility::{Hit, Visibility};

mod look;

mod acting;
mod apart;
mod choosing;
mod dates;
mod finding;
mod heard;
mod interfaces;
mod menu;
mod setting;
mod shown;
mod visibility;

mod applications;
mod cached;
mod cut;
mod details;
mod fingerprint;
mod matched;
mod nodes;
mod origin;
mod prune;
mod quirks;
mod reach;
mod role;
mod settled;
mod table;
mod walk;

mod bus;
mod line;
mod ref_table;

/// For a snapshot whose query names no deadline.
const DEADLINE: Duration = Duration::from_secs(5);
/// For one application to name its windows, before it is left out.
const PATIENCE: Duration = Duration::from_millis(800);
/// The same between two acts, where the text that was typed is read back.
const BRIEFLY: Duration = Duration::from_millis(120);
/// For the focus to arrive after it was asked for.
const FOCUS: Duration = Duration::from_millis(600);
/// For reading the focused text; it is asked between two acts.
const TEXT: Duration = Duration::from_millis(400);
/// So often where the desktop was too busy for it.
const TRIES: u32 = 2;
const REMEDY: &str =
    "install at-spi2-core and start this program inside a desktop session (or with dbus-run-session)";

/// The accessibility of one session. Cheap to clone; connects at the first use, and again after a failure.
#[derive(Clone)]
pub struct Accessibility {
    inner: Arc<Inner>,
    last: Arc<Mutex<Last>>,
    /// `None` if the user's active window is meant.
    active: Option<ActiveWindow>,
}

/// Says which window counts as the active one, by its process and its title; `None` if none does.
pub(super) type ActiveWindow = Arc<dyn Fn() -> BoxFuture<'static, Option<(u32, String)>> + Send + Sync>;

struct Inner {
    session: Option<String>,
    own: Own,
    /// The X display; the environment's if `None`.
    display: Option<String>,
    bus: Mutex<Option<Connected>>,
    refs: Mutex<RefTable>,
    apart: apart::Apart,
    heard: Arc<heard::Heard>,
}

#[derive(Clone)]
struct Connected {
    bus: Bus,
    /// Applications' own buses, by their name on the shared one.
    near: HashMap<Arc<str>, Program>,
}

/// What later calls remember of the last snapshot.
#[derive(Default)]
struct Last {
    application: Option<Arc<str>>,
    /// And its process.
    focused: Option<(Object, u32)>,
}

impl Accessibility {
    /// `session` is the session bus's address; the environment's if `None`. Windows of the process `own_pid` are left
    /// out of everything.
    pub fn new(session: Option<String>, own_pid: u32) -> Self {
        Self::on_display(None, session, own_pid)
    }

    /// The same on the X server `display`, which is asked where windows lie; the environment's if `None`.
    pub fn on_display(display: Option<String>, session: Option<String>, own_pid: u32) -> Self {
        Self::leaving_out(Own::new(own_pid, WindowsProcess::default()), display, session)
    }

    pub(super) fn leaving_out(own: Own, display: Option<String>, session: Option<String>) -> Self {
        Self {
            inner: Arc::new(Inner {
                session,
                own,
                display,
                bus: Mutex::default(),
                refs: Mutex::default(),
                apart: apart::Apart::default(),
                heard: Arc::default(),
            }),
            last: Arc::default(),
            active: None,
        }
    }

    /// The same for whoever works in another window than the user.
    pub(super) fn working_in(&self, active: ActiveWindow) -> Self {
        Self { inner: Arc::clone(&self.inner), last: Arc::default(), active: Some(active) }
    }

    /// All applications; of their windows, those that count as active say so.
    async fn with_active(&self, mut found: Applications) -> Applications {
        let Some(active) = &self.active else { return found };
        let active = active().await;
        found.ours_is_active = false;
        for application in &mut found.all {
            for window in &mut application.windows {
                let is_it = |(pid, title): &(u32, String)| (*pid, title) == (application.pid, &window.name);
                window.active = active.as_ref().is_some_and(is_it);
            }
        }
        found
    }

    /// What this command starts keeps applications from harm where this process ends while they show a dialog.
    pub(super) fn kept_by(&mut self, keeper: Vec<String>) {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.apart.keeper = keeper.into();
        }
    }

    /// Gives an element of the last snapshot the keyboard focus, and reads back whether it has it.
    ///
    /// # Errors
    /// `NotFound` where the ref is unknown or its object is gone.
    pub async fn focus(&self, reference: &str) -> Result<Acted, DesktopError> {
        let again = |what: &str| {
            DesktopError::NotFound(format!(
                "element {reference} {what}; call elementsJson again for new refs"
            ))
        };
        let Some(KnownObject { object, element, .. }) = self.known(reference) else {
            return Err(again("is not known"));
        };
        let called = format!("{} \"{}\"", element.role, element.name);
        let taken: Result<bool, CallError> = object.call("org.a11y.atspi.Component", "GrabFocus", &()).await;
        match taken {
            Ok(_) => {}
            Err(CallError::Late) => return Err(DesktopError::Timeout(bus::CALL)),
            Err(CallError::Refused(_)) if object.states().await.is_ok() => {
                return Ok(Acted {
                    evidence: Evidence::Nothing,
                    note: format!("{called} cannot take the focus; click it instead"),
                });
            }
            Err(_) => return Err(again("is no longer there")),
        }
        let until = Instant::now() + FOCUS;
        loop {
            match object.states().await {
                Ok(states) if states.has(States::FOCUSED) => {
                    return Ok(Acted {
                        evidence: Evidence::ReadBack,
                        note: format!("{called} has the focus"),
                    });
                }
                Ok(_) if Instant::now() < until => tokio::time::sleep(Duration::from_millis(15)).await,
                Ok(_) => {
                    return Ok(Acted {
                        evidence: Evidence::Nothing,
                        note: format!("{called} did not take the focus; click it instead"),
                    });
                }
                Err(CallError::Late) => return Err(DesktopError::Timeout(bus::CALL)),
                Err(_) => return Err(again("is no longer there")),
            }
        }
    }

    /// The whole text of the editable object that has the keyboard focus; `None` if there is none. A password's
    /// is never read.
    pub async fn focused_text(&self) -> Option<String> {
        self.focused_field_text().await.map(|(_, text)| text)
    }

    /// The same, and what tells its field from another one.
    pub(super) async fn focused_field_text(&self) -> Option<(String, String)> {
        for _ in 0..TRIES {
            let deadline = Instant::now() + TEXT;
            let text = async {
                let (object, text, pid) = self.focused(deadline).await?;
                Some((format!("{pid} {}", object.path), text?))
            };
            let text = tokio::time::timeout_at(deadline, text).await.ok().flatten();
            // Whoever says so in time has no text; whoever is late may have one.
            if text.is_some() || Instant::now() < deadline {
                return text;
            }
        }
        None
    }

    /// The same, and whether it is in a page.
    pub(super) async fn focused_field(&self) -> Option<Field> {
        let deadline = Instant::now() + TEXT;
        let field = async {
            match self.look_at_field(deadline).await? {
                (field, true) => Some(field),
                // What had the focus when it was found has it behind another window, too.
                (_, false) => {
                    lock(&self.last).focused = None;
                    self.look_at_field(deadline).await.map(|(field, _)| field)
                }
            }
        };
        tokio::time::timeout_at(deadline, field).await.ok().flatten()
    }

    /// The field, and whether its window is the active one.
    async fn look_at_field(&self, deadline: Instant) -> Option<(Field, bool)> {
        let (object, text, pid) = self.focused(deadline).await?;
        let takes_lines = object.states().await.ok()?.has(States::MULTI_LINE);
        // The window of another's pointer says of itself what the user's does to it.
        let (mut at, mut is_active, mut inside) = (object, self.active.is_some(), Inside::Around);
        loop {
            at = acting::parent(&at).await.ok()?;
            match at.role().await.ok()? {
                role::number::APPLICATION => {
                    let hides = text.is_none();
                    let text = text.unwrap_or_default();
                    let field = Field { text, inside, takes_lines, hides, pid: Some(pid) };
                    return Some((field, is_active));
                }
                // The innermost: a frame's text is the frame's.
                role if role::is_page(role) && inside == Inside::Around => {
                    inside = finding::page_of(&at).await;
                }
                _ => {}
            }
            is_active |= at.states().await.ok()?.has(States::ACTIVE);
        }
    }

    /// With its text, which is `None` of a password, and its process.
    async fn focused(&self, deadline: Instant) -> Option<(Object, Option<String>, u32)> {
        let known = lock(&self.last).focused.clone();
        let (object, pid) = match known {
            Some((object, pid)) if has_focus(&object).await => (object, pid),
            _ => {
                let (object, quirks, pid) = self.find_focused(deadline).await?;
                lock(&self.last).focused = (!quirks.outlives_page).then(|| (object.clone(), pid));
                (object, pid)
            }
        };
        if object.role().await.ok()? == role::number::PASSWORD {
            return Some((object, None, pid));
        }
        let text = nodes::text(&object, -1).await.ok()?;
        Some((object, Some(text), pid))
    }

    /// Whether the field that was read last has lost the keyboard since, or is gone.
    pub(super) async fn has_left_field(&self) -> bool {
        let known = lock(&self.last).focused.clone();
        let Some((field, _)) = known else { return false };
        match field.states().await {
            Ok(states) => !states.has(States::FOCUSED),
            Err(error) => error == CallError::Gone,
        }
    }

    /// Whether there is a bus and applications on it, and how to fix what is not.
    pub async fn check(&self) -> CheckView {
        let view = |state, detail: String, remedy: Option<&str>| CheckView {
            check: Check::Accessibility,
            state,
            detail,
            remedy: remedy.map(str::to_owned),
        };
        let bus = match self.bus().await {
            Ok(bus) => bus,
            Err(error) => return view(CheckState::Missing, error.to_string(), Some(REMEDY)),
        };
        match applications::list(&bus, &self.inner.own, PATIENCE).await {
            Ok(found) if found.all.is_empty() => view(
                CheckState::Limited,
                "the accessibility bus answers; no application with a window is on it".into(),
                Some(
                    "start applications after this program, or turn on accessibility in the desktop's settings",
                ),
            ),
            Ok(Applications { all, .. }) => {
                let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
                view(CheckState::Well, format!("applications with a tree: {}", names.join(", ")), None)
            }
            Err(error) => {
                self.forget();
                view(CheckState::Missing, error.to_string(), Some(REMEDY))
            }
        }
    }

    async fn bus(&self) -> Result<Bus, DesktopError> {
        if let Some(connected) = lock(&self.inner.bus).as_ref()
            && !connected.bus.is_closed()
        {
            return Ok(connected.bus.clone());
        }
        let bus = Bus::connect(self.inner.session.as_deref())
            .await
            .map_err(|error| DesktopError::NotAvailable(format!("{error}; {REMEDY}")))?;
        *lock(&self.inner.bus) = Some(Connected { bus: bus.clone(), near: HashMap::new() });
        Ok(bus)
    }

    /// The application on its own bus where it has one; remembered.
    async fn near(&self, bus: &Bus, name: &Arc<str>) -> Program {
        let known = lock(&self.inner.bus).as_ref().and_then(|connected| connected.near.get(name).cloned());
        if let Some(program) = known.filter(|program| !program.is_closed()) {
            return program;
        }
        let program = bus.program(name).nearest().await;
        if let Some(connected) = lock(&self.inner.bus).as_mut() {
            connected.near.retain(|_, program| !program.is_closed());
            connected.near.insert(name.clone(), program.clone());
        }
        program
    }

    /// Gives up the application's own bus; the next call opens it again.
    fn leave(&self, name: &Arc<str>) {
        if let Some(connected) = lock(&self.inner.bus).as_mut() {
            connected.near.remove(name);
        }
    }

    async fn find_focused(&self, deadline: Instant) -> Option<(Object, Quirks, u32)> {
        let bus = self.bus().await.ok()?;
        let found = applications::list(&bus, &self.inner.own, BRIEFLY).await.ok()?;
        let found = self.with_active(found).await;
        let active =
            |application: &&applications::Application| application.windows.iter().any(|window| window.active);
        let application = found.all.iter().find(active)?;
        // Of another application it says nothing: what has the focus within a window has it behind others, too.
        if self.active.is_none()
            && let Some(object) = self.heard_focused(&application.bus_name).await
            && has_focus(&object).await
        {
            return Some((object, application.quirks, application.pid));
        }
        let near = self.near(&bus, &application.bus_name).await;
        for window in application.windows.iter().filter(|window| window.active) {
            let root = Object { program: near.clone(), path: window.object.path.clone() };
            if let Some(object) = nodes::focused(&root, application.quirks, deadline).await {
                return Some((object, application.quirks, application.pid));
            }
        }
        None
    }

    /// Says a failed call in the crate's words, and drops a connection that broke.
    fn failed(&self, error: &CallError, limit: Duration) -> DesktopError {
        match error {
            CallError::Late => DesktopError::Timeout(limit),
            CallError::Gone => DesktopError::NotFound("the application has closed; look again".into()),
            CallError::Broken(_) => {
                self.forget();
                DesktopError::Failed(format!("the accessibility bus failed: {error}"))
            }
            CallError::Refused(_) => {
                DesktopError::Failed(format!("the application refused to show its elements: {error}"))
            }
        }
    }

    fn forget(&self) {
        *lock(&self.inner.bus) = None;
        lock(&self.inner.refs).forget_objects();
    }
}

async fn has_focus(object: &Object) -> bool {
    object.states().await.is_ok_and(|states| states.has(States::FOCUSED.with(States::EDITABLE)))
}

/// A lock whose holder panicked still guards whole values: each is replaced, never half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
