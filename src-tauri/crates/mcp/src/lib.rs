//! Servers of the Model Context Protocol, whose tools become tools of ours.
//!
//! What a server says is never trusted. Its tools are called by names of ours, in a group of their own, and are offered only
//! as the user agreed to them: by a hash of name, description and schema. Their risk is what the user says of them, whatever
//! the server claims. A server that hangs, floods, dies or changes its mind ends its own connection, never a run.
//!
//! No program is started before one of its tools is called: what a server offers is kept from the last time, in a file that
//! holds nothing but what its user can ask it again.
//!
//! Knows no sandbox, no keychain and no windows: how a program is started, and what the keychain has for a server, is handed in
//! ([`Launch`]).

mod address;
mod calls;
mod client;
mod connection;
mod definition;
pub mod desk;
mod elicitation;
pub mod import;
mod outcome;
mod prompts;
mod remote_tool;
mod resources;
mod servers;
mod sign_in;
mod store;
mod tap;
mod task;

use std::any::Any;

use futures::future::BoxFuture;
use protocol::command::Secret;
use protocol::mcp::McpServer;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub use servers::Servers;

/// Where the library writes of signing in: it would tell codes, so nothing of it belongs into a log.
pub const NEVER_LOGGED: &str = "rmcp::transport::auth";

/// Starts servers that are programs, and has what the keychain keeps for those at an address.
pub trait Launch: Send + Sync {
    /// Never by a shell.
    ///
    /// # Errors
    /// Why it cannot be started, for people.
    fn launch<'a>(&'a self, name: &'a str, server: &'a McpServer) -> BoxFuture<'a, Result<Started, String>>;

    /// The headers that a server at an address gets, each with its value.
    ///
    /// # Errors
    /// There is no value of one, or the keychain fails: for people.
    fn headers<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, String>>;

    /// What was kept when its user signed in; `None` if they have not, or not at this very address.
    ///
    /// # Errors
    /// The keychain fails: for people.
    fn sign_in<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
    ) -> BoxFuture<'a, Result<Option<Secret>, String>>;

    /// Keeps or forgets that for this server at this address.
    ///
    /// # Errors
    /// The keychain fails: for people.
    fn keep_sign_in<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
        tokens: Tokens<'a>,
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// What becomes of what was kept when the user signed in.
#[derive(Clone, Copy, Debug)]
pub enum Tokens<'a> {
    /// The user has signed in.
    New(&'a Secret),
    /// In the place of those that they were renewed from; where it is not those that are kept any more, since its user has
    /// signed out, or in anew, nothing is.
    Renewed {
        from: &'a Secret,
        to: &'a Secret,
    },
    Gone,
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
