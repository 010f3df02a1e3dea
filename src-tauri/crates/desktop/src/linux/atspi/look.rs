//! One look at one application: choosing it, reading its windows, pruning what was read.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use protocol::view::DisplayView;
use tokio::time::Instant;

use super::applications::{self, Application, Applications, Choice, Window};
use super::bus::{Bus, CallError, Object};
use super::cut::{self, grouped};
use super::nodes::{self, Node, Reading, Wish};
use super::origin::{self, Origins, ReportedWindow};
use super::prune::{self, Pruned, View};
use super::quirks::Quirks;
use super::ref_table::{About, KnownObject, NewSnapshot};
use super::{Accessibility, DEADLINE, PATIENCE, lock};
use crate::{DesktopError, Element, ElementQuery, ListedElement, Scope, Snapshot, ToldElements, one_look};

/// What was chosen, and what of it are elements.
struct Chosen {
    choice: Choice,
    pruned: Pruned,
    /// The snapshot's number.
    number: u64,
}

/// What the looks of one question have read: which applications there are, for each name that was looked for, and what
/// their windows hold.
#[derive(Default)]
pub(crate) struct Readings {
    applications: Shared<Option<String>, Applications>,
    windows: Shared<Key, Reading>,
}

/// A program's name on the bus, a window's path, and how much of it is read.
type Key = (Arc<str>, Arc<str>, Scope, Option<i32>);

/// Each is held while it is read, so that one that does not answer keeps nobody from the others.
struct Shared<K, T>(Mutex<Vec<(K, Slot<T>)>>);

/// `None` until it was read whole.
type Slot<T> = Arc<tokio::sync::Mutex<Option<T>>>;

impl<K, T> Default for Shared<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, T> Shared<K, T> {
    fn of(&self, key: K) -> Slot<T> {
        let mut all = lock(&self.0);
        if let Some((_, known)) = all.iter().find(|(known, _)| *known == key) {
            return Arc::clone(known);
        }
        let new = Slot::default();
        all.push((key, Arc::clone(&new)));
        new
    }
}

impl Accessibility {
    /// One snapshot of the application meant; `display` is the one whose 0-1000 the bounds are in.
    ///
    /// # Errors
    /// `NotFound` names the applications that exist; `NotAvailable` where there is no accessibility bus; `Timeout`
    /// where nothing was read in time. What was read in part is an answer that says so in `cut`.
    pub async fn elements(
        &self,
        query: &ElementQuery,
        display: &DisplayView,
    ) -> Result<Snapshot, DesktopError> {
        let look = match self.look(query, display).await {
            Ok(look) => look,
            Err(Unseen::Nothing(error)) => return Ok(nothing(&error)),
            Err(Unseen::Failed(error)) => return Err(error),
        };
        let Chosen { choice, pruned: Pruned { mut elements, mut cut, untold, .. }, number } = look;
        let (mut gone, mut told_since) = (Vec::new(), None);
        if let Some(since) = query.since {
            match lock(&self.inner.refs).difference(since, number) {
                Some(difference) => {
                    told_since = Some(since);
                    elements.retain(|element| difference.changed.contains(&element.reference));
                    gone = difference.gone;
                }
                None => cut.push(format!(
                    "nothing was left out: snapshot {since} is not known or was of something else, so this is everything"
                )),
            }
        }
        cut::limit(&mut elements, query.limit, &mut cut);
        Ok(Snapshot {
            is_partial: cut::is_partial(&cut),
            number,
            app: choice.application.name.clone(),
            window: choice.windows.first().map(|window| window.name.clone()).unwrap_or_default(),
            elements,
            since: told_since,
            gone,
            cut,
            untold,
            pid: Some(choice.application.pid),
            ..Snapshot::default()
        })
    }

    /// What a ref of any earlier snapshot stands for; its object may be gone by now.
    pub(super) fn known(&self, reference: &str) -> Option<KnownObject> {
        lock(&self.inner.refs).find(reference)
    }

    pub(in super::super) fn told(&self, told: &ToldElements) {
        let whose = lock(&self.inner.refs).told(told);
        if whose.is_some() {
            lock(&self.last).application = whose;
        }
    }

    pub(in super::super) fn listed(&self, reference: &str) -> Option<ListedElement> {
        let known = self.known(reference)?;
        Some(ListedElement { app: known.app, role: known.element.role, name: known.element.name })
    }

