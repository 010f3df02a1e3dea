//! The engine's side of its windows: starts their process, carries out what it says as what our own windows say, and starts
//! it again should it end by itself, so that no run ends with a window system's toolkit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use crate::cli::{interrupt, runtime};
use crate::engine::{Engine, Windows};
use crate::exit::Exit;
use crate::home::Home;
use crate::line::{self, AskFolder, Asks, FromGui, HandsView, Request, ToGui};
use crate::link::Link;
use crate::socket::Endpoint;

/// Windows that ended by themselves so often within that time would end again: they rest as long, or until they are asked for.
const DEATHS: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);
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
    let file = file_of(&program);
    let (mut deaths, mut were_made, mut why) = (Vec::new(), false, None);
    loop {
        let mut gui = Gui::start(&program, Arc::clone(engine), why.take())?;
        let said = tokio::select! {
            biased;
            _ = interrupts.recv() => None,
            said = gui.serve() => Some(said),
        };
        were_made |= gui.host.were_made.load(Ordering::Relaxed);
        let Some(last_word) = said else {
            // Nothing is done any more while they write where they were.
            let ((), ended) = tokio::join!(engine.shutdown(), gui.end());
            if let Err(error) = ended {
                tracing::warn!("the windows did not end: {error}");
            }
            return Ok(());
        };
        let status = gui.end().await;
        let ended = match (last_word, status) {
            (LastWord::Failed(error), _) => return Err(error),
            (LastWord::None, Ok(status)) if status.success() => return Ok(()),
            (LastWord::Unreadable(error), _) => error,
            (LastWord::None, Ok(status)) => status.to_string(),
            (LastWord::None, Err(error)) => error.to_string(),
        };
        let message = format!("the windows ended by themselves: {ended}");
        if !were_made {
            return Err(ErrorView::new(ErrorCode::Display, message)
                .with_hint("miki run works without windows; miki doctor tells what is missing"));
        }
        tracing::error!("{message}");
        why = Some(ended);
        deaths.retain(|death: &Instant| death.elapsed() < WITHIN);
        deaths.push(Instant::now());
        if deaths.len() == DEATHS {
            deaths.clear();
            let again =
                format!("{message}, {DEATHS} times within a minute; what is at work goes on without them");
            tracing::error!("{again}");
            let hint =
                Some("they are opened again in a minute, or when Miki is started once more".to_owned());
            if let Err(error) = engine.agent().note(Level::Warning, again, hint).await {
                tracing::warn!("a note is lost: {error}");
            }
            let resting = Arc::new(Resting::default());
            engine.set_windows(Some(Arc::clone(&resting) as Arc<dyn Windows>), None);
            let has_ended = tokio::select! {
                biased;
                _ = interrupts.recv() => true,
                () = resting.wanted.notified() => false,
                () = tokio::time::sleep(WITHIN) => false,
            };
            engine.set_windows(None, None);
            if has_ended {
                engine.shutdown().await;
                return Ok(());
            }
        }
        // It answers questions: what was put there meanwhile has not been started by the user.
        if file.is_none() || file_of(&program) != file {
            return Err(ErrorView::new(
                ErrorCode::Display,
                format!("{message}; their program is another by now"),
            )
            .with_hint("start Miki again"));
        }
    }
}

/// What tells a file from another one in its place; `None` if it is missing.
#[cfg(unix)]
fn file_of(program: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    std::fs::metadata(program).ok().map(|file| (file.dev(), file.ino()))
}

/// A program that runs cannot be replaced.
#[cfg(windows)]
fn file_of(program: &Path) -> Option<u64> {
    std::fs::metadata(program).ok().map(|file| file.len())
}

/// The program of the windows; `None` if it is missing.
pub fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok()?;
    Some(own.with_file_name(line::PROGRAM)).filter(|program| program.is_file())
}

/// What the windows' process said before it said nothing more.
enum LastWord {
    None,
    Failed(ErrorView),
    /// Nothing that is said here.
    Unreadable(String),
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
    /// `again`: why the ones before ended.
    fn start(program: &Path, engine: Arc<Engine>, again: Option<String>) -> Result<Self, ErrorView> {
        let failed = |error: std::io::Error| {
            let message = format!("{} cannot be started: {error}", program.display());
            ErrorView::new(ErrorCode::Display, message)
                .with_hint("miki run works without windows; miki doctor tells what is missing")
        };
        let command = command(program, &engine, again.is_some());
        let (child, input, output) = spawn(command).map_err(failed)?;
        let (said, waiting) = mpsc::channel(SAID);
        let mut writer = JoinSet::new();
        writer.spawn(line::write(output, waiting));
        let host = Arc::new(Host {
            engine,
            said,
            asked: Mutex::new(Some(HashMap::new())),
            next: AtomicU64::new(1),
            were_made: AtomicBool::new(false),
            again: Mutex::new(again),
        });
        host.engine.set_windows(Some(Arc::clone(&host) as Arc<dyn Windows>), child.id());
        Ok(Self { child, input: BufReader::new(input), writer, host })
    }

