//! What `miki run` prints while it follows a run: for a person what the run's transcript adds up to, for a program one
//! event a line.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use fold::Transcript;
use fold::call::{Line, lines};
use fold::export::agents_ends;
use fold::transcript::{Acts, AgentsUse, Bill, EntryBody, EntryId, Reply, Stage, Step};
use fold::way_back::WayBack;
use protocol::budget::Most;
use protocol::citation::Citation;
use protocol::command::{AnswerApproval, StartedRun, SteerRun};
use protocol::contract::About;
use protocol::event::{Event, EventBody, Level, RunEnd};
use protocol::ids::{ModelId, RunId};
use protocol::principal::Surface;
use protocol::run::RunSpec;
use protocol::tool::{
    ASK_HUMAN, Answer, Approval, ApprovalMode, Effect, ExecResult, Grant, Mode, Risk, Source, ToolErrorKind,
    Until,
};
use protocol::turn::Usage;
use protocol::view::Question;
use tokio::time::Instant;

use super::text::{bounded, plain, prose};

mod plan;
mod unanswered;

pub(super) use plan::fault as plan_fault;

/// Before a question is that old, nobody has read it. The windows wait as long.
pub(super) const READING: Duration = Duration::from_millis(500);
/// To whoever can say so in this terminal.
const GO_ON: &str = "type \"go on\" to let it, or stop it with Ctrl-C: ";
/// Names of what was read before, and calls of one question that are told in a line each; all stand in its arguments.
const CALLS: usize = 20;
const BRIEF: Extent = Extent { calls: CALLS, arguments: (1_500, 500), diff_lines: 60, diff_line: (300, 100) };
const WHOLE: Extent = Extent {
    calls: usize::MAX,
    arguments: (usize::MAX, 0),
    diff_lines: usize::MAX,
    diff_line: (usize::MAX, 0),
};

/// How much of a question is shown.
struct Extent {
    calls: usize,
    /// Characters of a call's arguments, at their beginning and at their end.
    arguments: (usize, usize),
    /// Lines of a file's changes, and characters of each.
    diff_lines: usize,
    diff_line: (usize, usize),
}

/// Prints for people or programs, and knows the open question.
pub struct RunPrinter {
    json: bool,
    asks: bool,
    started: StartedRun,
    /// The number of the last event of the session that was told.
    last: u64,
    question: Option<Approval>,
    /// Whose question it is.
    asker: RunId,
    /// The runs that agents below this one started.
    agents: Vec<RunId>,
    /// All of the question was shown, or nothing of it was left out.
    is_shown_whole: bool,
    /// The last one that was answered.
    answered: Option<Approval>,
    /// When it was printed.
    asked: Instant,
    is_paused: bool,
    /// Its user has stopped it here.
    is_stopping: bool,
    /// The cursor stands behind a question's prompt.
    is_at_prompt: bool,
    printed: Printed,
}

/// What was printed for a person so far.
#[derive(Default)]
struct Printed {
    transcript: Transcript,
    /// Entries of it that were looked at.
    seen: usize,
    /// Steps among them without an outcome.
    open: Vec<EntryId>,
    turn: u32,
    /// What was told of the turn under way.
    streamed: String,
    /// The last text did not end its line.
    open_line: bool,
}

impl RunPrinter {
    pub fn new(json: bool, asks: bool, started: &StartedRun) -> Self {
        let (started, asker) = (started.clone(), started.run.clone());
        let printed = Printed::default();
        let asked = Instant::now();
        Self {
            json,
            asks,
            started,
            last: 0,
            question: None,
            asker,
            agents: Vec::new(),
            is_shown_whole: false,
            answered: None,
            asked,
            is_paused: false,
            is_stopping: false,
            is_at_prompt: false,
            printed,
        }
    }

    /// A word of our own, on a line of its own: on a terminal, `^C` or half a sentence may stand before it.
    pub fn note(&mut self, text: &str) {
        let begin = if std::io::stderr().is_terminal() { "\n" } else { "" };
        self.printed.open_line &= begin.is_empty();
        eprintln!("{begin}miki: {text}");
    }

