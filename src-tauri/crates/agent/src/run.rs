//! One run: performs what the machine decides, and feeds it what came of it.
//!
//! At most one operation (a model's turn, a tool, a wait) is under way; control (stop, pause, answers) is heard at
//! any moment. Stop comes first: it cancels, releases what is held, and only then writes.

mod hear;

mod ask;
mod give_way;
mod perform;
mod proposals;
mod standing;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use models::computer::Adapter;
use models::{Retry, SharedModel};
use protocol::event::{RunEnd, Scope};
use protocol::geometry::PixelSize;
use protocol::ids::{ApprovalId, CallId};
use protocol::settings::Settings;
use protocol::tool::{Answer, Approval, ApprovalMode, Door, ExecResult, Mode, PictureView, ToolCall};
use protocol::turn::StopReason;
use protocol::{ErrorCode, ErrorView, EventBody};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::{ExecRequest, Executed, Grants, Interruption, Limits, Router};

use crate::brakes::Brake;
use crate::context::{self, Answered, Context, Sight};
use crate::history::KeptTurn;
use crate::log::Log;
use crate::machine::{Finished, Input, Machine, Rules};
use crate::recovery;

pub use hear::Control;
use proposals::Proposals;

/// How long a cancelled tool may take to say what became of it.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Everything a run needs, fixed when it starts.
pub struct Run {
    pub scope: Scope,
    pub mode: Mode,
    pub approval: ApprovalMode,
    pub settings: Settings,
    pub rules: Rules,
    pub log: Arc<Log>,
    pub router: Arc<Router>,
    pub limits: Arc<Limits>,
    pub model: SharedModel,
    pub context: Context,
    /// Of the session: shared with its other runs in this process, gone with it.
    pub grants: Arc<Mutex<Grants>>,
    pub brake: Brake,
    pub control: mpsc::Receiver<Control>,
}

/// What an operation came to.
enum Outcome {
    Turn(Result<ask::Asked, ask::Failed>),
    Tool(ToolCall, Box<Executed>),
    Waited,
    /// Nobody answered in time.
    Silence(ApprovalId),
}

type Operation = BoxFuture<'static, Outcome>;

/// A run under way.
struct Driver {
    run: Run,
    machine: Machine,
    operation: Option<Operation>,
    /// The tool that `operation` runs.
    running: Option<ToolCall>,
    /// The turn that `operation` waits for.
    asking: Option<ask::Hearing>,
    /// Ends the tool that `operation` runs, and not the run.
    halt: CancellationToken,
    /// The user has used the computer since the model last looked: what it wants to do is out of date.
    disturbed: bool,
    /// Where the model acts by its vendor's own computer tool.
    adapter: Option<Adapter>,
    /// Calls of the current turn, and the answers so far.
    proposals: Proposals,
    answers: Vec<(CallId, Answered)>,
    steers: Vec<String>,
    question: Option<Approval>,
    /// What the last model error asked for.
    retry_after: Option<Duration>,
    /// The wait before the model is asked again.
    retrying: Option<Duration>,
    end: Option<RunEnd>,
}

/// Carries a run to its end. Returns early only where the journal cannot be written.
///
/// # Errors
/// The journal's error; the run has stopped and holds nothing.
pub async fn drive(mut run: Run) -> Result<(), ErrorView> {
    let adapter = adapter(&mut run).await;
    let machine = Machine::new(run.rules);
    let mut driver = Driver {
        run,
        machine,
        operation: None,
        running: None,
        asking: None,
        halt: CancellationToken::new(),
        disturbed: false,
        adapter,
        proposals: Proposals::default(),
        answers: Vec::new(),
        steers: Vec::new(),
        question: None,
        retry_after: None,
        retrying: None,
        end: None,
    };
    let mut ended = driver.go().await;
    driver.run.brake.pull("the run is over");
    driver.run.router.release_all();
    if let Err(error) = &ended {
        ended = driver.broke_down(error.clone()).await.and(ended);
    }
    driver.hear_no_more();
    driver.show_end(ended.as_ref().err());
    ended
}

