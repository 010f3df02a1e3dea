//! Carries out what was permitted: one call, or a batch whose later actions are looked at again, each right before it is
//! done. What came before may have led it elsewhere than was shown or allowed.

use std::sync::Arc;

use desktop::Desktop;
use protocol::contract::Contract;
use protocol::tool::{Effect, Grant, Risk, Source, ToolError, ToolErrorKind};
use serde_json::{Value, json};

use super::Router;
use crate::plan::{Step, Work};
use crate::policy::Grants;
use crate::provenance;
use crate::reach::Act;
use crate::settle::{self, SettlePolicy};
use crate::target::{self, Found, Targets};
use crate::tool::{self, Context, Outcome, tool_error};
use crate::{contract, effect, goes_to, supervise, untrusted, whose};

/// Of what a later action of a batch would have to ask, were it called by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    All,
    /// In auto, once something was read: only of what goes out, and of applications with a rule.
    Leaving,
    /// In auto: only of applications of which the user wants to be asked.
    Rules,
}

/// What a call was found to touch when it was permitted, and what else was allowed then.
pub(super) struct Allowed<'a> {
    pub(super) asks: Asks,
    pub(super) found: Found,
    pub(super) grants: Grants,
    /// The plan by which it runs, where the user was not asked about this very call.
    pub(super) watched: Option<(&'a Router, Arc<Contract>)>,
}

/// Runs what was permitted, and says what came of it by what can be seen. `allowed` is `None` if nothing asks.
pub(super) async fn carry_out(step: &Step, allowed: Option<&Allowed<'_>>, cx: &Context) -> Outcome {
    let before = if step.is_verified_on_screen() { Some(settle::before(cx).await) } else { None };
    let mut outcome = match step.plan().work() {
        Work::One(_) => match strays_at_once(step, 0, allowed, cx).await {
            Some(error) => Outcome::failed(step.name(), Effect::Refused, error),
            None => run_one(step, cx).await,
        },
        Work::Steps(steps) => run_steps(steps, allowed, cx).await,
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
            effect::judge(&mut outcome, step.spec().verify, &before, &after);
            outcome.picture = Some(picture);
            if let Value::Object(data) = &mut outcome.data
                && let Some((list, source, told)) = tool::element_changes(cx).await
            {
                data.insert("list".into(), list);
                Source::add(&mut outcome.read, [source]);
                outcome.told.extend(told);
            }
        }
        Err(error) => outcome.say(&format!("no picture could be had: {}", error.message)),
    }
    outcome
}

async fn run_one(step: &Step, cx: &Context) -> Outcome {
    if let Some(error) = taken_by_a_prompt(step, cx).await {
        return Outcome::failed(step.name(), Effect::Refused, error);
    }
    match step.plan().work() {
        Work::One(task) => {
            let mut outcome = supervise::attempt(step, task, cx).await;
            outcome.read.extend(provenance::source(step, &outcome));
            outcome
        }
        Work::Steps(_) => {
            let error = tool_error(ToolErrorKind::BadArguments, "a batch cannot be part of a batch");
            Outcome::failed(step.name(), Effect::Refused, error)
        }
    }
}

/// Why keys are not sent: what asks for a password takes them, whoever seems to have the keyboard.
async fn taken_by_a_prompt(step: &Step, cx: &Context) -> Option<ToolError> {
    let may_type = step.plan().reach().takes_keys() || step.name() == tool::SET_VALUE;
    if !may_type {
        return None;
    }
    let windows = tokio::time::timeout(target::PATIENCE, cx.desktop.windows()).await.ok()?.ok()?;
    let prompt = whose::prompter(&*cx.desktop, &windows)?;
    let title = untrusted::line(&prompt.title, 80);
    let message = format!(
        "nothing was typed: a password is asked for (“{title}”), which takes the keyboard from all others; it is the \
         user's to answer"
    );
    Some(tool_error(ToolErrorKind::Forbidden, message))
}

