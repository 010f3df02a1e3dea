//! What a window shows, and how one event changes it.
//!
//! Pure: no clock, no IPC, no DOM. Holds nothing that a snapshot and the events after it could not rebuild.

use std::cmp::Reverse;

use protocol::event::{Activity, EventBody, RunEnd, Status};
use protocol::ids::{RunId, Seq, SessionId};
use protocol::settings::Settings;
use protocol::tool::{Approval, ApprovalMode, Mode};
use protocol::view::{Platform, RunView, SessionHistory, SessionView, SnapshotView};
use protocol::{ErrorCode, ErrorView, Event};

use crate::transcript::Transcript;

/// All a window knows of the engine, up to and with `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub seq: Seq,
    pub settings: Settings,
    pub status: Status,
    /// Newest first.
    pub sessions: Vec<SessionView>,
    /// The session whose transcript is shown; nothing means a new one.
    pub shown: Option<SessionId>,
    pub transcript: Transcript,
    /// Oldest first.
    pub approvals: Vec<Approval>,
    /// The journal cannot be written: nothing more is accepted until the program is started again.
    pub broken: Option<ErrorView>,
    pub version: String,
    pub platform: Platform,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduced {
    Applied,
    /// Already part of the state.
    Stale,
    /// Something before it was missed: fetch a snapshot and start anew.
    NeedsSnapshot,
}

impl From<SnapshotView> for State {
    fn from(view: SnapshotView) -> Self {
        let mut state = Self {
            seq: view.seq,
            settings: view.settings,
            status: view.status,
            sessions: view.sessions,
            shown: view.current,
            transcript: Transcript::of(&view.events),
            approvals: view.approvals,
            broken: None,
            version: view.version,
            platform: view.platform,
        };
        state.sort();
        state
    }
}

/// Folds one event. The state is unchanged unless the answer is [`Reduced::Applied`].
pub fn reduce(state: &mut State, event: &Event) -> Reduced {
    if event.body.is_durable() {
        if event.seq <= state.seq {
            return Reduced::Stale;
        }
        if event.seq.0 > state.seq.0 + 1 {
            return Reduced::NeedsSnapshot;
        }
        if state.would_show_unseen(event) {
            return Reduced::NeedsSnapshot;
        }
        state.seq = event.seq;
    } else if let EventBody::JournalFailed { message, hint } = &event.body {
        let hint = hint.clone();
        state.broken = Some(ErrorView { hint, ..ErrorView::new(ErrorCode::Storage, message.clone()) });
        return Reduced::Applied;
    } else if event.seq > state.seq {
        return Reduced::NeedsSnapshot;
    } else if event.seq < state.seq && !matches!(event.body, EventBody::StatusChanged { .. }) {
        // A status is the last word whatever its number; text belongs to the turn it was streamed in.
        return Reduced::Stale;
    }
    state.fold(event);
    if event.scope.session.is_some() && event.scope.session == state.shown {
        state.transcript.fold(event);
    }
    Reduced::Applied
}

impl State {
    /// Shows an older session. Events after `seq` are left out: they come by themselves.
    pub fn show(&mut self, history: &SessionHistory) {
        self.shown = Some(history.session.id.clone());
        self.transcript = Transcript::of(history.events.iter().filter(|event| event.seq <= self.seq));
    }

    /// Shows an empty page, for a session that begins with the next goal.
    pub fn show_new(&mut self) {
        self.shown = None;
        self.transcript = Transcript::default();
    }

    pub fn session(&self, id: &SessionId) -> Option<&SessionView> {
        self.sessions.iter().find(|session| session.id == *id)
    }

    pub fn shown_session(&self) -> Option<&SessionView> {
        self.session(self.shown.as_ref()?)
    }

    /// The run under way, if any.
    pub fn running(&self) -> Option<&RunId> {
        let runs = self.sessions.iter().filter_map(|session| session.last_run.as_ref());
        runs.filter(|run| run.end.is_none()).map(|run| &run.id).next()
    }

    /// Whether there is something to stop.
    pub fn busy(&self) -> bool {
        self.running().is_some() || matches!(self.status.activity, Activity::Working | Activity::Waiting)
    }

