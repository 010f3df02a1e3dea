//! What one session looks like: its goals, turns, steps and ends, folded from its events in order.

use protocol::Event;
use protocol::agent::{AgentsEnds, AgentsSummary};
use protocol::budget::{Bound, Reached};
use protocol::citation::Citation;
use protocol::contract::{About, Report};
use protocol::elicitation::{Elicitation, LEFT_OUT};
use protocol::event::{DeltaKind, EventBody, Level, RunEnd};
use protocol::geometry::NormPoint;
use protocol::ids::{ApprovalId, CallId, ModelId, RunId};
use protocol::principal::Surface;
use protocol::terminal::Line;
use protocol::tool::{
    Answer, Approval, Effect, ExecResult, FrontWindow, Grant, Mode, NO_ACTS, PictureView, Risk, ToolCall,
    ToolErrorKind,
};
use protocol::turn::{Cost, Spent, Usage, Usd};
use serde_json::Value;

use crate::way_back::{OfAgents, WayBack};

/// The tool that tells the model which windows there are.
const LIST_WINDOWS: &str = "listWindows";
/// The tool that ends the run.
pub(crate) const DONE: &str = "done";
const PLAN: &str = "plan";
/// What its user does, not its model.
const UNDO: &str = "undo";
/// Lines of a running command's output that are kept.
const PRINTED_LINES: usize = 200;

/// The entries of one stream, or of a part of it, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<Entry>,
    /// The answer as it streams in; empty between turns.
    pub streaming: Streaming,
    /// Of the last run.
    pub bill: Bill,
    turns: Turns,
    /// What the run that ends for its model can go on with.
    suggestions: Vec<ModelId>,
    /// What came of the plan of the run that is about to end.
    report: Option<Box<Report>>,
    /// What its agents did, until its end is there.
    agents: Option<Box<AgentsSummary>>,
    /// What the pause or the end is for that follows.
    used_up: Option<Bound>,
    /// The last run was begun to look and plan: that it is refused every act is no failure of it.
    only_plans: bool,
    /// As the model was told of them last.
    windows: Vec<FrontWindow>,
}

/// One entry. `id` and `revision` name exactly this content, so that a list redraws only what changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub id: EntryId,
    pub revision: u32,
    pub body: EntryBody,
}

/// The number in the stream of the event that the entry came with, and its place among those that came with it: the same
/// after older events were put in front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    pub n: u64,
    pub part: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    Goal {
        run: Option<RunId>,
        goal: String,
        model: String,
        /// Another agent wrote it, and not the user.
        by_agent: bool,
    },
    Said {
        text: String,
    },
    Turn {
        turn: u32,
        text: String,
        thinking: String,
        citations: Vec<Citation>,
    },
    Step(Step),
    Asked(AskedByServer),
    /// A try of a turn that another one follows. The last one's words are the run's end.
    TurnFailed {
        message: String,
        hint: Option<String>,
    },
    Paused {
        reason: String,
        /// What is used up; `None` if it paused for another reason.
        used_up: Option<Bound>,
    },
    Resumed,
    /// Four fifths of it are used.
    BudgetNear {
        bound: Bound,
    },
    Noted {
        level: Level,
        message: String,
        hint: Option<String>,
    },
    End {
        end: RunEnd,
        bill: Bill,
        /// Models to take in place of one that its provider does not know.
        suggestions: Vec<ModelId>,
        /// What came of its plan; `None` if it had none.
        report: Option<Box<Report>>,
        /// Nothing is counted while the run's beginning is not among the events.
        acts: Acts,
        way_back: Box<WayBack>,
        /// Its words are those of the turn right before it.
        repeats: bool,
    },
}

/// What a server asked its user in the middle of its call. It is no act.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedByServer {
    pub wanted: Elicitation,
    pub reply: Reply,
    /// The question, and what stands for its call.
    approval: ApprovalId,
    call: CallId,
}

/// What a server was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing yet.
    Open,
    Given(String),
    /// Its user gave none.
    Declined,
    /// Nobody answered in time, or its call ended first.
    Nobody,
}

