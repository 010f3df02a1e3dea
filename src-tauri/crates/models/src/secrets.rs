//! What must be in no error: a provider may echo the key that it was sent.

use std::fmt;

use crate::ModelError;

/// Texts that are blacked out wherever they turn up. Shows none of them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn new(texts: impl IntoIterator<Item = String>) -> Self {
        Self(texts.into_iter().filter(|text| !text.is_empty()).collect())
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[key]"))
    }

    /// The same in what is no text.
    pub(crate) fn hide_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for secret in self.0.iter().map(String::as_bytes) {
            while let Some(at) = bytes.windows(secret.len()).position(|part| part == secret) {
                // As long as it was, and no secret again.
                bytes[at..at + secret.len()].fill(0xff);
            }
        }
        bytes
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
