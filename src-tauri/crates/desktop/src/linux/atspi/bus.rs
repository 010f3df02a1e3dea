//! The accessibility bus: finding it, calling over it, and an application's own bus where it has one.
//!
//! Raw method calls only: a proxy that asks one property after the other costs ten times as much. Knows nothing of
//! what the answers mean.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use zbus::Address;
use zbus::address::transport::{Transport, UnixSocket};
use zbus::connection::Builder;
use zbus::zvariant::{DynamicType, OwnedObjectPath, OwnedValue, Type};

use super::acting::ACTION;
use super::interfaces::Interfaces;
use super::line::Line;
use super::lock;
use super::nodes::AT_ONCE;
use super::quirks::Quirks;

/// An application that does not answer one call in this time is left out, so that it cannot hold up the others.
pub(super) const CALL: Duration = Duration::from_millis(1500);
const CONNECT: Duration = Duration::from_secs(3);
/// Children that are asked for in one answer.
const MOST_CHILDREN: i32 = 500;
pub(super) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(super) const ROOT: &str = "/org/a11y/atspi/accessible/root";
const REGISTRY: &str = "org.a11y.atspi.Registry";

/// A reference as AT-SPI passes it: the bus name of the program, and the path of the object in it.
pub(super) type Reference = (String, OwnedObjectPath);

/// Why a call had no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallError {
    #[error("no answer within {CALL:?}")]
    Late,
    #[error("the object or its program is gone")]
    Gone,
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("{0}")]
    Refused(String),
}

