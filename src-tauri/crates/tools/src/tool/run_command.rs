//! `runCommand`: a command in the session's folder, inside the system's sandbox.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use space::terminal::policy::{self, Effect as Does};
use space::terminal::{CommandSpec, Confinement, Exit, Network, ProxyAt, Unconfined, Update};
use web::Proxy;

use super::{
    Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, bad_arguments, commands, files, filled,
    tool_error, within,
};
use crate::hosts::named_site;
use crate::reach::{Ordered, Reach};
use crate::untrusted;

const LINE_CHARS: usize = 20_000;
const SECONDS: u32 = 120;
const MOST_SECONDS: u32 = 3_600;
/// Styled lines that people see of one command.
const SHOWN_LINES: usize = 400;
const MOST_HOSTS: usize = 8;
/// Each is to be read whole in its question.
const HOST_CHARS: usize = 64;

pub(super) struct RunCommand;

/// Runs a shell command in the user's folder and tells its output and exit code. Only that folder can be written, and
/// there is no network but to `hosts`, by HTTP(S), which asks; files with keys (.env) and what runs later (.vscode, .git/hooks) are closed unless its line names
/// them, which asks. With `background` it goes on: `readCommand`, `typeCommand` and `stopCommand` take its job.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 20000))]
    command: String,
    /// A folder in it to begin in.
    folder: Option<String>,
    #[schemars(range(min = 1, max = 3600))]
    seconds: Option<u32>,
    background: Option<bool>,
    /// Each by its whole name: `example.org`, `www.example.org`.
    #[schemars(length(max = 8))]
    hosts: Option<Vec<String>>,
}

impl Builtin for RunCommand {
    const NAME: &'static str = "runCommand";
    const RISK: Risk = Risk::Consequential;
    const GROUP: Group = Group::Terminal;
    const NEEDS: Needs = Needs::Space;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        filled("command", &input.command, LINE_CHARS)?;
        let seconds = within("seconds", input.seconds.unwrap_or(SECONDS), 1, MOST_SECONDS)?;
        env.ports.terminal.as_ref().ok_or_else(commands::none)?;
        let background = input.background.unwrap_or(false);
        let hosts = hosts_of(input.hosts)?;
        let weighed = policy::weigh(&input.command);
        let risk = match weighed.effect {
            Does::Reads if !background && hosts.is_empty() => Risk::Navigate,
            Does::Reads | Does::Changes => Risk::Edit,
            Does::Unclear => Risk::Consequential,
        };
        let mut spec = CommandSpec::new(input.command.clone());
        spec.cwd = input.folder.clone().map(Into::into);
        spec.timeout = (!background || input.seconds.is_some()).then(|| Duration::from_secs(seconds.into()));
        let named =
            files::named_in(&input.command, input.folder.as_deref(), risk > Risk::Navigate, env.ports);
        spec.opened = named.opened;
        if background && !hosts.is_empty() && input.seconds.is_none() {
            return Err(bad_arguments("a background command with hosts takes seconds, after which it ends"));
        }
        let why = match env.ports.unconfined() {
            Some(_) if !hosts.is_empty() => {
                let message = "nothing confines commands here, so none can be kept to hosts; leave hosts out";
                return Err(tool_error(ToolErrorKind::NotAvailable, message));
            }
            Some(why) => {
                spec.unconfined = Unconfined::Allowed;
                Some(commands::unconfined(why))
            }
            None => weighed
                .unclear
                .map(|why| format!("what this line does cannot be told: {}", untrusted::line(&why, 200)))
                .or(named.why),
        };
        let reach = Reach::Command(Ordered::Run { line: input.command, hosts: hosts.clone() });
        let plan = Plan::new(risk, Run { spec, hosts, background }).reaching(reach);
        let plan = if background { plan } else { plan.taking(Duration::from_secs(seconds.into())) };
        Ok(match why {
            Some(why) => plan.asking_always(why),
            None => plan,
        })
    }
}

