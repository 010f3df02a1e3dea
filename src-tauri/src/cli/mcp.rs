//! `miki mcp`: servers of the Model Context Protocol, whose tools the agent may use. What one runs is shown whole before it
//! is run, and each of its tools before it may be used.

mod install;
mod login;
mod serve;
mod show;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::mcp::desk::Role;
use clap::{Args, Subcommand, ValueEnum};
use protocol::command::{FillPrompt, GetOverview, ListServers, SetServerKey, TestServer, UpdateSettings};
use protocol::mcp::{Agreed, AgreedTool, McpServer, ServerState, ServerToolView, ServerView, ToolDoes};
use protocol::settings::SettingsPatch;
use protocol::{ErrorCode, ErrorView};
use serde_json::Map;

use self::show::{fault, show, show_prompt, show_tool, state};
use super::text::{plain, prose};
use super::{do_tool, interrupt, key, tell};
use crate::exit::Exit;
use crate::home::Home;
use crate::link::Link;

/// Connect servers of the Model Context Protocol, whose tools the agent may then use
#[derive(Debug, Args)]
pub struct Mcp {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Connect a server: a program (after --) or an address
    ///
    /// A program runs in the sandbox of commands: it writes into a folder of its own and reaches no network, unless
    /// --read, --host or --unconfined say otherwise. Example: miki mcp add files --read ~/Documents -- mcp-files ~/Documents
    Add(Add),
    /// Take over the servers of another program's configuration, each after a question
    Import {
        /// claude-desktop, vscode, cursor, gemini-cli, or a file
        from: String,
        #[command(flatten)]
        consent: Consent,
    },
    /// Serve the desktop to another program's agent, on the standard streams
    ///
    /// Its calls are asked about, bounded and stopped as those of Miki's own agents are; nothing is started before the
    /// first. Clients start this themselves: see `miki mcp install`.
    Desktop {
        /// Over HTTP instead, at a port of this machine alone (any free one, if none is named), until ctrl-c; prints the
        /// address, and the header that a client must send: it is another one at each start
        #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
        http: Option<u16>,
    },
    /// Serve Miki's agents to another program's agent, on the standard streams
    ///
    /// It gives them goals and is told their reports; what matters they ask their user here, in Miki. All that it started is
    /// stopped when it leaves.
    Agent {
        /// Over HTTP instead, as with `miki mcp desktop`
        #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
        http: Option<u16>,
    },
    /// Write Miki's desktop into a client's configuration, with a copy of the old one beside it
    ///
    /// The difference is shown first. A client may have both the desktop and the agents.
    Install {
        /// claude-desktop, vscode, cursor or gemini-cli
        client: String,
        /// Miki's agents instead, to give goals to: `miki mcp agent`
        #[arg(long)]
        agent: bool,
        #[command(flatten)]
        consent: Consent,
    },
    /// List the servers, without starting any
    List,
    /// Start a server and show what it offers
    Test { name: String },
    /// Print one of a server's prompts, filled in: a text to begin a goal with
    ///
    /// It is the server's words: read it before you make it a goal. Example: miki mcp prompt notes summarise folder=~/Documents
    Prompt {
        name: String,
        /// Its name; all that there are are listed where none is given
        prompt: Option<String>,
        /// What goes into its blanks: NAME=VALUE
        #[arg(value_parser = pair, value_name = "NAME=VALUE")]
        fields: Vec<(String, String)>,
    },
    /// Agree to a server's tools as they are now: all, or these
    Agree {
        name: String,
        /// Their names, as `miki mcp test` shows them; all of them where none is named
        tools: Vec<String>,
        /// What they do at the most; what the server says of it counts for nothing
        #[arg(long, value_enum, default_value_t = Does::Anything)]
        does: Does,
        #[command(flatten)]
        consent: Consent,
    },
    /// Read the value of a variable or a header that a server gets (unseen, or from stdin), and keep it in the keychain
    ///
    /// A header's is sent as it is: for Authorization, most servers want "Bearer" and the key.
    Key { name: String, variable: String },
    /// Sign in at a server at an address, in your browser; the tokens go into the keychain and to that server alone
    Login {
        name: String,
        /// What you have registered Miki as, where it cannot register itself
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// What to ask for beside what it asks for itself: where it says that it wants more
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<String>,
    },
    /// Forget the tokens of a server
    Logout { name: String },
    /// Use it again
    On { name: String },
    /// Keep it, and do not use it
    Off { name: String },
    /// Take it out of the list, with what you agreed to of it
    Remove { name: String },
}

