//! Agents of other programs, at the desktop: each is the model of a run of its own. So its calls are weighed, asked about,
//! bounded, stopped and journaled as those of our own agents are, and there is no second way to the desktop.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use models::{
    Message, Model, ModelError, Part, ProposedCall, Request, SharedModel, Turn, TurnEvent, TurnEvents,
};
use protocol::command::{GuestAnswer, GuestCall, GuestPicture, StartedRun};
use protocol::ids::{ModelId, RunId, Timestamp};
use protocol::mcp::{GuestView, GuestWay};
use protocol::run::GUEST;
use protocol::turn::{StopReason, Usage};
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tools::untrusted;

/// A guest that calls nothing for this long has left: its run ends. One that conducts may wait longer for its agents.
const IDLE: Duration = Duration::from_secs(10 * 60);
const CONDUCTOR_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
/// Guests at a time.
const MOST: usize = 8;
/// Letters of a client's name, and of the same as it is shown.
const NAME_CHARS: usize = 32;
const SHOWN_CHARS: usize = 60;

/// Those that are there, by the name of their model.
#[derive(Default)]
pub struct Guests(Mutex<HashMap<String, Guest>>);

struct Guest {
    /// Known to whoever opened it, and to nobody else.
    ticket: String,
    comes: Comes,
    run: Option<StartedRun>,
    calls: mpsc::Sender<Handed>,
    /// Taken once, by its run.
    model: Option<SharedModel>,
}

/// A client that comes.
#[derive(Clone, Debug)]
pub struct Comes {
    /// As it calls itself.
    pub client: String,
    pub conducts: bool,
    pub way: GuestWay,
    pub at: Timestamp,
}

struct Handed {
    call: ProposedCall,
    answer: oneshot::Sender<GuestAnswer>,
}

impl Guests {
    /// Makes room for a client: the model of its run, and its ticket.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] where there are too many.
    pub fn open(&self, comes: Comes) -> Result<(ModelId, String), ErrorView> {
        let mut all = self.all();
        all.retain(|_, guest| !guest.calls.is_closed());
        if all.len() >= MOST {
            let message = format!("{MOST} agents of other programs are at the desktop already");
            return Err(ErrorView::new(ErrorCode::Busy, message).with_hint("end one of them first: miki ps"));
        }
        let plain = plain(&comes.client);
        let names = (1..).map(|number| if number == 1 { plain.clone() } else { format!("{plain}-{number}") });
        let name = names.into_iter().find(|name| !all.contains_key(name)).unwrap_or_default();
        let id = ModelId(format!("{GUEST}/{name}"));
        let (calls, asked) = mpsc::channel(1);
        let model = GuestModel {
            id: id.clone(),
            idle: if comes.conducts { CONDUCTOR_IDLE } else { IDLE },
            seat: Arc::new(tokio::sync::Mutex::new(Seat { asked, pending: None })),
        };
        let ticket =
            [uuid::Uuid::now_v7(), uuid::Uuid::now_v7()].map(|half| half.simple().to_string()).concat();
        let model: SharedModel = Arc::new(model);
        all.insert(name, Guest { ticket: ticket.clone(), comes, run: None, calls, model: Some(model) });
        Ok((id, ticket))
    }

    /// The model of a run that is about to begin.
    ///
    /// # Errors
    /// Nobody waits to be it.
    pub fn take(&self, id: &ModelId) -> Result<SharedModel, ErrorView> {
        let taken = self.all().get_mut(id.name()).and_then(|guest| guest.model.take());
        taken.ok_or_else(|| {
            ErrorView::new(
                ErrorCode::BadRequest,
                format!("{id} is no model: such a run is begun by its client"),
            )
            .with_hint("connect the client with: miki mcp desktop")
        })
    }

    /// Notes the run that a guest is the model of.
    pub fn note_run(&self, ticket: &str, run: &StartedRun) {
        if let Some(guest) = self.all().values_mut().find(|guest| guest.ticket == ticket) {
            guest.run = Some(run.clone());
        }
    }

