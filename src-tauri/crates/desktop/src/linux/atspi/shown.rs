//! What an application shows a person, before and after a press: the sign of one that changes no state of its own.
//! Reads only.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::acting::{Operand, called, is_menu_item};
use super::bus::{Object, ROOT};
use super::nodes::{self, Facts, Wish};
use super::prune::shortened;
use super::quirks::Quirks;
use super::role::{self, States, number};
use crate::Scope;

/// What is open, and what can be read in the object's own window.
pub(super) struct Shown {
    windows: Vec<Arc<str>>,
    /// `None` if not all of it was told in time.
    parts: Option<Vec<Part>>,
    /// Whether the object itself is among them.
    has_object: bool,
}

/// Not known by its path: some toolkits make an object anew for each who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    role: u32,
    name: String,
    value: String,
    states: States,
}

impl Part {
    /// `None` for what says nothing, and for what changes by itself.
    fn of(facts: &Facts, quirks: Quirks) -> Option<Self> {
        const TOLD: [States; 5] =
            [States::CHECKED, States::SELECTED, States::EXPANDED, States::ENABLED, States::SENSITIVE];
        let says = !facts.name.trim().is_empty() || !facts.value.is_empty();
        (says && facts.role != number::PROGRESS_BAR).then(|| Self {
            role: facts.role,
            name: if quirks.restless.contains(&facts.role) { String::new() } else { facts.name.clone() },
            value: facts.value.clone(),
            states: TOLD
                .into_iter()
                .filter(|state| facts.states.has(*state))
                .fold(States::default(), States::with),
        })
    }

    fn words(&self) -> String {
        let called = called(self.role, &self.name);
        if self.value.is_empty() { called } else { format!("{called} with \"{}\"", shortened(&self.value)) }
    }
}

impl Operand {
    pub(super) async fn shown(&self) -> Shown {
        let window = Object { program: self.object.program.clone(), path: self.window.clone() };
        let deadline = Instant::now() + self.quirks.reading_takes;
        let wish = Wish { quirks: self.quirks, scope: Scope::Visible, text_chars: None, deadline };
        let (windows, reading) = tokio::join!(self.windows(), nodes::read(&window, wish));
        let whole = reading.ok().filter(|read| !read.late && read.unread == 0 && read.untold == 0);
        let is_object = |node: &nodes::Node| node.object.path == self.object.path;
        Shown {
            windows,
            has_object: whole.as_ref().is_some_and(|read| read.nodes.iter().any(is_object)),
            parts: whole.map(|read| {
                read.nodes.into_iter().filter_map(|node| Part::of(&node.facts, self.quirks)).collect()
            }),
        }
    }

    async fn windows(&self) -> Vec<Arc<str>> {
        let root = Object::new(&self.object.program, ROOT);
        root.children().await.unwrap_or_default().iter().map(|(_, path)| path.as_str().into()).collect()
    }

    /// The same before a press. What still changes by itself, as a page that comes up late, is no sign later.
    pub(super) async fn shown_at_rest(&self) -> Shown {
        let first = self.shown().await;
        if self.quirks.late.is_zero() {
            return first;
        }
        tokio::time::sleep(self.quirks.late).await;
        let mut now = self.shown().await;
        now.parts = now.parts.filter(|parts| first.parts.as_ref() == Some(parts));
        now
    }

    /// What a person would see to have come of a press since. What its object did not survive says nothing: a page may
    /// have been left by somebody else.
    pub(super) async fn seen_since(&self, before: &Shown) -> Option<String> {
        // What cannot be compared is not read.
        let now = match before.parts {
            Some(_) => self.shown().await,
            None => Shown { windows: self.windows().await, parts: None, has_object: false },
        };
        if let Some(path) = now.windows.iter().find(|path| !before.windows.contains(path)) {
            let opened = Object { program: self.object.program.clone(), path: path.clone() };
            let (role, name) = tokio::join!(opened.role(), opened.name());
            return Some(format!("{} has opened", called(role.ok()?, &name.ok()?)));
        }
        if before.windows.contains(&self.window)
            && !now.windows.is_empty()
            && !now.windows.contains(&self.window)
        {
            return Some("its window has closed".into());
        }
        // What a closed menu holds is never among them.
        let in_closed_menu = !before.has_object && is_menu_item(self.role);
        if now.has_object || (in_closed_menu && self.is_there().await) {
            // That a menu has closed says nothing of what its item did.
            let counts = |part: &&Part| !is_menu_item(self.role) || !role::is_of_menu(part.role);
            let parts = |shown: &Shown| {
                Some(shown.parts.as_ref()?.iter().filter(counts).cloned().collect::<Vec<_>>())
            };
            return difference(&parts(before)?, &parts(&now)?);
        }
        None
    }

    async fn is_there(&self) -> bool {
        self.object.states().await.is_ok_and(|now| !now.has(States::DEFUNCT))
    }
}

fn difference(before: &[Part], now: &[Part]) -> Option<String> {
    if let Some(new) = more(now, before) {
        return Some(format!("{} shows now", new.words()));
    }
    more(before, now).map(|gone| format!("{} shows no longer", gone.words()))
}

/// The first that is there more often than among the others.
fn more<'a>(these: &'a [Part], others: &[Part]) -> Option<&'a Part> {
    let mut left: HashMap<&Part, usize> = HashMap::new();
    for part in others {
        *left.entry(part).or_default() += 1;
    }
    these.iter().find(|part| match left.get_mut(part) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests;
