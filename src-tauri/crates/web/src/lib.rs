//! The web without a browser: searching it, and fetching a page as text. Knows nothing of tools, agents or windows.
//!
//! Three doors. [`Fetcher`] gets an address that a model or a page chose: everything about it is guarded, and no request
//! of it reaches this machine or its network. [`Proxy`] leads a command to the hosts that its user allowed, under the same
//! guard. [`Searcher`] asks an engine that the user chose. None reads settings, keychain or environment, and none keeps
//! anything on disk.

mod error;
mod fetch;
mod guard;
mod proxy;
mod search;

mod body;
mod charset;
mod html;
mod json;
mod text;

#[cfg(test)]
mod fake;

pub use error::{SearchError, WebError};
pub use fetch::{Extent, FetchBounds, Fetcher, Links, Page, PageKind};
pub use guard::{Guard, Names, Refusal, SystemNames};
pub use proxy::Proxy;
pub use search::{Bases, Engine, Hit, Searcher};
