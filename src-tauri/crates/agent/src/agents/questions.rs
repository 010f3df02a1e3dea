//! What agents ask those that they work for. Not in the journal: whoever asks has the answer as the result of its call, and
//! one that is interrupted asks again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::ids::RunId;
use tokio::sync::{oneshot, watch};

#[derive(Default)]
pub struct Questions {
    open: Mutex<BTreeMap<RunId, PendingQuestion>>,
    /// How many there were.
    asked: watch::Sender<u64>,
}

struct PendingQuestion {
    /// Tells it from those before and after it.
    number: u64,
    question: String,
    reply: oneshot::Sender<String>,
}

/// One that stands open until it is answered, or this is dropped.
pub struct OpenQuestion<'a> {
    questions: &'a Questions,
    agent: RunId,
    number: u64,
    answer: oneshot::Receiver<String>,
}

impl Questions {
    /// Asks for an agent, which has one question at a time.
    pub fn ask(&self, agent: &RunId, question: String) -> OpenQuestion<'_> {
        let (reply, answer) = oneshot::channel();
        let mut open = self.open();
        let number = *self.asked.borrow() + 1;
        open.insert(agent.clone(), PendingQuestion { number, question, reply });
        self.asked.send_replace(number);
        drop(open);
        OpenQuestion { questions: self, agent: agent.clone(), number, answer }
    }

    /// What an agent asks, with the question's number; `None` if it asks nothing.
    pub fn of(&self, agent: &RunId) -> Option<(u64, String)> {
        self.open().get(agent).map(|asked| (asked.number, asked.question.clone()))
    }

    /// Whether the agent asked this, and waits for its answer.
    pub fn answer(&self, agent: &RunId, number: u64, words: String) -> bool {
        let mut open = self.open();
        let asked = open.get(agent).is_some_and(|asked| asked.number == number).then(|| open.remove(agent));
        asked.flatten().is_some_and(|asked| asked.reply.send(words).is_ok())
    }

    /// Tells of each question that comes after this.
    pub fn seen(&self) -> watch::Receiver<u64> {
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
        let mut open = self.questions.open();
        if open.get(&self.agent).is_some_and(|asked| asked.number == self.number) {
            open.remove(&self.agent);
        }
    }
}
