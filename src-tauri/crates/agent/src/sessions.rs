//! Sessions as people expect them: found, renamed, pinned, archived, branched, deleted and brought back; and what goes for
//! good after its time.

use std::sync::Weak;
use std::time::Duration;

use journal::{Copied, CopyInto, Tidy};
use protocol::command::{BranchSession, EditSession, ListSessions, SearchSessions};
use protocol::event::{Level, Scope};
use protocol::ids::{BlobRef, SessionId, StreamId, Timestamp};
use protocol::principal::Principal;
use protocol::settings::Settings;
use protocol::view::{Branched, Found, Origin, SessionView, Shelf};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, check_length, check_page, fresh};
use crate::rights;

/// Sessions in one answer where no limit is given.
pub(crate) const USUAL: u32 = 200;
/// Sessions that one search finds at the most.
const FOUND: u32 = 200;
/// Characters of a session's title.
const TITLE_CHARS: usize = 200;
/// Characters of what is looked for.
const QUERY_CHARS: usize = 1_000;
/// Events that are read at a time.
const PAGE: u32 = 1_000;
/// How often what is too old is looked for.
const TIDY_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
const A_DAY: i64 = 24 * 60 * 60 * 1000;
const MEGABYTE: u64 = 1024 * 1024;

impl Engine {
    /// # Errors
    /// `NotFound` for the session that the page is to begin after; `BadRequest` for a limit out of range.
    pub async fn list_sessions(&self, command: ListSessions) -> Result<Vec<SessionView>, ErrorView> {
        let ListSessions { before, limit, which } = command;
        let limit = limit.unwrap_or(USUAL);
        check_page(limit)?;
        self.log.read(move |journal| journal.sessions(which, before.as_ref(), limit)).await
    }

    /// # Errors
    /// `BadRequest` for a limit out of range or a query too long.
    pub async fn search_sessions(&self, command: SearchSessions) -> Result<Vec<Found>, ErrorView> {
        let SearchSessions { query, limit } = command;
        check_length("query", &query, QUERY_CHARS)?;
        let limit = limit.unwrap_or(FOUND);
        if !(1..=FOUND).contains(&limit) {
            let message = format!("limit = {limit} is outside 1-{FOUND}");
            return Err(ErrorView::new(ErrorCode::BadRequest, message));
        }
        self.log.read(move |journal| journal.search(&query, limit as usize)).await
    }

