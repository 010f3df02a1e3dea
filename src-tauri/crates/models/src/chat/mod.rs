//! Chat Completions, the wire that most speak and each in its own way: read leniently. What is asked is in `request`,
//! what comes in `stream`, thinking that must go back in `reasoning`.

mod hot;
mod reasoning;
mod request;
mod stream;

pub(crate) use request::{Manner, body, tool};

/// A turn to come.
pub(crate) fn turn(provider: &str) -> stream::Making {
    stream::Making::new(provider)
}
