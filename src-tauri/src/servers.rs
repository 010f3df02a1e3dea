//! How servers that are programs are started, and what is kept for servers: made at the composition root, as for commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, Started, Tokens};
use protocol::command::Secret;
use protocol::mcp::McpServer;
use protocol::{ErrorCode, ErrorView};
use sha2::{Digest as _, Sha256};
use space::terminal::{Limits, Network, Program, ProgramSpec, ProxyAt, Setup, Terminal};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::engine::blocking;
use crate::keys::{KeyStore, long};
use crate::workplaces::Workplaces;

/// Seconds of processor time of a server: it may work for days.
const CPU: u64 = 7 * 24 * 60 * 60;
/// What a sign-in is kept under; no header and no variable can be called so.
const SIGN_IN: &str = "(sign-in)";

pub struct Launcher {
    /// Each confined server has a folder of its own in it; and of a server at which its user has signed in there is an empty
    /// file: where there is none, the keychain, which may be locked, is not asked.
    folder: PathBuf,
    workplaces: Arc<Workplaces>,
    keychain: Arc<dyn KeyStore>,
    /// Held while what was kept of a sign-in is looked at and changed: a renewal does not undo a sign-out that comes between.
    keeping: Arc<Mutex<()>>,
}

impl Launcher {
    pub fn new(folder: PathBuf, workplaces: Arc<Workplaces>, keychain: Arc<dyn KeyStore>) -> Self {
        Self { folder, workplaces, keychain, keeping: Arc::default() }
    }

    /// Forgets the keys of servers that are gone, or run otherwise now, and that their user has signed in at them. To be
    /// called once they are gone from [`mcp::Servers`]. Blocking.
    pub fn forget(&self, old: &BTreeMap<String, McpServer>, new: &BTreeMap<String, McpServer>) {
        let _keeping = held(&self.keeping);
        forget(&*self.keychain, &self.folder, old, new);
    }

    /// What only its program gets.
    async fn environment(&self, name: &str, server: &McpServer) -> Result<Vec<(String, String)>, String> {
        let keys = self.keys(name, server).await?;
        let keys = keys.into_iter().map(|(variable, value)| (variable, value.0));
        Ok(server.env.clone().into_iter().chain(keys).collect())
    }

    /// The values of its keys, by their names.
    async fn keys(&self, name: &str, server: &McpServer) -> Result<Vec<(String, Secret)>, String> {
        let (name, server) = (name.to_owned(), server.clone());
        let found = self.of_keychain(move |keychain| {
            let one = |key: &String| {
                let kept = keychain.get(&entry(&name, key, &server)).map_err(|error| error.to_string())?;
                let missing = || format!("no value of {key} is kept for it: miki mcp key {name} {key}");
                Ok((key.clone(), kept.ok_or_else(missing)?))
            };
            server.keys.iter().map(one).collect()
        });
        found.await
    }

    /// Asks the keychain, which blocks.
    async fn of_keychain<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn KeyStore) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let keychain = Arc::clone(&self.keychain);
        blocking(move || ask(&*keychain)).await.map_err(|error| error.message)?
    }

    /// The program, and the values of its keys.
    async fn start(&self, name: &str, server: &McpServer) -> Result<(Program, Vec<Secret>), String> {
        let environment = self.environment(name, server).await?;
        let is_key = |(name, _): &&(String, String)| server.keys.contains(name);
        let keys = environment.iter().filter(is_key).map(|(_, value)| Secret(value.clone())).collect();
        let mut spec = ProgramSpec {
            program: server.command.clone().into(),
            arguments: server.args.iter().map(Into::into).collect(),
            environment: environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        };
        if server.unconfined {
            spec.environment = desktop::environment::for_children().chain(spec.environment).collect();
            let started = tokio::task::spawn_blocking(move || Program::unconfined(&spec)).await;
            let started = started.map_err(|panic| panic.to_string())?;
            let failed = |error| format!("{} cannot be started: {error}", server.command);
            return Ok((started.map_err(failed)?, keys));
        }
        let network = self.network(server)?;
        let sandbox = self.workplaces.sandbox().await;
        let folder = self.folder.join(name);
        let setup = Setup {
            readable: server.reads.iter().map(PathBuf::from).collect(),
            limits: Limits { cpu: CPU, ..Limits::default() },
            ..Setup::new(&folder)
        };
        let started = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            let terminal = Terminal::open(setup, sandbox).map_err(|error| error.to_string())?;
            terminal.program(&spec, network).map_err(|error| error.to_string())
        });
        Ok((started.await.map_err(|panic| panic.to_string())??, keys))
    }

    /// The way to its hosts; `None` if it has none.
    fn network(&self, server: &McpServer) -> Result<Option<Network>, String> {
        if server.hosts.is_empty() {
            return Ok(None);
        }
        let fetcher = self.workplaces.fetcher().ok_or("there is no way to the web here")?;
        let proxy = Arc::new(fetcher.proxy(&server.hosts).map_err(|error| error.to_string())?);
        #[cfg(target_os = "linux")]
        let at = ProxyAt::Socket(proxy.socket());
        #[cfg(not(target_os = "linux"))]
        let at = ProxyAt::Port(proxy.port());
        Ok(Some(Network { hosts: server.hosts.clone(), proxy: at, held: proxy }))
    }
}

