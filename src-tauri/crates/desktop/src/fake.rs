//! A desktop in memory, for the tests of the rooms above: it records what is done to it and shows what it is told.
//!
//! Pictures are real JPEGs of one colour; whatever changes the scene changes the colour, so that settling and
//! "nothing changed" can be tested.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use ocr::TextRead;
use pictures::{Picture, Thumbnail, encode, thumbnail};
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Abilities, Acted, Action, ActionMethod, AppView, Area, Desktop, DesktopError, Element, ElementAction,
    ElementQuery, Elements, Evidence, Fence, Field, Hands, Inside, Interruption, LastPress, ListedElement,
    Operated, Owner, Screen, Script, Selector, Shot, Snapshot, Taker, Target, ToldElements, WindowChange,
    WindowId, WindowView,
};

mod apart;
mod look;

/// What an action does to the scene.
type Reaction = Box<dyn FnMut(&Action, &mut Scene) + Send>;

/// What the fake shows. Change it with [`FakeDesktop::edit`] or from a reaction.
#[derive(Clone, Debug)]
pub struct Scene {
    pub displays: Vec<DisplayView>,
    pub snapshot: Snapshot,
    /// Red, green, blue of every pixel that nothing is painted on.
    pub colour: [u8; 3],
    /// What is painted on the displays, in this order, in pixels of the space that spans them.
    pub painted: Vec<(PhysicalRect, [u8; 3])>,
    pub abilities: Abilities,
    pub checks: Vec<CheckView>,
    /// What an act is said to have done.
    pub evidence: Evidence,
    pub windows: Vec<WindowView>,
    /// The windows there are once what is held has been let go of.
    pub windows_after_release: Option<Vec<WindowView>>,
    /// What every process runs.
    pub program: Option<String>,
    /// What gets keys and clicks, where that is not what the list of windows says.
    pub taker: Taker,
    /// Windows that belong to others, as dialogs do, each before the other.
    pub belongs: Vec<(WindowId, WindowId)>,
    /// The program that every application's name starts.
    pub launches: Option<String>,
    /// Whose every element is, by the accessibility tree's word.
    pub owner: Option<Owner>,
    /// Where every link leads.
    pub link: Option<String>,
    /// Whether every element is a page's.
    pub inside: Inside,
    /// The field with the keyboard.
    pub field: Option<Field>,
    /// The element with the focus.
    pub focused: Option<String>,
    pub apps: Vec<AppView>,
    pub clipboard: String,
    /// What `read_text` answers.
    pub text: TextRead,
    /// Whether the screen is locked.
    pub locked: bool,
    /// Whether a menu is open.
    pub menu: bool,
    /// What `run_script` answers; not available if `None`.
    pub script: Option<String>,
    /// Whether agents may have a pointer and a keyboard of their own.
    pub own_hands: bool,
    /// How long every call takes; cancellation cuts it short.
    pub delay: Duration,
    /// How long it takes to list the windows.
    pub windows_delay: Duration,
}

/// One call that reached the fake, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Screenshot(Shot),
    Thumbnail(Area),
    Act(Action),
    Elements(ElementQuery),
    ReadText(Area),
    Operate(Target, ElementAction),
    Menu(Option<String>, Vec<String>),
    ChangeWindow(WindowId, WindowChange),
    Launch(String),
    Quit(String),
    Copy(String),
    Script(Script),
    OpenPermission(Check),
    Released,
}

/// The desktop of tests.
pub struct FakeDesktop {
    state: Mutex<State>,
    interruption: watch::Sender<Option<Interruption>>,
}

struct State {
    scene: Scene,
    calls: Vec<Call>,
    failures: VecDeque<DesktopError>,
    reaction: Option<Reaction>,
    fence: Fence,
    /// Each act with the fence that held then.
    fenced_acts: Vec<(Action, Fence)>,
    holding: bool,
    presses: u64,
    last_press: LastPress,
    /// Of what an agent was told, and after how many calls.
    told: Vec<(usize, ToldElements)>,
    /// Lists that were told, by their numbers, where the scene's own has one.
    listed: Vec<(u64, Vec<Element>)>,
    /// Those with hands of their own, by what they are called.
    own: Vec<(String, Arc<FakeDesktop>)>,
}

