//! All servers of the settings, and which of their tools are in the registry.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use protocol::mcp::{Agreed, McpServer, ServerState, ServerToolView, ServerView, ToolDoes};
use protocol::{ErrorCode, ErrorView};
use tools::{Group, Registry, Tool, untrusted};

use crate::Launch;
use crate::connection::Connection;
use crate::definition;
use crate::remote_tool::RemoteTool;
use crate::sign_in::{Begun, SignIn};
use crate::store::{Offered, Store};

pub struct Servers {
    registry: Arc<Registry>,
    launcher: Arc<dyn Launch>,
    store: Store,
    all: Mutex<BTreeMap<String, Arc<Server>>>,
    /// Held by whoever changes what is offered: what was taken back must not come back by an older look.
    changing: Mutex<()>,
}

/// One server of the settings.
pub struct Server {
    name: Arc<str>,
    connection: Connection,
    among: Weak<Servers>,
    known: Mutex<Known>,
    /// Held while it is asked what it offers.
    asking: tokio::sync::Mutex<()>,
    begun: Begun,
}

/// What may change while it is connected.
struct Known {
    /// As the settings have it; what it runs never changes.
    config: McpServer,
    offered: Option<Offered>,
    /// Why some of what it has is not offered.
    refused: Vec<String>,
}

