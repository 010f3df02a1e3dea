//! Taking back what calls changed: the newest change first, each only where nobody has changed it since.
//!
//! An undo is journaled as a call by the user is, intent first: a start after a crash finds it, and the next run's model
//! reads of it. Where it acts on the screen it has the desktop, within the user's own fence.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use journal::{JournalError, Reader};
use protocol::command::{Left, Undo, Undone};
use protocol::event::Scope;
use protocol::ids::{CallId, RunId, Seq, StreamId};
use protocol::tool::{Change, Changed, Effect, ExecResult, Millis, Risk, ToolCall};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use serde_json::{Value, json};

use crate::engine::{Engine, fresh};
use crate::summary;

/// The name under which it is journaled. No model is offered it.
pub const UNDO: &str = "undo";

/// Characters of a run's id, at the least, that name it.
const LEAST_OF_ID: usize = 4;

/// Acts that are named, at the most.
const MOST_STAYS: usize = 50;

/// Changes that are looked at together, on the way back to one that was not tried yet.
const PAGE: u32 = 100;

/// A call that changed something.
struct Changer {
    call: CallId,
    scope: Scope,
    changes: Vec<Change>,
}

/// What is to be taken back.
struct Meant {
    /// Of the run whose changes they are, with those of its agents; `None` for those of single calls.
    run: Option<Scope>,
    /// The newest first.
    changers: Vec<Changer>,
    stays: Vec<String>,
}

/// An undo as one session has it.
struct Record {
    scope: Scope,
    id: CallId,
    /// What was changed there.
    of: Vec<CallId>,
}

impl Engine {
    /// Takes back what was changed by a call, by all of a run with its agents, or by the last of which that was not tried yet.
    ///
    /// # Errors
    /// `NotFound` if nothing was changed there; `Busy` while its run is at work, or while another has the desktop that it
    /// takes.
    pub(crate) async fn undo(&self, command: Undo) -> Result<Undone, ErrorView> {
        self.check_open()?;
        let command = Undo { run: self.whole_id(command.run).await?, ..command };
        // What an agent has just changed is there once it has ended.
        self.check_over(&self.meant(&command).await?).await?;
        let Meant { run: whose, changers, stays } = self.meant(&command).await?;
        let (Some(first), taken_back) = (changers.first(), self.taken_back(&changers).await?) else {
            let message = match &command {
                Undo { run: None, call: None } => "there is nothing left to take back",
                Undo { .. } => "nothing that can be taken back was changed there",
            };
            return Err(ErrorView::new(ErrorCode::NotFound, message)
                .with_hint("what was left as it is is tried again by its name: miki undo RUN"));
        };
        let whose = whose.unwrap_or_else(|| first.scope.clone());
        let meant: Vec<&Changer> =
            changers.iter().filter(|changer| !taken_back.contains(&changer.call)).collect();
        let is_on_screen =
            |change: &Change| matches!(change.of, Changed::Value | Changed::Window | Changed::Clipboard);
        let acts = meant.iter().flat_map(|changer| &changer.changes).any(is_on_screen);
        let mut ports = BTreeMap::new();
        for changer in &meant {
            if let Entry::Vacant(of_session) = ports.entry(changer.scope.session.clone()) {
                let space = self.space_of(&changer.scope).await?;
                of_session.insert(self.open_ports(changer.scope.session.as_ref(), space.as_deref()).await?);
            }
        }
        let id = CallId::from_suffix(fresh());
        let _seat = if acts { Some(self.seat_of_a_call(&id).await?) } else { None };
        if meant.is_empty() {
            return Ok(Undone { run: whose.run, stays, ..Undone::default() });
        }
        // In the session of each that changed something, since those of agents have their own; and of those above.
        let mut undos = vec![Record { scope: beside_runs(&whose), id, of: Vec::new() }];
        if let Some(run) = whose.run.clone() {
            let above = self.log.read(move |journal| above(journal, &run)).await?;
            undos.extend(above.iter().map(|scope| Record {
                scope: beside_runs(scope),
                id: CallId::from_suffix(fresh()),
                of: Vec::new(),
            }));
        }
        for changer in &meant {
            let scope = beside_runs(&changer.scope);
            match undos.iter_mut().find(|undo| undo.scope == scope) {
                Some(undo) => undo.of.push(changer.call.clone()),
                None => undos.push(Record {
                    scope,
                    id: CallId::from_suffix(fresh()),
                    of: vec![changer.call.clone()],
                }),
            }
        }
        for Record { scope, id, of } in &undos {
            let call = ToolCall { id: id.clone(), tool: UNDO.into(), arguments: json!({ "calls": of }) };
            self.log.append(scope.clone(), EventBody::ToolStarted { call, risk: Risk::Edit }).await?;
        }
        let mut report = Undone { run: whose.run.clone(), stays, ..Undone::default() };
        let (mut done, mut seen) = (Vec::new(), Vec::new());
        for changer in &meant {
            let Some(ports) = ports.get(&changer.scope.session) else { continue };
            let mut whole = true;
            for change in changer.changes.iter().rev() {
                match self.tools.take_back(change, ports).await {
                    // A thing that was changed twice is one thing.
                    Ok(_) if seen.contains(&(change.of, &change.name)) => {}
                    Ok(true) => {
                        seen.push((change.of, &change.name));
                        report.undone.push(change.name.clone());
                        report.was_so.retain(|name| *name != change.name);
                    }
                    Ok(false)
                        if report.was_so.contains(&change.name)
                            || report.left.iter().any(|left| left.name == change.name) => {}
                    Ok(false) => report.was_so.push(change.name.clone()),
                    Err(error) => {
                        whole = false;
                        report.left.push(Left { name: change.name.clone(), why: error.message });
                    }
                }
            }
            if whole {
                done.push(changer.call.clone());
            }
        }
        let result = told(&report, &done);
        for Record { scope, id, .. } in undos {
            let result = result.clone();
            self.log.append(scope, EventBody::ToolFinished { call: id, result }).await?;
        }
        Ok(report)
    }

