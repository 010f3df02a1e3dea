//! `miki run "GOAL"`: a run without a window, followed to its end.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};

use clap::{Args, ValueEnum};
use protocol::command::{
    AnswerApproval, OpenSession, RunOverrides, StartRun, StartedRun, StopRun, Unattended,
};
use protocol::event::{Event, EventBody, RunEnd};
use protocol::ids::{ApprovalId, ModelId, Seq};
use protocol::tool::{Answer, Approval, ApprovalMode, Mode, Risk};
use protocol::{ErrorCode, ErrorView};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::interrupt;
use super::story::{Story, plain};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Work on a goal and follow it to its end
///
/// Ctrl-C stops the run; a second Ctrl-C leaves at once.
#[derive(Debug, Args)]
pub struct Run {
    /// What you want done, in your own words
    #[arg(value_parser = goal)]
    goal: String,
    /// Print one event a line as JSON, for programs (docs/EVENTS.md)
    #[arg(long)]
    json: bool,
    /// plan only looks, act does it
    #[arg(long, value_enum)]
    mode: Option<ModeName>,
    /// ask about every change, once a tool (thread), or never (auto)
    #[arg(long, value_enum)]
    approval: Option<ApprovalName>,
    /// The model, for example gemini/gemini-3-flash-preview
    #[arg(long, value_name = "P/ID", value_parser = model)]
    model: Option<ModelId>,
    /// Another server that speaks the model's wire protocol
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Model turns before the run is ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    max_steps: Option<u32>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeName {
    Plan,
    Act,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ApprovalName {
    Ask,
    Thread,
    Auto,
}

#[derive(Debug, thiserror::Error)]
enum WrongArgument {
    #[error("the goal is empty")]
    EmptyGoal,
    #[error("not PROVIDER/ID, for example gemini/gemini-3-flash-preview")]
    NoModel,
}

fn goal(text: &str) -> Result<String, WrongArgument> {
    let text = text.trim();
    if text.is_empty() { Err(WrongArgument::EmptyGoal) } else { Ok(text.to_owned()) }
}

fn model(text: &str) -> Result<ModelId, WrongArgument> {
    match text.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(ModelId(text.to_owned())),
        _ => Err(WrongArgument::NoModel),
    }
}

impl Run {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        // Whoever cannot be asked here is not waited for.
        let asks = !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let mut interrupts = interrupt::listen()?;
        let link = Link::open(home).await?;
        let outcome = self.follow(&link, asks, &mut interrupts).await;
        if matches!(outcome, Ok(Followed::LeftAtOnce)) {
            link.release_all();
            return Ok(Exit::Stopped);
        }
        link.close().await;
        match outcome? {
            Followed::Ended(end) => Ok(Exit::of_run(&end)),
            Followed::LeftAtOnce => Ok(Exit::Stopped),
        }
    }

    async fn follow(
        &self,
        link: &Link,
        asks: bool,
        interrupts: &mut mpsc::Receiver<()>,
    ) -> Result<Followed, ErrorView> {
        // Before the start, so that its first event is not missed.
        let mut events = link.subscribe().await?;
        let started = link.call(self.command(asks)).await?;
        let mut seen = Seen { last: None };
        let mut teller = Teller::new(self.json, asks, &started);
        let mut lines = asks.then(lines_of_stdin);
        let mut stopping = false;
        loop {
            let event = tokio::select! {
                biased;
                Some(()) = interrupts.recv() => {
                    if stopping {
                        return Ok(Followed::LeftAtOnce);
                    }
                    stopping = true;
                    teller.note("stopping");
                    // Awaited together with the events, which hold the end.
                    match link.call(StopRun { run: Some(started.run.clone()) }).await {
                        Ok(()) => {}
                        // It ended by itself in this moment.
                        Err(error) if error.code == ErrorCode::NotFound => {}
                        Err(error) => return Err(error),
                    }
                    continue;
                }
                Some(line) = next_line(&mut lines), if teller.question().is_some() => {
                    if let Some(answer) = teller.answer(&line) {
                        match link.call(answer).await {
                            Ok(()) => {}
                            Err(error) => super::say_error(&error),
                        }
                    }
                    continue;
                }
                event = events.recv() => event,
            };
            let event = match event {
                Ok(event) => event,
                // The next one shows the gap, which is then filled.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => {
                    let gone = ErrorView::new(
                        ErrorCode::Unavailable,
                        "the running miki went away in the middle of the run",
                    );
                    return Err(gone.with_hint("start miki: it shows how far the run came"));
                }
            };
            for event in seen.whole(link, &started, event).await? {
                if lines.is_some() && matches!(event.body, EventBody::ApprovalRequested { .. }) {
                    // What was typed before the question is not its answer.
                    while lines.as_mut().is_some_and(|lines| lines.try_recv().is_ok()) {}
                }
                if let Some(end) = teller.tell(&event) {
                    return Ok(Followed::Ended(end));
                }
            }
        }
    }

    fn command(&self, asks: bool) -> StartRun {
        StartRun {
            goal: self.goal.clone(),
            session: None,
            overrides: RunOverrides {
                mode: self.mode.map(|mode| match mode {
                    ModeName::Plan => Mode::Plan,
                    ModeName::Act => Mode::Act,
                }),
                approval: self.approval.map(|approval| match approval {
                    ApprovalName::Ask => ApprovalMode::Ask,
                    ApprovalName::Thread => ApprovalMode::Thread,
                    ApprovalName::Auto => ApprovalMode::Auto,
                }),
                model: self.model.clone(),
                base_url: self.base_url.clone(),
                max_steps: self.max_steps,
                unattended: if asks { Unattended::Wait } else { Unattended::End },
            },
        }
    }
}

