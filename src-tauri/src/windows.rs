//! The engine's side of its windows: starts their process, carries out what it says as what our own windows say, and starts
//! it again should it end by itself, so that no run ends with a window system's toolkit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::future::BoxFuture;
use protocol::command::{ShowWindow, Window, WindowAction};
use protocol::event::Level;
use protocol::principal::{Principal, Surface};
use protocol::socket::{Outcome, Reply};
use protocol::view::{Check, CheckState};
use protocol::{ErrorCode, ErrorView};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use crate::cli::{interrupt, runtime};
use crate::engine::{Engine, Windows};
use crate::exit::Exit;
use crate::home::Home;
use crate::line::{self, AskFolder, Asks, FromGui, HandsView, Request, ToGui};
use crate::link::Link;
use crate::socket::Endpoint as _;

/// Windows that ended sooner would end again.
const LIVED: Duration = Duration::from_secs(10);
/// What they have to write at the end is waited for.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// What waits to be said to them; events wait in the journal.
const SAID: usize = 256;

/// Opens the app, or brings the one that runs to the front.
///
/// # Errors
/// No display; a data folder that cannot be used or that a command without windows has.
pub fn run(home: &Home) -> Result<Exit, ErrorView> {
    let runtime = runtime()?;
    let show = ShowWindow { window: Window::Dashboard, action: WindowAction::Show, session: None };
    let here = loop {
        match runtime.block_on(Link::open(home))? {
            Link::Here(here) => break here,
            // One instance a data folder: the second start shows the first one's window, unless that is just ending.
            link @ Link::There(_) => match runtime.block_on(link.call(show.clone())) {
                Err(error) if error.code == ErrorCode::Leaving => std::thread::sleep(Link::BETWEEN),
                shown => return shown.map(|()| Exit::Done),
            },
        }
    };
    let engine = Arc::clone(&here.engine);
    let ended = runtime.block_on(async {
        has_display(&engine).await?;
        keep(&engine).await
    });
    runtime.block_on(here.end());
    // A keychain that hangs would otherwise be waited for.
    runtime.shutdown_background();
    ended.map(|()| Exit::Done)
}

/// Until the user quits.
async fn keep(engine: &Arc<Engine>) -> Result<(), ErrorView> {
    let mut interrupts = interrupt::listen()?;
    let program = program().ok_or_else(|| {
        ErrorView::new(ErrorCode::Unavailable, format!("{} is not beside miki", line::PROGRAM))
            .with_hint("install Miki again; of a checkout: cargo build -p miki")
    })?;
    loop {
        let begun = Instant::now();
        let mut gui = Gui::start(&program, Arc::clone(engine))?;
        let ended = tokio::select! {
            ended = gui.serve() => ended,
            _ = interrupts.recv() => {
                gui.close().await;
                return Ok(());
            }
        };
        match ended {
            End::Quit => return Ok(()),
            End::Failed(error) => return Err(error),
            End::Died(why) if begun.elapsed() < LIVED => {
                let message = format!("the windows ended by themselves: {why}");
                return Err(ErrorView::new(ErrorCode::Display, message)
                    .with_hint("miki run works without windows; miki doctor tells what is missing"));
            }
            End::Died(why) => {
                let message = format!("the windows ended by themselves ({why}) and were opened again");
                engine.agent().note(Level::Warning, message, None).await?;
            }
        }
    }
}

/// The program of the windows; `None` if it is missing.
pub fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok()?;
    Some(own.with_file_name(line::PROGRAM)).filter(|program| program.is_file())
}

/// How the windows' process ended.
enum End {
    Quit,
    Failed(ErrorView),
    Died(String),
}

/// The process of the windows.
struct Gui {
    child: Child,
    input: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// Ends, and hangs up, with this.
    writer: JoinSet<()>,
    host: Arc<Host>,
}

