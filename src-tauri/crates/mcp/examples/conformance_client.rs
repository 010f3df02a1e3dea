//! Our client, for the protocol's own conformance suite: connects to the server at the address in its last argument, signs its
//! user in where that is wanted, agrees to all of its tools, and calls each once by the way that an agent's calls go.
//!
//! `cargo test -p outside --test e2e conformance` has the suite start it. It knows no scenario, and does what a user can do:
//! what the suite looks for is what users get.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use desktop::fake::FakeDesktop;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, Servers, Started, Tokens};
use protocol::command::Secret;
use protocol::elicitation::Elicitation;
use protocol::ids::CallId;
use protocol::mcp::{AgreedTool, McpServer, ServerState, ToolDoes};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode, ToolCall};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Asker, Call, ExecRequest, Grants, Limits, Planning, Ports, Registry, Router};

const NAME: &str = "suite";
/// What the suite hands over for a scenario: among it, how the user has registered Miki.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// What is kept is kept here; what has an address is not started.
#[derive(Default)]
struct Chain(Mutex<Option<Secret>>);

impl Chain {
    fn kept(&self) -> MutexGuard<'_, Option<Secret>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Launch for Chain {
    fn launch<'a>(&'a self, _: &'a str, _: &'a McpServer) -> BoxFuture<'a, Result<Started, String>> {
        async { Err("no program is started here".into()) }.boxed()
    }

    fn headers<'a>(
        &'a self,
        _: &'a str,
        _: &'a McpServer,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, String>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn sign_in<'a>(&'a self, _: &'a str, _: &'a McpServer) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        async { Ok(self.kept().clone()) }.boxed()
    }

    fn keep_sign_in<'a>(
        &'a self,
        _: &'a str,
        _: &'a McpServer,
        tokens: Tokens<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        *self.kept() = match tokens {
            Tokens::New(new) | Tokens::Renewed { to: new, .. } => Some(new.clone()),
            Tokens::Gone => None,
        };
        async { Ok(()) }.boxed()
    }
}

/// Takes what a server proposes.
struct User;

#[async_trait]
impl Asker for User {
    async fn ask(&self, wanted: Elicitation) -> Option<String> {
        println!("asked: {wanted}");
        Some(".".into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("the server's address is the last argument")?;
    let folder = tempfile::tempdir()?;
    let registry = Arc::new(Registry::builtin());
    let chain = Arc::<Chain>::default();
    let servers = Servers::new(Arc::clone(&registry), chain, folder.path().to_path_buf());
    let mut settings = BTreeMap::from([(NAME.to_owned(), McpServer { url, ..McpServer::default() })]);
    servers.set(&settings);
    let mut view = servers.test(NAME).await?;
    if matches!(&view.state, ServerState::Failed { why, .. } if wants_sign_in(why)) {
        sign_in(&servers).await?;
        view = servers.test(NAME).await?;
    }
    if view.state != ServerState::Connected {
        return Err(format!("not connected: {:?}", view.state).into());
    }
    println!("connected to {}: {} tools", view.called, view.tools.len());
    let agreed = view.tools.iter().map(|tool| {
        let agreed = AgreedTool { hash: tool.hash.clone(), does: ToolDoes::Edits };
        (tool.name.clone(), agreed)
    });
    if let Some(server) = settings.get_mut(NAME) {
        server.tools = agreed.collect();
    }
    servers.set(&settings);

    let router = Router::new(registry, FakeDesktop::new());
    for tool in &view.tools {
        let schema: Value = serde_json::from_str(&tool.schema)?;
        let call = ToolCall { id: CallId("c".into()), tool: tool.tool.clone(), arguments: filled(&schema) };
        let mut done = router.execute(asked(call.clone())).await.result;
        if done.error.as_ref().is_some_and(|error| wants_sign_in(&error.message)) {
            sign_in(&servers).await?;
            done = router.execute(asked(call)).await.result;
        }
        println!("{}: {:?}, {} {:?}", tool.name, done.effect, done.data, done.error);
        if let Some(error) = done.error {
            return Err(format!("{}: {}", tool.name, error.message).into());
        }
    }
    Ok(())
}

fn wants_sign_in(why: &str) -> bool {
    why.contains("miki mcp login")
}

/// As `miki mcp login` does it; the suite's place to sign in at says yes to whoever comes.
async fn sign_in(servers: &Servers) -> Result<(), Box<dyn Error>> {
    let context: Value =
        std::env::var(CONTEXT).map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;
    let open = servers.begin_sign_in(NAME, context["client_id"].as_str(), &[]).await?;
    let browser = async { reqwest::get(open).await.and_then(reqwest::Response::error_for_status) };
    let (done, came_back) = tokio::join!(servers.finish_sign_in(NAME), browser);
    done?;
    came_back?;
    println!("signed in");
    Ok(())
}

/// What a schema asks for: a number for each number, and so on.
fn filled(schema: &Value) -> Value {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let filled = fields.map(|(name, field)| {
        let value = match field.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => json!(7),
            Some("boolean") => json!(true),
            _ => json!("a pond"),
        };
        (name.clone(), value)
    });
    Value::Object(filled.collect())
}

fn asked(call: ToolCall) -> Call {
    let request = ExecRequest {
        call,
        mode: Mode::Act,
        approval: ApprovalMode::Auto,
        grants: Grants::default(),
        has_read: false,
        approved: None,
        planning: Planning::Off,
        waived: Vec::new(),
        fence: Default::default(),
        ports: Ports { asker: Some(Arc::new(User)), ..Ports::default() },
    };
    let limits = Arc::new(Limits::from(&Settings::default()));
    Call { request, cancel: CancellationToken::new(), limits }
}
