//! The story of a session: goals, the model's words, steps with their pictures, and how it ended.

use fold::Outcome;
use fold::call::in_short;
use fold::transcript::{Acts, AgentsUse, AskedByServer, Bill, Entry, EntryBody, EntryId, Reply, Stage, Step};
use fold::way_back::WayBack;
use leptos::prelude::*;
use protocol::agent::AgentsEnds;
use protocol::citation::Citation;
use protocol::command::Window;
use protocol::contract::Report;
use protocol::elicitation::Kind;
use protocol::escape::{untwisted, visible, visible_json, visible_text};
use protocol::event::{Level, RunEnd};
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::tool::{ASK_HUMAN, Answer, Effect, ErrorClass};
use protocol::turn::Usage;

use super::approval::{risk_name, risk_word, spelled};
use super::budget::bound_said;
use super::icon::icon;
use super::picture::{Enlarged, thumbnail};
use super::sources::sources;
use super::suggestions::{GoOn, Suggestions};
use crate::brief;
use crate::dashboard::tools::branch_at;
use crate::ipc;
use crate::store::{Store, store};
use crate::words::Word;

/// One item of the list `#steps`.
#[component]
pub fn EntryItem(entry: Entry, enlarge: Callback<Enlarged>) -> impl IntoView {
    let store = store();
    match entry.body {
        EntryBody::Goal { goal, model, by_agent, .. } => view! {
            <li class="said goal-said">
                <span class="who">{move || store.say(if by_agent { Word::TheAgentAbove } else { Word::You })}</span>
                <p dir="auto">{goal}</p>
                <span class="faint">{model}</span>
            </li>
        }
        .into_any(),
        EntryBody::Said { text } => view! {
            <li class="said">
                <span class="who">{move || store.say(Word::You)}</span>
                <p dir="auto">{text}</p>
            </li>
        }
        .into_any(),
        EntryBody::Turn { text, thinking, citations, .. } => turn(&text, &thinking, &citations).into_any(),
        EntryBody::Step(step) => step_item(entry.id.n, &step, enlarge).into_any(),
        EntryBody::TurnFailed { message, hint } => {
            let more = view! { <span class="faint">{move || store.say(Word::Retry)}</span> };
            note(Level::Warning, message, hint, more).into_any()
        }
        EntryBody::Asked(asked) => asked_item(asked).into_any(),
        EntryBody::Paused { reason, used_up } => view! {
            <li class="mark">
                {icon("pause")}
                <span>{move || store.say(Word::Paused)}</span>" "
                <span>{move || match &used_up {
                    Some(bound) => store.fill(Word::UsedUp, &[("bound", &bound_said(store, bound))]),
                    None => store.told(&reason),
                }}</span>
            </li>
        }
        .into_any(),
        EntryBody::Resumed => view! {
            <li class="mark">{icon("resume")}<span>{move || store.say(Word::Resumed)}</span></li>
        }
        .into_any(),
        EntryBody::BudgetNear { bound } => view! {
            <li class="mark">
                {icon("note")}
                <span>{move || store.fill(Word::BudgetNear, &[("bound", &bound_said(store, &bound))])}</span>
            </li>
        }
        .into_any(),
        EntryBody::Noted { level, message, hint } => note(level, message, hint, ()).into_any(),
        EntryBody::End { end, bill, report, acts, way_back, repeats, .. } => {
            let end = End { end, bill, acts, repeats };
            end_item(entry.id, end, report.map(|report| *report), *way_back).into_any()
        }
    }
}

/// What a server asked, and what it was told: nothing that was done.
fn asked_item(asked: AskedByServer) -> impl IntoView {
    let store = store();
    let server = visible_text(&asked.wanted.server);
    let message = spelled(visible(&asked.wanted.message));
    let field = (!asked.wanted.field.is_empty())
        .then(|| view! { <p class="faint" dir="auto">{spelled(visible(&asked.wanted.field))}</p> });
    view! {
        <li class="turn asked-by-server">
            <span class="who">{move || store.fill(Word::ServerAsked, &[("server", &server)])}</span>
            <p dir="auto">{message}</p>
            {field}
            <p class="reply" dir="auto">{move || replied(store, &asked)}</p>
        </li>
    }
}