/// One tool call and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub call: ToolCall,
    pub risk: Option<Risk>,
    pub stage: Stage,
    /// What was answered, and through what; by its deadline where nobody did.
    pub answer: Option<(Answer, Surface)>,
    /// The arguments that the model had proposed, where its user changed them.
    pub proposed: Option<Value>,
    /// Its words are the run's last, too.
    pub is_told_by_the_end: bool,
    /// The window that it names by its number, where that was told before or asked about.
    pub window: Option<FrontWindow>,
    /// What its command prints while it runs: the last lines.
    printed: Option<Box<Printed>>,
    /// Its user took back what it changed.
    pub is_undone: bool,
}

/// The last lines that a running command has printed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Printed {
    lines: Vec<Line>,
    /// Lines before those.
    gone: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    Proposed,
    Waiting {
        approval: ApprovalId,
    },
    Running,
    Done {
        result: Box<ExecResult>,
    },
    /// The run ended before it was its turn.
    NotRun,
}

/// What a run took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub usage: Usage,
    pub spent: Spent,
    /// Whether the run's beginning is among the events. If not, it took this much at least.
    pub is_whole: bool,
    /// What its agents used beside; `None` while they work, and if it had none.
    pub agents: Option<AgentsUse>,
}

/// What the agents of a run used, with all below them, and how they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentsUse {
    pub tokens: u64,
    /// What is known of it; `None` if nothing is.
    pub cost: Option<Usd>,
    pub ends: AgentsEnds,
}

/// What became of a run's calls that were to change something; a batch is one. The model's last words may say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// Carried out, whether that could be read back or not.
    pub done: usize,
    /// Refused, denied or failed before anything was touched.
    pub refused: usize,
    /// Sent, but seen not to have happened, or interrupted.
    pub in_doubt: usize,
    /// Agents that ended since they needed a yes and nobody could be asked.
    pub unanswered: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    pub text: String,
    pub thinking: String,
}

/// Which deltas may still come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Turns {
    run: Option<RunId>,
    /// The last turn of `run` that is over.
    over: u32,
    /// The turn that streams, and the number of its next delta.
    streams: Option<(u32, u32)>,
}