impl Default for FakeDesktop {
    fn default() -> Self {
        let display = DisplayView {
            index: 0,
            name: "fake".into(),
            bounds: PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 },
            scale: ScaleFactor(1.0),
            primary: true,
        };
        let check = |check| CheckView { check, state: CheckState::Well, detail: "fake".into(), remedy: None };
        let scene = Scene {
            displays: vec![display],
            snapshot: Snapshot { app: "fake".into(), window: "Fake".into(), ..Snapshot::default() },
            colour: [40, 60, 90],
            painted: Vec::new(),
            abilities: Abilities {
                screen: true,
                input: true,
                elements: true,
                windows: true,
                ocr: true,
                scripting: false,
            },
            checks: vec![check(Check::Display), check(Check::Input)],
            evidence: Evidence::Sent,
            windows: Vec::new(),
            windows_after_release: None,
            program: None,
            taker: Taker::Unsaid,
            belongs: Vec::new(),
            launches: None,
            owner: None,
            link: None,
            inside: Inside::Untold,
            field: None,
            focused: None,
            apps: Vec::new(),
            clipboard: String::new(),
            text: TextRead::default(),
            locked: false,
            menu: false,
            script: None,
            own_hands: false,
            delay: Duration::ZERO,
            windows_delay: Duration::ZERO,
        };
        let state = State {
            scene,
            calls: Vec::new(),
            failures: VecDeque::new(),
            reaction: None,
            fence: Fence::default(),
            fenced_acts: Vec::new(),
            holding: false,
            presses: 0,
            last_press: LastPress::default(),
            told: Vec::new(),
            listed: Vec::new(),
            own: Vec::new(),
        };
        Self { state: Mutex::new(state), interruption: watch::channel(None).0 }
    }
}

impl FakeDesktop {
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those with hands of their own, oldest first, by what they are called. Each has a scene of its own, as it was then.
    pub fn own_hands(&self) -> Vec<(String, Arc<Self>)> {
        self.state().own.clone()
    }

    /// Changes the scene.
    pub fn edit(&self, change: impl FnOnce(&mut Scene)) {
        change(&mut self.state().scene);
    }

    /// Says what each later action does to the scene. It runs before the action answers; it must not call the fake.
    pub fn react(&self, reaction: impl FnMut(&Action, &mut Scene) + Send + 'static) {
        self.state().reaction = Some(Box::new(reaction));
    }

    /// Makes the next call that can fail, fail; several are used up in order.
    pub fn fail_next(&self, error: DesktopError) {
        self.state().failures.push_back(error);
    }

    /// Of which elements an agent was told, the oldest first, and after how many calls.
    pub fn was_told(&self) -> Vec<(usize, ToldElements)> {
        self.state().told.clone()
    }

    /// All calls so far, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The acts so far, oldest first. A cancelled or failed one is among them.
    pub fn actions(&self) -> Vec<Action> {
        let only_acts = |call: &Call| match call {
            Call::Act(action) => Some(action.clone()),
            _ => None,
        };
        self.state().calls.iter().filter_map(only_acts).collect()
    }

    /// How often everything held was released.
    pub fn releases(&self) -> usize {
        self.state().calls.iter().filter(|call| **call == Call::Released).count()
    }

    /// Steps in, as a user would.
    pub fn interrupt(&self, how: Interruption) {
        self.interruption.send_replace(Some(how));
    }

    /// Presses a key in a window of another, as a user would, a moment ago: it is counted.
    pub fn press(&self) {
        self.press_just_now();
        self.count_press();
    }

    /// Presses such a key just now: it is not counted yet.
    pub fn press_just_now(&self) {
        let now = Some(Instant::now());
        self.state().last_press = LastPress { elsewhere: now, key: now, ..LastPress::default() };
    }

    /// Counts it: it brought none of ours to the front.
    pub fn count_press(&self) {
        self.state().presses += 1;
    }

    /// The acts so far, each with the fence that held when it began.
    pub fn fenced_acts(&self) -> Vec<(Action, Fence)> {
        self.state().fenced_acts.clone()
    }

