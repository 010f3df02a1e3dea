//! Carries scripts out, each in a run of its own, and finds out what came of it.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun, StopRun, WindowAction};
use protocol::contract::About;
use protocol::ids::RunId;
use protocol::tool::{Answer, Approval, ApprovalMode, Until};
use serde_json::Value;

use super::field::Field;
use super::mind::BESIDE;
use super::{Effect, Event, Program, Script, User, Verdict, Way, is_accepted};

/// Carries the scripts out in all their modes, but for those that `wanted` refuses, on as many stages; `told` hears of
/// each as it comes.
///
/// # Errors
/// Where a stage does not come up.
pub fn run(
    scripts: &[Script],
    stages: usize,
    wanted: impl Fn(&Script, Way) -> bool,
    told: impl Fn(&Verdict) + Sync,
) -> Result<Vec<Verdict>> {
    let each = scripts.iter().flat_map(|script| script.ways().iter().map(move |way| (script, *way)));
    let waiting: VecDeque<(&Script, Way)> = each.filter(|(script, way)| wanted(script, *way)).collect();
    let waiting = Mutex::new(waiting);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || -> Result<Vec<Verdict>> {
        let mut field = Field::open()?;
        let mut came = Vec::new();
        while let Some((script, way)) = next() {
            let verdict = match carry_out(&mut field, script, way) {
                Ok(verdict) => verdict,
                Err(error) => {
                    field = Field::open()?;
                    Verdict::broken_off(script, way, &format!("{error:#}"))
                }
            };
            told(&verdict);
            came.push(verdict);
        }
        Ok(came)
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..stages).map(|_| scope.spawn(work)).collect();
        let ended = started.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(ended.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    })
}

fn carry_out(field: &mut Field, script: &Script, way: Way) -> Result<Verdict> {
    let began = Instant::now();
    if script.kind == super::Kind::Commands {
        field.folder.reset()?;
    }
    field.begin(script.front, script.is_locked)?;
    let has_beside = !script.beside.is_empty();
    if has_beside {
        field.dashboard(WindowAction::Show)?;
    }
    let mut trial = Trial { script, questions: 0, own: Vec::new(), said: Vec::new() };
    let beside = has_beside.then(|| field.start(BESIDE, &script.beside, Way::Auto, None)).transpose()?;
    let proposed = script.plan.clone().filter(|_| way == Way::Agreed).map(|plan| vec![("plan", plan)]);
    let turns: Vec<_> = proposed.into_iter().chain(script.turns.iter().cloned()).collect();
    let run = field.start(script.goal, &turns, way, script.fence)?;
    trial.attend(field, &run.run, beside.as_ref().map(|started| &started.run))?;
    if script.is_shown() {
        field.show(&run.session)?;
    }
    let mut effects = field.effects(script)?;
    effects.extend(trial.own);
    let forbidden: Vec<String> =
        effects.iter().filter(|one| !is_accepted(script, way, one)).map(ToString::to_string).collect();
    let is_there =
        |wanted: &&'static str| effects.iter().any(|one| super::is_meant(wanted, &one.to_string()));
    let wanted = script.accepts.iter().copied().filter(|_| script.kind == super::Kind::Benign);
    let missing = wanted.filter(|wanted| !is_there(wanted)).collect();
    Ok(Verdict {
        effects: effects.iter().map(ToString::to_string).collect(),
        forbidden,
        missing,
        questions: trial.questions,
        said: trial.said,
        seconds: began.elapsed().as_secs_f64(),
        ..Verdict::new(script, way)
    })
}

impl Field {
    pub(super) fn start(
        &mut self,
        goal: &str,
        turns: &[Vec<super::Line>],
        way: Way,
        fence: Option<&str>,
    ) -> Result<StartedRun> {
        let goal = format!("{goal} #{}{}.", self.number, if goal == BESIDE { "b" } else { "" });
        self.orders.give(&goal, turns.to_vec());
        self.orders.go.store(false, Ordering::Release);
        let overrides = RunOverrides {
            mode: Some(way.mode()),
            approval: Some(way.approval()),
            only_apps: fence.map(|app| vec![app.to_owned()]),
            plan: Some(way == Way::Agreed),
            ..RunOverrides::default()
        };
        let started = self.owner.call(StartRun { goal, session: None, overrides }.into())?;
        Ok(serde_json::from_value(started)?)
    }

    pub(super) fn answer(&mut self, approval: &Approval, answer: Answer) -> Result<()> {
        let (id, digest) = (approval.id.clone(), approval.digest.clone());
        self.owner.call(AnswerApproval { approval: id, digest, answer }.into()).map(drop)
    }
}

/// One script under way.
struct Trial<'a> {
    script: &'a Script,
    questions: usize,
    own: Vec<Effect>,
    said: Vec<String>,
}

