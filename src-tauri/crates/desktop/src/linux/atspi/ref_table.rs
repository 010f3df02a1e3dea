//! What is remembered between snapshots: which object each ref stands for, and what the last snapshots said.
//!
//! A number is given once and never again. Bounded: what was not seen for longest is forgotten first. Talks to nobody.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::bus::Object;
use super::quirks::Quirks;
use crate::{Element, ElementQuery};

/// Objects remembered; a long day in a browser sees more.
const MOST: usize = 20_000;
/// Snapshots that `since` can name.
const SNAPSHOTS: usize = 64;

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
    /// As it was told last.
    pub(in super::super) element: Element,
    /// The snapshot in which that was.
    seen: u64,
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
    snapshots: VecDeque<Remembered>,
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
    /// What each ref looked like, as a hash.
    looks: HashMap<String, u64>,
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
            let known = KnownObject {
                object: object.clone(),
                bus_name: about.bus_name.clone(),
                app: app.to_owned(),
                window: Arc::clone(window),
                quirks,
                element: element.clone(),
                seen: self.number,
            };
            self.known.insert(number, known);
        }
        let looks = elements.iter().map(|element| (element.reference.clone(), look(element))).collect();
        self.snapshots.push_back(Remembered { number: self.number, about, looks });
        if self.snapshots.len() > SNAPSHOTS {
            self.snapshots.pop_front();
        }
        self.bound(MOST);
        self.number
    }

    /// What differs between the snapshot `since` and the one told last; `None` if that one is not known or was
    /// about something else.
    pub(super) fn difference(&self, since: u64) -> Option<Difference> {
        let now = self.snapshots.back()?;
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

/// Everything of an element that can change while it is the same one, but its place in the tree.
fn look(element: &Element) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Element { role, name, description, value, states, actions, bounds, .. } = element;
    (role, name, description, value, states, actions).hash(&mut hasher);
    for length in [bounds.x, bounds.y, bounds.width, bounds.height] {
        length.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}
