//! The calls of one connection that are under way: who is asked for each, and who sees how far it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::terminal::{Line, Span, Style};
use rmcp::model::{ElicitResult, ProgressNotificationParam, ProgressToken};
use tokio::time::Instant;
use tools::{Asker, Progress};

use crate::client::{Heard, not_asked};
use crate::elicitation::AskingCall;

/// Generous: the value of a secret is taken out after it, and must not be cut.
const LINE_CHARS: usize = 1_000;
/// Between two lines that are shown of one call.
const PACE: Duration = Duration::from_millis(200);

#[derive(Default)]
pub struct Calls(Mutex<Vec<Arc<UnderWay>>>);

/// The ways of a call to its user.
#[derive(Clone, Default)]
pub struct User {
    /// `None` if nobody can be asked.
    pub asker: Option<Arc<dyn Asker>>,
    /// `None` if nobody looks on.
    pub progress: Option<Arc<dyn Progress>>,
    /// Why they were not asked what the server wanted to know.
    pub not_asked: Arc<Mutex<Option<String>>>,
}

/// A call that is under way.
pub struct UnderWay {
    pub asking: AskingCall,
    not_asked: Arc<Mutex<Option<String>>>,
    progress: Option<Arc<dyn Progress>>,
    how_far: Mutex<HowFar>,
    /// How long it is waited for still, whatever its server says.
    left: Mutex<Duration>,
}

/// What is shown of how far it is.
#[derive(Default)]
struct HowFar {
    /// Of the request that is under way for it.
    token: Option<ProgressToken>,
    times: u64,
    lines: u64,
    last: String,
    /// Said too soon after the last one.
    next: Option<String>,
    at: Option<Instant>,
}

/// A call among those under way, until this is dropped.
pub struct Begun<'a> {
    calls: &'a Calls,
    pub call: Arc<UnderWay>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.calls.all().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

impl Calls {
    /// `longest` is how long it is waited for, whatever its server says.
    pub fn begin(&self, user: User, longest: Duration) -> Begun<'_> {
        let User { asker, progress, not_asked } = user;
        let (asking, left) = (AskingCall::new(asker), Mutex::new(longest));
        let call = Arc::new(UnderWay { asking, not_asked, progress, how_far: Mutex::default(), left });
        self.all().push(Arc::clone(&call));
        Begun { calls: self, call }
    }

    /// The one call that is under way: of several, nobody can tell for which one a question is.
    ///
    /// # Errors
    /// Why there is none, for the server's log.
    pub fn only(&self) -> Result<Arc<UnderWay>, String> {
        match &self.all()[..] {
            [call] => Ok(Arc::clone(call)),
            [] => Err("no call was under way".into()),
            _ => Err("it had several calls, and did not say for which one it asked".into()),
        }
    }

    /// Shows how far a call is; what belongs to none is passed over.
    pub fn tell(&self, said: &ProgressNotificationParam, heard: &Heard) {
        let is_of = |call: &&Arc<UnderWay>| call.how_far().token.as_ref() == Some(&said.progress_token);
        let call = self.all().iter().find(is_of).cloned();
        if let Some(call) = call {
            call.tell(&line(said), heard);
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<UnderWay>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// What its server is answered whose user was not asked, for this reason, which they are told.
    pub fn not_asked(&self, heard: &Heard, why: &str) -> ElicitResult {
        self.not_asked.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.to_owned());
        not_asked(heard, why)
    }

    /// By which its server tells how far the request is that is under way for it.
    pub fn set_token(&self, token: ProgressToken) {
        self.how_far().token = Some(token);
    }

    /// How often its server has said how far it is.
    pub fn times(&self) -> u64 {
        self.how_far().times
    }

    /// It was waited for so long, and not for its user: what is left.
    pub fn spend(&self, waited: Duration) -> Duration {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(waited);
        *left
    }

    /// Shows a line of its server's; where the last one is not long ago, the newest of several by [`Self::catch_up`].
    pub fn tell(&self, line: &str, heard: &Heard) {
        let line = heard.line(line, LINE_CHARS);
        {
            let mut told = self.how_far();
            told.times += 1;
            told.next = Some(line).filter(|line| !line.is_empty() && *line != told.last);
        }
        self.catch_up();
    }

    /// Shows what was said too soon after the last line.
    pub fn catch_up(&self) {
        let (first, line) = {
            let mut told = self.how_far();
            if told.at.is_some_and(|at| at.elapsed() < PACE) {
                return;
            }
            let Some(line) = told.next.take() else { return };
            (told.at, told.last) = (Some(Instant::now()), line.clone());
            told.lines += 1;
            (told.lines - 1, line)
        };
        if let Some(progress) = &self.progress {
            let spans = vec![Span { text: line, style: Style::default() }];
            progress.tell(first, vec![Line { spans, cut: 0 }]);
        }
    }

    fn how_far(&self) -> MutexGuard<'_, HowFar> {
        self.how_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Its message, and how much of the whole is done where both are told.
fn line(said: &ProgressNotificationParam) -> String {
    let message = said.message.as_deref().unwrap_or_default();
    let part =
        said.total.map(|total| said.progress / total * 100.0).filter(|part| (0.0..=100.0).contains(part));
    match part {
        Some(part) if message.is_empty() => format!("{part:.0} %"),
        Some(part) => format!("{part:.0} % · {message}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn how_far_it_is_is_a_line_and_a_whole_that_is_none_is_left_out() {
        let said = |progress, total, message: Option<&str>| {
            let mut said = ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(1)), progress);
            (said.total, said.message) = (total, message.map(str::to_owned));
            line(&said)
        };
        assert_eq!(said(2.0, Some(8.0), Some("reading")), "25 % · reading");
        assert_eq!(said(2.0, Some(8.0), None), "25 %");
        assert_eq!(said(2.0, None, Some("reading")), "reading");
        for total in [0.0, -1.0, 1.0, f64::NAN] {
            assert_eq!(said(2.0, Some(total), Some("reading")), "reading");
        }
        assert_eq!(said(2.0, None, None), "");
    }
}
