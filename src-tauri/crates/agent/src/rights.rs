//! What a command takes beyond its row in the table of rights: looking at what exactly is asked for.

use protocol::budget::is_looser;
use protocol::command::{AnyCommand, RunOverrides};
use protocol::ids::RunId;
use protocol::principal::{AtWork, Missing, Principal, Right, Surface};
use protocol::run::Fence;
use protocol::settings::Settings;
use protocol::tool::Risk;
use protocol::view::SessionView;
use protocol::{ErrorCode, ErrorView};

use crate::engine::Engine;

/// Whether `principal` may send this command now. A refusal is journaled; of very many, their number.
///
/// # Errors
/// `Forbidden` with what it takes.
pub async fn permit(engine: &Engine, command: &AnyCommand, principal: &Principal) -> Result<(), ErrorView> {
    let at_work = at_work(engine);
    if principal.surface != Surface::Cli {
        // No more than its row depends on: a window has all rights, whichever run is meant.
        return match principal.may(command.right(), None, at_work) {
            Ok(()) => Ok(()),
            Err(missing) => Err(refused(engine, command.name(), missing, None).await?),
        };
    }
    let run = run_of(engine, command).await?;
    let settings = engine.settings();
    let (right, what) = match command {
        AnyCommand::CallTool(call)
            if engine.risk_of(&call.tool, &call.arguments).await == Some(Risk::Observe) =>
        {
            (Right::Read, None)
        }
        AnyCommand::StartRun(start) => {
            let session = match &start.session {
                Some(session) => Some(engine.session(session).await?),
                None => None,
            };
            match loosened_by(&start.overrides, session.as_ref(), &settings) {
                Some(what) => (Right::Loosen, Some(what)),
                None => (Right::Start, None),
            }
        }
        other => (other.right(), None),
    };
    // Whoever started a run speaks for the agents that it starts, too.
    let line = run.map(|run| engine.runs.line(&run)).unwrap_or_default();
    let run = line.iter().find(|run| principal.started.contains(run)).or(line.first());
    match principal.may(right, run, at_work) {
        Ok(()) => Ok(()),
        Err(missing) => Err(refused(engine, command.name(), missing, what).await?),
    }
}

/// Whether `principal` may give an agent more than it has, now: asked by whoever changes it, under the lock of what is
/// changed.
///
/// # Errors
/// `Forbidden` with what it takes.
pub async fn may_loosen(
    engine: &Engine,
    principal: &Principal,
    name: &str,
    what: &str,
) -> Result<(), ErrorView> {
    match principal.may(Right::Loosen, None, at_work(engine)) {
        Ok(()) => Ok(()),
        Err(missing) => Err(refused(engine, name, missing, Some(what)).await?),
    }
}

/// Whether `principal` may act on the desktop by itself, now that it has it.
///
/// # Errors
/// `Forbidden` with what it takes.
pub async fn may_act(engine: &Engine, principal: &Principal) -> Result<(), ErrorView> {
    match principal.may(Right::CallTool, None, at_work(engine)) {
        Ok(()) => Ok(()),
        Err(missing) => Err(refused(engine, "call_tool", missing, None).await?),
    }
}

fn at_work(engine: &Engine) -> AtWork {
    if engine.runs.is_empty() { AtWork::No } else { AtWork::Yes }
}

/// Journals a refusal, and answers it.
async fn refused(
    engine: &Engine,
    name: &str,
    missing: Missing,
    what: Option<&str>,
) -> Result<ErrorView, ErrorView> {
    let error = refusal(name, missing, what, &engine.runs.open());
    engine.refusals.note(name, &error.message).await?;
    Ok(error)
}

/// `open` are the runs that have not ended, and whether each waits for an answer with nobody at work on it.
fn refusal(name: &str, missing: Missing, what: Option<&str>, open: &[(RunId, bool)]) -> ErrorView {
    let asked = match (name, what) {
        ("start_run", Some(what)) => format!("a run that gets more than the settings give ({what})"),
        ("edit_session", Some(what)) => format!("giving a session more than the settings give ({what})"),
        (_, Some(what)) => format!("giving agents more than they have ({what})"),
        (name, None) => in_words(name),
    };
    let (message, hint) = match missing {
        Missing::Window => (
            format!("{asked} is not for this terminal"),
            "answer in the dashboard, or in the terminal that started the run".to_owned(),
        ),
        Missing::OurWindow => (format!("{asked} is for Miki's own windows"), "do it there".to_owned()),
        Missing::Rest => {
            let (who, hint) = at_work_now(open);
            (format!("{asked} is refused while an agent is at work{who}"), hint)
        }
    };
    ErrorView::new(ErrorCode::Forbidden, message).with_hint(hint)
}

