//! A command line's way to the engine: the running one through its socket, or this process becomes it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use journal::{Clock, SystemClock};
use protocol::command::{AnyCommand, Command, StartedRun, Subscribe};
use protocol::ids::RunId;
use protocol::principal::{Principal, Surface};
use protocol::{ErrorCode, ErrorView, Event};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::cli::interrupt;
use crate::engine::Engine;
use crate::home::Home;
use crate::lock::{HomeLock, Try};
use crate::socket::{Client, Received, Served, serve};

/// How long a process may take between its lock and its socket.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between the end of a run and its task's.
const MOMENT: Duration = Duration::from_millis(500);
/// Between two looks whether all that goes on waits for its user.
const LOOK: Duration = Duration::from_millis(300);

/// The engine, here or elsewhere.
pub enum Link {
    Here(Here),
    There(Client),
}

type Answer<C> = Result<<C as Command>::Response, ErrorView>;

/// This process is the engine, and others may attach to it.
pub struct Here {
    pub engine: Arc<Engine>,
    served: Option<Served>,
    /// Runs that this process has asked for.
    started: Mutex<Vec<RunId>>,
}

/// Events of the engine, in order.
pub enum Events {
    Here(Box<agent::Subscription>),
    There(Received),
}

impl Events {
    /// The next one; `None` when the engine has gone.
    ///
    /// # Errors
    /// Why no more come, and how to go on.
    pub async fn next(&mut self) -> Option<Result<Event, ErrorView>> {
        match self {
            Self::Here(events) => Some(events.next().await),
            Self::There(events) => events.recv().await,
        }
    }
}

impl Link {
    /// Between two looks at who has the folder.
    pub const BETWEEN: Duration = Duration::from_millis(50);

    /// Becomes the engine where the folder is free, otherwise attaches to the one that has it.
    ///
    /// # Errors
    /// The engine's start; [`ErrorCode::Busy`] where the folder's holder does not answer.
    pub async fn open(home: &Home) -> Result<Self, ErrorView> {
        let begin = Instant::now();
        loop {
            match HomeLock::try_take(home)? {
                Try::Taken(lock) => return Ok(Self::Here(Here::start(home, lock).await?)),
                Try::Elsewhere { pid } => match Client::connect(home).await {
                    Ok(client) => return Ok(Self::There(client)),
                    // It may be just starting, or just ending: then the lock or the socket is free in a moment.
                    Err(_) if begin.elapsed() < PATIENCE => tokio::time::sleep(Self::BETWEEN).await,
                    Err(error) => return Err(silent(home, pid, &error)),
                },
            }
        }
    }

    /// Attaches to the engine of the folder; `None` if there is none, and there is none afterwards either.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] where the folder's holder does not answer; the lock's own.
    pub async fn attach(home: &Home) -> Result<Option<Self>, ErrorView> {
        let begin = Instant::now();
        loop {
            // The socket first: the lock, once tried, is held for a moment, in which another process may want to begin.
            let silence = match Client::connect(home).await {
                Ok(client) => return Ok(Some(Self::There(client))),
                Err(error) => error,
            };
            match HomeLock::try_take(home)? {
                Try::Taken(_) => return Ok(None),
                Try::Elsewhere { .. } if begin.elapsed() < PATIENCE => {
                    tokio::time::sleep(Self::BETWEEN).await;
                }
                Try::Elsewhere { pid } => return Err(silent(home, pid, &silence)),
            }
        }
    }

    /// Opens a link and sends the first command over it: to whoever has the folder next, where the engine was just leaving
    /// and has not begun with it. `None` in place of what the user did not wait for.
    ///
    /// # Errors
    /// As [`Self::open`]; the command's own are beside the link.
    pub async fn open_with<C: Command + Clone>(
        home: &Home,
        command: C,
        interrupts: &mut mpsc::Receiver<()>,
    ) -> Result<Option<(Self, Option<Answer<C>>)>, ErrorView>
    where
        AnyCommand: From<C>,
    {
        let begin = Instant::now();
        loop {
            let Some(link) = interrupt::unless(interrupts, Self::open(home)).await else { return Ok(None) };
            let link = link?;
            match interrupt::unless(interrupts, link.call(command.clone())).await {
                Some(Err(error)) if link.was_leaving(&error) && begin.elapsed() < PATIENCE => {
                    tokio::time::sleep(Self::BETWEEN).await;
                }
                answer => return Ok(Some((link, answer))),
            }
        }
    }

    /// The same of a link to an engine that is there; `None` if there is none, as [`Self::attach`] has it.
    ///
    /// # Errors
    /// As [`Self::attach`], and the command's own.
    pub async fn attach_with<C: Command + Clone>(
        home: &Home,
        command: C,
    ) -> Result<Option<(Self, C::Response)>, ErrorView>
    where
        AnyCommand: From<C>,
    {
        let begin = Instant::now();
        loop {
            let Some(link) = Self::attach(home).await? else { return Ok(None) };
            match link.call(command.clone()).await {
                Err(error) if link.was_leaving(&error) && begin.elapsed() < PATIENCE => {
                    tokio::time::sleep(Self::BETWEEN).await;
                }
                answer => return Ok(Some((link, answer?))),
            }
        }
    }

