//! One run: performs what the machine decides, and feeds it what came of it.
//!
//! At most one operation (a model's turn, a tool, a wait) is under way; control (stop, pause, answers) is heard at
//! any moment. Stop comes first: it cancels, releases what is held, and only then writes.

mod mailbox;

mod ask;
mod budget;
mod in_call;
mod intended;
mod keyboard;
mod perform;
mod plan;
mod proposals;
pub mod status;
mod user_takeover;
mod waits;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use journal::{Budget, PlanState};
use models::{ModelError, ModelErrorKind, Retry, SharedModel};
use protocol::budget::{Bound, Forecast};
use protocol::contract::{Contract, Finding};
use protocol::event::{RunEnd, Scope};
use protocol::ids::{ApprovalId, CallId, RunId};
use protocol::principal::Surface;
use protocol::run::RunSpec;
use protocol::settings::Settings;
use protocol::terminal::Line;
use protocol::tool::{ASK_HUMAN, Approval, ExecResult, Grant, Mode, Risk, Source, ToolCall, Until, WAIT_FOR};
use protocol::turn::{StopReason, Usage};
use protocol::{ErrorCode, ErrorView, EventBody};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::{
    ExecRequest, Executed, FocusedWindow, Grants, Limits, Meanwhile, Ports, Progress, Router, ToldElements,
};

use crate::approvals::{Deadlines, GivenAnswer};
use crate::cancellation::StopSignal;
use crate::context::{self, Answered, Context, Sight};
use crate::engine::LEFT;
use crate::history::{KeptTurn, OpenTurn};
use crate::lease::{Lease, Seat, Seats};
use crate::ledger::Ledger;
use crate::log::Log;
use crate::loop_detector::{Advice, LoopDetector};
use crate::machine::{Calls, Effect, Finished, Input, Machine, Rules};
use crate::offer::Offer;
use crate::recovery;

use in_call::AskedInCall;
use intended::Intended;
use keyboard::UserAt;
pub use mailbox::{CAPACITY, LATE_NO, Message, not_allowed};
use proposals::Proposals;

/// How long a cancelled tool may take to say what became of it.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Everything a run needs, fixed when it starts.
pub struct Run {
    pub id: RunId,
    pub scope: Scope,
    pub spec: RunSpec,
    pub settings: Settings,
    /// As they are now: what the user allows and forbids counts at once.
    pub current: Arc<Mutex<Settings>>,
    pub limits: Arc<Limits>,
    pub rules: Rules,
    pub log: Arc<Log>,
    pub ledger: Arc<Ledger>,
    pub router: Arc<Router>,
    pub seat: Arc<Seat>,
    pub seats: Arc<Seats>,
    pub deadlines: Arc<Deadlines>,
    pub model: SharedModel,
    pub context: Context,
    pub offer: Offer,
    /// Of the session: shared with its other runs in this process, gone with it.
    pub grants: Arc<Mutex<Grants>>,
    /// What its session works with beyond the screen.
    pub ports: Ports,
    /// Where it was started; `None` after it was woken.
    pub from: Option<Surface>,
    pub stop: StopSignal,
    /// The program ends: a question that is open stays so.
    pub leaving: CancellationToken,
    pub mailbox: mpsc::Receiver<Message>,
}

/// How a run comes to its task.
pub enum Begin {
    Anew,
    /// What it waited for came while it had none.
    Woken(Box<Woken>),
}

/// A run as it stood when it was put aside, and what came.
pub struct Woken {
    pub waited: Waited,
    pub plan: PlanState,
    pub budget: Budget,
    pub read: Vec<Source>,
    pub granted: Vec<(Grant, Until)>,
}

/// What a run without a task waited for.
#[expect(clippy::large_enum_variant, reason = "one for each run that is woken, and boxed with all of it")]
pub enum Waited {
    /// It asked, and was answered.
    Answer {
        open: OpenTurn,
        given: GivenAnswer,
        /// Why it is paused; `None` if it is not.
        paused: Option<String>,
        /// What the user said that no request had in it yet.
        steers: Vec<String>,
    },
    /// It was paused after this turn; with what it may have as much again of, if that was why.
    Paused { turn: u32, reason: String, bound: Option<Bound> },
    /// An agent below it is about to go on: it waits again for its own, in this call.
    Agents { open: OpenTurn, call: ToolCall, paused: Option<String>, steers: Vec<String> },
}

