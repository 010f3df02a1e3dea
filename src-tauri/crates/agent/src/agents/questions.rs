//! What agents ask those that they work for. Not in the journal: whoever asks has the answer as the result of its call, and
//! one that is interrupted asks again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::ids::RunId;
use tokio::sync::{oneshot, watch};

#[derive(Default)]
pub struct Questions {
    open: Mutex<BTreeMap<RunId, PendingQuestion>>,
    asked: watch::Sender<()>,
}

struct PendingQuestion {
    question: String,
    reply: oneshot::Sender<String>,
}

/// One that stands open until it is answered, or this is dropped.
pub struct OpenQuestion<'a> {
    questions: &'a Questions,
    agent: RunId,
    answer: oneshot::Receiver<String>,
}

impl Questions {
    /// Asks for an agent, which has one question at a time.
    pub fn ask(&self, agent: &RunId, question: String) -> OpenQuestion<'_> {
        let (reply, answer) = oneshot::channel();
        self.open().insert(agent.clone(), PendingQuestion { question, reply });
        self.asked.send_replace(());
        OpenQuestion { questions: self, agent: agent.clone(), answer }
    }

    /// What an agent asks; `None` if it asks nothing.
    pub fn of(&self, agent: &RunId) -> Option<String> {
        self.open().get(agent).map(|asked| asked.question.clone())
    }

    /// Whether the agent asked something, and waits for its answer.
    pub fn answer(&self, agent: &RunId, words: String) -> bool {
        let asked = self.open().remove(agent);
        asked.is_some_and(|asked| asked.reply.send(words).is_ok())
    }

    /// Tells of each question that comes after this.
    pub fn seen(&self) -> watch::Receiver<()> {
        self.asked.subscribe()
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<RunId, PendingQuestion>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenQuestion<'_> {
    pub async fn answer(&mut self) -> Option<String> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.questions.open().remove(&self.agent);
    }
}