#[derive(Debug, Args)]
struct Add {
    /// What it is called: a-z, 0-9 and -
    name: String,
    /// Where it is, if it is no program
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// A variable for it; a key belongs to --key
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// A variable for it, or with --url a header, whose value is in the keychain: see `miki mcp key`
    #[arg(long, value_name = "NAME")]
    key: Vec<String>,
    /// A host that it may reach
    #[arg(long)]
    host: Vec<String>,
    /// A file or folder that it may read
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// Let it do what you may do yourself
    #[arg(long)]
    unconfined: bool,
    #[command(flatten)]
    consent: Consent,
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "url")]
    command: Vec<String>,
}

#[derive(Debug, Args)]
struct Consent {
    /// Do not ask: you have read what it runs and what its tools say
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Does {
    /// It only looks, and what it is told matters to nobody: never asked about
    Looks,
    /// What it changes can be changed back: a yes for the session covers it
    Edits,
    /// It may send things, or do what cannot be undone: asked each time
    Anything,
}

impl From<Does> for ToolDoes {
    fn from(does: Does) -> Self {
        match does {
            Does::Looks => Self::Looks,
            Does::Edits => Self::Edits,
            Does::Anything => Self::Anything,
        }
    }
}

impl Mcp {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        match self.what {
            What::Desktop { http } => return serve::by(home, Role::Desktop, http).await,
            What::Agent { http } => return serve::by(home, Role::Agent, http).await,
            What::Install { client, agent, consent } => {
                let role = if agent { Role::Agent } else { Role::Desktop };
                return install::install(&client, role, consent.yes).await;
            }
            _ => {}
        }
        let link = Link::open(home).await?;
        let done = work(&link, self.what).await;
        link.leave(&mut interrupt::listen()?).await;
        done
    }
}

async fn work(link: &Link, what: What) -> Result<Exit, ErrorView> {
    match what {
        What::Add(add) => {
            let (name, consent) = (add.name.clone(), add.consent.yes);
            connect(link, &name, add.server()?, consent).await
        }
        What::Import { from, consent } => import(link, &from, consent.yes).await,
        // They need no engine.
        What::Desktop { .. } | What::Agent { .. } | What::Install { .. } => Ok(Exit::Done),
        What::List => {
            let all = link.call(ListServers {}).await?;
            if all.is_empty() {
                tell(&format!("no servers; {CONNECT}"));
            }
            all.iter().for_each(show);
            Ok(Exit::Done)
        }
        What::Test { name } => {
            let view = link.call(TestServer { server: name }).await?;
            show(&view);
            view.tools.iter().for_each(show_tool);
            view.prompts.iter().for_each(show_prompt);
            Ok(exit_of(&view))
        }
        What::Prompt { name, prompt, fields } => {
            let Some(prompt) = prompt else {
                let view = link.call(TestServer { server: name }).await?;
                match (&view.state, view.prompts.is_empty()) {
                    (ServerState::Connected, true) => {
                        tell(&format!("{}: it has no prompts", plain(&view.name)))
                    }
                    (ServerState::Connected, false) => view.prompts.iter().for_each(show_prompt),
                    _ => show(&view),
                }
                return Ok(exit_of(&view));
            };
            let fields = fields.into_iter().collect();
            let text = link.call(FillPrompt { server: name, prompt, fields }).await?;
            tell(&prose(&text));
            Ok(Exit::Done)
        }
        What::Agree { name, tools, does, consent } => {
            let view = link.call(TestServer { server: name.clone() }).await?;
            if !matches!(view.state, ServerState::Connected) {
                show(&view);
                if matches!(view.state, ServerState::Failed { .. }) {
                    tell("  nothing was agreed to: what it offers is not known now");
                }
                return Ok(Exit::Failed);
            }
            agree(link, &view, &tools, does.into(), consent.yes).await
        }
        What::Key { name, variable } => {
            link.check_is_miki()?;
            let value = key::read(&format!("{} for {}", plain(&variable), plain(&name)))?;
            link.call(SetServerKey { server: name.clone(), variable: variable.clone(), value }).await?;
            tell(&format!("{}: {} is kept in the keychain", plain(&name), plain(&variable)));
            Ok(Exit::Done)
        }
        What::Login { name, client_id, scope } => login::login(link, name, client_id, scope).await,
        What::Logout { name } => login::logout(link, name).await,
        What::On { name } => switch(link, &name, false).await,
        What::Off { name } => switch(link, &name, true).await,
        What::Remove { name } => {
            let mut all = servers(link).await?;
            let server = all.remove(&name);
            server.ok_or_else(|| unknown(&name, &all))?;
            store(link, &all).await?;
            tell(&format!("{}: removed", plain(&name)));
            Ok(Exit::Done)
        }
    }
}

