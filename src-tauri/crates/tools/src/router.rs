//! The one way in: assesses a call, and runs it only where the assessment lets it.
//!
//! Whoever calls may have asked the user or not: the router looks for itself, each time.

use std::sync::Arc;

use browser::Browser;
use desktop::{Desktop, Interruption};
use protocol::geometry::PixelSize;
use protocol::tool::{Effect, ExecResult, Mode, Risk, ToolError, ToolErrorKind};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::policy::{Granted, Verdict, decide};
use crate::settle::{self, SettlePolicy};
use crate::tool::{self, BATCH_RISK, Catalog, Context, Entry, Outcome, Planned, Refusal, Work, tool_error};
use crate::{Assessment, Decision, ExecRequest, Executed, Limits, ToolSpec, digest, effect, supervise};

/// The whitelist and the desktop it works on.
pub struct Router {
    entries: Vec<Entry>,
    desktop: Arc<dyn Desktop>,
    browser: Arc<dyn Browser>,
    limits: Arc<Limits>,
}

impl Router {
    /// All tools of the whitelist; those of the browser work once there is one.
    pub fn builtin(desktop: Arc<dyn Desktop>, limits: Limits) -> Self {
        desktop.fence(limits.fence.clone());
        Self { entries: tool::builtin(), desktop, browser: browser::absent(), limits: Arc::new(limits) }
    }

    /// The same with a browser.
    pub fn with_browser(self, browser: Arc<dyn Browser>) -> Self {
        Self { browser, ..self }
    }

    /// The same tools on the same desktop, within other limits.
    pub fn with_limits(&self, limits: Limits) -> Self {
        self.desktop.fence(limits.fence.clone());
        let (desktop, browser) = (self.desktop.clone(), self.browser.clone());
        Self { entries: tool::builtin(), desktop, browser, limits: Arc::new(limits) }
    }

    /// The size of the pictures of the first display; nothing where none can be taken.
    pub async fn picture_size(&self) -> Option<PixelSize> {
        if !self.desktop.abilities().screen {
            return None;
        }
        let displays = self.desktop.displays().await.ok()?;
        let first = displays.into_iter().find(|display| display.index == tool::DISPLAY)?.bounds;
        Some(self.limits.picture.fit(PixelSize { width: first.width, height: first.height }))
    }

    /// Releases every key and button this program holds down. Never waits for a call under way.
    pub fn release_all(&self) {
        self.desktop.release_all();
    }

    /// Whether acts keep out of the corner that stops everything.
    pub fn keep_corner(&self, on: bool) {
        self.desktop.keep_corner(on);
    }

