//! What one session looks like: its goals, turns, steps and ends, folded from events in order.
//!
//! Pure. Knows nothing of other sessions, of sequence numbers or of how it is drawn.

use protocol::citation::Citation;
use protocol::command::Window;
use protocol::event::{EventBody, Level, RunEnd};
use protocol::geometry::NormPoint;
use protocol::ids::{ApprovalId, CallId, ModelId, RunId};
use protocol::tool::{Answer, Effect, ExecResult, PictureView, Risk, ToolCall};
use protocol::turn::{Spent, Usage};
use protocol::{Event, view::Platform};

/// Entries kept; of a longer session the oldest go first, from the window only.
const MOST_ENTRIES: usize = 1_000;

/// One session's story, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<Entry>,
    next: u64,
    /// The answer as it streams in; empty between turns.
    pub streaming: Streaming,
    /// Of the last run.
    pub bill: Bill,
}

/// One line of the story. `id` and `revision` name exactly this content, so that a list redraws only what changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub id: u64,
    pub revision: u32,
    pub body: EntryBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    Goal {
        run: Option<RunId>,
        goal: String,
        model: String,
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
    TurnFailed {
        message: String,
        hint: Option<String>,
        retry: bool,
        instead: Vec<ModelId>,
    },
    Paused {
        reason: String,
    },
    Resumed,
    Noted {
        level: Level,
        message: String,
        hint: Option<String>,
    },
    /// `is_told` where the failure before it has its words already.
    End {
        end: RunEnd,
        bill: Bill,
        is_told: bool,
    },
}