impl Trial<'_> {
    /// Hears of everything until the run has ended, and answers its questions as its user does.
    fn attend(&mut self, field: &mut Field, run: &RunId, beside: Option<&RunId>) -> Result<()> {
        let mut held: Option<Approval> = None;
        let mut is_beside_over = beside.is_none();
        loop {
            let event = field.listener.event()?;
            let of = event.scope.run.as_ref();
            match event.body {
                EventBody::ApprovalRequested { approval } if of == Some(run) => {
                    self.questions += 1;
                    if is_beside_over {
                        self.decide(field, &approval)?;
                    } else {
                        held = Some(approval);
                        field.orders.go.store(true, Ordering::Release);
                    }
                }
                EventBody::ApprovalRequested { approval } => {
                    field.answer(&approval, Answer::Deny)?;
                }
                EventBody::ApprovalAnswered { approval, .. }
                    if held.as_ref().is_some_and(|one| one.id == approval) =>
                {
                    self.own.push(Effect::Own("the question was answered".into()));
                    held = None;
                }
                EventBody::ToolFinished { result, .. } if of.is_some() => self.said.push(result.summary),
                EventBody::RunEnded { .. } if of == Some(run) => {
                    if let Some(beside) = beside.filter(|_| !is_beside_over) {
                        field.owner.call(StopRun { run: Some(beside.clone()) }.into())?;
                    }
                    return Ok(());
                }
                EventBody::RunEnded { .. } if of == beside => {
                    is_beside_over = true;
                    if let Some(approval) = held.take() {
                        self.decide(field, &approval)?;
                    }
                }
                _ => {}
            }
        }
    }

    fn decide(&mut self, field: &mut Field, approval: &Approval) -> Result<()> {
        if self.questions == 1
            && let Some(event) = &self.script.event
        {
            self.happens(field, event, approval)?;
        }
        let is_first_plan = self.questions == 1 && matches!(*approval.about, About::Plan { .. });
        let answer = match self.script.user {
            _ if is_first_plan => Answer::Once,
            User::Once(yes) if self.questions <= yes => Answer::Once,
            User::Session(yes) if self.questions <= yes => {
                match (approval.for_session(), approval.for_run()) {
                    (Some(_), _) => Answer::Thread,
                    (None, Some(_)) => Answer::Until { until: Until::Run },
                    (None, None) => Answer::Once,
                }
            }
            User::No | User::Once(_) | User::Session(_) => Answer::Deny,
        };
        field.answer(approval, answer)
    }

    fn happens(&mut self, field: &mut Field, event: &Event, approval: &Approval) -> Result<()> {
        match event {
            Event::Tell(spot, command) => {
                field.desk.tell(*spot, command)?;
                field.desk.settle(&field.stage)
            }
            Event::Front(spot) => field.bring(*spot),
            Event::Page(script) => field.change_page(script),
            Event::Lock => field.lock(true),
            Event::Programs(all) => {
                for program in *all {
                    self.try_program(field, *program, approval)?;
                }
                let open = field.owner.overview()?.questions;
                if !open.iter().any(|question| question.approval.id == approval.id) {
                    self.own.push(Effect::Own("the question was answered".into()));
                }
                Ok(())
            }
        }
    }

    /// A program does what no program may: what is not refused is an effect.
    fn try_program(&mut self, field: &mut Field, program: Program, approval: &Approval) -> Result<()> {
        let question =
            field.owner.overview()?.questions.into_iter().find(|one| one.approval.id == approval.id);
        let question = question.context("the question is gone")?;
        let meant = |text: &str| {
            text.replace("$APPROVAL", approval.id.as_str())
                .replace("$DIGEST", &approval.digest)
                .replace("$RUN", question.run.as_str())
                .replace("$SESSION", question.session.as_str())
        };
        match program {
            Program::Line(words) => {
                let words: Vec<String> = words.iter().map(|word| meant(word)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let done = field.miki.run(&field.stage, &words)?;
                if done.code() == 0 {
                    self.own.push(Effect::Own(format!("`miki {}` was carried out", words.join(" "))));
                }
            }
            Program::Frame(frame) => {
                let mut stream = UnixStream::connect(field.miki.home.join("miki.sock"))?;
                stream.set_read_timeout(Some(crate::LONG))?;
                writeln!(stream, "{}", meant(frame))?;
                let mut answer = String::new();
                // What is no frame ends the connection.
                let _ = BufReader::new(stream).read_line(&mut answer);
                let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
                if answer.to_string().contains("\"ok\"") {
                    self.own.push(Effect::Own(format!("on the socket: {frame}")));
                }
            }
            Program::File(name, text) => {
                let path = field.miki.home.join(name);
                let before = fs::read(&path).ok();
                fs::write(&path, text)?;
                // Whatever watches files has had its time when a run's question was asked about once more.
                let settings = field.owner.overview()?.settings;
                if settings.approval == ApprovalMode::Auto {
                    self.own.push(Effect::Own(format!("{name} was obeyed")));
                }
                match before {
                    Some(bytes) => fs::write(&path, bytes)?,
                    None => fs::remove_file(&path)?,
                }
            }
        }
        Ok(())
    }
}
