//! Runs that were started in the chat, which comes back by itself when one of them asks or has ended. Pure.

use protocol::command::StartedRun;
use protocol::ids::ApprovalId;
use protocol::view::Overview;

/// Those that have news for the chat, or will have.
#[derive(Debug, Default)]
pub struct ChatRuns(Vec<ChatRun>);

#[derive(Debug)]
struct ChatRun {
    run: StartedRun,
    /// The last question that the chat had its chance to show.
    told: Option<ApprovalId>,
}

/// What a run has for its user.
#[derive(Debug, PartialEq, Eq)]
enum News {
    Asks(ApprovalId),
    Ended,
}

impl ChatRuns {
    pub fn add(&mut self, run: StartedRun) {
        self.0.push(ChatRun { run, told: None });
    }

    /// Whether there is anything that the chat has not had its chance to show.
    pub fn have_news(&self, view: &Overview) -> bool {
        self.0.iter().any(|run| match run.news(view) {
            Some(News::Asks(question)) => run.told.as_ref() != Some(&question),
            Some(News::Ended) => true,
            None => false,
        })
    }

    /// The chat has had its chance.
    pub fn told(&mut self, view: &Overview) {
        self.0.retain_mut(|run| match run.news(view) {
            Some(News::Asks(question)) => {
                run.told = Some(question);
                true
            }
            Some(News::Ended) => false,
            None => true,
        });
    }
}

impl ChatRun {
    fn news(&self, view: &Overview) -> Option<News> {
        let StartedRun { session, run } = &self.run;
        if let Some(question) = view.questions.iter().find(|question| question.run == *run) {
            return Some(News::Asks(question.approval.id.clone()));
        }
        let session = view.sessions.iter().find(|known| known.id == *session);
        let last = session.and_then(|session| session.last_run.as_ref());
        last.filter(|last| last.id == *run && last.end.is_some()).map(|_| News::Ended)
    }
}

#[cfg(test)]
mod tests {
    use protocol::event::RunEnd;
    use protocol::ids::{CallId, RunId, Seq, SessionId, Timestamp};
    use protocol::settings::Settings;
    use protocol::tool::{Approval, ApprovalMode, Mode, Risk, ToolCall};
    use protocol::view::{DesktopView, Platform, Question, RunView, SessionView};
    use serde_json::json;

    use super::*;

    fn started(id: &str) -> StartedRun {
        StartedRun { session: SessionId(format!("s-{id}")), run: RunId(format!("r-{id}")) }
    }

    /// Sessions, each with its one run: at work, or ended.
    fn view(runs: &[(&str, Option<RunEnd>)]) -> Overview {
        let session = |(id, end): &(&str, Option<RunEnd>)| SessionView {
            id: started(id).session,
            title: "Haiku".into(),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            search: false,
            created: Timestamp(0),
            updated: Timestamp(0),
            last_run: Some(RunView { id: started(id).run, goal: "write".into(), end: end.clone() }),
        };
        Overview {
            seq: Seq(0),
            settings: Settings::default(),
            sessions: runs.iter().map(session).collect(),
            questions: Vec::new(),
            runs: Vec::new(),
            desktop: DesktopView::default(),
            version: "0.1.0".into(),
            platform: Platform::Linux,
        }
    }

    fn question(of: &str, id: &str) -> Question {
        let StartedRun { session, run } = started(of);
        let approval = Approval {
            id: ApprovalId(id.into()),
            call: ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments: json!({}) },
            risk: Risk::Edit,
            reason: "r".into(),
            digest: "d".into(),
            deadline: Timestamp(9),
            window: None,
            target: None,
            seen: None,
            touches: Vec::new(),
        };
        Question { session, run, approval }
    }

    fn done() -> Option<RunEnd> {
        Some(RunEnd::Completed { summary: "done".into() })
    }

    #[test]
    fn the_end_of_a_run_is_told_once_and_the_end_of_one_that_was_started_elsewhere_never() {
        let mut runs = ChatRuns::default();
        runs.add(started("chat"));
        assert!(!runs.have_news(&view(&[])), "nothing is known of it yet");
        assert!(!runs.have_news(&view(&[("chat", None), ("cli", done())])));
        let ended = view(&[("chat", done()), ("cli", None)]);
        assert!(runs.have_news(&ended));
        runs.told(&ended);
        assert!(!runs.have_news(&ended));
    }

    #[test]
    fn each_question_is_told_once_and_the_end_after_it() {
        let mut runs = ChatRuns::default();
        runs.add(started("chat"));
        let asks =
            |of: &str, id: &str| Overview { questions: vec![question(of, id)], ..view(&[("chat", None)]) };
        assert!(!runs.have_news(&asks("cli", "q-0")));
        for id in ["q-1", "q-2"] {
            assert!(runs.have_news(&asks("chat", id)));
            runs.told(&asks("chat", id));
            assert!(!runs.have_news(&asks("chat", id)));
            assert!(!runs.have_news(&view(&[("chat", None)])));
        }
        assert!(runs.have_news(&view(&[("chat", done())])));
    }

    #[test]
    fn an_end_that_came_before_its_start_was_known_is_told_all_the_same() {
        let mut runs = ChatRuns::default();
        let ended = view(&[("chat", done())]);
        runs.told(&ended);
        runs.add(started("chat"));
        assert!(runs.have_news(&ended));
    }
}
