//! xAI answers on both of OpenAI's wires; the first event tells on which.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ResponsesDecoder;
use crate::chat::ChatDecoder;
use crate::decode::{DecodedTurn, Progress, StreamDecoder, read};
use crate::lenient::Lenient;
use crate::{ModelError, TurnEvent};

pub(crate) struct XaiDecoder {
    provider: String,
    /// `None` before the first event.
    decoder: Option<Box<dyn StreamDecoder>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct First {
    object: Lenient<String>,
    choices: Lenient<Option<Vec<IgnoredAny>>>,
}

impl XaiDecoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), decoder: None }
    }
}

impl StreamDecoder for XaiDecoder {
    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            None => {
                let First { object, choices } = read(&self.provider, data)?;
                let is_chat = object.0 == "chat.completion.chunk" || choices.0.is_some();
                self.decoder.insert(match is_chat {
                    true => Box::new(ChatDecoder::new(&self.provider)),
                    false => Box::new(ResponsesDecoder::new(&self.provider)),
                })
            }
        };
        decoder.feed(data, events)
    }

    fn progress(&self) -> Progress {
        self.decoder.as_ref().map_or(Progress::Open, |decoder| decoder.progress())
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        self.decoder.as_mut().ok_or_else(ModelError::cut)?.finish()
    }
}
