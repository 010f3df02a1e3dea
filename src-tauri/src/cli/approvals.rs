//! `miki approvals`: the open questions, and answering them without a window, by the approver key.

use clap::{Args, Subcommand, ValueEnum};
use protocol::command::{AnswerWithKey, DeleteApproverKey, GetOverview, NewApproverKey};
use protocol::tool::{Answer, Approval};
use protocol::view::Question;
use protocol::{ErrorCode, ErrorView};

use super::run_printer::shown;
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
    },
    /// Make the key that answers questions without a window, or delete it
    #[command(subcommand)]
    Key(KeyWork),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Word {
    Yes,
    No,
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
            What::Show { id } => super::say(shown(&one(open_questions(home).await?, &id)?).trim()),
            What::Answer { id, answer } => {
                let mut interrupts = interrupt::listen()?;
                // Where nobody runs the engine, the answer wakes its run here.
                let link = Link::open(home).await?;
                let done = answer_one(&link, &id, answer).await;
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

async fn answer_one(link: &Link, id: &str, answer: Word) -> Result<(), ErrorView> {
    link.check_is_miki()?;
    let Approval { id, digest, .. } = {
        let approval = one(link.call(GetOverview {}).await?.questions, id)?;
        eprint!("{}", shown(&approval));
        approval
    };
    let key = key::read("approver key")?;
    let answer = match answer {
        Word::Yes => Answer::Once,
        Word::No => Answer::Deny,
    };
    link.call(AnswerWithKey { approval: id, digest, answer, key }).await
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
