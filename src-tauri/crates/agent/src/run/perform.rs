//! What the machine asks for, done: each effect starts at most one operation.

use std::time::Duration;

use models::RetryPolicy;
use protocol::budget::Reached;
use protocol::contract::About;
use protocol::event::RunEnd;
use protocol::ids::{ApprovalId, Timestamp};
use protocol::recap::Recap;
use protocol::run::Fence;
use protocol::tool::{
    ASK_HUMAN, Approval, ApprovalMode, Effect as CallEffect, ExecResult, FrontWindow, Millis, PictureView,
    Risk, Source, ToolCall, ToolError, ToolErrorKind,
};
use protocol::{ErrorView, EventBody};
use serde_json::Value;
use tools::{Assessment, Call, Decision, ExecRequest, Executed, Router, Yes};

use super::keyboard::types_nowhere;
use super::{Driver, Outcome, Waiting, ask};
use crate::engine::LEFT;
use crate::lease::{self, FRONT_WITHIN, Holder, Lease};
use crate::ledger::NoRoom;
use crate::machine::{Effect, Input, Verdict};
use crate::recovery;
use crate::start;

/// To the model, whose user could not have answered.
const MENU_CLOSED: &str = "not done, and not asked about: an open menu takes the user's next click and every key, so it was closed. Open it and choose in one call: pressMenu, or both clicks in a batch";
/// Longest wait for the end of what the user types to us.
const SENTENCE: Duration = Duration::from_secs(15);
/// After so long a wait for an answer the run's task ends; the answer wakes it.
const PARK_AFTER: Duration = Duration::from_secs(120);

impl Driver {
    pub(super) async fn perform(&mut self, effect: Effect) -> Result<Option<Input>, ErrorView> {
        match effect {
            Effect::AskModel { turn } => {
                if let Some(bound) = self.used_up() {
                    return Ok(Some(Input::OutOfBudget { bound }));
                }
                self.return_seat().await;
                self.tell_what_is_near().await?;
                self.settle_turn();
                let mut settled = self.run.ledger.settled();
                match self.reserve() {
                    Ok(()) => {}
                    Err(NoRoom::Bound(bound)) => return Ok(Some(Input::OutOfBudget { bound })),
                    Err(NoRoom::Reserved) => {
                        self.operation = Some(Box::pin(async move {
                            // The ledger lives as long as the run.
                            let _ = settled.changed().await;
                            Outcome::MayHaveRoom
                        }));
                        return Ok(None);
                    }
                }
                self.retrying = None;
                let hearing = ask::PartialTurn::default();
                let request = self.run.context.request();
                if let Some(recap) = self.run.context.take_compacted() {
                    let recap = Recap { tools: self.run.offer.asked_for(), ..recap };
                    self.append(EventBody::ContextCompacted { recap: Box::new(recap) }).await?;
                }
                let asked = ask::ask(
                    self.run.model.clone(),
                    request,
                    self.run.log.clone(),
                    self.run.scope.clone(),
                    turn,
                    hearing.clone(),
                );
                self.asking = Some(hearing);
                tracing::debug!(turn, "asking the model");
                // Not before: what a turn's first call has changed is no news to its second.
                let (router, told) = (self.run.router.clone(), std::mem::take(&mut self.told));
                self.operation = Some(Box::pin(async move {
                    router.told(told).await;
                    Outcome::Turn(asked.await)
                }));
            }
            Effect::Assess(call) => {
                if self.needs_own_hands(&call) && !self.take_own_hands().await? {
                    return Ok(Some(Input::Assessed(Verdict::Later)));
                }
                return Ok(Some(Input::Assessed(self.assess(call).await)));
            }
            Effect::RequestApproval { call, approval, risk, reason } => {
                return self.request_approval(call, approval, risk, reason).await;
            }
            // One that was woken by its answer has none any more.
            Effect::Execute { call, approved } => {
                match !self.needs_own_hands(&call) || self.take_own_hands().await? {
                    true => self.execute(call, approved),
                    false => {
                        let refused = Box::new(Executed::refused(put_off()));
                        self.operation = Some(Box::pin(async move { Outcome::Tool(call, refused) }));
                    }
                }
            }
            Effect::Refuse { call, error } => {
                let result = refused(error);
                self.append(EventBody::ToolFinished { call: call.id.clone(), result: result.clone() })
                    .await?;
                self.answered(&call, &result, None);
                return Ok(self.goes_in_circles.take().map(|reason| Input::GoesInCircles { reason }));
            }
            Effect::DelayStep => self.wait(Duration::from_millis(self.run.settings.step_delay_ms)),
            Effect::DelayRetry { failures } => {
                let dice = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
                let wait = RetryPolicy::default().delay(self.retry_after.take(), failures, dice);
                self.retrying = Some(wait);
                self.wait(wait);
            }
            Effect::NotePaused { reason } => {
                // It goes in circles: whether it goes on is its user's to say. Who paused it is where they want to be.
                if self.machine.wants_word() {
                    self.give_seat_back().await;
                    self.give_keyboard_back().await;
                }
                self.append(EventBody::RunPaused { reason }).await?;
                // A call under way keeps the desktop until it has ended.
                if self.running.is_none() {
                    self.give_seat_back().await;
                }
            }
            Effect::NoteUsedUp { bound } => {
                // Whether it goes on is its user's to say.
                self.give_seat_back().await;
                self.give_keyboard_back().await;
                self.append(EventBody::BudgetReached { reached: Reached::UsedUp, bound }).await?;
            }
            Effect::NoteResumed => self.append(EventBody::RunResumed).await?,
            Effect::End(end) => self.end(end).await?,
        }
        Ok(None)
    }