    /// Tells an event, once; answers the run's end and what was done, where this is it.
    pub fn tell(&mut self, event: &Event) -> Option<(RunEnd, Acts)> {
        if self.asks {
            self.hear_of_agents(&event.body);
        }
        if !self.is_new(event) {
            return None;
        }
        let told = self.printed.tell(event);
        if self.json {
            if let Ok(line) = serde_json::to_string(event) {
                super::say(&line);
            }
        } else {
            self.print_beside_the_prompt(&told, &event.body);
        }
        match &event.body {
            EventBody::ApprovalRequested { approval } => {
                let asker = self.started.run.clone();
                self.ask(asker, approval);
            }
            EventBody::RunPaused { .. } => {
                self.is_paused = true;
                if self.asks && self.question.is_none() {
                    eprint!("{GO_ON}");
                }
            }
            EventBody::RunResumed => self.is_paused = false,
            EventBody::ApprovalAnswered { approval, .. } => {
                self.question.take_if(|question| question.id == *approval);
            }
            EventBody::RunEnded { end } if event.scope.run.as_ref() == Some(&self.started.run) => {
                if let (RunEnd::NeedsApproval { .. }, Some(approval)) = (end, &self.question) {
                    unanswered::say(approval, self.json);
                }
                return Some((end.clone(), self.printed.acts()));
            }
            // The run has stopped, and no end of it can be written.
            EventBody::JournalFailed { message, hint } => {
                let end = RunEnd::Failed { message: message.clone(), hint: hint.clone() };
                return Some((end, Acts::default()));
            }
            _ => {}
        }
        None
    }

    /// What agents do while a question is open: not on the prompt's line, and the prompt comes again below it.
    fn print_beside_the_prompt(&mut self, told: &str, body: &EventBody) {
        let is_about_it = matches!(
            body,
            EventBody::ApprovalRequested { .. }
                | EventBody::ApprovalAnswered { .. }
                | EventBody::RunEnded { .. }
        );
        // Elsewhere it is on no prompt's line.
        let is_on_it = self.asks && !is_about_it && !told.is_empty() && std::io::stdout().is_terminal();
        let Some(question) = self.question.as_ref().filter(|_| is_on_it) else { return print(told) };
        if self.is_at_prompt {
            eprintln!();
        }
        print(told);
        self.is_at_prompt = told.ends_with('\n');
        if self.is_at_prompt {
            // Half a word that stands above would count as if it stood here.
            forget_typed();
            eprint!("{}", choices(question));
        }
    }

    fn ask(&mut self, asker: RunId, approval: &Approval) {
        (self.asker, self.question) = (asker, Some(approval.clone()));
        self.is_shown_whole = false;
        self.asked = Instant::now();
        if self.asks {
            forget_typed();
            eprint!("{}", question(approval));
            self.is_at_prompt = true;
        }
    }

    /// Its user stops the run here: nothing more is asked in this terminal.
    pub fn stopping(&mut self) {
        self.note("stopping");
        (self.is_stopping, self.asks, self.question) = (true, false, None);
    }

    /// Whether a question is open.
    pub fn asks(&self) -> bool {
        self.question.is_some()
    }

