//! Where everything stands, kept up to date by the events that every reader gets.

use protocol::event::{Activity, Event, EventBody, RunEnd, Status};
use protocol::ids::{RunId, SessionId};
use protocol::view::{BesideView, DesktopView, Overview, RunStatus, SessionView};

/// The overview after `event`. Events that it does not show change nothing but `seq`.
pub fn overview(view: &mut Overview, event: &Event) {
    view.seq = view.seq.max(event.seq());
    match &event.body {
        EventBody::SettingsChanged { settings } => view.settings.clone_from(settings),
        EventBody::SessionChanged { session } => put_session(view, session),
        EventBody::QuestionsChanged { questions } => view.questions.clone_from(questions),
        EventBody::DesktopChanged { desktop } => view.desktop.clone_from(desktop),
        EventBody::StatusChanged { status } => {
            let (Some(session), Some(run)) = (&event.scope.session, &event.scope.run) else { return };
            if let Some(known) = view.runs.iter_mut().find(|known| known.run == *run) {
                known.status.clone_from(status);
            } else if !matches!(status.activity, Activity::Idle | Activity::Error) {
                let goal = goal_of(view, run);
                let (session, run, status) = (session.clone(), run.clone(), status.clone());
                view.runs.push(RunStatus { session, run, goal, status, parent: None });
            }
        }
        EventBody::SessionPurged { purged } => view.sessions.retain(|known| known.id != *purged),
        // Whatever ran has stopped, though nothing could be written of it.
        EventBody::JournalFailed { .. } => {
            view.runs.clear();
            view.desktop = DesktopView::default();
        }
        // Exhaustive on purpose: a new event must say here whether it changes the overview.
        EventBody::SessionCreated { .. }
        | EventBody::SessionEdited { .. }
        | EventBody::SessionDeleted
        | EventBody::SessionRestored
        | EventBody::RunStarted(_)
        | EventBody::GrantTakenBack { .. }
        | EventBody::RunSteered { .. }
        | EventBody::RunPaused { .. }
        | EventBody::RunResumed
        | EventBody::BudgetReached { .. }
        | EventBody::TurnFinished { .. }
        | EventBody::TurnFailed { .. }
        | EventBody::TurnDropped { .. }
        | EventBody::ApprovalRequested { .. }
        | EventBody::ApprovalAnswered { .. }
        | EventBody::ToolStarted { .. }
        | EventBody::ToolFinished { .. }
        | EventBody::ChangeIntended { .. }
        | EventBody::ContextCompacted { .. }
        | EventBody::PlanReported { .. }
        | EventBody::AgentsUsed { .. }
        | EventBody::RunEnded { .. }
        | EventBody::Noted { .. }
        | EventBody::TurnDelta { .. }
        | EventBody::TurnSoFar { .. }
        | EventBody::CommandPrinted { .. } => {}
    }
}

/// The run of a session that has not ended: one at a time.
pub fn run_in<'a>(view: &'a Overview, session: &SessionId) -> Option<&'a RunStatus> {
    view.runs.iter().find(|run| run.session == *session)
}

/// What a run has of the desktop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Desktop {
    Has,
    /// It has a pointer and a keyboard of its own.
    Beside,
    /// `before` others get it earlier, apart from the one that has it.
    Waits {
        before: usize,
    },
    #[default]
    Nothing,
}

/// Where a run works that has hands of its own.
pub fn beside<'a>(view: &'a Overview, run: &RunId) -> Option<&'a BesideView> {
    view.desktop.beside.iter().find(|beside| beside.run == *run)
}

pub fn desktop_of(view: &Overview, run: &RunId) -> Desktop {
    if view.desktop.owner.as_ref() == Some(run) {
        return Desktop::Has;
    }
    if beside(view, run).is_some() {
        return Desktop::Beside;
    }
    let before = view.desktop.waiting.iter().position(|waiting| waiting == run);
    before.map_or(Desktop::Nothing, |before| Desktop::Waits { before })
}

/// How a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// Nothing has run in it.
    #[default]
    New,
    Works,
    /// It cannot go on without an answer.
    Asks {
        questions: usize,
    },
    Paused,
    Ended(Outcome),
}

/// How a run ended, without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Completed,
    Failed,
    Stopped,
    NeedsApproval,
    Interrupted,
}

/// How a session stands. Questions before all: they are what the user can do something about.
pub fn session_state(view: &Overview, session: &SessionView) -> SessionState {
    let run = run_in(view, &session.id);
    let questions = view.questions.iter().filter(|question| question.session == session.id).count();
    if questions > 0 {
        return SessionState::Asks { questions };
    }
    match (run, &session.last_run) {
        (Some(run), _) if run.status.paused => SessionState::Paused,
        (Some(_), _) => SessionState::Works,
        (None, None) => SessionState::New,
        (None, Some(last)) => match &last.end {
            Some(end) => SessionState::Ended(Outcome::from(end)),
            None => SessionState::Works,
        },
    }
}

impl SessionState {
    /// For stylesheets, tests and machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Works => "working",
            Self::Asks { .. } => "asking",
            Self::Paused => "paused",
            Self::Ended(outcome) => outcome.name(),
        }
    }
}