    /// # Errors
    /// `Busy` while one of the runs is at work whose changes are meant.
    async fn check_over(&self, meant: &Meant) -> Result<(), ErrorView> {
        let runs = meant.run.iter().chain(meant.changers.iter().map(|changer| &changer.scope));
        for run in runs.filter_map(|scope| scope.run.as_ref()) {
            if !self.runs.is_over(run).await {
                return Err(ErrorView::new(ErrorCode::Busy, format!("{run} is still at work"))
                    .with_hint("stop it first: miki stop"));
            }
        }
        Ok(())
    }

    /// The id of the one run that is named by it, or by the beginning or the end of it.
    async fn whole_id(&self, run: Option<RunId>) -> Result<Option<RunId>, ErrorView> {
        let Some(named) = run else { return Ok(None) };
        if named.as_str().trim_start_matches(RunId::PREFIX).len() < LEAST_OF_ID {
            let message = format!("{:?} does not tell which run is meant", named.as_str());
            return Err(ErrorView::new(ErrorCode::BadRequest, message).with_hint("name it by more of its id"));
        }
        let asked = named.clone();
        let mut found = self.log.read(move |journal| journal.runs_named(&asked)).await?;
        match found.len() {
            1 => Ok(found.pop()),
            0 => Err(ErrorView::new(ErrorCode::NotFound, format!("there is no run {named}"))),
            _ => Err(ErrorView::new(ErrorCode::BadRequest, format!("more than one run is named by {named}"))
                .with_hint("name it by more of its id; miki session show SESSION has it whole")),
        }
    }

    /// The calls that are meant, newest first; and what else their run and its agents did, which nothing takes back.
    async fn meant(&self, command: &Undo) -> Result<Meant, ErrorView> {
        let (run, call) = (command.run.clone(), command.call.clone());
        let events = move |journal: &Reader<'_>| match (run, call) {
            (_, Some(call)) => Ok(journal.finished(&call)?.into_iter().collect()),
            (Some(run), None) => of_tree(journal, &run),
            (None, None) => match last_untried(journal)? {
                Some(Event { scope: Scope { run: Some(run), .. }, .. }) => {
                    let top = above(journal, &run)?.pop().and_then(|top| top.run);
                    of_tree(journal, &top.unwrap_or(run))
                }
                last => Ok(last.into_iter().collect()),
            },
        };
        let events: Vec<Event> = self.log.read(events).await?;
        let begins = events.iter().find(|event| matches!(event.body, EventBody::RunStarted(_)));
        let run = begins.map(|event| event.scope.clone());
        let stays = stays(&events);
        let changer = |event: Event| match event.body {
            EventBody::ToolFinished { call, result } if !result.changes.is_empty() => {
                Some(Changer { call, scope: event.scope, changes: result.changes })
            }
            _ => None,
        };
        Ok(Meant { run, changers: events.into_iter().rev().filter_map(changer).collect(), stays })
    }

    /// Those of them that were taken back already.
    async fn taken_back(&self, changers: &[Changer]) -> Result<BTreeSet<CallId>, ErrorView> {
        let streams: BTreeSet<StreamId> = changers.iter().map(|changer| changer.scope.stream()).collect();
        // Only ours: the data of another tool's answer says nothing.
        let told = move |journal: &Reader<'_>| {
            let mut told = BTreeSet::new();
            for stream in &streams {
                for undo in journal.begun(stream, UNDO)? {
                    if let Some(Event { body: EventBody::ToolFinished { result, .. }, .. }) =
                        journal.finished(&undo.id)?
                    {
                        let calls = result.data.get("undone").cloned().unwrap_or_default();
                        told.extend(serde_json::from_value::<Vec<CallId>>(calls).unwrap_or_default());
                    }
                }
            }
            Ok(told)
        };
        self.log.read(told).await
    }

    /// The folder of the run that made a change.
    async fn space_of(&self, scope: &Scope) -> Result<Option<String>, ErrorView> {
        let Some(run) = scope.run.clone() else { return Ok(None) };
        let events = self.log.read(move |journal| journal.run_events(&run)).await?;
        Ok(events.into_iter().find_map(|event| match event.body {
            EventBody::RunStarted(spec) => spec.space,
            _ => None,
        }))
    }
}