/// What a server was told, as its user said it.
pub fn replied(store: Store, asked: &AskedByServer) -> String {
    let is_yes_or_no = asked.wanted.kind == Kind::YesOrNo;
    match (asked.said(), &asked.reply) {
        (Some("yes"), _) if is_yes_or_no => store.say(Word::Yes).to_owned(),
        (Some("no"), _) if is_yes_or_no => store.say(Word::No).to_owned(),
        (Some(said), _) => visible_text(said),
        (None, Reply::Given(_)) => store.say(Word::LeftOut).to_owned(),
        (None, Reply::Open) => store.say(Word::WaitsForAnswer).to_owned(),
        (None, Reply::Declined) => store.say(Word::NotAnswered).to_owned(),
        (None, Reply::Nobody) => store.say(Word::NobodyAnswered).to_owned(),
    }
}

/// The model's words, what they rest on and, folded away, its thoughts.
fn turn(text: &str, thinking: &str, citations: &[Citation]) -> impl IntoView + use<> {
    let store = store();
    let (text, thinking) = (untwisted(text), untwisted(thinking));
    view! {
        <li class="turn">
            <span class="who">{move || store.say(Word::Model)}</span>
            {(!thinking.is_empty()).then(|| view! {
                <details class="thinking">
                    <summary>{move || store.say(Word::Thinking)}</summary>
                    <p dir="auto">{thinking}</p>
                </details>
            })}
            {(!text.is_empty()).then(|| view! { <p dir="auto">{text}</p> })}
            {sources(citations)}
        </li>
    }
}

