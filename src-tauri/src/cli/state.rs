//! `miki state`: what is at work and what is left to be done, as the journal has it. There is no file of it to be damaged.

use clap::Args;
use protocol::command::{GetOverview, ReadEvents};
use protocol::event::{Activity, RunEnd};
use protocol::ids::{SessionId, StreamId};
use protocol::view::{Overview, RunStatus};
use protocol::{ErrorView, Event, EventBody};
use serde_json::{Value, json};

use super::text::plain;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Newest events of a session that are looked at for its model's notes.
const EVENTS: u32 = 500;

/// Show what is at work, what was interrupted, and what waits for you
///
/// The agents that work for a run stand with it. What a model has written down to go on with is in `notes`.
#[derive(Debug, Args)]
pub struct State {
    /// Print it as JSON: `state` and `pendingTasks`
    #[arg(long)]
    json: bool,
}

impl State {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let link = Link::open(home).await?;
        let overview = link.call(GetOverview {}).await?;
        let mut state = Vec::new();
        for (depth, run) in fold::tree(&overview) {
            let notes = notes(&link, &run.session).await?;
            state.push((depth, of_run(run, &notes)));
        }
        let pending = pending(&overview);
        if self.json {
            let state: Vec<_> = state.into_iter().map(|(_, run)| run).collect();
            super::say(&json!({ "state": state, "pendingTasks": pending }).to_string());
            return Ok(Exit::Done);
        }
        if state.is_empty() && pending.is_empty() {
            super::tell("nothing is at work, and nothing is left to be done");
        }
        let text = |value: &Value| plain(value.as_str().unwrap_or_default());
        for (depth, run) in &state {
            let indent = "  ".repeat(*depth);
            super::tell(&format!(
                "{indent}{}: {} (step {} of {})",
                text(&run["state"]),
                text(&run["goal"]),
                run["step"],
                run["maxSteps"]
            ));
            for line in run["notes"].as_str().unwrap_or_default().lines() {
                super::tell(&format!("{indent}  {}", plain(line)));
            }
        }
        for task in &pending {
            let why = match text(&task["why"]) {
                none if none.is_empty() => none,
                why => format!(" ({why})"),
            };
            super::tell(&format!("{}: {}{why}", text(&task["kind"]), text(&task["text"])));
        }
        Ok(Exit::Done)
    }
}

/// What the model of a session's last run has written down.
async fn notes(link: &Link, session: &SessionId) -> Result<String, ErrorView> {
    let stream = StreamId::of_session(session);
    let page = link.call(ReadEvents { stream, before: None, after: None, limit: EVENTS }).await?;
    Ok(noted(&page.events))
}

fn noted(events: &[Event]) -> String {
    let mut notes = String::new();
    let mut asked = Vec::new();
    for event in events {
        match &event.body {
            EventBody::ContextCompacted { recap } => notes.clone_from(&recap.notes.text),
            EventBody::TurnFinished { calls, .. } => asked.clone_from(calls),
            EventBody::ToolFinished { call, result } if result.error.is_none() => {
                let Some(call) = asked.iter().find(|asked| asked.id == *call) else { continue };
                let Some(edit) = tools::notes_edit_of(&call.tool, &call.arguments) else { continue };
                notes = tools::edited_notes(&notes, &edit).unwrap_or(notes);
            }
            _ => {}
        }
    }
    notes
}

fn of_run(run: &RunStatus, notes: &str) -> Value {
    let state = match run.status.activity {
        _ if run.status.paused => "paused",
        Activity::Waiting => "waits",
        Activity::Working | Activity::Idle => "works",
        Activity::Error => "failed",
    };
    json!({
        "session": run.session,
        "run": run.run,
        "parent": run.parent,
        "goal": run.goal,
        "state": state,
        "detail": run.status.detail,
        "step": run.status.step,
        "maxSteps": run.status.max_steps,
        "notes": notes,
    })
}

/// Questions that are open, then runs that were interrupted and not gone on with, the newest first.
fn pending(overview: &Overview) -> Vec<Value> {
    let questions = overview.questions.iter().map(|question| {
        let text = match question.approval.reason.as_str() {
            "" => question.approval.call.tool.as_str(),
            reason => reason,
        };
        json!({ "kind": "question", "session": question.session, "run": question.run, "id": question.approval.id, "text": text })
    });
    let interrupted = overview.sessions.iter().filter_map(|session| {
        let run = session.last_run.as_ref()?;
        let why = match &run.end {
            Some(RunEnd::Interrupted { reason }) => reason.clone().unwrap_or_default(),
            // It has no end, and nothing works at it.
            None if !overview.runs.iter().any(|open| open.run == run.id) => {
                "it goes on by itself when Miki is started".to_owned()
            }
            _ => return None,
        };
        Some(json!({ "kind": "interrupted", "session": session.id, "run": run.id, "text": run.goal, "why": why }))
    });
    questions.chain(interrupted).collect()
}

#[cfg(test)]
mod tests {
    use protocol::event::Scope;
    use protocol::ids::{CallId, Timestamp};
    use protocol::tool::ToolCall;
    use protocol::turn::{Cost, StopReason, Usage};

    use super::*;

    fn event(body: EventBody) -> Event {
        Event { position: None, stream: StreamId::app(), time: Timestamp(0), scope: Scope::default(), body }
    }

    /// A turn with one call, and that it was done.
    fn called(tool: &str, arguments: Value) -> [Event; 2] {
        let id = CallId("c-1".into());
        let result = json!({ "effect": "confirmed", "summary": "", "took": 1 });
        let turn = EventBody::TurnFinished {
            turn: 1,
            text: String::new(),
            thinking: String::new(),
            calls: vec![ToolCall { id: id.clone(), tool: tool.into(), arguments }],
            citations: Vec::new(),
            usage: Usage::default(),
            cost: Cost::default(),
            stop: StopReason::ToolCalls,
            raw: None,
        };
        let done = EventBody::ToolFinished { call: id, result: serde_json::from_value(result).unwrap() };
        [event(turn), event(done)]
    }

    #[test]
    fn notes_are_those_of_the_last_compaction_with_what_was_noted_since() {
        let mut events = called("notes", json!({ "add": "one" })).to_vec();
        events.extend(called("click", json!({})));
        events.extend(called("notes", json!({ "add": "two" })));
        assert_eq!(noted(&events), "one\ntwo");
        events.extend(called("continue", json!({ "state": "three" })));
        assert_eq!(noted(&events), "three");
    }
}