    /// Chooses, reads, prunes, and gives each element its ref.
    async fn look(&self, query: &ElementQuery, display: &DisplayView) -> Result<Chosen, Unseen> {
        let limit = query.deadline.unwrap_or(DEADLINE);
        // Leaves time to hand over what was read before the caller's own clock runs out.
        let deadline = Instant::now() + limit.mul_f32(0.9);
        let root =
            query.root.as_deref().map(|root| self.known(root).ok_or_else(|| unknown(root))).transpose()?;
        let bus = self.bus().await?;
        let last = lock(&self.last).application.clone();
        let chosen = match &root {
            Some(root) => {
                let found = self.list(&bus, Some(&root.app), deadline, limit).await?;
                found.holding(&root.bus_name, &root.window).ok_or_else(|| gone(root))
            }
            None => {
                let found = self.list(&bus, query.app.as_deref(), deadline, limit).await?;
                match self.chosen(found, query, last.as_deref()).await {
                    // It may have been named by one of its windows.
                    Err(DesktopError::NotFound(_)) if query.app.is_some() => {
                        let all = self.list(&bus, None, deadline, limit).await?;
                        self.chosen(all, query, last.as_deref()).await
                    }
                    chosen => chosen,
                }
            }
        };
        let choice = match chosen {
            Ok(choice) => choice,
            Err(error) if query.app.is_none() && query.window.is_none() && root.is_none() => {
                return Err(Unseen::Nothing(error));
            }
            Err(error) => return Err(error.into()),
        };
        let application = &choice.application;
        let near = self.near(&bus, &application.bus_name).await;
        // What is below a root is known by its ancestors, and these may not be interactive.
        let scope = match query.scope {
            Scope::Interactive if root.is_some() => Scope::Visible,
            scope => scope,
        };
        let text_chars = i32::try_from(query.text_chars).ok().filter(|&most| most > 0);
        let wish = Wish { quirks: application.quirks, scope, text_chars, deadline };
        // Built one by one: a closure over borrowed windows makes a future that cannot be sent.
        let mut asked = Vec::new();
        for window in &choice.windows {
            let object = Object { program: near.clone(), path: window.object.path.clone() };
            asked.push(async move { self.reading(&application.bus_name, &object, wish).await });
        }
        let (readings, origins) = tokio::join!(join_all(asked), self.origins(application));
        let mut read = Read { whole: true, ..Read::default() };
        for (at, reading) in readings.into_iter().enumerate() {
            match reading {
                Ok(mut reading) => {
                    if let Some(origins) = origins.as_ref().filter(|_| application.quirks.places_in_window) {
                        read.adrift |= !placed(&mut reading, &choice.windows[at], origins);
                    }
                    read.add(at, reading);
                }
                Err(error) if at == 0 => return Err(self.failed(&error, limit).into()),
                // A popup that closed while it was read.
                Err(_) => {}
            }
        }
        if read.late {
            // What was sent may wait in its socket for ever, should it hang.
            self.leave(&application.bus_name);
        }
        let root = match root {
            Some(root) => {
                let at = read.nodes.iter().position(|node| node.object.path == root.object.path);
                Some(at.ok_or_else(|| gone(&root))?)
            }
            None => None,
        };
        let mut cut = choice.notes.clone();
        cut.extend(read.note());
        if read.untold > 0 {
            cut.push(format!(
                "cut: values and labels of {} elements are not known: the time was up; wait and ask again",
                grouped(read.untold)
            ));
        }
        if read.adrift {
            cut.push("the X server does not name this window, so its elements have no place; ask with scope all, or look at a screenshot".into());
        }
        let popups = origins.as_ref().filter(|_| application.quirks.hides_popups);
        let popups: Vec<_> = popups.into_iter().flat_map(Origins::popups).collect();
        cut.extend(popups.iter().map(|popup| cut::untold_popup(popup, &display.bounds)));
        let facts: Vec<_> = read.nodes.iter().map(|node| (node.parent, &node.facts)).collect();
        let view = View { app: &application.name, display: &display.bounds, root, whole: read.whole };
        let mut pruned = prune::prune(&facts, &view, query);
        cut.append(&mut pruned.cut);
        pruned.untold.extend(popups);
        pruned.cut = cut;
        let about = About::new(&application.bus_name, query);
        let told = NewSnapshot {
            about,
            app: &application.name,
            quirks: application.quirks,
            objects: pruned.sources.iter().map(|&at| &read.nodes[at].object).collect(),
            windows: pruned.sources.iter().map(|&at| &choice.windows[read.windows[at]].object.path).collect(),
        };
        let number = lock(&self.inner.refs).enter(told, &mut pruned.elements);
        Ok(Chosen { choice, pruned, number })
    }

    /// What a window holds; where looks share one, perhaps as another has read it.
    async fn reading(&self, program: &Arc<str>, window: &Object, wish: Wish) -> Result<Reading, CallError> {
        let Some(readings) = one_look::shared() else { return nodes::read(window, wish).await };
        let shared = readings.windows.of((program.clone(), window.path.clone(), wish.scope, wish.text_chars));
        let shared = tokio::time::timeout_at(wish.deadline, shared.lock()).await;
        let mut shared = shared.map_err(|_| CallError::Late)?;
        if let Some(reading) = &*shared {
            return Ok(reading.clone());
        }
        let reading = nodes::read(window, wish).await?;
        if !reading.late && reading.unread + reading.untold == 0 {
            *shared = Some(reading.clone());
        }
        Ok(reading)
    }