    /// # Errors
    /// `Forbidden` where what answers at the folder's socket is another program.
    pub fn check_is_miki(&self) -> Result<(), ErrorView> {
        match self {
            Self::There(client) if !client.is_miki() => {
                Err(ErrorView::new(ErrorCode::Forbidden, "what answers at Miki's socket is another program")
                    .with_hint("nothing was told to it; quit it, or restart Miki if it was just updated"))
            }
            Self::There(_) | Self::Here(_) => Ok(()),
        }
    }

    fn was_leaving(&self, error: &ErrorView) -> bool {
        matches!(self, Self::There(_)) && error.code == ErrorCode::Leaving
    }

    /// Sends one command, typed.
    ///
    /// # Errors
    /// The engine's own.
    pub async fn call<C: Command>(&self, command: C) -> Result<C::Response, ErrorView>
    where
        AnyCommand: From<C>,
    {
        let value = self.call_any(AnyCommand::from(command)).await?;
        serde_json::from_value(value).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("answer to {} cannot be read: {error}", C::NAME))
                .with_hint("the running miki is of another version: quit it and start this one")
        })
    }

    async fn call_any(&self, command: AnyCommand) -> Result<Value, ErrorView> {
        match self {
            Self::Here(here) => here.call(command).await,
            Self::There(client) => client.call(command).await,
        }
    }

    /// Events as the command has it. Once a link.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn subscribe(&self, command: Subscribe) -> Result<Events, ErrorView> {
        match self {
            Self::Here(here) => Ok(Events::Here(Box::new(here.engine.agent().subscribe(command).await?))),
            Self::There(client) => client.subscribe(command).await.map(Events::There),
        }
    }

    /// Leaves the engine, once it rests.
    pub async fn leave(self, interrupts: &mut mpsc::Receiver<()>) {
        self.rest(interrupts).await;
        self.close().await;
    }

    /// Where the engine is this process, what others asked for goes on in it: it is waited for, until the user wishes the
    /// end. What only waits for its user is kept without a process.
    pub async fn rest(&self, interrupts: &mut mpsc::Receiver<()>) {
        let Self::Here(here) = self else { return };
        // Our own run is over when its end is seen, and gone a moment later.
        if tokio::time::timeout(MOMENT, here.at_rest()).await.is_err() {
            eprintln!("miki: waiting for another command, or for what goes on here; ctrl-c interrupts it");
            interrupt::unless(interrupts, here.at_rest()).await;
        }
    }

    /// Leaves the engine, or ends it where it is this process, whatever goes on.
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
        let begun = SystemClock.now();
        let engine = Engine::start(home, lock).await?;
        // What this very start has put back is said where it was begun; later, `miki doctor` has it.
        let put_back = engine.agent().put_back().await?.filter(|put_back| put_back.at >= begun);
        if let Some(put_back) = put_back {
            crate::cli::say_error(&put_back.said);
        }
        let served = match serve(home, Arc::clone(&engine) as Arc<dyn crate::socket::Endpoint>) {
            Ok(served) => Some(served),
            Err(error) => {
                // This process can work alone; only others cannot attach to it.
                tracing::warn!("other commands cannot attach: {}: {error}", home.socket().display());
                None
            }
        };
        Ok(Self { engine, served, started: Mutex::default() })
    }

    async fn call(&self, command: AnyCommand) -> Result<Value, ErrorView> {
        let starts = matches!(command, AnyCommand::StartRun(_));
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let principal = Principal { surface: Surface::Cli, started };
        let value = self.engine.call(command, &principal).await?;
        if starts && let Ok(StartedRun { run, .. }) = serde_json::from_value(value.clone()) {
            self.started.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        }
        Ok(value)
    }

    /// Completes when no run is at work and nobody waits for an answer; or when all that goes on only waits for its user,
    /// and no other program looks on.
    async fn at_rest(&self) {
        let agent = self.engine.agent();
        let all_ended = async {
            loop {
                agent.at_rest().await;
                if let Some(served) = &self.served {
                    served.idle().await;
                }
                // Meanwhile a request may have begun a run.
                if agent.at_rest().now_or_never().is_some() {
                    return;
                }
            }
        };
        let only_waits = async {
            loop {
                tokio::time::sleep(LOOK).await;
                let is_alone = || self.served.as_ref().is_none_or(Served::is_alone);
                // Meanwhile a request may have begun a run.
                if is_alone() && agent.only_waits().await && is_alone() {
                    return;
                }
            }
        };
        tokio::select! {
            () = all_ended => {}
            () = only_waits => {}
        }
    }

    /// Hangs up, then ends the engine.
    pub async fn end(self) {
        self.engine.shutdown().await;
        if let Some(served) = self.served {
            served.end().await;
        }
    }
}

fn silent(home: &Home, pid: Option<u32>, error: &std::io::Error) -> ErrorView {
    let who = pid.map_or_else(|| "another miki".into(), |pid| format!("another miki (process {pid})"));
    ErrorView::new(
        ErrorCode::Busy,
        format!("{who} has {} and does not answer: {error}", home.path().display()),
    )
    .with_hint("end it and try again, or set MIKI_HOME to another folder")
}
