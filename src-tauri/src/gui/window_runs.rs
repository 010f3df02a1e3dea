//! Runs that were started in one window, which comes back or forward by itself when one of them has something for its user.
//! Pure.

use protocol::command::StartedRun;
use protocol::ids::{ApprovalId, RunId, SessionId};
use protocol::view::Overview;

/// Those that have news for their window, or will have.
#[derive(Debug, Default)]
pub struct WindowRuns(Vec<WindowRun>);

#[derive(Debug)]
struct WindowRun {
    run: StartedRun,
    /// What the window had its chance to show, while it is so.
    told: Option<News>,
}

/// What a run has for its user.
#[derive(Debug, PartialEq, Eq)]
enum News {
    Asks(ApprovalId),
    /// It has paused by itself, until its user lets it go on.
    WantsWord,
    Ended,
}

impl WindowRuns {
    pub fn add(&mut self, run: StartedRun) {
        self.0.push(WindowRun { run, told: None });
    }

    /// Whether there is anything that the window has not had its chance to show.
    pub fn have_news(&self, view: &Overview) -> bool {
        self.ask(view) || self.0.iter().any(|run| run.news(view) == Some(News::Ended))
    }

    /// Whether one asks, or waits for its user's word, and the window has not had its chance to show it.
    pub fn ask(&self, view: &Overview) -> bool {
        let is_new = |run: &WindowRun| {
            let news = run.news(view);
            matches!(news, Some(News::Asks(_) | News::WantsWord)) && run.told != news
        };
        self.0.iter().any(is_new)
    }

    /// Whether one has ended in another session than this.
    pub fn ended_elsewhere(&self, view: &Overview, shown: Option<&SessionId>) -> bool {
        let is = |run: &WindowRun| run.news(view) == Some(News::Ended) && Some(&run.run.session) != shown;
        self.0.iter().any(is)
    }

    /// The window has had its chance.
    pub fn told(&mut self, view: &Overview) {
        self.0.retain_mut(|run| {
            run.told = run.news(view);
            run.told != Some(News::Ended)
        });
    }
}

impl WindowRun {
    fn news(&self, view: &Overview) -> Option<News> {
        let StartedRun { session, run } = &self.run;
        // Its agents' are its user's as well. The newest: one that comes beside another is news.
        if let Some(question) = view.questions.iter().rfind(|question| is_within(view, &question.run, run)) {
            return Some(News::Asks(question.approval.id.clone()));
        }
        // Nothing is urgent about it: not over what another run works on.
        let is_free = view.desktop.owner.is_none();
        if is_free && view.runs.iter().any(|known| known.run == *run && known.status.wants_word) {
            return Some(News::WantsWord);
        }
        let session = view.sessions.iter().find(|known| known.id == *session);
        let last = session.and_then(|session| session.last_run.as_ref());
        last.filter(|last| last.id == *run && last.end.is_some()).map(|_| News::Ended)
    }
}

/// Whether it is this run, or an agent below it.
fn is_within(view: &Overview, run: &RunId, tree: &RunId) -> bool {
    let parent = |run: &RunId| view.runs.iter().find(|known| known.run == *run)?.parent.clone();
    // A tree is never as deep as there are runs.
    std::iter::successors(Some(run.clone()), parent).take(view.runs.len() + 1).any(|one| one == *tree)
}

#[cfg(test)]
mod tests;
