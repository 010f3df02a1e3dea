//! The run's plan: what its calls are weighed by, what the user is asked of it, and when it is used up.

use std::sync::Arc;
use std::time::Duration;

use journal::forecast::forecast;
use protocol::contract::{About, Check};
use protocol::tool::ToolCall;
use serde_json::Value;
use tools::Planning;

use super::Driver;

/// So often a check refuses `done` before the user is asked whether the work is taken as it is.
const REFUSALS: u32 = 3;
/// Look at all checks before the user is asked, where none of them takes longer.
const LOOK: Duration = Duration::from_secs(20);
/// What gives orders to a shell.
const COMMANDS: [&str; 2] = ["runCommand", "typeCommand"];
/// To a model that stops talking in place of calling `done`.
const CALL_DONE: &str =
    "The plan has checks: the work is over when you call `done` and they pass. Call it, or go on.";

impl Driver {
    pub(super) fn planning(&self) -> Planning {
        match &self.agreed {
            Some(agreed) => Planning::Agreed(agreed.clone()),
            None if self.run.spec.plan => Planning::Open,
            None => Planning::Off,
        }
    }

    /// From here on its calls are weighed by what the user agreed to last.
    pub(super) fn work_by_the_plan(&mut self) {
        self.agreed = self.plan.agreed.clone().map(Arc::new);
        self.machine.must_call_done = self.agreed.as_ref().is_some_and(|plan| !plan.checks.is_empty());
    }

    pub(super) fn tell_of_checks(&mut self) {
        if self.machine.must_call_done {
            self.steers.push(CALL_DONE.to_owned());
        }
    }

    /// What a question is about, beside its call.
    pub(super) async fn about(&mut self, call: &ToolCall, outside: Vec<String>) -> About {
        match call.tool.as_str() {
            "plan" => match self.run.router.contract(call.arguments.clone()).await {
                Ok(contract) => {
                    let before = self.agreed.as_deref();
                    let changes = before.map(|before| contract.changes_from(before)).unwrap_or_default();
                    let model = self.run.spec.model.clone();
                    let past = self.run.log.read(move |journal| journal.past_runs(&model)).await;
                    // Without it the plan is asked about all the same.
                    let forecast = past.ok().and_then(|past| forecast(&past, Some(&contract)));
                    About::Plan { contract: Box::new(contract), changes, forecast }
                }
                Err(_) => About::default(),
            },
            "done" => About::Result { findings: std::mem::take(&mut self.findings) },
            _ => {
                let request = self.request(call.clone());
                let diff = self.run.router.diff(&request, &self.run.limits).await;
                let orders = |part: ToolCall| COMMANDS.contains(&part.tool.as_str());
                let unconfined = call.parts().into_iter().any(orders) && request.ports.unconfined().is_some();
                About::Call { outside, diff, unconfined }
            }
        }
    }

    /// Why the user is asked before `done` may end the run; `None` if it may be tried, and is refused while a check fails.
    pub(super) async fn before_the_end(&mut self, call: &ToolCall) -> Option<String> {
        let agreed = self.agreed.clone().filter(|_| call.tool == "done")?;
        if call.arguments.get("success") == Some(&Value::Bool(false)) {
            return None;
        }
        let questions = agreed.checks.iter().filter_map(|check| match check {
            Check::AskUser { question } => Some(question.as_str()),
            _ => None,
        });
        let questions: Vec<&str> = questions.collect();
        let is_worn = self.plan.refusals >= REFUSALS;
        if questions.is_empty() && !is_worn {
            return None;
        }
        let (router, limits) = (self.run.router.clone(), self.run.limits.clone());
        let ports = self.run.ports.clone();
        let longest = LOOK.max(tools::longest_look(&agreed));
        let look = tokio::time::timeout(longest, async { router.check(&agreed, &limits, &ports).await });
        let findings = tokio::select! {
            biased;
            () = self.run.stop.token.cancelled() => return None,
            findings = look => findings.unwrap_or_default(),
        };
        let failing = findings.iter().filter(|finding| finding.failed()).count();
        let reason = match failing {
            0 if questions.is_empty() => return None,
            0 => format!("the plan asks you: {}", questions.join("; ")),
            _ if is_worn => {
                let asked = if questions.is_empty() {
                    String::new()
                } else {
                    format!(" The plan also asks you: {}", questions.join("; "))
                };
                format!("checks of the plan fail ({failing}): is the work accepted as it is?{asked}")
            }
            _ => return None,
        };
        self.findings = findings;
        Some(reason)
    }
}