    /// Until they say nothing more.
    async fn serve(&mut self) -> LastWord {
        let (mut subscribed, mut tasks) = (JoinSet::new(), HashMap::<u64, AbortHandle>::new());
        let (mut line, mut last_word) = (Vec::new(), LastWord::None);
        loop {
            while subscribed.try_join_next().is_some() {}
            match line::read(&mut self.input, &mut line).await {
                Ok(Some(FromGui::Failed { number, error })) => {
                    last_word = LastWord::Failed(error);
                    self.host.reply(number, Ok(Value::Null)).await;
                }
                Ok(Some(FromGui::Subscribe { number, command })) => {
                    let task = subscribed.spawn(Arc::clone(&self.host).forward(number, command));
                    tasks.insert(number, task);
                }
                Ok(Some(FromGui::Unsubscribe { number })) => {
                    if let Some(task) = tasks.remove(&number) {
                        task.abort();
                    }
                }
                // What was said is done, whatever becomes of who said it.
                Ok(Some(said)) => drop(tokio::spawn(Arc::clone(&self.host).hear(said))),
                Ok(None) => return last_word,
                Err(error) => return LastWord::Unreadable(format!("what it said cannot be read: {error}")),
            }
        }
    }

    /// Hangs up, and waits for what they have to write. They are ours until they are gone.
    async fn end(mut self) -> std::io::Result<ExitStatus> {
        self.host.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop((self.input, self.writer));
        let ended = match tokio::time::timeout(LAST_WORDS, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                tracing::warn!("the windows do not end, and are killed");
                self.child.kill().await.and(self.child.wait().await)
            }
        };
        self.host.engine.set_windows(None, None);
        ended
    }
}

/// What is behind the windows.
struct Host {
    engine: Arc<Engine>,
    said: mpsc::Sender<ToGui>,
    /// Whoever waits for an answer of theirs; `None` once they are gone.
    asked: Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>,
    next: AtomicU64,
    were_made: AtomicBool,
    /// Why those before ended, until it is told.
    again: Mutex<Option<String>>,
}

impl Host {
    async fn hear(self: Arc<Self>, said: FromGui) {
        let engine = &self.engine;
        match said {
            FromGui::Ready => {
                self.were_made.store(true, Ordering::Relaxed);
                let again = self.again.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(why) = again {
                    let message = format!("the windows ended by themselves ({why}) and were opened again");
                    if let Err(error) = engine.agent().note(Level::Warning, message, None).await {
                        tracing::warn!("a note is lost: {error}");
                    }
                }
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
                let agent = engine.agent();
                let hands = HandsView { last_taken: agent.desktop_last_taken(), presses: agent.presses() };
                let view = serde_json::to_value(hands);
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

    async fn forward(self: Arc<Self>, number: u64, command: protocol::command::Subscribe) {
        let (start, mut events) = match Endpoint::subscribe(self.engine.as_ref(), command).await {
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
        let gone =
            || ErrorView::new(ErrorCode::Leaving, "the windows are gone").with_hint("try again in a moment");
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

/// In the windows' place while they rest: whoever wants to see one has them opened.
#[derive(Default)]
struct Resting {
    wanted: Notify,
}

impl Windows for Resting {
    fn show<'a>(&'a self, command: &'a ShowWindow) -> BoxFuture<'a, Result<(), ErrorView>> {
        Box::pin(async move {
            if command.action != WindowAction::Hide {
                self.wanted.notify_one();
            }
            Ok(())
        })
    }

    fn choose_folder(&self, _: AskFolder) -> BoxFuture<'_, Result<Option<PathBuf>, ErrorView>> {
        Box::pin(async { Err(ErrorView::new(ErrorCode::Leaving, "the windows are gone for the moment")) })
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

/// The windows of this data folder. They need no keys, and neither does what shows their pages.
fn command(program: &Path, engine: &Engine, again: bool) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_read_by_windows)));
    command.envs(desktop::environment::for_children()).env("MIKI_HOME", engine.home()).kill_on_drop(true);
    if again {
        command.arg(line::AGAIN);
    }
    // Without a graphics card, drawing a page as if there were one takes ten times as long.
    if cfg!(target_os = "linux") && !has_graphics_card() && !set(UNCOMPOSED) {
        command.env(UNCOMPOSED, "1");
    }
    command
}

/// What the windows read beside what any program does: how pages are drawn, and driven by the tests, where a package has its
/// libraries, what is said in the log.
fn is_read_by_windows(name: &str) -> bool {
    const NAMES: [&str; 5] = ["APPDIR", "APPIMAGE", "LD_LIBRARY_PATH", "RUST_BACKTRACE", "RUST_LOG"];
    ["TAURI_", "WEBKIT_"].iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name)
}

/// Has WebKit draw pages by the processor alone.
pub(crate) const UNCOMPOSED: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

fn has_graphics_card() -> bool {
    std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("renderD"))
}

type Spawned = (Child, Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// With one end of a pair of sockets as its input. Pipes would be open to every program of this user by way of `/proc`, and
/// whoever writes there speaks as our windows.
#[cfg(unix)]
fn spawn(mut command: Command) -> std::io::Result<Spawned> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let child = command.stdin(std::os::fd::OwnedFd::from(theirs)).spawn()?;
    // It holds the child's end.
    drop(command);
    let (input, output) = tokio::net::UnixStream::from_std(ours)?.into_split();
    Ok((child, Box::new(input), Box::new(output)))
}

/// Pipes without a name. Not run here.
#[cfg(windows)]
fn spawn(mut command: Command) -> std::io::Result<Spawned> {
    use std::process::Stdio;

    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_for_the_windows_speaks_as_nobody_else() {
        for surface in [Surface::Dashboard, Surface::Chat, Surface::Overlay, Surface::Tray] {
            assert_eq!(principal(surface), Ok(Principal::of(surface)));
        }
        for surface in [Surface::Cli, Surface::Deadline] {
            assert_eq!(principal(surface).unwrap_err().code, ErrorCode::Forbidden, "{surface:?}");
        }
    }
}
