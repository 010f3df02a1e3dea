//! `miki run "GOAL"`: a run without a window, followed to its end.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use fold::transcript::Acts;
use protocol::command::{
    Recording, ResumeRun, RunOverrides, StartRun, StartedRun, StopRun, Subscribe, Unattended,
};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, Seq, StreamId};
use protocol::tool::{ApprovalMode, Mode};
use protocol::turn::Usd;
use protocol::{ErrorCode, ErrorView};
use tokio::sync::mpsc;

use super::interrupt;
use super::run_printer::{RunPrinter, plan_fault};
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
    /// ask before every edit (ask; thread offers longer yeses), or only before something may be carried away (auto)
    #[arg(long, value_enum)]
    approval: Option<ApprovalName>,
    /// The model, for example gemini/gemini-3-flash-preview
    #[arg(long, value_name = "P/ID", value_parser = model)]
    model: Option<ModelId>,
    /// Another server that speaks the model's wire protocol
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Model turns after which the run asks whether it may have as many again; where nobody can be asked, it ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    max_steps: Option<u32>,
    /// The same of minutes of work; 0 for no bound
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_080))]
    max_minutes: Option<u32>,
    /// The same of tokens, cached ones too; 0 for no bound
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// The same of US dollars, as far as prices are known, for example 0.50; 0 for no bound
    #[arg(long, value_name = "USD")]
    max_cost: Option<Usd>,
    /// Act only on this application, by part of its name; may be given more than once
    #[arg(long, value_name = "APP")]
    only_app: Vec<String>,
    /// The folder that its files and commands are confined to (the setting `space`, where none is named)
    #[arg(long, value_name = "FOLDER", value_parser = absolute)]
    space: Option<String>,
    /// Let the model propose no plan: every change is asked about
    #[arg(long)]
    no_plan: bool,
    /// Give it no tools but those to start other agents, wait for them and stop them: it only conducts, they do the work
    #[arg(long)]
    conductor: bool,
    /// Let it go on by itself at the app's next start if Miki ends in the middle of it
    #[arg(long)]
    carry_on: bool,
    /// Let the provider search the web by itself; what it found is listed with the answer
    #[arg(long)]
    search: bool,
    /// Write what the model says to a new file; no key and no picture is in it
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    record: Option<String>,
    /// Let the model say what it said in a recording: needs neither key nor network
    #[arg(long, value_name = "FILE", value_parser = absolute, conflicts_with_all = ["record", "model", "base_url"])]
    replay: Option<String>,
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
pub(super) enum WrongArgument {
    #[error("the goal is empty")]
    EmptyGoal,
    #[error("not PROVIDER/ID, for example gemini/gemini-3-flash-preview")]
    NoModel,
}

fn goal(text: &str) -> Result<String, WrongArgument> {
    let text = text.trim();
    if text.is_empty() { Err(WrongArgument::EmptyGoal) } else { Ok(text.to_owned()) }
}

pub(super) fn model(text: &str) -> Result<ModelId, WrongArgument> {
    match text.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(ModelId(text.to_owned())),
        _ => Err(WrongArgument::NoModel),
    }
}

/// The engine may be another process, with another current folder.
fn absolute(file: &str) -> std::io::Result<String> {
    Ok(std::path::absolute(file)?.to_string_lossy().into_owned())
}

impl Run {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        // Whoever cannot be asked here is not waited for.
        let asks = !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let mut interrupts = interrupt::listen()?;
        let begun = Link::open_with(home, self.command(asks), &mut interrupts).await?;
        let Some((link, started)) = begun else { return Ok(Exit::Stopped) };
        let outcome = match started {
            Some(Ok(started)) => self.follow(&link, started, asks, &mut interrupts).await,
            Some(Err(error)) => Err(error),
            None => Ok(Followed::NeverBegan),
        };
        if matches!(outcome, Ok(Followed::LeftAtOnce)) {
            link.release_all();
            return Ok(Exit::Stopped);
        }
        link.leave(&mut interrupts).await;
        match outcome? {
            Followed::Ended(end, acts) => Ok(Exit::of_run(&end, acts)),
            Followed::NeverBegan | Followed::LeftAtOnce => Ok(Exit::Stopped),
        }
    }

    async fn follow(
        &self,
        link: &Link,
        started: StartedRun,
        asks: bool,
        interrupts: &mut mpsc::Receiver<()>,
    ) -> Result<Followed, ErrorView> {
        // From the beginning of the session, which is the run's own: no event is missed, however late this comes.
        let streams = Some(vec![StreamId::of_session(&started.session)]);
        let mut events = link.subscribe(Subscribe { streams, after: Some(Seq(0)) }).await?;
        let mut printer = RunPrinter::new(self.json, asks, &started);
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
                    printer.stopping();
                    let stop = link.call(StopRun { run: Some(started.run.clone()) });
                    match interrupt::unless(interrupts, stop).await {
                        None => return Ok(Followed::LeftAtOnce),
                        Some(Ok(())) => {}
                        // It ended by itself in this moment.
                        Some(Err(error)) if error.code == ErrorCode::NotFound => {}
                        Some(Err(error)) => return Err(error),
                    }
                    continue;
                }
                // Always, so that no line is kept until there is a question.
                Some(line) = next_line(&mut lines) => {
                    if printer.goes_on(&line) {
                        if let Err(error) = link.call(ResumeRun { run: Some(started.run.clone()) }).await {
                            super::say_error(&error);
                        }
                    } else if let Some((answer, why)) = printer.answer(&line) {
                        let said = async {
                            if let Some(why) = why {
                                link.call(why).await?;
                            }
                            link.call(answer).await
                        };
                        match said.await {
                            Ok(_) => printer.answer_taken(),
                            Err(error) => {
                                let error_code = error.code;
                                super::say_error(&plan_fault(error));
                                if [ErrorCode::Busy, ErrorCode::BadRequest].contains(&error_code) {
                                    printer.ask_again();
                                }
                            }
                        }
                    }
                    continue;
                }
                event = events.next() => event,
            };
            let event = match event {
                Some(event) => event?,
                None => {
                    let gone = ErrorView::new(
                        ErrorCode::Unavailable,
                        "the running miki went away in the middle of the run",
                    );
                    return Err(gone.with_hint(match printer.asks() {
                        true => {
                            "its question is kept: start miki, and answer it there or with miki approvals"
                        }
                        false => "start miki: it shows how far the run came",
                    }));
                }
            };
            if let Some((end, acts)) = printer.tell(&event) {
                return Ok(Followed::Ended(end, acts));
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
                search: self.search.then_some(true),
                model: self.model.clone(),
                base_url: self.base_url.clone(),
                max_steps: self.max_steps,
                max_minutes: self.max_minutes,
                max_tokens: self.max_tokens,
                max_cost: self.max_cost,
                only_apps: (!self.only_app.is_empty()).then(|| self.only_app.clone()),
                unattended: if asks { Unattended::Wait } else { Unattended::End },
                plan: self.no_plan.then_some(false),
                space: self.space.clone(),
                groups: None,
                conducts: self.conductor,
                carry_on: self.carry_on.then_some(true),
                goes_on: false,
                recording: match (&self.record, &self.replay) {
                    (Some(file), _) => Some(Recording::Record(file.clone())),
                    (None, Some(file)) => Some(Recording::Replay(file.clone())),
                    (None, None) => None,
                },
            },
        }
    }
}

enum Followed {
    Ended(RunEnd, Acts),
    /// Called off while the engine or the keychain was waited for.
    NeverBegan,
    /// By a second Ctrl-C.
    LeftAtOnce,
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
