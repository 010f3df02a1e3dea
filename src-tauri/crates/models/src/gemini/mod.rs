//! Gemini's wire: `generateContent`, streamed. What is asked is in `request`, what comes in `stream`, and in
//! `interactions` where the newer API answers.

mod hot;
mod interactions;
mod request;
mod stream;

pub(crate) use request::body;

/// A turn to come.
pub(crate) fn turn(provider: &str) -> stream::Making {
    stream::Making::new(provider)
}