impl Driver {
    async fn go(&mut self) -> Result<(), ErrorView> {
        let router = self.run.router.clone();
        let brake = self.run.brake.clone();
        let watch = self.run.settings.failsafe || self.run.settings.pause_on_user_input;
        let mut interrupted: BoxFuture<'_, Interruption> =
            if watch { router.interrupted() } else { Box::pin(std::future::pending()) };
        self.feed(Input::Start).await?;
        while !self.machine.is_over() {
            let operation = self.operation.as_mut();
            tokio::select! {
                biased;
                reason = brake.pulled() => self.stop(reason).await?,
                how = &mut interrupted => {
                    interrupted = give_way::next(&router);
                    self.give_way(how).await?;
                }
                said = self.run.control.recv() => match said {
                    Some(said) => self.hear(said).await?,
                    // The engine is going down.
                    None => self.stop("the program ended".into()).await?,
                },
                outcome = under_way(operation) => {
                    self.operation = None;
                    self.came_to(outcome).await?;
                }
            }
        }
        Ok(())
    }

    /// Cancels, releases, waits for the tool's last word, then ends the run.
    async fn stop(&mut self, reason: String) -> Result<(), ErrorView> {
        self.run.brake.pull(&reason);
        self.run.router.release_all();
        if let Some(call) = self.running.clone() {
            let last = tokio::time::timeout(LAST_WORD, under_way(self.operation.as_mut())).await;
            self.run.router.release_all();
            match last {
                Ok(Outcome::Tool(call, executed)) => drop(self.tool_finished(call, *executed).await?),
                _ => self.record(&call, recovery::interrupted(), None).await?,
            }
        }
        self.operation = None;
        let asking = self.asking.take();
        if let Some((usage, cost)) = asking.and_then(|hearing| hearing.dropped(self.run.model.id())) {
            self.append(EventBody::TurnDropped { turn: self.machine.turn, usage, cost }).await?;
        }
        self.feed(Input::Stop { reason }).await
    }

    async fn came_to(&mut self, outcome: Outcome) -> Result<(), ErrorView> {
        self.asking = None;
        match outcome {
            Outcome::Turn(Ok(asked)) => self.turn_finished(asked).await,
            Outcome::Turn(Err(ask::Failed { error, usage, cost })) => {
                let (may_retry, after) = match error.retry() {
                    Retry::Never => (false, None),
                    Retry::After(after) => (true, after),
                };
                self.retry_after = after;
                let (message, hint) = (error.to_string(), error.hint.clone());
                let turn = self.machine.turn;
                let failed = EventBody::TurnFailed {
                    turn,
                    message: message.clone(),
                    hint: hint.clone(),
                    retry: may_retry,
                    usage,
                    cost,
                    instead: error.instead,
                };
                self.append(failed).await?;
                self.feed(Input::TurnFailed { message, hint, may_retry }).await
            }
            Outcome::Tool(call, executed) => {
                let finished = self.tool_finished(call, *executed).await?;
                self.feed(Input::ToolFinished { finished }).await
            }
            Outcome::Waited => self.feed(Input::Continue).await,
            Outcome::Silence(approval) => self.answer(approval, Answer::Deny, Door::Deadline).await,
        }
    }

