//! Refs: the same for as long as their object is there, never given to another one; and what changed since a snapshot.
//! Knows no platform: an object is whatever says whether it equals another.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use crate::element::REMEMBERED;
use crate::{Element, ToldElements};

/// Snapshots that were told, which `since` may name.
const KEPT: usize = 64;
/// Snapshots of which an agent may still be told.
const RECENT: usize = 32;
/// Objects remembered; those of the oldest snapshots go first.
const MOST: usize = 20_000;

/// An object that was listed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry<N> {
    pub(crate) node: N,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) app: String,
    pub(crate) window: String,
    /// As it was first told: a look at a part of the tree sees less of the path that it is made of.
    fingerprint: String,
    /// Role and name, as an agent was told last.
    told: Option<(String, String)>,
    /// The last snapshot it was in.
    seen: u64,
}

impl<N> Entry<N> {
    /// The role and the name that its ref stands for.
    pub(crate) fn as_told(&self) -> (&str, &str) {
        self.told.as_ref().map_or((&self.role, &self.name), |(role, name)| (role, name))
    }

    /// `button "Save"`.
    pub(crate) fn called(&self) -> String {
        let (role, name) = self.as_told();
        if name.is_empty() { role.to_owned() } else { format!("{role} \"{name}\"") }
    }
}

pub(crate) struct RefTable<N> {
    numbers: HashMap<N, u64>,
    entries: HashMap<u64, Entry<N>>,
    last_ref: u64,
    last_snapshot: u64,
    /// Snapshots that were told, and others.
    past: VecDeque<(u64, Vec<Element>)>,
    recent: VecDeque<(u64, Vec<Element>)>,
}

impl<N> Default for RefTable<N> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            entries: HashMap::new(),
            last_ref: 0,
            last_snapshot: 0,
            past: VecDeque::new(),
            recent: VecDeque::new(),
        }
    }
}

/// What is told of a snapshot.
#[derive(Debug, PartialEq)]
pub(crate) struct NumberedSnapshot {
    pub(crate) number: u64,
    /// All, or the new and changed ones.
    pub(crate) elements: Vec<Element>,
    pub(crate) gone: Vec<String>,
    /// Said where what was asked for is no longer known.
    pub(crate) note: Option<String>,
}

impl<N: Clone + Eq + Hash> RefTable<N> {
    /// Gives each element the ref of its object, and answers what changed since the snapshot named.
    pub(crate) fn enter(
        &mut self,
        app: &str,
        window: &str,
        nodes: &[N],
        mut elements: Vec<Element>,
        since: Option<u64>,
    ) -> NumberedSnapshot {
        self.last_snapshot += 1;
        let number = self.last_snapshot;
        for (node, element) in nodes.iter().zip(&mut elements) {
            let known = self.numbers.get(node).and_then(|own| self.entries.get(own));
            let same = known.filter(|one| one.role == element.role && one.name == element.name);
            if let Some(one) = same.filter(|one| !one.fingerprint.is_empty()) {
                element.fingerprint.clone_from(&one.fingerprint);
            }
            element.reference = self.refer(node, &element.role, &element.name, app, window);
            if let Some(entry) = self.numbers.get(node).and_then(|own| self.entries.get_mut(own)) {
                entry.fingerprint.clone_from(&element.fingerprint);
            }
        }
        let before = since.map(|since| self.past.iter().find(|(past, _)| *past == since));
        let told = match before {
            None => NumberedSnapshot { number, elements: elements.clone(), gone: Vec::new(), note: None },
            Some(None) => NumberedSnapshot {
                number,
                elements: elements.clone(),
                gone: Vec::new(),
                note: Some("that snapshot is no longer known; everything is listed".into()),
            },
            Some(Some((_, before))) => {
                let (changed, gone) = changes(before, &elements);
                NumberedSnapshot { number, elements: changed, gone, note: None }
            }
        };
        push(&mut self.recent, (number, elements.iter().map(Element::short).collect()), RECENT);
        self.forget();
        told
    }

    /// From now on these refs stand for what they were in that snapshot, and `since` may name it.
    pub(crate) fn told(&mut self, told: &ToldElements) {
        if let Some(at) = self.recent.iter().position(|(number, _)| *number == told.snapshot)
            && let Some(snapshot) = self.recent.remove(at)
        {
            push(&mut self.past, snapshot, KEPT);
        }
        let Some((_, elements)) = self.past.iter().find(|(number, _)| *number == told.snapshot) else {
            return;
        };
        for element in elements.iter().filter(|one| told.refs.contains(&one.reference)) {
            let own = element.reference.strip_prefix('e').and_then(|own| own.parse().ok());
            if let Some(entry) = own.and_then(|own: u64| self.entries.get_mut(&own)) {
                entry.told = Some((element.role.clone(), element.name.clone()));
            }
        }
    }

    /// The ref of one object, in the last snapshot's time.
    pub(crate) fn refer(&mut self, node: &N, role: &str, name: &str, app: &str, window: &str) -> String {
        let last = &mut self.last_ref;
        let own = *self.numbers.entry(node.clone()).or_insert_with(|| {
            *last += 1;
            *last
        });
        let entry = Entry {
            node: node.clone(),
            role: role.to_owned(),
            name: name.chars().take(REMEMBERED).collect(),
            app: app.to_owned(),
            window: window.to_owned(),
            fingerprint: String::new(),
            told: self.entries.get(&own).and_then(|entry| entry.told.clone()),
            seen: self.last_snapshot,
        };
        self.entries.insert(own, entry);
        format!("e{own}")
    }

    pub(crate) fn find(&self, reference: &str) -> Option<&Entry<N>> {
        self.entries.get(&reference.strip_prefix('e')?.parse().ok()?)
    }

    fn forget(&mut self) {
        if self.entries.len() <= MOST {
            return;
        }
        let mut order: Vec<(u64, u64)> = self.entries.iter().map(|(own, entry)| (entry.seen, *own)).collect();
        order.sort_unstable();
        for (_, own) in order.into_iter().take(self.entries.len() - MOST) {
            if let Some(entry) = self.entries.remove(&own) {
                self.numbers.remove(&entry.node);
            }
        }
    }
}

fn push<S>(all: &mut VecDeque<S>, one: S, most: usize) {
    all.push_back(one);
    if all.len() > most {
        all.pop_front();
    }
}

/// The new and changed elements, and the refs of those that are gone.
fn changes(before: &[Element], now: &[Element]) -> (Vec<Element>, Vec<String>) {
    let old: HashMap<&str, &Element> = before.iter().map(|one| (one.reference.as_str(), one)).collect();
    let there: HashSet<&str> = now.iter().map(|one| one.reference.as_str()).collect();
    let changed = now.iter().filter(|one| old.get(one.reference.as_str()) != Some(one)).cloned().collect();
    let gone = before
        .iter()
        .filter(|one| !there.contains(one.reference.as_str()))
        .map(|one| one.reference.clone())
        .collect();
    (changed, gone)
}

#[cfg(test)]
mod tests;
