//! The other side: commands to a running engine, and its events.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use interprocess::local_socket::tokio::Stream;
use interprocess::local_socket::traits::tokio::Stream as _;
use protocol::command::{AnyCommand, Subscribe};
use protocol::socket::{Frame, MAX_LINE, Outcome, Request};
use protocol::{ErrorCode, ErrorView, Event};
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::read_line;
use crate::home::Home;

/// Events of the engine, in order; closed when the engine goes.
pub type Received = mpsc::Receiver<Result<Event, ErrorView>>;

/// Events that wait to be looked at. Answers must not wait behind events that nobody takes: with more, the connection ends.
const EVENTS: usize = 16_384;

/// Who waits for which answer; nothing once the connection is gone.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>>;

/// A connection to the engine of a data folder.
pub struct Client {
    stream: Arc<Stream>,
    /// Held while a line is written, so that two are not mixed.
    writing: tokio::sync::Mutex<()>,
    next: AtomicU64,
    waiting: Waiting,
    events: Mutex<Option<Received>>,
    reader: JoinHandle<()>,
}

impl Client {
    /// Connects to the engine that listens.
    ///
    /// # Errors
    /// As the system has it; nobody listening is one of them.
    pub async fn connect(home: &Home) -> io::Result<Self> {
        let stream = Arc::new(Stream::connect(super::name(home)?).await?);
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (events, received) = mpsc::channel(EVENTS + 1);
        let (input, told) = (Arc::clone(&stream), Arc::clone(&waiting));
        let reader = tokio::spawn(async move { read(BufReader::new(&*input), told, events).await });
        Ok(Self {
            stream,
            writing: tokio::sync::Mutex::new(()),
            next: AtomicU64::new(1),
            waiting,
            events: Mutex::new(Some(received)),
            reader,
        })
    }

    /// Whether the process that listens runs this very program, as this user. Only then is it told a secret. Where the
    /// system does not tell (all but Linux), the folder's rights are what there is.
    pub fn is_miki(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd;
            use std::os::unix::fs::MetadataExt;

            let Stream::UdSocket(stream) = &*self.stream;
            let peer = || {
                let second = std::os::unix::net::UnixStream::from(stream.as_fd().try_clone_to_owned().ok()?);
                tokio::net::UnixStream::from_std(second).ok()?.peer_cred().ok()
            };
            let program = |pid: &str| {
                let file = std::fs::metadata(format!("/proc/{pid}/exe")).ok()?;
                Some((file.dev(), file.ino()))
            };
            let own = std::fs::metadata("/proc/self").map(|own| own.uid());
            peer().is_some_and(|peer| {
                let its = peer.pid().and_then(|pid| program(&pid.to_string()));
                own.is_ok_and(|own| own == peer.uid()) && its.is_some() && its == program("self")
            })
        }
        #[cfg(not(target_os = "linux"))]
        true
    }

    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// The engine's own; [`ErrorCode::Leaving`] where it went away before it began with this, [`ErrorCode::Unavailable`]
    /// where that is not known.
    pub async fn call(&self, command: AnyCommand) -> Result<Value, ErrorView> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut line = serde_json::to_vec(&Request { id, command }).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("request cannot be written: {error}"))
        })?;
        line.push(b'\n');
        let (answer, answered) = oneshot::channel();
        match self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(waiting) => waiting.insert(id, answer),
            None => return Err(gone(ErrorCode::Leaving)),
        };
        {
            let _alone = self.writing.lock().await;
            // Of a line that did not get there whole nothing is done.
            (&*self.stream).write_all(&line).await.map_err(|_| gone(ErrorCode::Leaving))?;
        }
        match answered.await.map_err(|_| gone(ErrorCode::Unavailable))? {
            Outcome::Ok(value) => Ok(value),
            Outcome::Error(error) => Err(error),
        }
    }

    /// Events as the command has it. Once a connection: a second call has none.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn subscribe(&self, command: Subscribe) -> Result<Received, ErrorView> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
        let events = events
            .ok_or_else(|| ErrorView::new(ErrorCode::Internal, "subscribed twice on one connection"))?;
        self.call(AnyCommand::Subscribe(command)).await?;
        Ok(events)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(
    mut input: impl tokio::io::AsyncBufRead + Unpin,
    waiting: Waiting,
    events: mpsc::Sender<Result<Event, ErrorView>>,
) {
    // A place for the reason why no more come.
    let mut last = events.clone().try_reserve_owned().ok();
    let mut line = Vec::new();
    while let Ok(Some(())) = read_line(&mut input, &mut line, MAX_LINE).await {
        match serde_json::from_slice(&line) {
            Ok(Frame::Reply(reply)) => {
                let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(answer) = waiting.as_mut().and_then(|waiting| waiting.remove(&reply.id)) {
                    let _ = answer.send(reply.outcome);
                }
            }
            Ok(Frame::Event(event)) => match events.try_send(Ok(*event)) {
                Ok(()) => {}
                // Nobody listens: then there is nothing to keep.
                Err(mpsc::error::TrySendError::Closed(_)) => {}
                Err(mpsc::error::TrySendError::Full(_)) => {
                    let message = format!("{EVENTS} events wait to be printed: what reads them is too slow");
                    let error = ErrorView::new(ErrorCode::Unavailable, message);
                    let error = error
                        .with_hint("the run goes on: `miki ps` shows it, `miki session show` what it did");
                    let _ = last.take().map(|last| last.send(Err(error)));
                    break;
                }
            },
            Ok(Frame::Unsubscribed(error)) => {
                let _ = events.try_send(Err(error));
            }
            Ok(Frame::Leaving) => {
                let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
                for (_, answer) in waiting.into_iter().flatten() {
                    let _ = answer.send(Outcome::Error(gone(ErrorCode::Leaving)));
                }
            }
            Err(error) => {
                let message = format!("the running miki says what this version does not understand: {error}");
                let error = ErrorView::new(ErrorCode::Unavailable, message);
                let error = error.with_hint("quit the running miki, and start this version");
                let _ = last.take().map(|last| last.send(Err(error)));
                break;
            }
        }
    }
    // Whoever still waits is told by the drop.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
}

fn gone(code: ErrorCode) -> ErrorView {
    ErrorView::new(code, "the running miki went away").with_hint("start the command again")
}