/// How a run's task came to its end.
pub enum Ending {
    Over,
    /// It waits for its user without a task. The answer, if it came in that very moment.
    Parked(Option<Box<GivenAnswer>>),
}

/// What an operation came to.
enum Outcome {
    Turn(Result<ask::FinishedTurn, ask::Failed>),
    /// The call may run; with the desktop, if it needs it.
    Ready(Waiting, Option<Lease>),
    Tool(ToolCall, Box<Executed>),
    /// The keyboard is where the user had it, and not in the window that the call was for.
    NotThere {
        call: ToolCall,
        refused: Box<Executed>,
        front: Option<FocusedWindow>,
    },
    Waited,
    /// A call of another agent of its tree has ended.
    MayHaveRoom,
    /// Nobody has answered for a while.
    Unanswered,
}

/// A call that waits for the desktop.
struct Waiting {
    call: ToolCall,
    approved: bool,
    /// The journal has its beginning, from an earlier task.
    has_begun: bool,
}

type Operation = BoxFuture<'static, Outcome>;

/// A run under way.
struct Driver {
    run: Run,
    machine: Machine,
    operation: Option<Operation>,
    /// The tool that `operation` runs.
    running: Option<ToolCall>,
    /// Whether it is yet to be tried to give it a pointer and a keyboard of its own.
    wants_own_hands: bool,
    /// It leaves its user's alone.
    has_own_hands: bool,
    /// The next call waits for the desktop.
    seeks_seat: bool,
    /// The turn that `operation` waits for.
    asking: Option<ask::PartialTurn>,
    /// Ends the tool that `operation` runs, and not the run.
    halt: CancellationToken,
    /// The desktop, while this run has it.
    lease: Option<Lease>,
    /// The window that was in front when the desktop was returned.
    front: Option<FocusedWindow>,
    user_at: Option<UserAt>,
    /// What was said to the run while it waited in the middle of something, not heard yet.
    heard: VecDeque<Message>,
    /// When its task did: what its user pressed in windows of others since, they pressed while it worked.
    began: Instant,
    /// The keyboard is not where the run works any more, but where the user had it.
    handed_back: bool,
    /// It has had the desktop: a menu that is open may be its own.
    has_acted: bool,
    /// The question that the user said yes to: its call is done only where what it was asked on is still there.
    allowed: Option<(Approval, Meanwhile)>,
    /// The last question that the user said yes to, with its call.
    last_yes: Option<(ApprovalId, CallId)>,
    /// A call whose turn came while the run was paused.
    put_aside: Option<Waiting>,
    /// It was put aside and goes on in another task: what it last saw may be gone.
    is_woken: bool,
    is_parked: bool,
    /// The user has used the computer since the model last looked: what it wants to do is out of date.
    disturbed: bool,
    /// Calls of the current turn, and the answers so far.
    proposals: Proposals,
    answers: Vec<(CallId, Answered)>,
    steers: Vec<String>,
    question: Option<Approval>,
    /// The question is one of the call that is under way, which waits here.
    in_call: Option<oneshot::Sender<Option<String>>>,
    /// The last question of a call that was answered with more than a no.
    in_call_yes: Option<ApprovalId>,
    asker: mpsc::Sender<AskedInCall>,
    asked: mpsc::Receiver<AskedInCall>,
    plan: PlanState,
    budget: Budget,
    /// What the answer that is waited for would pass, were it as long as usual.
    cut_at: Option<Bound>,
    /// What it may come to, as far as earlier runs tell.
    forecast: Option<Forecast>,
    /// What the answers so far tell of elements.
    told: Vec<ToldElements>,
    /// What the model has read in this run, the newest last.
    read: Vec<Source>,
    /// What the user allowed for this run or longer.
    granted: Vec<(Grant, Until)>,
    /// Calls that the user changed.
    edited: Vec<CallId>,
    /// What was asked before its user changed it.
    before_edit: Option<Approval>,
    /// The contract in force, shared with its calls.
    agreed: Option<Arc<Contract>>,
    /// What the user is about to be asked to take as it is.
    findings: Vec<Finding>,
    loops: LoopDetector,
    /// Why it is to be paused, once its call is told.
    goes_in_circles: Option<String>,
    /// What the last model error asked for.
    retry_after: Option<Duration>,
    /// The wait before the model is asked again.
    retrying: Option<Duration>,
    end: Option<RunEnd>,
}

