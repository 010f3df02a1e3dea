//! What is remembered between snapshots: which object each ref stands for, and what the last snapshots said.
//!
//! A number is given once and never again. Bounded: what was not seen for longest is forgotten first. Talks to nobody.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::bus::Object;
use super::quirks::Quirks;
use crate::element::REMEMBERED;
use crate::{Element, ElementQuery, ToldElements};

/// Objects remembered; a long day in a browser sees more.
const MOST: usize = 20_000;
/// Snapshots that were told, which `since` can name.
const SNAPSHOTS: usize = 64;
/// Snapshots of which an agent may still be told.
const RECENT: usize = 32;

/// An element that was told, and the object it stands for.
#[derive(Clone)]
pub(in super::super) struct KnownObject {
    pub(in super::super) object: Object,
    /// The application's name on the accessibility bus, and as people know it.
    pub(in super::super) bus_name: Arc<str>,
    pub(in super::super) app: String,
    /// Path of the window it is in.
    pub(super) window: Arc<str>,
    pub(super) quirks: Quirks,
    /// As it was found last.
    pub(in super::super) element: Element,
    /// As an agent was told last.
    told: Option<SeenAs>,
    /// The snapshot in which it was found last.
    seen: u64,
}

impl KnownObject {
    /// What its ref stands for.
    pub(super) fn as_told(&self) -> Element {
        let element = self.element.clone();
        match self.told.clone() {
            Some(SeenAs { role, name, .. }) => Element { role, name, ..element },
            None => element,
        }
    }
}

/// Refs and snapshots of one session.
#[derive(Default)]
pub(super) struct RefTable {
    /// The number given last.
    given: u64,
    numbers: HashMap<Key, u64>,
    known: BTreeMap<u64, KnownObject>,
    /// The snapshot's number given last.
    number: u64,
    /// Those that were told, and others.
    snapshots: VecDeque<Remembered>,
    recent: VecDeque<Remembered>,
}

/// An object by its program's name on the bus, which is never given to another one, and its path in it.
type Key = (Arc<str>, Arc<str>);

/// What a snapshot tells; an object and its window for each element.
pub(super) struct NewSnapshot<'a> {
    pub(super) about: About,
    pub(super) app: &'a str,
    pub(super) quirks: Quirks,
    pub(super) objects: Vec<&'a Object>,
    pub(super) windows: Vec<&'a Arc<str>>,
}

/// What one snapshot said.
struct Remembered {
    number: u64,
    about: About,
    looks: HashMap<String, SeenAs>,
}

/// What an element was like.
#[derive(Clone, Debug, PartialEq)]
struct SeenAs {
    role: String,
    name: String,
    /// Of everything that can change while it is the same one, but its place in the tree.
    hash: u64,
}

/// What a snapshot was about; only two of the same can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct About {
    pub(super) bus_name: Arc<str>,
    pub(super) query: ElementQuery,
}

impl About {
    /// Two questions of the same kind: whatever their number, limit and deadline, and what is read in the picture.
    pub(super) fn new(bus_name: &Arc<str>, query: &ElementQuery) -> Self {
        let query = ElementQuery { since: None, limit: 0, deadline: None, marks: false, ..query.clone() };
        Self { bus_name: bus_name.clone(), query }
    }
}

/// What is new since a snapshot.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Refs of new and changed elements.
    pub(super) changed: HashSet<String>,
    pub(super) gone: Vec<String>,
}

impl RefTable {
    /// Gives each element the ref of its object, the one it had before where it had one, and remembers it.
    /// Answers the snapshot's number.
    pub(super) fn enter(&mut self, told: NewSnapshot<'_>, elements: &mut [Element]) -> u64 {
        self.number += 1;
        let NewSnapshot { about, app, quirks, objects, windows } = told;
        for ((object, window), element) in objects.into_iter().zip(windows).zip(elements.iter_mut()) {
            let key = (about.bus_name.clone(), object.path.clone());
            let number = *self.numbers.entry(key).or_insert_with(|| {
                self.given += 1;
                self.given
            });
            element.reference = format!("e{number}");
            let told = self.known.get(&number).and_then(|known| known.told.clone());
            let known = KnownObject {
                object: object.clone(),
                bus_name: about.bus_name.clone(),
                app: app.to_owned(),
                window: Arc::clone(window),
                quirks,
                element: element.short(),
                told,
                seen: self.number,
            };
            self.known.insert(number, known);
        }
        let looks = elements.iter().map(|element| (element.reference.clone(), look(element))).collect();
        push(&mut self.recent, Remembered { number: self.number, about, looks }, RECENT);
        self.bound(MOST);
        self.number
    }

