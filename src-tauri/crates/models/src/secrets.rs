//! Keeps keys out of errors and recordings: a provider may echo the key that it was sent.

use std::fmt;

use crate::ModelError;

/// Shorter texts are no vendor's keys, and would be found inside common words.
const SHORTEST: usize = 8;

/// Texts that are replaced wherever they turn up. Its `Debug` does not show them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn new(texts: impl IntoIterator<Item = String>) -> Self {
        Self(texts.into_iter().filter(|text| text.len() >= SHORTEST).collect())
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[key]"))
    }

    pub(crate) fn hidden_in(&self, error: ModelError) -> ModelError {
        ModelError { message: self.hide(&error.message), ..error }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_and_what_is_too_short_to_be_one_spoils_no_text() {
        let secrets = Secrets::new(["canary-Key-123".into(), "1".into(), "demo".into(), String::new()]);
        assert_eq!(secrets.hide("1 demo of canary-Key-123."), "1 demo of [key].");
    }
}
