//! What is served of agents beside their tools as a run has them: a goal to its end in one call, and a look at all of them.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use protocol::command::GuestAnswer;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Relay;

/// Minutes that one look waits for an agent's end: a turn of the client's run.
const LOOK: u32 = 10;

pub fn tools() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    let of_goal = json!({
        "type": "object",
        "properties": { "goal": text, "context": text },
        "required": ["goal"],
        "additionalProperties": false,
    });
    let of_none = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let run = "Gives an agent a goal, and answers with its report once it has ended. `context` is what it must know beside.";
    let status = "How each agent that you started stands, with the report of those that have ended. Waits for nothing.";
    let tool = |name: &'static str, about: &'static str, schema: Value| {
        Tool::new(name, about, schema.as_object().cloned().unwrap_or_default())
    };
    vec![
        tool("run", run, of_goal).with_annotations(ToolAnnotations::new().read_only(false).open_world(true)),
        tool("status", status, of_none).with_annotations(ToolAnnotations::new().read_only(true)),
    ]
}

/// Carries a call: as it is, or as those that it stands for.
pub fn call<'a>(
    relay: &'a dyn Relay,
    client: &'a str,
    tool: &'a str,
    arguments: Value,
) -> BoxFuture<'a, Result<GuestAnswer, String>> {
    match tool {
        "run" => run(relay, client, arguments).boxed(),
        "status" => relay.call(client, "waitFor", json!({ "minutes": 0 })),
        _ => relay.call(client, tool, arguments),
    }
}

async fn run(relay: &dyn Relay, client: &str, arguments: Value) -> Result<GuestAnswer, String> {
    let started = relay.call(client, "spawn", arguments).await?;
    let agent = started.answer.pointer("/data/agent").and_then(Value::as_str).map(str::to_owned);
    // Why it was not started.
    let Some(agent) = agent else { return Ok(started) };
    let mut said = started.said;
    loop {
        let look = json!({ "agents": [agent], "minutes": LOOK });
        let mut answer = relay.call(client, "waitFor", look).await?;
        said.append(&mut answer.said);
        let stage = answer.answer.pointer("/data/agents/0/state").and_then(Value::as_str);
        if !matches!(stage, Some("works" | "asks its user")) {
            return Ok(GuestAnswer { said, ..answer });
        }
    }
}
