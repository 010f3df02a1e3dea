//! What a window shows: where everything stands, and one session of the user's choice.
//!
//! Pure: no clock, no IPC, no DOM. What is to be asked of the engine is answered as [`Want`]s, carried out by the store.

use fold::{Stream, Transcript};
use protocol::command::{ReadEvents, Subscribe};
use protocol::event::{Activity, EventBody, RunEnd, Status};
use protocol::ids::{RunId, SessionId, StreamId};
use protocol::tool::{ApprovalMode, Grant, Mode};
use protocol::view::{EventPage, Overview, Question, RunStatus, SessionView};
use protocol::{ErrorCode, ErrorView, Event};

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub overview: Overview,
    pub page: Page,
    follows: Follows,
    /// The journal cannot be written: nothing more is accepted until the program is started again.
    pub broken: Option<ErrorView>,
}

/// The session that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// `None` for one that begins with the next goal.
    shown: Option<SessionId>,
    stream: Option<Stream>,
    /// Nobody has chosen it or done anything in it yet: it shows the first run that begins.
    is_untouched: bool,
    /// It came by itself, and nobody has chosen it: what its session may do unasked is not the user's choice.
    came_by_itself: bool,
    /// The reader looks at older entries: none of them may go.
    pub reads_back: bool,
}

/// Who decides which session a window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The user; the newest one to begin with, or, where there is none, the first that a run begins in.
    TheUser,
    /// The user; a new one to begin with.
    TheUserAnew,
    /// Whoever asks, else whoever has the desktop.
    TheDesktop,
}

/// What is to be asked of the engine next.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Takes the place of the subscription before.
    Subscribe(Subscribe),
    Read(ReadEvents),
}

impl State {
    pub fn new(overview: Overview, follows: Follows) -> (Self, Vec<Want>) {
        let mut state = Self { overview, page: Page::default(), follows, broken: None };
        let first = match follows {
            Follows::TheUser => state.newest(),
            Follows::TheUserAnew => None,
            Follows::TheDesktop => state.at_the_desktop(),
        };
        let wants = match first {
            Some(session) => state.follow(session),
            None => {
                state.page.is_untouched = follows == Follows::TheUser;
                vec![state.subscribe()]
            }
        };
        (state, wants)
    }

    /// Takes an event of the subscription.
    #[must_use]
    pub fn event(&mut self, event: &Event) -> Vec<Want> {
        if let EventBody::JournalFailed { message, hint } = &event.body {
            let hint = hint.clone();
            self.broken = Some(ErrorView { hint, ..ErrorView::new(ErrorCode::Storage, message.clone()) });
        }
        fold::overview(&mut self.overview, event);
        let missing = self.page.stream.as_mut().and_then(|stream| stream.event(event));
        if !self.page.reads_back
            && let Some(stream) = &mut self.page.stream
        {
            stream.forget_oldest();
        }
        let followed = match self.follows {
            Follows::TheUser if self.page.is_untouched => {
                self.overview.runs.last().map(|run| run.session.clone())
            }
            Follows::TheUser | Follows::TheUserAnew => None,
            Follows::TheDesktop => self.at_the_desktop().filter(|at| self.page.shown.as_ref() != Some(at)),
        };
        match followed {
            Some(session) => self.follow(session),
            None => missing.into_iter().map(Want::Read).collect(),
        }
    }

    /// Shows a session, from its newest page on.
    #[must_use]
    pub fn open(&mut self, session: SessionId) -> Vec<Want> {
        let (stream, read) = Stream::open(StreamId::of_session(&session));
        self.page = Page { shown: Some(session), stream: Some(stream), ..Page::default() };
        vec![self.subscribe(), Want::Read(read)]
    }

    fn follow(&mut self, session: SessionId) -> Vec<Want> {
        let wants = self.open(session);
        self.page.came_by_itself = true;
        wants
    }

    /// Shows the session of the last time in place of what a window of the user's begins with. Not where a run is under way
    /// elsewhere alone, which comes first, nor where it is none of the newest sessions.
    #[must_use]
    pub fn reopen(&mut self, session: SessionId) -> Option<Vec<Want>> {
        let runs = &self.overview.runs;
        let has_run = fold::run_in(&self.overview, &session).is_some();
        let is_free = self.follows == Follows::TheUser && (runs.is_empty() || has_run);
        if !is_free || self.session(&session).is_none() {
            return None;
        }
        let is_shown = self.shown() == Some(&session);
        self.choose();
        (!is_shown).then(|| self.open(session))
    }

