//! A server's tool as one of ours.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::mcp::ToolDoes;
use protocol::tool::{Effect, ToolError, ToolErrorKind};
use serde_json::{Map, Value, json};
use tools::{Context, Env, Outcome, Plan, Spec, Task, Tool};

use crate::calls::User;
use crate::connection::{CallError, START};
use crate::definition::Definition;
use crate::outcome;
use crate::servers::Server;

/// A call has bounds of its own, [`START`] and the timeout; with this it is not cut off while it waits for its user's answer,
/// which lapses by itself.
const ASKED: Duration = Duration::from_secs(24 * 60 * 60);
/// Starts of its server within one call.
const TRIES: usize = 2;

pub struct RemoteTool {
    spec: Spec,
    does: ToolDoes,
    call: Arc<Remote>,
}

struct Remote {
    server: Arc<Server>,
    /// Its server's name for it.
    raw: String,
    hash: String,
}

impl RemoteTool {
    pub fn new(server: Arc<Server>, definition: &Definition, does: ToolDoes) -> Self {
        let spec = definition.spec(server.name(), does);
        let hash = spec.hash();
        Self { spec, does, call: Arc::new(Remote { server, raw: definition.raw.clone(), hash }) }
    }

    /// Whether it would be the same as another.
    pub fn is(&self, other: &Spec) -> bool {
        self.spec == *other
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn plan(&self, arguments: Value, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Value::Object(arguments) = arguments else {
            let message = "the arguments must be one JSON object".into();
            return Err(ToolError { kind: ToolErrorKind::BadArguments, message });
        };
        let task = Call {
            remote: Arc::clone(&self.call),
            name: Arc::clone(&self.spec.name),
            does: self.does,
            arguments,
        };
        let leaves = self.does == ToolDoes::Anything;
        let plan = Plan::new(self.spec.risk, task).taking(START.saturating_add(ASKED));
        Ok(plan.on_server(self.call.server.name().into(), leaves))
    }
}

struct Call {
    remote: Arc<Remote>,
    name: Arc<str>,
    does: ToolDoes,
    arguments: Map<String, Value>,
}

impl Call {
    fn failed(&self, effect: Effect, kind: ToolErrorKind, why: &str) -> Outcome {
        let message = format!("the server {}: {why}", self.remote.server.name());
        let mut outcome = Outcome::failed(&self.name, effect, ToolError { kind, message });
        // It may have its server's own words in it: with data it counts as read.
        outcome.data = json!({ "server": self.remote.server.name() });
        outcome
    }
}

#[async_trait]
impl Task for Call {
    async fn run(&self, cx: &Context) -> Outcome {
        let Remote { server, raw, hash } = &*self.remote;
        let user = User { asker: cx.asker(), progress: cx.progress(), ..User::default() };
        let asked = async {
            // It may be started anew between the question what it offers and the call.
            for _ in 0..TRIES {
                server.still_offers(raw, hash, self.does).await.map_err(CallError::NotBegun)?;
                let within = cx.limits().timeout;
                match server
                    .connection()
                    .call(raw, self.arguments.clone(), within, user.clone(), || cx.begin())
                    .await
                {
                    Err(CallError::NotListed) => {}
                    answer => return answer,
                }
            }
            Err(CallError::NotListed)
        };
        let answer = tokio::select! {
            answer = asked => answer,
            () = cx.cancel().cancelled() => {
                return self.failed(Effect::Unknown, ToolErrorKind::Cancelled, "stopped");
            }
        };
        let result = match answer {
            Ok(result) => result,
            Err(error) => {
                let (effect, kind) = match error {
                    CallError::NotBegun(_) | CallError::NotListed => {
                        (Effect::Refused, ToolErrorKind::NotAvailable)
                    }
                    CallError::Erred(_) => (Effect::Unknown, ToolErrorKind::BadArguments),
                    CallError::Silent { .. } => (Effect::Unknown, ToolErrorKind::Timeout),
                    CallError::Ended(_) | CallError::NoResult => (Effect::Unknown, ToolErrorKind::Network),
                };
                return self.failed(effect, kind, &error.to_string());
            }
        };
        let (named, tool, does) = (server.name().to_owned(), self.name.to_string(), self.does);
        let result = server.connection().without_keys(result);
        let limits = cx.limits().clone();
        let not_asked = user.not_asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        let read = tokio::task::spawn_blocking(move || {
            let mut outcome = outcome::of(&named, &tool, does, result, &limits);
            if let Some(why) = not_asked {
                outcome.summary =
                    format!("{} (Miki did not ask you what it wanted to know: {why})", outcome.summary);
                outcome.data["userWasNotAsked"] = why.into();
            }
            outcome
        });
        read.await.unwrap_or_else(|panic| {
            self.failed(
                Effect::Unknown,
                ToolErrorKind::Failed,
                &format!("its answer cannot be read: {panic}"),
            )
        })
    }
}
