//! Waits in the middle of an effect: they end as soon as the run is stopped, or something is said to it that pauses it. What
//! is said meanwhile is kept, and heard in its turn.

use futures::future::BoxFuture;

use super::Driver;
use super::mailbox::Message;

impl Driver {
    /// What comes of it; `None` if the run was stopped first, or will be paused: then it was given up.
    pub(super) async fn unless_heard<T>(&mut self, mut work: BoxFuture<'_, T>) -> Option<T> {
        if self.heard.iter().any(pauses) {
            return None;
        }
        let stop = self.run.stop.token.clone();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                message = self.run.mailbox.recv() => {
                    // The engine is going down.
                    let message = message?;
                    let ends = pauses(&message);
                    self.heard.push_back(message);
                    if ends {
                        return None;
                    }
                }
                done = &mut work => return Some(done),
            }
        }
    }
}

fn pauses(message: &Message) -> bool {
    match message {
        Message::Pause { .. } | Message::LateNo { .. } | Message::UserInput => true,
        Message::Resume
        | Message::Steer { .. }
        | Message::TakeBack { .. }
        | Message::Answered(_)
        | Message::OnlyWaits { .. } => false,
    }
}
