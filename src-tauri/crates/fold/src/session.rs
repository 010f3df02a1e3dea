//! A session as a list shows it.

use protocol::event::{Event, EventBody};
use protocol::ids::SessionId;
use protocol::view::{RunView, SessionView};

/// The session `id` after one more of its events. `None` as long as it was not created.
pub fn session(before: Option<SessionView>, id: &SessionId, event: &Event) -> Option<SessionView> {
    let mut view = match (&event.body, before) {
        (EventBody::SessionCreated { title, mode, approval, search }, _) => {
            return Some(SessionView {
                id: id.clone(),
                title: title.clone(),
                mode: *mode,
                approval: *approval,
                search: *search,
                created: event.time,
                updated: event.time,
                last_run: None,
            });
        }
        (_, before) => before?,
    };
    view.updated = event.time;
    match &event.body {
        EventBody::SessionEdited { title, mode, approval, search } => {
            if let Some(title) = title {
                view.title.clone_from(title);
            }
            view.mode = mode.unwrap_or(view.mode);
            view.approval = approval.unwrap_or(view.approval);
            view.search = search.unwrap_or(view.search);
        }
        EventBody::RunStarted(spec) => {
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
        | EventBody::GrantTakenBack { .. }
        | EventBody::RunSteered { .. }
        | EventBody::RunPaused { .. }
        | EventBody::RunResumed
        | EventBody::TurnFinished { .. }
        | EventBody::TurnFailed { .. }
        | EventBody::TurnDropped { .. }
        | EventBody::ApprovalRequested { .. }
        | EventBody::ApprovalAnswered { .. }
        | EventBody::ToolStarted { .. }
        | EventBody::ToolFinished { .. }
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

/// Whether a list shows the session otherwise than before, apart from when it was updated.
pub fn changed_for_a_list(before: Option<&SessionView>, after: &SessionView) -> bool {
    before.is_none_or(|before| {
        let SessionView { id, title, mode, approval, search, created, updated: _, last_run } = before;
        (id, title, mode, approval, search, created, last_run)
            != (
                &after.id,
                &after.title,
                &after.mode,
                &after.approval,
                &after.search,
                &after.created,
                &after.last_run,
            )
    })
}
