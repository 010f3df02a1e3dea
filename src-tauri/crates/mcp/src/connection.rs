//! One server: started when it is needed, asked within bounds, given up for a while when it fails.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use protocol::mcp::{McpServer, ServerState};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification,
    CancelledNotificationParam, ClientRequest, InputRequest, InputRequests, InputResponses,
    PaginatedRequestParams, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::ChildStderr;
use tokio::time::Instant;
use tools::untrusted;

use crate::calls::{Calls, UnderWay, User};
use crate::client::{Client, Heard};
use crate::definition::{Definition, MOST_TOOLS};
use crate::sign_in::SignsInAt;
use crate::store::Offered;
use crate::tap::{Tap, Why};
use crate::{Launch, address, prompts, resources, task};

/// Longest wait for a server to start and to say what it offers; `npx` may have to fetch it first.
pub const START: Duration = Duration::from_secs(60);
/// Pages of a list of tools.
const PAGES: usize = 20;
/// After a failure it is left alone for this long, twice as long after each further one, up to the most.
const REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(60);
/// A rest that a call waits for by itself.
const SHORT: Duration = Duration::from_secs(2);
/// A connection that held this long has not failed at once.
const STEADY: Duration = Duration::from_secs(60);
/// Bytes of a line of its standard error.
const ERROR_LINE: u64 = 10_000;
/// Silent for a whole call this often in a row, it is ended.
const SILENCES: u32 = 2;
const MESSAGE_CHARS: usize = 300;
/// Longest wait for a call, however often its server says how far it is, and whatever it does for it.
pub const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Times that it may ask before it has an answer.
pub const ROUNDS: usize = 10;
/// Between two looks whether a call waits for its user.
const SLICE: Duration = Duration::from_millis(250);

pub struct Connection {
    name: Arc<str>,
    config: McpServer,
    launcher: Arc<dyn Launch>,
    link: tokio::sync::Mutex<Link>,
    state: Mutex<State>,
    heard: Heard,
    calls: Arc<Calls>,
    /// How many were opened.
    opened: AtomicU64,
    signs_in_at: SignsInAt,
}

/// The way to a server that is connected.
struct Way {
    peer: Peer<RoleClient>,
    number: u64,
    silences: Arc<AtomicU32>,
}

enum Link {
    Closed { failures: u32, why: Option<String>, until: Option<Instant> },
    Open(Box<Open>),
}

struct Open {
    service: RunningService<RoleClient, Client>,
    /// Tells it from those before and after it.
    number: u64,
    /// What it offers was asked: a program that was started anew may be another one.
    is_listed: bool,
    why: Why,
    since: Instant,
    failures: u32,
    silences: Arc<AtomicU32>,
    _process: Option<Box<dyn Any + Send + Sync>>,
}

/// What came of greeting one: the connection, and its program where it is one.
type Greeted =
    Result<(RunningService<RoleClient, Client>, Option<Box<dyn Any + Send + Sync>>), ClientInitializeError>;

/// What is known of it without waiting for anybody.
#[derive(Default)]
struct State {
    failed: Option<(String, Option<Instant>)>,
    is_open: bool,
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nothing was sent.
    #[error("{0}")]
    NotBegun(String),
    /// Nothing was sent: what it offers has to be asked first.
    #[error("it was started anew, and was not asked yet what it offers")]
    NotListed,
    /// Its word, by the protocol: what it did before, only it knows.
    #[error("it answered with an error: {0}; whether it was done is not known")]
    Erred(String),
    #[error("its connection ended ({0}); whether it was done is not known")]
    Ended(String),
    #[error("no answer within {seconds} s; whether it was done is not known")]
    Silent { seconds: f64 },
    #[error("it answered with something that is no result of a tool; whether it was done is not known")]
    NoResult,
}

impl Connection {
    pub fn new(name: &str, config: McpServer, launcher: Arc<dyn Launch>) -> Self {
        Self {
            name: name.into(),
            config,
            launcher,
            link: tokio::sync::Mutex::new(Link::Closed { failures: 0, why: None, until: None }),
            state: Mutex::default(),
            heard: Heard::default(),
            calls: Arc::default(),
            opened: AtomicU64::new(0),
            signs_in_at: SignsInAt::default(),
        }
    }

