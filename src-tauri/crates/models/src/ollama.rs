//! Ollama's own wire: `/api/chat`, JSON lines. `request` writes what is asked, `stream` reads what comes.

mod request;
mod stream;

pub(crate) use request::body;
pub(crate) use stream::OllamaDecoder;
