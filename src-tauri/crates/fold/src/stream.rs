//! A stream as one reader has it: the newest events first, older ones as they are asked for, and what happens meanwhile.
//!
//! The one place that knows of pages, numbers and gaps. Carries nothing out: it says which events are to be read next, and
//! is handed the answer.

use std::collections::VecDeque;

use protocol::Event;
use protocol::command::ReadEvents;
use protocol::ids::StreamId;
use protocol::view::EventPage;

use crate::transcript::Transcript;

/// Events in a page. A step has about three.
const PAGE: u32 = 240;
/// Events that [`Stream::forget_oldest`] leaves.
const MOST_EVENTS: usize = 2_000;
/// It forgets that many at a time, since the transcript is made anew then.
const FORGOTTEN: usize = 500;
/// Events kept while a page is on its way. Of more, the oldest are read again.
const MOST_EARLY: usize = 4_096;

#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    id: StreamId,
    /// Without gaps.
    events: VecDeque<Event>,
    /// The number of the last event that is known; `None` before the first page.
    last: Option<u64>,
    /// What came while a page was on its way, in the order of its coming.
    early: VecDeque<Event>,
    reads: Reads,
    transcript: Transcript,
}

/// The page that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    Nothing,
    Newest,
    /// After the last event that is known.
    Newer,
    /// Before the first.
    Older,
}

impl Stream {
    /// A stream of which nothing is known yet, and the page to begin with.
    pub fn open(id: StreamId) -> (Self, ReadEvents) {
        let read = ReadEvents { stream: id.clone(), before: None, after: None, limit: PAGE };
        let stream = Self {
            id,
            events: VecDeque::new(),
            last: None,
            early: VecDeque::new(),
            reads: Reads::Newest,
            transcript: Transcript::default(),
        };
        (stream, read)
    }

    pub fn id(&self) -> &StreamId {
        &self.id
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Whether the first page has come.
    pub fn is_open(&self) -> bool {
        self.last.is_some()
    }

    /// Whether older events are on their way.
    pub fn reads_older(&self) -> bool {
        self.reads == Reads::Older
    }

    /// Takes an event of this stream: a durable one in the order of the numbers, each once; a passing one as it comes.
    /// Answers what is to be read where some are missing in between.
    #[must_use]
    pub fn event(&mut self, event: &Event) -> Option<ReadEvents> {
        if event.stream != self.id {
            return None;
        }
        let last = match self.reads {
            Reads::Newest | Reads::Newer => None,
            Reads::Nothing | Reads::Older => self.last,
        };
        let Some(last) = last else {
            self.keep(event);
            return None;
        };
        match number(event) {
            Some(n) if n <= last => None,
            Some(n) if n > last + 1 => {
                self.keep(event);
                self.reads = Reads::Newer;
                Some(ReadEvents { after: Some(last), ..self.read() })
            }
            Some(_) | None => {
                self.append(event.clone());
                None
            }
        }
    }

    /// Takes the page that was asked for; answers what is to be read next. A page that nobody waits for changes nothing.
    #[must_use]
    pub fn page(&mut self, page: EventPage) -> Option<ReadEvents> {
        let Some(first) = page.events.first().and_then(number) else {
            return self.empty_page();
        };
        match (self.last, self.first()) {
            (None, _) => self.last = Some(first - 1),
            (Some(_), Some(known)) if first < known => {
                self.put_in_front(page, known);
                return None;
            }
            (Some(_), _) => {}
        }
        self.reads = Reads::Nothing;
        for event in page.events {
            if number(&event) == self.last.map(|last| last + 1) {
                self.append(event);
            }
        }
        self.take_early()
    }

    /// The page that was asked for cannot be had: it is asked for again by the next event, or by [`Stream::older`].
    pub fn not_read(&mut self) {
        if self.is_open() {
            self.reads = Reads::Nothing;
        }
    }

    /// The page before what is known. `None` at the beginning of the stream, and while any page is on its way.
    pub fn older(&mut self) -> Option<ReadEvents> {
        let first = self.first().filter(|first| *first > 1 && self.reads == Reads::Nothing)?;
        self.reads = Reads::Older;
        Some(ReadEvents { before: Some(first), ..self.read() })
    }

    /// Whether the stream has events before those that are known.
    pub fn has_older(&self) -> bool {
        self.first().is_some_and(|first| first > 1)
    }

    /// Lets go of the oldest events of a long stream; [`Stream::older`] brings them back.
    pub fn forget_oldest(&mut self) {
        if self.events.len() >= MOST_EVENTS + FORGOTTEN {
            self.events.drain(..self.events.len() - MOST_EVENTS);
            self.make_anew();
        }
    }

    /// The number of the oldest event that is known.
    fn first(&self) -> Option<u64> {
        self.events.front().and_then(number)
    }

    fn read(&self) -> ReadEvents {
        ReadEvents { stream: self.id.clone(), before: None, after: None, limit: PAGE }
    }

    fn empty_page(&mut self) -> Option<ReadEvents> {
        self.last = self.last.or(Some(0));
        self.reads = Reads::Nothing;
        self.take_early()
    }

    fn append(&mut self, event: Event) {
        self.transcript.fold(&event);
        if let Some(position) = event.position {
            self.last = Some(position.n);
            self.events.push_back(event);
        }
    }

    fn put_in_front(&mut self, page: EventPage, known: u64) {
        if self.reads == Reads::Older {
            self.reads = Reads::Nothing;
        }
        if page.events.last().and_then(number).is_none_or(|last| last + 1 < known) {
            return;
        }
        let older = page.events.into_iter().rev().filter(|event| number(event).is_some_and(|n| n < known));
        for event in older {
            self.events.push_front(event);
        }
        self.make_anew();
    }

    fn make_anew(&mut self) {
        let mut transcript = Transcript::of(&self.events);
        transcript.go_on_streaming(&mut self.transcript);
        self.transcript = transcript;
    }

    fn keep(&mut self, event: &Event) {
        if self.early.len() == MOST_EARLY {
            self.early.pop_front();
        }
        self.early.push_back(event.clone());
    }

    fn take_early(&mut self) -> Option<ReadEvents> {
        let mut early = std::mem::take(&mut self.early).into_iter();
        while let Some(event) = early.next() {
            let missing = self.event(&event);
            if missing.is_some() {
                self.early.extend(early);
                return missing;
            }
        }
        None
    }
}

fn number(event: &Event) -> Option<u64> {
    event.position.map(|position| position.n)
}

#[cfg(test)]
mod tests;