    pub fn config(&self) -> &McpServer {
        &self.config
    }

    pub fn log(&self) -> Vec<String> {
        self.heard.log()
    }

    pub fn state(&self) -> ServerState {
        let state = self.seen();
        match &state.failed {
            Some((why, until)) => {
                let left = until.map(|until| until.saturating_duration_since(Instant::now()));
                ServerState::Failed { why: why.clone(), again_in: left.unwrap_or_default().as_secs() }
            }
            None if state.is_open => ServerState::Connected,
            None => ServerState::Idle,
        }
    }

    /// What it offers now, and why it does not offer all it has. Connects where it is not connected.
    ///
    /// # Errors
    /// Why it cannot be asked, for people.
    pub async fn offered(&self) -> Result<(Offered, Vec<String>), String> {
        let Way { peer, number, .. } = self.way().await?;
        // Dropped before it has answered, what it offers is not known.
        self.set_listed(number, false).await;
        self.heard.clear_stale();
        let listed = tokio::time::timeout(START, list(&peer)).await;
        let why = match listed {
            Ok(Ok((tools, refused))) => {
                let info = peer.peer_info();
                let told = info.as_ref().and_then(|info| info.server_info.as_ref());
                let called =
                    told.map(|told| untrusted::line(&format!("{} {}", told.name, told.version), 100));
                self.set_listed(number, true).await;
                let has_key = |tool: &mut Definition| self.heard.has_key(&tool.raw);
                let (mut tools, mut refused) = (tools, refused);
                // Under another name it could not be called.
                let unnamed = tools.extract_if(.., has_key).count();
                if unnamed > 0 {
                    refused.push(format!("{unnamed} of its tools have the value of a key in their name"));
                }
                for tool in &mut tools {
                    tool.description = self.heard.without_keys(&tool.description);
                    tool.schema = self.heard.purged_schema(std::mem::take(&mut tool.schema));
                }
                let called = self.heard.without_keys(&called.unwrap_or_default());
                let (prompts, missing) = prompts::list(&peer, &self.heard).await;
                refused.extend(missing);
                return Ok((Offered { called, tools, prompts }, self.without_keys(refused)));
            }
            Ok(Err(error)) => format!("it does not list its tools: {}", self.broken(&error)),
            Err(_) => format!("it did not list its tools within {} s", START.as_secs()),
        };
        Err(self.end(number, why).await)
    }