/// Which runs are at work, and how to go on.
fn at_work_now(open: &[(RunId, bool)]) -> (String, String) {
    let who = |(run, is_parked): &(RunId, bool)| match is_parked {
        true => format!("{run} (waits for an answer)"),
        false => run.to_string(),
    };
    match open {
        // It has just ended.
        [] => (String::new(), "try again".to_owned()),
        [(run, false)] => (
            format!(": {run}"),
            format!("stop it (miki stop {run}), wait for its end, or do this in the dashboard"),
        ),
        [one @ (run, true)] => (
            format!(": {}", who(one)),
            format!("answer it (miki approvals), stop it (miki stop {run}), or do this in the dashboard"),
        ),
        [one, two] => (format!(": {}, {}", who(one), who(two)), STOP_THEM.to_owned()),
        [one, two, rest @ ..] => {
            (format!(": {}, {} and {} more (miki ps)", who(one), who(two), rest.len()), STOP_THEM.to_owned())
        }
    }
}

const STOP_THEM: &str =
    "stop them (miki stop RUN, or all with miki stop), wait for their end, or do this in the dashboard";

/// What a command does, for whoever may not send it.
fn in_words(name: &str) -> String {
    let known = match name {
        "call_tool" => "a call that acts",
        "steer_run" => "speaking into another one's run",
        "resume_run" => "going on with a paused run",
        "answer_approval" => "answering this question",
        "new_approver_key" => "making an approver key",
        "delete_approver_key" => "deleting the approver key",
        "set_key" => "keeping a key",
        "delete_key" => "deleting a key",
        "set_secret" => "keeping a secret",
        "delete_secret" => "deleting a secret",
        "set_server_key" => "keeping a server's key",
        "fill_prompt" => "asking a server for a prompt",
        "undo" => "taking back what was done",
        other => return other.replace('_', " "),
    };
    known.to_owned()
}

/// The run that a command is about.
async fn run_of(engine: &Engine, command: &AnyCommand) -> Result<Option<RunId>, ErrorView> {
    Ok(match command {
        AnyCommand::SteerRun(steer) => Some(steer.run.clone()),
        AnyCommand::ResumeRun(resume) => resume.run.clone(),
        AnyCommand::AnswerApproval(answer) => {
            let id = answer.approval.clone();
            engine.log.read(move |journal| journal.approval(&id)).await?.and_then(|(_, scope, _)| scope.run)
        }
        _ => None,
    })
}

/// What a run would have that the settings do not give; `None` if it stays within them.
fn loosened_by(
    over: &RunOverrides,
    session: Option<&SessionView>,
    settings: &Settings,
) -> Option<&'static str> {
    let approval = over.approval.or(session.map(|session| session.approval));
    let mode = over.mode.or(session.map(|session| session.mode));
    let of_settings = settings.fence();
    let apps = over.only_apps.clone().unwrap_or_else(|| of_settings.apps.clone());
    let fence = Fence { apps, ..of_settings.clone() };
    if approval.is_some_and(|approval| approval > settings.approval) {
        Some("approval")
    } else if mode.is_some_and(|mode| mode > settings.mode) {
        Some("mode")
    } else if !fence.is_within(&of_settings) {
        Some("fence")
    } else if over.base_url.is_some() {
        Some("address")
    } else if over.carry_on == Some(true) && !settings.carry_on {
        Some("going on by itself")
    } else if over.recording.is_some() {
        // What is replayed may say anything.
        Some("recording")
    } else if over.max_steps.is_some_and(|steps| steps > settings.max_steps) {
        Some("number of steps")
    } else if looser(over.max_minutes, &settings.max_minutes) {
        Some("number of minutes")
    } else if looser(over.max_tokens, &settings.max_tokens) {
        Some("number of tokens")
    } else if looser(over.max_cost, &settings.max_cost) {
        Some("cost")
    } else if over.search == Some(true) && !session.is_some_and(|session| session.search) {
        // A provider's search carries words of the conversation away.
        Some("web search")
    } else if over.space.as_ref().is_some_and(|space| *space != settings.space) {
        // What is in it is read without a question.
        Some("folder")
    } else {
        None
    }
}

