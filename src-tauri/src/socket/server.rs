//! The engine's side: accepts, answers, and sends events to those who subscribed.
//!
//! Each connection has its own tasks and its own bounded queue: a client that does not read holds up itself alone,
//! and is hung up on. A command that was received whole is carried out, whatever becomes of its client; but what takes
//! its time ends with whoever waits for it. Only the holder of the folder's lock may serve it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use interprocess::local_socket::ListenerOptions;
use interprocess::local_socket::tokio::{Listener, Stream as Connection};
use interprocess::local_socket::traits::tokio::Listener as _;
use protocol::command::{AnyCommand, CloseGuest, OpenedGuest, StartedRun, Subscribe};
use protocol::ids::{RunId, Seq};
use protocol::principal::{Principal, Surface};
use protocol::socket::{Frame, MAX_LINE, Outcome, Reply, Request};
use protocol::{ErrorCode, ErrorView, Event};
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::read_line;
use crate::home::Home;

/// Clients at once; further ones wait to be accepted.
const CLIENTS: usize = 64;
/// Requests of one client at once; it is not read from meanwhile.
const REQUESTS: usize = 32;
/// Frames that wait for one client.
const FRAMES: usize = 256;
/// A client that takes nothing for so long is gone.
const SEND: Duration = Duration::from_secs(30);

/// What stands behind the socket.
pub trait Endpoint: Send + Sync + 'static {
    fn call<'a>(
        &'a self,
        command: AnyCommand,
        principal: &'a Principal,
    ) -> BoxFuture<'a, Result<Value, ErrorView>>;
    /// The number that the events follow on, and the events.
    fn subscribe(&self, command: Subscribe) -> BoxFuture<'_, Result<(Seq, Stream), ErrorView>>;
}

/// Events at their reader's pace; after an error there are no more.
pub type Stream = BoxStream<'static, Result<Event, ErrorView>>;

/// What clients were answered and told is sent for so long when the engine ends; then they are hung up on.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves for as long as it lives.
pub struct Served {
    tasks: JoinSet<()>,
    leaving: CancellationToken,
    requests: Count,
    clients: Count,
}

impl Served {
    /// Completes when no client waits for anything but events.
    pub async fn idle(&self) {
        // The sender lives as long as this.
        let _ = self.requests.0.subscribe().wait_for(|under_way| *under_way == 0).await;
    }

    /// Whether no client is there, not even one that only looks on.
    pub fn is_alone(&self) -> bool {
        *self.clients.0.borrow() == 0
    }

    /// Stops listening, sends what is still to be said, and hangs up on everybody. The engine has ended before.
    pub async fn end(mut self) {
        self.leaving.cancel();
        let _ = timeout(LAST_WORDS, self.tasks.join_next()).await;
        self.tasks.shutdown().await;
    }
}

/// Listens on the folder's socket. The caller holds the folder's lock: what lies there is a dead process's.
///
/// # Errors
/// As the system has it; a path too long for a socket is one of them.
pub fn serve(home: &Home, endpoint: Arc<dyn Endpoint>) -> io::Result<Served> {
    let listener = listen(home)?;
    let (mut tasks, leaving) = (JoinSet::new(), CancellationToken::new());
    let server = Server { endpoint, requests: Count::default(), clients: Count::default() };
    let (requests, clients) = (server.requests.clone(), server.clients.clone());
    tasks.spawn(accept(listener, server, leaving.clone()));
    Ok(Served { tasks, leaving, requests, clients })
}

/// How many of something there are.
#[derive(Clone, Default)]
struct Count(Arc<watch::Sender<usize>>);

/// One of them, while it lives.
struct Counted(Count);

