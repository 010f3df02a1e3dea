//! Writes a recording, a line as soon as a turn is over.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::unfold;
use protocol::ids::ModelId;

use super::{Answer, End, Head, KIND, RecordedTurn, VERSION, digest};
use crate::computer::Computer;
use crate::decode::not_utf8;
use crate::http::ByteStream;
use crate::secrets::Secrets;
use crate::{ModelError, ModelErrorKind, Provider, Request};

/// Where a model's turns are written.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    /// Why a line could not be written.
    failed: Option<String>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

impl Recorder {
    /// Begins a recording in `out`, which nobody else writes. `computer` is the vendor's computer tool that the model
    /// acts by, if any.
    ///
    /// # Errors
    /// Where `out` cannot be written.
    pub fn begin(
        mut out: Box<dyn Write + Send>,
        model: &ModelId,
        provider: &Provider,
        computer: Option<Computer>,
    ) -> std::io::Result<Self> {
        let head = Head {
            kind: KIND.into(),
            version: VERSION,
            model: model.clone(),
            provider: provider.author(),
            wire: provider.wire,
            computer,
        };
        write_line(&mut out, &head)?;
        Ok(Self(Arc::new(Mutex::new(Inner { out, failed: None }))))
    }

    /// A turn is about to be asked for.
    ///
    /// # Errors
    /// If the turn before could not be written: a run that is to be recorded does not go on without.
    pub(crate) fn turn(&self, request: &Request, secrets: &Secrets) -> Result<TurnRecorder, ModelError> {
        if let Some(why) = &self.0.lock().unwrap_or_else(PoisonError::into_inner).failed {
            let message = format!("the recording cannot be written: {why}");
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        }
        Ok(TurnRecorder {
            recorder: self.clone(),
            secrets: secrets.clone(),
            asked: digest(request),
            said: Vec::new(),
            end: End::Dropped,
            refused: None,
        })
    }

    fn write(&self, turn: &RecordedTurn) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = write_line(&mut inner.out, turn) {
            tracing::error!("the recording cannot be written: {error}");
            inner.failed = Some(error.to_string());
        }
    }
}

fn write_line(out: &mut dyn Write, line: &impl serde::Serialize) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    out.write_all(&bytes)?;
    out.flush()
}

/// One turn, from its request on; written when it is dropped, however far the answer has come by then.
pub(crate) struct TurnRecorder {
    recorder: Recorder,
    secrets: Secrets,
    asked: String,
    said: Vec<u8>,
    end: End,
    /// `None` if there was a stream.
    refused: Option<ModelError>,
}

impl TurnRecorder {
    /// Hands the answer on, and listens to it.
    pub(crate) fn answered(
        mut self,
        answer: Result<ByteStream, ModelError>,
    ) -> Result<ByteStream, ModelError> {
        if let Err(error) = &answer {
            self.refused = Some(self.secrets.hidden_in(error.clone()));
        }
        answer.map(|bytes| self.listening(bytes))
    }

    fn listening(self, bytes: ByteStream) -> ByteStream {
        let next = async |(mut bytes, mut turn): (ByteStream, Self)| {
            let piece = bytes.next().await;
            match &piece {
                None => turn.end = End::Whole,
                Some(Ok(piece)) => turn.said.extend_from_slice(piece),
                Some(Err(error)) => turn.end = End::Failed(turn.secrets.hidden_in(error.clone())),
            }
            piece.map(|piece| (piece, (bytes, turn)))
        };
        unfold((bytes, self), next).boxed()
    }

    /// What was said, and its end. What comes after bytes that are no UTF-8 is never read; a character that was cut is
    /// left out.
    fn stream(&mut self) -> Answer {
        let (said, mut end) =
            (std::mem::take(&mut self.said), std::mem::replace(&mut self.end, End::Dropped));
        let text = match std::str::from_utf8(&said) {
            Ok(text) => text,
            Err(error) => {
                if error.error_len().is_some() {
                    end = End::Failed(not_utf8());
                }
                std::str::from_utf8(&said[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        Answer::Stream { said: self.secrets.hide(text), end }
    }
}

impl Drop for TurnRecorder {
    fn drop(&mut self) {
        let answer = self.refused.take().map_or_else(|| self.stream(), Answer::Refused);
        let asked = std::mem::take(&mut self.asked);
        self.recorder.write(&RecordedTurn { asked, answer });
    }
}