/// Carries a run to its end, or until it has waited long for an answer. Returns early only if the journal cannot be
/// written.
///
/// # Errors
/// The journal's error; the run has stopped and holds nothing.
pub async fn drive(mut run: Run, begin: Begin) -> Result<Ending, ErrorView> {
    tell_display(&mut run).await;
    let machine = Machine::new(run.rules);
    let (asker, asked) = mpsc::channel(1);
    let (budget, forecast) = (Budget::of(&run.spec, run.log.now()), run.spec.forecast);
    let wants_own_hands = run.settings.own_hands;
    let mut driver = Driver {
        run,
        budget,
        forecast,
        cut_at: None,
        machine,
        operation: None,
        running: None,
        wants_own_hands,
        has_own_hands: false,
        seeks_seat: false,
        asking: None,
        halt: CancellationToken::new(),
        lease: None,
        front: None,
        user_at: None,
        heard: VecDeque::new(),
        began: Instant::now(),
        handed_back: false,
        has_acted: false,
        allowed: None,
        last_yes: None,
        put_aside: None,
        is_woken: false,
        is_parked: false,
        disturbed: false,
        proposals: Proposals::default(),
        answers: Vec::new(),
        steers: Vec::new(),
        question: None,
        in_call: None,
        in_call_yes: None,
        asker,
        asked,
        plan: PlanState::default(),
        told: Vec::new(),
        read: Vec::new(),
        granted: Vec::new(),
        edited: Vec::new(),
        before_edit: None,
        agreed: None,
        findings: Vec::new(),
        loops: LoopDetector::default(),
        goes_in_circles: None,
        retry_after: None,
        retrying: None,
        end: None,
    };
    let mut ended = driver.go(begin).await;
    driver.lease = None;
    if driver.is_parked && ended.is_ok() {
        match driver.drain_mailbox().await {
            Ok(answered) => return Ok(Ending::Parked(answered)),
            Err(error) => ended = Err(error),
        }
    }
    driver.run.stop.send("the run is over");
    if let Err(error) = &ended {
        ended = driver.broke_down(error.clone()).await.and(ended);
    }
    driver.close_mailbox();
    driver.show_end(ended.as_ref().err());
    ended.map(|()| Ending::Over)
}

impl Driver {
    async fn go(&mut self, begin: Begin) -> Result<(), ErrorView> {
        let stop = self.run.stop.clone();
        match begin {
            Begin::Anew => {
                self.tell_of_unknown_prices().await?;
                self.feed(Input::Start).await?;
            }
            Begin::Woken(woken) => self.wake(*woken).await?,
        }
        let mut settled = self.run.ledger.settled();
        while !self.machine.is_over() && !self.is_parked {
            let operation = self.operation.as_mut();
            tokio::select! {
                biased;
                reason = stop.received() => self.stop(reason).await?,
                message = mailbox::next(&mut self.heard, &mut self.run.mailbox) => match message {
                    Some(message) => self.handle(message).await?,
                    // The engine is going down.
                    None => self.stop(LEFT.into()).await?,
                },
                outcome = under_way(operation) => {
                    self.operation = None;
                    self.came_to(outcome).await?;
                }
                Some(asked) = self.asked.recv() => self.ask_in_call(asked).await?,
                // What those below it used is shown with what it used.
                Ok(()) = settled.changed() => self.show_status(),
            }
        }
        Ok(())
    }