    /// The agents that work for this run ask here, too, one after the other.
    fn hear_of_agents(&mut self, body: &EventBody) {
        let is_ours = |run: &RunId, agents: &[RunId]| *run == self.started.run || agents.contains(run);
        match body {
            EventBody::SessionChanged { session } => {
                if let (Some(run), Some(parent)) = (&session.last_run, &session.shelf.parent)
                    && is_ours(parent, &self.agents)
                    && !self.agents.contains(&run.id)
                {
                    self.agents.push(run.id.clone());
                }
            }
            EventBody::QuestionsChanged { questions } => {
                let asker = &self.asker;
                let is_of_an_agent = *asker != self.started.run;
                let gone = self.question.take_if(|open| {
                    is_of_an_agent && !questions.iter().any(|question| question.approval.id == open.id)
                });
                if gone.is_some() {
                    self.note("this question is open no more: it was answered elsewhere, or nobody answered in time");
                }
                let mut of_agents = questions.iter().filter(|question| self.agents.contains(&question.run));
                let (of_an_agent, more) = (of_agents.next(), of_agents.count());
                if let (None, Some(Question { run, approval, .. })) = (&self.question, of_an_agent)
                    && self.answered.as_ref().is_none_or(|answered| answered.id != approval.id)
                {
                    let more = match more {
                        0 => String::new(),
                        more => format!("; {more} more after it"),
                    };
                    self.note(&format!("an agent that works for this run asks{more}"));
                    self.ask(run.clone(), approval);
                }
            }
            _ => {}
        }
    }

    /// Whether it is of this run and was not told yet: after a gap, a page may begin with what was.
    fn is_new(&mut self, event: &Event) -> bool {
        let ours = event.scope.run.as_ref().is_none_or(|run| *run == self.started.run)
            && event.scope.session.as_ref().is_none_or(|session| *session == self.started.session);
        match event.position {
            Some(position) if ours && event.scope.session.is_some() => {
                let is_new = position.n > self.last;
                self.last = self.last.max(position.n);
                is_new
            }
            _ => ours,
        }
    }

    /// Whether a typed line lets the paused run go on; a question that is open comes first.
    pub fn goes_on(&self, line: &str) -> bool {
        if self.is_stopping {
            return false;
        }
        let goes_on = self.is_paused && self.question.is_none() && line.trim().eq_ignore_ascii_case("go on");
        if self.is_paused && self.question.is_none() && !goes_on {
            eprint!("not understood\n{GO_ON}");
        }
        goes_on
    }

    /// What a typed line says to the open question, and to the model where it says why not; anything but a clear word asks
    /// again, and so does a word that was typed before the question can have been read.
    pub fn answer(&mut self, line: &str) -> Option<(AnswerApproval, Option<SteerRun>)> {
        let approval = self.question.as_ref()?;
        let read = self.asked.elapsed() >= READING;
        let edited = plan::edited(line, approval).map(|answer| (answer, None));
        let answer = match approval.call.tool == ASK_HUMAN {
            true => in_words(line, approval).map(|answer| (answer, None)),
            false => edited.or_else(|| answer_in(line, approval)),
        };
        let (Some((answer, why)), true) = (answer, read) else {
            let fault = if read { "not understood" } else { "typed before the question could be read" };
            eprint!("{fault}\n{}", choices(approval));
            self.is_at_prompt = true;
            return None;
        };
        // Nothing is allowed that was not shown.
        if answer != Answer::Deny && !self.is_shown_whole {
            self.is_shown_whole = true;
            if let Some(whole) = left_out(approval) {
                self.asked = Instant::now();
                eprint!(
                    "not allowed yet: a part was left out; this is all of it\n{whole}{}",
                    choices(approval)
                );
                return None;
            }
        }
        let approval = self.question.take()?;
        self.answered = Some(approval.clone());
        let run = self.asker.clone();
        let why = why.map(|text| SteerRun { run, text: text.to_owned() });
        Some((AnswerApproval { approval: approval.id, digest: approval.digest, answer }, why))
    }

    /// The last answer was taken.
    pub fn answer_taken(&self) {
        if self.is_paused {
            eprint!("kept until the run goes on; {GO_ON}");
        }
    }

    /// The last answer was not taken: the question is open as before.
    pub fn ask_again(&mut self) {
        self.question = self.answered.take();
        if let Some(question) = &self.question {
            eprint!("{}", choices(question));
        }
    }
}