fn beside_runs(scope: &Scope) -> Scope {
    Scope { run: None, agent: None, ..scope.clone() }
}

/// Those above a run, up to the one at the top of its tree.
fn above(journal: &Reader<'_>, run: &RunId) -> Result<Vec<Scope>, JournalError> {
    let mut line = Vec::new();
    let mut at = journal.started(run)?;
    while let Some(parent) = at.and_then(|(_, spec)| spec.parent) {
        at = journal.started(&parent)?;
        line.extend(at.iter().map(|(scope, _)| scope.clone()));
    }
    Ok(line)
}

/// All events of a run and of its agents with all below them, oldest first.
fn of_tree(journal: &Reader<'_>, run: &RunId) -> Result<Vec<Event>, JournalError> {
    let mut events = journal.run_events(run)?;
    for child in summary::below(journal, run)?.into_iter().filter_map(|child| child.scope.run) {
        events.extend(journal.run_events(&child)?);
    }
    events.sort_by_key(|event| event.position.map(|position| position.seq));
    Ok(events)
}

/// What a run did without keeping how to take it back, in the words of its results, the oldest first.
pub fn stays(events: &[Event]) -> Vec<String> {
    let mut acts = BTreeMap::new();
    let mut stays = Vec::new();
    for event in events {
        match &event.body {
            EventBody::ToolStarted { call, risk } => {
                acts.insert(&call.id, (call, *risk));
            }
            EventBody::ToolFinished { call, result } => {
                let stay = acts.get(call).is_some_and(|(act, risk)| act.stays(*risk, result));
                if stay && stays.len() < MOST_STAYS {
                    stays.push(result.summary.clone());
                }
            }
            _ => {}
        }
    }
    stays
}

/// The newest call that changed something, and that no undo has tried: each further `miki undo` goes further back.
fn last_untried(journal: &Reader<'_>) -> Result<Option<Event>, JournalError> {
    let mut tried: BTreeMap<StreamId, BTreeSet<CallId>> = BTreeMap::new();
    let mut before = None::<Seq>;
    loop {
        let page = journal.changes(before, PAGE)?;
        let Some(last) = page.last() else { return Ok(None) };
        before = last.position.map(|position| position.seq);
        for event in page {
            let EventBody::ToolFinished { call, .. } = &event.body else { continue };
            let stream = event.scope.stream();
            if !tried.contains_key(&stream) {
                tried.insert(stream.clone(), tried_in(journal, &stream)?);
            }
            if !tried.get(&stream).is_some_and(|tried| tried.contains(call)) {
                return Ok(Some(event));
            }
        }
    }
}

/// Calls of a stream that undos have tried, whatever came of it. One that was interrupted has not.
fn tried_in(journal: &Reader<'_>, stream: &StreamId) -> Result<BTreeSet<CallId>, JournalError> {
    let mut tried = BTreeSet::new();
    for undo in journal.begun(stream, UNDO)? {
        let came = journal.finished(&undo.id)?;
        let is_over = came.is_some_and(|event| {
            matches!(event.body, EventBody::ToolFinished { result, .. } if result.effect != Effect::Unknown)
        });
        if is_over {
            let calls = undo.arguments.get("calls").cloned().unwrap_or_default();
            tried.extend(serde_json::from_value::<Vec<CallId>>(calls).unwrap_or_default());
        }
    }
    Ok(tried)
}

fn told(report: &Undone, calls: &[CallId]) -> ExecResult {
    let (undone, left) = (report.undone.len(), report.left.len());
    let effect = match (undone, left) {
        (_, 0) => Effect::Confirmed,
        (0, _) => Effect::Refused,
        (_, _) => Effect::Unverified,
    };
    let mut summary = match undone {
        0 => "nothing was taken back".to_owned(),
        1 => format!("taken back: {}", report.undone.concat()),
        _ => format!("{undone} changes taken back: {}", report.undone.join(", ")),
    };
    if !report.was_so.is_empty() {
        summary = format!("{summary}; was as before already: {}", report.was_so.join(", "));
    }
    if left > 0 {
        let all: Vec<_> = report.left.iter().map(Left::to_string).collect();
        summary = format!("{summary}; left as it is: {}", all.join("; "));
    }
    let data = json!({ "undone": calls });
    let (read, changes, output) = (Vec::new(), Vec::new(), Vec::new());
    ExecResult { effect, summary, data, error: None, picture: None, read, changes, output, took: Millis(0) }
}

/// What the next run's model reads of it; `None` if this is no undo.
pub fn note(call: &ToolCall, result: &ExecResult) -> Option<String> {
    let is_undo = call.tool == UNDO && !matches!(result.data, Value::Null);
    is_undo.then(|| format!("(I took back what you had changed. {})", result.summary))
}