fn step_item(n: u64, step: &Step, enlarge: Callback<Enlarged>) -> impl IntoView + use<> {
    let store = store();
    let effect = step.effect_name();
    let (badge, meaning) = effect_words(step);
    let tool = visible_text(&step.call.tool);
    // What a plan is asked about says its card; a question in words does nothing.
    let is_asked = ["plan", ASK_HUMAN].contains(&step.call.tool.as_str());
    let risk = step.risk.filter(|_| !is_asked).map(|risk| {
        view! { <span class="risk" data-risk=risk_name(risk)>{move || store.say(risk_word(risk))}</span> }
    });
    let answered = step.answer.as_ref().map(|answer| {
        let word = match answer {
            (_, Surface::Deadline) => Word::NobodyAnswered,
            (Answer::Deny, _) => Word::DeniedByYou,
            _ if step.proposed.is_some() && step.call.tool == ASK_HUMAN => Word::AnsweredByYou,
            _ if step.proposed.is_some() => Word::ChangedByYou,
            (Answer::Once | Answer::Thread | Answer::Until { .. } | Answer::Edit { .. }, _) => {
                Word::AllowedByYou
            }
        };
        view! { <span class="faint">{move || store.say(word)}</span> }
    });
    let (result, took) = match &step.stage {
        Stage::Done { result } => {
            let failed = result.error.as_ref().map(|error| error.message.clone());
            let line = failed.clone().unwrap_or_else(|| result.summary.clone());
            let class = if failed.is_some() { "result failed" } else { "result" };
            // The error of a no is said to the model; to its user, who said it, the answer below is enough.
            let said = !step.is_told_by_the_end && !step.is_denied();
            let helps = result.error.as_ref().map(|error| help_words(error.kind.class(result.effect)));
            let title = move || helps.map(|word| store.say(word));
            // What the agent sees to by itself is told to those who point at it.
            let is_the_users = helps.is_some_and(|word| {
                matches!(word, Word::HelpPermission | Word::HelpNetwork | Word::HelpUnknown)
            });
            let help = (said && is_the_users).then(|| view! { <p class="faint">{title}</p> });
            let line = said.then(|| {
                view! {
                    <p class=class dir="auto" title=title>
                        {move || visible_text(&store.told(&line))}
                    </p>
                }
            });
            (Some((line, help)), Some(brief::duration(result.took)))
        }
        Stage::Proposed | Stage::Waiting { .. } | Stage::Running | Stage::NotRun => (None, None),
    };
    let reason = brief::reason(&step.call)
        .map(|reason| view! { <p class="reason" dir="auto">{visible_text(reason)}</p> });
    let changed = step.proposed.as_ref().filter(|_| step.call.tool != ASK_HUMAN);
    let proposed = changed.map(|proposed| {
        view! {
            <p class="faint">{move || store.say(Word::HadProposed)}</p>
            <pre class="arguments" tabindex="0">{spelled(visible_json(proposed))}</pre>
        }
    });
    let named = tool.clone();
    let shows = move || store.fill(Word::PictureOf, &[("tool", &named)]);
    let picture = step.picture().map(|picture| thumbnail(picture, shows, enlarge));

    view! {
        <li class="step" data-tool=step.call.tool.clone() data-effect=effect>
            <span class="tool-icon">{icon(&step.call.tool)}</span>
            <div class="body">
                <div class="line">
                    <code class="tool">{tool.clone()}</code>
                    <span class="brief" dir="auto">{visible_text(&in_short(&step.call, step.window.as_ref()))}</span>
                    <span class="spring"></span>
                    {step.has_effect().then(|| view! {
                        <span
                            class="badge"
                            data-effect=effect
                            title=move || meaning.map(|word| store.say(word))
                        >
                            {move || store.say(badge)}
                        </span>
                    })}
                </div>
                {reason}
                {result}
                {agent_button(step)}
                {super::results::results(step)}
                {super::changes::output(step)}
                {super::changes::changes(step)}
                <details class="exact">
                    <summary>
                        <span>{move || store.say(Word::Arguments)}</span>
                        {risk}
                        {answered}
                        <span class="spring"></span>
                        <span class="took">{took}</span>
                    </summary>
                    <pre class="arguments" tabindex="0">{spelled(visible_json(&step.call.arguments))}</pre>
                    {proposed}
                    {branch_button(n)}
                </details>
            </div>
            {picture}
        </li>
    }
}

/// The way to what an agent that was started does, or did.
fn agent_button(step: &Step) -> Option<impl IntoView + use<>> {
    let store = store();
    let Stage::Done { result } = &step.stage else { return None };
    let session = result.data.get("session").filter(|_| step.call.tool == "spawn")?.as_str()?.to_owned();
    let open = move |_| store.open_session(SessionId(session.clone()));
    Some(view! {
        <p><button class="link agent" on:click=open>{move || store.say(Word::ShowAgent)}</button></p>
    })
}

/// Goes another way from the turn that asked for the step: in a session of its own, in which it has not happened yet. The
/// dashboard alone may.
fn branch_button(n: u64) -> Option<impl IntoView + use<>> {
    let store = store();
    let shown = store.peek(|state| state.shown().cloned())?;
    let branch = move |_| branch_at(store, shown.clone(), Some(n));
    let is_dashboard =
        ipc::window_label().and_then(|label| Window::of_label(&label)) == Some(Window::Dashboard);
    is_dashboard.then(|| {
        view! {
            <button class="quiet branch" on:click=branch>
                {icon("branch")}
                <span>{move || store.say(Word::BranchHere)}</span>
            </button>
        }
    })
}

