//! Anthropic's wire: Messages. `request` writes what is asked, `stream` reads what comes.

mod request;
mod stream;

pub(crate) use request::body;
pub(crate) use stream::AnthropicDecoder;
