//! Keeps a state in step with the event stream: snapshot first, then events, again a snapshot after a gap.
//!
//! Pure. Subscribe before asking for the snapshot, so that nothing can fall between the two; what arrives meanwhile
//! is kept and folded on top.

use protocol::view::SnapshotView;
use protocol::{ErrorCode, ErrorView, Event, EventBody};

use crate::state::{Reduced, State, reduce};

/// Events kept while a snapshot is on its way. Losing some makes a gap, and that asks for another snapshot.
const MOST_KEPT: usize = 4_096;

/// Whether a snapshot is to be fetched now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wants {
    Nothing,
    Snapshot,
}

/// The events between the channel and the state.
#[derive(Debug)]
pub struct Feed {
    /// Events since the snapshot was asked for; nothing where none is on its way.
    kept: Option<Vec<Event>>,
    /// Why the journal cannot be written. In no snapshot, and true until the program is started again.
    broken: Option<ErrorView>,
}

impl Default for Feed {
    /// A feed whose first snapshot is on its way.
    fn default() -> Self {
        Self { kept: Some(Vec::new()), broken: None }
    }
}

impl Feed {
    /// Takes an event from the channel.
    pub fn event(&mut self, state: Option<&mut State>, event: Event) -> Wants {
        if let EventBody::JournalFailed { message, hint } = &event.body {
            let (message, hint) = (message.clone(), hint.clone());
            self.broken = Some(ErrorView { hint, ..ErrorView::new(ErrorCode::Storage, message) });
        }
        match (&mut self.kept, state) {
            (Some(kept), _) => {
                if kept.len() < MOST_KEPT {
                    kept.push(event);
                }
                Wants::Nothing
            }
            (None, Some(state)) => match reduce(state, &event) {
                Reduced::Applied | Reduced::Stale => Wants::Nothing,
                Reduced::NeedsSnapshot => {
                    self.kept = Some(vec![event]);
                    Wants::Snapshot
                }
            },
            (None, None) => {
                self.kept = Some(vec![event]);
                Wants::Snapshot
            }
        }
    }

    /// Takes the snapshot that was asked for and folds on top what came meanwhile. Of the state `before` only what the
    /// user chose to see stays; a session that is then [`State::opening`] is to be fetched.
    pub fn snapshot(&mut self, before: Option<&State>, view: SnapshotView) -> (State, Wants) {
        let mut state = State::from(view);
        if let Some(before) = before {
            state.keep_choice(before);
        }
        state.broken.clone_from(&self.broken);
        let mut kept = self.kept.take().unwrap_or_default().into_iter();
        while let Some(event) = kept.next() {
            if reduce(&mut state, &event) == Reduced::NeedsSnapshot {
                self.kept = Some(std::iter::once(event).chain(kept).collect());
                return (state, Wants::Snapshot);
            }
        }
        (state, Wants::Nothing)
    }
}