    /// A session that is not deleted.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub(crate) async fn open_one(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        let view = self.session(session).await?;
        if view.shelf.deleted.is_none() {
            return Ok(view);
        }
        Err(ErrorView::new(ErrorCode::NotFound, format!("session {session} was deleted"))
            .with_hint(format!("bring it back first: miki session restore {session}")))
    }

    /// # Errors
    /// `NotFound`, `Busy` where it is to be archived and a run is under way in it, `Storage`.
    pub async fn edit_session(&self, command: EditSession, by: &Principal) -> Result<SessionView, ErrorView> {
        let EditSession { session, title, mode, approval, search, pinned, archived } = command;
        if let Some(title) = &title {
            check_length("title", title, TITLE_CHARS)?;
        }
        let _one_at_a_time = self.saving.lock().await;
        let before = self.open_one(&session).await?;
        if approval.is_some_and(|approval| approval > before.approval) {
            rights::may_loosen(self, by, "edit_session", "approval").await?;
        } else if mode.is_some_and(|mode| mode > before.mode) {
            rights::may_loosen(self, by, "edit_session", "mode").await?;
        } else if search == Some(true) && !before.search {
            rights::may_loosen(self, by, "edit_session", "web search").await?;
        }
        if archived == Some(true) {
            self.check_at_rest(&session, "archived")?;
        }
        let space = None;
        let edited = EventBody::SessionEdited { title, mode, approval, search, pinned, archived, space };
        self.log.append(of(&session), edited).await?;
        self.session(&session).await
    }

    /// Its runs work in this folder from the next one on. No command says it: whoever calls has seen the user choose it.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn work_in(&self, session: &SessionId, folder: String) -> Result<SessionView, ErrorView> {
        let _one_at_a_time = self.saving.lock().await;
        self.open_one(session).await?;
        self.log.append(of(session), chosen(folder)).await?;
        self.session(session).await
    }

    /// # Errors
    /// `NotFound`, `Busy` where a run is under way in it, `Storage`.
    pub async fn delete_session(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        let _one_at_a_time = self.saving.lock().await;
        let before = self.session(session).await?;
        if before.shelf.deleted.is_some() {
            return Ok(before);
        }
        // A run that begins in this very moment brings it back.
        self.check_at_rest(session, "deleted")?;
        for agents in self.sessions_of_agents(session).await? {
            self.log.append(of(&agents), EventBody::SessionDeleted).await?;
        }
        self.log.append(of(session), EventBody::SessionDeleted).await?;
        self.session(session).await
    }

    /// Those of agents that the runs of a session started, and of all below them, deleted ones too: what is done with it is
    /// done with them, which are in no list. One that its user went on with is theirs.
    async fn sessions_of_agents(&self, session: &SessionId) -> Result<Vec<SessionId>, ErrorView> {
        let (mut all, mut at) = (vec![session.clone()], 0);
        while let Some(above) = all.get(at).cloned() {
            at += 1;
            let children = self.log.read(move |journal| {
                let mut sessions = Vec::new();
                for child in journal.children_in(&above)? {
                    let Some(session) = child.scope.session else { continue };
                    let is_an_agents =
                        journal.session(&session)?.is_some_and(|view| view.shelf.parent.is_some());
                    sessions.extend(is_an_agents.then_some(session));
                }
                Ok(sessions)
            });
            for child in children.await? {
                if !all.contains(&child) {
                    all.push(child);
                }
            }
        }
        all.remove(0);
        Ok(all)
    }

    /// # Errors
    /// `NotFound`, also where it was purged; `Storage`.
    pub async fn restore_session(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        let _one_at_a_time = self.saving.lock().await;
        let before = self.session(session).await?;
        if before.shelf.deleted.is_none() {
            return Ok(before);
        }
        for agents in self.sessions_of_agents(session).await? {
            self.log.append(of(&agents), EventBody::SessionRestored).await?;
        }
        self.log.append(of(session), EventBody::SessionRestored).await?;
        self.session(session).await
    }

    fn check_at_rest(&self, session: &SessionId, what: &str) -> Result<(), ErrorView> {
        let Some(run) = self.runs.of_session(session) else { return Ok(()) };
        let message = format!("session {session} is not {what} while run {run} is under way in it");
        Err(ErrorView::new(ErrorCode::Busy, message).with_hint(format!("stop it first: miki stop {run}")))
    }

    /// # Errors
    /// `NotFound` for the session or the event, `Storage`.
    pub async fn branch_session(&self, command: BranchSession) -> Result<SessionView, ErrorView> {
        let BranchSession { session, at } = command;
        let source = self.open_one(&session).await?;
        let events = self.events_of(&session, at).await?;
        let last = events.last().and_then(|event| event.position).map_or(0, |position| position.n);
        if last == 0 || at.is_some_and(|at| at != last) {
            let at = at.unwrap_or(0);
            let message = format!("session {session} has no event {at}: its last is number {last}");
            return Err(ErrorView::new(ErrorCode::NotFound, message).with_hint("events are numbered from 1"));
        }
        let imported = source.origin.as_ref().map_or(0, |origin| origin.imported);
        let origin = Origin { branched: Some(Branched { session: session.clone(), at: last }), imported };
        let title: String = format!("↳ {}", source.title.trim()).chars().take(TITLE_CHARS).collect();
        // What was looser when a run began is not so again.
        let folder = source.space.clone();
        let view = SessionView { title, origin: Some(origin), ..source };
        let noted = format!("branched from session {session} after its event {last}");
        let branch = self.take_copy(view, noted, move |into| journal::branched(&events, into)).await?;
        match folder {
            Some(folder) => self.work_in(&branch.id, folder).await,
            None => Ok(branch),
        }
    }

    /// A session of events from a file. It has no more than a new one would have, whatever the file says.
    ///
    /// # Errors
    /// `BadRequest` for what cannot be journaled, `Storage`; nothing of it is written then.
    pub async fn import_session(&self, title: &str, events: Vec<Event>) -> Result<SessionView, ErrorView> {
        let settings = self.settings();
        let now = self.log.now();
        let view = SessionView {
            id: SessionId(String::new()),
            title: title.chars().take(TITLE_CHARS).collect(),
            mode: settings.mode,
            approval: settings.approval,
            search: false,
            created: now,
            updated: now,
            last_run: None,
            shelf: Shelf::default(),
            origin: Some(Origin::default()),
            space: None,
        };
        let noted =
            "imported from a file: an agent that goes on here is not told what stands above".to_owned();
        self.take_copy(view, noted, move |into| journal::imported(&events, into)).await
    }

    /// Writes a copy, whole or not at all.
    async fn take_copy(
        &self,
        like: SessionView,
        noted: String,
        copy: impl FnOnce(CopyInto<'_>) -> Vec<Copied>,
    ) -> Result<SessionView, ErrorView> {
        self.check_open()?;
        let id = SessionId::from_suffix(fresh());
        let now = self.log.now();
        let view = SessionView { id: id.clone(), created: now, ..like };
        let reason = "it was cut off here, where this copy of it was made";
        let mut events = copy(CopyInto { session: &view, fresh: &mut || fresh().to_string(), reason });
        let body = EventBody::Noted { level: Level::Info, message: noted, hint: None };
        events.push(Copied { time: now, scope: of(&id), body });
        self.log.append_all(events).await?;
        self.session(&id).await
    }

    /// A picture that an imported session names; on disk when this answers.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn import_picture(
        &self,
        bytes: Vec<u8>,
        media_type: &'static str,
    ) -> Result<BlobRef, ErrorView> {
        self.check_open()?;
        self.log.put_blob(bytes, media_type).await
    }

    /// The events of a session up to number `at`, or all.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn events_of(&self, session: &SessionId, at: Option<u64>) -> Result<Vec<Event>, ErrorView> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().and_then(|event| event.position).map_or(0, |position| position.n);
            let (stream, before) = (StreamId::of_session(session), at.map(|at| at.saturating_add(1)));
            let page = self.log.read(move |journal| journal.page(&stream, before, Some(after), PAGE)).await?;
            if page.events.is_empty() {
                return Ok(events);
            }
            events.extend(page.events);
        }
    }

    /// Lets go of what the user no longer keeps. What cannot be removed is only said: the next time tries again.
    pub(crate) async fn tidy(&self) {
        loop {
            let tidy = tidy_of(&self.settings(), self.log.now());
            match self.log.journal().tidy(tidy).await {
                Ok(tidied) => {
                    if tidied.files > 0 || !tidied.sessions.is_empty() {
                        let sessions = tidied.sessions.len();
                        tracing::info!(sessions, files = tidied.files, bytes = tidied.bytes, "tidied up");
                    }
                    if !tidied.more {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!("old sessions and pictures cannot be removed: {error}");
                    return;
                }
            }
        }
    }
}