impl Printed {
    /// What to print for this event; empty if there is nothing to say.
    fn tell(&mut self, event: &Event) -> String {
        self.transcript.fold(event);
        let mut text = self.more_of_the_turn(event);
        if !text.is_empty() {
            self.open_line = !text.ends_with('\n');
        }
        let beside = self.replied(&event.body).or_else(|| self.how_far(&event.body));
        let entries = self.entries() + &beside.unwrap_or_else(|| aside(&event.body));
        let turn_is_over = matches!(event.body, EventBody::TurnFinished { .. });
        if self.open_line && (turn_is_over || !entries.is_empty()) {
            self.open_line = false;
            text.push('\n');
        }
        text + &entries
    }

    /// What a server says of how far its call is; `None` if this is none of that.
    fn how_far(&self, body: &EventBody) -> Option<String> {
        let EventBody::CommandPrinted { call, lines, .. } = body else { return None };
        let tool = &self.transcript.steps().rev().find(|step| step.call.id == *call)?.call.tool;
        let (server, _) = tool.split_once("__")?;
        Some(lines.iter().map(|line| format!("  {}: {}\n", plain(server), plain(&line.text()))).collect())
    }

    /// What a server was told; `None` if this answers none.
    fn replied(&self, body: &EventBody) -> Option<String> {
        let EventBody::ApprovalAnswered { approval, .. } = body else { return None };
        let asked = self.transcript.asked_by_server(approval)?;
        let server = plain(&asked.wanted.server);
        Some(match (asked.said(), &asked.reply) {
            (Some(said), _) => format!("told the server {server}: {}\n", plain(said)),
            (None, Reply::Given(_)) => format!("left out for the server {server}\n"),
            (None, Reply::Declined) => format!("not answered: the server {server}\n"),
            (None, Reply::Nobody | Reply::Open) => {
                format!("not answered: the server {server}; nobody answered in time\n")
            }
        })
    }

    fn acts(&self) -> Acts {
        match self.transcript.entries().last().map(|entry| &entry.body) {
            Some(EntryBody::End { acts, .. }) => *acts,
            _ => Acts::default(),
        }
    }

    /// What came of the model's words since they were told last.
    fn more_of_the_turn(&mut self, event: &Event) -> String {
        let (now, told) = match &event.body {
            EventBody::TurnDelta { .. } | EventBody::TurnSoFar { .. } => {
                (self.transcript.streaming.text.as_str(), self.streamed.as_str())
            }
            EventBody::TurnFinished { turn, text, .. } => {
                self.turn = *turn;
                (text.trim(), self.streamed.trim())
            }
            EventBody::TurnFailed { .. } | EventBody::TurnDropped { .. } | EventBody::RunStarted(_) => {
                ("", "")
            }
            _ => return String::new(),
        };
        let more = match now.strip_prefix(told) {
            Some(more) => prose(more),
            // Some of it was missed: from the beginning, on a line of its own.
            None if self.open_line => format!("\n{}", prose(now)),
            None => prose(now),
        };
        self.streamed = match &event.body {
            EventBody::TurnDelta { .. } | EventBody::TurnSoFar { .. } => now.to_owned(),
            _ => String::new(),
        };
        more
    }

    /// The entries that are new, and the steps that have come to an outcome.
    fn entries(&mut self) -> String {
        let mut told = String::new();
        let (transcript, turn) = (&self.transcript, self.turn);
        self.open.retain(|id| match transcript.entry(*id).map(|entry| &entry.body) {
            Some(EntryBody::Step(one @ Step { stage: Stage::Done { result }, call, .. })) => {
                // What the model says in the end is told with the end.
                if one.has_effect() {
                    told += &step(turn, &call.tool, result);
                }
                false
            }
            Some(EntryBody::Step(Step { stage: Stage::NotRun, .. })) | None => false,
            Some(_) => true,
        });
        for entry in transcript.entries().iter().skip(self.seen) {
            match &entry.body {
                EntryBody::Step(_) => self.open.push(entry.id),
                body => told += &words(body),
            }
        }
        self.seen = transcript.entries().len();
        told
    }
}