    /// Lets go again.
    pub fn end_interruption(&self) {
        self.interruption.send_replace(None);
    }

    /// Records the call, waits, and fails where a failure is due.
    async fn enter(&self, call: Call, cancel: &CancellationToken) -> Result<(), DesktopError> {
        let (delay, failure) = {
            let mut state = self.state();
            state.calls.push(call);
            (state.scene.delay, state.failures.pop_front())
        };
        let waited = async {
            // A sleep of nothing takes a millisecond.
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(DesktopError::Cancelled),
            () = waited => {}
        }
        failure.map_or(Ok(()), Err)
    }

    fn acted(&self, note: String) -> Acted {
        Acted { evidence: self.state().scene.evidence, note }
    }
}

impl Screen for FakeDesktop {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(async { Ok(self.state().scene.displays.clone()) })
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Screenshot(shot.clone()), &CancellationToken::new()).await?;
            let (mut frame, viewport) = self.state().scene.look(&shot.area)?;
            Ok(encode(&mut frame, viewport, &shot.style())?)
        })
    }

    fn thumbnail(&self, area: Area) -> BoxFuture<'_, Result<Thumbnail, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Thumbnail(area.clone()), &CancellationToken::new()).await?;
            let (frame, _) = self.state().scene.look(&area)?;
            Ok(thumbnail(&frame)?)
        })
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::ReadText(area), &CancellationToken::new()).await?;
            Ok(self.state().scene.text.clone())
        })
    }

    fn is_locked(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { self.state().scene.locked })
    }
}

impl Hands for FakeDesktop {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            {
                let mut state = self.state();
                let fence = state.fence.clone();
                state.fenced_acts.push((action.clone(), fence));
            }
            self.enter(Call::Act(action.clone()), &cancel).await?;
            {
                let State { scene, reaction, holding, .. } = &mut *self.state();
                match action {
                    Action::ButtonDown { .. } | Action::KeyDown { .. } => *holding = true,
                    Action::ButtonUp { .. } | Action::KeyUp { .. } => *holding = false,
                    _ => {}
                }
                if let Some(reaction) = reaction {
                    reaction(&action, scene);
                }
            }
            Ok(self.acted(format!("fake: {action:?}")))
        })
    }

    fn close_menus(&self) -> BoxFuture<'_, bool> {
        let closed = std::mem::take(&mut self.state().scene.menu);
        Box::pin(async move { closed })
    }

    fn release_all(&self) {
        let mut state = self.state();
        state.calls.push(Call::Released);
        state.holding = false;
        if let Some(windows) = state.scene.windows_after_release.take() {
            state.scene.windows = windows;
        }
    }

    fn is_holding(&self) -> bool {
        self.state().holding
    }

    fn fence(&self, fence: Fence) {
        self.state().fence = fence;
    }

    fn fenced(&self) -> Fence {
        self.state().fence.clone()
    }

    fn presses(&self) -> u64 {
        self.state().presses
    }

    fn last_press(&self) -> LastPress {
        self.state().last_press
    }

    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        let mut interruption = self.interruption.subscribe();
        Box::pin(async move {
            match interruption.wait_for(Option::is_some).await.map(|found| *found) {
                Ok(Some(found)) => found,
                Ok(None) | Err(_) => std::future::pending().await,
            }
        })
    }
}

