//! The events of an answer while its bytes come. Ends even if the server goes silent.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::unfold;

use crate::decode::{Decoder, Progress};
use crate::http::ByteStream;
use crate::secrets::Secrets;
use crate::{ModelError, TurnEvent, TurnEvents};

/// How long to wait, after a complete turn, for token counts.
const LINGER: Duration = Duration::from_secs(2);
/// How long to wait for the end of the body after the last event, so that the connection can be used again.
const GOODBYE: Duration = Duration::from_millis(100);

pub(crate) struct TurnStream {
    bytes: ByteStream,
    /// `None` after the end.
    decoder: Option<Decoder>,
    ready: VecDeque<Result<TurnEvent, ModelError>>,
    idle: Duration,
    silent: ModelError,
    secrets: Secrets,
}

impl TurnStream {
    /// `silent` is the error of a server that says nothing for `idle`.
    pub(crate) fn new(
        bytes: ByteStream,
        decoder: Decoder,
        idle: Duration,
        silent: ModelError,
        secrets: Secrets,
    ) -> Self {
        Self { bytes, decoder: Some(decoder), ready: VecDeque::new(), idle, silent, secrets }
    }

    pub(crate) fn stream(self) -> TurnEvents {
        unfold(self, Self::next).boxed()
    }

    async fn next(mut self) -> Option<(Result<TurnEvent, ModelError>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            let decoder = self.decoder.as_mut()?;
            let limit = match decoder.progress() {
                Progress::Open => self.idle,
                Progress::Complete => LINGER,
                Progress::Over => GOODBYE,
            };
            let failure = match tokio::time::timeout(limit, self.bytes.next()).await {
                Ok(Some(Ok(bytes))) => {
                    let mut events = Vec::new();
                    let pushed = decoder.push(&bytes, &mut events);
                    self.ready.extend(events.into_iter().map(Ok));
                    match pushed {
                        Ok(()) => continue,
                        Err(error) => error,
                    }
                }
                Ok(None) => {
                    self.end();
                    continue;
                }
                // The turn is complete: a failure after it does not matter.
                _ if decoder.progress() != Progress::Open => {
                    self.end();
                    continue;
                }
                Ok(Some(Err(error))) => error,
                Err(_) => self.silent.clone(),
            };
            self.fail(failure);
        }
    }

    fn end(&mut self) {
        let Some(decoder) = self.decoder.take() else { return };
        let mut events = Vec::new();
        let end = decoder.end(&mut events);
        self.ready.extend(events.into_iter().map(Ok));
        match end {
            Ok(finished) => self.ready.push_back(Ok(finished)),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: ModelError) {
        self.decoder = None;
        self.ready.push_back(Err(self.secrets.hidden_in(error)));
    }
}
