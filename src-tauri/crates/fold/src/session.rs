//! A session as a list shows it.

use protocol::event::{Event, EventBody};
use protocol::ids::SessionId;
use protocol::tool::{Approval, Effect, ExecResult, Mode, NO_ACTS, Risk, ToolCall, ToolErrorKind};
use protocol::view::{RunView, SessionView, Shelf, Tried};

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
            let tried = (spec.mode != Mode::Plan).then(Box::default);
            let run = |id| RunView { id, goal: spec.told().to_owned(), end: None, tried };
            view.last_run = event.scope.run.clone().map(run);
        }
        EventBody::RunEnded { end } => {
            if let Some(run) = view.last_run.as_mut().filter(|run| Some(&run.id) == event.scope.run.as_ref())
            {
                run.end = Some(end.clone());
            }
        }
        EventBody::TurnFinished { calls, .. } => {
            if let Some(tried) = tried_by(&mut view, event) {
                tried.open = calls.iter().filter(|call| may_act(call)).map(|call| call.id.clone()).collect();
            }
        }
        EventBody::ApprovalRequested { approval: Approval { call, risk, .. } }
        | EventBody::ToolStarted { call, risk } => {
            if let Some(tried) = tried_by(&mut view, event) {
                tried.open.retain(|open| *open != call.id);
                if *risk > Risk::Observe && !NO_ACTS.contains(&call.tool.as_str()) {
                    tried.open.push(call.id.clone());
                }
            }
        }
        EventBody::ToolFinished { call, result } => {
            if let Some(tried) = tried_by(&mut view, event)
                && let Some(at) = tried.open.iter().position(|open| open == call)
            {
                tried.open.swap_remove(at);
                count(tried, result);
            }
        }
        EventBody::AgentsUsed(agents) => {
            if let Some(tried) = tried_by(&mut view, event) {
                tried.done += agents.done;
                tried.not_done += agents.not_done;
                tried.unanswered += agents.ends.unanswered;
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
        | EventBody::TurnFailed { .. }
        | EventBody::TurnDropped { .. }
        | EventBody::ApprovalAnswered { .. }
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

fn tried_by<'a>(view: &'a mut SessionView, event: &Event) -> Option<&'a mut Tried> {
    let run = view.last_run.as_mut().filter(|run| Some(&run.id) == event.scope.run.as_ref())?;
    run.tried.as_deref_mut()
}

/// By its name: what is refused before its risk is told.
fn may_act(call: &ToolCall) -> bool {
    !call.only_looks() && !NO_ACTS.contains(&call.tool.as_str())
}

fn count(tried: &mut Tried, result: &ExecResult) {
    let kind = result.error.as_ref().map(|error| error.kind);
    match result.effect {
        // One that makes no sense was no try.
        _ if matches!(kind, Some(ToolErrorKind::UnknownTool | ToolErrorKind::BadArguments)) => {}
        Effect::Confirmed | Effect::Unverified => tried.done += 1,
        Effect::Refused | Effect::NoChange | Effect::Unknown => tried.not_done += 1,
    }
}

/// Whether it only says how a list has the session, and nothing happened in it.
pub fn is_about_the_list(body: &EventBody) -> bool {
    matches!(body, EventBody::SessionEdited { .. } | EventBody::SessionDeleted | EventBody::SessionRestored)
}

/// Whether a list shows the session otherwise than before, apart from when it was updated, and from what a run has tried,
/// which is shown once it has ended.
pub fn changed_for_a_list(before: Option<&SessionView>, after: &SessionView) -> bool {
    let Some(before) = before else { return true };
    let mut after = SessionView { updated: before.updated, ..after.clone() };
    if let (Some(run), Some(known)) = (&mut after.last_run, &before.last_run) {
        run.tried.clone_from(&known.tried);
    }
    *before != after
}

/// As a list shows them: the pinned ones first, else as they are.
pub fn pinned_first<'a>(sessions: impl IntoIterator<Item = &'a SessionView>) -> Vec<&'a SessionView> {
    let (mut pinned, others): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.shelf.pinned);
    pinned.extend(others);
    pinned
}
