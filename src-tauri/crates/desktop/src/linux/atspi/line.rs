//! One D-Bus connection with many calls under way: each answer goes to the one that waits for it.
//!
//! zbus shows every message to every waiting call; with two hundred calls under way that alone costs more than the
//! calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use tokio::sync::oneshot;
use zbus::message::Type;
use zbus::{Connection, Message, MessageStream};

use super::lock;

/// Cheap to clone; closed with its last clone.
#[derive(Clone)]
pub(super) struct Line {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Connection,
    /// By the number of the call.
    waiting: Arc<Mutex<HashMap<u32, oneshot::Sender<Message>>>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Line {
    pub(super) fn new(connection: Connection) -> Self {
        let waiting: Arc<Mutex<HashMap<u32, oneshot::Sender<Message>>>> = Arc::default();
        let mut messages = MessageStream::from(&connection);
        let reader = tokio::spawn({
            let waiting = Arc::clone(&waiting);
            async move {
                while let Some(Ok(message)) = messages.next().await {
                    let number = message.header().reply_serial();
                    let asked = number.and_then(|number| lock(&waiting).remove(&number.get()));
                    if let Some(asked) = asked {
                        // Who asked may have given up.
                        let _given_up = asked.send(message);
                    }
                }
                // All that wait hear that the connection has ended.
                lock(&waiting).clear();
            }
        });
        Self { inner: Arc::new(Inner { connection, waiting, reader }) }
    }

    /// Every message that fits, from now on.
    pub(super) async fn stream(&self, rule: zbus::MatchRule<'_>) -> zbus::Result<MessageStream> {
        MessageStream::for_match_rule(rule, &self.inner.connection, Some(256)).await
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner.connection.is_closed() || self.inner.reader.is_finished()
    }

    /// Sends a call and waits for its answer; an error answer is an error.
    pub(super) async fn ask(&self, call: Message) -> zbus::Result<Message> {
        let number = call.primary_header().serial_num().get();
        let (sender, receiver) = oneshot::channel();
        lock(&self.inner.waiting).insert(number, sender);
        let _done = Waiting { line: self, number };
        self.inner.connection.send(&call).await?;
        let ended = || zbus::Error::InputOutput(Arc::new(std::io::ErrorKind::ConnectionReset.into()));
        let answer = receiver.await.map_err(|_| ended())?;
        match answer.message_type() {
            Type::Error => Err(answer.into()),
            _ => Ok(answer),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// A call that is given up leaves nothing behind.
struct Waiting<'a> {
    line: &'a Line,
    number: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.line.inner.waiting).remove(&self.number);
    }
}