    async fn end(&mut self, end: RunEnd) -> Result<(), ErrorView> {
        self.operation = None;
        self.give_seat_back().await;
        // Its user types on where they started it; who stopped it looks at what it did.
        if self.run.spec.parent.is_none() && !matches!(end, RunEnd::Stopped { .. }) {
            self.give_keyboard_back().await;
        }
        // Its jobs, too: stop means that nothing of it goes on, and those of an agent's session nobody reads any more.
        let goes_whole = matches!(end, RunEnd::Stopped { .. }) || self.run.spec.parent.is_some();
        if let Some(terminal) = self.run.ports.terminal.as_ref().filter(|_| goes_whole) {
            terminal.stop_all();
        }
        // What they did last is told with it.
        if let Some(agents) = self.run.ports.agents.clone() {
            agents.stop_all().await;
        }
        let used = self.run.ledger.below(&self.run.id);
        let of_agents = recovery::of_agents(&self.run.log, &self.run.id, used).await;
        let of_agents = of_agents.unwrap_or_else(|error| {
            tracing::warn!("what the agents of {} did is not told: {error}", self.run.id);
            None
        });
        // Before anyone sees the end: who sees it may begin the next run at once.
        self.run.mailbox.close();
        // Nobody has stopped it: it is offered, as after a crash. One that goes on at the next start has no end yet.
        let left = matches!(&end, RunEnd::Stopped { reason } if reason == LEFT);
        let end = if left { RunEnd::Interrupted { reason: None } } else { end };
        if !(left && self.run.spec.carries_on() && !self.machine.is_paused()) {
            if let Some(report) = self.plan.report() {
                self.append(EventBody::PlanReported { report: Box::new(report) }).await?;
            }
            if let Some(told) = of_agents {
                self.append(told).await?;
            }
            self.append(EventBody::RunEnded { end: end.clone() }).await?;
        }
        self.end = Some(end);
        Ok(())
    }

    fn needs_own_hands(&self, call: &ToolCall) -> bool {
        self.wants_own_hands && self.outline(&self.request(call.clone())).seat
    }

    /// As far as the arguments tell.
    pub(super) fn outline(&self, request: &ExecRequest) -> Assessment {
        self.run.router.outline(request, &self.run.limits)
    }