    /// Goes on where the run stood when it was put aside.
    async fn wake(&mut self, woken: Woken) -> Result<(), ErrorView> {
        let Woken { waited, plan, budget, read, granted } = woken;
        let steps = budget.meter.most().steps.unwrap_or_default();
        (self.plan, self.budget, self.read, self.granted) = (plan, budget, read, granted);
        self.is_woken = true;
        let (open, current, paused, steers) = match &waited {
            Waited::Answer { open, given, paused, steers } => (open, &given.question.call, paused, steers),
            Waited::Agents { open, call, paused, steers } => (open, call, paused, steers),
            Waited::Paused { turn, reason, bound } => {
                let held = Machine::held(self.run.rules, *turn, reason.clone(), bound.clone());
                self.machine = held.with_steps(steps);
                self.work_by_the_plan();
                return self.feed(Input::Resume).await;
            }
        };
        let OpenTurn { turn, number, calls, results, .. } = open;
        // It is among them; with other arguments, if the user had changed them.
        let left = calls.iter().skip_while(|call| call.id != current.id);
        self.edited.extend(
            left.clone()
                .take(1)
                .filter(|call| call.arguments != current.arguments)
                .map(|call| call.id.clone()),
        );
        let calls_left = Calls::left(current.clone(), left.skip(1).cloned().collect());
        let (rules, paused) = (self.run.rules, paused.clone());
        let machine = match &waited {
            Waited::Answer { given, .. } => {
                Machine::waiting(rules, *number, calls_left, given.question.id.clone(), paused)
            }
            _ => Machine::in_call(rules, *number, calls_left, paused),
        };
        self.machine = machine.with_steps(steps);
        self.proposals = Proposals::restored(turn, calls);
        self.run.context.push_turn(turn.clone());
        for call in calls {
            if let Some(result) = results.get(&call.id) {
                self.answered(call, result, None);
            }
        }
        self.steers.clone_from(steers);
        match waited {
            Waited::Answer { given, .. } => {
                self.question = Some(given.question.clone());
                self.take_answer(given).await
            }
            Waited::Agents { call, .. } => self.wait_again(call).await,
            Waited::Paused { .. } => Ok(()),
        }
    }

    /// For its agents, in the call in which Miki had ended.
    async fn wait_again(&mut self, call: ToolCall) -> Result<(), ErrorView> {
        if !self.machine.is_paused() {
            self.append(EventBody::RunResumed).await?;
        }
        self.work_by_the_plan();
        self.ready(Waiting { call, approved: false, has_begun: true }, None).await?;
        self.show_status();
        Ok(())
    }

    /// Cancels, releases, waits for the tool's last word, then ends the run.
    async fn stop(&mut self, reason: String) -> Result<(), ErrorView> {
        let leaves = reason == LEFT && self.run.leaving.is_cancelled();
        if leaves && self.can_be_parked() && self.waits_for_its_user().await? {
            self.operation = None;
            self.tell_of_dropped_turn().await?;
            self.is_parked = true;
            return Ok(());
        }
        self.run.stop.send(&reason);
        self.run.seat.release_if_held_by(&self.run.id);
        if let Some(call) = self.running.clone() {
            // On disk before its end is: whatever becomes of Miki until then, it does not go on by itself.
            if reason != LEFT && self.run.spec.carries_on() {
                self.append(EventBody::RunPaused { reason: reason.clone() }).await?;
            }
            let last = tokio::select! {
                biased;
                last = tokio::time::timeout(LAST_WORD, under_way(self.operation.as_mut())) => last,
                never = mailbox::refuse_all(&mut self.run.mailbox, &self.run.id) => match never {},
            };
            self.run.seat.release_if_held_by(&self.run.id);
            self.withdraw_question().await?;
            match last {
                Ok(Outcome::Tool(call, executed) | Outcome::NotThere { call, refused: executed, .. }) => {
                    drop(self.tool_finished(call, *executed).await?)
                }
                _ => {
                    let result = recovery::in_doubt(&self.run.log, &self.run.scope, &call).await?;
                    self.record(&call, result, None).await?;
                }
            }
        }
        if let Some(Waiting { call, has_begun: true, .. }) = self.put_aside.take() {
            let result = recovery::in_doubt(&self.run.log, &self.run.scope, &call).await?;
            self.record(&call, result, None).await?;
        }
        self.operation = None;
        self.lease = None;
        self.tell_of_dropped_turn().await?;
        (self.question, self.in_call) = (None, None);
        self.feed(Input::Stop { reason }).await
    }

