//! One look at one application: choosing it, reading its windows, pruning what was read; and finding one element anew
//! by what it is.

use std::sync::Arc;

use futures::future::join_all;
use protocol::view::DisplayView;
use tokio::time::Instant;

use super::applications::{self, Choice};
use super::book::{About, Known};
use super::bus::Object;
use super::nodes::{self, Node};
use super::prune::{self, Pruned};
use super::{Accessibility, DEADLINE, PATIENCE, lock, role};
use crate::{DesktopError, Element, ElementQuery, Scope, Selector, Snapshot};

/// Everything that was read of one application, and what of it are elements.
struct Look {
    choice: Choice,
    nodes: Vec<Node>,
    pruned: Pruned,
    /// The snapshot's number.
    number: u64,
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
        let Look { choice, pruned: Pruned { mut elements, mut cut, .. }, number, .. } = look;
        let mut gone = Vec::new();
        if let Some(since) = query.since {
            match lock(&self.inner.book).difference(since) {
                Some(difference) => {
                    elements.retain(|element| difference.changed.contains(&element.reference));
                    gone = difference.gone;
                }
                None => cut.push(format!(
                    "nothing was left out: snapshot {since} is not known or was of something else, so this is everything"
                )),
            }
        }
        prune::limit(&mut elements, query.limit, &mut cut);
        Ok(Snapshot {
            number,
            app: choice.application.name,
            window: choice.windows.first().map(|window| window.name.clone()).unwrap_or_default(),
            elements,
            gone,
            cut,
        })
    }

    /// What a ref of any earlier snapshot stands for; its object may be gone by now.
    pub(super) fn known(&self, reference: &str) -> Option<Known> {
        lock(&self.inner.book).find(reference)
    }

    /// Finds the element that is meant, anew: texts are compared whole, in any case; where nothing matches, parts
    /// count. What is on the screen comes before what is not.
    ///
    /// # Errors
    /// `NotFound` names what comes nearest.
    pub(super) async fn seek(
        &self,
        selector: &Selector,
        display: &DisplayView,
    ) -> Result<Known, DesktopError> {
        let mut near = Vec::new();
        for scope in [Scope::Visible, Scope::All] {
            let query = ElementQuery { app: selector.app.clone(), scope, ..ElementQuery::default() };
            let look = match self.look(&query, display).await {
                Ok(look) => look,
                Err(Unseen::Nothing(error) | Unseen::Failed(error)) => return Err(error),
            };
            if let Some(found) = look.best(selector)
                && let Some(known) = self.known(&found.reference)
            {
                return Ok(known);
            }
            near = look.near(selector);
        }
        let near = if near.is_empty() { String::new() } else { format!("; there are: {}", near.join(", ")) };
        Err(DesktopError::NotFound(format!("no element is {}{near}", describe(selector))))
    }

    /// The element that is now what `gone` was: of the same fingerprint, or else of the same role and name.
    pub(super) async fn nearest(&self, gone: &Known, display: &DisplayView) -> Option<Known> {
        let query = ElementQuery { app: Some(gone.app.clone()), ..ElementQuery::default() };
        let look = self.look(&query, display).await.ok()?;
        let was = &gone.element;
        let all = &look.pruned.elements;
        let same = |one: &&Element| !one.fingerprint.is_empty() && one.fingerprint == was.fingerprint;
        let alike = |one: &&Element| one.role == was.role && one.name == was.name;
        let found = all.iter().find(same).or_else(|| all.iter().find(alike))?;
        self.known(&found.reference)
    }

    async fn look(&self, query: &ElementQuery, display: &DisplayView) -> Result<Look, Unseen> {
        let limit = query.deadline.unwrap_or(DEADLINE);
        // Leaves time to hand over what was read before the caller's own clock runs out.
        let deadline = Instant::now() + limit.mul_f32(0.9);
        let bus = self.bus().await?;
        let found = tokio::time::timeout_at(deadline, applications::list(&bus, &self.inner.own, PATIENCE))
            .await
            .map_err(|_| DesktopError::Timeout(limit))?
            .map_err(|error| self.failed(&error, limit))?;
        let last = lock(&self.inner.last).application.clone();
        let choice = match found.choose(query, last.as_deref()) {
            Ok(choice) => choice,
            Err(error) if query.app.is_none() && query.window.is_none() => {
                return Err(Unseen::Nothing(error));
            }
            Err(error) => return Err(error.into()),
        };
        let near = self.near(&bus, &choice.application.bus_name).await;
        let readings = join_all(choice.windows.iter().map(|window| {
            let object = Object { program: near.clone(), path: window.object.path.clone() };
            async move { nodes::read(&object, deadline).await }
        }))
        .await;
        let mut all = Vec::new();
        let mut cut = choice.notes.clone();
        let (mut unread, mut late) = (0, false);
        for (at, reading) in readings.into_iter().enumerate() {
            let reading = match reading {
                Ok(reading) => reading,
                Err(error) if at == 0 => return Err(self.failed(&error, limit).into()),
                // A popup that closed while it was read.
                Err(_) => continue,
            };
            unread += reading.unread;
            late |= reading.late;
            let offset = all.len();
            all.extend(reading.nodes.into_iter().map(|mut node| {
                node.parent = node.parent.map(|parent| parent + offset);
                node
            }));
        }
        if unread > 0 {
            let why = if late { "the time was up" } else { "there are too many" };
            cut.push(format!("{unread} of {} were not read: {why}", unread + all.len()));
        }
        let facts: Vec<_> = all.iter().map(|node| (node.parent, &node.facts)).collect();
        let mut pruned = prune::prune(&facts, &display.bounds, query);
        cut.append(&mut pruned.cut);
        pruned.cut = cut;
        let objects: Vec<Object> = pruned.sources.iter().map(|&at| all[at].object.clone()).collect();
        let application = &choice.application;
        let about = About::new(&application.bus_name, query);
        let number = lock(&self.inner.book).enter(about, &application.name, &objects, &mut pruned.elements);
        lock(&self.inner.last).application = Some(Arc::clone(&application.bus_name));
        Ok(Look { choice, nodes: all, pruned, number })
    }
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