impl Server {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The sign-in that was begun at it.
    pub fn begun(&self) -> MutexGuard<'_, Option<SignIn>> {
        self.begun.get()
    }

    /// Ends its program: it is switched off.
    fn end(self: &Arc<Self>) {
        if let (true, Ok(runtime)) = (self.connection.is_open(), tokio::runtime::Handle::try_current()) {
            let server = Arc::clone(self);
            runtime.spawn(async move { server.connection.close().await });
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks it what it offers where that is not known since it was started, or has changed by its own word.
    ///
    /// # Errors
    /// It does not offer the tool of this hash any more, its user does not agree to it any more, or it cannot be asked.
    pub async fn still_offers(&self, raw: &str, hash: &str, does: ToolDoes) -> Result<(), String> {
        {
            // Whoever else asks just now asks for us, too.
            let _asking = self.asking.lock().await;
            if !self.connection.is_listed().await {
                self.ask().await?;
            }
        }
        let is_there = self.among.upgrade().is_some_and(|among| {
            among.all().get(&*self.name).is_some_and(|server| std::ptr::eq(&**server, self))
        });
        let known = self.known();
        let agreed = known.config.tools.get(raw).filter(|_| is_there && !known.config.off);
        if agreed.is_none_or(|agreed| agreed.hash != hash || agreed.does != does) {
            return Err("the user has taken back what they agreed to of it meanwhile".into());
        }
        let offered = known.offered.iter().flat_map(|offered| &offered.tools).find(|tool| tool.raw == raw);
        match offered.map(|tool| tool.hash(&self.name)) {
            Some(now) if now == hash => Ok(()),
            Some(_) => Err(format!(
                "it describes {:?} otherwise than when the user agreed to it; they have to agree again: miki mcp agree {}",
                untrusted::line(raw, 60),
                self.name
            )),
            None => Err(format!("it has no tool {:?} any more", untrusted::line(raw, 60))),
        }
    }

    async fn ask(&self) -> Result<(), String> {
        let (offered, refused) = self.connection.offered().await?;
        refused.iter().for_each(|why| tracing::info!("the server {}: {why}", self.name));
        let Some(among) = self.among.upgrade() else { return Ok(()) };
        let changing = among.changing();
        // Forgotten meanwhile: nothing of it is kept.
        if !among.all().get(&*self.name).is_some_and(|server| std::ptr::eq(&**server, self)) {
            return Err("the user has removed it".into());
        }
        among.store.save(&self.name, &offered);
        {
            let mut known = self.known();
            (known.offered, known.refused) = (Some(offered), refused);
        }
        among.put(&self.name);
        drop(changing);
        Ok(())
    }

    fn view(&self) -> ServerView {
        let known = self.known();
        let state = if known.config.off { ServerState::Off } else { self.connection.state() };
        let tools = known.offered.iter().flat_map(|offered| &offered.tools).map(|tool| {
            let hash = tool.hash(&self.name);
            let agreed = match known.config.tools.get(&tool.raw) {
                None => Agreed::No,
                Some(agreed) if agreed.hash == hash => Agreed::Yes { does: agreed.does },
                Some(_) => Agreed::Changed,
            };
            ServerToolView {
                name: tool.raw.clone(),
                tool: definition::name(&self.name, &tool.raw),
                description: tool.description.clone(),
                schema: tool.schema.to_string(),
                hash,
                agreed,
            }
        });
        let prompts = known.offered.iter().flat_map(|offered| &offered.prompts).cloned().collect();
        let mut log = self.connection.log();
        log.extend(known.refused.iter().cloned());
        ServerView {
            name: self.name.to_string(),
            runs: known.config.runs(),
            unconfined: known.config.unconfined,
            state,
            called: known.offered.as_ref().map(|offered| offered.called.clone()).unwrap_or_default(),
            tools: tools.collect(),
            prompts,
            log,
        }
    }
}

impl Servers {
    /// `folder` is where what servers offer is kept.
    pub fn new(registry: Arc<Registry>, launcher: Arc<dyn Launch>, folder: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            registry,
            launcher,
            store: Store::new(folder),
            all: Mutex::default(),
            changing: Mutex::default(),
        })
    }

    /// Takes the servers of the settings. One that runs as before stays connected; no program is started.
    pub fn set(self: &Arc<Self>, servers: &BTreeMap<String, McpServer>) {
        let _changing = self.changing();
        let gone: Vec<String> = {
            let mut all = self.all();
            let is_there = |name: &String, server: &Arc<Server>| {
                servers.get(name).is_some_and(|new| new.runs_as(server.connection.config()))
            };
            let gone =
                all.extract_if(.., |name, server| !is_there(name, server)).map(|(name, _)| name).collect();
            for (name, config) in servers {
                match all.get(name) {
                    Some(server) => {
                        server.known().config = config.clone();
                        if config.off {
                            server.end();
                        }
                    }
                    None => {
                        let server = self.server(name, config);
                        all.insert(name.clone(), server);
                    }
                }
            }
            gone
        };
        for name in gone {
            self.take_away(&name, |_| true);
            if !servers.contains_key(&name) {
                self.store.forget(&name);
            }
        }
        servers.keys().for_each(|name| self.put(name));
    }

    fn server(self: &Arc<Self>, name: &str, config: &McpServer) -> Arc<Server> {
        let known = Known { config: config.clone(), offered: self.store.load(name), refused: Vec::new() };
        Arc::new(Server {
            name: name.into(),
            connection: Connection::new(name, config.clone(), Arc::clone(&self.launcher)),
            among: Arc::downgrade(self),
            known: Mutex::new(known),
            asking: tokio::sync::Mutex::default(),
            begun: Begun::default(),
        })
    }

    /// All of them, without asking any.
    pub fn list(&self) -> Vec<ServerView> {
        self.all().values().map(|server| server.view()).collect()
    }

    /// Starts a server where it is not started, and asks it what it offers.
    ///
    /// # Errors
    /// There is none of this name. That it fails is in the view.
    pub async fn test(&self, name: &str) -> Result<ServerView, ErrorView> {
        let server = self.find(name)?;
        if !server.known().config.off {
            let _asking = server.asking.lock().await;
            if let Err(why) = server.ask().await {
                tracing::info!("the server {name}: {why}");
            }
        }
        Ok(server.view())
    }

    /// Asks a server for one of its prompts, filled in.
    ///
    /// # Errors
    /// There is no such server, it is switched off, or it does not give it: for people.
    pub async fn fill_prompt(
        &self,
        name: &str,
        prompt: &str,
        fields: BTreeMap<String, String>,
    ) -> Result<String, ErrorView> {
        let server = self.find(name)?;
        if server.known().config.off {
            let message = format!("the server {name} is switched off");
            return Err(
                ErrorView::new(ErrorCode::BadRequest, message).with_hint(format!("miki mcp on {name}"))
            );
        }
        let filled = server.connection.prompt(prompt, fields).await;
        // It may have been switched off while it was started.
        if server.known().config.off {
            server.connection.close().await;
        }
        filled.map_err(|why| {
            let message = format!("the server {name} does not give this prompt: {why}");
            ErrorView::new(ErrorCode::BadRequest, message)
                .with_hint(format!("what it has, and what each takes: miki mcp test {name}"))
        })
    }

    /// Ends a connection that was made with other keys than there are now; it is made anew when it is needed.
    ///
    /// # Errors
    /// There is none of this name.
    pub async fn renew(&self, name: &str) -> Result<(), ErrorView> {
        self.find(name)?.connection().close().await;
        Ok(())
    }

    pub(crate) fn launcher(&self) -> &dyn Launch {
        &*self.launcher
    }

    /// # Errors
    /// There is none of this name.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Server>, ErrorView> {
        let found = self.all().get(name).cloned();
        found.ok_or_else(|| {
            let names = self.all().keys().cloned().collect::<Vec<_>>().join(", ");
            let hint = if names.is_empty() {
                "there is none yet; connect one with: miki mcp add NAME -- PROGRAM ARGUMENTS, or miki mcp add NAME --url URL"
                    .into()
            } else {
                format!("there are: {names}")
            };
            ErrorView::new(ErrorCode::NotFound, format!("there is no server {name:?}")).with_hint(hint)
        })
    }

    /// Puts into the registry what its user agreed to of a server, and takes out all else of it.
    fn put(&self, name: &str) {
        let Some(server) = self.all().get(name).cloned() else { return };
        let wanted: Vec<RemoteTool> = {
            let known = server.known();
            let agreed = |tool: &definition::Definition| {
                let agreed = known.config.tools.get(&tool.raw).filter(|_| !known.config.off)?;
                (agreed.hash == tool.hash(name))
                    .then(|| RemoteTool::new(Arc::clone(&server), tool, agreed.does))
            };
            known.offered.iter().flat_map(|offered| &offered.tools).filter_map(agreed).collect()
        };
        self.take_away(name, |spec| !wanted.iter().any(|tool| tool.is(spec)));
        for tool in wanted {
            let tool: Arc<dyn Tool> = Arc::new(tool);
            // What is still there is the same.
            if self.registry.get(&tool.spec().name).is_some() {
                continue;
            }
            if let Err(error) = self.registry.add(tool) {
                tracing::warn!("a tool of the server {name} is left out: {error}");
            }
        }
    }

    fn take_away(&self, name: &str, which: impl Fn(&tools::Spec) -> bool) {
        let of_it = Group::Server(name.into());
        for spec in self.registry.specs() {
            if spec.group == of_it && which(&spec) {
                self.registry.remove(&spec.name);
            }
        }
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
