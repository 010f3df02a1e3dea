//! What of an event is found by a search, and which blobs it names.

use protocol::event::{EventBody, RunEnd};
use protocol::ids::BlobRef;
use protocol::tool::Change;
use protocol::view::Place;
use serde_json::Value;

/// Characters of one text that are looked through; what stands behind them is not found.
const CHARS: usize = 20_000;

/// The texts of an event that a search finds, with what kind of text each is. At most four.
pub fn searchable(body: &EventBody) -> Vec<(Place, String)> {
    let said;
    let texts: Vec<(Place, &str)> = match body {
        // What was typed, written or run: who looks for the session remembers that.
        EventBody::ToolStarted { call, .. } => {
            said = said_in(&call.arguments);
            vec![(Place::Model, said.as_str())]
        }
        EventBody::SessionCreated { title, .. } | EventBody::SessionEdited { title: Some(title), .. } => {
            vec![(Place::Title, title)]
        }
        EventBody::RunStarted(spec) => vec![(Place::Goal, &spec.goal)],
        EventBody::RunSteered { text } => vec![(Place::User, text)],
        EventBody::TurnFinished { text, .. } | EventBody::TurnDropped { text, .. } => {
            vec![(Place::Model, text)]
        }
        EventBody::ToolFinished { result, .. } => {
            let error = result.error.as_ref().map(|error| (Place::Result, error.message.as_str()));
            std::iter::once((Place::Result, result.summary.as_str())).chain(error).collect()
        }
        EventBody::RunEnded { end } => match end {
            RunEnd::Completed { summary } => vec![(Place::Result, summary)],
            RunEnd::Failed { message, .. } => vec![(Place::Result, message)],
            RunEnd::Stopped { .. } | RunEnd::NeedsApproval { .. } | RunEnd::Interrupted { .. } => Vec::new(),
        },
        // Exhaustive on purpose: a new event must say here whether it is found.
        EventBody::SessionEdited { title: None, .. }
        | EventBody::SessionDeleted
        | EventBody::SessionRestored
        | EventBody::SessionPurged { .. }
        | EventBody::GrantTakenBack { .. }
        | EventBody::RunPaused { .. }
        | EventBody::RunResumed
        | EventBody::BudgetReached { .. }
        | EventBody::TurnFailed { .. }
        | EventBody::ApprovalRequested { .. }
        | EventBody::ApprovalAnswered { .. }
        | EventBody::ChangeIntended { .. }
        | EventBody::ContextCompacted { .. }
        | EventBody::PlanReported { .. }
        | EventBody::AgentsUsed { .. }
        | EventBody::SettingsChanged { .. }
        | EventBody::Noted { .. }
        | EventBody::TurnDelta { .. }
        | EventBody::TurnSoFar { .. }
        | EventBody::CommandPrinted { .. }
        | EventBody::StatusChanged { .. }
        | EventBody::SessionChanged { .. }
        | EventBody::QuestionsChanged { .. }
        | EventBody::DesktopChanged { .. }
        | EventBody::JournalFailed { .. } => Vec::new(),
    };
    let bounded = |text: &str| match text.char_indices().nth(CHARS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    };
    let is_said = |text: &str| !text.trim().is_empty();
    texts.into_iter().filter(|(_, text)| is_said(text)).map(|(place, text)| (place, bounded(text))).collect()
}

/// What a blob is to the event that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobUse {
    /// A provider's own words, which go back to it.
    Turn,
    /// Looked at by people only.
    Picture,
    /// What a file held before it was changed.
    Kept,
}

/// The blobs that an event names.
pub fn blobs(body: &EventBody) -> Vec<(BlobRef, BlobUse)> {
    let kept = |change: &Change| change.kept().map(|blob| (blob, BlobUse::Kept));
    match body {
        EventBody::TurnFinished { raw, .. } => raw.iter().map(|blob| (blob.clone(), BlobUse::Turn)).collect(),
        EventBody::ToolFinished { result, .. } => {
            let picture = result.picture.iter().map(|picture| (picture.blob.clone(), BlobUse::Picture));
            picture.chain(result.changes.iter().filter_map(kept)).collect()
        }
        EventBody::ChangeIntended { change, .. } => kept(change).into_iter().collect(),
        EventBody::ApprovalRequested { approval } => {
            approval.picture.iter().map(|picture| (picture.blob.clone(), BlobUse::Picture)).collect()
        }
        // Exhaustive on purpose: a blob that an event names and that is not said here outlives its session.
        EventBody::SessionCreated { .. }
        | EventBody::SessionEdited { .. }
        | EventBody::SessionDeleted
        | EventBody::SessionRestored
        | EventBody::SessionPurged { .. }
        | EventBody::RunStarted(_)
        | EventBody::GrantTakenBack { .. }
        | EventBody::RunSteered { .. }
        | EventBody::RunPaused { .. }
        | EventBody::RunResumed
        | EventBody::BudgetReached { .. }
        | EventBody::TurnFailed { .. }
        | EventBody::TurnDropped { .. }
        | EventBody::ApprovalAnswered { .. }
        | EventBody::ToolStarted { .. }
        | EventBody::ContextCompacted { .. }
        | EventBody::PlanReported { .. }
        | EventBody::AgentsUsed { .. }
        | EventBody::RunEnded { .. }
        | EventBody::SettingsChanged { .. }
        | EventBody::Noted { .. }
        | EventBody::TurnDelta { .. }
        | EventBody::TurnSoFar { .. }
        | EventBody::CommandPrinted { .. }
        | EventBody::StatusChanged { .. }
        | EventBody::SessionChanged { .. }
        | EventBody::QuestionsChanged { .. }
        | EventBody::DesktopChanged { .. }
        | EventBody::JournalFailed { .. } => Vec::new(),
    }
}

/// The texts in a call's arguments, a line each, but for what names an element or says why.
fn said_in(arguments: &Value) -> String {
    const NOT_SAID: [&str; 4] = ["ref", "reason", "tool", "thought"];
    let (mut said, mut left) = (String::new(), vec![arguments]);
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                said.push_str(text);
                said.push('\n');
            }
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => {
                let is_said = |key: &str| !NOT_SAID.contains(&key);
                left.extend(fields.iter().filter(|(key, _)| is_said(key)).map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if said.len() > CHARS * 4 {
            break;
        }
    }
    said
}