impl Add {
    fn server(self) -> Result<McpServer, ErrorView> {
        let whole = |path: PathBuf| {
            let whole =
                std::path::absolute(&path).ok().and_then(|path| path.into_os_string().into_string().ok());
            whole.ok_or_else(|| {
                ErrorView::new(ErrorCode::BadRequest, format!("{} is no text", path.display()))
            })
        };
        let mut words = self.command.into_iter();
        Ok(McpServer {
            command: words.next().unwrap_or_default(),
            args: words.collect(),
            env: self.env.into_iter().collect(),
            keys: self.key.into_iter().collect(),
            url: self.url.unwrap_or_default(),
            unconfined: self.unconfined,
            hosts: self.host,
            reads: self.read.into_iter().map(whole).collect::<Result<_, _>>()?,
            off: false,
            tools: BTreeMap::new(),
        })
    }
}

/// Shows what it runs, asks, keeps it, starts it, shows its tools, asks.
async fn connect(link: &Link, name: &str, server: McpServer, consent: bool) -> Result<Exit, ErrorView> {
    let mut all = servers(link).await?;
    if all.contains_key(name) {
        let message = format!("there is a server {name:?} already");
        return Err(ErrorView::new(ErrorCode::BadRequest, message).with_hint(format!(
            "give the new one another name, or remove the old one: miki mcp remove {name}"
        )));
    }
    McpServer::validate(name, &server)
        .map_err(|why| ErrorView::new(ErrorCode::BadRequest, format!("the server {name:?} {why}")))?;
    tell(&format!("{}\n  {}\n  {}", plain(name), plain(&server.runs()), plain(&may(&server))));
    if !do_tool::wants("connect it? [y]es; anything else is no: ", consent).await {
        tell(&format!("{}: not connected", plain(name)));
        return Ok(Exit::NeedsApproval);
    }
    for variable in &server.keys {
        tell(&format!("  it gets {} from the keychain: miki mcp key {} {0}", plain(variable), plain(name)));
    }
    let (waits_for_key, is_program) = (!server.keys.is_empty(), server.url.is_empty());
    let program = server.command.clone();
    all.insert(name.to_owned(), server);
    store(link, &all).await?;
    if waits_for_key {
        tell(&format!("connected; once its keys are kept: miki mcp agree {}", plain(name)));
        return Ok(Exit::Done);
    }
    let view = link.call(TestServer { server: name.to_owned() }).await?;
    if !matches!(view.state, ServerState::Connected) {
        // What it runs has just been said.
        tell(&format!("{}{}", state(&view), fault(&view)));
        let name = plain(name);
        tell(&format!(
            "  it is kept: try it again with miki mcp test {name}, or remove it with miki mcp remove {name}"
        ));
        if let Some(missing) = is_program.then(|| missing(&program)).flatten() {
            tell(&format!("  {missing}"));
        } else if is_program && !view.unconfined {
            tell(
                "  if it needs more than the sandbox gives it, remove it, and add it with --host, --read or --unconfined",
            );
        }
        return Ok(Exit::Failed);
    }
    agree(link, &view, &[], ToolDoes::Anything, consent).await
}