    /// What a turn cost that nobody waits for any more.
    async fn tell_of_dropped_turn(&mut self) -> Result<(), ErrorView> {
        let asking = self.asking.take();
        let (turn, model) = (self.machine.turn, self.run.model.id());
        match asking.and_then(|partial| partial.dropped(turn, model)) {
            Some(dropped) => self.append(dropped).await,
            None => Ok(()),
        }
    }

    /// The call whose beginning is in the journal, and its outcome not.
    fn begun(&self) -> Option<&ToolCall> {
        let aside = self.put_aside.as_ref().filter(|waiting| waiting.has_begun);
        self.running.as_ref().or(aside.map(|waiting| &waiting.call))
    }

    /// Waits for an answer, is paused, or waits for an agent of which that is so.
    async fn waits_for_its_user(&mut self) -> Result<bool, ErrorView> {
        if (self.question.is_some() && self.in_call.is_none()) || self.budget.used_up.is_some() {
            return Ok(true);
        }
        match self.begun() {
            Some(call) if call.tool == WAIT_FOR => {
                recovery::is_waited_for_below(&self.run.log, &self.run.id).await
            }
            Some(_) => Ok(false),
            None => Ok(self.machine.is_paused()),
        }
    }

    async fn came_to(&mut self, outcome: Outcome) -> Result<(), ErrorView> {
        self.asking = None;
        match outcome {
            Outcome::Turn(Ok(asked)) => self.turn_finished(asked).await,
            Outcome::Turn(Err(failed)) => self.turn_failed(failed).await,
            Outcome::Ready(waiting, lease) => self.ready(waiting, lease).await,
            Outcome::NotThere { call, refused, front } => {
                (self.handed_back, self.front) = (true, front);
                Box::pin(self.came_to(Outcome::Tool(call, refused))).await
            }
            Outcome::Tool(call, executed) => {
                self.withdraw_question().await?;
                let finished = self.tool_finished(call, *executed).await?;
                if let Some(reason) = self.goes_in_circles.take() {
                    self.feed(Input::GoesInCircles { reason }).await?;
                }
                self.feed(Input::ToolFinished { finished }).await?;
                if self.machine.is_paused() {
                    self.give_seat_back().await;
                }
                Ok(())
            }
            Outcome::Waited => self.feed(Input::Continue).await,
            Outcome::MayHaveRoom => {
                let input = self.perform(Effect::AskModel { turn: self.machine.turn }).await?;
                match input {
                    Some(input) => self.feed(input).await,
                    None => Ok(()),
                }
            }
            Outcome::Unanswered => {
                self.is_parked = self.can_be_parked();
                if !self.is_parked {
                    self.wait_for_an_answer();
                }
                Ok(())
            }
        }
    }

    async fn turn_failed(&mut self, failed: ask::Failed) -> Result<(), ErrorView> {
        let ask::Failed { error, usage, cost } = failed;
        let (may_retry, after) = match error.retry() {
            Retry::Never => (false, None),
            Retry::After(after) => (true, after),
        };
        self.retry_after = after;
        let (message, hint) = (error.to_string(), error.hint.clone());
        let failed = EventBody::TurnFailed {
            turn: self.machine.turn,
            message: message.clone(),
            hint: hint.clone(),
            retry: may_retry && self.machine.has_tries_left(),
            usage,
            cost,
            suggestions: error.suggestions,
        };
        self.append(failed).await?;
        self.feed(Input::TurnFailed { message, hint, may_retry }).await
    }

    /// Whether all there is of it is in the journal while it waits for an answer. What a translated call was before is
    /// not.
    fn can_be_parked(&self) -> bool {
        self.run.spec.can_go_on() && self.run.context.display().is_none()
    }