    /// Which applications there are; where looks share what they read, perhaps as another has found them.
    async fn list(
        &self,
        bus: &Bus,
        wanted: Option<&str>,
        deadline: Instant,
        limit: Duration,
    ) -> Result<Applications, DesktopError> {
        let Some(readings) = one_look::shared() else {
            return self.list_now(bus, wanted, deadline, limit).await;
        };
        let shared = readings.applications.of(wanted.map(str::to_owned));
        let shared = tokio::time::timeout_at(deadline, shared.lock()).await;
        let mut shared = shared.map_err(|_| DesktopError::Timeout(limit))?;
        if let Some(found) = &*shared {
            return Ok(found.clone());
        }
        let found = self.list_now(bus, wanted, deadline, limit).await?;
        if found.silent.is_empty() {
            *shared = Some(found.clone());
        }
        Ok(found)
    }

    async fn list_now(
        &self,
        bus: &Bus,
        wanted: Option<&str>,
        deadline: Instant,
        limit: Duration,
    ) -> Result<Applications, DesktopError> {
        let listed = applications::list_named(bus, &self.inner.own, PATIENCE, wanted);
        let found = tokio::time::timeout_at(deadline, listed).await;
        let found = found.map_err(|_| DesktopError::Timeout(limit))?;
        Ok(self.with_active(found.map_err(|error| self.failed(&error, limit))?).await)
    }

    /// The application that is meant; of several that fit the one in front.
    pub(super) async fn chosen(
        &self,
        mut found: Applications,
        query: &ElementQuery,
        last: Option<&str>,
    ) -> Result<Choice, DesktopError> {
        if found.are_rivals(query) {
            found.sort(&origin::front_first(self.inner.display.clone()).await);
        }
        found.choose(query, last)
    }

    /// Where the windows lie of an application that tells places within them only, or not all of its popups.
    async fn origins(&self, application: &Application) -> Option<Origins> {
        let Quirks { places_in_window, hides_popups, .. } = application.quirks;
        if !places_in_window && !hides_popups {
            return None;
        }
        Some(origin::of_process(self.inner.display.clone(), application.pid).await)
    }
}

/// Moves what was read to where it is on the screen; `false` where the X server does not name the window.
fn placed(reading: &mut Reading, window: &Window, origins: &Origins) -> bool {
    let (_, _, width, height) = reading.nodes.first().map(|root| root.facts.extents).unwrap_or_default();
    let told = ReportedWindow { title: &window.name, active: window.active, size: (width, height) };
    let corner = origins.of_window(&told);
    origins.place(&mut reading.nodes, corner);
    corner.is_some()
}

/// Everything that was read of all windows.
#[derive(Default)]
struct Read {
    nodes: Vec<Node>,
    /// Of each node, the index of its window.
    windows: Vec<usize>,
    whole: bool,
    unread: usize,
    untold: usize,
    late: bool,
    /// A window's place on the screen could not be found.
    adrift: bool,
}

impl Read {
    fn add(&mut self, window: usize, reading: Reading) {
        self.unread += reading.unread;
        self.untold += reading.untold;
        self.late |= reading.late;
        self.whole &= reading.whole;
        let offset = self.nodes.len();
        self.nodes.extend(reading.nodes.into_iter().map(|mut node| {
            node.parent = node.parent.map(|parent| parent + offset);
            node
        }));
        self.windows.resize(self.nodes.len(), window);
    }

    fn note(&self) -> Option<String> {
        if self.unread == 0 && !self.late {
            return None;
        }
        let (unread, all) = (grouped(self.unread), grouped(self.unread + self.nodes.len()));
        let why = if self.late { "the time was up" } else { "there are too many" };
        Some(format!(
            "cut: {unread} of {all} objects were not read: {why}; ask with a window, or wait and ask again"
        ))
    }
}

fn unknown(reference: &str) -> DesktopError {
    DesktopError::NotFound(format!("element {reference} is not known; call elementsJson again for new refs"))
}

fn gone(known: &KnownObject) -> DesktopError {
    let Element { reference, role, name, .. } = &known.element;
    DesktopError::NotFound(format!(
        "{role} \"{name}\" ({reference}) is no longer on the screen; call elementsJson without root"
    ))
}

/// Why there is no look.
enum Unseen {
    /// Nobody was named, and what is active has no tree.
    Nothing(DesktopError),
    Failed(DesktopError),
}

impl From<DesktopError> for Unseen {
    fn from(error: DesktopError) -> Self {
        Self::Failed(error)
    }
}

/// An empty snapshot that says why: the screen can still be seen and clicked.
fn nothing(why: &DesktopError) -> Snapshot {
    Snapshot { cut: vec![why.to_string()], ..Snapshot::default() }
}