enum Followed {
    Ended(RunEnd),
    /// By a second Ctrl-C.
    LeftAtOnce,
}

/// Sees gaps in the numbers and fills them from the journal.
struct Seen {
    last: Option<Seq>,
}

impl Seen {
    async fn whole(
        &mut self,
        link: &Link,
        started: &StartedRun,
        event: Event,
    ) -> Result<Vec<Event>, ErrorView> {
        let Some(last) = self.last else {
            self.last = Some(event.seq);
            return Ok(vec![event]);
        };
        let durable = event.body.is_durable();
        // A passing event carries the number of the last durable one; that one must have been seen.
        let next = if durable { event.seq.0 } else { event.seq.0 + 1 };
        if next <= last.0 + 1 {
            self.last = Some(event.seq.max(last));
            return Ok(vec![event]);
        }
        let history = link.call(OpenSession { session: started.session.clone() }).await?;
        let mut missed: Vec<Event> =
            history.events.into_iter().filter(|one| one.seq > last && one.seq.0 < next).collect();
        self.last = Some(event.seq);
        missed.push(event);
        Ok(missed)
    }
}

/// Tells people or programs what happens, and knows the open question.
struct Teller {
    json: bool,
    asks: bool,
    started: StartedRun,
    story: Story,
    open: HashMap<ApprovalId, Approval>,
    question: Option<Approval>,
}

impl Teller {
    fn new(json: bool, asks: bool, started: &StartedRun) -> Self {
        Self {
            json,
            asks,
            started: started.clone(),
            story: Story::default(),
            open: HashMap::new(),
            question: None,
        }
    }

    fn note(&mut self, text: &str) {
        eprintln!("miki: {text}");
    }

    fn question(&self) -> Option<&Approval> {
        self.question.as_ref()
    }

    /// The end, where this event is it.
    fn tell(&mut self, event: &Event) -> Option<RunEnd> {
        let ours = event.scope.run.as_ref().is_none_or(|run| *run == self.started.run)
            && event.scope.session.as_ref().is_none_or(|session| *session == self.started.session);
        if !ours {
            return None;
        }
        if self.json {
            if let Ok(line) = serde_json::to_string(event) {
                super::say(&line);
            }
        } else {
            print(&self.story.tell(event));
        }
        match &event.body {
            EventBody::ApprovalRequested { approval } => {
                self.open.insert(approval.id.clone(), approval.clone());
                if self.asks {
                    self.question = Some(approval.clone());
                    eprint!("{}", question(approval));
                }
            }
            EventBody::ApprovalAnswered { approval, .. }
                if self.question.as_ref().is_some_and(|question| question.id == *approval) =>
            {
                self.question = None;
            }
            EventBody::RunEnded { end } if event.scope.run.as_ref() == Some(&self.started.run) => {
                if let RunEnd::NeedsApproval { approval } = end {
                    self.say_what_was_asked(approval);
                }
                return Some(end.clone());
            }
            _ => {}
        }
        None
    }

    fn say_what_was_asked(&self, id: &ApprovalId) {
        let what = self.open.get(id).map_or_else(
            || id.to_string(),
            |approval| {
                format!(
                    "{} {} ({})",
                    plain(&approval.call.tool),
                    plain(&approval.call.arguments.to_string()),
                    plain(&approval.reason)
                )
            },
        );
        eprintln!("miki: needs an approval: {what}");
        eprintln!(
            "  run it at a terminal to be asked, or with --approval thread or --approval auto, or open the app with: miki"
        );
    }

    /// What a typed line says to the open question; anything but a clear word asks again.
    fn answer(&mut self, line: &str) -> Option<AnswerApproval> {
        let approval = self.question.as_ref()?;
        let answer = match answer_in(line, approval.risk) {
            Some(answer) => answer,
            None => {
                eprint!("{}", choices(approval.risk));
                return None;
            }
        };
        let approval = self.question.take()?;
        Some(AnswerApproval { approval: approval.id, digest: approval.digest, answer })
    }
}

fn answer_in(line: &str, risk: Risk) -> Option<Answer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Once),
        "n" | "no" => Some(Answer::Deny),
        "t" | "thread" if risk < Risk::Consequential => Some(Answer::Thread),
        _ => None,
    }
}

fn question(approval: &Approval) -> String {
    format!(
        "\n? {} {}\n  {}\n{}",
        plain(&approval.call.tool),
        plain(&approval.call.arguments.to_string()),
        plain(&approval.reason),
        choices(approval.risk)
    )
}

fn choices(risk: Risk) -> &'static str {
    if risk < Risk::Consequential {
        "  allow? [y]es, this once; [n]o; [t]his tool for the whole session: "
    } else {
        "  allow? [y]es, this once; [n]o: "
    }
}

/// As it comes, without waiting for the line's end. A closed pipe is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

async fn next_line(lines: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => None,
    }
}

/// A thread of its own: reading a terminal cannot be called off.
fn lines_of_stdin() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_is_an_answer() {
        assert_eq!(answer_in(" Yes\n", Risk::Edit), Some(Answer::Once));
        assert_eq!(answer_in("n", Risk::Edit), Some(Answer::Deny));
        assert_eq!(answer_in("t", Risk::Edit), Some(Answer::Thread));
        for unclear in ["", "j", "yy", "ok", "1"] {
            assert_eq!(answer_in(unclear, Risk::Edit), None, "{unclear}");
        }
    }

    #[test]
    fn what_cannot_be_undone_is_never_allowed_for_the_session() {
        assert_eq!(answer_in("t", Risk::Consequential), None);
        assert!(!choices(Risk::Consequential).contains("session"));
    }
}
