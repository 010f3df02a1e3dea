//! What an agent of ours asks the client that it works for: the client's user is asked, where the client can do that
//! (elicitation), else its model. Either way it is the answer of another agent, never of Miki's user.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, InputRequest, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::agents::{ANSWER_CHARS, Came, GoalGiver, PATIENCE};
use super::{Relay, result};
use crate::elicitation::{as_quoted, secret_in};

/// The name of the one question of an answer that waits for its user's.
const QUESTION: &str = "question";
/// A form that has just come up is not taken away at once: together with [`PATIENCE`] below the 60 s of many clients.
const FORM: Duration = Duration::from_secs(5);

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
    let giver = GoalGiver { relay: Arc::clone(relay), name: client, until: Instant::now() + PATIENCE };
    let mut can_ask = can_ask(context);
    let mut came = match request.request_state {
        // The call goes on that was answered with a question.
        Some(state) => {
            let asking = serde_json::from_str(&state).map_err(|_| "requestState is not what was given")?;
            let said = request.input_responses.unwrap_or_default().remove(QUESTION);
            let said = said.and_then(|said| serde_json::from_value(said).ok()).and_then(answer_in);
            can_ask &= said.is_some();
            giver.answered(asking, said.as_deref()).await?
        }
        None => {
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            giver.call(&request.name, arguments).await?
        }
    };
    loop {
        let Came { answer, asks } = came;
        let asks = asks.filter(|asks| can_ask && secret_in(&asks.question).is_none());
        let (mut asking, wanted) = match asks.map(|asking| (wanted(&asking.question), asking)) {
            Some((Some(wanted), asking)) => (asking, wanted),
            // Its model answers what its user is not asked.
            Some((None, mut asking)) => {
                asking.keep();
                return Ok(result(answer).into());
            }
            None => return Ok(result(answer).into()),
        };
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            let state = serde_json::to_string(&asking).map_err(|error| error.to_string())?;
            asking.keep();
            let requests = [(QUESTION.to_owned(), InputRequest::Elicitation(ElicitRequest::new(wanted)))];
            return Ok(InputRequiredResult::new(Some(requests.into()), Some(state)).into());
        }
        let (peer, request) =
            (context.peer.clone(), ServerRequest::ElicitRequest(ElicitRequest::new(wanted)));
        let mut form = tokio::spawn(async move { peer.send_request(request).await });
        match timeout_at(giver.until + FORM, &mut form).await {
            Ok(Ok(Ok(ClientResult::ElicitResult(said)))) => {
                let said = answer_in(said);
                can_ask = said.is_some();
                came = giver.answered(asking, said.as_deref()).await?;
            }
            // It cannot ask after all.
            Ok(_) => {
                asking.keep();
                return Ok(result(answer).into());
            }
            // The form stays: what it brings is for this question, and for no later one.
            Err(_) => {
                asking.keep();
                tokio::spawn(async move {
                    if let Ok(Ok(ClientResult::ElicitResult(said))) = form.await {
                        giver.answered_late(asking, answer_in(said).as_deref()).await;
                    }
                });
                return Ok(result(answer).into());
            }
        }
    }
}

/// Whether the client asks its user by a form.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicits = context.client_capabilities().and_then(|can| can.elicitation);
    // One that names no way has the first one that there was.
    elicits.is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none())
}

fn wanted(question: &str) -> Option<ElicitRequestParams> {
    let answer = json!({ "type": "string", "title": "Answer", "minLength": 1, "maxLength": ANSWER_CHARS });
    let form = json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] });
    let message = format!("An agent of Miki's that works for you asks: “{}”", as_quoted(question));
    serde_json::from_value(json!({ "mode": "form", "message": message, "requestedSchema": form })).ok()
}

/// `None` if its user gave none.
fn answer_in(said: ElicitResult) -> Option<String> {
    let content = said.content.filter(|_| said.action == ElicitationAction::Accept)?;
    content.get("answer").and_then(Value::as_str).map(str::to_owned)
}