/// An entry that is whole from its beginning.
fn words(body: &EntryBody) -> String {
    match body {
        EntryBody::Goal { goal, .. } => format!("goal: {}\n", plain(goal)),
        EntryBody::Said { text } => format!("you: {}\n", plain(text)),
        // Its text was told as it came.
        EntryBody::Turn { citations, .. } => sources(citations),
        // It is asked whole beside the entries, and so is its answer told.
        EntryBody::Step(_) | EntryBody::Asked(_) => String::new(),
        EntryBody::TurnFailed { message, hint } => {
            format!("! {}{}; trying again\n", plain(message), hinted(hint.as_deref()))
        }
        EntryBody::Paused { reason, .. } => format!("paused: {}\n", plain(reason)),
        EntryBody::Resumed => "going on\n".into(),
        EntryBody::BudgetNear { bound } => {
            format!("budget: most of it is used, {}\n", plain(&bound.to_string()))
        }
        EntryBody::Noted { level, message, hint } => {
            let mark = match level {
                Level::Info => "note",
                Level::Warning => "warning",
                Level::Error => "error",
            };
            format!("{mark}: {}{}\n", plain(message), hinted(hint.as_deref()))
        }
        EntryBody::End { end, bill, suggestions, report, acts, way_back, repeats: _ } => {
            let report = report.as_deref().map(plan::report).unwrap_or_default();
            ended(end, *acts)
                + &what_was_done(*acts)
                + &report
                + &ways_on(suggestions)
                + &way_to_undo(way_back)
                + &sum(bill)
        }
    }
}

/// How what was changed is taken back; an empty text if nothing can be.
fn way_to_undo(WayBack { run, back, stays, .. }: &WayBack) -> String {
    let (Some(run), false) = (run, back.is_empty()) else { return String::new() };
    let stays = match stays.len() {
        0 => String::new(),
        1 => "; 1 other act stays".to_owned(),
        n => format!("; {n} other acts stay"),
    };
    let changes = match back.len() {
        1 => "the change".to_owned(),
        n => format!("{n} changes"),
    };
    format!("to take {changes} back: miki undo {}{stays}\n", plain(run.as_str()))
}

/// What is no entry of a transcript.
fn aside(body: &EventBody) -> String {
    match body {
        EventBody::RunStarted(spec) => conditions(spec),
        EventBody::ApprovalAnswered { answer, by, .. } => answered(answer, *by),
        EventBody::JournalFailed { message, hint } => {
            format!("error: {}{}\n", plain(message), hinted(hint.as_deref()))
        }
        _ => String::new(),
    }
}

fn conditions(spec: &RunSpec) -> String {
    let mode = match spec.mode {
        Mode::Plan => "only looking",
        Mode::Act => "acting",
    };
    let approval = match spec.approval {
        ApprovalMode::Ask => "asking about every change",
        ApprovalMode::Thread => "asking once a tool",
        ApprovalMode::Auto => "asking nothing",
    };
    let search = if spec.search { ", searching the web" } else { "" };
    let Most { minutes, tokens, cost, .. } = spec.most;
    let bounds = [
        minutes.map(|minutes| format!(", {minutes} minutes")),
        tokens.map(|tokens| format!(", {tokens} tokens")),
        cost.map(|cost| format!(", ${cost}")),
    ];
    let bounds = bounds.into_iter().flatten().collect::<String>();
    let forecast = spec.forecast.map(|forecast| format!("{forecast}\n")).unwrap_or_default();
    let (model, steps) = (plain(&spec.model.0), spec.max_steps);
    format!("{model}, {mode}, {approval}{search}, at most {steps} steps{bounds}\n{forecast}")
}

fn answered(answer: &Answer, by: Surface) -> String {
    let place = match by {
        Surface::Deadline => return "not allowed: nobody answered in time\n".into(),
        Surface::Dashboard => "in the dashboard",
        Surface::Chat => "in the chat widget",
        Surface::Overlay => "in the overlay",
        Surface::Tray => "in the tray menu",
        Surface::Cli => "on the command line",
    };
    let what = match answer {
        Answer::Deny => "denied",
        Answer::Once => "allowed once",
        Answer::Thread => "allowed for the session",
        Answer::Until { until: Until::Run } => "allowed for the run",
        Answer::Until { until: Until::Day } => "allowed for a day",
        Answer::Until { until: Until::Always } => "allowed from now on",
        Answer::Edit { .. } => "allowed, changed",
    };
    format!("{what}, {place}\n")
}

