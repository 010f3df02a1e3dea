//! `miki approvals`: the open questions, and answering them without a window, by the approver key.

use clap::{Args, Subcommand, ValueEnum};
use protocol::command::{AnswerWithKey, DeleteApproverKey, GetOverview, NewApproverKey};
use protocol::contract::About;
use protocol::tool::{Answer, Approval, Until};
use protocol::view::Question;
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;

use super::run_printer::{all_like_it, shown_whole};
use super::text::plain;
use super::{interrupt, key};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// List what waits for your answer, and answer it without a window
#[derive(Debug, Args)]
pub struct Approvals {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the open questions
    List,
    /// Show all of one question
    Show {
        /// Its id, or the end of it
        id: String,
    },
    /// Answer one question; asks for the approver key, which is never an argument
    Answer {
        /// Its id, or the end of it
        id: String,
        answer: Word,
        /// With no: why not, for the model
        #[arg(long, value_name = "WORDS")]
        why: Option<String>,
        /// With yes: these arguments in place of the model's, as `show` prints them. A plan is agreed to as it is then;
        /// any other call is looked at and asked about again
        #[arg(long, value_name = "JSON", value_parser = arguments, conflicts_with = "why")]
        arguments: Option<Value>,
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
    /// Questions are answered in the windows only
    Delete,
}

impl Approvals {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        match self.what.unwrap_or(What::List) {
            What::List => {
                let open = open_questions(home).await?;
                if open.is_empty() {
                    super::say("nothing waits for an answer");
                }
                for Question { approval, run, .. } in open {
                    super::say(&format!("{}  {}  {}", approval.id, run, plain(&approval.call.tool)));
                }
            }
            What::Show { id } => super::say(shown_whole(&one(open_questions(home).await?, &id)?).trim()),
            What::Answer { id, answer, why, arguments } => {
                let answer = answer_of(answer, why.is_some(), arguments)?;
                let mut interrupts = interrupt::listen()?;
                // Where nobody runs the engine, the answer wakes its run here.
                let link = Link::open(home).await?;
                let done = answer_one(&link, &id, answer, why).await;
                link.leave(&mut interrupts).await;
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

async fn open_questions(home: &Home) -> Result<Vec<Question>, ErrorView> {
    if let Some((_, overview)) = Link::attach_with(home, GetOverview {}).await? {
        return Ok(overview.questions);
    }
    if !home.path().join(journal::FILE_NAME).exists() {
        return Ok(Vec::new());
    }
    // A question outlives its engine: this process is the engine for a moment.
    let link = Link::open(home).await?;
    let overview = link.call(GetOverview {}).await;
    link.leave(&mut interrupt::listen()?).await;
    Ok(overview?.questions)
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

async fn answer_one(link: &Link, id: &str, answer: Answer, why: Option<String>) -> Result<(), ErrorView> {
    link.check_is_miki()?;
    let approval = one(link.call(GetOverview {}).await?.questions, id)?;
    eprint!("{}", shown_whole(&approval));
    if let Some(grants) = approval.for_run().filter(|_| answer.allows_more()) {
        let until = if answer == Answer::Thread { "session" } else { "run" };
        eprintln!("  allows {}, until the {until} ends", all_like_it(&grants));
    }
    let Approval { id, digest, .. } = approval;
    let key = key::read("approver key")?;
    let is_changed = matches!(answer, Answer::Edit { .. });
    link.call(AnswerWithKey { approval: id, digest, answer, key, why }).await?;
    if is_changed && matches!(*approval.about, About::Call { .. }) {
        eprintln!("miki: not done yet: it is asked about anew, with your arguments (miki approvals)");
    }
    Ok(())
}

async fn key_work(link: &Link, work: KeyWork) -> Result<(), ErrorView> {
    match work {
        KeyWork::New => {
            super::say(&link.call(NewApproverKey {}).await?.0);
            eprintln!("miki: this is shown once; whoever has it can answer every question");
        }
        KeyWork::Delete => {
            link.call(DeleteApproverKey {}).await?;
            super::say("questions are answered in the windows only");
        }
    }
    Ok(())
}

/// The one question that is meant.
fn one(open: Vec<Question>, id: &str) -> Result<Approval, ErrorView> {
    let mut meant = open.into_iter().filter(|question| question.approval.id.0.ends_with(id));
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one.approval),
        (None, _) => Err(ErrorView::new(ErrorCode::NotFound, format!("no open question ends with {id:?}"))
            .with_hint("miki approvals lists them")),
        (Some(_), Some(_)) => {
            Err(ErrorView::new(ErrorCode::BadRequest, format!("several open questions end with {id:?}"))
                .with_hint("give more of the id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_goes_with_no_and_arguments_go_with_yes() {
        let changed = arguments(r#"{"text":"less"}"#).unwrap();
        assert!(arguments("[1]").is_err() && arguments("{").is_err());
        let edited = answer_of(Word::Yes, false, Some(changed.clone())).unwrap();
        assert_eq!(edited, Answer::Edit { arguments: json!({ "text": "less" }) });
        assert_eq!(answer_of(Word::No, true, None).unwrap(), Answer::Deny);
        assert_eq!(answer_of(Word::Run, false, None).unwrap(), Answer::Until { until: Until::Run });
        assert_eq!(answer_of(Word::Session, false, None).unwrap(), Answer::Thread);
        for (word, has_why, changes) in [
            (Word::Yes, true, false),
            (Word::Run, true, false),
            (Word::No, false, true),
            (Word::Session, false, true),
        ] {
            answer_of(word, has_why, changes.then(|| changed.clone())).unwrap_err();
        }
    }
}