impl Outcome {
    /// As on the wire, but with underscores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::NeedsApproval => "needs_approval",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<&RunEnd> for Outcome {
    fn from(end: &RunEnd) -> Self {
        match end {
            RunEnd::Completed { .. } => Self::Completed,
            RunEnd::Failed { .. } => Self::Failed,
            RunEnd::Stopped { .. } => Self::Stopped,
            RunEnd::NeedsApproval { .. } => Self::NeedsApproval,
            RunEnd::Interrupted { .. } => Self::Interrupted,
        }
    }
}

/// What all runs do together, and the words of the one that says it. A question is the most urgent, then work; the newest
/// session's failure is shown until the next run.
pub fn activity(view: &Overview) -> (Activity, String) {
    for activity in [Activity::Waiting, Activity::Working] {
        if let Some(run) = view.runs.iter().find(|run| run.status.activity == activity) {
            return (activity, run.status.detail.clone());
        }
    }
    let last = view
        .sessions
        .iter()
        .find(|session| session.shelf.parent.is_none())
        .and_then(|session| session.last_run.as_ref());
    match last.and_then(|run| run.end.as_ref()) {
        Some(RunEnd::Failed { message, .. }) if view.runs.is_empty() => (Activity::Error, message.clone()),
        _ => (Activity::Idle, String::new()),
    }
}

/// What a run has begun or ended in stands first, and what only came back stands by its age: what a run does meanwhile
/// moves nothing under its user's pointer. Archived and deleted ones are not in it. A run that has ended is none of those under way.
fn put_session(view: &mut Overview, session: &SessionView) {
    let known = view.sessions.iter().position(|known| known.id == session.id);
    let before = known.map(|at| view.sessions.remove(at));
    // Those of agents are in no list, but whoever looks at one wants to know what it is.
    let is_of_an_agent = session.shelf.parent.is_some() && session.shelf.deleted.is_none();
    if session.shelf.is_open() || is_of_an_agent {
        let by_age = || {
            let is_older = |other: &SessionView| other.updated < session.updated;
            view.sessions.iter().position(is_older).unwrap_or(view.sessions.len())
        };
        let place = match (known, before) {
            (Some(at), Some(before)) if before.updated == session.updated || goes_on(&before, session) => at,
            (None, _) if session.last_run.as_ref().is_some_and(|run| run.end.is_some()) => by_age(),
            _ => 0,
        };
        view.sessions.insert(place, session.clone());
    }
    let Some(run) = &session.last_run else { return };
    if run.end.is_some() {
        view.runs.retain(|known| known.run != run.id);
    } else if let Some(known) = view.runs.iter_mut().find(|known| known.run == run.id) {
        known.goal.clone_from(&run.goal);
        known.parent.clone_from(&session.shelf.parent);
    } else if session.shelf.parent.is_some() {
        // No list has its session: what it is, is known from here on.
        view.runs.push(RunStatus {
            session: session.id.clone(),
            run: run.id.clone(),
            goal: run.goal.clone(),
            status: Status::default(),
            parent: session.shelf.parent.clone(),
        });
    }
}

/// Whether the run is under way that was under way before.
fn goes_on(before: &SessionView, now: &SessionView) -> bool {
    let open = |session: &SessionView| {
        session.last_run.as_ref().filter(|run| run.end.is_none()).map(|run| run.id.clone())
    };
    open(now).is_some() && open(before) == open(now)
}

/// The agents below the run of a session, as [`tree`] has them; with how deep each stands below it, from 1.
pub fn agents_in<'a>(view: &'a Overview, session: &SessionId) -> Vec<(usize, &'a RunStatus)> {
    let mut all = tree(view).into_iter().skip_while(|(_, run)| run.session != *session);
    let Some((top, _)) = all.next() else { return Vec::new() };
    all.take_while(|(depth, _)| *depth > top).map(|(depth, run)| (depth - top, run)).collect()
}

/// All runs as a tree shows them: each right after the one that it works for, with how deep it stands, from 0.
pub fn tree(view: &Overview) -> Vec<(usize, &RunStatus)> {
    fn below<'a>(
        view: &'a Overview,
        run: &'a RunStatus,
        depth: usize,
        all: &mut Vec<(usize, &'a RunStatus)>,
    ) {
        // Of a view that comes from elsewhere: nobody is shown twice.
        if all.iter().any(|(_, shown)| shown.run == run.run) {
            return;
        }
        all.push((depth, run));
        for agent in view.runs.iter().filter(|one| one.parent.as_ref() == Some(&run.run)) {
            below(view, agent, depth + 1, all);
        }
    }
    let mut all = Vec::with_capacity(view.runs.len());
    let is_there = |parent: &RunId| view.runs.iter().any(|run| run.run == *parent);
    let tops = view.runs.iter().filter(|run| !run.parent.as_ref().is_some_and(is_there));
    tops.for_each(|top| below(view, top, 0, &mut all));
    all
}

/// The run that its user started and an agent works for; `None` if it is one itself, or unknown.
pub fn root_of<'a>(view: &'a Overview, run: &RunId) -> Option<&'a RunStatus> {
    let mut root = None;
    for (depth, one) in tree(view) {
        if depth == 0 {
            root = Some(one);
        }
        if one.run == *run {
            return root.filter(|root| root.run != *run);
        }
    }
    None
}

fn goal_of(view: &Overview, run: &RunId) -> String {
    let last = view.sessions.iter().filter_map(|session| session.last_run.as_ref());
    last.filter(|last| last.id == *run).map(|last| last.goal.clone()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
