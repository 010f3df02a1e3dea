//! A call that its server does beside (tasks, SEP-2663): it is asked how far it is until it has ended, and told to give it up
//! where nobody waits any more.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{
    CallToolResult, CancelTaskParams, CancelTaskRequest, ClientRequest, GetTaskParams, GetTaskRequest,
    InputRequests, InputResponses, ServerResult, Task, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::Value;

use crate::connection::{CallError, LONGEST};
use crate::resources::Ask;

/// Between two questions, whatever the server wishes for.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(5);
const USUAL: Duration = Duration::from_secs(1);
/// Times that it may want something of its user.
const ROUNDS: usize = 10;

/// Asks the user for what a server wants to know.
pub type Input<'a> =
    dyn Fn(InputRequests) -> BoxFuture<'a, Result<InputResponses, CallError>> + Send + Sync + 'a;

/// What came of it. `tell` has what its server says of how far it is.
///
/// # Errors
/// Those of `ask` and `input`; it failed, was given up by its server, or did not end.
pub async fn follow(
    begun: Task,
    peer: &Peer<RoleClient>,
    ask: &Ask<'_>,
    input: &Input<'_>,
    tell: &(dyn Fn(&str) + Send + Sync),
) -> Result<CallToolResult, CallError> {
    let mut unwanted = Unwanted { task: Some(begun.task_id.clone()), peer: peer.clone() };
    let ended = until_ended(&begun, ask, input, tell).await;
    // Where it is not known how it ended it may be at work still.
    let has_ended = matches!(ended, Ok(_) | Err(CallError::Erred(_)));
    if has_ended {
        unwanted.task = None;
    }
    ended
}

async fn until_ended(
    begun: &Task,
    ask: &Ask<'_>,
    input: &Input<'_>,
    tell: &(dyn Fn(&str) + Send + Sync),
) -> Result<CallToolResult, CallError> {
    let mut answered = BTreeSet::new();
    let (mut rounds, mut waited) = (0, Duration::ZERO);
    let mut pause = pause(begun);
    while waited < LONGEST {
        tokio::time::sleep(pause).await;
        waited += pause;
        let request = GetTaskRequest::new(GetTaskParams::new(&*begun.task_id));
        let ServerResult::GetTaskResult(now) = ask(ClientRequest::GetTaskRequest(request)).await? else {
            return Err(CallError::NoResult);
        };
        let task = now.task.task;
        tell(task.status_message.as_deref().unwrap_or_default());
        pause = self::pause(&task);
        match now.task.payload {
            TaskPayload::Working => {}
            TaskPayload::InputRequired { input_requests } => {
                // What was answered may stand there until it has been taken up.
                let is_new = |(name, _): &(String, _)| !answered.contains(name);
                let wanted: InputRequests = input_requests.into_iter().filter(is_new).collect();
                if wanted.is_empty() {
                    continue;
                }
                rounds += 1;
                if rounds > ROUNDS {
                    break;
                }
                answered.extend(wanted.keys().cloned());
                let responses = input(wanted).await?;
                let request = UpdateTaskRequest::new(UpdateTaskParams::new(&*begun.task_id, responses));
                ask(ClientRequest::UpdateTaskRequest(request)).await?;
            }
            TaskPayload::Completed { result } => {
                return serde_json::from_value(Value::Object(result)).map_err(|_| CallError::NoResult);
            }
            TaskPayload::Failed { error } => {
                let said = error.get("message").and_then(Value::as_str).unwrap_or("it did not say why");
                return Err(CallError::Erred(said.to_owned()));
            }
            TaskPayload::Cancelled => return Err(CallError::Erred("it gave this up by itself".into())),
            _ => return Err(CallError::NoResult),
        }
    }
    Err(CallError::Silent { seconds: waited.as_secs_f64() })
}

fn pause(task: &Task) -> Duration {
    task.poll_interval_ms.map_or(USUAL, Duration::from_millis).clamp(SOONEST, LATEST)
}

/// Tells a server that nobody waits for a task any more.
struct Unwanted {
    task: Option<String>,
    peer: Peer<RoleClient>,
}

impl Drop for Unwanted {
    fn drop(&mut self) {
        let (Some(task), Ok(runtime)) = (self.task.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let request = CancelTaskRequest::new(CancelTaskParams::new(task));
            let _ = peer.send_request(ClientRequest::CancelTaskRequest(request)).await;
        });
    }
}