    /// From now on these refs stand for what they were in that snapshot, and `since` may name it. Answers whose it was.
    pub(super) fn told(&mut self, told: &ToldElements) -> Option<Arc<str>> {
        if let Some(at) = self.recent.iter().position(|one| one.number == told.snapshot)
            && let Some(snapshot) = self.recent.remove(at)
        {
            push(&mut self.snapshots, snapshot, SNAPSHOTS);
        }
        let snapshot = self.snapshots.iter().find(|one| one.number == told.snapshot)?;
        for reference in &told.refs {
            let known = number_of(reference).and_then(|number| self.known.get_mut(&number));
            if let (Some(known), Some(look)) = (known, snapshot.looks.get(reference)) {
                known.told = Some(look.clone());
            }
        }
        Some(snapshot.about.bus_name.clone())
    }

    /// What differs between the snapshot `since`, of which an agent was told, and that one, made just now; `None` if it is
    /// not known or was about something else.
    pub(super) fn difference(&self, since: u64, number: u64) -> Option<Difference> {
        let now = self.recent.iter().find(|one| one.number == number)?;
        let before = self.snapshots.iter().find(|told| told.number == since && told.about == now.about)?;
        let changed = now
            .looks
            .iter()
            .filter(|(reference, look)| before.looks.get(*reference) != Some(*look))
            .map(|(reference, _)| reference.clone())
            .collect();
        let mut gone: Vec<u64> = before
            .looks
            .keys()
            .filter(|reference| !now.looks.contains_key(*reference))
            .filter_map(|reference| number_of(reference))
            .collect();
        gone.sort_unstable();
        Some(Difference { changed, gone: gone.into_iter().map(|number| format!("e{number}")).collect() })
    }

    pub(super) fn find(&self, reference: &str) -> Option<KnownObject> {
        self.known.get(&number_of(reference)?).cloned()
    }

    /// The objects' connection is gone, and the names on the next one may stand for others. Numbers go on.
    pub(super) fn forget_objects(&mut self) {
        self.numbers.clear();
        self.known.clear();
        self.snapshots.clear();
        self.recent.clear();
    }

    fn bound(&mut self, most: usize) {
        if self.known.len() <= most {
            return;
        }
        let mut oldest: Vec<(u64, u64)> =
            self.known.iter().map(|(number, known)| (known.seen, *number)).collect();
        oldest.sort_unstable();
        // A tenth more than needed, so that this is not done at each snapshot.
        let spare = self.known.len() - most + most / 10;
        for (_, number) in oldest.into_iter().take(spare) {
            if let Some(known) = self.known.remove(&number) {
                self.numbers.remove(&(known.bus_name, known.object.path));
            }
        }
    }
}

/// `e12` is 12.
fn number_of(reference: &str) -> Option<u64> {
    reference.trim().strip_prefix('e')?.parse().ok()
}

fn push(all: &mut VecDeque<Remembered>, one: Remembered, most: usize) {
    all.push_back(one);
    if all.len() > most {
        all.pop_front();
    }
}

fn look(element: &Element) -> SeenAs {
    let mut hasher = DefaultHasher::new();
    let Element { role, name, description, value, states, actions, bounds, .. } = element;
    (role, name, description, value, states, actions).hash(&mut hasher);
    for length in [bounds.x, bounds.y, bounds.width, bounds.height] {
        length.to_bits().hash(&mut hasher);
    }
    let cut = |text: &str| text.chars().take(REMEMBERED).collect();
    SeenAs { role: cut(role), name: cut(name), hash: hasher.finish() }
}