impl Gui {
    fn start(program: &Path, engine: Arc<Engine>) -> Result<Self, ErrorView> {
        let failed = |error: std::io::Error| {
            let message = format!("{} cannot be started: {error}", program.display());
            ErrorView::new(ErrorCode::Display, message)
                .with_hint("miki run works without windows; miki doctor tells what is missing")
        };
        let (child, input, output) = spawn(program).map_err(failed)?;
        engine.windows_process().set(child.id());
        let (said, waiting) = mpsc::channel(SAID);
        let mut writer = JoinSet::new();
        writer.spawn(line::write(output, waiting));
        let host =
            Arc::new(Host { engine, said, asked: Mutex::new(Some(HashMap::new())), next: AtomicU64::new(1) });
        host.engine.set_windows(Some(Arc::clone(&host) as Arc<dyn Windows>));
        Ok(Self { child, input: BufReader::new(input), writer, host })
    }

    /// Until they end.
    async fn serve(&mut self) -> End {
        let (mut tasks, mut subscriptions) = (JoinSet::new(), HashMap::<u64, AbortHandle>::new());
        let (mut line, mut failure) = (Vec::new(), None);
        loop {
            while tasks.try_join_next().is_some() {}
            match line::read(&mut self.input, &mut line).await {
                Ok(Some(FromGui::Failed { number, error })) => {
                    failure = Some(error);
                    self.host.reply(number, Ok(Value::Null)).await;
                }
                Ok(Some(FromGui::Subscribe { number, command })) => {
                    let task = tasks.spawn(Arc::clone(&self.host).forward(number, command));
                    subscriptions.insert(number, task);
                }
                Ok(Some(FromGui::Unsubscribe { number })) => {
                    if let Some(task) = subscriptions.remove(&number) {
                        task.abort();
                    }
                }
                Ok(Some(said)) => {
                    tasks.spawn(Arc::clone(&self.host).hear(said));
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!("the windows said what cannot be read: {error}");
                    break;
                }
            }
        }
        self.host.gone();
        let status = self.child.wait().await;
        match (failure, status) {
            (Some(error), _) => End::Failed(error),
            (None, Ok(status)) if status.success() => End::Quit,
            (None, Ok(status)) => End::Died(status.to_string()),
            (None, Err(error)) => End::Died(error.to_string()),
        }
    }

    /// Has them end, and waits for what they have to write.
    async fn close(mut self) {
        self.host.gone();
        drop((self.input, self.writer));
        if tokio::time::timeout(LAST_WORDS, self.child.wait()).await.is_err() {
            tracing::warn!("the windows do not end, and are killed");
            let _ = self.child.kill().await;
        }
    }
}

/// What is behind the windows.
struct Host {
    engine: Arc<Engine>,
    said: mpsc::Sender<ToGui>,
    /// Whoever waits for an answer of theirs; `None` once they are gone.
    asked: Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>,
    next: AtomicU64,
}

impl Host {
    async fn hear(self: Arc<Self>, said: FromGui) {
        let engine = &self.engine;
        match said {
            FromGui::Ready => {
                if let Err(error) = engine.agent().carry_on().await {
                    tracing::error!(%error, "what was interrupted does not go on");
                }
            }
            FromGui::Call { number, surface, command } => {
                let answer = match principal(surface) {
                    Ok(principal) => engine.call(command, &principal).await,
                    Err(error) => Err(error),
                };
                self.reply(number, answer).await;
            }
            FromGui::Hands { number } => {
                let (taken, presses) = (engine.agent().desktop_is_taken(), engine.agent().presses());
                let view = serde_json::to_value(HandsView { taken, presses });
                self.reply(number, Ok(view.unwrap_or_default())).await;
            }
            FromGui::SetMode { number, mode } => {
                let set = engine.agent().set_mode(mode).await;
                self.reply(number, set.map(|()| Value::Null)).await;
            }
            FromGui::Note { message, hint } => {
                if let Err(error) = engine.agent().note(Level::Warning, message, Some(hint)).await {
                    tracing::warn!("a note is lost: {error}");
                }
            }
            FromGui::Answer { number, outcome } => {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(answer) = asked.as_mut().and_then(|asked| asked.remove(&number)) {
                    let _ = answer.send(outcome);
                }
            }
            // Each has its own place, in the order in which they come.
            FromGui::Failed { .. } | FromGui::Subscribe { .. } | FromGui::Unsubscribe { .. } => {}
        }
    }