    /// One of its prompts, filled in. Connects where it is not connected.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub async fn prompt(&self, name: &str, fields: BTreeMap<String, String>) -> Result<String, String> {
        let Way { peer, number, .. } = self.way().await?;
        match prompts::fill(&peer, name, fields, &self.heard).await {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err("it did not answer in time".into()),
            Err(ServiceError::UnexpectedResponse) => {
                Err("it answered with something that is no prompt".into())
            }
            Err(error) => Err(match self.failed(&error, number).await {
                CallError::Erred(said) => said,
                CallError::Ended(why) => format!("its connection ended: {why}"),
                other => other.to_string(),
            }),
        }
    }

    /// Notes of one connection, where it is still that one, whether what it offers is known.
    async fn set_listed(&self, number: u64, is_listed: bool) {
        if let Link::Open(open) = &mut *self.link.lock().await
            && open.number == number
        {
            open.is_listed = is_listed;
        }
    }

    pub fn is_open(&self) -> bool {
        self.seen().is_open
    }

    /// Whether what it offers now is known: it was asked since it was started, and has not said since that this changed.
    pub async fn is_listed(&self) -> bool {
        match &*self.link.lock().await {
            Link::Open(open) => {
                open.is_listed && !open.service.peer().is_transport_closed() && !self.heard.is_stale()
            }
            Link::Closed { .. } => false,
        }
    }

    /// Calls one of its tools, and waits this long for the answer, which may have its keys in it ([`Self::without_keys`]). The
    /// time in which it waits for its user does not count, and it begins anew when its server says how far it is. Dropped, it is
    /// told to give it up.
    ///
    /// # Errors
    /// Why there is no answer. Whether it was done is not known where the connection ended.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        within: Duration,
        user: User,
        begin: impl FnOnce(),
    ) -> Result<CallToolResult, CallError> {
        let way = match &*self.link.lock().await {
            Link::Open(open) if open.is_listed && !open.service.peer().is_transport_closed() => open.way(),
            _ => return Err(CallError::NotListed),
        };
        begin();
        let begun = self.calls.begin(user, within.max(LONGEST));
        let call = &*begun.call;
        let ask = |request| self.answer(&way, request, within, call).boxed();
        if tool == resources::RAW {
            return resources::read(&arguments, &ask).await;
        }
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match ask(request).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                // One that has nothing to say.
                ServerResult::EmptyResult(_) => return Ok(CallToolResult::success(Vec::new())),
                ServerResult::InputRequiredResult(wanted) => {
                    let responses = self.input(wanted.input_requests.unwrap_or_default(), call).await?;
                    (params.input_responses, params.request_state) = (Some(responses), wanted.request_state);
                }
                ServerResult::CreateTaskResult(begun) => {
                    let input = |wanted| self.input(wanted, call).boxed();
                    let ended = task::follow(begun.task, &way.peer, (call, &self.heard), &ask, &input).await;
                    return ended.map_err(|error| match error {
                        CallError::Erred(said) => CallError::Erred(self.heard.line(&said, MESSAGE_CHARS)),
                        other => other,
                    });
                }
                _ => return Err(CallError::NoResult),
            }
        }
        Err(CallError::Erred(no_end()))
    }

    /// What it wants to know before it goes on (2026-07-28).
    async fn input(&self, wanted: InputRequests, call: &UnderWay) -> Result<InputResponses, CallError> {
        let mut responses = InputResponses::new();
        for (name, request) in wanted {
            let InputRequest::Elicitation(request) = request else {
                return Err(CallError::Erred(
                    "it wants what Miki gives no server: a model, or folders".into(),
                ));
            };
            let answer = call.asking.ask(&self.name, &request.params, &self.heard).await;
            let answer = answer.unwrap_or_else(|why| call.not_asked(&self.heard, &why));
            responses.insert(name, serde_json::to_value(answer).map_err(|_| CallError::NoResult)?);
        }
        Ok(responses)
    }

    /// One request, and its answer.
    async fn answer(
        &self,
        way: &Way,
        request: ClientRequest,
        within: Duration,
        call: &UnderWay,
    ) -> Result<ServerResult, CallError> {
        let sent = way.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(&error, way.number).await),
        };
        call.set_token(handle.progress_token.clone());
        let mut abandoned = Abandoned { peer: Some(way.peer.clone()), id: handle.id.clone() };
        let (begun, times) = (Instant::now(), call.times());
        let Some(answer) = in_time(handle.await_response(), within, call).await else {
            drop(abandoned);
            let seconds = begun.elapsed().as_secs_f64();
            if call.times() != times {
                return Err(CallError::Silent { seconds });
            }
            if way.silences.fetch_add(1, Ordering::AcqRel) + 1 >= SILENCES {
                let why = format!("it gave no answer to {SILENCES} calls in a row, and was ended");
                self.end(way.number, why).await;
            }
            return Err(CallError::Silent { seconds });
        };
        abandoned.peer = None;
        way.silences.store(0, Ordering::Release);
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.failed(&error, way.number).await),
        }
    }

    /// What it said, without the values of its keys.
    pub fn without_keys<T: Serialize + DeserializeOwned + Default>(&self, said: T) -> T {
        let Ok(written) = serde_json::to_value(&said) else { return said };
        let told = self.heard.purged(written.clone());
        if told == written { said } else { serde_json::from_value(told).unwrap_or_default() }
    }

    /// Ends it: its user has switched it off.
    pub async fn close(&self) {
        *self.link.lock().await = Link::Closed { failures: 0, why: None, until: None };
        *self.seen() = State::default();
    }

    async fn failed(&self, error: &ServiceError, number: u64) -> CallError {
        match error {
            ServiceError::McpError(error) => CallError::Erred(self.heard.line(&error.message, MESSAGE_CHARS)),
            ServiceError::UnexpectedResponse => CallError::NoResult,
            error => CallError::Ended(self.end(number, self.broken(error)).await),
        }
    }

    /// Why it cannot be asked any more, for people.
    fn broken(&self, error: &ServiceError) -> String {
        let said = error.to_string();
        if let ServiceError::TransportSend(error) = error
            && let Some(why) = address::wants_more(&self.name, &self.config, error.error.as_ref())
        {
            return self.heard.line(&why, MESSAGE_CHARS);
        }
        let not_let_in =
            address::not_let_in(&self.name, &self.config, error.is_authorization_required(), &said);
        not_let_in.unwrap_or_else(|| self.heard.line(&said, MESSAGE_CHARS))
    }

    /// Ends one connection, where it is still that one: why, for people.
    async fn end(&self, number: u64, why: String) -> String {
        let mut link = self.link.lock().await;
        let Link::Open(open) = &*link else { return why };
        if open.number != number {
            return why;
        }
        let why = open.why.get().unwrap_or(why);
        let failures = if open.since.elapsed() >= STEADY { 0 } else { open.failures };
        self.rest(&mut link, failures, why.clone());
        why
    }

    /// Connects where it is not connected.
    async fn way(&self) -> Result<Way, String> {
        let mut link = self.link.lock().await;
        if let Link::Open(open) = &*link {
            if !open.service.peer().is_transport_closed() {
                return Ok(open.way());
            }
            let why = open.why.get().unwrap_or_else(|| "it ended".into());
            let failures = if open.since.elapsed() >= STEADY { 0 } else { open.failures };
            self.rest(&mut link, failures, why);
        }
        let Link::Closed { failures, why, until } = &*link else { return Err("it ended".into()) };
        let failures = *failures;
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            if left > SHORT {
                let why = why.as_deref().unwrap_or("it failed");
                return Err(format!("{why}; it is tried again in {} s", left.as_secs() + 1));
            }
            tokio::time::sleep(left).await;
        }
        let opened = tokio::time::timeout(START, self.open(failures)).await;
        let opened = opened.unwrap_or_else(|_| Err(format!("it did not start within {} s", START.as_secs())));
        match opened {
            Ok(open) => {
                let way = open.way();
                *link = Link::Open(Box::new(open));
                *self.seen() = State { failed: None, is_open: true };
                Ok(way)
            }
            Err(why) => {
                self.rest(&mut link, failures, why.clone());
                Err(why)
            }
        }
    }

    async fn open(&self, failures: u32) -> Result<Open, String> {
        let why = Why::default();
        let newest_first = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let (service, process) = match self.serve(newest_first, &why).await? {
            // It answers what it has never heard of as if it were done: it is of the protocol before that question.
            Err(ClientInitializeError::ExpectedInitResult(_)) => {
                self.serve(ClientLifecycleMode::Initialize, &why).await?
            }
            served => served,
        }
        .map_err(|error| self.not_opened(&error, &why))?;
        let number = self.opened.fetch_add(1, Ordering::AcqRel);
        Ok(Open {
            service,
            number,
            is_listed: false,
            why,
            since: Instant::now(),
            failures,
            silences: Arc::default(),
            _process: process,
        })
    }

    /// Starts it where it is a program, and greets it.
    async fn serve(&self, lifecycle: ClientLifecycleMode, why: &Why) -> Result<Greeted, String> {
        let client = Client::new(Arc::clone(&self.name), self.heard.clone(), Arc::clone(&self.calls));
        if self.config.url.is_empty() {
            let started = self.launcher.launch(&self.name, &self.config).await?;
            self.heard.hide(started.keys);
            tokio::spawn(listen(started.stderr, self.heard.clone()));
            let transport =
                AsyncRwTransport::new_client(Tap::new(started.stdout, why.clone()), started.stdin);
            let served = client.serve_with_lifecycle(transport, lifecycle).await;
            return Ok(served.map(|service| (service, Some(started.process))));
        }
        let transport =
            address::transport(&self.name, &self.config, &self.launcher, &self.heard, &self.signs_in_at)
                .await?;
        let served = client.serve_with_lifecycle(transport, lifecycle).await;
        Ok(served.map(|service| (service, None)))
    }

    /// What it wrote to its standard error says more than that it ended.
    fn not_opened(&self, error: &ClientInitializeError, why: &Why) -> String {
        if let Some(why) = why.get() {
            return why;
        }
        if let ClientInitializeError::TransportError { error, .. } = error
            && let Some(why) = address::wants_more(&self.name, &self.config, error.error.as_ref())
        {
            return self.heard.line(&why, MESSAGE_CHARS);
        }
        let is_asked = error.is_authorization_required();
        if let Some(why) = address::not_let_in(&self.name, &self.config, is_asked, &error.to_string()) {
            return why;
        }
        let said = match error {
            ClientInitializeError::ConnectionClosed(_) => "it ended before it said what it is".to_owned(),
            ClientInitializeError::TransportError { error, .. } if !self.config.url.is_empty() => {
                self.heard.line(&address::unreached(error.error.as_ref()), MESSAGE_CHARS)
            }
            other => self.heard.line(&other.to_string(), MESSAGE_CHARS),
        };
        match self.heard.log().last() {
            Some(last) => format!("{said}; it wrote: {last}"),
            None => said,
        }
    }

    fn rest(&self, link: &mut Link, failures: u32, why: String) {
        let rest = REST.saturating_mul(1 << failures.min(6)).min(LONGEST_REST);
        let until = Some(Instant::now() + rest);
        tracing::info!("the server {} cannot be used for {rest:?}: {why}", self.name);
        *self.seen() = State { failed: Some((why.clone(), until)), is_open: false };
        *link = Link::Closed { failures: failures.saturating_add(1), why: Some(why), until };
    }

    fn seen(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn way(&self) -> Way {
        let (peer, silences) = (self.service.peer().clone(), Arc::clone(&self.silences));
        Way { peer, number: self.number, silences }
    }
}

