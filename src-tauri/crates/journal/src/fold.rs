//! What the journal itself makes of events: session views and open runs. Pure.

use protocol::event::{Event, EventBody, Scope};
use protocol::ids::SessionId;
use protocol::view::{RunView, SessionView};

use crate::{JournalError, OpenRun};

/// The event's `type` on the wire.
pub(crate) fn kind(body: &EventBody) -> Result<String, JournalError> {
    let value = serde_json::to_value(body)
        .map_err(|source| JournalError::Unwritable { kind: "an event".into(), source })?;
    Ok(value.get("type").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned())
}

/// The session after `event`. Events of a session that was never created make none.
pub(crate) fn session(before: Option<SessionView>, id: &SessionId, event: &Event) -> Option<SessionView> {
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
        EventBody::RunStarted { goal, .. } => {
            view.last_run = event.scope.run.clone().map(|id| RunView { id, goal: goal.clone(), end: None });
        }
        EventBody::RunEnded { end } => {
            if let Some(run) = view.last_run.as_mut().filter(|run| Some(&run.id) == event.scope.run.as_ref())
            {
                run.end = Some(end.clone());
            }
        }
        // Exhaustive on purpose: a new event must say here whether it changes the view.
        EventBody::SessionCreated { .. }
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
        | EventBody::SettingsChanged { .. }
        | EventBody::Noted { .. }
        | EventBody::TextDelta { .. }
        | EventBody::ThinkingDelta { .. }
        | EventBody::StatusChanged { .. }
        | EventBody::JournalFailed { .. } => {}
    }
    Some(view)
}

/// What in a run's events has begun and not ended.
pub(crate) fn open_run(scope: Scope, events: Vec<Event>) -> OpenRun {
    let mut run = OpenRun { scope, in_doubt: Vec::new(), pending: Vec::new() };
    for event in events {
        match event.body {
            EventBody::ToolStarted { call, .. } => run.in_doubt.push(call),
            EventBody::ToolFinished { call, .. } => run.in_doubt.retain(|begun| begun.id != call),
            EventBody::ApprovalRequested { approval } => run.pending.push(approval),
            EventBody::ApprovalAnswered { approval, .. } => run.pending.retain(|asked| asked.id != approval),
            _ => {}
        }
    }
    run
}