    /// Whether the run under way is held by the user, so that "resume" is what they need.
    pub fn paused(&self) -> bool {
        use crate::transcript::EntryBody::{Paused, Resumed};
        let last = self.transcript.last_run().iter().rev().find_map(|entry| match entry.body {
            Paused { .. } => Some(true),
            Resumed => Some(false),
            _ => None,
        });
        self.running().is_some() && last == Some(true)
    }

    pub fn mode(&self) -> Mode {
        self.shown_session().map_or(self.settings.mode, |session| session.mode)
    }

    pub fn approval_mode(&self) -> ApprovalMode {
        self.shown_session().map_or(self.settings.approval, |session| session.approval)
    }

    /// Whether the provider may search the web for the shown session.
    pub fn search(&self) -> bool {
        self.shown_session().is_some_and(|session| session.search)
    }

    /// Work begins in a session whose past is not in this state.
    fn would_show_unseen(&self, event: &Event) -> bool {
        matches!(event.body, EventBody::RunStarted { .. })
            && event.scope.session.is_some()
            && event.scope.session != self.shown
    }

    fn fold(&mut self, event: &Event) {
        match &event.body {
            EventBody::StatusChanged { status } => self.status = status.clone(),
            EventBody::SettingsChanged { settings } => self.settings = (**settings).clone(),
            EventBody::SessionCreated { title, mode, approval, search } => {
                if let Some(id) = event.scope.session.clone() {
                    self.created(SessionView {
                        id,
                        title: title.clone(),
                        mode: *mode,
                        approval: *approval,
                        search: *search,
                        created: event.time,
                        updated: event.time,
                        last_run: None,
                    });
                }
            }
            EventBody::ApprovalRequested { approval } => self.approvals.push(approval.clone()),
            EventBody::ApprovalAnswered { approval, .. } => {
                self.approvals.retain(|asked| asked.id != *approval)
            }
            EventBody::RunEnded { end } => self.close_questions(end),
            EventBody::SessionEdited { .. }
            | EventBody::RunStarted { .. }
            | EventBody::RunSteered { .. }
            | EventBody::RunPaused { .. }
            | EventBody::RunResumed
            | EventBody::TurnFinished { .. }
            | EventBody::TurnFailed { .. }
            | EventBody::TurnDropped { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::Noted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::ThinkingDelta { .. }
            | EventBody::JournalFailed { .. } => {}
        }
        if event.body.is_durable() {
            self.touch(event);
        }
    }

    /// A new session is where the work is: it is shown at once.
    fn created(&mut self, session: SessionView) {
        self.shown = Some(session.id.clone());
        self.sessions.insert(0, session);
        self.transcript = Transcript::default();
    }

    /// A question of a run that is over can no longer be answered.
    fn close_questions(&mut self, end: &RunEnd) {
        let over: Vec<_> = self.transcript.last_run().iter().collect();
        self.approvals.retain(|asked| {
            let named = matches!(end, RunEnd::NeedsApproval { approval } if *approval == asked.id);
            let of_this_run = over.iter().any(|entry| match &entry.body {
                crate::transcript::EntryBody::Step(step) => step.call.id == asked.call.id,
                _ => false,
            });
            !named && !of_this_run
        });
    }

    fn touch(&mut self, event: &Event) {
        let Some(id) = &event.scope.session else { return };
        let Some(session) = self.sessions.iter_mut().find(|session| session.id == *id) else { return };
        session.updated = event.time;
        match &event.body {
            EventBody::SessionEdited { title, mode, approval, search } => {
                if let Some(title) = title {
                    session.title.clone_from(title);
                }
                session.mode = mode.unwrap_or(session.mode);
                session.approval = approval.unwrap_or(session.approval);
                session.search = search.unwrap_or(session.search);
            }
            EventBody::RunStarted { goal, .. } => {
                if let Some(id) = event.scope.run.clone() {
                    session.last_run = Some(RunView { id, goal: goal.clone(), end: None });
                }
            }
            EventBody::RunEnded { end } => {
                if let Some(run) = &mut session.last_run {
                    run.end = Some(end.clone());
                }
            }
            _ => {}
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.sessions.sort_by_key(|session| Reverse(session.updated));
    }
}

#[cfg(test)]
mod tests;
