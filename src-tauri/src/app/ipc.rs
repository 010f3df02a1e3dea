//! The windows' way in: one Tauri command for each of `protocol`'s, and the channel of events.
//!
//! Which window may call what is in `capabilities/`; a call that is not granted never gets here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::command::AnyCommand;
use protocol::{ErrorView, Event};
use serde_json::Value;
use tauri::ipc::{Channel, Invoke};
use tauri::{State, Webview};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;

use super::door;
use crate::engine::Engine;

macro_rules! ipc {
    ($($name:ident $type:ident;)*) => {
        $(
            #[tauri::command]
            async fn $name(
                args: protocol::command::$type,
                webview: Webview,
                engine: State<'_, Arc<Engine>>,
            ) -> Result<Value, ErrorView> {
                engine.call(AnyCommand::$type(args), door(webview.label())?).await
            }
        )*

        /// All commands.
        pub fn handler() -> impl Fn(Invoke) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name,)* subscribe]
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name),)* "subscribe"];
    };
}

ipc! {
    start_run StartRun;
    steer_run SteerRun;
    stop_run StopRun;
    pause_run PauseRun;
    resume_run ResumeRun;
    answer_approval AnswerApproval;
    snapshot Snapshot;
    list_sessions ListSessions;
    open_session OpenSession;
    edit_session EditSession;
    call_tool CallTool;
    update_settings UpdateSettings;
    set_key SetKey;
    delete_key DeleteKey;
    key_status KeyStatus;
    list_providers ListProviders;
    list_models ListModels;
    test_model TestModel;
    permissions Permissions;
    open_permission OpenPermission;
    show_window ShowWindow;
}

/// Each window's one stream of events: a page that was loaded anew subscribes anew, and the old stream ends.
#[derive(Default)]
pub struct Subscriptions(Mutex<HashMap<String, AbortHandle>>);

#[tauri::command]
async fn subscribe(
    args: protocol::command::Subscribe,
    channel: Channel<Event>,
    webview: Webview,
    engine: State<'_, Arc<Engine>>,
    subscriptions: State<'_, Subscriptions>,
) -> Result<(), ErrorView> {
    let protocol::command::Subscribe {} = args;
    door(webview.label())?;
    let mut events = engine.agent().subscribe();
    let stream = tokio::spawn(async move {
        loop {
            match events.recv().await {
                Ok(event) => {
                    if channel.send(event).is_err() {
                        return;
                    }
                }
                // The page sees the gap in the numbers and takes a snapshot.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    });
    let mut streams = subscriptions.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(old) = streams.insert(webview.label().to_owned(), stream.abort_handle()) {
        old.abort();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_protocol_has_its_adapter() {
        let sorted = |names: &[&'static str]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(NAMES), sorted(protocol::command::COMMANDS));
    }
}
