//! What a window shows, and how one event changes it.
//!
//! Pure: no clock, no IPC, no DOM. Beside what the user chose to see it holds nothing that a snapshot and the events after
//! it could not rebuild.

use std::cmp::Reverse;

use protocol::event::{Activity, EventBody, RunEnd, Status};
use protocol::ids::{ApprovalId, RunId, Seq, SessionId};
use protocol::settings::Settings;
use protocol::tool::{Approval, ApprovalMode, Mode};
use protocol::view::{Platform, RunView, SessionView, SnapshotView};
use protocol::{ErrorCode, ErrorView, Event};

use self::page::Opening;
use crate::transcript::Transcript;

mod page;

/// All a window knows of the engine, up to and with `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub seq: Seq,
    pub settings: Settings,
    pub status: Status,
    /// Newest first.
    pub sessions: Vec<SessionView>,
    /// The session whose transcript is shown; `None` means a new one.
    pub shown: Option<SessionId>,
    /// Whether the user chose what is shown. Then the work of another session does not take its place.
    pub chosen: bool,
    pub transcript: Transcript,
    /// Oldest first.
    pub approvals: Vec<Approval>,
    /// Whose questions they are, where that was told.
    askers: Vec<(ApprovalId, RunId)>,
    opening: Option<Opening>,
    /// Sessions opened so far: numbers the next one.
    openings: u32,
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
            chosen: false,
            transcript: Transcript::of(&view.events),
            approvals: view.approvals,
            askers: view.events.iter().filter_map(asker).collect(),
            opening: None,
            openings: 0,
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
    if let Some(opening) = &mut state.opening
        && event.scope.session.as_ref() == Some(&opening.session)
    {
        opening.since.push(event.clone());
    }
    Reduced::Applied
}

impl State {
    pub fn session(&self, id: &SessionId) -> Option<&SessionView> {
        self.sessions.iter().find(|session| session.id == *id)
    }

    pub fn shown_session(&self) -> Option<&SessionView> {
        self.session(self.shown.as_ref()?)
    }

    /// The run under way, if any, in whatever session.
    pub fn running(&self) -> Option<&RunId> {
        self.sessions.iter().find_map(run_of)
    }

    /// The run under way in the session that is shown, if any.
    pub fn run_shown(&self) -> Option<&RunId> {
        run_of(self.shown_session()?)
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

    /// Work begins in a session that is to be shown, and whose past is not in this state.
    fn would_show_unseen(&self, event: &Event) -> bool {
        !self.chosen
            && matches!(event.body, EventBody::RunStarted { .. })
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
            EventBody::ApprovalRequested { approval } => {
                self.approvals.push(approval.clone());
                self.askers.extend(asker(event));
            }
            EventBody::ApprovalAnswered { approval, .. } => {
                self.approvals.retain(|asked| asked.id != *approval)
            }
            EventBody::RunEnded { end } => self.close_questions(event.scope.run.as_ref(), end),
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

    /// A new session is where the work is: it is shown at once, unless the user chose another.
    fn created(&mut self, session: SessionView) {
        if !self.chosen {
            self.shown = Some(session.id.clone());
            self.transcript = Transcript::default();
        }
        self.sessions.insert(0, session);
    }

    /// A question of a run that is over can no longer be answered.
    fn close_questions(&mut self, run: Option<&RunId>, end: &RunEnd) {
        self.approvals.retain(|asked| {
            let named = matches!(end, RunEnd::NeedsApproval { approval } if *approval == asked.id);
            let of_this_run = self.askers.iter().any(|(id, asker)| *id == asked.id && Some(asker) == run);
            !named && !of_this_run
        });
        self.askers.retain(|(_, asker)| Some(asker) != run);
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

/// The run under way in this session, if any.
fn run_of(session: &SessionView) -> Option<&RunId> {
    session.last_run.as_ref().filter(|run| run.end.is_none()).map(|run| &run.id)
}

/// The question that an event asks, and the run that asks it.
fn asker(event: &Event) -> Option<(ApprovalId, RunId)> {
    match &event.body {
        EventBody::ApprovalRequested { approval } => Some((approval.id.clone(), event.scope.run.clone()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
