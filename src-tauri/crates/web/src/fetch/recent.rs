//! The last few pages as text, so that reading on sees the same page and asks the site nothing. In memory only.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Url;

use super::{Document, Extent, FetchBounds, Links};

const PAGES: usize = 4;
const AGE: Duration = Duration::from_secs(600);

/// What makes two fetches give the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedPart {
    url: String,
    links: Links,
    extent: Extent,
    bytes: usize,
}

impl WantedPart {
    pub(super) fn new(url: &Url, bounds: &FetchBounds) -> Self {
        Self { url: url.to_string(), links: bounds.links, extent: bounds.extent, bytes: bounds.bytes }
    }
}

struct Entry {
    wanted: WantedPart,
    document: Arc<Document>,
    since: Instant,
}

#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<Entry>>);

impl Recent {
    pub(super) fn get(&self, wanted: &WantedPart, now: Instant) -> Option<Arc<Document>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| now.duration_since(entry.since) < AGE);
        entries.iter().find(|entry| entry.wanted == *wanted).map(|entry| Arc::clone(&entry.document))
    }

    pub(super) fn put(&self, wanted: WantedPart, document: Arc<Document>, now: Instant) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.wanted != wanted && now.duration_since(entry.since) < AGE);
        entries.push_front(Entry { wanted, document, since: now });
        entries.truncate(PAGES);
    }
}