    /// Hands a call to the guest's run, and waits for what came of it.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where the run has ended.
    pub async fn call(&self, call: GuestCall) -> Result<GuestAnswer, ErrorView> {
        let GuestCall { ticket, tool, arguments } = call;
        let gone = || {
            ErrorView::new(
                ErrorCode::NotFound,
                "this work at the desktop has ended, or was stopped by its user",
            )
        };
        let calls = self.all().values().find(|guest| guest.ticket == ticket).map(|guest| guest.calls.clone());
        let id = uuid::Uuid::now_v7().simple().to_string();
        let (answer, answered) = oneshot::channel();
        let call = ProposedCall::new(Some(id), tool, arguments);
        calls.ok_or_else(gone)?.send(Handed { call, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }

    /// The client has left: the run of the guest that has ended, if it had one.
    pub fn leave(&self, ticket: &str) -> Option<RunId> {
        let mut all = self.all();
        let name = all.iter().find(|(_, guest)| guest.ticket == ticket).map(|(name, _)| name.clone())?;
        all.remove(&name)?.run.map(|started| started.run)
    }

    /// Those whose runs have not ended, the first that came first.
    pub fn list(&self) -> Vec<GuestView> {
        let view = |guest: &Guest| {
            let StartedRun { session, run } = guest.run.clone().filter(|_| !guest.calls.is_closed())?;
            let Comes { client, conducts, way, at: since } = guest.comes.clone();
            let client = match untrusted::line(&client, SHOWN_CHARS) {
                none if none.is_empty() => plain(&client),
                named => named,
            };
            Some(GuestView { session, run, client, conducts, way, since })
        };
        let mut all: Vec<GuestView> = self.all().values().filter_map(view).collect();
        all.sort_by(|one, other| (one.since, &one.run.0).cmp(&(other.since, &other.run.0)));
        all
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Guest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client says itself what it is called: letters that can be nothing else in a goal.
fn plain(client: &str) -> String {
    let letters = client.to_lowercase();
    let letters = letters.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' });
    let name: String = letters.take(NAME_CHARS).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "client".into() } else { parts.join("-") }
}

/// Whose turns are a client's calls, one each.
struct GuestModel {
    id: ModelId,
    idle: Duration,
    seat: Arc<tokio::sync::Mutex<Seat>>,
}

struct Seat {
    asked: mpsc::Receiver<Handed>,
    /// The call under way, by its id.
    pending: Option<(String, oneshot::Sender<GuestAnswer>)>,
}

impl Model for GuestModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<Request>) -> BoxFuture<'_, Result<TurnEvents, ModelError>> {
        let (seat, idle) = (Arc::clone(&self.seat), self.idle);
        let next = async move { Ok(next(&mut *seat.lock().await, idle, &request).await) };
        async move { Ok(stream::once(next).boxed()) }.boxed()
    }

    fn probe(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}

/// Hands out what came of the last call, and waits for the next one. Dropped while it waits, nothing is lost.
async fn next(seat: &mut Seat, idle: Duration, request: &Request) -> TurnEvent {
    if let Some((id, answer)) = seat.pending.take() {
        let _ = answer.send(answer_of(&id, request));
    }
    let asked = tokio::time::timeout(idle, seat.asked.recv()).await;
    let call = match asked {
        Ok(Some(Handed { call, answer })) => {
            seat.pending = call.id.clone().map(|id| (id, answer));
            call
        }
        Ok(None) | Err(_) => {
            let summary = json!({ "summary": "The client has left.", "success": true });
            ProposedCall::new(Some("left".into()), "done", summary)
        }
    };
    let turn = Turn { text: String::new(), calls: vec![call], provider: GUEST.into(), raw: Value::Null };
    TurnEvent::Finished { turn, usage: Usage::default(), stop: StopReason::ToolCalls }
}

/// What a model of ours would be told, with what the user has said meanwhile.
fn answer_of(id: &str, request: &Request) -> GuestAnswer {
    let mut answer = GuestAnswer { answer: Value::Null, said: Vec::new(), picture: None };
    for message in request.messages.iter().rev() {
        match message {
            Message::ToolResults(answers) => {
                if let Some(found) = answers.iter().find(|one| one.id.as_deref() == Some(id)) {
                    answer.answer = found.response.clone();
                    answer.picture = found.image.as_ref().map(|image| GuestPicture {
                        media_type: image.media_type.clone(),
                        base64: BASE64_STANDARD.encode(&image.bytes),
                    });
                }
                break;
            }
            Message::User(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.clone()),
                    Part::Image(_) => None,
                });
                answer.said.extend(texts);
            }
            Message::Assistant(_) => break,
        }
    }
    answer
}

#[cfg(test)]
mod tests;
