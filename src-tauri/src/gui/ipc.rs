//! The windows' way in: a Tauri command for each of `protocol`'s, and the channel of events.
//!
//! Which window may call what is in `capabilities/`; a call that is not granted never gets here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt as _, stream};
use protocol::command::{AnyCommand, COMMANDS, StartedRun, Window};
use protocol::remembered::{Heard, Remembered};
use protocol::socket::Frame;
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};
use tauri::ipc::{Channel, Invoke, InvokeBody, InvokeError};
use tauri::{Manager as _, State, Webview};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::engine::Engine;
use super::memory::Memory;
use super::{surface, windows};

/// All commands: those that need more than the engine have an adapter of their own.
pub fn handler() -> impl Fn(Invoke) -> bool + Send + Sync + 'static {
    let own: Box<dyn Fn(Invoke) -> bool + Send + Sync> =
        Box::new(tauri::generate_handler![start_run, subscribe]);
    move |invoke| {
        let command = invoke.message.command();
        if ["start_run", "subscribe"].contains(&command) || !COMMANDS.contains(&command) {
            return own(invoke);
        }
        let Invoke { message, resolver, .. } = invoke;
        let args = match message.payload() {
            InvokeBody::Json(payload) => payload.get("args").cloned(),
            InvokeBody::Raw(_) => None,
        };
        let call = json!({ "command": message.command(), "args": args.unwrap_or_else(|| json!({})) });
        let engine = message.webview_ref().state::<Arc<Engine>>().inner().clone();
        let label = message.webview_ref().label().to_owned();
        let app = message.webview_ref().app_handle().clone();
        resolver.respond_async(async move {
            let answer = async {
                let call: AnyCommand = serde_json::from_value(call)
                    .map_err(|error| ErrorView::new(ErrorCode::BadRequest, error.to_string()))?;
                let surface = surface(&label)?;
                match call {
                    AnyCommand::GetRemembered(_) => remembered(windows::memory(&app).remembered()),
                    AnyCommand::Remember(c) => {
                        windows::remember(&app, c.change);
                        Ok(Value::Null)
                    }
                    call => engine.call(call, surface).await,
                }
            };
            answer.await.map_err(InvokeError::from)
        });
        true
    }
}

fn remembered(all: Remembered) -> Result<Value, ErrorView> {
    serde_json::to_value(all).map_err(|error| ErrorView::new(ErrorCode::Internal, error.to_string()))
}

/// Hears of each run that is started in a window.
pub struct StartedRuns(pub mpsc::Sender<(Window, StartedRun)>);

#[tauri::command]
async fn start_run(
    args: protocol::command::StartRun,
    webview: Webview,
    engine: State<'_, Arc<Engine>>,
    started: State<'_, StartedRuns>,
) -> Result<Value, ErrorView> {
    let answer = engine.call(AnyCommand::StartRun(args), surface(webview.label())?).await?;
    if let (Some(window), Ok(run)) =
        (Window::of_label(webview.label()), serde_json::from_value(answer.clone()))
    {
        // Fails at the program's end only.
        let _ = started.0.send((window, run)).await;
    }
    Ok(answer)
}

/// Each window's one stream of events: a page that was loaded anew subscribes anew, and the old stream ends.
#[derive(Default)]
pub struct Subscriptions(Mutex<HashMap<String, (Channel<Heard>, AbortHandle)>>);

impl Subscriptions {
    /// Says something to a window's page beside its events. A page that hears nothing yet has nothing to be told.
    pub fn tell(&self, window: Window, heard: Heard) {
        let streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((channel, _)) = streams.get(window.label())
            && let Err(error) = channel.send(heard)
        {
            tracing::debug!("the page of window {} is gone: {error}", window.label());
        }
    }
}

#[tauri::command]
async fn subscribe(
    args: protocol::command::Subscribe,
    channel: Channel<Heard>,
    webview: Webview,
    engine: State<'_, Arc<Engine>>,
    memory: State<'_, Arc<Memory>>,
    subscriptions: State<'_, Subscriptions>,
) -> Result<protocol::ids::Seq, ErrorView> {
    surface(webview.label())?;
    let events = engine.subscribe(args).await?;
    let from = events.start();
    let events = stream::unfold(events, |mut events| async move {
        let frame = match events.next().await {
            Ok(event) => Frame::Event(Box::new(event)),
            Err(error) => Frame::Unsubscribed(error),
        };
        Some((Heard::Engine(frame), events))
    });
    let remembered = stream::unfold(memory.follow(), |mut changes| async move {
        changes.changed().await.ok()?;
        let now = Box::new(changes.borrow_and_update().clone());
        Some((Heard::Remembered(now), changes))
    });
    let told = channel.clone();
    let mut heard = stream::select(Box::pin(events), Box::pin(remembered));
    let stream = tokio::spawn(async move {
        while let Some(heard) = heard.next().await {
            let is_last = matches!(heard, Heard::Engine(Frame::Unsubscribed(_)));
            // Fails for a page that is gone.
            if channel.send(heard).is_err() || is_last {
                return;
            }
        }
    });
    let mut streams = subscriptions.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, old)) = streams.insert(webview.label().to_owned(), (told, stream.abort_handle())) {
        old.abort();
    }
    Ok(from)
}