impl Launch for Launcher {
    fn launch<'a>(&'a self, name: &'a str, server: &'a McpServer) -> BoxFuture<'a, Result<Started, String>> {
        async move {
            let (Program { stdin, stdout, stderr, ends }, keys) = self.start(name, server).await?;
            let failed = |error: std::io::Error| format!("its streams cannot be used: {error}");
            Ok(Started {
                stdin: ChildStdin::from_std(stdin).map_err(failed)?,
                stdout: ChildStdout::from_std(stdout).map_err(failed)?,
                stderr: ChildStderr::from_std(stderr).map_err(failed)?,
                keys,
                process: Box::new(std::sync::Mutex::new(ends)),
            })
        }
        .boxed()
    }

    fn headers<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, String>> {
        self.keys(name, server).boxed()
    }

    fn sign_in<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
    ) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        let (folder, name, server) = (self.folder.clone(), name.to_owned(), server.clone());
        self.of_keychain(move |keychain| signed_in(keychain, &folder, (&name, &server))).boxed()
    }

    fn keep_sign_in<'a>(
        &'a self,
        name: &'a str,
        server: &'a McpServer,
        tokens: Tokens<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let (from, to) = match tokens {
            Tokens::New(new) => (None, Some(new.clone())),
            Tokens::Renewed { from, to } => (Some(from.clone()), Some(to.clone())),
            Tokens::Gone => (None, None),
        };
        let (folder, name, server) = (self.folder.clone(), name.to_owned(), server.clone());
        let keeping = Arc::clone(&self.keeping);
        let keep = move |keychain: &dyn KeyStore| {
            let _keeping = held(&keeping);
            let of = (&*name, &server);
            if from.is_some() && signed_in(keychain, &folder, of)? != from {
                return Ok(());
            }
            keep_sign_in(keychain, &folder, of, to.as_ref())
        };
        self.of_keychain(keep).boxed()
    }
}

fn held(keeping: &Mutex<()>) -> MutexGuard<'_, ()> {
    keeping.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was kept when its user signed in at a server. Blocking.
fn signed_in(
    keychain: &dyn KeyStore,
    folder: &Path,
    (name, server): (&str, &McpServer),
) -> Result<Option<Secret>, String> {
    if !mark(folder, name).exists() {
        return Ok(None);
    }
    long::get(keychain, &entry(name, SIGN_IN, server)).map_err(|error| error.to_string())
}

/// Keeps or forgets it. Blocking.
fn keep_sign_in(
    keychain: &dyn KeyStore,
    folder: &Path,
    (name, server): (&str, &McpServer),
    kept: Option<&Secret>,
) -> Result<(), String> {
    let (entry, mark) = (entry(name, SIGN_IN, server), mark(folder, name));
    let Some(kept) = kept else {
        long::delete(keychain, &entry).map_err(|error| error.to_string())?;
        let _ = std::fs::remove_file(mark);
        return Ok(());
    };
    // The mark first: what is kept without one would be found by nobody who is to forget it.
    let marked = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&mark, ""));
    marked.map_err(|error| format!("{}: {error}", mark.display()))?;
    long::set(keychain, &entry, kept).map_err(|error| error.to_string())
}

/// The file that says that its user has signed in at a server.
fn mark(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.signed-in"))
}

/// Keeps the value of a variable, or of a header, of a server. Blocking.
///
/// # Errors
/// [`ErrorCode::BadRequest`] where it cannot be sent in a header; [`ErrorCode::Keychain`].
pub fn keep(
    keychain: &dyn KeyStore,
    (name, server): (&str, &McpServer),
    variable: &str,
    value: &Secret,
) -> Result<(), ErrorView> {
    // The end of a line is what it was typed or piped with.
    let value = Secret(value.0.trim_end_matches(['\n', '\r']).to_owned());
    let is_sent = |c: char| c.is_ascii_graphic() || c == ' ';
    if !server.url.is_empty() && (value.0.is_empty() || !value.0.chars().all(is_sent)) {
        let message = format!("what was given for {variable} cannot be sent in a header");
        return Err(ErrorView::new(ErrorCode::BadRequest, message).with_hint(
            "give all of it on one line, as its server wants it: for Authorization, Bearer and the key",
        ));
    }
    keychain.set(&entry(name, variable, server), &value).map_err(|error| {
        ErrorView::new(ErrorCode::Keychain, error.to_string())
            .with_hint("unlock or start the system's keychain, then try again")
    })
}

/// As [`Launcher::forget`].
fn forget(
    keychain: &dyn KeyStore,
    folder: &Path,
    old: &BTreeMap<String, McpServer>,
    new: &BTreeMap<String, McpServer>,
) {
    let is_same = |name: &String, server: &McpServer| new.get(name).is_some_and(|new| new.runs_as(server));
    for (name, server) in old.iter().filter(|(name, server)| !is_same(name, server)) {
        for variable in &server.keys {
            if let Err(error) = keychain.delete(&entry(name, variable, server)) {
                tracing::warn!("{variable} of the server {name} stays in the keychain: {error}");
            }
        }
        if mark(folder, name).exists()
            && let Err(why) = keep_sign_in(keychain, folder, (name, server), None)
        {
            tracing::warn!("the tokens of the server {name} stay in the keychain: {why}");
        }
    }
}

/// A key is for what its server ran when it was kept, and for no other program or address.
fn entry(name: &str, variable: &str, server: &McpServer) -> String {
    let bare = McpServer { tools: BTreeMap::new(), off: false, ..server.clone() };
    let written = serde_json::to_vec(&bare).unwrap_or_default();
    let digest: String = Sha256::digest(written).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("mcp {name} {variable} {digest}")
}

#[cfg(test)]
mod tests;