fn note(level: Level, message: String, hint: Option<String>, more: impl IntoView) -> impl IntoView {
    let level = match level {
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let store = store();
    view! {
        <li class="note" data-level=level>
            <p dir="auto">{move || store.told(&message)}</p>
            {hint.map(|hint| view! { <p class="hint" dir="auto">{hint}</p> })}
            {more}
        </li>
    }
}

/// `$0.0123`, at a glance.
pub fn cost(store: Store, Bill { spent, is_whole, .. }: Bill) -> String {
    match (spent.is_unknown(), spent.is_exact() && is_whole) {
        (true, _) => store.say(Word::CostUnknown).to_owned(),
        (false, true) => format!("${}", spent.usd.brief()),
        (false, false) => store.fill(Word::CostAtLeast, &[("usd", &spent.usd.brief())]),
    }
}

fn bill_line(bill: Bill) -> impl IntoView {
    let store = store();
    let Usage { input, output, thinking, .. } = bill.usage;
    let tokens = move || {
        let (input, output) = (brief::grouped(input), brief::grouped(output + thinking));
        bill.is_whole.then(|| store.fill(Word::Tokens, &[("in", &input), ("out", &output)]))
    };
    let exactly = bill.is_whole.then(|| bill.spent.to_string());
    view! {
        <p class="bill faint" title=exactly>
            <span class="cost">{move || cost(store, bill)}</span>
            <span class="tokens">{tokens}</span>
        </p>
        {bill.agents.map(|used| view! { <p class="bill agents faint">{move || agents_bill(store, used)}</p> })}
    }
}

fn agents_bill(store: Store, AgentsUse { tokens, cost, ends }: AgentsUse) -> String {
    let (ways, tokens) = (ways_of_agents(store, ends), brief::grouped(tokens));
    match cost {
        None => store.fill(Word::AgentsTokens, &[("ways", &ways), ("n", &tokens)]),
        Some(cost) => {
            store.fill(Word::AgentsCost, &[("ways", &ways), ("usd", &cost.brief()), ("n", &tokens)])
        }
    }
}

/// How many of them ended in which way.
fn ways_of_agents(store: Store, ends: AgentsEnds) -> String {
    let AgentsEnds { completed, came_to_nothing, failed, unanswered, stopped } = ends;
    let ways = [
        (completed, Word::AgentsCompleted),
        (came_to_nothing, Word::AgentsCameToNothing),
        (failed.saturating_sub(unanswered), Word::AgentsFailed),
        (unanswered, Word::AgentsUnanswered),
        (stopped, Word::AgentsStopped),
    ];
    let ways = ways.into_iter().filter(|(n, _)| *n > 0);
    let ways: Vec<String> = ways.map(|(n, word)| store.fill(word, &[("n", &n.to_string())])).collect();
    ways.join(store.say(Word::Comma))
}

/// What a run and its agents have really done, in short, where that is more to tell than that it has ended.
pub fn end_in_brief(store: Store, acts: Acts, agents: Option<AgentsUse>) -> String {
    let of_agents =
        agents.map(|used| store.fill(Word::Agents, &[("ways", &ways_of_agents(store, used.ends))]));
    let own = (!acts.all_done()).then(|| acts_line(store, acts));
    own.into_iter().chain(of_agents).collect::<Vec<_>>().join(" · ")
}

struct End {
    end: RunEnd,
    bill: Bill,
    acts: Acts,
    repeats: bool,
}

fn end_item(entry: EntryId, end: End, report: Option<Report>, way_back: WayBack) -> impl IntoView {
    let store = store();
    let End { end, bill, acts, repeats } = end;
    let outcome = Outcome::from(&end);
    let word = end_word(outcome, acts);
    let is_doubted = word == Word::CameToNothing;
    let (text, hint) = match end {
        RunEnd::Completed { summary } => (EndText::Said(summary), None),
        RunEnd::Failed { message, hint } => (EndText::Said(message), hint),
        RunEnd::Stopped { reason } => (EndText::Engines(reason), None),
        RunEnd::NeedsApproval { .. } => (EndText::Ours(Word::NeedsApprovalText), None),
        RunEnd::Interrupted { reason: None } => (EndText::Ours(Word::InterruptedText), None),
        RunEnd::Interrupted { reason: Some(reason) } => (EndText::Said(reason), None),
    };
    let text = move || match &text {
        EndText::Said(text) => untwisted(text),
        EndText::Engines(text) => untwisted(&store.told(text)),
        EndText::Ours(word) => store.say(*word).to_owned(),
    };
    view! {
        <li class="end" data-outcome=outcome.name() data-doubted=is_doubted.to_string()>
            <strong>{move || store.say(word)}</strong>
            {is_doubted.then(|| view! { <p class="faint">{move || store.say(Word::SaysModel)}</p> })}
            // What the model has just said is not said again.
            {(!repeats || is_doubted).then(|| view! { <p dir="auto">{text}</p> })}
            {(!acts.all_done()).then(|| view! { <p class="acts">{move || acts_line(store, acts)}</p> })}
            {hint.map(|hint| view! { <p class="hint" dir="auto">{hint}</p> })}
            <Suggestions entry />
            <GoOn entry />
            {report.map(super::plan::report)}
            {super::way_back::way_back(way_back)}
            {(bill.spent.turns > 0 || bill.agents.is_some()).then(|| bill_line(bill))}
        </li>
    }
}

/// What a run has really done, where that is not all that it tried.
fn acts_line(store: Store, Acts { done, refused, in_doubt, .. }: Acts) -> String {
    let [done, refused, doubt] = [done, refused, in_doubt].map(|count| count.to_string());
    let word = if in_doubt == 0 { Word::Acts } else { Word::ActsInDoubt };
    store.fill(word, &[("done", &done), ("refused", &refused), ("doubt", &doubt)])
}

enum EndText {
    Said(String),
    /// In a sentence of the engine.
    Engines(String),
    Ours(Word),
}

/// A model may say that it is done when nothing was.
pub fn end_word(outcome: Outcome, acts: Acts) -> Word {
    match outcome {
        Outcome::Completed if acts.came_to_nothing() => Word::CameToNothing,
        _ => outcome_word(outcome),
    }
}

pub fn outcome_word(outcome: Outcome) -> Word {
    match outcome {
        Outcome::Completed => Word::Completed,
        Outcome::Failed => Word::Failed,
        Outcome::Stopped => Word::Stopped,
        Outcome::NeedsApproval => Word::NeedsApproval,
        Outcome::Interrupted => Word::Interrupted,
    }
}

/// What its user can do about a call that failed.
fn help_words(class: ErrorClass) -> Word {
    match class {
        ErrorClass::InvalidParameters => Word::HelpParameters,
        ErrorClass::ExecutionFailed => Word::HelpFailed,
        ErrorClass::PermissionDenied => Word::HelpPermission,
        ErrorClass::Network => Word::HelpNetwork,
        ErrorClass::Timeout => Word::HelpTimeout,
        ErrorClass::NotAvailable => Word::HelpNotAvailable,
        ErrorClass::Refused => Word::HelpRefused,
        ErrorClass::UnknownOutcome => Word::HelpUnknown,
    }
}

/// The badge of a step, and what it means at length.
pub fn effect_words(step: &Step) -> (Word, Option<Word>) {
    match &step.stage {
        Stage::Proposed => (Word::Proposed, None),
        Stage::Waiting { .. } => (Word::AsksYou, None),
        Stage::Running => (Word::Running, None),
        Stage::NotRun => (Word::NotRun, None),
        Stage::Done { result } => match result.effect {
            Effect::Confirmed => (Word::Confirmed, Some(Word::EffectConfirmed)),
            Effect::Unverified => (Word::Unverified, Some(Word::EffectUnverified)),
            Effect::NoChange => (Word::NoChange, Some(Word::EffectNoChange)),
            Effect::Refused => (Word::Refused, Some(Word::EffectRefused)),
            Effect::Unknown => (Word::Unknown, Some(Word::EffectUnknown)),
        },
    }
}