/// What the run took; an empty text if no turn of it began.
fn sum(bill: &Bill) -> String {
    let Usage { input, output, thinking, .. } = bill.usage;
    let its_own = match bill.spent.turns {
        0 => String::new(),
        _ => format!("cost: {}; tokens: {input} in, {} out\n", bill.spent, output + thinking),
    };
    let of_agents = bill.agents.map(|AgentsUse { tokens, cost, ends }| {
        let cost = cost.map(|cost| format!("; cost: ${cost}")).unwrap_or_default();
        format!("its agents: {}{cost}; tokens: {tokens}\n", agents_ends(ends))
    });
    its_own + &of_agents.unwrap_or_default()
}

/// ` 3  click         clicked Save at 512,40  (confirmed, 0.4 s)`
fn step(number: u32, tool: &str, result: &ExecResult) -> String {
    let what = match &result.error {
        // Its words are for the model.
        Some(error) if error.kind == ToolErrorKind::Denied => "you said no".to_owned(),
        Some(error) if result.summary.is_empty() => plain(&error.message),
        Some(error) if !result.summary.contains(&error.message) => {
            format!("{}: {}", plain(&result.summary), plain(&error.message))
        }
        _ => plain(&result.summary),
    };
    let effect = match result.effect {
        Effect::Confirmed => "confirmed",
        Effect::Unverified => "unverified",
        Effect::NoChange => "no change",
        Effect::Refused => "refused",
        Effect::Unknown => "unknown",
    };
    let tenths = (result.took.0 + 50) / 100;
    format!("{number:>3}  {:<13} {what}  ({effect}, {}.{} s)\n", plain(tool), tenths / 10, tenths % 10)
}

/// ` [1] Title (host) https://...`: the address as it is, to be copied.
fn sources(citations: &[Citation]) -> String {
    let line = |(number, citation): (usize, &Citation)| {
        let host = citation.host().unwrap_or_default();
        let (name, url) = (plain(citation.name()), plain(&citation.url));
        format!(" [{number}] {name} ({}) {url}\n", plain(host))
    };
    (1..).zip(citations).map(line).collect()
}

/// `  try: --model gemini/gemini-3-flash-preview`, a line for each.
fn ways_on(suggestions: &[ModelId]) -> String {
    suggestions.iter().map(|model| format!("  try: --model {}\n", plain(&model.0))).collect()
}

/// Where that is not all that was tried; whatever the model says.
fn what_was_done(acts: Acts) -> String {
    let Acts { done, refused, in_doubt, .. } = acts;
    match (acts.all_done(), in_doubt) {
        (true, _) => String::new(),
        (false, 0) => format!("actions: {done} carried out, {refused} refused\n"),
        (false, _) => {
            format!("actions: {done} carried out, {refused} refused, {in_doubt} not seen to work\n")
        }
    }
}

fn ended(end: &RunEnd, acts: Acts) -> String {
    match end {
        RunEnd::Completed { summary } if acts.came_to_nothing() => {
            format!("ended, nothing done; the model says: {}\n", plain(summary))
        }
        RunEnd::Completed { summary } => format!("done: {}\n", plain(summary)),
        RunEnd::Failed { message, hint } => {
            format!("failed: {}{}\n", plain(message), hinted(hint.as_deref()))
        }
        RunEnd::Stopped { reason } => format!("stopped: {}\n", plain(reason)),
        // Said with the call, on stderr.
        RunEnd::NeedsApproval { .. } => String::new(),
        RunEnd::Interrupted { reason: None } => "interrupted: the program ended in the middle of it\n".into(),
        RunEnd::Interrupted { reason: Some(reason) } => format!("interrupted: {}\n", plain(reason)),
    }
}

