//! Writes a tape, a line as soon as an exchange is over.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use futures::stream::unfold;
use protocol::ids::ModelId;
use tokio::time::Instant;

use super::{Answer, Body, End, Exchange, Failure, Fingerprint, Head, KIND, VERSION};
use crate::computer::Computer;
use crate::http::Bytes;
use crate::secrets::Secrets;
use crate::{ModelError, ModelErrorKind, Provider, Request};

/// Where a model's exchanges are written.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    turn: usize,
    /// Why a line could not be written.
    failed: Option<String>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

impl Recorder {
    /// Begins a tape in `out`, which nobody else writes, of a model that acts by this computer tool of its vendor's, if
    /// by any.
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
            provider: provider.voice(),
            wire: provider.wire,
            computer,
        };
        write_line(&mut out, &head)?;
        Ok(Self(Arc::new(Mutex::new(Inner { out, turn: 0, failed: None }))))
    }

    /// A turn is about to be asked for.
    ///
    /// # Errors
    /// Where the tape could not be written before: a run that is to be recorded is not to go on without.
    pub(crate) fn asked(&self, request: &Request, secrets: &Secrets) -> Result<Heard, ModelError> {
        if let Some(why) = &self.0.lock().unwrap_or_else(PoisonError::into_inner).failed {
            let message = format!("the recording cannot be written: {why}");
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        }
        let question = Question {
            recorder: self.clone(),
            asked: Fingerprint::of(request),
            began: Instant::now(),
            secrets: secrets.clone(),
        };
        Ok(Heard { of: Some(question), all: Vec::new(), pieces: Vec::new(), end: End::LetGo })
    }

    fn write(&self, asked: Fingerprint, answer: Answer) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.turn += 1;
        let line = Exchange { turn: inner.turn, asked, answer };
        if let Err(error) = write_line(&mut inner.out, &line) {
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

/// What was asked, and when.
struct Question {
    recorder: Recorder,
    asked: Fingerprint,
    began: Instant,
    secrets: Secrets,
}

/// An answer as far as it was heard, from the moment of the question on; written when it is let go of.
pub(crate) struct Heard {
    /// Nothing once it is written.
    of: Option<Question>,
    all: Vec<u8>,
    pieces: Vec<(u64, usize)>,
    end: End,
}

impl Heard {
    /// Hands the answer on, and writes it where it ends.
    pub(crate) fn answered(mut self, answer: Result<Bytes, ModelError>) -> Result<Bytes, ModelError> {
        match (&answer, self.of.take()) {
            (Err(error), Some(Question { recorder, asked, secrets, .. })) => {
                recorder.write(asked, Answer::Refused(Failure::of(error, &secrets)));
            }
            (_, of) => self.of = of,
        }
        answer.map(|bytes| self.listening(bytes))
    }

    fn listening(self, bytes: Bytes) -> Bytes {
        let next = async |(mut bytes, mut heard): (Bytes, Self)| {
            let piece = bytes.next().await;
            match &piece {
                None => heard.end = End::Whole,
                Some(Ok(piece)) => heard.piece(piece),
                Some(Err(error)) => heard.lost(error),
            }
            piece.map(|piece| (piece, (bytes, heard)))
        };
        unfold((bytes, self), next).boxed()
    }

    fn piece(&mut self, piece: &[u8]) {
        let since = self.of.as_ref().map_or(Duration::ZERO, |of| of.began.elapsed());
        self.pieces.push((millis(since), piece.len()));
        self.all.extend_from_slice(piece);
    }

    fn lost(&mut self, error: &ModelError) {
        if let Some(of) = &self.of {
            self.end = End::Lost(Failure::of(error, &of.secrets));
        }
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let Some(Question { recorder, asked, secrets, .. }) = self.of.take() else { return };
        let (all, mut pieces) = (std::mem::take(&mut self.all), std::mem::take(&mut self.pieces));
        let body = match String::from_utf8(all) {
            Ok(text) => {
                let hidden = secrets.hide(&text);
                if hidden != text {
                    // The pieces are of another length now.
                    let last = pieces.last().map_or(0, |(time, _)| *time);
                    pieces = vec![(last, hidden.len())];
                }
                Body::Text(hidden)
            }
            Err(error) => Body::Bytes(STANDARD.encode(secrets.hide_bytes(error.as_bytes()))),
        };
        let end = std::mem::replace(&mut self.end, End::LetGo);
        recorder.write(asked, Answer::Stream { body, pieces, end });
    }
}

impl Failure {
    fn of(error: &ModelError, secrets: &Secrets) -> Self {
        let ModelError { kind, message, hint, retry_after, instead } = secrets.hidden_in(error.clone());
        Self { kind: kind.name().into(), message, hint, retry_after_ms: retry_after.map(millis), instead }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
