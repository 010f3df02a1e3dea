//! Plays a tape: answers each request as it was answered then, where it is the same in what matters.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use protocol::ids::ModelId;
use serde_json::Value;

use super::{Answer, Body, End, Exchange, Failure, Fingerprint, Head, KIND, TapeError, VERSION};
use crate::computer::Computer;
use crate::decode::Decoder;
use crate::http::{Bytes, Timeouts};
use crate::reading::Reading;
use crate::secrets::Secrets;
use crate::{Model, ModelError, ModelErrorKind, Request, TurnEvent};

/// A model that says what another said: at once, needing neither key nor network.
#[derive(Debug)]
pub struct Replay {
    head: Head,
    pub(super) exchanges: Vec<Exchange>,
    next: Mutex<usize>,
}

impl Replay {
    /// Reads a whole tape.
    ///
    /// # Errors
    /// What is none, is of another version, or is damaged or cut.
    pub fn read(tape: &[u8]) -> Result<Self, TapeError> {
        let mut lines = (1..).zip(tape.split_inclusive(|byte| *byte == b'\n'));
        let (_, first) = lines.next().ok_or(TapeError::NotATape)?;
        let head = head(first)?;
        if !first.ends_with(b"\n") {
            return Err(TapeError::Broken { line: 1 });
        }
        let mut exchanges = Vec::new();
        for (line, text) in lines {
            let broken = || TapeError::Broken { line };
            let exchange: Exchange = serde_json::from_slice(text).map_err(|_| broken())?;
            if exchange.turn != exchanges.len() + 1 || !text.ends_with(b"\n") || !exchange.is_sound() {
                return Err(broken());
            }
            exchanges.push(exchange);
        }
        Ok(Self { head, exchanges, next: Mutex::new(0) })
    }

    fn answer(&self, request: &Request) -> Result<Bytes, ModelError> {
        let refused = |message: String| ModelError::new(ModelErrorKind::BadRequest, message);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (turn, total) = (*next + 1, self.exchanges.len());
        let Some(exchange) = self.exchanges.get(*next) else {
            return Err(refused(format!("the recording has {total} turns and is asked for turn {turn}")));
        };
        if let Some(what) = exchange.asked.differs(&Fingerprint::of(request)) {
            let message = format!("turn {turn} of the recording was asked something else: {what} differs");
            return Err(
                refused(message).with_hint("record the run again, or replay it where it was recorded")
            );
        }
        *next = turn;
        match &exchange.answer {
            Answer::Refused(failure) => Err(failure.error()),
            Answer::Stream { body, pieces, end } => {
                let bytes = body.bytes().ok_or_else(|| refused(format!("turn {turn} is damaged")))?;
                let mut at = 0;
                let mut heard: Vec<Result<Vec<u8>, ModelError>> = Vec::with_capacity(pieces.len() + 1);
                for (_, length) in pieces {
                    heard.push(Ok(bytes[at..at + length].to_vec()));
                    at += length;
                }
                match end {
                    End::Whole => {}
                    End::Lost(failure) => heard.push(Err(failure.error())),
                    // Passed over where the turn was complete by then.
                    End::LetGo => {
                        heard
                            .push(Err(refused(format!("turn {turn} was stopped here when it was recorded"))));
                    }
                }
                Ok(stream::iter(heard).boxed())
            }
        }
    }
}

fn head(line: &[u8]) -> Result<Head, TapeError> {
    let value: Value = serde_json::from_slice(line).map_err(|_| TapeError::NotATape)?;
    let found = value["version"].as_u64().ok_or(TapeError::NotATape)?;
    if value["kind"] != KIND {
        return Err(TapeError::NotATape);
    }
    if found != u64::from(VERSION) {
        return Err(TapeError::OtherVersion { found });
    }
    serde_json::from_value(value).map_err(|_| TapeError::Broken { line: 1 })
}

impl Exchange {
    /// Whether the pieces are those of the body.
    fn is_sound(&self) -> bool {
        match &self.answer {
            Answer::Refused(_) => true,
            Answer::Stream { body, pieces, .. } => {
                let lengths = pieces.iter().try_fold(0_usize, |sum, (_, length)| sum.checked_add(*length));
                body.bytes().is_some_and(|bytes| Some(bytes.len()) == lengths)
            }
        }
    }
}

impl Body {
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Bytes(text) => STANDARD.decode(text).ok(),
        }
    }
}

impl Failure {
    fn error(&self) -> ModelError {
        ModelError {
            kind: ModelErrorKind::named(&self.kind).unwrap_or(ModelErrorKind::Protocol),
            message: self.message.clone(),
            hint: self.hint.clone(),
            retry_after: self.retry_after_ms.map(Duration::from_millis),
            instead: self.instead.clone(),
        }
    }
}

impl Model for Replay {
    fn id(&self) -> &ModelId {
        &self.head.model
    }

    fn computer(&self) -> Option<Computer> {
        self.head.computer
    }

    fn stream(
        &self,
        request: Arc<Request>,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<TurnEvent, ModelError>>, ModelError>> {
        async move {
            let bytes = self.answer(&request)?;
            let decoder = Decoder::new(self.head.wire, &self.head.provider);
            let idle = Timeouts::default().idle;
            Ok(Reading::new(bytes, decoder, idle, ModelError::cut(), Secrets::default()).stream())
        }
        .boxed()
    }

    /// Nobody is there to be asked.
    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}
