//! Chat Completions, the wire that most speak and each in its own way: read leniently. `request` writes what is asked,
//! `stream` reads what comes, `reasoning` keeps the thinking that must go back.

mod reasoning;
mod request;
mod stream;

pub(crate) use request::{Dialect, body, tool};
pub(crate) use stream::ChatDecoder;
