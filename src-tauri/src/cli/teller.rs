//! What `miki run` tells while it follows a run: to a person in words, to a program one event a line.

use std::collections::HashMap;
use std::io::Write;

use fold::call::in_short;
use protocol::command::{AnswerApproval, StartedRun};
use protocol::event::{Event, EventBody, RunEnd};
use protocol::ids::ApprovalId;
use protocol::tool::{Answer, Approval, Risk};

use super::story::{Story, plain};

/// Tells people or programs what happens, and knows the open question.
pub struct Teller {
    json: bool,
    asks: bool,
    started: StartedRun,
    story: Story,
    open: HashMap<ApprovalId, Approval>,
    question: Option<Approval>,
}

impl Teller {
    pub fn new(json: bool, asks: bool, started: &StartedRun) -> Self {
        Self {
            json,
            asks,
            started: started.clone(),
            story: Story::default(),
            open: HashMap::new(),
            question: None,
        }
    }

    pub fn note(&self, text: &str) {
        eprintln!("miki: {text}");
    }

    pub fn question(&self) -> Option<&Approval> {
        self.question.as_ref()
    }

    /// The end, where this event is it.
    pub fn tell(&mut self, event: &Event) -> Option<RunEnd> {
        let ours = event.scope.run.as_ref().is_none_or(|run| *run == self.started.run)
            && event.scope.session.as_ref().is_none_or(|session| *session == self.started.session);
        if !ours {
            return None;
        }
        if self.json {
            if let Ok(line) = serde_json::to_string(event) {
                super::say(&line);
            }
        } else {
            print(&self.story.tell(event));
        }
        match &event.body {
            EventBody::ApprovalRequested { approval } => {
                self.open.insert(approval.id.clone(), approval.clone());
                if self.asks {
                    self.question = Some(approval.clone());
                    eprint!("{}", question(approval));
                }
            }
            EventBody::ApprovalAnswered { approval, .. }
                if self.question.as_ref().is_some_and(|question| question.id == *approval) =>
            {
                self.question = None;
            }
            EventBody::RunEnded { end } if event.scope.run.as_ref() == Some(&self.started.run) => {
                if let RunEnd::NeedsApproval { approval } = end {
                    self.say_what_was_asked(approval);
                }
                return Some(end.clone());
            }
            // The run has stopped, and no end of it can be written.
            EventBody::JournalFailed { message, hint } => {
                return Some(RunEnd::Failed { message: message.clone(), hint: hint.clone() });
            }
            _ => {}
        }
        None
    }

    fn say_what_was_asked(&self, id: &ApprovalId) {
        let what = self.open.get(id).map_or_else(
            || id.to_string(),
            |approval| {
                format!(
                    "{} {} ({})",
                    plain(&approval.call.tool),
                    plain(&approval.call.arguments.to_string()),
                    plain(&approval.reason)
                )
            },
        );
        eprintln!("miki: needs an approval: {what}");
        eprintln!(
            "  run it at a terminal to be asked, or with --approval thread or --approval auto, or open the app with: miki"
        );
    }

    /// What a typed line says to the open question; anything but a clear word asks again.
    pub fn answer(&mut self, line: &str) -> Option<AnswerApproval> {
        let approval = self.question.as_ref()?;
        let answer = match answer_in(line, approval.risk) {
            Some(answer) => answer,
            None => {
                eprint!("{}", choices(approval.risk));
                return None;
            }
        };
        let approval = self.question.take()?;
        Some(AnswerApproval { approval: approval.id, digest: approval.digest, answer })
    }
}

fn answer_in(line: &str, risk: Risk) -> Option<Answer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Once),
        "n" | "no" => Some(Answer::Deny),
        "t" | "thread" if risk < Risk::Consequential => Some(Answer::Thread),
        _ => None,
    }
}

fn question(approval: &Approval) -> String {
    let window = approval.window.as_ref().filter(|_| approval.call.goes_to_the_focus());
    let goes_to = window.map_or_else(String::new, |window| {
        format!("  goes to: {} ({})\n", plain(&window.title), plain(&window.app))
    });
    format!(
        "\n? {} {}\n  {}\n{goes_to}  {}\n{}",
        plain(&approval.call.tool),
        plain(&in_short(&approval.call, approval.target.as_ref())),
        plain(&approval.reason),
        plain(&approval.call.arguments.to_string()),
        choices(approval.risk)
    )
}

fn choices(risk: Risk) -> &'static str {
    if risk < Risk::Consequential {
        "  allow? [y]es, this once; [n]o; [t]his tool for the whole session: "
    } else {
        "  allow? [y]es, this once; [n]o: "
    }
}

/// As it comes, without waiting for the line's end. A closed pipe is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use protocol::ids::{CallId, Timestamp};
    use protocol::tool::{FrontWindow, ToolCall};

    use super::*;

    #[test]
    fn only_a_clear_word_is_an_answer() {
        assert_eq!(answer_in(" Yes\n", Risk::Edit), Some(Answer::Once));
        assert_eq!(answer_in("n", Risk::Edit), Some(Answer::Deny));
        assert_eq!(answer_in("t", Risk::Edit), Some(Answer::Thread));
        for unclear in ["", "j", "yy", "ok", "1"] {
            assert_eq!(answer_in(unclear, Risk::Edit), None, "{unclear}");
        }
    }

    #[test]
    fn a_question_names_its_window_and_then_says_all_that_would_be_done() {
        let arguments = serde_json::json!({ "window": 4_194_311, "change": "close" });
        let call = ToolCall { id: CallId("c-1".into()), tool: "changeWindow".into(), arguments };
        let app = "Mousepad\u{1b}[2J".to_owned();
        let target = FrontWindow { id: 4_194_311, app, title: "notes.txt".into(), pid: None };
        let asked = Approval {
            id: ApprovalId("q-1".into()),
            call,
            risk: Risk::Edit,
            reason: "changeWindow can change something on this computer".into(),
            digest: "d".into(),
            deadline: Timestamp(9_000),
            window: None,
            target: Some(target),
        };
        let expected = "\n? changeWindow close “notes.txt” (Mousepad[2J)\n  \
            changeWindow can change something on this computer\n  \
            {\"window\":4194311,\"change\":\"close\"}\n  \
            allow? [y]es, this once; [n]o; [t]his tool for the whole session: ";
        assert_eq!(question(&asked), expected);
    }

    #[test]
    fn what_cannot_be_undone_is_never_allowed_for_the_session() {
        assert_eq!(answer_in("t", Risk::Consequential), None);
        assert!(!choices(Risk::Consequential).contains("session"));
    }
}
