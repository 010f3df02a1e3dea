//! xAI answers on both of OpenAI's wires; the first event tells on which.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ResponsesDecoder;
use crate::chat::ChatDecoder;
use crate::decode::{DecodedTurn, Progress, StreamDecoder, read};
use crate::lenient::Lenient;
use crate::{ModelError, TurnEvent};

/// Its decoder, from the first event on.
#[derive(Default)]
pub(crate) struct XaiDecoder(Option<Box<dyn StreamDecoder>>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct First {
    object: Lenient<String>,
    choices: Lenient<Option<Vec<IgnoredAny>>>,
}

impl StreamDecoder for XaiDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let decoder = match &mut self.0 {
            Some(decoder) => decoder,
            None => {
                let First { object, choices } = read(provider, data)?;
                let is_chat = object.0 == "chat.completion.chunk" || choices.0.is_some();
                self.0.insert(match is_chat {
                    true => Box::<ChatDecoder>::default(),
                    false => Box::<ResponsesDecoder>::default(),
                })
            }
        };
        decoder.feed(provider, data, events)
    }

    fn progress(&self) -> Progress {
        self.0.as_ref().map_or(Progress::Open, |decoder| decoder.progress())
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        self.0.as_mut().ok_or_else(ModelError::cut)?.finish()
    }
}
