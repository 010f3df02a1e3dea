//! `miki mcp desktop` and `miki mcp agent`: carry the calls of another program's agent to the engine.

pub mod http;

use std::sync::{Arc, PoisonError};

use ::mcp::desk::{self, AtWork, Relay, Role};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use protocol::ErrorView;
use protocol::command::{CloseGuest, GuestAnswer, GuestCall, ListRuns, OpenGuest, OpenedGuest, Unattended};
use protocol::ids::RunId;
use protocol::mcp::GuestWay;
use protocol::view::RunStatus;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli::interrupt;
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Serves over HTTP at a port, if one is given; else on the standard streams.
pub async fn by(home: &Home, role: Role, port: Option<u16>) -> Result<Exit, ErrorView> {
    match port {
        Some(port) => http::serve(home, role, port).await,
        None => serve(home, role).await,
    }
}

/// Serves on the standard streams.
async fn serve(home: &Home, role: Role) -> Result<Exit, ErrorView> {
    let gate = Arc::new(Gate::new(home));
    let way = Arc::new(Way::new(role, GuestWay::Stdio, Arc::clone(&gate)));
    let specs = tools::Registry::builtin().specs();
    let served = desk::serve(role, &specs, way).await;
    if let Ok(mut interrupts) = interrupt::listen() {
        gate.leave(&mut interrupts).await;
    }
    match served {
        Ok(()) => Ok(Exit::Done),
        Err(why) => Err(ErrorView::new(
            protocol::ErrorCode::BadRequest,
            format!("the client was not understood: {why}"),
        )
        .with_hint("this is started by an MCP client: miki mcp install")),
    }
}

/// To the engine, for one client or several. Where no app runs, this process is the engine while one of them works.
struct Gate {
    home: Home,
    /// If it is this process.
    here: Mutex<Option<Arc<Link>>>,
}

impl Gate {
    fn new(home: &Home) -> Self {
        Self { home: home.clone(), here: Mutex::new(None) }
    }

    /// Where no app runs, nobody could answer: what asks ends the work, and says so.
    async fn open(&self) -> Result<(Arc<Link>, Unattended), ErrorView> {
        let mut here = self.here.lock().await;
        if let Some(link) = &*here {
            return Ok((Arc::clone(link), Unattended::End));
        }
        if let Some(link) = Link::attach(&self.home).await? {
            return Ok((Arc::new(link), Unattended::Wait));
        }
        let link = Arc::new(Link::open(&self.home).await?);
        if let Link::Here(_) = *link {
            *here = Some(Arc::clone(&link));
        }
        Ok((link, Unattended::End))
    }

    /// Ends the engine where it is this process, and nobody works by it any more.
    async fn leave(&self, interrupts: &mut mpsc::Receiver<()>) {
        let mut here = self.here.lock().await;
        match here.take().map(Arc::try_unwrap) {
            Some(Ok(link)) => link.leave(interrupts).await,
            Some(Err(link)) => *here = Some(link),
            None => {}
        }
    }
}

struct Way {
    gate: Arc<Gate>,
    role: Role,
    way: GuestWay,
    /// Calls go one after the other, as one agent makes them: held while one is under way.
    state: Mutex<State>,
    /// The client has left: a call that goes on without it (of a run that its user holds, say) ends.
    has_left: CancellationToken,
    /// A call was given up by its client, and its work ended: whether the next one may begin anew.
    given_up: Arc<std::sync::Mutex<Option<JoinHandle<bool>>>>,
}

enum State {
    /// Nothing is started before the first call.
    Unopened,
    Open(Arc<Link>, OpenedGuest),
    /// By its user: until the client starts this anew, over HTTP by a new session, or once it has been silent for a while.
    Stopped,
}

impl Way {
    fn new(role: Role, way: GuestWay, gate: Arc<Gate>) -> Self {
        let (state, has_left) = (Mutex::new(State::Unopened), CancellationToken::new());
        Self { gate, role, way, state, has_left, given_up: Arc::default() }
    }