/// Why one that asks on and on has no answer.
pub fn no_end() -> String {
    format!("it asked its user {ROUNDS} times, and came to no end")
}

/// `None` if it takes longer, without the time in which its user is asked, or is silent for longer about how far it is.
async fn in_time<T>(work: impl Future<Output = T>, within: Duration, call: &UnderWay) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let (mut left, mut longest, mut times) = (within, call.spend(Duration::ZERO), call.times());
    while !left.min(longest).is_zero() {
        let slice = left.min(longest).min(SLICE);
        call.catch_up();
        match tokio::time::timeout(slice, &mut work).await {
            Ok(done) => return Some(done),
            Err(_) if call.asking.is_asking() => {}
            Err(_) => {
                let now = call.times();
                left = if now == times { left.saturating_sub(slice) } else { within };
                (longest, times) = (call.spend(slice), now);
            }
        }
    }
    None
}

/// Tells a server that nobody waits for an answer any more.
struct Abandoned {
    peer: Option<Peer<RoleClient>>,
    id: RequestId,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(peer), Ok(runtime)) = (self.peer.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let params = CancelledNotificationParam::new(Some(self.id.clone()), Some("no longer needed".into()));
        runtime.spawn(async move {
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

/// Its tools, and why some of them cannot be offered.
async fn list(peer: &Peer<RoleClient>) -> Result<(Vec<Definition>, Vec<String>), ServiceError> {
    let (mut tools, mut refused) = (Vec::<Definition>::new(), Vec::new());
    let mut cursor = None;
    for _ in 0..PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await?;
        for tool in &page.tools {
            match Definition::read(tool) {
                Ok(read) if tools.iter().any(|known| known.raw == read.raw) => {
                    refused.push(format!("there are two tools {:?}; the first one counts", read.raw));
                }
                Ok(_) if tools.len() == MOST_TOOLS => {
                    refused
                        .push(format!("it has more than {MOST_TOOLS} tools; the first {MOST_TOOLS} count"));
                    return Ok((tools, refused));
                }
                Ok(read) => tools.push(read),
                Err(why) => refused.push(why),
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            if resources::are_there(peer).await {
                tools.push(resources::definition());
            }
            return Ok((tools, refused));
        }
    }
    refused.push(format!("its list of tools does not end; its first {PAGES} pages count"));
    Ok((tools, refused))
}

/// Keeps the newest lines of its standard error, however much there is.
async fn listen(stderr: ChildStderr, heard: Heard) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut lines).take(ERROR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => heard.note(&String::from_utf8_lossy(&line)),
        }
    }
}