    async fn assess(&mut self, call: ToolCall) -> Verdict {
        if let Some(error) = self.proposals.refusal(&call.id) {
            return Verdict::Forbid(error);
        }
        // Whoever has the answer already has not asked.
        if call.tool == ASK_HUMAN && call.arguments.get("answer").is_some() && !self.edited.contains(&call.id)
        {
            let message = "the answer is the user's: leave it out".to_owned();
            return Verdict::Forbid(ToolError { kind: ToolErrorKind::BadArguments, message });
        }
        if let Some(error) = self.not_its_own(&call) {
            return Verdict::Forbid(error);
        }
        let warning = self.proposals.warning(&call.id);
        let request = self.request(call);
        if self.has_own_hands && self.outline(&request).seat {
            match self.kept_from(&request.call).await {
                Some(Ok(())) => {}
                Some(Err(error)) => return Verdict::Forbid(error),
                None => return Verdict::Later,
            }
        }
        if self.handed_back {
            let outline = self.outline(&request);
            if outline.seat
                && !matches!(outline.decision, Decision::Forbid { .. })
                && let Err(error) = self.take_keyboard_again(&request.call).await
            {
                return Verdict::Forbid(error);
            }
        }
        let (router, limits) = (self.run.router.clone(), self.run.limits.clone());
        let Some(mut assessment) = self.unless_heard(Box::pin(router.assess(&request, &limits))).await else {
            return Verdict::Later;
        };
        if matches!(assessment.decision, Decision::Ask { .. })
            && !self.handed_back
            && self.take_keyboard_from_ours(&request.call).await
        {
            match self.unless_heard(Box::pin(router.assess(&request, &limits))).await {
                Some(again) => assessment = again,
                None => return Verdict::Later,
            }
        }
        let ask = |risk, reason| Verdict::Ask {
            approval: ApprovalId::from_suffix(uuid::Uuid::now_v7().simple()),
            risk,
            reason,
        };
        let verdict = match (assessment.decision, warning) {
            (Decision::Forbid { error }, _) => Verdict::Forbid(error),
            (Decision::Run, None) => match self.before_the_end(&request.call).await {
                Some(reason) => ask(Risk::Observe, reason),
                None => Verdict::Run,
            },
            (Decision::Ask { reason }, None) => ask(assessment.risk.unwrap_or(Risk::Consequential), reason),
            // Asked each time: a yes is to this very warning.
            (Decision::Run, Some(warning)) => ask(Risk::Consequential, warning),
            (Decision::Ask { reason }, warning) => ask(Risk::Consequential, warned(warning, reason)),
        };
        // Nobody could answer: a menu takes the first click and every key, and lies over the question.
        if matches!(verdict, Verdict::Ask { .. })
            && std::mem::take(&mut self.has_acted)
            && self.run.router.close_menus().await
        {
            return Verdict::Forbid(ToolError {
                kind: ToolErrorKind::NotAvailable,
                message: MENU_CLOSED.to_owned(),
            });
        }
        let verdict = self.unless_disturbed(assessment.risk, verdict);
        self.unless_woken(assessment.risk, verdict)
    }

    /// Why it may not use a tool that there is: its parent, or whoever started it, gave it others.
    fn not_its_own(&self, call: &ToolCall) -> Option<ToolError> {
        let spec = &self.run.spec;
        if spec.groups.is_none() && !spec.conducts {
            return None;
        }
        let is_kept_from_it = |part: &ToolCall| {
            let tool = self.run.router.registry().get(&part.tool);
            tool.is_some_and(|tool| !start::has_group(spec, &tool.spec().group))
        };
        let kept = call.parts().into_iter().find(is_kept_from_it)?;
        let message = format!("{} is none of your tools in this run", kept.tool);
        Some(ToolError { kind: ToolErrorKind::NotAvailable, message })
    }

