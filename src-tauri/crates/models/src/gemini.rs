//! Gemini's wire: `generateContent` asked for as a stream. `request` writes what is asked, `stream` reads what comes,
//! of the newer Interactions API too (`interactions`).

mod interactions;
mod request;
mod stream;

pub(crate) use request::body;
pub(crate) use stream::GeminiDecoder;
