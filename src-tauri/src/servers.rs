//! How servers that are programs are started, and what is kept for them: made at the composition root, as for commands.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, Started};
use protocol::command::Secret;
use protocol::mcp::McpServer;
use protocol::{ErrorCode, ErrorView};
use sha2::{Digest as _, Sha256};
use space::terminal::{Limits, Network, Program, ProgramSpec, ProxyAt, Setup, Terminal};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::keys::KeyStore;
use crate::workplaces::Workplaces;

/// Seconds of processor time of a server: it may work for days.
const CPU: u64 = 7 * 24 * 60 * 60;

pub struct Launcher {
    /// Each confined server has a folder of its own in it.
    folder: PathBuf,
    workplaces: Arc<Workplaces>,
    keychain: Arc<dyn KeyStore>,
}

impl Launcher {
    pub fn new(folder: PathBuf, workplaces: Arc<Workplaces>, keychain: Arc<dyn KeyStore>) -> Self {
        Self { folder, workplaces, keychain }
    }

    /// What only its program gets. Blocking.
    fn environment(&self, name: &str, server: &McpServer) -> Result<Vec<(String, String)>, String> {
        let mut all: Vec<_> = server.env.clone().into_iter().collect();
        for variable in &server.keys {
            let kept =
                self.keychain.get(&entry(name, variable, server)).map_err(|error| error.to_string())?;
            let missing = || format!("no value of {variable} is kept for it: miki mcp key {name} {variable}");
            all.push((variable.clone(), kept.ok_or_else(missing)?.0));
        }
        Ok(all)
    }

    /// The program, and the values of its keys.
    async fn start(&self, name: &str, server: &McpServer) -> Result<(Program, Vec<Secret>), String> {
        let environment = {
            let (keychain, folder) = (Arc::clone(&self.keychain), self.folder.clone());
            let this = Self { folder, workplaces: Arc::clone(&self.workplaces), keychain };
            let (name, server) = (name.to_owned(), server.clone());
            tokio::task::spawn_blocking(move || this.environment(&name, &server))
        };
        let environment = environment.await.map_err(|panic| panic.to_string())??;
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
}

/// Keeps the value of a variable of a server. Blocking.
///
/// # Errors
/// [`ErrorCode::Keychain`].
pub fn keep(
    keychain: &dyn KeyStore,
    (name, server): (&str, &McpServer),
    variable: &str,
    value: &Secret,
) -> Result<(), ErrorView> {
    keychain.set(&entry(name, variable, server), value).map_err(|error| {
        ErrorView::new(ErrorCode::Keychain, error.to_string())
            .with_hint("unlock or start the system's keychain, then try again")
    })
}

/// Forgets the keys of servers that are gone, or run otherwise now. Blocking.
pub fn forget(keychain: &dyn KeyStore, old: &BTreeMap<String, McpServer>, new: &BTreeMap<String, McpServer>) {
    let is_same = |name: &String, server: &McpServer| new.get(name).is_some_and(|new| new.runs_as(server));
    for (name, server) in old.iter().filter(|(name, server)| !is_same(name, server)) {
        for variable in &server.keys {
            if let Err(error) = keychain.delete(&entry(name, variable, server)) {
                tracing::warn!("{variable} of the server {name} stays in the keychain: {error}");
            }
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
mod tests {
    use super::*;
    use crate::keys::fake::FakeStore;

    #[test]
    fn a_key_is_for_what_its_server_ran_when_it_was_kept_and_goes_with_it() {
        let keys = ["TOKEN".to_owned()].into();
        let server = McpServer { command: "pond".into(), keys, ..McpServer::default() };
        let (store, value) = (FakeStore::default(), Secret("canary".into()));
        keep(&store, ("pond", &server), "TOKEN", &value).unwrap();
        let kept = |server: &McpServer| store.get(&entry("pond", "TOKEN", server)).unwrap();
        assert_eq!(kept(&server), Some(value));
        let agreed = McpServer { off: true, ..server.clone() };
        assert!(kept(&agreed).is_some());
        for other in [
            McpServer { command: "evil".into(), ..server.clone() },
            McpServer { unconfined: true, ..server.clone() },
            McpServer { hosts: vec!["evil.example".into()], ..server.clone() },
        ] {
            assert_eq!(kept(&other), None, "{other:?}");
        }
        let old = BTreeMap::from([("pond".to_owned(), server.clone())]);
        forget(&store, &old, &BTreeMap::from([("pond".to_owned(), agreed)]));
        assert!(kept(&server).is_some());
        forget(&store, &old, &BTreeMap::new());
        assert!(store.kept.lock().unwrap().is_empty());
    }
}
