//! xAI answers on both of OpenAI's wires; the first event tells on which.

use serde_json::Value;

use super::stream::Making;
use crate::decode::{Made, Progress, TurnInMaking, json};
use crate::{ModelError, TurnEvent, chat};

pub(crate) struct Either {
    provider: String,
    turn: Option<Box<dyn TurnInMaking>>,
}

impl Either {
    pub(super) fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), turn: None }
    }
}

impl TurnInMaking for Either {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        self.turn.as_mut().map_or(Ok(false), |turn| turn.plain(data, events))
    }

    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        if self.turn.is_none() {
            let event: Value = json(&self.provider, data)?;
            let is_chat = event["object"] == "chat.completion.chunk" || event["choices"].is_array();
            self.turn = Some(match is_chat {
                true => Box::new(chat::turn(&self.provider)),
                false => Box::new(Making::new(&self.provider)),
            });
        }
        self.turn.as_mut().map_or(Ok(()), |turn| turn.feed(data, events))
    }

    fn progress(&self) -> Progress {
        self.turn.as_ref().map_or(Progress::Open, |turn| turn.progress())
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
        self.turn.as_mut().ok_or_else(ModelError::cut)?.finish()
    }
}