/// In lower case, each once.
fn hosts_of(wished: Option<Vec<String>>) -> Result<Vec<String>, ToolError> {
    let mut hosts = Vec::new();
    for wish in wished.unwrap_or_default() {
        let is_whole =
            |host: &String| !host.contains([':', '[']) && host != "localhost" && host.len() <= HOST_CHARS;
        let host = named_site(wish.trim()).filter(is_whole);
        let host = host.ok_or_else(|| {
            let wish = untrusted::line(&wish, 80);
            bad_arguments(format!("hosts: \"{wish}\" is no host; name each whole, in {HOST_CHARS} characters at most, without scheme, port or *"))
        })?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if hosts.len() > MOST_HOSTS {
        return Err(bad_arguments(format!("hosts: {MOST_HOSTS} at most")));
    }
    Ok(hosts)
}

struct Run {
    spec: CommandSpec,
    /// That it may reach.
    hosts: Vec<String>,
    background: bool,
}

#[async_trait]
impl Task for Run {
    async fn run(&self, cx: &Context) -> Outcome {
        match self.carry_out(cx).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(RunCommand::NAME, Effect::Refused, error),
        }
    }
}

impl Run {
    async fn carry_out(&self, cx: &Context) -> Result<Outcome, ToolError> {
        let terminal = commands::terminal(cx)?;
        let line = commands::shown(&self.spec.command);
        let progress = cx.progress();
        let tell = move |Update { first, lines }| {
            if let Some(progress) = &progress {
                progress.tell(first, lines);
            }
        };
        cx.begin();
        let mut spec = self.spec.clone();
        let proxy = self.proxy(cx)?;
        spec.network = proxy.clone().map(|proxy| self.network(proxy));
        // It looks through the folder first.
        let started = tokio::task::spawn_blocking(move || terminal.start(spec, tell)).await;
        let started = started.map_err(|panic| tool_error(ToolErrorKind::Failed, panic.to_string()))?;
        let job = started.map_err(|error| commands::from_terminal(&error))?;
        if self.background {
            let number = job.id().0;
            let data = json!({ "job": number });
            return Ok(Outcome {
                effect: Effect::Unverified,
                ..Outcome::looked(format!("started {line} as job {number}"), data)
            });
        }
        let outcome = tokio::select! {
            biased;
            outcome = job.wait() => outcome,
            () = cx.cancel.cancelled() => {
                job.stop(space::terminal::Stopped::Cancelled);
                job.wait().await
            }
        };
        let outcome = outcome.map_err(|error| commands::from_terminal(&error))?;
        let (how, exit) = commands::ended(&outcome.exit);
        let mut data = json!({ "exit": exit, "output": commands::bounded(&outcome.text) });
        if outcome.confinement != Confinement::Full {
            data["confined"] = json!(outcome.confinement);
        }
        let mut output = job.lines(outcome.lines.saturating_sub(SHOWN_LINES as u64)).lines;
        // Behind the last line break there is no line.
        let is_open = output.last().is_some_and(|last| last.spans.iter().all(|span| span.text.is_empty()));
        if is_open {
            output.pop();
        }
        let lines = match outcome.lines - u64::from(is_open) {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let mut told = Outcome::looked(format!("{line}: {how}, {lines}"), data);
        told.output = output;
        told.output.truncate(SHOWN_LINES);
        told.effect = match outcome.exit {
            Exit::Code(0) => Effect::Confirmed,
            // It ran, and says itself that it did not do what it should, or not whole.
            Exit::Code(_) | Exit::Stopped(_) => Effect::Unverified,
        };
        if told.effect != Effect::Confirmed && outcome.confinement != Confinement::None {
            commands::tell_closed(&mut told, &job);
        }
        let refused = proxy.map(|proxy| proxy.refused()).unwrap_or_default();
        if !refused.is_empty() && told.data.is_object() {
            told.data["refusedHosts"] = json!(refused);
        }
        commands::hold_back(cx, &mut told, &job).await;
        Ok(told)
    }

    /// The way to its hosts; `None` if it has none.
    fn proxy(&self, cx: &Context) -> Result<Option<Arc<Proxy>>, ToolError> {
        if self.hosts.is_empty() {
            return Ok(None);
        }
        let none =
            || tool_error(ToolErrorKind::NotAvailable, "commands get no network here; leave hosts out");
        let web = cx.ports.web.as_ref().ok_or_else(none)?;
        let proxy = web.fetcher.proxy(&self.hosts);
        let proxy = proxy.map_err(|error| tool_error(ToolErrorKind::Failed, error.to_string()))?;
        Ok(Some(Arc::new(proxy)))
    }

    fn network(&self, proxy: Arc<Proxy>) -> Network {
        #[cfg(target_os = "linux")]
        let at = ProxyAt::Socket(proxy.socket());
        #[cfg(not(target_os = "linux"))]
        let at = ProxyAt::Port(proxy.port());
        Network { hosts: self.hosts.clone(), proxy: at, held: proxy }
    }
}
