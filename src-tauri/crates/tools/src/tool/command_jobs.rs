//! Commands that go on by themselves: `readCommand`, `typeCommand`, `stopCommand`.

use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use space::terminal::Stopped;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, commands, filled, within};
use crate::reach::{Ordered, Reach};

const TEXT_CHARS: usize = 10_000;
/// How long an answer to what was typed is waited for.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);
const MOST_SECONDS: u32 = 60;

pub(super) struct ReadCommand;

/// Tells what a job has printed since line `from`, and whether it has ended; waits up to `seconds` for that.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    job: u32,
    from: Option<u64>,
    #[schemars(range(min = 0, max = 60))]
    seconds: Option<u32>,
}

impl Builtin for ReadCommand {
    const NAME: &'static str = "readCommand";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Terminal;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = ReadInput;

    fn plan(input: ReadInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        let seconds = within("seconds", input.seconds.unwrap_or(0), 0, MOST_SECONDS)?;
        let wait = Duration::from_secs(seconds.into());
        let task = Read { job: input.job, from: input.from.unwrap_or(0), wait };
        Ok(Plan::new(Self::RISK, task).taking(wait))
    }
}

struct Read {
    job: u32,
    from: u64,
    wait: Duration,
}

#[async_trait]
impl Task for Read {
    async fn run(&self, cx: &Context) -> Outcome {
        read(cx, ReadCommand::NAME, self.job, self.from, self.wait).await
    }
}

async fn read(cx: &Context, tool: &str, number: u32, from: u64, wait: Duration) -> Outcome {
    let job = match commands::job(cx, number) {
        Ok(job) => job,
        Err(error) => return Outcome::failed(tool, Effect::Refused, error),
    };
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => {}
        _ = tokio::time::timeout(wait, job.wait()) => {}
    }
    let page = job.read(from);
    let mut data = json!({ "job": number, "output": commands::bounded(&page.text), "next": page.next });
    let line = commands::shown(job.command());
    let how = match job.outcome() {
        None => "goes on".to_owned(),
        Some(Ok(outcome)) => {
            let (how, exit) = commands::ended(&outcome.exit);
            data["exit"] = exit;
            how
        }
        Some(Err(error)) => return Outcome::failed(tool, Effect::Refused, commands::from_terminal(&error)),
    };
    let mut told = Outcome::looked(format!("job {number} ({line}): {how}"), data);
    commands::hold_back(cx, &mut told, &job).await;
    told
}

pub(super) struct TypeCommand;

/// Types into a job that reads: a line break is Enter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeInput {
    job: u32,
    #[schemars(length(min = 1, max = 10000))]
    text: String,
}

impl Builtin for TypeCommand {
    const NAME: &'static str = "typeCommand";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Terminal;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = TypeInput;

    fn plan(input: TypeInput, env: &Env<'_>) -> Result<Plan, ToolError> {
        filled("text", &input.text, TEXT_CHARS)?;
        let TypeInput { job, text } = input;
        let reach = Reach::Command(Ordered::Input { job, text: text.clone() });
        let plan = Plan::new(Self::RISK, Type { job, text }).reaching(reach);
        Ok(match env.ports.unconfined() {
            Some(why) => plan.asking_always(commands::unconfined(why)),
            None => plan,
        })
    }
}

struct Type {
    job: u32,
    text: String,
}

#[async_trait]
impl Task for Type {
    async fn run(&self, cx: &Context) -> Outcome {
        let job = match commands::job(cx, self.job) {
            Ok(job) => job,
            Err(error) => return Outcome::failed(TypeCommand::NAME, Effect::Refused, error),
        };
        let from = job.read(u64::MAX).next;
        cx.begin();
        let keys = self.text.replace("\r\n", "\r").replace('\n', "\r");
        if let Err(error) = job.write(keys.as_bytes()) {
            return Outcome::failed(TypeCommand::NAME, Effect::Refused, commands::from_terminal(&error));
        }
        let read = read(cx, TypeCommand::NAME, self.job, from, ANSWERS_WITHIN).await;
        let effect = if read.error.is_some() { read.effect } else { Effect::Unverified };
        let summary = format!("typed {} characters into {}", self.text.chars().count(), read.summary);
        Outcome { effect, summary, ..read }
    }
}

pub(super) struct StopCommand;

/// Ends a job with all that it started.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StopInput {
    job: u32,
}

impl Builtin for StopCommand {
    const NAME: &'static str = "stopCommand";
    /// Its own session's alone.
    const RISK: Risk = Risk::Navigate;
    const GROUP: Group = Group::Terminal;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = StopInput;

    fn plan(input: StopInput, _: &Env<'_>) -> Result<Plan, ToolError> {
        let reach = Reach::Command(Ordered::Stop { job: input.job });
        Ok(Plan::new(Self::RISK, Stop { job: input.job }).reaching(reach))
    }
}

struct Stop {
    job: u32,
}

#[async_trait]
impl Task for Stop {
    async fn run(&self, cx: &Context) -> Outcome {
        let job = match commands::job(cx, self.job) {
            Ok(job) => job,
            Err(error) => return Outcome::failed(StopCommand::NAME, Effect::Refused, error),
        };
        cx.begin();
        job.stop(Stopped::Cancelled);
        // Gone when this answers: it may be started again at once.
        let _ = job.wait().await;
        read(cx, StopCommand::NAME, self.job, 0, Duration::ZERO).await
    }
}