impl Count {
    fn one(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// What stands behind each connection.
#[derive(Clone)]
struct Server {
    endpoint: Arc<dyn Endpoint>,
    requests: Count,
    clients: Count,
}

impl Server {
    /// Begins a command, to be waited for. Most are short, and are done even if nobody waits.
    fn begin(
        &self,
        command: AnyCommand,
        principal: Principal,
    ) -> BoxFuture<'static, Result<Value, ErrorView>> {
        let (endpoint, under_way) = (Arc::clone(&self.endpoint), self.requests.one());
        // Without its client, nobody wants what comes of it.
        let ends_with_client = matches!(
            command,
            AnyCommand::StartRun(_)
                | AnyCommand::CallTool(_)
                | AnyCommand::OpenGuest(_)
                | AnyCommand::GuestCall(_)
                | AnyCommand::FinishSignIn(_)
        );
        let work = async move {
            let outcome = endpoint.call(command, &principal).await;
            drop(under_way);
            outcome
        };
        if ends_with_client {
            return Box::pin(work);
        }
        let done = tokio::spawn(work);
        Box::pin(async move {
            done.await.unwrap_or_else(|panic| {
                Err(ErrorView::new(ErrorCode::Internal, format!("a command broke down: {panic}")))
            })
        })
    }
}

#[cfg(unix)]
fn listen(home: &Home) -> io::Result<Listener> {
    use std::os::unix::fs::PermissionsExt;

    let path = home.socket();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = ListenerOptions::new().name(super::name(home)?).create_tokio()?;
    // Nobody else gets in before this either: the folder is 0700.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// The pipe's default descriptor lets this user and administrators write, nobody else.
#[cfg(windows)]
fn listen(home: &Home) -> io::Result<Listener> {
    ListenerOptions::new().name(super::name(home)?).create_tokio()
}

async fn accept(listener: Listener, server: Server, leaving: CancellationToken) {
    let places = Arc::new(Semaphore::new(CLIENTS));
    let mut clients = JoinSet::new();
    loop {
        while clients.try_join_next().is_some() {}
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = leaving.cancelled() => break,
            next = next => next,
        };
        match accepted {
            Ok(stream) => {
                let (client, server, leaving) = (server.clients.one(), server.clone(), leaving.clone());
                clients.spawn(async move {
                    converse(stream, server, leaving).await;
                    drop((client, place));
                });
            }
            Err(error) => {
                tracing::warn!("a client could not be accepted: {error}");
                // Out of file handles, most likely: trying again at once would only burn time.
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
    // Whoever comes now is told by the system that nobody listens.
    drop(listener);
    while clients.join_next().await.is_some() {}
}

async fn converse(stream: Connection, server: Server, leaving: CancellationToken) {
    let (frames, waiting) = mpsc::channel(FRAMES);
    let writer = write(&stream, waiting);
    tokio::pin!(writer);
    tokio::select! {
        () = read(&stream, server, frames, &leaving) => {
            // What was answered is still sent; then the writer sees that nobody has anything to say.
            let _ = timeout(SEND, &mut writer).await;
        }
        () = &mut writer => {}
    }
}

/// Completes when the client has gone altogether. One that has only said its last word still hears its answers.
#[cfg(unix)]
async fn gone(stream: &Connection) -> io::Result<()> {
    use std::os::fd::AsFd;

    use tokio::io::Interest;
    use tokio::net::UnixStream;

    let Connection::UdSocket(stream) = stream;
    // Registered a second time: what is cleared here must not be missing to the writer.
    let second = UnixStream::from_std(stream.as_fd().try_clone_to_owned()?.into())?;
    loop {
        if second.ready(Interest::WRITABLE).await?.is_write_closed() {
            return Ok(());
        }
        // The next look waits for something new.
        let _ = second.try_io(Interest::WRITABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
}

/// A pipe has one end: whoever says no more has gone.
#[cfg(windows)]
async fn gone(_: &Connection) -> io::Result<()> {
    Ok(())
}

async fn write(mut output: impl tokio::io::AsyncWrite + Unpin, mut waiting: mpsc::Receiver<Frame>) {
    while let Some(frame) = waiting.recv().await {
        let Ok(mut line) = serde_json::to_vec(&frame) else { continue };
        line.push(b'\n');
        match timeout(SEND, output.write_all(&line)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

async fn read(stream: &Connection, server: Server, frames: mpsc::Sender<Frame>, leaving: &CancellationToken) {
    let mut input = BufReader::new(stream);
    // Dropped with this future: a client that hangs up ends its forwarding, and waits for its answers no more.
    let mut tasks = JoinSet::new();
    let places = Arc::new(Semaphore::new(REQUESTS));
    let mut line = Vec::new();
    // What this connection has started is its own to steer and to answer.
    let started: Arc<Mutex<Vec<RunId>>> = Arc::default();
    // And other programs' agents end with it.
    let guests = Guests { tickets: Arc::default(), endpoint: Arc::clone(&server.endpoint) };
    let mut subscription: Option<AbortHandle> = None;
    loop {
        let read = tokio::select! {
            () = leaving.cancelled() => {
                while tasks.join_next().await.is_some() {}
                let _ = frames.send(Frame::Leaving).await;
                break;
            }
            read = read_line(&mut input, &mut line, MAX_LINE) => read,
        };
        match read {
            Ok(Some(())) => {}
            Ok(None) => {
                tokio::select! {
                    () = async { while tasks.join_next().await.is_some() {} } => {}
                    _ = gone(stream) => {}
                }
                break;
            }
            Err(error) => {
                let _ = frames.send(refusal(0, &error.to_string())).await;
                break;
            }
        }
        let request: Request = match serde_json::from_slice(&line) {
            Ok(request) => request,
            Err(error) => {
                if frames.send(refusal(id_of(&line), &format!("line is no request: {error}"))).await.is_err()
                {
                    break;
                }
                continue;
            }
        };
        if let AnyCommand::Subscribe(command) = request.command {
            let outcome = match server.endpoint.subscribe(command).await {
                Ok((start, events)) => {
                    let next = tasks.spawn(forward(events, frames.clone(), leaving.clone()));
                    if let Some(before) = subscription.replace(next) {
                        before.abort();
                    }
                    Outcome::Ok(Value::from(start.0))
                }
                Err(error) => Outcome::Error(error),
            };
            if frames.send(Frame::Reply(Reply { id: request.id, outcome })).await.is_err() {
                break;
            }
            continue;
        }
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        while tasks.try_join_next().is_some() {}
        let starts = matches!(request.command, AnyCommand::StartRun(_));
        let opens = matches!(request.command, AnyCommand::OpenGuest(_));
        let tickets = Arc::clone(&guests.tickets);
        let own = started.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let work = server.begin(request.command, Principal { surface: Surface::Cli, started: own });
        let (frames, started) = (frames.clone(), Arc::clone(&started));
        tasks.spawn(async move {
            let outcome = match work.await {
                Ok(value) => Outcome::Ok(value),
                Err(error) => Outcome::Error(error),
            };
            if let (true, Outcome::Ok(value)) = (starts, &outcome)
                && let Ok(StartedRun { run, .. }) = serde_json::from_value(value.clone())
            {
                started.lock().unwrap_or_else(PoisonError::into_inner).push(run);
            }
            if let (true, Outcome::Ok(value)) = (opens, &outcome)
                && let Ok(OpenedGuest { ticket, .. }) = serde_json::from_value(value.clone())
            {
                tickets.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
            }
            let _ = frames.send(Frame::Reply(Reply { id: request.id, outcome })).await;
            drop(place);
        });
    }
}

/// Those that were opened over a connection.
struct Guests {
    tickets: Arc<Mutex<Vec<String>>>,
    endpoint: Arc<dyn Endpoint>,
}

impl Drop for Guests {
    fn drop(&mut self) {
        for ticket in std::mem::take(&mut *self.tickets.lock().unwrap_or_else(PoisonError::into_inner)) {
            let endpoint = Arc::clone(&self.endpoint);
            tokio::spawn(async move {
                let principal = Principal { surface: Surface::Cli, started: Vec::new() };
                let _ = endpoint.call(CloseGuest { ticket }.into(), &principal).await;
            });
        }
    }
}

/// At the client's own pace: what it has not taken yet is read from the journal when it does.
async fn forward(mut events: Stream, frames: mpsc::Sender<Frame>, leaving: CancellationToken) {
    loop {
        // What happened before the end is still told: the end of the run is among it.
        let next = tokio::select! {
            biased;
            event = events.next() => event,
            () = leaving.cancelled() => return,
        };
        match next {
            Some(Ok(event)) => {
                if frames.send(Frame::Event(Box::new(event))).await.is_err() {
                    return;
                }
            }
            Some(Err(error)) => {
                let _ = frames.send(Frame::Unsubscribed(error)).await;
                return;
            }
            None => return,
        }
    }
}

fn refusal(id: u64, message: &str) -> Frame {
    Frame::Reply(Reply { id, outcome: Outcome::Error(ErrorView::new(ErrorCode::BadRequest, message)) })
}

/// The id of a request that cannot be read otherwise, so that its sender need not wait for ever.
fn id_of(line: &[u8]) -> u64 {
    serde_json::from_slice::<Value>(line).ok().and_then(|value| value.get("id")?.as_u64()).unwrap_or(0)
}