    /// Completes when the user steps in after this call.
    pub fn interrupted(&self) -> futures::future::BoxFuture<'_, Interruption> {
        self.desktop.interrupted()
    }

    /// What is offered to a model: what works on this desktop and, in Plan mode, only looks. Always in the same order.
    pub fn specs(&self, mode: Mode) -> Vec<ToolSpec> {
        let catalog = self.catalog();
        let offered = |entry: &&Entry| {
            catalog.missing(entry).is_none() && (mode == Mode::Act || entry.risk == Risk::Observe)
        };
        let spec = |entry: &Entry| ToolSpec {
            name: entry.name.to_owned(),
            description: entry.description.clone(),
            schema: entry.schema.clone(),
            risk: entry.risk,
        };
        self.entries.iter().filter(offered).map(spec).collect()
    }

    fn catalog(&self) -> Catalog<'_> {
        Catalog {
            entries: &self.entries,
            abilities: self.desktop.abilities(),
            browser: self.browser.missing(),
            limits: &self.limits,
        }
    }

    /// What would become of a call. Pure: nothing is looked at or done.
    pub fn assess(&self, request: &ExecRequest) -> Assessment {
        self.weigh(request).0
    }

    /// Runs a call, where [`Router::assess`] says that it may run or `approved` is its digest. Never fails: what
    /// went wrong is in the result.
    pub async fn execute(&self, request: ExecRequest, cancel: CancellationToken) -> Executed {
        let started = Instant::now();
        let outcome = match self.permit(&request) {
            Ok(planned) => {
                let (desktop, browser) = (self.desktop.clone(), self.browser.clone());
                let cx = Context::new(desktop, browser, self.limits.clone(), cancel, planned.plan.display);
                carry_out(&planned, &cx).await
            }
            Err(error) => Outcome::failed(&request.call.tool, Effect::Refused, error),
        };
        let Outcome { effect, summary, data, error, picture, finished, dot: _ } = outcome;
        let result =
            ExecResult { effect, summary, data, error, picture: None, took: started.elapsed().into() };
        Executed { result, picture, finished }
    }

    /// The plan of a call that may run now, or why it may not.
    fn permit(&self, request: &ExecRequest) -> Result<Planned, ToolError> {
        let (assessment, planned) = self.weigh(request);
        match assessment.decision {
            Decision::Run => {}
            Decision::Ask { .. } if request.approved.as_deref() == Some(assessment.digest.as_str()) => {}
            Decision::Ask { reason } => {
                let why = match request.approved {
                    None => format!("the user has to say yes first: {reason}"),
                    Some(_) => {
                        "the user's yes was for another call; it does not count for this one".to_owned()
                    }
                };
                return Err(tool_error(ToolErrorKind::Forbidden, why));
            }
            Decision::Forbid { error } => return Err(error),
        }
        planned.ok_or_else(|| tool_error(ToolErrorKind::Failed, "the call has no plan"))
    }

    fn weigh(&self, request: &ExecRequest) -> (Assessment, Option<Planned>) {
        let call = &request.call;
        let digest = digest::digest(&call.tool, &call.arguments);
        let planned = match self.catalog().plan(&call.tool, &call.arguments) {
            Ok(planned) => planned,
            Err(Refusal { risk, error }) => {
                // A mistake is told before the mode is: either way it does not run.
                return (Assessment { risk, digest, decision: Decision::Forbid { error } }, None);
            }
        };
        let risk = planned.risk;
        let granted = planned.askers().iter().all(|tool| request.grants.covers(tool));
        let granted = if granted { Granted::Yes } else { Granted::No };
        let decision = match decide(request.mode, request.approval, risk, granted) {
            Verdict::Run => Decision::Run,
            Verdict::Ask => Decision::Ask { reason: question(&planned) },
            Verdict::Forbid => {
                let message = format!(
                    "{} is not for plan mode, which only looks; say what you would do, and let the user switch to act mode",
                    planned.name
                );
                Decision::Forbid { error: tool_error(ToolErrorKind::Forbidden, message) }
            }
        };
        (Assessment { risk: Some(risk), digest, decision }, Some(planned))
    }
}

/// Why the user is asked, with the model's own reason told apart from ours.
fn question(planned: &Planned) -> String {
    let ours = match planned.risk {
        Risk::Consequential => "can do what cannot be undone, or send something out",
        Risk::Observe | Risk::Navigate | Risk::Edit => "can change something on this computer",
    };
    match &planned.plan.reason {
        Some(theirs) => format!("{} {ours}; the model says: {theirs}", planned.name),
        None => format!("{} {ours}", planned.name),
    }
}

/// Runs what was permitted, and says what came of it by what can be seen.
async fn carry_out(planned: &Planned, cx: &Context) -> Outcome {
    let acts = acts_on_the_screen(planned);
    let before = if acts { Some(settle::before(cx).await) } else { None };
    let mut outcome = match &planned.plan.work {
        Work::One(_) => run_one(planned, cx).await,
        Work::Parts(parts) => run_parts(parts, cx).await,
    };
    // After a stop nobody waits for a picture, and where nothing was done there is nothing new to see.
    let Some(before) = before.filter(|_| !cx.cancel.is_cancelled() && outcome.effect != Effect::Refused)
    else {
        return outcome;
    };
    let policy = match outcome.effect {
        Effect::Unverified if before.thumbnail.is_some() => SettlePolicy::Change { before: &before },
        Effect::Confirmed => SettlePolicy::Confirmed,
        _ => SettlePolicy::Rest,
    };
    match settle::settled(cx, outcome.dot, policy).await {
        Ok((after, picture)) => {
            effect::judge(&mut outcome, &before, &after);
            outcome.picture = Some(picture);
        }
        Err(error) => outcome.say(&format!("no picture could be had: {}", error.message)),
    }
    outcome
}