    /// Shows an empty page, for a session that begins with the next goal.
    #[must_use]
    pub fn show_new(&mut self) -> Want {
        self.page = Page::default();
        self.subscribe()
    }

    /// The user has begun to do something in the page: it is theirs.
    pub fn touch(&mut self) {
        self.page.is_untouched = false;
    }

    /// The user has chosen what the session that is shown may do.
    pub fn choose(&mut self) {
        self.page.came_by_itself = false;
    }

    /// The session that is shown, where the user has chosen it.
    pub fn chosen(&self) -> Option<&SessionId> {
        self.shown().filter(|_| !self.page.came_by_itself)
    }

    /// From what is known on: nothing is missed, and nothing is told twice.
    pub fn subscribe(&self) -> Want {
        let shown = self.page.stream.as_ref().map(|stream| stream.id().clone());
        let streams = Some([StreamId::app()].into_iter().chain(shown).collect());
        Want::Subscribe(Subscribe { streams, after: Some(self.overview.seq) })
    }

    /// Takes a page that was asked for. One of a session that is no longer shown changes nothing.
    #[must_use]
    pub fn take_page(&mut self, of: &StreamId, page: EventPage) -> Option<Want> {
        let stream = self.page.stream.as_mut().filter(|stream| stream.id() == of)?;
        stream.page(page).map(Want::Read)
    }

    /// The page could not be had. Answers whether it is to be asked for again: without the newest, nothing is shown.
    pub fn page_failed(&mut self, of: &StreamId) -> bool {
        let stream = self.page.stream.as_mut().filter(|stream| stream.id() == of);
        stream.is_some_and(|stream| {
            stream.not_read();
            !stream.is_open()
        })
    }

    /// Asks for the entries before the oldest, if there are any.
    #[must_use]
    pub fn read_older(&mut self) -> Option<Want> {
        self.page.stream.as_mut()?.older().map(Want::Read)
    }

    /// Sessions that come after the oldest in the list.
    pub fn take_older_sessions(&mut self, sessions: Vec<SessionView>) {
        for session in sessions {
            if self.session(&session.id).is_none() {
                self.overview.sessions.push(session);
            }
        }
    }

    pub fn shown(&self) -> Option<&SessionId> {
        self.page.shown.as_ref()
    }

    pub fn transcript(&self) -> Option<&Transcript> {
        self.page.stream.as_ref().map(Stream::transcript)
    }

    pub fn has_older(&self) -> bool {
        self.page.stream.as_ref().is_some_and(Stream::has_older)
    }

    pub fn session(&self, id: &SessionId) -> Option<&SessionView> {
        self.overview.sessions.iter().find(|session| session.id == *id)
    }

    pub fn shown_session(&self) -> Option<&SessionView> {
        self.session(self.shown()?)
    }

    /// The run under way in the session that is shown, if any.
    pub fn run_shown(&self) -> Option<&RunStatus> {
        fold::run_in(&self.overview, self.shown()?)
    }

    /// Runs of other sessions than the one shown, oldest first.
    pub fn other_runs(&self) -> impl Iterator<Item = &RunStatus> {
        self.overview.runs.iter().filter(|run| Some(&run.session) != self.shown())
    }

    /// What the shown session's run does; at its end, why it failed.
    pub fn status(&self) -> Status {
        if let Some(run) = self.run_shown() {
            return run.status.clone();
        }
        let last = self.shown_session().and_then(|session| session.last_run.as_ref());
        match last.and_then(|run| run.end.as_ref()) {
            Some(RunEnd::Failed { message, .. }) => {
                Status { activity: Activity::Error, detail: message.clone(), ..Status::default() }
            }
            _ => Status::default(),
        }
    }

    /// How many questions of other sessions wait, where there is nothing else to say of the shown one: it is at rest.
    pub fn questions_elsewhere(&self) -> usize {
        let rests = self.status().activity == Activity::Idle && self.run_shown().is_none();
        if rests { self.overview.questions.len() } else { 0 }
    }

