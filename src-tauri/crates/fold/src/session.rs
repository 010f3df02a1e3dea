//! A session as a list shows it.

use protocol::event::{Event, EventBody};
use protocol::ids::SessionId;
use protocol::view::{RunView, SessionView, Shelf};

/// The session `id` after one more of its events. `None` as long as it was not created.
pub fn session(before: Option<SessionView>, id: &SessionId, event: &Event) -> Option<SessionView> {
    let mut view = match (&event.body, before) {
        (EventBody::SessionCreated { title, mode, approval, search, origin }, _) => {
            return Some(SessionView {
                id: id.clone(),
                title: title.clone(),
                mode: *mode,
                approval: *approval,
                search: *search,
                created: event.time,
                updated: event.time,
                last_run: None,
                shelf: Shelf::default(),
                origin: origin.clone(),
                space: None,
            });
        }
        (_, before) => before?,
    };
    if !is_about_the_list(&event.body) {
        view.updated = event.time;
    }
    match &event.body {
        EventBody::SessionEdited { title, mode, approval, search, pinned, archived, space } => {
            if let Some(title) = title {
                view.title.clone_from(title);
            }
            view.mode = mode.unwrap_or(view.mode);
            view.approval = approval.unwrap_or(view.approval);
            view.search = search.unwrap_or(view.search);
            view.shelf.pinned = pinned.unwrap_or(view.shelf.pinned);
            view.shelf.archived = archived.unwrap_or(view.shelf.archived);
            view.space = space.clone().or(view.space);
        }
        EventBody::SessionDeleted => view.shelf.deleted = Some(event.time),
        EventBody::SessionRestored => view.shelf.deleted = None,
        EventBody::RunStarted(spec) => {
            // What somebody works in is back in the list.
            view.shelf.archived = false;
            view.shelf.deleted = None;
            view.shelf.parent.clone_from(&spec.parent);
            view.last_run =
                event.scope.run.clone().map(|id| RunView { id, goal: spec.goal.clone(), end: None });
        }
        EventBody::RunEnded { end } => {
            if let Some(run) = view.last_run.as_mut().filter(|run| Some(&run.id) == event.scope.run.as_ref())
            {
                run.end = Some(end.clone());
            }
        }
        // Exhaustive on purpose: a new event must say here whether it changes the view.
        EventBody::SessionCreated { .. }
        | EventBody::SessionPurged { .. }
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
        | EventBody::SettingsChanged { .. }
        | EventBody::Noted { .. }
        | EventBody::TurnDelta { .. }
        | EventBody::TurnSoFar { .. }
        | EventBody::CommandPrinted { .. }
        | EventBody::StatusChanged { .. }
        | EventBody::SessionChanged { .. }
        | EventBody::QuestionsChanged { .. }
        | EventBody::DesktopChanged { .. }
        | EventBody::JournalFailed { .. } => {}
    }
    Some(view)
}

/// Whether it only says how a list has the session, and nothing happened in it.
pub fn is_about_the_list(body: &EventBody) -> bool {
    matches!(body, EventBody::SessionEdited { .. } | EventBody::SessionDeleted | EventBody::SessionRestored)
}

/// Whether a list shows the session otherwise than before, apart from when it was updated.
pub fn changed_for_a_list(before: Option<&SessionView>, after: &SessionView) -> bool {
    before.is_none_or(|before| *before != SessionView { updated: before.updated, ..after.clone() })
}

/// As a list shows them: the pinned ones first, else as they are.
pub fn pinned_first<'a>(sessions: impl IntoIterator<Item = &'a SessionView>) -> Vec<&'a SessionView> {
    let (mut pinned, others): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.shelf.pinned);
    pinned.extend(others);
    pinned
}
