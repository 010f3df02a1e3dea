//! What a window shows of all sessions, and who decides that: the user, once they chose; else the work goes first.

use protocol::Event;
use protocol::ids::{Seq, SessionId};
use protocol::view::SessionHistory;

use super::State;
use crate::transcript::Transcript;

/// A session whose history is being fetched.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opening {
    number: u32,
    pub(super) session: SessionId,
    /// What happened in it since: the history may be from before that.
    pub(super) since: Vec<Event>,
}

impl State {
    /// The user chose a session: its history is to be fetched, and handed to [`State::show`] with this number.
    pub fn open(&mut self, session: SessionId) -> u32 {
        self.openings += 1;
        self.opening = Some(Opening { number: self.openings, session, since: Vec::new() });
        self.openings
    }

    /// The session whose history is to be fetched, and the number it was opened under.
    pub fn opening(&self) -> Option<(u32, SessionId)> {
        self.opening.as_ref().map(|opening| (opening.number, opening.session.clone()))
    }

    /// Shows an opened session, unless the user has chosen something else since. Events after `seq` are left out: they
    /// come by themselves.
    pub fn show(&mut self, number: u32, history: &SessionHistory) {
        let Some(opening) = self.opening.take_if(|opening| opening.number == number) else { return };
        let read = history.events.last().map_or(Seq(0), |event| event.seq);
        let past = history.events.iter().filter(|event| event.seq <= self.seq);
        // A passing event carries the number of the durable one before it.
        let since = opening
            .since
            .iter()
            .filter(|event| if event.body.is_durable() { event.seq > read } else { event.seq >= read });
        self.transcript = Transcript::of(past.chain(since));
        self.shown = Some(opening.session);
        self.chosen = true;
    }

    /// The history could not be had: what is shown stays.
    pub fn not_opened(&mut self, number: u32) {
        self.opening.take_if(|opening| opening.number == number);
    }

    /// Shows an empty page, for a session that begins with the next goal.
    pub fn show_new(&mut self) {
        self.shown = None;
        self.chosen = true;
        self.transcript = Transcript::default();
        self.opening = None;
    }

    /// Goes on from the state before a snapshot: the user still sees what they chose. A session that the snapshot does
    /// not tell of is opened anew, since something may have happened in it.
    pub fn keep_choice(&mut self, before: &Self) {
        self.openings = before.openings;
        let mut reopened = before.opening.as_ref().map(|opening| opening.session.clone());
        if before.chosen {
            self.chosen = true;
            if self.shown != before.shown {
                self.shown.clone_from(&before.shown);
                self.transcript = before.transcript.clone();
                reopened = reopened.or_else(|| before.shown.clone());
            }
        }
        if let Some(session) = reopened {
            self.open(session);
        }
    }
}
