//! OpenAI's wire: Responses; xAI speaks it too, with searches of its own. What is asked is in `request`, what comes in
//! `stream`.

mod either;
mod hot;
mod request;
mod stream;

pub(crate) use request::{Manner, body};
pub(crate) use stream::billed;

/// A turn to come.
pub(crate) fn turn(provider: &str) -> stream::Making {
    stream::Making::new(provider)
}

/// A turn to come on this wire or as chat completions: the first event tells.
pub(crate) fn either(provider: &str) -> either::Either {
    either::Either::new(provider)
}