fn hinted(hint: Option<&str>) -> String {
    hint.map(|hint| format!(" ({})", plain(hint))).unwrap_or_default()
}

/// What is asked, with what decides at the end of it: however long the rest is, that stands above the cursor.
fn question(approval: &Approval) -> String {
    shown(approval) + &choices(approval)
}

/// All of what is asked, where a question leaves a part of it out.
fn left_out(approval: &Approval) -> Option<String> {
    let whole = shown_whole(approval);
    (whole != shown(approval)).then_some(whole)
}

/// All that a question is about.
pub(super) fn shown_whole(approval: &Approval) -> String {
    shown_to(approval, &WHOLE)
}

/// What a question is about: of what is long its beginning and its end.
fn shown(approval: &Approval) -> String {
    shown_to(approval, &BRIEF)
}

fn shown_to(approval: &Approval, most: &Extent) -> String {
    let read = read_before(approval);
    if let Some(shown) = plan::shown(approval) {
        return shown + &read;
    }
    if approval.call.tool == ASK_HUMAN {
        // It has nothing but the question. A model may say that it asks for somebody else.
        let asks = plain(&approval.reason);
        return match &*approval.about {
            About::Call { .. } => format!("\n? the agent asks: “{asks}”\n{read}"),
            _ => format!("\n? {asks}\n{read}"),
        };
    }
    let window = approval.window.as_ref().filter(|_| approval.call.goes_to_the_focus());
    let goes_to = window.map_or_else(String::new, |window| {
        format!("  goes to: {} ({})\n", plain(&window.title), plain(&window.app))
    });
    let calls = lines(approval);
    let shown = calls.iter().take(most.calls).map(|Line { tool, about, goes_to }| {
        let there = if goes_to.is_empty() { String::new() } else { format!(" → {}", plain(goes_to)) };
        format!("? {} {}{there}\n", plain(tool), plain(about))
    });
    let more = calls.len().saturating_sub(most.calls);
    let more = if more == 0 { String::new() } else { format!("? and {more} more\n") };
    let bare = match &*approval.about {
        About::Call { unconfined: true, .. } => {
            "! nothing confines commands here: this one can do whatever you can\n"
        }
        About::Call { .. } | About::Plan { .. } | About::Result { .. } | About::Elicitation(_) => "",
    };
    // The arguments all the same: nothing of a call is hidden by how long its changes are.
    let what = changed_lines(approval, most).unwrap_or_default()
        + &format!("  {}\n", arguments(approval, most.arguments));
    format!(
        "\n{bare}{}{more}  {}\n{goes_to}{read}{what}",
        shown.collect::<String>(),
        plain(&plan::reason(approval))
    )
}

/// The lines that a file would change by.
fn changed_lines(approval: &Approval, most: &Extent) -> Option<String> {
    let About::Call { diff: Some(diff), .. } = &*approval.about else { return None };
    let line = |line: &str| format!("  {}\n", bounded(line, most.diff_line.0, most.diff_line.1));
    let shown: String = diff.lines().take(most.diff_lines).map(line).collect();
    let more = diff.lines().count().saturating_sub(most.diff_lines);
    Some(if more == 0 {
        shown
    } else {
        format!("{shown}  and {more} more lines: the dashboard shows them\n")
    })
}

/// What may have led the model to this, the newest first.
fn read_before(approval: &Approval) -> String {
    let name = |source: &Source| match source {
        Source::Page { host: Some(name) } | Source::Application { name } | Source::Server { name } => {
            plain(name)
        }
        Source::File { path } => plain(path),
        Source::Page { host: None } => "pages in the browser".into(),
        Source::Screen => "the screen".into(),
        Source::Clipboard => "the clipboard".into(),
        Source::Script => "a script's output".into(),
        Source::Search => "a web search".into(),
        Source::Terminal => "a command's output".into(),
        Source::Agenda => "calendars and reminders".into(),
        Source::Agent => "another agent".into(),
        Source::Earlier => "earlier in this session".into(),
    };
    let (read, more) = (approval.read.iter().rev().take(CALLS), approval.read.len().saturating_sub(CALLS));
    let read = read.map(name).collect::<Vec<_>>().join(", ");
    match (read.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("  it had read before: {read}\n"),
        (false, more) => format!("  it had read before: {read}, and {more} more\n"),
    }
}