/// Shows tools that are not agreed to as they are, and asks.
async fn agree(
    link: &Link,
    view: &ServerView,
    which: &[String],
    does: ToolDoes,
    consent: bool,
) -> Result<Exit, ErrorView> {
    let is_meant = |tool: &&ServerToolView| match which {
        [] => tool.agreed != Agreed::Yes { does },
        named => named.contains(&tool.name) || named.contains(&tool.tool),
    };
    let is_there = |name: &&String| view.tools.iter().any(|tool| tool.name == **name || tool.tool == **name);
    if let Some(unknown) = which.iter().find(|name| !is_there(name)) {
        let message = format!("the server {} has no tool {unknown:?}", view.name);
        return Err(ErrorView::new(ErrorCode::NotFound, message)
            .with_hint(format!("see what it has: miki mcp test {}", view.name)));
    }
    let meant: Vec<&ServerToolView> = view.tools.iter().filter(is_meant).collect();
    if meant.is_empty() {
        tell(&match view.tools.len() {
            0 => format!("{}: connected, but it offers no tools", plain(&view.name)),
            1 => format!("{}: its only tool is agreed to", plain(&view.name)),
            all => format!("{}: all of its {all} tools are agreed to", plain(&view.name)),
        });
        return Ok(Exit::Done);
    }
    meant.iter().for_each(|tool| show_tool(tool));
    let how = match does {
        ToolDoes::Looks => "never asked about",
        ToolDoes::Edits => "asked about, or allowed for a session",
        ToolDoes::Anything => "asked about each time",
    };
    let these =
        if meant.len() == 1 { "this tool".to_owned() } else { format!("these {} tools", meant.len()) };
    let question = format!("may the agent use {these} ({how})? [y]es; anything else is no: ");
    if !do_tool::wants(&question, consent).await {
        tell(&format!("{}: nothing was agreed to; later: miki mcp agree {0}", plain(&view.name)));
        return Ok(Exit::NeedsApproval);
    }
    let mut all = servers(link).await?;
    let server = all.get_mut(&view.name);
    let Some(server) = server else { return Err(unknown(&view.name, &BTreeMap::new())) };
    for tool in &meant {
        server.tools.insert(tool.name.clone(), AgreedTool { hash: tool.hash.clone(), does });
    }
    store(link, &all).await?;
    tell(&format!("{}: the agent may use {these} ({how})", plain(&view.name)));
    Ok(Exit::Done)
}

async fn import(link: &Link, from: &str, consent: bool) -> Result<Exit, ErrorView> {
    let file = match ::mcp::import::file_of(from) {
        Some(known) => known,
        None => PathBuf::from(from),
    };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        ErrorView::new(ErrorCode::NotFound, format!("{} cannot be read: {error}", file.display()))
            .with_hint("name claude-desktop, vscode, cursor, gemini-cli, or a file")
    })?;
    let found = ::mcp::import::read(&text)
        .map_err(|why| ErrorView::new(ErrorCode::BadRequest, format!("{}: {why}", file.display())))?;
    if found.is_empty() {
        tell(&format!("{} has no servers", plain(&file.display().to_string())));
    }
    let mut exit = Exit::Done;
    for one in found {
        one.notes.iter().for_each(|note| tell(&format!("{}: {}", plain(&one.name), plain(note))));
        let name = one.name.clone();
        match connect(link, &name, one.server, consent).await {
            Ok(Exit::Done) => {}
            Ok(other) => exit = other,
            Err(error) => {
                super::say_error(&error);
                exit = Exit::Failed;
                continue;
            }
        }
        if !one.keys.is_empty() && servers(link).await?.contains_key(&name) {
            for (variable, value) in one.keys {
                let kept =
                    link.call(SetServerKey { server: name.clone(), variable: variable.clone(), value });
                match kept.await {
                    Ok(()) => {
                        tell(&format!("{}: {} is kept in the keychain", plain(&name), plain(&variable)))
                    }
                    // The others are taken over all the same.
                    Err(error) => {
                        super::say_error(&error);
                        exit = Exit::Failed;
                    }
                }
            }
            tell(&format!("{}: its keys are kept; now agree to its tools: miki mcp agree {0}", plain(&name)));
        }
    }
    Ok(exit)
}