    async fn turn_finished(&mut self, asked: ask::Asked) -> Result<(), ErrorView> {
        let ask::Asked { mut turn, thinking, citations, usage, cost, stop } = asked;
        // It will be asked for again: an answer without words must not stand before the next try.
        let is_void = stop != StopReason::Paused && turn.says_nothing();
        if is_void {
            turn.raw = Value::Null;
        }
        let proposals = Proposals::of(&turn, self.adapter.as_mut());
        let calls = proposals.calls();
        let kept = KeptTurn {
            provider: turn.provider.clone(),
            raw: turn.raw.clone(),
            call_ids: proposals.ids(),
            unread: self.steers.len(),
            adapted: proposals.are_adapted(),
        };
        let bytes = serde_json::to_vec(&kept).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("a turn cannot be kept: {error}"))
        })?;
        let raw = Some(self.run.log.put_blob(bytes, "application/json").await?);
        self.append(EventBody::TurnFinished {
            turn: self.machine.turn,
            text: turn.text.clone(),
            thinking,
            calls: calls.clone(),
            citations,
            usage,
            cost,
            stop: stop.clone(),
            raw,
        })
        .await?;
        self.proposals = proposals;
        let text = turn.text.clone();
        match stop {
            StopReason::Paused => self.run.context.push_paused(turn),
            _ if is_void => {}
            _ => self.run.context.push_turn(turn),
        }
        self.feed(Input::TurnFinished { text, calls, stop }).await
    }

    /// Gives the machine an input and performs all that follows from it.
    async fn feed(&mut self, input: Input) -> Result<(), ErrorView> {
        let mut inputs = std::collections::VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.machine.step(input) {
                inputs.extend(self.perform(effect).await?);
            }
            self.show_status();
        }
        Ok(())
    }

    async fn tool_finished(
        &mut self,
        call: ToolCall,
        executed: Executed,
    ) -> Result<Option<Finished>, ErrorView> {
        let Executed { mut result, picture, finished } = executed;
        let mut sight = None;
        if let Some(taken) = picture {
            let (width, height, dot) = (taken.size.width, taken.size.height, taken.dot);
            let hash = taken.sight;
            let jpeg: Arc<[u8]> = taken.jpeg.into();
            let blob = self.run.log.put_blob(jpeg.to_vec(), "image/jpeg").await?;
            result.picture = Some(PictureView { blob, width, height, dot });
            sight = Some(Sight { jpeg, hash });
            let size = PixelSize { width, height };
            let whole = self.proposals.is_computer(&call.id) && call.tool != "zoom";
            if let Some(adapter) = self.adapter.as_mut().filter(|_| whole) {
                adapter.shows(size);
            }
        }
        self.record(&call, result, sight).await?;
        Ok(finished.map(|said| Finished { summary: said.summary, success: said.success }))
    }

    async fn record(
        &mut self,
        call: &ToolCall,
        result: ExecResult,
        sight: Option<Sight>,
    ) -> Result<(), ErrorView> {
        self.append(EventBody::ToolFinished { call: call.id.clone(), result: result.clone() }).await?;
        self.running = None;
        self.answered(call, &result, sight);
        Ok(())
    }

    fn answered(&mut self, call: &ToolCall, result: &ExecResult, sight: Option<Sight>) {
        if result.error.is_some() {
            self.proposals.note_failure(&call.id);
        }
        let answer = context::answer(None, &call.tool, result);
        self.answers.push((call.id.clone(), Answered { sight, ..answer.into() }));
    }

    /// Puts the turn's answers, in the order of its calls, and what the user said meanwhile into the conversation.
    fn settle_turn(&mut self) {
        let answers = std::mem::take(&mut self.answers);
        let settled = std::mem::take(&mut self.proposals).settle(answers);
        if let Some(calls) = settled.retold {
            self.run.context.retell(calls);
        }
        if !settled.answers.is_empty() {
            self.run.context.push_results(settled.answers);
        }
        self.tell_of_disturbance();
        for text in std::mem::take(&mut self.steers) {
            self.run.context.push_user(text);
        }
    }

    fn request(&self, call: ToolCall, approved: Option<String>) -> ExecRequest {
        let grants = self.grants().clone();
        ExecRequest { call, mode: self.run.mode, approval: self.run.approval, grants, approved }
    }

    fn grants(&self) -> std::sync::MutexGuard<'_, Grants> {
        self.run.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Borrows nothing: the operation under way is not `Sync`, so no `&self` may live across an await.
    fn append(&self, body: EventBody) -> impl Future<Output = Result<(), ErrorView>> + Send + use<> {
        let (log, scope) = (self.run.log.clone(), self.run.scope.clone());
        async move { log.append(scope, body).await.map(drop) }
    }
}

/// What makes calls of ours from a vendor's computer actions; nothing where the model has no such tool, where it may
/// only look, or where no picture can be had.
async fn adapter(run: &mut Run) -> Option<Adapter> {
    let computer = run.model.computer().filter(|_| run.mode == Mode::Act)?;
    let size = run.router.picture_size(&run.limits);
    let display = tokio::time::timeout(LAST_WORD, size).await.ok().flatten()?;
    run.context.use_computer(computer, display);
    Some(Adapter::new(computer, display))
}

/// The operation's outcome; never, where there is none.
async fn under_way(operation: Option<&mut Operation>) -> Outcome {
    match operation {
        Some(operation) => operation.await,
        None => std::future::pending().await,
    }
}
