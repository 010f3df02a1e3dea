//! A desktop in memory, for the tests of the rooms above: it records what is done to it and shows what it is told.
//!
//! Pictures are real JPEGs of one colour; whatever changes the scene changes the colour, so that settling and
//! "nothing changed" can be tested.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use protocol::geometry::{PhysicalRect, ScaleFactor};
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::picture::{Frame, Order, develop};
use crate::{
    Abilities, Acted, Action, Desktop, DesktopError, ElementQuery, Evidence, Picture, Script, Shot, Snapshot,
};

/// What an action does to the scene.
type Reaction = Box<dyn FnMut(&Action, &mut Scene) + Send>;

/// What the fake shows. Change it with [`FakeDesktop::edit`] or from a reaction.
#[derive(Clone, Debug)]
pub struct Scene {
    pub displays: Vec<DisplayView>,
    pub snapshot: Snapshot,
    /// Red, green, blue of every pixel.
    pub colour: [u8; 3],
    pub abilities: Abilities,
    pub checks: Vec<CheckView>,
    /// What an act is said to have done.
    pub evidence: Evidence,
    /// What `run_script` answers; not available where empty.
    pub script: Option<String>,
    /// How long every call takes; cancellation cuts it short.
    pub delay: Duration,
}

/// One call that reached the fake, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Screenshot(Shot),
    Act(Action),
    Elements(ElementQuery),
    Focus(String),
    Script(Script),
    Released,
}

/// The desktop of tests.
pub struct FakeDesktop {
    state: Mutex<State>,
    corner: watch::Sender<bool>,
}

struct State {
    scene: Scene,
    calls: Vec<Call>,
    failures: VecDeque<DesktopError>,
    reaction: Option<Reaction>,
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
        let check = |check| CheckView { check, state: CheckState::Well, detail: "fake".into(), mend: None };
        let scene = Scene {
            displays: vec![display],
            snapshot: Snapshot { app: "fake".into(), window: "Fake".into(), ..Snapshot::default() },
            colour: [40, 60, 90],
            abilities: Abilities { screen: true, input: true, elements: true, scripting: false },
            checks: vec![check(Check::Display), check(Check::Input)],
            evidence: Evidence::Sent,
            script: None,
            delay: Duration::ZERO,
        };
        let state = State { scene, calls: Vec::new(), failures: VecDeque::new(), reaction: None };
        Self { state: Mutex::new(state), corner: watch::channel(false).0 }
    }
}

impl FakeDesktop {
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// All calls so far, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The acts so far, oldest first. A cancelled or failed one is among them.
    pub fn actions(&self) -> Vec<Action> {
        let only_acts = |call: &Call| match call {
            Call::Act(action) => Some(action.clone()),
            Call::Screenshot(_) | Call::Elements(_) | Call::Focus(_) | Call::Script(_) | Call::Released => {
                None
            }
        };
        self.state().calls.iter().filter_map(only_acts).collect()
    }

    /// How often everything held was released.
    pub fn releases(&self) -> usize {
        self.state().calls.iter().filter(|call| **call == Call::Released).count()
    }

    /// Puts the pointer into the corner, as a user would.
    pub fn trip_failsafe(&self) {
        self.corner.send_replace(true);
    }

    /// Takes the pointer out of the corner again.
    pub fn reset_failsafe(&self) {
        self.corner.send_replace(false);
    }

    /// Records the call, waits, and fails where a failure is due.
    async fn enter(&self, call: Call, cancel: &CancellationToken) -> Result<(), DesktopError> {
        let (delay, failure) = {
            let mut state = self.state();
            state.calls.push(call);
            (state.scene.delay, state.failures.pop_front())
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(DesktopError::Cancelled),
            () = tokio::time::sleep(delay) => {}
        }
        failure.map_or(Ok(()), Err)
    }

    fn acted(&self, note: String) -> Acted {
        Acted { evidence: self.state().scene.evidence, note }
    }
}

impl Desktop for FakeDesktop {
    fn abilities(&self) -> Abilities {
        self.state().scene.abilities
    }

    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(async { Ok(self.state().scene.displays.clone()) })
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Screenshot(shot.clone()), &CancellationToken::new()).await?;
            let frame = {
                let scene = &self.state().scene;
                let found = scene.displays.iter().find(|display| display.index == shot.display);
                let display =
                    found.ok_or_else(|| DesktopError::NotFound(format!("display {}", shot.display)))?;
                let [r, g, b] = scene.colour;
                let PhysicalRect { width, height, .. } = display.bounds;
                let pixels = [r, g, b, 0].repeat(width as usize * height as usize);
                Frame { width, height, order: Order::Rgbx, pixels }
            };
            develop(&frame, &shot)
        })
    }

    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Act(action.clone()), &cancel).await?;
            {
                let State { scene, reaction, .. } = &mut *self.state();
                if let Some(reaction) = reaction {
                    reaction(&action, scene);
                }
            }
            Ok(self.acted(format!("fake: {action:?}")))
        })
    }

    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Elements(query), &CancellationToken::new()).await?;
            Ok(self.state().scene.snapshot.clone())
        })
    }

    fn focus_element(&self, reference: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            self.enter(Call::Focus(reference.clone()), &CancellationToken::new()).await?;
            let known = self.state().scene.snapshot.elements.iter().any(|e| e.reference == reference);
            if !known {
                return Err(DesktopError::NotFound(format!("element {reference} of the last snapshot")));
            }
            Ok(self.acted(format!("fake: focused {reference}")))
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

    fn release_all(&self) {
        self.state().calls.push(Call::Released);
    }

    fn failsafe(&self) -> BoxFuture<'_, ()> {
        let mut corner = self.corner.subscribe();
        Box::pin(async move {
            if corner.wait_for(|tripped| *tripped).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        Box::pin(async { self.state().scene.checks.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use protocol::geometry::PixelSize;

    fn press() -> Action {
        Action::Press { key: Key::Enter, times: 1 }
    }

    fn shot() -> Shot {
        Shot { display: 0, dot: None, max: PixelSize { width: 64, height: 64 }, quality: 50 }
    }

    #[tokio::test]
    async fn an_action_is_recorded_and_its_reaction_shows_in_the_next_picture() {
        let fake = FakeDesktop::new();
        fake.react(|_, scene| scene.colour = [200, 0, 0]);
        let before = fake.screenshot(shot()).await.unwrap();
        fake.act(press(), CancellationToken::new()).await.unwrap();
        let after = fake.screenshot(shot()).await.unwrap();
        assert_ne!(before.pixels, after.pixels);
        assert_eq!(fake.actions(), [press()]);
    }

    #[tokio::test]
    async fn a_failure_is_used_up_once() {
        let fake = FakeDesktop::new();
        fake.fail_next(DesktopError::Failed("broken".into()));
        assert!(fake.act(press(), CancellationToken::new()).await.is_err());
        assert!(fake.act(press(), CancellationToken::new()).await.is_ok());
    }

    #[tokio::test]
    async fn a_delayed_action_ends_when_it_is_cancelled() {
        let fake = FakeDesktop::new();
        fake.edit(|scene| scene.delay = Duration::from_secs(3600));
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(fake.act(press(), cancel).await, Err(DesktopError::Cancelled));
    }

    #[tokio::test]
    async fn the_failsafe_completes_once_tripped() {
        let fake = FakeDesktop::new();
        fake.trip_failsafe();
        fake.failsafe().await;
    }
}
