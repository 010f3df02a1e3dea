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
use tokio::time::Instant;

use crate::calls::UnderWay;
use crate::client::Heard;
use crate::connection::{CallError, ROUNDS, no_end};
use crate::resources::Ask;

/// Between two questions, whatever the server wishes for.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(5);
const USUAL: Duration = Duration::from_secs(1);
/// Longest wait for the word that it is given up.
const HEARD: Duration = Duration::from_secs(10);

/// Asks the user for what a server wants to know.
pub type Input<'a> =
    dyn Fn(InputRequests) -> BoxFuture<'a, Result<InputResponses, CallError>> + Send + Sync + 'a;

/// What came of it.
///
/// # Errors
/// Those of `ask` and `input`; it failed, was given up by its server, or did not end.
pub async fn follow(
    begun: Task,
    peer: &Peer<RoleClient>,
    (call, heard): (&UnderWay, &Heard),
    ask: &Ask<'_>,
    input: &Input<'_>,
) -> Result<CallToolResult, CallError> {
    let mut unwanted = Unwanted { task: Some(begun.task_id.clone()), peer: peer.clone() };
    until_ended(begun, &mut unwanted.task, (call, heard), ask, input).await
}

/// `at_work` is emptied where its server says that it has ended.
async fn until_ended(
    begun: Task,
    at_work: &mut Option<String>,
    (call, heard): (&UnderWay, &Heard),
    ask: &Ask<'_>,
    input: &Input<'_>,
) -> Result<CallToolResult, CallError> {
    let mut answered = BTreeSet::new();
    let since = Instant::now();
    let (mut task, mut rounds) = (begun, 0);
    loop {
        let pause = pause(&task);
        tokio::time::sleep(pause).await;
        if call.spend(pause).is_zero() {
            return Err(CallError::Silent { seconds: since.elapsed().as_secs_f64() });
        }
        let request = GetTaskRequest::new(GetTaskParams::new(&*task.task_id));
        let ServerResult::GetTaskResult(now) = ask(ClientRequest::GetTaskRequest(request)).await? else {
            return Err(CallError::NoResult);
        };
        // Its id is as it was given.
        let mut told = now.task.task;
        std::mem::swap(&mut told.task_id, &mut task.task_id);
        task = told;
        call.tell(task.status_message.as_deref().unwrap_or_default(), heard);
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
                    return Err(CallError::Erred(no_end()));
                }
                answered.extend(wanted.keys().cloned());
                let responses = input(wanted).await?;
                let request = UpdateTaskRequest::new(UpdateTaskParams::new(&*task.task_id, responses));
                ask(ClientRequest::UpdateTaskRequest(request)).await?;
            }
            TaskPayload::Completed { result } => {
                *at_work = None;
                return serde_json::from_value(Value::Object(result)).map_err(|_| CallError::NoResult);
            }
            TaskPayload::Failed { error } => {
                *at_work = None;
                let said = error.get("message").and_then(Value::as_str).unwrap_or("it did not say why");
                return Err(CallError::Erred(said.to_owned()));
            }
            TaskPayload::Cancelled => {
                *at_work = None;
                return Err(CallError::Erred("it gave this up by itself".into()));
            }
            _ => return Err(CallError::NoResult),
        }
    }
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
            let heard = peer.send_request(ClientRequest::CancelTaskRequest(request));
            let _ = tokio::time::timeout(HEARD, heard).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::calls::{Calls, User};
    use crate::connection::LONGEST;

    fn task(status: &str, more: &Value) -> Value {
        let at = "2026-11-28T00:00:00Z";
        let mut task = json!({
            "taskId": "t-1", "status": status, "createdAt": at, "lastUpdatedAt": at, "ttlMs": null, "pollIntervalMs": 0,
        });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task
    }

    /// What comes of a task that a server says this of, each time after so long; and whether it is at work still.
    async fn ended(says: Value, after: Duration) -> (Result<CallToolResult, CallError>, bool) {
        let (calls, heard) = (Calls::default(), Heard::default());
        let begun = calls.begin(User::default(), LONGEST);
        let call = &*begun.call;
        let ask = |_| {
            let says = says.clone();
            async move {
                tokio::time::sleep(after).await;
                call.spend(after);
                Ok(serde_json::from_value(says).unwrap())
            }
            .boxed()
        };
        let input = |_| async { Err(CallError::Erred("it wants a model".into())) }.boxed();
        let first = serde_json::from_value(task("working", &json!({}))).unwrap();
        let mut at_work = Some("t-1".to_owned());
        let ended = until_ended(first, &mut at_work, (call, &heard), &ask, &input).await;
        (ended, at_work.is_some())
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_waited_for_half_an_hour_at_the_most_however_its_server_answers() {
        for after in [Duration::ZERO, Duration::from_secs(29)] {
            let begun = Instant::now();
            let (ended, at_work) = ended(task("working", &json!({})), after).await;
            assert!(matches!(ended, Err(CallError::Silent { .. })) && at_work, "{ended:?}");
            assert!(begun.elapsed() <= LONGEST + Duration::from_secs(60), "{:?}", begun.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_its_server_says_has_ended_is_not_given_up() {
        let wants = json!({ "inputRequests": { "m": {
            "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 },
        }}});
        let cases = [
            (task("input_required", &wants), true),
            (task("completed", &json!({ "result": { "content": [] } })), false),
            (task("completed", &json!({ "result": { "content": 7 } })), false),
            (task("failed", &json!({ "error": { "code": 1, "message": "frozen" } })), false),
            (task("cancelled", &json!({})), false),
            (json!({ "tools": [] }), true),
        ];
        for (says, is_given_up) in cases {
            let (ended, at_work) = ended(says.clone(), Duration::ZERO).await;
            assert_eq!(at_work, is_given_up, "{says}: {ended:?}");
        }
    }
}
