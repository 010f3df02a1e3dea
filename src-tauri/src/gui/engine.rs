//! The engine that has started this process, over the line to it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use protocol::command::{AnyCommand, Command, GetOverview, Subscribe};
use protocol::ids::{BlobRef, Seq};
use protocol::principal::Surface;
use protocol::socket::Outcome;
use protocol::tool::Mode;
use protocol::view::Overview;
use protocol::{ErrorCode, ErrorView, Event};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::home::Home;
use crate::line::{self, Asks, FromGui, HandsView, ToGui};

/// What waits to be said to the engine.
const SAID: usize = 256;

type Heard = Result<Event, ErrorView>;

pub struct Engine {
    said: mpsc::Sender<FromGui>,
    next: AtomicU64,
    /// Who waits for which answer; `None` once the engine is gone.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>,
    /// Not bounded: an answer must not wait behind events that nobody takes, and a page takes all.
    subscriptions: Mutex<HashMap<u64, mpsc::UnboundedSender<Heard>>>,
    pictures: PathBuf,
    /// It said what cannot be read.
    unreadable: AtomicBool,
}

impl Engine {
    /// And what it asks for. To be called in a runtime, once a process.
    ///
    /// # Errors
    /// [`ErrorCode::BadRequest`] where no engine has started this process.
    pub fn open(home: &Home) -> Result<(Arc<Self>, mpsc::UnboundedReceiver<Asks>), ErrorView> {
        let (input, output) = ends().ok_or_else(|| {
            ErrorView::new(ErrorCode::BadRequest, "miki-gui is started by miki, and by nothing else")
                .with_hint("start: miki")
        })?;
        Ok(Self::over(input, output, home))
    }

    fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        home: &Home,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Asks>) {
        let ((said, waiting), (asks, asked)) = (mpsc::channel(SAID), mpsc::unbounded_channel());
        tokio::spawn(line::write(output, waiting));
        let engine = Arc::new(Self {
            said,
            next: AtomicU64::new(1),
            waiting: Mutex::new(Some(HashMap::new())),
            subscriptions: Mutex::default(),
            pictures: home.blobs(),
            unreadable: AtomicBool::new(false),
        });
        tokio::spawn(hear(Arc::clone(&engine), BufReader::new(input), asks));
        (engine, asked)
    }

    /// Any command, as what a window says.
    ///
    /// # Errors
    /// The engine's own; [`ErrorCode::Leaving`] where it is gone.
    pub async fn call(&self, command: AnyCommand, surface: Surface) -> Result<Value, ErrorView> {
        self.say(|number| FromGui::Call { number, surface, command }).await
    }

    /// The same, typed.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn ask<C: Command>(&self, surface: Surface, command: C) -> Result<C::Response, ErrorView>
    where
        AnyCommand: From<C>,
    {
        typed(self.call(command.into(), surface).await?)
    }

    /// # Errors
    /// As [`Self::call`].
    pub async fn overview(&self) -> Result<Overview, ErrorView> {
        self.ask(Surface::Tray, GetOverview {}).await
    }

    /// # Errors
    /// As [`Self::call`].
    pub async fn set_mode(&self, mode: Mode) -> Result<(), ErrorView> {
        self.say(|number| FromGui::SetMode { number, mode }).await.map(drop)
    }

    /// Whose the pointer and the keyboard are; nobody's where the engine is gone.
    pub async fn hands(&self) -> HandsView {
        let view = self.say(|number| FromGui::Hands { number }).await;
        view.and_then(typed).unwrap_or_default()
    }

    /// Events as the command has it, as long as they are wanted.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn subscribe(self: &Arc<Self>, command: Subscribe) -> Result<Events, ErrorView> {
        let (sender, received) = mpsc::unbounded_channel();
        let number = self.number();
        self.subscriptions().insert(number, sender);
        let mut events = Events { start: Seq(0), received, number, engine: Arc::downgrade(self) };
        events.start = Seq(typed(self.say_as(number, FromGui::Subscribe { number, command }).await?)?);
        Ok(events)
    }

    /// Tells every surface of something that does not work here, but stops nothing.
    pub async fn note(&self, message: String, hint: &str) {
        let _ = self.said.send(FromGui::Note { message, hint: hint.to_owned() }).await;
    }

    /// All windows are made.
    pub async fn ready(&self) {
        let _ = self.said.send(FromGui::Ready).await;
    }

    /// No window can be made, and this process ends.
    pub async fn failed(&self, error: ErrorView) {
        let _ = self.say(|number| FromGui::Failed { number, error }).await;
    }

    pub async fn answer(&self, number: u64, answer: Result<Value, ErrorView>) {
        let outcome = answer.map_or_else(Outcome::Error, Outcome::Ok);
        let _ = self.said.send(FromGui::Answer { number, outcome }).await;
    }

    /// Where a picture of this name is or would be; `None` if it is not a picture's name.
    pub fn picture(&self, name: &str) -> Option<PathBuf> {
        BlobRef::is_name(name).then(|| self.pictures.join(name))
    }

    /// Whether this process ends because it does not understand the engine.
    pub fn is_unreadable(&self) -> bool {
        self.unreadable.load(Ordering::Relaxed)
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    async fn say(&self, said: impl FnOnce(u64) -> FromGui) -> Result<Value, ErrorView> {
        let number = self.number();
        self.say_as(number, said(number)).await
    }

    async fn say_as(&self, number: u64, said: FromGui) -> Result<Value, ErrorView> {
        let (answer, answered) = oneshot::channel();
        match self.waiting().as_mut() {
            Some(waiting) => waiting.insert(number, answer),
            None => return Err(gone()),
        };
        self.said.send(said).await.map_err(|_| gone())?;
        match answered.await.map_err(|_| gone())? {
            Outcome::Ok(value) => Ok(value),
            Outcome::Error(error) => Err(error),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Outcome>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashMap<u64, mpsc::UnboundedSender<Heard>>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events in order.
pub struct Events {
    start: Seq,
    received: mpsc::UnboundedReceiver<Heard>,
    number: u64,
    engine: Weak<Engine>,
}

impl Events {
    /// The number that the first one follows on.
    pub fn start(&self) -> Seq {
        self.start
    }

    /// # Errors
    /// Why no more come.
    pub async fn next(&mut self) -> Heard {
        self.received.recv().await.unwrap_or_else(|| Err(gone()))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade() else { return };
        engine.subscriptions().remove(&self.number);
        let (said, number) = (engine.said.clone(), self.number);
        tauri::async_runtime::spawn(async move { said.send(FromGui::Unsubscribe { number }).await });
    }
}

/// Until the engine is gone.
async fn hear(
    engine: Arc<Engine>,
    mut input: BufReader<impl AsyncRead + Unpin>,
    asks: mpsc::UnboundedSender<Asks>,
) {
    let mut line = Vec::new();
    loop {
        match line::read(&mut input, &mut line).await {
            Ok(Some(ToGui::Reply(reply))) => {
                if let Some(answer) = engine.waiting().as_mut().and_then(|all| all.remove(&reply.id)) {
                    let _ = answer.send(reply.outcome);
                }
            }
            Ok(Some(ToGui::Event { subscription, event })) => {
                if let Some(subscriber) = engine.subscriptions().get(&subscription) {
                    let _ = subscriber.send(Ok(*event));
                }
            }
            Ok(Some(ToGui::Unsubscribed { subscription, error })) => {
                if let Some(subscriber) = engine.subscriptions().remove(&subscription) {
                    let _ = subscriber.send(Err(error));
                }
            }
            Ok(Some(ToGui::Asks(asked))) => {
                let _ = asks.send(asked);
            }
            Ok(None) => break,
            Err(error) => {
                tracing::error!("the engine said what cannot be read: {error}");
                engine.unreadable.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
    engine.waiting().take();
    engine.subscriptions().clear();
}

type Ends = (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// Of the line, which is this process's standard input, and nothing that it starts is to have that. `None` if it is no line.
#[cfg(unix)]
fn ends() -> Option<Ends> {
    use std::os::fd::AsFd as _;

    let line = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let line = std::os::unix::net::UnixStream::from(line);
    // Of anything but a socket there is no such name.
    line.local_addr().ok()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null").ok()?).ok()?;
    line.set_nonblocking(true).ok()?;
    let (input, output) = tokio::net::UnixStream::from_std(line).ok()?.into_split();
    Some((Box::new(input), Box::new(output)))
}

/// Not run here.
#[cfg(windows)]
fn ends() -> Option<Ends> {
    use std::io::IsTerminal as _;

    let is_line = !std::io::stdin().is_terminal() && !std::io::stdout().is_terminal();
    is_line.then(|| -> Ends { (Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout())) })
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorView> {
    serde_json::from_value(value)
        .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("an answer cannot be read: {error}")))
}

fn gone() -> ErrorView {
    ErrorView::new(ErrorCode::Leaving, "Miki ends").with_hint("start it again: miki")
}