    /// At their own pace: what they have not taken yet is read from the journal when they do.
    async fn forward(self: Arc<Self>, number: u64, command: protocol::command::Subscribe) {
        let (start, mut events) = match self.engine.subscribe(command).await {
            Ok(events) => events,
            Err(error) => return self.reply(number, Err(error)).await,
        };
        self.reply(number, Ok(Value::from(start.0))).await;
        while let Some(event) = events.next().await {
            let (said, is_last) = match event {
                Ok(event) => (ToGui::Event { subscription: number, event: Box::new(event) }, false),
                Err(error) => (ToGui::Unsubscribed { subscription: number, error }, true),
            };
            if self.said.send(said).await.is_err() || is_last {
                return;
            }
        }
    }

    async fn reply(&self, id: u64, answer: Result<Value, ErrorView>) {
        let outcome = answer.map_or_else(Outcome::Error, Outcome::Ok);
        // Fails where they are gone.
        let _ = self.said.send(ToGui::Reply(Reply { id, outcome })).await;
    }

    async fn ask(&self, what: Request) -> Result<Value, ErrorView> {
        let gone = || {
            ErrorView::new(ErrorCode::Unavailable, "the windows are gone")
                .with_hint("they are opened again in a moment")
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        match self.asked.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(asked) => asked.insert(number, answer),
            None => return Err(gone()),
        };
        self.said.send(ToGui::Asks(Asks { number, what })).await.map_err(|_| gone())?;
        match answered.await.map_err(|_| gone())? {
            Outcome::Ok(value) => Ok(value),
            Outcome::Error(error) => Err(error),
        }
    }

    fn gone(&self) {
        self.engine.set_windows(None);
        self.engine.windows_process().set(None);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Windows for Host {
    fn show<'a>(&'a self, command: &'a ShowWindow) -> BoxFuture<'a, Result<(), ErrorView>> {
        Box::pin(async move { self.ask(Request::Show(command.clone())).await.map(drop) })
    }

    fn choose_folder(&self, asks: AskFolder) -> BoxFuture<'_, Result<Option<PathBuf>, ErrorView>> {
        Box::pin(async move {
            let chosen = self.ask(Request::ChooseFolder(asks)).await?;
            serde_json::from_value(chosen)
                .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("no folder: {error}")))
        })
    }
}

/// Only windows speak here.
fn principal(surface: Surface) -> Result<Principal, ErrorView> {
    if surface.is_window() {
        Ok(Principal::of(surface))
    } else {
        Err(ErrorView::new(ErrorCode::Forbidden, "no window speaks as that"))
    }
}

type Spawned = (Child, Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// With one end of a pair of sockets as its input. Pipes would be open to every program of this user by way of `/proc`, and
/// whoever writes there speaks as our windows.
#[cfg(unix)]
fn spawn(program: &Path) -> std::io::Result<Spawned> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let child = Command::new(program).stdin(std::os::fd::OwnedFd::from(theirs)).kill_on_drop(true).spawn()?;
    let (input, output) = tokio::net::UnixStream::from_std(ours)?.into_split();
    Ok((child, Box::new(input), Box::new(output)))
}

/// Pipes without a name. Not run here.
#[cfg(windows)]
fn spawn(program: &Path) -> std::io::Result<Spawned> {
    use std::process::Stdio;

    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let missing = || std::io::Error::other("it has no pipes");
    let input = child.stdout.take().ok_or_else(missing)?;
    let output = child.stdin.take().ok_or_else(missing)?;
    Ok((child, Box::new(input), Box::new(output)))
}

/// GTK ends the process where there is no display: better to say so first.
async fn has_display(engine: &Engine) -> Result<(), ErrorView> {
    if !cfg!(target_os = "linux") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    let none = |detail: &str| {
        Err(ErrorView::new(ErrorCode::Display, format!("no display to open windows on: {detail}")).with_hint(
            "work without windows with: miki run \"GOAL\"; or make a display: xvfb-run -a miki; or set DISPLAY",
        ))
    };
    if !set("DISPLAY") {
        return none("neither DISPLAY nor WAYLAND_DISPLAY is set");
    }
    let views = engine.display_checks().await;
    match views.iter().find(|view| view.check == Check::Display && view.state == CheckState::Missing) {
        Some(view) => none(&view.detail),
        None => Ok(()),
    }
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
