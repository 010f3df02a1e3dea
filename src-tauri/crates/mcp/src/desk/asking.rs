//! What an agent of ours asks the client that it works for: the client's user is asked, where the client can do that
//! (elicitation), else its model. Either way it is the answer of another agent, never of Miki's user.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, InputRequest, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::agents::{Asking, Came, GoalGiver};
use super::{Relay, result};

/// The name of the one question of an answer that waits for its user's.
const QUESTION: &str = "question";

/// Carries a call for goals, and what is asked in the middle of it.
///
/// # Errors
/// Why there is no answer, for the client's model.
pub async fn call(
    relay: &Arc<dyn Relay>,
    client: String,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, String> {
    let giver = GoalGiver { relay: Arc::clone(relay), name: client, can_ask: can_ask(context) };
    let mut came = match request.request_state {
        // The call goes on that was answered with a question.
        Some(state) => {
            let asking = serde_json::from_str(&state).map_err(|_| "requestState is not what was given")?;
            let said = request.input_responses.unwrap_or_default().remove(QUESTION);
            let said = said.and_then(|said| serde_json::from_value(said).ok()).and_then(answer_in);
            giver.answered(asking, said).await?
        }
        None => {
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            giver.call(&request.name, arguments).await?
        }
    };
    loop {
        let asking = match came {
            Came::Answer(answer) => return Ok(result(answer).into()),
            Came::Asks(asking) => asking,
        };
        let wanted = wanted(&asking).ok_or("what an agent asks cannot be put as a question")?;
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            let state = serde_json::to_string(&asking).map_err(|error| error.to_string())?;
            asking.keep();
            let requests = [(QUESTION.to_owned(), InputRequest::Elicitation(ElicitRequest::new(wanted)))];
            return Ok(InputRequiredResult::new(Some(requests.into()), Some(state)).into());
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(wanted));
        let said = match context.peer.send_request(request).await {
            Ok(ClientResult::ElicitResult(said)) => answer_in(said),
            _ => None,
        };
        came = giver.answered(*asking, said).await?;
    }
}

/// Whether the client asks its user by a form.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicits = context.client_capabilities().and_then(|can| can.elicitation);
    // One that names no way has the first one that there was.
    elicits.is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none())
}

fn wanted(asking: &Asking) -> Option<ElicitRequestParams> {
    let answer = json!({ "type": "string", "title": "Answer", "minLength": 1 });
    let form = json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] });
    let message = format!("An agent of Miki's that works for you asks: {}", asking.question);
    serde_json::from_value(json!({ "mode": "form", "message": message, "requestedSchema": form })).ok()
}

/// `None` if its user gave none.
fn answer_in(said: ElicitResult) -> Option<String> {
    let content = said.content.filter(|_| said.action == ElicitationAction::Accept)?;
    content.get("answer").and_then(Value::as_str).map(str::to_owned)
}