    async fn turn_finished(&mut self, asked: ask::FinishedTurn) -> Result<(), ErrorView> {
        self.run.context.note_usage(&asked.usage);
        if let Some(bound) = self.cut_at.take().filter(|_| asked.stop == StopReason::MaxTokens) {
            return self.cut_by_budget(&asked, bound).await;
        }
        let ask::FinishedTurn { mut turn, thinking, citations, usage, cost, stop } = asked;
        // An answer without words must not stand before the next try.
        let is_void = stop != StopReason::Paused && turn.says_nothing();
        if is_void {
            turn.raw = Value::Null;
        }
        let proposals = Proposals::of(&turn);
        let calls = proposals.calls();
        let kept = KeptTurn {
            provider: turn.provider.clone(),
            raw: turn.raw.clone(),
            call_ids: proposals.ids(),
            unread: self.steers.len(),
            adapted: proposals.are_translated(),
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
        if is_void && matches!(stop, StopReason::End | StopReason::ToolCalls) {
            let error = ModelError::new(ModelErrorKind::Protocol, "the model answered nothing");
            // What it cost is told with its end.
            return self.turn_failed(ask::Failed { error, usage: Usage::default(), cost: None }).await;
        }
        self.proposals = proposals;
        if calls.is_empty() && !is_void && matches!(stop, StopReason::End | StopReason::ToolCalls) {
            self.tell_of_checks();
        }
        let text = turn.text.clone();
        match stop {
            StopReason::Paused => self.run.context.push_paused(turn),
            _ if is_void => {}
            _ => self.run.context.push_turn(turn),
        }
        self.feed(Input::TurnFinished { text, calls, stop }).await
    }

    /// What is left of the budget was too little for this answer: it is asked for again when there is more.
    async fn cut_by_budget(&mut self, asked: &ask::FinishedTurn, bound: Bound) -> Result<(), ErrorView> {
        let cut = EventBody::TurnFailed {
            turn: self.machine.turn,
            message: "the answer did not fit into the budget".into(),
            hint: None,
            retry: true,
            usage: asked.usage,
            cost: Some(asked.cost),
            suggestions: Vec::new(),
        };
        self.append(cut).await?;
        self.feed(Input::OutOfBudget { bound }).await
    }

    /// Gives the machine an input and performs all that follows from it.
    async fn feed(&mut self, input: Input) -> Result<(), ErrorView> {
        let mut inputs = VecDeque::from([input]);
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
        let Executed { mut result, picture, finished, told } = executed;
        self.told.extend(told);
        let mut sight = None;
        if let Some(mut taken) = picture {
            let (hash, jpeg) = (taken.sight, Arc::from(&taken.jpeg[..]));
            let (size, dot, look) = (taken.size, taken.dot, taken.look.take().map(Arc::new));
            result.picture = Some(self.run.log.put_picture(taken).await?);
            sight = Some(Sight { jpeg, hash, look, dot });
            if self.proposals.is_translated(&call.id) && call.tool != "zoom" {
                self.run.context.set_display(size);
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
        self.run.context.note_call(call, result, &self.read);
        if self.run.offer.note_call(&call.tool, &call.arguments) {
            self.run.context.set_tools(self.run.offer.tools());
        }
        let mut answer = context::answer(None, &call.tool, result);
        let only_looks = self.outline(&self.request(call.clone())).risk == Some(Risk::Observe);
        let shown = sight.as_ref().map(|sight| sight.hash);
        match self.loops.note(self.machine.turn, call, only_looks, result, shown) {
            Some(Advice::Tell(text)) => answer.response["note"] = text.into(),
            Some(Advice::Pause(reason)) => self.goes_in_circles = Some(reason),
            None => {}
        }
        // What was answered stands in its result.
        if self.edited.contains(&call.id) && call.tool != ASK_HUMAN {
            answer.response["changedByTheUser"] = call.arguments.clone();
        }
        self.answers.push((call.id.clone(), Answered { sight, ..answer.into() }));
    }

    /// Puts the turn's answers, in the order of its calls, and what the user said meanwhile into the conversation.
    fn settle_turn(&mut self) {
        let answers = std::mem::take(&mut self.answers);
        let (calls, answers) = std::mem::take(&mut self.proposals).settle(answers);
        if !calls.is_empty() {
            self.run.context.set_calls(calls);
            self.run.context.push_results(answers);
        }
        self.tell_of_disturbance();
        for text in std::mem::take(&mut self.steers) {
            self.run.context.push_user(text);
        }
    }

    fn request(&self, call: ToolCall) -> ExecRequest {
        let (mode, approval) = (self.run.spec.mode, self.run.spec.approval);
        let settings = self.current_settings().clone();
        let now = self.run.log.now();
        let is_kept = |grant: &Grant| {
            let mut kept = settings.grants.iter().filter(|kept| kept.until.is_none_or(|until| until > now));
            kept.any(|kept| kept.tool == grant.tool && Some(&kept.app) == grant.app.as_ref())
        };
        // What was allowed for longer may have been taken back in the settings.
        let is_in_force = |(grant, until): &&(Grant, Until)| *until == Until::Run || is_kept(grant);
        let mut grants = self.grants().clone();
        grants.allow_in_run(self.granted.iter().filter(is_in_force).map(|(grant, _)| grant.clone()));
        let grants = grants.with_settings(&settings, || now);
        // A provider's own search reads before the first call.
        let has_read = self.run.spec.search
            || self.run.spec.is_told_by_an_agent()
            || !self.read.is_empty()
            || self.run.context.has_read();
        let (planning, waived) = (self.planning(), Vec::new());
        let progress =
            Printed { log: self.run.log.clone(), scope: self.run.scope.clone(), call: call.id.clone() };
        let intent = Intended::of(&self.run, &call);
        let ports = Ports {
            asker: self.asker_of(&call),
            progress: Some(Arc::new(progress)),
            intent: Some(Arc::new(intent)),
            recalled: Some(self.run.context.recalled()),
            ..self.run.ports.clone()
        };
        let (approved, fence) = (None, self.fence());
        ExecRequest { call, mode, approval, grants, has_read, approved, planning, waived, fence, ports }
    }

    fn current_settings(&self) -> std::sync::MutexGuard<'_, Settings> {
        self.run.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grants(&self) -> std::sync::MutexGuard<'_, Grants> {
        self.run.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The operation under way is not `Sync`: no `&self` may live across an await.
    async fn append(&mut self, body: EventBody) -> Result<(), ErrorView> {
        let event = self.run.log.append(self.run.scope.clone(), body).await?;
        self.plan.fold(&event);
        self.budget.fold(&event, &mut self.plan);
        if matches!(
            event.body,
            EventBody::TurnFinished { .. } | EventBody::TurnFailed { .. } | EventBody::TurnDropped { .. }
        ) {
            self.note_used();
        }
        if let EventBody::ToolFinished { result, .. } = &event.body {
            Source::add(&mut self.read, result.read.iter().cloned());
        }
        Ok(())
    }
}

/// Shows what a command of this call prints.
struct Printed {
    log: Arc<Log>,
    scope: Scope,
    call: CallId,
}

impl Progress for Printed {
    fn tell(&self, first: u64, lines: Vec<Line>) {
        let printed = EventBody::CommandPrinted { call: self.call.clone(), first, lines };
        self.log.broadcast_transient(self.scope.clone(), printed);
    }
}

/// Tells a model that needs to know, and that may act, how large the pictures of the display are.
async fn tell_display(run: &mut Run) {
    if !run.model.needs_display() || run.spec.mode != Mode::Act {
        return;
    }
    let display = tokio::time::timeout(LAST_WORD, run.router.picture_size(&run.limits)).await;
    if let Ok(Some(display)) = display {
        run.context.set_display(display);
    }
}

/// The operation's outcome; never, if there is none.
async fn under_way(operation: Option<&mut Operation>) -> Outcome {
    match operation {
        Some(operation) => operation.await,
        None => std::future::pending().await,
    }
}