    async fn open(&self, client: &str) -> Result<(Arc<Link>, OpenedGuest), ErrorView> {
        let groups = desk::groups().iter().map(|group| group.name().to_owned()).collect();
        let (client, conducts) = (client.to_owned(), self.role == Role::Agent);
        let (link, unattended) = self.gate.open().await?;
        let opened = link.call(OpenGuest { client, groups, conducts, unattended, way: self.way }).await?;
        Ok((link, opened))
    }

    async fn carry(&self, client: &str, tool: &str, arguments: Value) -> Result<GuestAnswer, String> {
        let mut state = self.state.lock().await;
        if self.has_left.is_cancelled() {
            return Err("the client has left".into());
        }
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ending) = given_up {
            *state = if ending.await.unwrap_or(false) { State::Unopened } else { State::Stopped };
        }
        if let State::Stopped = *state {
            return Err(
                "this work at the desktop was stopped or has ended; the user can start it anew".into()
            );
        }
        if let State::Unopened = *state {
            let (link, opened) = self.open(client).await.map_err(|error| told(&error))?;
            *state = State::Open(link, opened);
        }
        let State::Open(link, opened) = &*state else { return Err("not open".into()) };
        let call = GuestCall { ticket: opened.ticket.clone(), tool: tool.to_owned(), arguments };
        // Given up by its client, it must not go on.
        let (given_up, way) = (Arc::clone(&self.given_up), (Arc::clone(link), opened.clone()));
        let mut given_up = GivenUp { given_up, way: Some(way) };
        let answer = self.has_left.run_until_cancelled(link.call(call)).await;
        given_up.way = None;
        let answer = answer.ok_or("the client has left")?;
        answer.map_err(|error| {
            *state = State::Stopped;
            format!(
                "{}; what asks takes its user's yes in Miki: if Miki does not run, start it, then this anew",
                told(&error)
            )
        })
    }
}

/// Ends the work of a call that nobody waits for any more. Where its user has paused it, or it has used up its budget, that
/// is no way around them: nothing is begun anew then.
struct GivenUp {
    given_up: Arc<std::sync::Mutex<Option<JoinHandle<bool>>>>,
    way: Option<(Arc<Link>, OpenedGuest)>,
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        let Some((link, OpenedGuest { run, ticket })) = self.way.take() else { return };
        let ending = tokio::spawn(async move {
            let runs = link.call(ListRuns {}).await.unwrap_or_default();
            let is_there = runs.iter().any(|one| one.run == run.run);
            let may_begin =
                is_there && !runs.iter().any(|one| one.status.paused && is_of(one, &run.run, &runs));
            let _ = link.call(CloseGuest { ticket }).await;
            may_begin
        });
        *self.given_up.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
    }
}

/// Whether a run is this one, or works for it.
fn is_of(run: &RunStatus, root: &RunId, runs: &[RunStatus]) -> bool {
    let mut at = Some(run);
    while let Some(one) = at {
        if one.run == *root {
            return true;
        }
        at = one.parent.as_ref().and_then(|parent| runs.iter().find(|other| other.run == *parent));
    }
    false
}

impl Relay for Way {
    fn call<'a>(
        &'a self,
        client: &'a str,
        tool: &'a str,
        arguments: Value,
    ) -> BoxFuture<'a, Result<GuestAnswer, String>> {
        self.carry(client, tool, arguments).boxed()
    }

    fn at_work(&self) -> BoxFuture<'_, Vec<AtWork>> {
        async {
            let (link, root) = match &*self.state.lock().await {
                State::Open(link, opened) => (Arc::clone(link), opened.run.run.clone()),
                State::Unopened | State::Stopped => return Vec::new(),
            };
            let mut runs = link.call(ListRuns {}).await.unwrap_or_default();
            runs.retain(|one| one.parent.as_ref() == Some(&root));
            let at_work = |one: RunStatus| AtWork { agent: one.run.0, asks: one.status.asks_above };
            runs.into_iter().map(at_work).collect()
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async {
            self.has_left.cancel();
            let state = std::mem::replace(&mut *self.state.lock().await, State::Stopped);
            let State::Open(link, OpenedGuest { ticket, .. }) = state else { return };
            let _ = link.call(CloseGuest { ticket }).await;
        }
        .boxed()
    }
}

fn told(error: &ErrorView) -> String {
    match &error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    }
}