    async fn request_approval(
        &mut self,
        call: ToolCall,
        id: ApprovalId,
        risk: Risk,
        reason: String,
    ) -> Result<Option<Input>, ErrorView> {
        let within = Duration::from_millis(self.run.settings.approval_deadline_ms);
        let deadline = Timestamp(self.run.log.now().0.saturating_add_unsigned(within.as_millis() as u64));
        // Who is asked needs the mouse and the keyboard: nothing of ours may be down. The window in front gets the focus
        // back before anything is done: the answer is given in one of ours.
        let window = match self.lease.take() {
            Some(lease) => lease.give_back().await,
            None => lease::front(&self.run.router).await,
        };
        if !self.handed_back {
            self.front.clone_from(&window);
        }
        let presses = self.run.seats.presses();
        // Nothing of ours has the focus yet: this is what the user is shown, and what a yes is bound to.
        let request = self.request(call.clone());
        let (router, limits) = (self.run.router.clone(), self.run.limits.clone());
        let ports = self.run.ports.clone();
        let look = Box::pin(tools::one_look(async {
            let now = router.assess(&request, &limits).await;
            let shown = tokio::join!(
                lease::target(&router, &call),
                router.goes_to(&call, &limits),
                router.entries(&call, &ports, &limits),
                router.surroundings(&call, &limits),
                router.sight(&call, &limits),
            );
            (now, shown)
        }));
        let looked = match self.run.rules.end_on_approval {
            // The run ends with this question.
            true => Some(look.await),
            false => self.unless_heard(look).await,
        };
        let Some((now, shown)) = looked else { return Ok(Some(Input::NotAsked)) };
        let (target, mut goes_to, entries, seen, sight) = shown;
        // Something else may have come to the front since it was first looked at: why it is asked, how grave it is and
        // what a yes is bound to are of this one look.
        let risk = now.risk.map_or(risk, |now| now.max(risk));
        let Assessment { digest, touches, mut hosts, outside, decision, .. } = now;
        let reason = match decision {
            Decision::Ask { reason } => warned(self.proposals.warning(&call.id), reason),
            Decision::Run | Decision::Forbid { .. } => reason,
        };
        let about = Box::new(self.about(&call, outside).await);
        hosts.retain(|host| reason.contains(host.as_str()));
        let is_told = !hosts.is_empty()
            || matches!(*about, About::Plan { .. })
            || self.run.spec.approval == ApprovalMode::Auto;
        let read = if is_told { self.has_read() } else { Vec::new() };
        let window: Option<FrontWindow> = window.map(Into::into);
        let picture = match sight {
            Some(taken) => Some(Box::new(self.run.log.put_picture(taken).await?)),
            None => self.picture_before_edit(&call, window.as_ref()),
        };
        for (there, entry) in goes_to.iter_mut().zip(entries) {
            if there.is_empty() {
                *there = entry;
            }
        }
        let mut approval = Approval {
            id,
            call,
            risk,
            reason,
            digest,
            deadline,
            window,
            target,
            goes_to,
            seen,
            picture,
            hosts,
            touches,
            read,
            about,
            asks: self.run.spec.approval,
        };
        self.run.router.redact_question(&mut approval).await;
        // After the last look at what it is about.
        self.give_keyboard_back().await;
        // Before anyone can answer it: what its user does meanwhile counts from here on.
        self.run.deadlines.arm(approval.id.clone(), within, presses);
        self.append(EventBody::ApprovalRequested { approval: approval.clone() }).await?;
        self.question = Some(approval);
        self.wait_for_an_answer();
        Ok(None)
    }

    /// The picture of the field that a call goes to, from before its user changed the call: they did that in a window of ours,
    /// which has the keyboard now. `None` if another window is in front behind it.
    fn picture_before_edit(&self, call: &ToolCall, window: Option<&FrontWindow>) -> Option<Box<PictureView>> {
        let before = self.before_edit.as_ref().filter(|before| before.call.id == call.id)?;
        let is_there = before.window.as_ref()?.id == window?.id && call.goes_to_the_focus();
        before.picture.clone().filter(|_| is_there && before.call.tool == call.tool)
    }

    /// What its model has read beside its user's words, the newest last.
    fn has_read(&self) -> Vec<Source> {
        let earlier = self.run.context.has_earlier().then_some(Source::Earlier);
        let parent = self.run.spec.is_told_by_an_agent().then_some(Source::Agent);
        let search = self.run.spec.search.then_some(Source::Search);
        earlier.into_iter().chain(parent).chain(search).chain(self.read.iter().cloned()).collect()
    }

    pub(super) fn wait_for_an_answer(&mut self) {
        self.operation = Some(Box::pin(async move {
            tokio::time::sleep(PARK_AFTER).await;
            Outcome::Unanswered
        }));
    }