fn arguments(approval: &Approval, (head, tail): (usize, usize)) -> String {
    bounded(&approval.call.arguments.to_string(), head, tail)
}

fn choices(approval: &Approval) -> String {
    if approval.call.tool == ASK_HUMAN {
        let of = match &*approval.about {
            About::Elicitation(wanted) => match wanted.kind.to_string() {
                kind if kind.is_empty() => kind,
                kind => format!(", {}", plain(&kind)),
            },
            About::Call { .. } | About::Plan { .. } | About::Result { .. } => String::new(),
        };
        return format!("  your answer, on one line{of} ([-] for none): ");
    }
    if let Some(choices) = plan::choices(approval) {
        return choices;
    }
    let risk = risk(approval);
    let mut longer = approval
        .for_run()
        .map_or_else(String::new, |grants| format!("; {}: [r] for this run", all_like_it(&grants)));
    if approval.for_session().is_some() {
        longer.push_str(", [t] for the whole session");
    }
    format!(
        "  {} {risk}: allow? [y]es, this once; [n]o, and why if you like{longer}: ",
        plain(&approval.call.tool)
    )
}

/// How grave a call is, after its name.
pub(super) fn risk(approval: &Approval) -> &'static str {
    match approval.risk {
        Risk::Observe => "only looks",
        Risk::Navigate => "moves about",
        Risk::Edit if approval.call.can_be_taken_back() && approval.call.may_not_be_kept() => {
            "changes something, which can perhaps be taken back"
        }
        Risk::Edit if approval.call.can_be_taken_back() => "changes something, which can be taken back",
        Risk::Edit => "changes something, which Miki cannot take back",
        Risk::Consequential => "cannot be undone",
    }
}

/// What a yes for longer covers: the tools, and in which application.
pub(super) fn all_like_it(grants: &[&Grant]) -> String {
    let tools: Vec<_> = grants.iter().map(|grant| plain(&grant.tool)).collect();
    let app = grants.first().and_then(|grant| grant.app.as_ref());
    let place = app.map(|app| format!(" in {}", plain(app))).unwrap_or_default();
    format!("{}{place}", tools.join(", "))
}

/// Nobody has seen the question when they typed what is waiting.
pub(super) fn forget_typed() {
    #[cfg(unix)]
    if let Err(error) = nix::sys::termios::tcflush(std::io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH) {
        tracing::debug!(%error, "what was typed before stays");
    }
}

/// The answer, and behind a no the user's words for the model.
fn answer_in<'a>(line: &'a str, approval: &Approval) -> Option<(Answer, Option<&'a str>)> {
    let line = line.trim();
    let (word, why) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
    let why = Some(why.trim()).filter(|why| !why.is_empty());
    match (word.to_lowercase().as_str(), why) {
        ("y" | "yes", None) => Some((Answer::Once, None)),
        ("n" | "no", why) => Some((Answer::Deny, why)),
        ("t" | "thread", None) if approval.for_session().is_some() => Some((Answer::Thread, None)),
        ("r" | "run", None) if approval.for_run().is_some() => {
            Some((Answer::Until { until: Until::Run }, None))
        }
        _ => None,
    }
}

/// What a line answers to an agent's own question; `None` if it is empty.
fn in_words(line: &str, approval: &Approval) -> Option<Answer> {
    match line.trim() {
        "" => None,
        "-" => Some(Answer::Deny),
        words => {
            let mut arguments = approval.call.arguments.clone();
            arguments["answer"] = words.into();
            Some(Answer::Edit { arguments })
        }
    }
}

/// As it comes, without waiting for the line's end. A closed pipe is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests;