impl From<zbus::Error> for CallError {
    fn from(error: zbus::Error) -> Self {
        match &error {
            zbus::Error::MethodError(name, _, _) => match name.as_str() {
                "org.freedesktop.DBus.Error.UnknownObject"
                | "org.freedesktop.DBus.Error.ServiceUnknown"
                | "org.freedesktop.DBus.Error.NameHasNoOwner"
                | "org.freedesktop.DBus.Error.NoReply"
                | "org.freedesktop.DBus.Error.Disconnected" => Self::Gone,
                _ => Self::Refused(error.to_string()),
            },
            zbus::Error::InputOutput(_) => Self::Broken(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// Why there is no accessibility bus.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("no session bus ({0})")]
    Session(String),
    #[error("no accessibility bus ({0})")]
    Accessibility(String),
}

/// The accessibility bus, connected and with accessibility turned on.
#[derive(Clone)]
pub(super) struct Bus {
    line: Line,
    /// Applications by their names here, which are never given to another one.
    acquaintances: Arc<Mutex<HashMap<Arc<str>, Acquaintance>>>,
}

/// What does not change while an application runs.
#[derive(Clone)]
pub(super) struct Acquaintance {
    pub(super) name: String,
    pub(super) pid: u32,
    pub(super) quirks: Quirks,
}

impl Bus {
    /// Asks the session bus where the accessibility bus is, and turns accessibility on as a screen reader does:
    /// without that Qt and Chromium show no tree.
    pub(super) async fn connect(session: Option<&str>) -> Result<Self, ConnectError> {
        tokio::time::timeout(CONNECT, Self::find(session))
            .await
            .unwrap_or_else(|_| Err(ConnectError::Accessibility(format!("no answer within {CONNECT:?}"))))
    }

    async fn find(session: Option<&str>) -> Result<Self, ConnectError> {
        let no_session = |error: zbus::Error| ConnectError::Session(error.to_string());
        let no_bus = |error: zbus::Error| ConnectError::Accessibility(error.to_string());
        let builder = match session {
            Some(address) => Builder::address(address),
            None => Builder::session(),
        };
        let session = builder.map_err(no_session)?.build().await.map_err(no_session)?;
        let host = Program { line: Line::new(session), destination: Some("org.a11y.Bus".into()) };
        let address: String = host
            .raw("/org/a11y/bus", "org.a11y.Bus", "GetAddress", &())
            .await
            .and_then(|reply| reply.body().deserialize::<String>())
            .map_err(no_bus)?;
        let enabled = zbus::zvariant::Value::from(true);
        if let Err(error) =
            host.raw("/org/a11y/bus", PROPERTIES, "Set", &("org.a11y.Status", "IsEnabled", enabled)).await
        {
            tracing::debug!(%error, "accessibility could not be turned on; applications may show no tree");
        }
        let builder = Builder::address(address.as_str()).map_err(no_bus)?;
        let line = Line::new(builder.build().await.map_err(no_bus)?);
        let bus = Self { line, acquaintances: Arc::default() };
        // Until one client has registered for an event, toolkits leave parts of their bridge asleep.
        let registry = bus.program(REGISTRY);
        let event = ("object:children-changed", Vec::<String>::new(), "");
        if let Err(error) = registry.raw("/org/a11y/atspi/registry", REGISTRY, "RegisterEvent", &event).await
        {
            tracing::debug!(%error, "no event could be registered for");
        }
        Ok(bus)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.line.is_closed()
    }

    /// The program with this bus name, called by way of the accessibility bus.
    pub(super) fn program(&self, name: &str) -> Program {
        Program { line: self.line.clone(), destination: Some(name.into()) }
    }

    /// Who has this bus name; asked once.
    pub(super) async fn acquaintance(&self, name: &Arc<str>) -> Result<Acquaintance, CallError> {
        if let Some(known) = lock(&self.acquaintances).get(name) {
            return Ok(known.clone());
        }
        let root = Object::new(&self.program(name), ROOT);
        let application = "org.a11y.atspi.Application";
        let (called, pid, toolkit, version) = tokio::join!(
            root.name(),
            self.pid(name),
            root.program.property::<String>(ROOT, application, "ToolkitName"),
            root.program.property::<String>(ROOT, application, "Version"),
        );
        let called = called?;
        let quirks = Quirks::of(&called, &toolkit.unwrap_or_default(), &version.unwrap_or_default());
        let found = Acquaintance { name: called, pid: pid?, quirks };
        // An application may register before it has a name.
        if !found.name.is_empty() {
            lock(&self.acquaintances).insert(name.clone(), found.clone());
        }
        Ok(found)
    }

    pub(super) fn known_name(&self, name: &str) -> Option<String> {
        lock(&self.acquaintances).get(name).map(|known| known.name.clone())
    }

    /// What to call an application that does not answer: the bus and the system know its process.
    pub(super) async fn quiet_name(&self, name: &Arc<str>) -> String {
        if let Some(known) = self.known_name(name) {
            return known;
        }
        let pid = self.pid(name).await.unwrap_or_default();
        let command = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if command.trim().is_empty() { format!("process {pid}") } else { command.trim().to_owned() }
    }

    /// Drops what is known of applications that are gone.
    pub(super) fn forget_others(&self, there: &[Arc<str>]) {
        lock(&self.acquaintances).retain(|name, _| there.contains(name));
    }

    /// All applications that have registered, by their root objects.
    pub(super) async fn applications(&self) -> Result<Vec<Reference>, CallError> {
        self.program(REGISTRY).call(ROOT, ACCESSIBLE, "GetChildren", &()).await
    }

    /// Every "focused" that an application tells from now on.
    pub(super) async fn hear_focus(&self) -> zbus::Result<zbus::MessageStream> {
        let rule = zbus::MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface("org.a11y.atspi.Event.Object")?
            .member("StateChanged")?
            .arg(0, "focused")?
            .build();
        let stream = self.line.stream(rule).await?;
        let event = ("object:state-changed:focused", Vec::<String>::new(), "");
        let registry = self.program(REGISTRY);
        registry.raw("/org/a11y/atspi/registry", REGISTRY, "RegisterEvent", &event).await?;
        Ok(stream)
    }

    /// The process behind a bus name.
    pub(super) async fn pid(&self, name: &str) -> Result<u32, CallError> {
        let daemon = self.program("org.freedesktop.DBus");
        daemon
            .call("/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID", &name)
            .await
    }
}

pub(super) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// A connection to a program's own bus.
pub(super) struct OwnBus {
    pub(super) program: Program,
    /// The connection's socket a second time, where it is one of the file system.
    pub(super) socket: Option<OwnedFd>,
}

/// One program on the accessibility bus. Cheap to clone.
#[derive(Clone)]
pub(super) struct Program {
    line: Line,
    /// Nothing on an application's own bus, where there is only one to talk to.
    destination: Option<Arc<str>>,
}

impl Program {
    /// The program's own bus where it offers one: it halves the cost of a call. Otherwise this one again.
    pub(super) async fn nearest(&self) -> Self {
        match self.own_bus().await {
            Ok(Some(own)) => own.program,
            Ok(None) => self.clone(),
            Err(error) => {
                tracing::debug!(%error, "the application's own bus does not answer; its address goes unused");
                self.clone()
            }
        }
    }

    /// A new connection to the program's own bus; `None` if it has none.
    pub(super) async fn own_bus(&self) -> Result<Option<OwnBus>, CallError> {
        let address: Result<String, CallError> =
            self.call(ROOT, "org.a11y.atspi.Application", "GetApplicationBusAddress", &()).await;
        let address = match address {
            Ok(address) if address.is_empty() => return Ok(None),
            Ok(address) => address,
            // Qt says so of an interface that it lacks.
            Err(CallError::Refused(_) | CallError::Gone) => return Ok(None),
            Err(error) => return Err(error),
        };
        let connecting = async {
            let address = Address::try_from(address.as_str())?;
            let Transport::Unix(unix) = address.transport() else {
                return Ok((Builder::address(address)?.p2p().build().await?, None));
            };
            let UnixSocket::File(path) = unix.path() else {
                return Ok((Builder::address(address)?.p2p().build().await?, None));
            };
            let stream = UnixStream::connect(path).await?;
            let socket = stream.as_fd().try_clone_to_owned()?;
            Ok::<_, zbus::Error>((Builder::unix_stream(stream).p2p().build().await?, Some(socket)))
        };
        let (connection, socket) =
            tokio::time::timeout(CALL, connecting).await.map_err(|_| CallError::Late)??;
        Ok(Some(OwnBus { program: Self { line: Line::new(connection), destination: None }, socket }))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.line.is_closed()
    }

    async fn raw<B>(&self, path: &str, interface: &str, method: &str, body: &B) -> zbus::Result<zbus::Message>
    where
        B: Serialize + DynamicType + Sync,
    {
        let mut message = zbus::Message::method_call(path, method)?.interface(interface)?;
        if let Some(destination) = &self.destination {
            message = message.destination(&**destination)?;
        }
        self.line.ask(message.build(body)?).await
    }

    pub(super) async fn call<B, R>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, CallError>
    where
        B: Serialize + DynamicType + Sync,
        R: DeserializeOwned + Type,
    {
        let reply = tokio::time::timeout(CALL, self.raw(path, interface, method, body))
            .await
            .map_err(|_| CallError::Late)??;
        Ok(reply.body().deserialize::<R>()?)
    }

    pub(super) async fn property<T>(&self, path: &str, interface: &str, name: &str) -> Result<T, CallError>
    where
        T: TryFrom<OwnedValue>,
        T::Error: std::fmt::Display,
    {
        let value: OwnedValue = self.call(path, PROPERTIES, "Get", &(interface, name)).await?;
        T::try_from(value).map_err(|error| CallError::Refused(error.to_string()))
    }
}

/// An object of a program: what a ref of a snapshot stands for.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) program: Program,
    pub(super) path: Arc<str>,
}

impl Object {
    pub(super) fn new(program: &Program, path: &str) -> Self {
        Self { program: program.clone(), path: path.into() }
    }

    pub(super) async fn call<B, R>(&self, interface: &str, method: &str, body: &B) -> Result<R, CallError>
    where
        B: Serialize + DynamicType + Sync,
        R: DeserializeOwned + Type,
    {
        self.program.call(&self.path, interface, method, body).await
    }

    pub(super) async fn name(&self) -> Result<String, CallError> {
        self.program.property(&self.path, ACCESSIBLE, "Name").await
    }

    /// What an action is called, where the list of all does not say: Firefox's names are `;;` there.
    pub(super) async fn action_name(&self, index: i32, listed: String) -> String {
        if !listed.chars().all(|one| one == ';') {
            return listed;
        }
        self.call(ACTION, "GetName", &index).await.unwrap_or_default()
    }

    pub(super) async fn description(&self) -> Result<String, CallError> {
        self.program.property(&self.path, ACCESSIBLE, "Description").await
    }

    /// The first [`MOST_CHILDREN`]: a sheet has thousands of millions of cells, and makes each that is asked for.
    pub(super) async fn children(&self) -> Result<Vec<Reference>, CallError> {
        let count: i32 = self.program.property(&self.path, ACCESSIBLE, "ChildCount").await?;
        if count <= MOST_CHILDREN {
            return self.all_children().await;
        }
        let asked = (0..MOST_CHILDREN).map(|at| self.child(at));
        Ok(futures::stream::iter(asked)
            .buffered(AT_ONCE)
            .filter_map(async |child| child.ok())
            .collect()
            .await)
    }

    /// All where they are no more than that; none otherwise.
    pub(super) async fn few_children(&self) -> Result<Vec<Reference>, CallError> {
        let count: i32 = self.program.property(&self.path, ACCESSIBLE, "ChildCount").await?;
        if count <= MOST_CHILDREN { self.all_children().await } else { Ok(Vec::new()) }
    }

    /// All in one answer: only of what is known to have few.
    pub(super) async fn all_children(&self) -> Result<Vec<Reference>, CallError> {
        self.call(ACCESSIBLE, "GetChildren", &()).await
    }

    async fn child(&self, at: i32) -> Result<Reference, CallError> {
        self.call(ACCESSIBLE, "GetChildAtIndex", &at).await
    }

    pub(super) async fn states(&self) -> Result<super::role::States, CallError> {
        let words: Vec<u32> = self.call(ACCESSIBLE, "GetState", &()).await?;
        Ok(super::role::States::from_words(&words))
    }

    pub(super) async fn interfaces(&self) -> Result<Interfaces, CallError> {
        let names: Vec<String> = self.call(ACCESSIBLE, "GetInterfaces", &()).await?;
        Ok(Interfaces::named(&names))
    }

    pub(super) async fn role(&self) -> Result<u32, CallError> {
        self.call(ACCESSIBLE, "GetRole", &()).await
    }
}
