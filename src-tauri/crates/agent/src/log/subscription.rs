//! One reader's sequence of events: each durable one once and in order, whatever the reader's pace.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use protocol::event::Scope;
use protocol::ids::{Seq, StreamId};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{SoFar, Source};

/// Events read from the journal at a time.
const PAGE: usize = 256;

/// Events as they come. Does not keep the log alive.
pub struct Subscription {
    source: Weak<Source>,
    /// `None` for all.
    streams: Option<Vec<StreamId>>,
    live: broadcast::Receiver<Arc<Event>>,
    start: Seq,
    /// All durable events up to this one were yielded, or are in `ready`, or are of other streams.
    seen: Seq,
    behind: Option<Behind>,
    /// To be yielded before anything else.
    ready: VecDeque<Event>,
}

/// The journal has events that were not heard live.
#[derive(Clone, Copy)]
struct Behind {
    /// What events after this one changed may have been missed.
    since: Seq,
}

impl Subscription {
    pub(super) fn new(source: &Arc<Source>, streams: Option<Vec<StreamId>>, after: Option<Seq>) -> Self {
        // In this order: no event is between the two.
        let live = source.feed.events.subscribe();
        let last = source.feed.last();
        // A number that is not there yet is another journal's.
        let start = after.map_or(last, |after| after.min(last));
        let behind = after.map(|_| Behind { since: start });
        let source = Arc::downgrade(source);
        Self { source, streams, live, start, seen: start, behind, ready: VecDeque::new() }
    }

    /// Events after this one are yielded.
    pub fn start(&self) -> Seq {
        self.start
    }

    /// The next event: durable ones of its streams, each once and in order; passing ones as they are said. Where it
    /// follows on from an earlier number or was too slow, it reads the durable events from the journal, and then says
    /// where everything stands in place of the passing ones that were missed. Nothing is lost where the future is dropped.
    ///
    /// # Errors
    /// Where the journal cannot be read, or the log is gone.
    pub async fn next(&mut self) -> Result<Event, ErrorView> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            if let Some(behind) = self.behind {
                self.catch_up(behind).await?;
                continue;
            }
            match self.live.recv().await {
                Ok(event) => {
                    if let Some(event) = self.take(&event) {
                        return Ok(event);
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    // What is left of the backlog is older than what the journal tells now.
                    self.live = self.live.resubscribe();
                    // The last event that was seen, too: what it changed is said after it.
                    self.behind = Some(Behind { since: Seq(self.seen.0.saturating_sub(1)) });
                }
                Err(RecvError::Closed) => return Err(ended()),
            }
        }
    }

    /// A live event, if it is new to this reader.
    fn take(&mut self, event: &Event) -> Option<Event> {
        if event.position.is_some() {
            if event.seq() <= self.seen {
                return None;
            }
            self.seen = event.seq();
        }
        self.is_wanted(event).then(|| event.clone())
    }

    fn is_wanted(&self, event: &Event) -> bool {
        let for_anyone = event.position.is_none() && !matches!(event.body, EventBody::TurnDelta { .. });
        for_anyone || self.streams.as_ref().is_none_or(|streams| streams.contains(&event.stream))
    }

    /// Reads a page, or, where there is none any more, how everything stands.
    async fn catch_up(&mut self, behind: Behind) -> Result<(), ErrorView> {
        let source = self.source.upgrade().ok_or_else(ended)?;
        let (seen, streams) = (self.seen, self.streams.clone());
        let (events, last, sessions, questions) = source
            .journal
            .read(move |reader| {
                let events = reader.after(seen, streams.as_deref(), PAGE)?;
                let last = reader.last_seq()?;
                if !events.is_empty() {
                    return Ok((events, last, Vec::new(), Vec::new()));
                }
                Ok((events, last, reader.sessions_since(behind.since)?, reader.questions()?))
            })
            .await?;
        if let Some(newest) = events.last() {
            self.seen = newest.seq();
            self.ready.extend(events);
            return Ok(());
        }
        // In one state of the journal: all up to `last` is known, and everything after it comes live.
        self.seen = self.seen.max(last);
        self.behind = None;
        let mut say = |scope, body| self.ready.push_back(source.feed.transient(scope, body));
        let lists = self.streams.as_ref().is_none_or(|streams| streams.contains(&StreamId::app()));
        for session in sessions {
            let own = StreamId::of_session(&session.id);
            if !lists && !self.streams.as_ref().is_some_and(|streams| streams.contains(&own)) {
                continue;
            }
            let scope = Scope { session: Some(session.id.clone()), ..Scope::default() };
            say(scope, EventBody::SessionChanged { session: Box::new(session) });
        }
        say(Scope::default(), EventBody::QuestionsChanged { questions });
        let now = source.feed.now();
        for (scope, status) in now.statuses.values().cloned() {
            say(scope, EventBody::StatusChanged { status });
        }
        for (stream, (scope, heard)) in now.turns.clone() {
            if self.streams.as_ref().is_none_or(|streams| streams.contains(&stream)) {
                let SoFar { turn, next, text, thinking } = heard;
                say(scope, EventBody::TurnSoFar { turn, next, text, thinking });
            }
        }
        if let Some(desktop) = now.desktop.clone() {
            say(Scope::default(), EventBody::DesktopChanged { desktop });
        }
        if let Some((message, hint)) = now.failure.clone() {
            say(Scope::default(), EventBody::JournalFailed { message, hint });
        }
        Ok(())
    }
}

fn ended() -> ErrorView {
    ErrorView::new(ErrorCode::Unavailable, "miki is ending: there are no more events")
}