    /// All open questions: those of the shown session and of its agents first, else the oldest first.
    pub fn questions(&self) -> Vec<Question> {
        let (mut own, others): (Vec<Question>, Vec<Question>) = self
            .overview
            .questions
            .iter()
            .cloned()
            .partition(|asked| self.is_own(&asked.session, &asked.run));
        own.extend(others);
        own
    }

    /// Whether a run is the shown session's, or an agent of that one.
    pub fn is_own(&self, session: &SessionId, run: &RunId) -> bool {
        let is_shown = |session: &SessionId| Some(session) == self.shown();
        is_shown(session) || fold::root_of(&self.overview, run).is_some_and(|root| is_shown(&root.session))
    }

    /// What a session is called: by its title, else by what runs or ran in it last.
    pub fn name_of(&self, session: &SessionId) -> Option<&str> {
        let known = self.session(session);
        let title = known.map(|known| known.title.as_str());
        let last = known.and_then(|known| known.last_run.as_ref()).map(|run| run.goal.as_str());
        let now = fold::run_in(&self.overview, session).map(|run| run.goal.as_str());
        [title, now, last].into_iter().flatten().find(|name| !name.trim().is_empty())
    }

    /// The session that the agent that is shown works for, and its name; `None` if it is no agent's, or where that is not
    /// known any more.
    pub fn above(&self) -> Option<(SessionId, String)> {
        let parent = self.run_shown().and_then(|run| run.parent.as_ref());
        let parent = parent.or_else(|| self.shown_session()?.shelf.parent.as_ref())?;
        let Overview { runs, sessions, .. } = &self.overview;
        let at_work = runs.iter().find(|run| run.run == *parent).map(|run| &run.session);
        let is_last = |one: &&SessionView| one.last_run.as_ref().is_some_and(|run| run.id == *parent);
        let session = at_work.or_else(|| sessions.iter().find(is_last).map(|session| &session.id))?;
        Some((session.clone(), self.name_of(session)?.to_owned()))
    }

    pub fn mode(&self) -> Mode {
        self.shown_session().map_or(self.overview.settings.mode, |session| session.mode)
    }

    /// When the next goal's run asks; one in a session that the user has not chosen asks as a new one would, at least.
    pub fn approval_mode(&self) -> ApprovalMode {
        let usual = self.overview.settings.approval;
        match self.shown_session() {
            Some(session) if self.page.came_by_itself => session.approval.min(usual),
            Some(session) => session.approval,
            None => usual,
        }
    }

    /// What a yes for the rest of the run would cover; `None` if it may not be given.
    pub fn for_run<'a>(&self, asked: &'a Question) -> Option<Vec<&'a Grant>> {
        asked.approval.for_run()
    }

    /// Whether it may be given for longer.
    pub fn may_be_for_longer(&self, asked: &Question) -> bool {
        asked.approval.for_session().is_some()
    }

    /// Whether the provider may search the web for the shown session.
    pub fn search(&self) -> bool {
        self.shown_session().is_some_and(|session| session.search)
    }

    /// The folder that the shown session's runs work in: its own, or the settings'.
    pub fn space(&self) -> String {
        let own = self.shown_session().and_then(|session| session.space.clone());
        own.unwrap_or_else(|| self.overview.settings.space.clone())
    }

    fn newest(&self) -> Option<SessionId> {
        let run = self.overview.runs.last().map(|run| run.session.clone());
        run.or_else(|| self.overview.sessions.first().map(|session| session.id.clone()))
    }

    /// Whoever waits for an answer comes first: the user can do something about it. Between two turns nobody has the desktop:
    /// then it stays with whoever had it, as long as that one runs.
    fn at_the_desktop(&self) -> Option<SessionId> {
        let Overview { runs, desktop, questions, .. } = &self.overview;
        if let Some(asked) = questions.first() {
            return Some(asked.session.clone());
        }
        let owner = desktop.owner.as_ref().and_then(|owner| runs.iter().find(|run| run.run == *owner));
        let first = runs.first().filter(|_| self.run_shown().is_none());
        owner.or(first).map(|run| run.session.clone())
    }
}

#[cfg(test)]
pub mod sample;
#[cfg(test)]
mod tests;
