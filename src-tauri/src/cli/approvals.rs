//! `miki approvals`: the open questions, and answering them without a window, by the approver key.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use fold::call::{Line, lines};
use journal::{Clock, SystemClock};
use protocol::command::{AnswerWithKey, DeleteApproverKey, GetOverview, NewApproverKey};
use protocol::contract::About;
use protocol::ids::Timestamp;
use protocol::tool::{ASK_HUMAN, Answer, Approval, Until};
use protocol::view::{Overview, Question};
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};

use super::run_printer::{all_like_it, plan_fault, risk, shown_whole};
use super::text::plain;
use super::{ids, interrupt, key};
use crate::engine::{blocking, no_approver_made};
use crate::exit::Exit;
use crate::home::Home;
use crate::keys::{Keychain, Keys, environment};
use crate::link::Link;

/// What a keychain takes that asks nobody.
const MOMENT: Duration = Duration::from_secs(3);
/// Calls of one question that a row has.
const ROW_CALLS: usize = 4;

/// List what waits for your answer, and answer it without a window
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Approvals {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Default, Args)]
struct List {
    /// Print the questions as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the open questions: what each asks, for what, and until when
    List(List),
    /// Show all of one question
    Show {
        /// Its id, or the end or the beginning of it
        id: String,
    },
    /// Answer one question; asks for the approver key, which is never an argument
    Answer {
        /// Its id, or the end or the beginning of it
        id: String,
        answer: Word,
        /// With no: why not, for the model
        #[arg(long, value_name = "WORDS")]
        why: Option<String>,
        /// With yes: these arguments in place of the model's, as `show` prints them. A plan is agreed to as it is then;
        /// any other call is looked at and asked about again
        #[arg(long, value_name = "JSON", value_parser = arguments, conflicts_with = "why")]
        arguments: Option<Value>,
        /// With yes, to a question in words: the answer
        #[arg(long, value_name = "WORDS", conflicts_with_all = ["why", "arguments"])]
        text: Option<String>,
    },
    /// Make the key that answers questions without a window, or delete it
    #[command(subcommand)]
    Key(KeyWork),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Word {
    /// This once
    Yes,
    No,
    /// This tool in this application until the run ends, where that can be allowed
    Run,
    /// The same for the whole session
    Session,
}

fn arguments(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<serde_json::Map<_, _>>(text).map(Value::Object)
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum KeyWork {
    /// Make one and show it, once; an earlier one is void
    New,
    /// Delete it: questions are answered in the windows only
    Delete,
    /// Say whether one was made
    Status,
}

impl Approvals {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        match self.what.unwrap_or(What::List(self.list)) {
            What::List(how) => {
                let (open, overview) = match looked_at(home).await? {
                    Some(overview) => (overview.questions.clone(), Some(overview)),
                    None => (Vec::new(), None),
                };
                if how.json {
                    super::say(&json!({ "questions": open }).to_string());
                    return Ok(Exit::Done);
                }
                if open.is_empty() {
                    super::tell("nothing is asked");
                }
                for question in &open {
                    super::tell(&row(question, overview.as_ref(), SystemClock.now()));
                }
                super::tell(&of_approver(&approver().await));
            }
            What::Show { id } => {
                let open = looked_at(home).await?.map(|overview| overview.questions).unwrap_or_default();
                super::say(shown_whole(&one(open, &id)?).trim());
            }
            What::Key(KeyWork::Status) => {
                let approver = approver().await;
                super::tell(&of_approver(&approver));
                return Ok(if matches!(approver, Ok(true)) { Exit::Done } else { Exit::Failed });
            }
            What::Answer { id, answer, why, arguments, text } => {
                let answer = match answer_of(answer, why.is_some(), arguments) {
                    Ok(answer) => answer,
                    Err(error) => {
                        super::say_error(&error);
                        return Ok(Exit::Usage);
                    }
                };
                let mut interrupts = interrupt::listen()?;
                // Where nobody runs the engine, the answer wakes its run here.
                let link = Link::open(home).await?;
                let done = answer_one(&link, &id, answer, why, text).await;
                if done.is_ok() {
                    super::tell("answered");
                }
                link.rest(&mut interrupts).await;
                if done.is_ok()
                    && let Ok(Overview { questions, .. }) = link.call(GetOverview {}).await
                {
                    tell_of_others(questions.len());
                }
                link.close().await;
                done?;
            }
            What::Key(work) => {
                let link = Link::open(home).await?;
                let done = key_work(&link, work).await;
                link.leave(&mut interrupt::listen()?).await;
                done?;
            }
        }
        Ok(Exit::Done)
    }
}

fn tell_of_others(open: usize) {
    match open {
        0 => {}
        1 => super::tell("1 more question waits: miki approvals"),
        _ => super::tell(&format!("{open} more questions wait: miki approvals")),
    }
}

/// A question outlives its engine.
async fn looked_at(home: &Home) -> Result<Option<Overview>, ErrorView> {
    let Some((link, overview)) = super::looked_at(home).await? else { return Ok(None) };
    link.leave(&mut interrupt::listen()?).await;
    Ok(Some(overview))
}

/// Whether an approver key was made, as the keychain says within a moment: it may ask its user first.
async fn approver() -> Result<bool, ErrorView> {
    let keys = Keys::new(Arc::new(Keychain), environment());
    match tokio::time::timeout(MOMENT, blocking(move || keys.has_approver())).await {
        Ok(told) => told?,
        Err(_) => Err(ErrorView::new(ErrorCode::Keychain, "the keychain does not answer")),
    }
}

fn of_approver(approver: &Result<bool, ErrorView>) -> String {
    match approver {
        Ok(true) => "approver key: made; answer with: miki approvals answer ID yes".into(),
        Ok(false) => {
            "approver key: none; answer in Miki's windows, or make one while no run is open: miki approvals key new"
                .into()
        }
        Err(error) => format!("approver key: not known; {}", plain(&error.message)),
    }
}

/// A question: its id and how long it waits, what it asks and how grave that is, and for what.
fn row(question: &Question, overview: Option<&Overview>, now: Timestamp) -> String {
    let Question { session, run, approval } = question;
    let asks = match &*approval.about {
        About::Result { .. } => format!("is it done? {}", plain(&approval.reason)),
        About::Plan { .. } => format!("a plan: {}", told(approval)),
        About::Elicitation(_) => plain(&approval.reason),
        About::Call { .. } if approval.call.tool == ASK_HUMAN => {
            format!("the agent asks: “{}”", told(approval))
        }
        About::Call { .. } => format!("{} ({})", told(approval), risk(approval)),
    };
    let goal = overview.and_then(|overview| overview.runs.iter().find(|one| one.run == *run));
    let title = || overview?.sessions.iter().find(|one| one.id == *session).map(|one| one.title.clone());
    let of = goal.map(|run| run.goal.clone()).or_else(title).unwrap_or_else(|| run.to_string());
    let root = overview.and_then(|overview| fold::root_of(overview, run));
    let root = root.map(|root| format!(" (of “{}”)", plain(&root.goal))).unwrap_or_default();
    format!("{}  {}\n  {asks}\n  for: {}{root}", approval.id, left(approval.deadline, now), plain(&of))
}

/// Its calls in words.
fn told(approval: &Approval) -> String {
    let is_named = matches!(*approval.about, About::Call { .. }) && approval.call.tool != ASK_HUMAN;
    let line = |Line { tool, about, goes_to }: Line| {
        let tool = if is_named { format!("{} ", plain(&tool)) } else { String::new() };
        let there = if goes_to.is_empty() { String::new() } else { format!(" → {}", plain(&goes_to)) };
        format!("{tool}{}{there}", plain(&about)).trim_end().to_owned()
    };
    let all = lines(approval);
    let more = all.len().saturating_sub(ROW_CALLS);
    let mut told: Vec<String> = all.into_iter().take(ROW_CALLS).map(line).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join("; ")
}

/// Until silence is a no.
fn left(deadline: Timestamp, now: Timestamp) -> String {
    let minutes = (deadline.0 - now.0).max(0) / 60_000;
    let left = match minutes {
        0 => return "less than a minute left".into(),
        1..120 => format!("{minutes} min"),
        120..2_880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    };
    format!("{left} left")
}

/// What is meant by a word and what stands behind it.
fn answer_of(word: Word, has_why: bool, arguments: Option<Value>) -> Result<Answer, ErrorView> {
    let bad = |message: &str| Err(ErrorView::new(ErrorCode::BadRequest, message));
    match (word, has_why, arguments) {
        (Word::Yes, false, Some(arguments)) => Ok(Answer::Edit { arguments }),
        (_, _, Some(_)) => bad("--arguments goes with yes alone"),
        (Word::No, _, None) => Ok(Answer::Deny),
        (_, true, None) => bad("--why goes with no alone: it is for the model"),
        (Word::Yes, false, None) => Ok(Answer::Once),
        (Word::Run, false, None) => Ok(Answer::Until { until: Until::Run }),
        (Word::Session, false, None) => Ok(Answer::Thread),
    }
}

async fn answer_one(
    link: &Link,
    id: &str,
    answer: Answer,
    why: Option<String>,
    text: Option<String>,
) -> Result<(), ErrorView> {
    link.check_is_miki()?;
    let approval = one(link.call(GetOverview {}).await?.questions, id)?;
    let answer = in_words(answer, text, &approval)?;
    eprint!("{}", shown_whole(&approval));
    if let Some(grants) = approval.for_run().filter(|_| answer.allows_more()) {
        let until = if answer == Answer::Thread { "session" } else { "run" };
        eprintln!("  allows {}, until the {until} ends", all_like_it(&grants));
    }
    let Approval { id, digest, .. } = approval;
    // Where one is to be typed, there has to be one.
    if std::io::stdin().is_terminal() && matches!(approver().await, Ok(false)) {
        return Err(no_approver_made());
    }
    let key = key::read("approver key")?;
    let is_changed = matches!(answer, Answer::Edit { .. });
    link.call(AnswerWithKey { approval: id, digest, answer, key, why }).await.map_err(plan_fault)?;
    if is_changed && matches!(*approval.about, About::Call { .. }) && approval.call.tool != ASK_HUMAN {
        super::tell_aside("miki: not done yet: it is asked about anew, with your arguments (miki approvals)");
    }
    Ok(())
}

/// The answer to a question in words, or to any other one.
fn in_words(answer: Answer, text: Option<String>, asked: &Approval) -> Result<Answer, ErrorView> {
    let bad = |message: &str| ErrorView::new(ErrorCode::BadRequest, message);
    match (answer, text) {
        (Answer::Once, Some(text)) if asked.call.tool == ASK_HUMAN => {
            let mut arguments = asked.call.arguments.clone();
            arguments["answer"] = text.trim().into();
            Ok(Answer::Edit { arguments })
        }
        (Answer::Once, None) if asked.call.tool == ASK_HUMAN => {
            let hint = format!("miki approvals answer {} yes --text WORDS", asked.id);
            Err(bad("this is a question in words, which yes does not answer").with_hint(hint))
        }
        (_, Some(_)) => Err(bad("--text goes with yes, and with a question in words")),
        (answer, None) => Ok(answer),
    }
}

async fn key_work(link: &Link, work: KeyWork) -> Result<(), ErrorView> {
    match work {
        KeyWork::New => {
            super::say(&link.call(NewApproverKey {}).await?.0);
            super::tell_aside("miki: this is shown once; whoever has it can answer every question");
        }
        // It needs no engine.
        KeyWork::Status => {}
        KeyWork::Delete => {
            link.call(DeleteApproverKey {}).await?;
            super::tell("questions are answered in the windows only");
        }
    }
    Ok(())
}

/// The one question that is meant.
fn one(open: Vec<Question>, id: &str) -> Result<Approval, ErrorView> {
    let meant = ids::meant(open, |question| question.approval.id.as_str(), id);
    meant.map(|question| question.approval).map_err(|several| match several {
        0 => ErrorView::new(ErrorCode::NotFound, format!("no open question's id ends or begins with {id:?}"))
            .with_hint("see which are open: miki approvals"),
        _ => ErrorView::new(
            ErrorCode::BadRequest,
            format!("{several} open questions' ids end or begin with {id:?}"),
        )
        .with_hint("give more of the id"),
    })
}

#[cfg(test)]
mod tests;