    fn execute(&mut self, call: ToolCall, approved: bool) {
        self.prepare(Waiting { call, approved, has_begun: false });
    }

    fn prepare(&mut self, waiting: Waiting) {
        if !self.outline(&self.request(waiting.call.clone())).seat {
            self.operation = Some(Box::pin(async move { Outcome::Ready(waiting, None) }));
            return;
        }
        self.seek_seat(waiting);
    }

    /// Waits for the desktop; if the run has it, goes on at once.
    fn seek_seat(&mut self, waiting: Waiting) {
        let lease = self.lease.take();
        self.seeks_seat = lease.is_none();
        let (seat, id, fence) = (self.run.seat.clone(), self.run.id.clone(), self.fence());
        self.operation = Some(Box::pin(async move {
            let lease = match lease {
                Some(lease) => lease,
                None => seat.take(Holder::Run(id), fence).await,
            };
            Outcome::Ready(waiting, Some(lease))
        }));
    }

    pub(super) fn fence(&self) -> Fence {
        let mut fence = self.run.spec.fence.clone().unwrap_or_default();
        fence.never.extend(self.current_settings().never_apps.iter().cloned());
        fence
    }

    /// A call whose turn has come: put aside while the run is paused, else its intent is on disk before it runs.
    pub(super) async fn ready(&mut self, waiting: Waiting, lease: Option<Lease>) -> Result<(), ErrorView> {
        let sought = std::mem::take(&mut self.seeks_seat);
        if self.machine.is_paused() {
            self.put_aside = Some(waiting);
            return Ok(());
        }
        let Waiting { call, approved, has_begun } = waiting;
        let mut request = self.request(call.clone());
        let assessment = self.outline(&request);
        let mut risk = assessment.risk.unwrap_or(Risk::Consequential);
        let asked = self.allowed.take_if(|(asked, _)| approved && asked.call.id == call.id);
        if approved && asked.is_none() {
            self.operation = Some(Box::pin(async move { Outcome::Tool(call, Box::new(taken_back())) }));
            return Ok(());
        }
        if let Some((asked, _)) = &asked {
            request.approved = Some(Yes { digest: asked.digest.clone(), risk: asked.risk });
            request.waived = asked.about.not_passed().cloned().collect();
            risk = asked.risk;
        }
        let asked = asked.filter(|_| lease.is_some());
        // The focus is where it was only if nobody else has had the desktop since, and it was not given back.
        let front = match &lease {
            Some(lease) if lease.passed_on || approved || self.handed_back => self.front.take(),
            Some(_) | None => None,
        };
        // What only looks has no claim to the keyboard.
        let takes_keys = lease.is_some() && (call.goes_to_the_focus() || call.tool == "batch");
        // A click, too, may take the keyboard away in the middle of what the user types to us.
        let acts = lease.is_some() && risk != Risk::Observe;
        // A look between two acts gives nothing up.
        // Where nothing is known to give it to, the next call finds out where it is.
        let was_handed_back = front.is_some() && std::mem::take(&mut self.handed_back);
        if lease.is_some() {
            self.lease = lease;
            self.has_acted = true;
            if sought {
                self.note_keyboard().await;
            }
        }
        if !has_begun {
            self.append(EventBody::ToolStarted { call: call.clone(), risk }).await?;
        }
        self.running = Some(call.clone());
        self.halt = self.run.stop.token.child_token();
        let (router, cancel, limits) = (self.run.router.clone(), self.halt.clone(), self.run.limits.clone());
        let own = self.has_own_hands.then(|| (self.run.seats.clone(), self.run.id.clone()));
        let types = call.goes_to_the_focus();
        self.operation = Some(Box::pin(async move {
            let restore = async {
                match (&asked, &front) {
                    (Some((asked, meanwhile)), _) => router.restore(asked, *meanwhile, &limits).await,
                    (None, Some(window)) => match types_to_us(&router).await {
                        Ok(()) => router.restore_focus(window).await,
                        Err(error) => Err(error),
                    },
                    (None, None) if takes_keys => router.take_focus_from_ours().await,
                    (None, None) if acts => types_to_us(&router).await,
                    (None, None) => Ok(()),
                }?;
                match &own {
                    Some((seats, id)) if types && !seats.types_into_its_own(id, &router).await => {
                        Err(types_nowhere())
                    }
                    Some(_) | None => Ok(()),
                }
            };
            let restored = tokio::select! {
                biased;
                // Nothing takes the focus from the user any more; the call itself says that it was cancelled.
                () = cancel.cancelled() => Ok(()),
                restored = restore => restored,
            };
            let matters = asked.is_some() || takes_keys || was_handed_back || front.is_none();
            if let Err(error) = restored
                && matters
            {
                let error = router.redact_error(error).await;
                let refused = Box::new(Executed::refused(error));
                return match was_handed_back {
                    true => Outcome::NotThere { call, refused, front },
                    false => Outcome::Tool(call, refused),
                };
            }
            let own = own.filter(|_| acts);
            if let Some((seats, id)) = &own
                && let Some(acts_in) = router.acts_in(&call, &limits).await
            {
                seats.goes_into(id, acts_in, &router).await;
            }
            let executed = router.execute(Call { request, cancel, limits }).await;
            if let Some((seats, id)) = own {
                let looked = tokio::time::timeout(FRONT_WITHIN, router.pointer()).await;
                if let Ok(Some(pointer)) = looked {
                    seats.points_at(&id, pointer);
                }
            }
            Outcome::Tool(call, Box::new(executed))
        }));
        self.show_status();
        Ok(())
    }