/// Runs the steps in order until one fails or is read back as not done; the rest is not executed, and says so.
async fn run_steps(steps: &[Step], allowed: Option<&Allowed<'_>>, cx: &Context) -> Outcome {
    let mut told = Vec::new();
    let mut effects = Vec::new();
    let mut error = None;
    let (mut dot, mut picture, mut read, mut changes, mut all) =
        (None, None, Vec::new(), Vec::new(), Vec::new());
    for (index, step) in steps.iter().enumerate() {
        if error.is_some() {
            told.push(json!({
                "tool": step.name(),
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
        let outcome = match strays_at_once(step, index, allowed, cx).await {
            Some(error) => Outcome::failed(step.name(), Effect::Refused, error),
            None => run_one(step, cx).await,
        };
        if step.risk() > Risk::Observe {
            effects.push(outcome.effect);
        }
        let number = index + 1;
        error = match &outcome.error {
            Some(cause) => Some(tool_error(
                cause.kind,
                format!("action {number} of {} ({}): {}", steps.len(), step.name(), cause.message),
            )),
            None if outcome.falls_short() => Some(tool_error(
                ToolErrorKind::Failed,
                format!(
                    "action {number} of {} ({}) was read back, and it is not as wished",
                    steps.len(),
                    step.name()
                ),
            )),
            None => None,
        };
        told.push(step_told(step, &outcome));
        dot = outcome.dot.or(dot);
        picture = outcome.picture.or(picture);
        Source::add(&mut read, outcome.read);
        changes.extend(outcome.changes);
        all.extend(outcome.told);
    }
    let done = told.iter().filter(|part| part.get("done") == Some(&Value::Bool(true))).count();
    let mut whole = Outcome::looked(format!("{done} of {} actions done", steps.len()), Value::Array(told));
    whole.effect = together(&effects, error.is_some());
    if let Some(cause) = &error {
        whole.say(&cause.message);
    }
    Outcome { error, dot, picture, read, changes, told: all, ..whole }
}

/// Why an action is not what was allowed any more. The first one was looked at just now, but for the picture that was
/// taken since: by a plan nobody has seen it, and it is looked at again.
async fn strays_at_once(
    step: &Step,
    index: usize,
    allowed: Option<&Allowed<'_>>,
    cx: &Context,
) -> Option<ToolError> {
    let allowed = allowed.filter(|allowed| index > 0 || allowed.watched.is_some())?;
    match (allowed, allowed.found.parts.get(index)) {
        (Allowed { asks: Asks::Leaving, grants, .. }, shown) => match leaves(step, shown, grants, cx).await {
            None => comes_to_a_rule(step, shown, grants, cx).await,
            error => error,
        },
        (Allowed { asks: Asks::Rules, grants, .. }, shown) => comes_to_a_rule(step, shown, grants, cx).await,
        (allowed, Some(shown)) => strays(step, shown, allowed, cx).await,
        (_, None) => None,
    }
}

/// Why a later action of a batch is not what was allowed any more: what came before it has led it to another window, which
/// was neither shown nor allowed before.
async fn strays(step: &Step, shown: &Targets, allowed: &Allowed<'_>, cx: &Context) -> Option<ToolError> {
    let Allowed { found, grants, asks: _, watched } = allowed;
    let watched = watched.as_ref().filter(|_| step.risk() >= Risk::Edit);
    let met = match watched {
        Some((router, _)) => Some(router.met(step).await),
        None => None,
    };
    let controls = if watched.is_none() { controls_under(step, &*cx.desktop).await } else { Vec::new() };
    // Last, and quick: which window it is must not change while its elements are read.
    let mut looked = target::find(&*cx.desktop, &*cx.browser, grants, &cx.ports, step).await;
    if looked.together().is_unknown && !shown.is_unknown {
        // Once more: a look that ran out of time is no evidence.
        looked = target::find(&*cx.desktop, &*cx.browser, grants, &cx.ports, step).await;
    }
    let mut now = looked.together();
    now.read(&controls);
    // What came before may have led it to a launcher, or to the bare desktop.
    if now.is_unknown && !shown.is_unknown && step.risk() >= Risk::Edit {
        return Some(untold());
    }
    let is_ruled = |touch: &&Grant| grants.ask_of(touch) && !shown.touches.contains(touch);
    if let Some(ruled) = now.touches.iter().find(is_ruled).filter(|_| step.risk() >= Risk::Edit) {
        return Some(came_to_a_rule(ruled));
    }
    // What came before may have brought something else under its point.
    if let Some((_, contract)) = watched {
        for its in &looked.parts {
            now.meet(step, its, met.as_ref());
        }
        let granted = !now.touches.is_empty() && now.touches.iter().all(|touch| grants.covers(touch));
        let outside = contract::outside(contract, &now.needs);
        if (now.is_unknown || !outside.is_empty()) && !granted {
            let what = if outside.is_empty() { "its target".to_owned() } else { outside.join(", ") };
            let message = format!("not in the plan: {what}; call it by itself");
            return Some(tool_error(ToolErrorKind::Forbidden, message));
        }
    }
    // Where it goes on is the same window: what came before may have led it to a password field, or to what sends.
    let is_graver = now.risk.max(shown.risk) > shown.risk.max(Some(step.risk()));
    if watched.is_none() && is_graver {
        let why = now.why.clone().unwrap_or_default();
        let message = format!("{why}, and that was not asked about; call it by itself");
        return Some(tool_error(ToolErrorKind::Forbidden, message));
    }
    let other = now.strays_from(shown, step.plan().reach(), &found.open)?;
    let is_granted = now.touches.iter().all(|touch| grants.covers(touch));
    if is_granted && now.risk.max(Some(step.risk())) < Some(Risk::Consequential) {
        return None;
    }
    let why = now.why.clone().unwrap_or_else(|| format!("it would go to {other} now"));
    Some(tool_error(
        ToolErrorKind::Forbidden,
        format!("{why}, and that was not asked about; call it by itself"),
    ))
}

/// Why a later action of a batch, in auto, would act in an application of which the user wants to be asked.
async fn comes_to_a_rule(
    step: &Step,
    shown: Option<&Targets>,
    grants: &Grants,
    cx: &Context,
) -> Option<ToolError> {
    if !grants.ask_of_some() || step.risk() < Risk::Edit {
        return None;
    }
    let now = target::find(&*cx.desktop, &*cx.browser, grants, &cx.ports, step).await.together();
    if now.is_unknown && !shown.is_some_and(|shown| shown.is_unknown) {
        return Some(untold());
    }
    let is_shown = |touch: &&Grant| shown.is_some_and(|shown| shown.touches.contains(touch));
    let ruled = now.touches.iter().find(|touch| grants.ask_of(touch) && !is_shown(touch))?;
    Some(came_to_a_rule(ruled))
}

fn untold() -> ToolError {
    let message = "where it would go now cannot be told, and that was not asked about; call it by itself";
    tool_error(ToolErrorKind::Forbidden, message)
}

fn came_to_a_rule(ruled: &Grant) -> ToolError {
    let app = ruled.app.as_deref().unwrap_or_default();
    let message = format!("the user wants to be asked of each act in {app}; call it by itself");
    tool_error(ToolErrorKind::Forbidden, message)
}

/// What the controls under the points of an action say now.
pub(super) async fn controls_under(step: &Step, desktop: &dyn Desktop) -> Vec<String> {
    if step.risk() != Risk::Edit {
        return Vec::new();
    }
    let (display, points) = (step.plan().display(), step.plan().points());
    let mut controls = goes_to::controls_at(desktop, display, points).await;
    // What says nothing does nothing for a drag, and opens a menu for the right button.
    if !step.plan().act().is_some_and(Act::may_press) {
        controls.retain(|control| !control.is_empty());
    }
    controls
}

/// Why a later action of a batch would send something to a host that nobody named, or carry it off otherwise, where that was
/// not in the batch's own question.
async fn leaves(step: &Step, shown: Option<&Targets>, grants: &Grants, cx: &Context) -> Option<ToolError> {
    if step.risk() < Risk::Edit {
        return None;
    }
    let controls = controls_under(step, &*cx.desktop).await;
    let mut now = target::find(&*cx.desktop, &*cx.browser, grants, &cx.ports, step).await.together();
    now.read(&controls);
    let was_asked = |host: &&String| shown.is_some_and(|shown| shown.hosts.contains(host));
    let what = match now.hosts.iter().find(|host| !was_asked(host)) {
        Some(host) => format!("it would send something to {host}, which"),
        None if now.leaves && !shown.is_some_and(|shown| shown.leaves) => {
            format!("{}, and that", now.why.unwrap_or_default())
        }
        None => return None,
    };
    let message = format!("{what} was not asked about; call it by itself");
    Some(tool_error(ToolErrorKind::Forbidden, message))
}

fn step_told(step: &Step, outcome: &Outcome) -> Value {
    let mut told = json!({
        "tool": step.name(),
        "done": outcome.error.is_none() && !outcome.falls_short(),
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