/// Of bounds of which 0 means none.
fn looser<T: Ord + Default>(over: Option<T>, settings: &T) -> bool {
    over.is_some_and(|over| is_looser(&over, settings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::tool::{ApprovalMode, Mode};
    use protocol::turn::Usd;

    #[test]
    fn who_is_refused_for_a_run_is_told_which_and_how_to_stop_it() {
        let run = |id: &str, is_parked| (RunId(format!("r-{id}")), is_parked);
        let told = |name: &str, what, open: &[(RunId, bool)]| {
            let error = refusal(name, Missing::Rest, what, open);
            (error.message, error.hint.unwrap())
        };
        let (message, hint) = told("new_approver_key", None, &[run("1", true)]);
        assert_eq!(
            message,
            "making an approver key is refused while an agent is at work: r-1 (waits for an answer)"
        );
        assert!(hint.contains("miki approvals") && hint.contains("miki stop r-1"), "{hint}");
        let (message, hint) = told("start_run", Some("approval"), &[run("1", false)]);
        assert_eq!(
            message,
            "a run that gets more than the settings give (approval) is refused while an agent is at work: r-1"
        );
        assert!(hint.contains("miki stop r-1"), "{hint}");
        let (message, hint) = told("set_key", None, &[run("1", false), run("2", true), run("3", true)]);
        assert!(message.ends_with(": r-1, r-2 (waits for an answer) and 1 more (miki ps)"), "{message}");
        assert!(hint.contains("miki stop RUN"), "{hint}");
    }

    #[test]
    fn a_run_within_the_settings_takes_no_more_than_a_start() {
        let settings = Settings {
            fence_apps: vec!["mousepad".into()],
            max_minutes: 10,
            max_tokens: 50_000,
            max_cost: Usd(5),
            ..Settings::default()
        };
        let stricter = RunOverrides {
            mode: Some(Mode::Plan),
            approval: Some(ApprovalMode::Ask),
            only_apps: Some(vec!["Mousepad".into()]),
            max_steps: Some(3),
            max_minutes: Some(9),
            max_tokens: Some(50_000),
            max_cost: Some(Usd(1)),
            ..RunOverrides::default()
        };
        assert_eq!(loosened_by(&stricter, None, &settings), None);
        assert_eq!(loosened_by(&RunOverrides::default(), None, &settings), None);
        for (over, what) in [
            (RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() }, "approval"),
            (RunOverrides { only_apps: Some(vec!["xterm".into()]), ..RunOverrides::default() }, "fence"),
            (RunOverrides { only_apps: Some(Vec::new()), ..RunOverrides::default() }, "fence"),
            (RunOverrides { base_url: Some("http://x.test".into()), ..RunOverrides::default() }, "address"),
            (RunOverrides { search: Some(true), ..RunOverrides::default() }, "web search"),
            (RunOverrides { carry_on: Some(true), ..RunOverrides::default() }, "going on by itself"),
            (RunOverrides { max_steps: Some(31), ..RunOverrides::default() }, "number of steps"),
            (RunOverrides { max_minutes: Some(0), ..RunOverrides::default() }, "number of minutes"),
            (RunOverrides { max_tokens: Some(50_001), ..RunOverrides::default() }, "number of tokens"),
            (RunOverrides { max_cost: Some(Usd(6)), ..RunOverrides::default() }, "cost"),
            (RunOverrides { max_cost: Some(Usd(0)), ..RunOverrides::default() }, "cost"),
        ] {
            assert_eq!(loosened_by(&over, None, &settings), Some(what));
        }
        let plan = Settings { mode: Mode::Plan, ..Settings::default() };
        let act = RunOverrides { mode: Some(Mode::Act), ..RunOverrides::default() };
        assert_eq!(loosened_by(&act, None, &plan), Some("mode"));
    }
}
