//! Replays a recording: answers each request as it was answered then.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::stream;
use futures::{FutureExt, StreamExt};
use protocol::ids::ModelId;
use serde_json::Value;

use super::{Answer, End, Head, KIND, RecordedTurn, RecordingError, VERSION, digest};
use crate::computer::Computer;
use crate::decode::Decoder;
use crate::http::{ByteStream, Timeouts};
use crate::secrets::Secrets;
use crate::turn_stream::TurnStream;
use crate::{Model, ModelError, ModelErrorKind, Request, TurnEvents};

/// A model that says what another said: at once, needing neither key nor network.
#[derive(Debug)]
pub struct Replay {
    head: Head,
    pub(super) turns: Vec<RecordedTurn>,
    next: Mutex<usize>,
}

impl Replay {
    /// Reads a whole recording.
    ///
    /// # Errors
    /// What is none, is of another version, or is damaged or cut.
    pub fn read(recording: &[u8]) -> Result<Self, RecordingError> {
        let mut lines = (1..).zip(recording.split_inclusive(|byte| *byte == b'\n'));
        let (_, first) = lines.next().ok_or(RecordingError::NotARecording)?;
        let head = head(first)?;
        if !first.ends_with(b"\n") {
            return Err(RecordingError::Broken { line: 1 });
        }
        let turn = |(line, text): (usize, &[u8])| {
            let turn = serde_json::from_slice(text).ok().filter(|_| text.ends_with(b"\n"));
            turn.ok_or(RecordingError::Broken { line })
        };
        Ok(Self { head, turns: lines.map(turn).collect::<Result<_, _>>()?, next: Mutex::new(0) })
    }

    /// The vendor's computer tool that the model acted by, see [`crate::computer::with`].
    pub fn computer(&self) -> Option<Computer> {
        self.head.computer
    }

    fn answer(&self, request: &Request) -> Result<ByteStream, ModelError> {
        let refused = |message: String| ModelError::new(ModelErrorKind::BadRequest, message);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, total) = (*next + 1, self.turns.len());
        let Some(turn) = self.turns.get(*next) else {
            return Err(refused(format!("the recording has {total} turns and is asked for turn {number}")));
        };
        if turn.asked != digest(request) {
            let message = format!("turn {number} of the recording was asked something else");
            let hint = "what the user said or what came of a call differs: record the run again, or replay it \
                        where it was recorded";
            return Err(refused(message).with_hint(hint));
        }
        *next = number;
        match &turn.answer {
            Answer::Refused(error) => Err(error.clone()),
            Answer::Stream { said, end } => {
                let failed = match end {
                    End::Whole => None,
                    End::Failed(error) => Some(error.clone()),
                    // Passed over if the turn was complete by then.
                    End::Dropped => {
                        Some(refused(format!("turn {number} was stopped here when it was recorded")))
                    }
                };
                let said = Some(said.clone().into_bytes()).filter(|said| !said.is_empty());
                Ok(stream::iter(said.map(Ok).into_iter().chain(failed.map(Err))).boxed())
            }
        }
    }
}

fn head(line: &[u8]) -> Result<Head, RecordingError> {
    let value: Value = serde_json::from_slice(line).map_err(|_| RecordingError::NotARecording)?;
    let found = value["version"].as_u64().ok_or(RecordingError::NotARecording)?;
    if value["kind"] != KIND {
        return Err(RecordingError::NotARecording);
    }
    if found != u64::from(VERSION) {
        return Err(RecordingError::OtherVersion { found });
    }
    serde_json::from_value(value).map_err(|_| RecordingError::Broken { line: 1 })
}

impl Model for Replay {
    fn id(&self) -> &ModelId {
        &self.head.model
    }

    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>> {
        async move {
            let bytes = self.answer(&request)?;
            let decoder = Decoder::new(self.head.wire, &self.head.provider);
            let idle = Timeouts::default().idle;
            Ok(TurnStream::new(bytes, decoder, idle, ModelError::cut(), Secrets::default()).stream())
        }
        .boxed()
    }

    /// Nobody is there to be asked.
    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}