impl Look {
    /// The first element that matches whole, or else in part.
    fn best(&self, selector: &Selector) -> Option<&Element> {
        let whole = |text: &str, wanted: &str| text == wanted;
        let part = |text: &str, wanted: &str| text.contains(wanted);
        self.first(selector, whole).or_else(|| self.first(selector, part))
    }

    fn first(&self, selector: &Selector, says: impl Fn(&str, &str) -> bool) -> Option<&Element> {
        let is = |text: &str, wanted: &Option<String>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| says(&text.trim().to_lowercase(), &wanted.trim().to_lowercase()))
        };
        let Pruned { elements, sources, .. } = &self.pruned;
        elements.iter().zip(sources).find_map(|(element, &at)| {
            let matches = is(&element.role, &selector.role)
                && is(&element.name, &selector.name)
                && (selector.within.is_none() || self.is_within(at, |text| is(text, &selector.within)));
            matches.then_some(element)
        })
    }

    fn is_within(&self, at: usize, is: impl Fn(&str) -> bool) -> bool {
        std::iter::successors(self.nodes[at].parent, |&above| self.nodes[above].parent).any(|above| {
            let facts = &self.nodes[above].facts;
            is(&facts.name) || is(role::describe(facts.role).0)
        })
    }

    /// A few that might have been meant.
    fn near(&self, selector: &Selector) -> Vec<String> {
        const MOST: usize = 5;
        let same_role = |element: &&Element| {
            selector.role.as_ref().is_none_or(|role| role.trim().eq_ignore_ascii_case(&element.role))
        };
        let named = |element: &&Element| !element.name.is_empty();
        let alike = self.pruned.elements.iter().filter(named).filter(same_role);
        alike.take(MOST).map(|one| format!("{} \"{}\" ({})", one.role, one.name, one.reference)).collect()
    }
}

fn describe(selector: &Selector) -> String {
    let role = selector.role.as_deref().unwrap_or("element");
    let name = selector.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let within = selector.within.as_ref().map(|within| format!(" within \"{within}\"")).unwrap_or_default();
    format!("{role}{name}{within}")
}

/// An empty snapshot that says why: the screen can still be seen and clicked.
fn nothing(why: &DesktopError) -> Snapshot {
    Snapshot { cut: vec![why.to_string()], ..Snapshot::default() }
}