impl Elements for FakeDesktop {
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            let (root, since) = (query.root.clone(), query.since);
            self.enter(Call::Elements(query), &CancellationToken::new()).await?;
            let mut state = self.state();
            let mut snapshot = state.scene.snapshot.clone();
            snapshot.elements.retain(|one| root.as_ref().is_none_or(|root| one.reference == *root));
            if snapshot.number == 0 {
                // No numbers were asked for.
                return Ok(snapshot);
            }
            snapshot.number += state.listed.len() as u64;
            state.listed.push((snapshot.number, snapshot.elements.clone()));
            let before = since.and_then(|since| state.listed.iter().find(|(number, _)| *number == since));
            if let Some((number, before)) = before {
                snapshot.since = Some(*number);
                let is_there =
                    |one: &Element| snapshot.elements.iter().any(|now| now.reference == one.reference);
                snapshot.gone =
                    before.iter().filter(|one| !is_there(one)).map(|one| one.reference.clone()).collect();
                let before = before.clone();
                snapshot.elements.retain(|one| !before.contains(one));
            }
            Ok(snapshot)
        })
    }

    fn told(&self, told: ToldElements) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut state = self.state();
            let calls = state.calls.len();
            state.told.push((calls, told));
        })
    }

    fn listed(&self, reference: String) -> BoxFuture<'_, Option<ListedElement>> {
        Box::pin(async move {
            let Snapshot { app, elements, .. } = self.state().scene.snapshot.clone();
            let found = elements.into_iter().find(|element| element.reference == reference)?;
            Some(ListedElement { app, role: found.role, name: found.name })
        })
    }

    fn leads_to(&self, reference: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let scene = self.state().scene.clone();
            let mut links = scene.snapshot.elements.iter().filter(|element| element.role == "link");
            scene.link.filter(|_| links.any(|element| element.reference == reference))
        })
    }

    fn inside(&self, _: String) -> BoxFuture<'_, Inside> {
        Box::pin(async { self.state().scene.inside.clone() })
    }

    fn field(&self) -> BoxFuture<'_, Option<Field>> {
        Box::pin(async { self.state().scene.field.clone() })
    }

    fn owner(&self, _: Target) -> BoxFuture<'_, Option<Owner>> {
        Box::pin(async { self.state().scene.owner.clone() })
    }

    fn operate(
        &self,
        target: Target,
        action: ElementAction,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Operate(target.clone(), action.clone()), &cancel).await?;
            let is_meant = |element: &Element| match &target {
                Target::Ref(reference) => element.reference == *reference,
                Target::Selector(Selector { role, name, .. }) => {
                    role.as_ref().is_none_or(|role| *role == element.role)
                        && name.as_ref().is_none_or(|name| *name == element.name)
                }
            };
            let mut found = None;
            self.edit(|scene| {
                let meant = scene.snapshot.elements.iter_mut().find(|element| is_meant(element));
                found = meant.map(|element| {
                    if let ElementAction::SetValue(value) = &action {
                        element.value.clone_from(value);
                    }
                    element.clone()
                });
            });
            let Some(element) = found else {
                return Err(DesktopError::NotFound(format!("{target:?} in the last snapshot")));
            };
            Ok(Operated {
                acted: self.acted(format!("fake: {action:?}")),
                called: format!("{} \"{}\"", element.role, element.name),
                at: element.bounds.center().ok(),
                by: ActionMethod::Accessibility,
            })
        })
    }

    fn press_menu(
        &self,
        app: Option<String>,
        path: Vec<String>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Operated, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Menu(app, path.clone()), &cancel).await?;
            let called = format!("menu item \"{}\"", path.join(" > "));
            Ok(Operated {
                acted: self.acted("fake".into()),
                called,
                at: None,
                by: ActionMethod::Accessibility,
            })
        })
    }
}

impl Desktop for FakeDesktop {
    fn abilities(&self) -> Abilities {
        self.state().scene.abilities
    }

    fn with_own_hands(&self, agent: String) -> BoxFuture<'_, Result<Arc<dyn Desktop>, DesktopError>> {
        Box::pin(async move {
            let mut state = self.state();
            if !state.scene.own_hands {
                return Err(DesktopError::NotAvailable("the fake has one pointer".into()));
            }
            let own = Self::new();
            own.state().scene = state.scene.clone();
            state.own.push((agent, own.clone()));
            Ok(own as Arc<dyn Desktop>)
        })
    }

    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Script(script), &cancel).await?;
            let answer = self.state().scene.script.clone();
            answer.ok_or_else(|| DesktopError::NotAvailable("scripts need macOS".into()))
        })
    }

    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        Box::pin(async { self.state().scene.checks.clone() })
    }

    fn open_permission(&self, check: Check) -> BoxFuture<'_, Result<(), DesktopError>> {
        Box::pin(async move { self.enter(Call::OpenPermission(check), &CancellationToken::new()).await })
    }
}

#[cfg(test)]
mod tests;