    /// After a pause.
    pub(super) fn take_up_call(&mut self) {
        if self.machine.is_paused() {
            return;
        }
        let Some(waiting) = self.put_aside.take() else { return };
        let risk = self.outline(&self.request(waiting.call.clone())).risk;
        match self.unless_disturbed(risk, Verdict::Run) {
            Verdict::Forbid(error) => {
                let refused = Box::new(Executed::refused(error));
                self.operation = Some(Box::pin(async move { Outcome::Tool(waiting.call, refused) }));
            }
            Verdict::Run | Verdict::Ask { .. } | Verdict::Later => self.prepare(waiting),
        }
    }

    /// At the end of a turn the desktop is everybody's again, unless something is held down that the next turn lets go of.
    async fn return_seat(&mut self) {
        if !self.run.router.is_holding() {
            self.give_seat_back().await;
        }
    }

    pub(super) async fn give_seat_back(&mut self) {
        if let Some(lease) = self.lease.take() {
            let front = lease.give_back().await;
            if !self.handed_back {
                self.front = front;
            }
        }
    }

    fn wait(&mut self, wait: Duration) {
        self.operation = Some(Box::pin(async move {
            tokio::time::sleep(wait).await;
            Outcome::Waited
        }));
    }
}

/// The vendor's warning goes before our own reason.
fn warned(warning: Option<String>, reason: String) -> String {
    match warning {
        Some(warning) => format!("{warning}; {reason}"),
        None => reason,
    }
}

/// A no came after the yes, before anything was done.
fn taken_back() -> Executed {
    let message = "not done: the user took the yes back; do not try it again in another form".to_owned();
    Executed::refused(ToolError { kind: ToolErrorKind::Denied, message })
}

fn refused(error: ToolError) -> ExecResult {
    ExecResult {
        effect: CallEffect::Refused,
        summary: error.message.clone(),
        data: Value::Null,
        error: Some(error),
        picture: None,
        read: Vec::new(),
        changes: Vec::new(),
        output: Vec::new(),
        took: Millis(0),
    }
}

/// To the model.
fn put_off() -> ToolError {
    let message = "not done: it was stopped or paused before it began".to_owned();
    ToolError { kind: ToolErrorKind::Cancelled, message }
}

/// Waits until the user has come to the end of what they type in one of our windows.
///
/// # Errors
/// `NotAvailable` if they type on.
async fn types_to_us(router: &Router) -> Result<(), ToolError> {
    if router.is_focus_ours().await.is_ok_and(|ours| ours) {
        return router.user_rests(SENTENCE).await;
    }
    Ok(())
}
