//! Ollama's own wire: `/api/chat`, JSON lines. What is asked is in `request`, what comes in `stream`.

mod hot;
mod request;
mod stream;

pub(crate) use request::body;

/// A turn to come.
pub(crate) fn turn(provider: &str) -> stream::Making {
    stream::Making::new(provider)
}