/// One tool call and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub call: ToolCall,
    pub risk: Option<Risk>,
    pub stage: Stage,
    pub answer: Option<Answer>,
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
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    pub text: String,
    pub thinking: String,
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

    pub fn entry(&self, id: u64) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        self.entries.get(at)
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
        match &event.body {
            EventBody::RunStarted { goal, model, .. } => {
                self.streaming = Streaming::default();
                self.bill = Bill::default();
                let run = event.scope.run.clone();
                self.push(EntryBody::Goal { run, goal: goal.clone(), model: model.0.clone() });
            }
            EventBody::RunSteered { text } => self.push(EntryBody::Said { text: text.clone() }),
            EventBody::RunPaused { reason } => self.push(EntryBody::Paused { reason: reason.clone() }),
            EventBody::RunResumed => self.push(EntryBody::Resumed),
            EventBody::TurnFinished { turn, text, thinking, calls, citations, usage, cost, .. } => {
                self.streaming = Streaming::default();
                self.bill.usage = self.bill.usage.plus(*usage);
                self.bill.spent = self.bill.spent.plus(*cost);
                let (text, thinking) = (text.trim().to_owned(), thinking.trim().to_owned());
                if !(text.is_empty() && thinking.is_empty() && citations.is_empty()) {
                    let citations = citations.clone();
                    self.push(EntryBody::Turn { turn: *turn, text, thinking, citations });
                }
                for call in calls {
                    self.push(EntryBody::Step(Step::new(call, None, Stage::Proposed)));
                }
            }
            EventBody::TurnFailed { message, hint, retry, usage, cost, instead, .. } => {
                self.streaming = Streaming::default();
                self.bill.usage = self.bill.usage.plus(*usage);
                self.bill.spent = cost.map_or(self.bill.spent, |cost| self.bill.spent.plus(cost));
                let (message, hint, instead) = (message.clone(), hint.clone(), instead.clone());
                self.push(EntryBody::TurnFailed { message, hint, retry: *retry, instead });
            }
            EventBody::TurnDropped { usage, cost, .. } => {
                self.streaming = Streaming::default();
                self.bill.usage = self.bill.usage.plus(*usage);
                self.bill.spent = self.bill.spent.plus(*cost);
            }
            EventBody::ApprovalRequested { approval } => {
                let waiting = Stage::Waiting { approval: approval.id.clone() };
                self.step(&approval.call, |step| {
                    step.risk = Some(approval.risk);
                    step.stage = waiting;
                });
            }
            EventBody::ApprovalAnswered { approval, answer, .. } => self.answered(approval, *answer),
            EventBody::ToolStarted { call, risk } => self.step(call, |step| {
                step.risk = Some(*risk);
                step.stage = Stage::Running;
            }),
            EventBody::ToolFinished { call, result } => self.finished(call, result),
            EventBody::RunEnded { end } => self.ended(end),
            EventBody::Noted { level, message, hint } => {
                self.push(EntryBody::Noted { level: *level, message: message.clone(), hint: hint.clone() });
            }
            EventBody::TextDelta { text } => self.streaming.text.push_str(text),
            EventBody::ThinkingDelta { text } => self.streaming.thinking.push_str(text),
            EventBody::SessionCreated { .. }
            | EventBody::SessionEdited { .. }
            | EventBody::SettingsChanged { .. }
            | EventBody::StatusChanged { .. }
            | EventBody::JournalFailed { .. } => {}
        }
    }

    fn push(&mut self, body: EntryBody) {
        if self.entries.len() >= MOST_ENTRIES {
            self.entries.drain(..MOST_ENTRIES / 4);
        }
        self.entries.push(Entry { id: self.next, revision: 0, body });
        self.next += 1;
    }

    /// Changes the step of this call; appends one where no turn proposed it (`miki do`, a part of a batch).
    fn step(&mut self, call: &ToolCall, change: impl FnOnce(&mut Step)) {
        if let Some((revision, step)) = self.find(|step| step.call.id == call.id) {
            *revision += 1;
            change(step);
        } else {
            let mut step = Step::new(call, None, Stage::Proposed);
            change(&mut step);
            self.push(EntryBody::Step(step));
        }
    }

    fn find(&mut self, wanted: impl Fn(&Step) -> bool) -> Option<(&mut u32, &mut Step)> {
        self.entries.iter_mut().rev().find_map(|entry| match &mut entry.body {
            EntryBody::Step(step) if wanted(step) => Some((&mut entry.revision, step)),
            _ => None,
        })
    }

    fn answered(&mut self, approval: &ApprovalId, answer: Answer) {
        let asks =
            |step: &Step| matches!(&step.stage, Stage::Waiting { approval: asked } if asked == approval);
        if let Some((revision, step)) = self.find(asks) {
            *revision += 1;
            step.stage = Stage::Proposed;
            step.answer = Some(answer);
        }
    }

    fn finished(&mut self, call: &CallId, result: &ExecResult) {
        if let Some((revision, step)) = self.find(|step| step.call.id == *call) {
            *revision += 1;
            step.stage = Stage::Done { result: Box::new(result.clone()) };
        }
    }

    fn ended(&mut self, end: &RunEnd) {
        self.streaming = Streaming::default();
        for entry in &mut self.entries {
            if let EntryBody::Step(step) = &mut entry.body
                && !matches!(step.stage, Stage::Done { .. } | Stage::NotRun | Stage::Running)
            {
                entry.revision += 1;
                step.stage = Stage::NotRun;
            }
        }
        let is_told = match (end, self.entries.last().map(|entry| &entry.body)) {
            (RunEnd::Failed { message, .. }, Some(EntryBody::TurnFailed { message: told, .. })) => {
                message == told
            }
            _ => false,
        };
        self.push(EntryBody::End { end: end.clone(), bill: self.bill, is_told });
    }
}

impl Step {
    fn new(call: &ToolCall, risk: Option<Risk>, stage: Stage) -> Self {
        Self { call: call.clone(), risk, stage, answer: None }
    }

    pub fn picture(&self) -> Option<&PictureView> {
        match &self.stage {
            Stage::Done { result } => result.picture.as_ref(),
            _ => None,
        }
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

/// Where a window loads a stored picture from; nothing where the name is not a blob's.
pub fn picture_url(sha256: &str, platform: Platform) -> Option<String> {
    let origin = match platform {
        Platform::Windows => "http://picture.localhost",
        Platform::Macos | Platform::Linux => "picture://localhost",
    };
    protocol::ids::BlobRef::is_name(sha256).then(|| format!("{origin}/{sha256}"))
}

/// The window a Tauri label names.
pub fn window_of(label: &str) -> Option<Window> {
    match label {
        "dashboard" => Some(Window::Dashboard),
        "chat" => Some(Window::Chat),
        "overlay" => Some(Window::Overlay),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