fn acts_on_the_screen(planned: &Planned) -> bool {
    match &planned.plan.work {
        // A script's effect need not be on the screen; the model looks where it wants to know.
        Work::One(_) => matches!(planned.risk, Risk::Navigate | Risk::Edit),
        Work::Parts(parts) => parts.iter().any(acts_on_the_screen),
    }
}

async fn run_one(planned: &Planned, cx: &Context) -> Outcome {
    match &planned.plan.work {
        Work::One(task) => {
            let within = cx.limits.timeout.saturating_add(planned.plan.takes);
            supervise::attempt(planned.name, task, planned.risk, within, cx).await
        }
        Work::Parts(_) => {
            let error = tool_error(ToolErrorKind::BadArguments, "a batch cannot be part of a batch");
            Outcome::failed(planned.name, Effect::Refused, error)
        }
    }
}

/// Runs the parts in order until one fails or is read back as not done; the rest is not executed, and says so.
async fn run_parts(parts: &[Planned], cx: &Context) -> Outcome {
    debug_assert!(parts.iter().all(|part| part.risk <= BATCH_RISK), "osa is kept out of batches");
    let mut told = Vec::new();
    let mut effects = Vec::new();
    let mut error = None;
    let (mut dot, mut picture) = (None, None);
    for (index, part) in parts.iter().enumerate() {
        if error.is_some() {
            told.push(json!({
                "tool": part.name,
                "effect": Effect::Refused,
                "summary": "not executed: an earlier action in this batch failed",
            }));
            continue;
        }
        if index > 0 {
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => {}
                () = tokio::time::sleep(cx.limits.batch_delay) => {}
            }
        }
        let outcome = run_one(part, cx).await;
        if part.risk != Risk::Observe {
            effects.push(outcome.effect);
        }
        let number = index + 1;
        error = match &outcome.error {
            Some(cause) => Some(tool_error(
                cause.kind,
                format!("action {number} of {} ({}): {}", parts.len(), part.name, cause.message),
            )),
            None if outcome.effect == Effect::NoChange => Some(tool_error(
                ToolErrorKind::Failed,
                format!(
                    "action {number} of {} ({}) was read back, and it is not as wished",
                    parts.len(),
                    part.name
                ),
            )),
            None => None,
        };
        told.push(part_told(part, &outcome));
        dot = outcome.dot.or(dot);
        picture = outcome.picture.or(picture);
    }
    let done = told.iter().filter(|part| part.get("done") == Some(&Value::Bool(true))).count();
    let mut whole = Outcome::looked(format!("{done} of {} actions done", parts.len()), Value::Array(told));
    whole.effect = together(&effects, error.is_some());
    if let Some(cause) = &error {
        whole.say(&cause.message);
    }
    Outcome { error, dot, picture, ..whole }
}

fn part_told(part: &Planned, outcome: &Outcome) -> Value {
    let mut told = json!({
        "tool": part.name,
        "done": outcome.error.is_none() && outcome.effect != Effect::NoChange,
        "effect": outcome.effect,
        "summary": outcome.summary,
    });
    if let Some(error) = &outcome.error {
        told["error"] = json!(error);
    }
    if !outcome.data.is_null() {
        told["data"] = outcome.data.clone();
    }
    told
}

/// The weakest thing that can be said of all parts that acted.
fn together(effects: &[Effect], failed: bool) -> Effect {
    let any = |effect| effects.contains(&effect);
    if any(Effect::Unknown) {
        Effect::Unknown
    } else if any(Effect::Unverified) {
        Effect::Unverified
    } else if any(Effect::Confirmed) {
        // Some of it was seen to be done, but not the whole.
        if failed { Effect::Unverified } else { Effect::Confirmed }
    } else if any(Effect::NoChange) {
        Effect::NoChange
    } else if failed {
        Effect::Refused
    } else {
        Effect::Confirmed
    }
}