impl Transcript {
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut transcript = Self::default();
        for event in events {
            transcript.fold(event);
        }
        transcript
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        self.entries.get(at)
    }

    /// What a server asked by this question; `None` if it is another's.
    pub fn asked_by_server(&self, approval: &ApprovalId) -> Option<&AskedByServer> {
        self.entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Asked(asked) if asked.approval == *approval => Some(asked),
            _ => None,
        })
    }

    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Step(step) => Some(step),
            _ => None,
        })
    }

    /// The entries since the last goal, that goal included.
    pub fn last_run(&self) -> &[Entry] {
        let start = self.entries.iter().rposition(|entry| matches!(entry.body, EntryBody::Goal { .. }));
        &self.entries[start.unwrap_or(0)..]
    }

    /// Where the last action of the last run was or is about to be, in 0-1000 of the display, and whose.
    pub fn last_point(&self) -> Option<(CallId, NormPoint)> {
        let last = self.last_run().iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Step(step) => step.point().map(|point| (step.call.id.clone(), point)),
            _ => None,
        });
        last.and_then(|(call, (point, first))| first.then_some((call, point)))
    }

    pub fn fold(&mut self, event: &Event) {
        if event.body.is_durable() {
            self.turns.of_run(event.scope.run.as_ref());
        }
        let n = event.position.map_or(0, |position| position.n);
        match &event.body {
            EventBody::RunStarted(spec) => {
                self.streaming = Streaming::default();
                self.bill = Bill { is_whole: true, ..Bill::default() };
                self.suggestions.clear();
                self.used_up = None;
                self.report = None;
                self.agents = None;
                self.only_plans = spec.mode == Mode::Plan;
                let (run, goal, model) =
                    (event.scope.run.clone(), spec.told().to_owned(), spec.model.0.clone());
                let by_agent = spec.parent.is_some();
                self.push(n, EntryBody::Goal { run, goal, model, by_agent });
            }
            EventBody::RunSteered { text } => self.push(n, EntryBody::Said { text: text.clone() }),
            EventBody::GrantTakenBack { grant: Grant { tool, app } } => {
                let place = app.as_ref().map(|app| format!(" in {app}")).unwrap_or_default();
                let message = format!("taken back: {tool}{place} asks again");
                self.push(n, EntryBody::Noted { level: Level::Info, message, hint: None });
            }
            EventBody::RunPaused { reason } => {
                let used_up = self.used_up.take();
                self.push(n, EntryBody::Paused { reason: reason.clone(), used_up });
            }
            EventBody::RunResumed => self.push(n, EntryBody::Resumed),
            EventBody::BudgetReached { reached: Reached::Near, bound } => {
                self.push(n, EntryBody::BudgetNear { bound: bound.clone() });
            }
            // The pause or the end that follows says so.
            EventBody::BudgetReached { reached: Reached::UsedUp, bound } => {
                self.used_up = Some(bound.clone());
            }
            EventBody::TurnFinished { turn, text, thinking, calls, citations, usage, cost, .. } => {
                self.turn_is_over(*turn, *usage, Some(*cost));
                let (text, thinking) = (text.trim().to_owned(), thinking.trim().to_owned());
                if !(text.is_empty() && thinking.is_empty() && citations.is_empty()) {
                    let citations = citations.clone();
                    self.push(n, EntryBody::Turn { turn: *turn, text, thinking, citations });
                }
                for call in calls {
                    self.push(n, EntryBody::Step(self.proposed(call)));
                }
            }
            EventBody::TurnFailed { turn, message, hint, retry, usage, cost, suggestions } => {
                // Another try has the same number.
                self.turn_is_over(turn.saturating_sub(u32::from(*retry)), *usage, *cost);
                self.suggestions.clone_from(suggestions);
                if *retry {
                    self.push(n, EntryBody::TurnFailed { message: message.clone(), hint: hint.clone() });
                }
            }
            EventBody::TurnDropped { turn, usage, cost, text } => {
                self.turn_is_over(*turn, *usage, Some(*cost));
                if !text.trim().is_empty() {
                    let text = format!("{}…", text.trim());
                    let (thinking, citations) = (String::new(), Vec::new());
                    self.push(n, EntryBody::Turn { turn: *turn, text, thinking, citations });
                }
            }
            EventBody::ApprovalRequested { approval } => self.asked(n, approval),
            EventBody::ApprovalAnswered { approval, answer, by } => {
                self.answered(approval, (answer.clone(), *by))
            }
            EventBody::ToolStarted { call, risk } => self.step(n, call, |step| {
                step.risk = Some(*risk);
                step.stage = Stage::Running;
            }),
            EventBody::ToolFinished { call, result } => self.finished(call, result),
            EventBody::PlanReported { report } => self.report = Some(report.clone()),
            EventBody::AgentsUsed(summary) => self.agents = Some(summary.clone()),
            EventBody::RunEnded { end } => self.ended(n, end),
            EventBody::Noted { level, message, hint } => {
                let (level, message, hint) = (*level, message.clone(), hint.clone());
                self.push(n, EntryBody::Noted { level, message, hint });
            }
            EventBody::TurnDelta { turn, index, kind, text } => {
                self.streamed(event.scope.run.as_ref(), (*turn, *index), *kind, text);
            }
            EventBody::TurnSoFar { turn, next, text, thinking } => {
                let is_new = match self.turns.streams {
                    Some((streams, heard)) if streams == *turn => *next >= heard,
                    _ => true,
                };
                if is_new && self.is_under_way(event.scope.run.as_ref(), *turn) {
                    self.turns.streams = Some((*turn, *next));
                    self.streaming = Streaming { text: text.clone(), thinking: thinking.clone() };
                }
            }
            EventBody::CommandPrinted { call, first, lines } => {
                if let Some((revision, step)) =
                    self.find(|step| step.call.id == *call && step.stage == Stage::Running)
                {
                    *revision += 1;
                    step.print(*first, lines);
                }
            }
            // Exhaustive on purpose: a new event must say here whether it is shown.
            EventBody::SessionCreated { .. }
            | EventBody::SessionEdited { .. }
            | EventBody::SessionDeleted
            | EventBody::SessionRestored
            | EventBody::SessionPurged { .. }
            | EventBody::ChangeIntended { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::SettingsChanged { .. }
            | EventBody::StatusChanged { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::QuestionsChanged { .. }
            | EventBody::DesktopChanged { .. }
            | EventBody::JournalFailed { .. } => {}
        }
    }

    /// Takes what streams now from the transcript of the same events without those in front.
    pub(crate) fn go_on_streaming(&mut self, from: &mut Self) {
        self.streaming = std::mem::take(&mut from.streaming);
        self.turns = std::mem::take(&mut from.turns);
    }

    fn turn_is_over(&mut self, turn: u32, usage: Usage, cost: Option<Cost>) {
        self.streaming = Streaming::default();
        self.turns.over = turn;
        self.turns.streams = None;
        self.bill.usage = self.bill.usage.plus(usage);
        self.bill.spent = cost.map_or(self.bill.spent, |cost| self.bill.spent.plus(cost));
    }

    /// Deltas of a turn that is over, and those that were told before, come too late. After a gap the text begins anew.
    fn streamed(&mut self, run: Option<&RunId>, (turn, index): (u32, u32), kind: DeltaKind, text: &str) {
        if !self.is_under_way(run, turn) {
            return;
        }
        let next = match self.turns.streams {
            Some((streams, next)) if streams == turn => next,
            _ => 0,
        };
        if index < next {
            return;
        }
        self.turns.streams = Some((turn, index + 1));
        if index > next {
            self.streaming = Streaming::default();
        }
        let whole = match kind {
            DeltaKind::Text => &mut self.streaming.text,
            DeltaKind::Thinking => &mut self.streaming.thinking,
        };
        if index > next {
            whole.push('…');
        }
        whole.push_str(text);
    }

    fn is_under_way(&self, run: Option<&RunId>, turn: u32) -> bool {
        turn > self.turns.over && run == self.turns.run.as_ref()
    }

    fn push(&mut self, n: u64, body: EntryBody) {
        let part = match self.entries.last() {
            Some(last) if last.id.n == n => last.id.part + 1,
            _ => 0,
        };
        self.entries.push(Entry { id: EntryId { n, part }, revision: 0, body });
    }

    /// Changes the step of this call; appends one where no turn proposed it (`miki do`, a part of a batch).
    fn step(&mut self, n: u64, call: &ToolCall, change: impl FnOnce(&mut Step)) {
        if let Some((revision, step)) = self.find(|step| step.call.id == call.id) {
            *revision += 1;
            change(step);
        } else {
            let mut step = self.proposed(call);
            change(&mut step);
            self.push(n, EntryBody::Step(step));
        }
    }

    fn proposed(&self, call: &ToolCall) -> Step {
        let known = |id| self.windows.iter().find(|window| window.id == id).cloned();
        let window = call.window().and_then(known);
        Step { window, ..Step::of(call.clone(), Stage::Proposed) }
    }

    fn find(&mut self, wanted: impl Fn(&Step) -> bool) -> Option<(&mut u32, &mut Step)> {
        self.entries.iter_mut().rev().find_map(|entry| match &mut entry.body {
            EntryBody::Step(step) if wanted(step) => Some((&mut entry.revision, step)),
            _ => None,
        })
    }

    fn asked(&mut self, n: u64, asked: &Approval) {
        let approval = asked.id.clone();
        match &*asked.about {
            About::Elicitation(wanted) => {
                let (wanted, reply, call) = ((**wanted).clone(), Reply::Open, asked.call.id.clone());
                self.push(n, EntryBody::Asked(AskedByServer { wanted, reply, approval, call }));
            }
            About::Call { .. } | About::Plan { .. } | About::Result { .. } => {
                self.step(n, &asked.call, |step| {
                    step.risk = Some(asked.risk);
                    step.stage = Stage::Waiting { approval };
                    step.window = asked.target.clone().or(step.window.take());
                });
            }
        }
    }

    fn find_asked(
        &mut self,
        wanted: impl Fn(&AskedByServer) -> bool,
    ) -> Option<(&mut u32, &mut AskedByServer)> {
        self.entries.iter_mut().rev().find_map(|entry| match &mut entry.body {
            EntryBody::Asked(asked) if wanted(asked) => Some((&mut entry.revision, asked)),
            _ => None,
        })
    }

    fn answered(&mut self, approval: &ApprovalId, answer: (Answer, Surface)) {
        if let Some((revision, asked)) = self.find_asked(|asked| asked.approval == *approval) {
            *revision += 1;
            asked.reply = Reply::of(&answer);
            return;
        }
        let asks =
            |step: &Step| matches!(&step.stage, Stage::Waiting { approval: asked } if asked == approval);
        if let Some((revision, step)) = self.find(asks) {
            *revision += 1;
            step.stage = Stage::Proposed;
            // Of a plan the card tells what was struck out.
            if let (Answer::Edit { arguments }, true) = (&answer.0, step.call.tool != PLAN) {
                let changed = std::mem::replace(&mut step.call.arguments, arguments.clone());
                step.proposed.get_or_insert(changed);
            }
            step.answer = Some(answer);
        }
    }

    fn finished(&mut self, call: &CallId, result: &ExecResult) {
        if let Some((revision, asked)) = self.find_asked(|asked| asked.call == *call) {
            // What asked may have been gone when the answer came.
            if result.error.is_some() && !matches!(asked.reply, Reply::Declined | Reply::Nobody) {
                *revision += 1;
                asked.reply = Reply::Nobody;
            }
            return;
        }
        if let Some((revision, step)) = self.find(|step| step.call.id == *call) {
            *revision += 1;
            step.stage = Stage::Done { result: Box::new(result.clone()) };
            step.printed = None;
            if step.call.tool == UNDO {
                self.undone(result);
                return;
            }
            if step.call.tool == LIST_WINDOWS {
                self.windows = windows_in(result).unwrap_or_default();
            }
        }
    }

    fn undone(&mut self, result: &ExecResult) {
        let calls = result.data.get("undone").and_then(Value::as_array).cloned().unwrap_or_default();
        for call in calls.iter().filter_map(Value::as_str) {
            if let Some((revision, step)) = self.find(|step| step.call.id.as_str() == call) {
                *revision += 1;
                step.is_undone = true;
            }
        }
        self.say_ways_back(&calls);
    }

    /// What can still be taken back of each run that has ended.
    fn say_ways_back(&mut self, undone: &[Value]) {
        let (mut begins, mut others) = (None, Vec::new());
        for (at, entry) in self.entries.iter().enumerate() {
            match (&entry.body, begins) {
                (EntryBody::Goal { .. }, _) => begins = Some(at),
                (EntryBody::End { way_back, .. }, Some(from)) => {
                    let mut agents = way_back.agents.clone();
                    agents.changes.retain(|change| {
                        !undone.iter().any(|call| call.as_str() == Some(change.call.as_str()))
                    });
                    let now = WayBack::of(&self.entries[from..at], agents);
                    if now != **way_back {
                        others.push((at, now));
                    }
                }
                _ => {}
            }
        }
        for (at, now) in others {
            if let Some(Entry { body: EntryBody::End { way_back, .. }, revision, .. }) =
                self.entries.get_mut(at)
            {
                *revision += 1;
                **way_back = now;
            }
        }
    }

    fn ended(&mut self, n: u64, end: &RunEnd) {
        self.streaming = Streaming::default();
        self.turns.over = u32::MAX;
        self.turns.streams = None;
        for entry in &mut self.entries {
            match &mut entry.body {
                EntryBody::Step(step)
                    if !matches!(step.stage, Stage::Done { .. } | Stage::NotRun | Stage::Running) =>
                {
                    entry.revision += 1;
                    step.stage = Stage::NotRun;
                }
                EntryBody::Asked(asked) if asked.reply == Reply::Open => {
                    entry.revision += 1;
                    asked.reply = Reply::Nobody;
                }
                _ => {}
            }
        }
        let ends = |step: &Step| step.call.tool == DONE && matches!(step.stage, Stage::Done { .. });
        if let (
            RunEnd::Completed { .. } | RunEnd::Failed { .. },
            Some(Entry { body: EntryBody::Step(step), revision, .. }),
        ) = (end, self.entries.last_mut())
            && ends(step)
        {
            *revision += 1;
            step.is_told_by_the_end = true;
        }
        let suggestions = std::mem::take(&mut self.suggestions);
        let agents = self.agents.take().map(|agents| *agents).unwrap_or_default();
        if agents.ends != AgentsEnds::default() {
            let AgentsSummary { tokens, cost, ends, .. } = agents;
            self.bill.agents = Some(AgentsUse { tokens, cost, ends });
        }
        let (end, bill, report) = (end.clone(), self.bill, self.report.take());
        let counts = bill.is_whole && !self.only_plans;
        let acts = match counts {
            // What its agents did, it did by them.
            true => Acts::of(self.last_run()).with(&agents),
            false => Acts::default(),
        };
        let of_agents = OfAgents { changes: agents.changes, stays: agents.stays };
        let way_back = Box::new(WayBack::of(self.last_run(), of_agents));
        let repeats = match (&end, self.entries.last().map(|entry| &entry.body)) {
            (RunEnd::Completed { summary }, Some(EntryBody::Turn { text, .. })) => {
                summary.trim() == text.trim()
            }
            _ => false,
        };
        self.push(n, EntryBody::End { end, bill, suggestions, report, acts, way_back, repeats });
        // It says something else once the run's beginning is known.
        if let (true, Some(entry)) = (self.bill.is_whole, self.entries.last_mut()) {
            entry.revision = 1;
        }
    }
}

impl Acts {
    fn of(run: &[Entry]) -> Self {
        let mut acts = Self::default();
        for entry in run {
            let EntryBody::Step(Step { stage: Stage::Done { result }, call, risk, .. }) = &entry.body else {
                continue;
            };
            // What is refused before its risk is told is known by its name. One that makes no sense was no try.
            let was_to_act = match (risk, &result.error) {
                (Some(risk), _) => *risk > Risk::Observe,
                (None, Some(error)) => {
                    let is_a_try =
                        !matches!(error.kind, ToolErrorKind::UnknownTool | ToolErrorKind::BadArguments);
                    is_a_try && !call.only_looks()
                }
                (None, None) => false,
            };
            match result.effect {
                _ if !was_to_act || NO_ACTS.contains(&call.tool.as_str()) => {}
                Effect::Confirmed | Effect::Unverified => acts.done += 1,
                Effect::Refused => acts.refused += 1,
                Effect::NoChange | Effect::Unknown => acts.in_doubt += 1,
            }
        }
        acts
    }

    fn with(self, agents: &AgentsSummary) -> Self {
        Self {
            done: self.done + agents.done as usize,
            refused: self.refused + agents.not_done as usize,
            unanswered: agents.ends.unanswered as usize,
            ..self
        }
    }

    /// Whether the run has tried to change something, or needed a yes for it that nobody could give, and nothing was done.
    pub fn came_to_nothing(self) -> bool {
        self.done == 0 && self.refused + self.in_doubt + self.unanswered > 0
    }

    /// Whether all that was tried was done.
    pub fn all_done(self) -> bool {
        self.refused + self.in_doubt == 0
    }
}

fn windows_in(listing: &ExecResult) -> Option<Vec<FrontWindow>> {
    serde_json::from_value(listing.data.get("windows")?.clone()).ok()
}

impl Reply {
    fn of(answer: &(Answer, Surface)) -> Self {
        match answer {
            (Answer::Edit { arguments }, _) => {
                let said = arguments.get("answer").and_then(Value::as_str).unwrap_or_default();
                Self::Given(said.to_owned())
            }
            (Answer::Once, _) => Self::Given("yes".to_owned()),
            (_, Surface::Deadline) => Self::Nobody,
            (Answer::Deny | Answer::Thread | Answer::Until { .. }, _) => Self::Declined,
        }
    }
}

impl AskedByServer {
    /// What was answered, as people say it; `None` if it was left out or not answered.
    pub fn said(&self) -> Option<&str> {
        match &self.reply {
            Reply::Given(said) if said == LEFT_OUT && self.wanted.may_be_left_out() => {
                self.wanted.usual.as_deref()
            }
            Reply::Given(said) => Some(said),
            Reply::Open | Reply::Declined | Reply::Nobody => None,
        }
    }
}

impl Step {
    /// A step of which nothing else is known.
    pub fn of(call: ToolCall, stage: Stage) -> Self {
        Self {
            call,
            risk: None,
            stage,
            answer: None,
            proposed: None,
            is_told_by_the_end: false,
            window: None,
            printed: None,
            is_undone: false,
        }
    }

    /// Whether what it changed can be taken back.
    pub fn can_be_undone(&self) -> bool {
        matches!(&self.stage, Stage::Done { result } if !result.changes.is_empty()) && !self.is_undone
    }

    /// What its command prints while it runs: the last lines.
    pub fn printed(&self) -> &[Line] {
        self.printed.as_ref().map_or(&[], |printed| printed.lines.as_slice())
    }

    /// Takes what a command has printed anew: from line `first` on. Only the last lines are kept.
    fn print(&mut self, first: u64, lines: &[Line]) {
        let Printed { lines: kept, gone } = &mut **self.printed.get_or_insert_default();
        kept.truncate(usize::try_from(first.saturating_sub(*gone)).unwrap_or(usize::MAX));
        kept.extend(lines.iter().cloned());
        let over = kept.len().saturating_sub(PRINTED_LINES);
        kept.drain(..over);
        *gone += over as u64;
    }

    pub fn picture(&self) -> Option<&PictureView> {
        match &self.stage {
            Stage::Done { result } => result.picture.as_ref(),
            _ => None,
        }
    }

    /// Whether it was answered no: what its result says is said to the model.
    pub fn is_denied(&self) -> bool {
        let Stage::Done { result } = &self.stage else { return false };
        result.error.as_ref().is_some_and(|error| error.kind == ToolErrorKind::Denied)
    }

    /// Whether what came of it is worth a word. That the model says it is done shows nothing.
    pub fn has_effect(&self) -> bool {
        let is_said = matches!(&self.stage, Stage::Done { result } if result.error.is_none());
        self.call.tool != DONE || !is_said
    }

    /// The effect's name on the wire, or the stage's where there is no effect yet.
    pub fn effect_name(&self) -> &'static str {
        match &self.stage {
            Stage::Proposed => "proposed",
            Stage::Waiting { .. } => "waiting",
            Stage::Running => "running",
            Stage::NotRun => "not_run",
            Stage::Done { result } => match result.effect {
                Effect::Confirmed => "confirmed",
                Effect::Unverified => "unverified",
                Effect::NoChange => "no_change",
                Effect::Refused => "refused",
                Effect::Unknown => "unknown",
            },
        }
    }

    /// The dot of its picture, or where it is about to act, and whether that is on the first display.
    fn point(&self) -> Option<(NormPoint, bool)> {
        let first = self.call.arguments.get("display").is_none_or(|display| display.as_u64() == Some(0));
        let point = match &self.stage {
            Stage::Done { .. } => self.picture()?.dot,
            Stage::Running => {
                let at = |axis: &str| self.call.arguments.get(axis)?.as_f64();
                NormPoint::new(at("x")?, at("y")?).ok()
            }
            Stage::Proposed | Stage::Waiting { .. } | Stage::NotRun => None,
        };
        point.map(|point| (point, first))
    }
}

impl Turns {
    fn of_run(&mut self, run: Option<&RunId>) {
        if run.is_some() && self.run.as_ref() != run {
            *self = Self { run: run.cloned(), ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests;
