//! Servers of the Model Context Protocol, whose tools become tools of ours.
//!
//! What a server says is never trusted. Its tools are called by names of ours, in a group of their own, and are offered only
//! as the user agreed to them: by a hash of name, description and schema. Their risk is what the user says of them, whatever
//! the server claims. A server that hangs, floods, dies or changes its mind ends its own connection, never a run.
//!
//! No program is started before one of its tools is called: what a server offers is kept from the last time, in a file that
//! holds nothing but what its user can ask it again.
//!
//! Knows no sandbox, no keychain and no windows: how a program is started is handed in ([`Launch`]).

mod client;
mod connection;
mod definition;
pub mod desk;
pub mod import;
mod outcome;
mod remote_tool;
mod servers;
mod store;
mod tap;

use std::any::Any;

use futures::future::BoxFuture;
use protocol::command::Secret;
use protocol::mcp::McpServer;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub use servers::Servers;

/// Starts servers that are programs.
pub trait Launch: Send + Sync {
    /// Never by a shell.
    ///
    /// # Errors
    /// Why it cannot be started, for people.
    fn launch<'a>(&'a self, name: &'a str, server: &'a McpServer) -> BoxFuture<'a, Result<Started, String>>;
}

/// A program that was started.
pub struct Started {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// The values of its keys: what it says is told without them.
    pub keys: Vec<Secret>,
    /// Ends it, with all that it has started, once this is dropped.
    pub process: Box<dyn Any + Send + Sync>,
}
