//! How servers that are programs are started, and what is kept for them: made at the composition root, as for commands.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, Started};
use protocol::command::Secret;
use protocol::mcp::McpServer;
use protocol::{ErrorCode, ErrorView};
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
            let kept = self.keychain.get(&entry(name, variable)).map_err(|error| error.to_string())?;
            let missing = || format!("no value of {variable} is kept for it: miki mcp key {name} {variable}");
            all.push((variable.clone(), kept.ok_or_else(missing)?.0));
        }
        Ok(all)
    }

    async fn start(&self, name: &str, server: &McpServer) -> Result<Program, String> {
        let environment = {
            let (keychain, folder) = (Arc::clone(&self.keychain), self.folder.clone());
            let this = Self { folder, workplaces: Arc::clone(&self.workplaces), keychain };
            let (name, server) = (name.to_owned(), server.clone());
            tokio::task::spawn_blocking(move || this.environment(&name, &server))
        };
        let environment = environment.await.map_err(|panic| panic.to_string())??;
        let mut spec = ProgramSpec {
            program: server.command.clone().into(),
            arguments: server.args.iter().map(Into::into).collect(),
            environment: environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        };
        if server.unconfined {
            spec.environment = desktop::environment::for_children().chain(spec.environment).collect();
            let started = tokio::task::spawn_blocking(move || Program::unconfined(&spec)).await;
            return started
                .map_err(|panic| panic.to_string())?
                .map_err(|error| format!("{} cannot be started: {error}", server.command));
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
        started.await.map_err(|panic| panic.to_string())?
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
            let Program { stdin, stdout, stderr, ends } = self.start(name, server).await?;
            let failed = |error: std::io::Error| format!("its streams cannot be used: {error}");
            Ok(Started {
                stdin: ChildStdin::from_std(stdin).map_err(failed)?,
                stdout: ChildStdout::from_std(stdout).map_err(failed)?,
                stderr: ChildStderr::from_std(stderr).map_err(failed)?,
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
pub fn keep(keychain: &dyn KeyStore, server: &str, variable: &str, value: &Secret) -> Result<(), ErrorView> {
    keychain.set(&entry(server, variable), value).map_err(|error| {
        ErrorView::new(ErrorCode::Keychain, error.to_string())
            .with_hint("unlock or start the system's keychain, then try again")
    })
}

fn entry(server: &str, variable: &str) -> String {
    format!("mcp {server} {variable}")
}
