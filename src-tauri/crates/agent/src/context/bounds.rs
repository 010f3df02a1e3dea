//! How much of a conversation is shown: in messages, characters and pictures, and in tokens of the model's window or of what
//! is left of the run's budget.

use models::pictures::Family;
use models::tokens;
use protocol::settings::Settings;
use protocol::turn::Usage;

/// Pictures the conversation may hold before the older ones become lines.
pub(super) const MOST_PICTURES: usize = 10;
/// Of the model's window, or of what is left of the run's budget.
const MOST_PERCENT: u64 = 80;
/// How far a provider's count may be from our estimate to be believed.
const BELIEVED: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// How much of the conversation is shown.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub messages: usize,
    pub text_chars: usize,
    pub data_chars: usize,
    pub pictures: usize,
    /// Bytes of one picture.
    pub picture_bytes: usize,
    /// The model's window.
    pub tokens: u64,
    /// What is left of the run's budget; `None` if nothing bounds it.
    pub left: Option<u64>,
    pub family: &'static Family,
    /// What a token costs that the provider has in its cache, of one that it has not.
    pub reread: f64,
}

impl Bounds {
    /// What the user has set, and what the model takes.
    pub fn of(settings: &Settings) -> Self {
        let family = models::pictures::family(&settings.model);
        let is_local = settings.ollama_context > 0 && settings.model.provider() == Some("ollama");
        let tokens = match is_local {
            true => u64::from(settings.ollama_context),
            false => tokens::window(&settings.model),
        };
        Self {
            tokens,
            left: None,
            family,
            reread: models::cost::reread(&settings.model),
            pictures: MOST_PICTURES.min(family.per_request),
            picture_bytes: family.bytes,
            messages: settings.history_messages as usize,
            text_chars: settings.history_text_chars as usize,
            data_chars: settings.history_data_chars as usize,
        }
    }

    /// The most tokens that the next request may have.
    pub(super) fn most_tokens(&self) -> u64 {
        self.left.unwrap_or(u64::MAX).min(self.tokens) / 100 * MOST_PERCENT
    }
}

/// How our estimate of tokens compares with what the provider counts.
#[derive(Debug, Default)]
pub(super) struct Weight {
    /// Estimated for the newest request.
    pub(super) asked: u64,
    /// The same for the last one that was answered, and what its provider counted.
    counted: Option<(u64, u64)>,
}

impl Weight {
    /// What the provider counted of the newest request.
    pub(super) fn note(&mut self, usage: &Usage) {
        let factor = usage.input as f64 / self.asked.max(1) as f64;
        if usage.input > 0 && BELIEVED.contains(&factor) {
            self.counted = Some((self.asked, usage.input));
        }
    }

    /// An estimate as the provider may count it, rather more than fewer.
    pub(super) fn corrected(&self, estimated: u64) -> u64 {
        match self.counted {
            Some((then, counted)) => models::estimate::corrected(estimated, then, counted),
            None => estimated,
        }
    }
}
