//! OpenAI's wire: Responses; xAI speaks it too, with searches of its own. `request` writes what is asked, `stream`
//! reads what comes.

mod request;
mod stream;
mod xai;

pub(crate) use request::{Dialect, body};
pub(crate) use stream::{ResponsesDecoder, billed};
pub(crate) use xai::XaiDecoder;