async fn switch(link: &Link, name: &str, off: bool) -> Result<Exit, ErrorView> {
    let mut all = servers(link).await?;
    match all.get_mut(name) {
        Some(server) => server.off = off,
        None => return Err(unknown(name, &all)),
    }
    store(link, &all).await?;
    tell(&format!("{}: {}", plain(name), if off { "off" } else { "on" }));
    Ok(Exit::Done)
}

async fn servers(link: &Link) -> Result<BTreeMap<String, McpServer>, ErrorView> {
    Ok(link.call(GetOverview {}).await?.settings.mcp_servers)
}

async fn store(link: &Link, all: &BTreeMap<String, McpServer>) -> Result<(), ErrorView> {
    let value = serde_json::to_value(all).map_err(|error| {
        ErrorView::new(ErrorCode::Internal, format!("the servers cannot be written: {error}"))
    })?;
    let patch = SettingsPatch(Map::from_iter([("mcpServers".to_owned(), value)]));
    link.call(UpdateSettings { patch }).await.map(drop)
}

/// How a first one comes in.
const CONNECT: &str =
    "connect one with: miki mcp add NAME -- PROGRAM ARGUMENTS, or miki mcp add NAME --url URL";

fn unknown(name: &str, all: &BTreeMap<String, McpServer>) -> ErrorView {
    let names = all.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let hint = if names.is_empty() {
        format!("there is none yet; {CONNECT}")
    } else {
        format!("there are: {names}")
    };
    ErrorView::new(ErrorCode::NotFound, format!("there is no server {name:?}")).with_hint(hint)
}

/// What a server may do, for whoever is asked about it.
fn may(server: &McpServer) -> String {
    if server.command.is_empty() {
        return "what its tools are told goes to that address".into();
    }
    if server.unconfined {
        return "NOT in the sandbox: it may do whatever you may do yourself".into();
    }
    let reads = match server.reads.as_slice() {
        [] => "reads nothing of yours".to_owned(),
        reads => format!("reads {}", reads.join(", ")),
    };
    let reaches = match server.hosts.as_slice() {
        [] => "reaches no network".to_owned(),
        hosts => format!("reaches {}", hosts.join(", ")),
    };
    format!("in the sandbox: writes into a folder of its own, {reads}, {reaches}")
}

/// What is to be done where there is no such program; `None` if there is one.
fn missing(program: &str) -> Option<String> {
    let named = std::path::Path::new(program);
    let shown = plain(program);
    if named.components().count() > 1 {
        let hint =
            || format!("there is no {shown}: remove it, and add it with the path that the program has");
        return (!named.exists()).then(hint);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| {
        let suffixes: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
        suffixes.iter().any(|suffix| folder.join(format!("{program}{suffix}")).is_file())
    });
    let hint = || {
        format!(
            "no program is called {shown} where programs are looked for (PATH): install it, or remove the server and add \
             it with the program's whole path"
        )
    };
    (!is_there).then(hint)
}

fn exit_of(view: &ServerView) -> Exit {
    match view.state {
        ServerState::Connected | ServerState::Off => Exit::Done,
        ServerState::Idle | ServerState::Failed { .. } => Exit::Failed,
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_a_program_that_is_not_there_is_told_what_to_do() {
        assert!(missing("no-such-program-here").unwrap().contains("install it"));
        assert!(missing("/no/such/program").unwrap().contains("there is no /no/such/program"));
        let ours = std::env::current_exe().unwrap();
        assert_eq!(missing(ours.to_str().unwrap()), None);
        if cfg!(unix) {
            assert_eq!(missing("sh"), None);
        }
    }

    #[test]
    fn who_names_an_unknown_server_is_told_which_there_are() {
        let hint = |all: &[&str]| {
            let all = all.iter().map(|name| ((*name).to_owned(), McpServer::default())).collect();
            unknown("nope", &all).hint.unwrap()
        };
        assert_eq!(hint(&["files", "pond"]), "there are: files, pond");
        assert!(hint(&[]).contains("miki mcp add NAME -- PROGRAM"));
    }
}