/// Now, and once a day from now on.
pub(crate) async fn tidy_daily(engine: Weak<Engine>, leaving: CancellationToken) {
    loop {
        let Some(one) = engine.upgrade() else { return };
        one.tidy().await;
        drop(one);
        tokio::select! {
            () = leaving.cancelled() => return,
            () = tokio::time::sleep(TIDY_EVERY) => {}
        }
    }
}

fn tidy_of(settings: &Settings, now: Timestamp) -> Tidy {
    let before = |days: u32| Timestamp(now.0.saturating_sub(i64::from(days) * A_DAY));
    let set = |value: u32| (value > 0).then_some(value);
    Tidy {
        deleted_before: Some(before(settings.deleted_days)),
        pictures_before: set(settings.picture_days).map(before),
        picture_bytes: set(settings.picture_megabytes).map(|most| u64::from(most) * MEGABYTE),
    }
}

/// What says that a session's runs work in a folder.
pub(crate) fn chosen(folder: String) -> EventBody {
    EventBody::SessionEdited {
        title: None,
        mode: None,
        approval: None,
        search: None,
        pinned: None,
        archived: None,
        space: Some(folder),
    }
}

fn of(session: &SessionId) -> Scope {
    Scope { session: Some(session.clone()), ..Scope::default() }
}

/// The newest ones, and the pinned ones that are older; what happened in last comes first.
pub(crate) fn with_pinned(mut newest: Vec<SessionView>, pinned: Vec<SessionView>) -> Vec<SessionView> {
    let is_older = |one: &SessionView| newest.iter().all(|known| known.id != one.id);
    let older: Vec<SessionView> = pinned.into_iter().filter(is_older).collect();
    newest.extend(older);
    newest
}

/// Which of its events a model is told of.
pub(crate) fn told(view: &SessionView, events: Vec<Event>) -> Vec<Event> {
    let untold = view.origin.as_ref().map_or(0, |origin| origin.imported);
    let is_told = |event: &Event| event.position.is_none_or(|position| position.n > untold);
    events.into_iter().filter(is_told).collect()
}
