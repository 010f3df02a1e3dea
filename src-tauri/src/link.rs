//! A command line's way to the engine: the running one through its socket, or this process becomes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::command::{AnyCommand, Command};
use protocol::tool::Door;
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;

use crate::engine::Engine;
use crate::home::Home;
use crate::lock::{HomeLock, Try};
use crate::socket::{Client, Events, Served, serve};

/// How long a process may take between its lock and its socket.
const PATIENCE: Duration = Duration::from_secs(10);

/// The engine, here or elsewhere.
pub enum Link {
    Here(Here),
    There(Client),
}

/// This process is the engine, and others may attach to it.
pub struct Here {
    pub engine: Arc<Engine>,
    served: Option<Served>,
}

impl Link {
    /// Becomes the engine where the folder is free, otherwise attaches to the one that has it.
    ///
    /// # Errors
    /// The engine's start; [`ErrorCode::Busy`] where the folder's holder does not answer.
    pub async fn open(home: &Home) -> Result<Self, ErrorView> {
        let begin = Instant::now();
        loop {
            match HomeLock::try_take(home)? {
                Try::Held(lock) => return Ok(Self::Here(Here::start(home, lock).await?)),
                Try::Elsewhere { pid } => match Client::connect(home).await {
                    Ok(client) => return Ok(Self::There(client)),
                    // It may be just starting, or just ending: then the lock or the socket is free in a moment.
                    Err(_) if begin.elapsed() < PATIENCE => {
                        tokio::time::sleep(Duration::from_millis(50)).await
                    }
                    Err(error) => return Err(silent(home, pid, &error)),
                },
            }
        }
    }

    /// Sends one command, typed.
    ///
    /// # Errors
    /// The engine's own.
    pub async fn call<C: Command>(&self, command: C) -> Result<C::Response, ErrorView>
    where
        AnyCommand: From<Call<C>>,
    {
        let value = self.call_any(AnyCommand::from(Call(command))).await?;
        serde_json::from_value(value).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("answer to {} cannot be read: {error}", C::NAME))
                .with_hint("the running miki is of another version: quit it and start this one")
        })
    }

    async fn call_any(&self, command: AnyCommand) -> Result<Value, ErrorView> {
        match self {
            Self::Here(here) => here.engine.call(command, Door::Cli).await,
            Self::There(client) => client.call(command).await,
        }
    }

    /// All events from now on.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn subscribe(&self) -> Result<Events, ErrorView> {
        match self {
            Self::Here(here) => Ok(here.engine.agent().subscribe()),
            Self::There(client) => client.subscribe().await,
        }
    }

    /// Leaves the engine, or ends it where it is this process.
    pub async fn close(self) {
        if let Self::Here(here) = self {
            here.end().await;
        }
    }

    /// Releases held keys and buttons at once, where it is this process that holds them.
    pub fn release_all(&self) {
        if let Self::Here(here) = self {
            here.engine.release_all();
        }
    }
}

impl Here {
    async fn start(home: &Home, lock: HomeLock) -> Result<Self, ErrorView> {
        let engine = Engine::start(home, lock).await?;
        let served = match serve(home, Arc::clone(&engine) as Arc<dyn crate::socket::Door>) {
            Ok(served) => Some(served),
            Err(error) => {
                // This process can work alone; only others cannot attach to it.
                tracing::warn!("other commands cannot attach: {}: {error}", home.socket().display());
                None
            }
        };
        Ok(Self { engine, served })
    }

    /// Hangs up, then ends the engine.
    pub async fn end(self) {
        self.engine.shutdown().await;
        if let Some(served) = self.served {
            served.end().await;
        }
    }
}

/// A command on its way to being data.
pub struct Call<C>(C);

macro_rules! calls {
    ($($type:ident),*) => {$(
        impl From<Call<protocol::command::$type>> for AnyCommand {
            fn from(call: Call<protocol::command::$type>) -> Self {
                Self::$type(call.0)
            }
        }
    )*};
}

calls!(StartRun, StopRun, AnswerApproval, OpenSession, CallTool, Permissions, ShowWindow);

fn silent(home: &Home, pid: Option<u32>, error: &std::io::Error) -> ErrorView {
    let who = pid.map_or_else(|| "another miki".into(), |pid| format!("another miki (process {pid})"));
    ErrorView::new(
        ErrorCode::Busy,
        format!("{who} has {} and does not answer: {error}", home.path().display()),
    )
    .with_hint("end it and try again, or set MIKI_HOME to another folder")
}
