//! Everything a surface may ask of the engine: one struct a command, one response type each.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::ids::ModelId;
use crate::ids::{ApprovalId, RunId, SessionId};
use crate::offer::{ModelsView, ProviderView, TrialView};
use crate::settings::{Settings, SettingsPatch};
use crate::tool::{Answer, ApprovalMode, ExecResult, Mode};
use crate::view::{Check, CheckView, KeyView, SessionHistory, SessionView, SnapshotView};

/// A request with its name on every door and the type of its answer.
pub trait Command: Serialize + DeserializeOwned + Send + 'static {
    /// The Tauri command's and the socket's name, snake case.
    const NAME: &'static str;
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:literal $type:ident { $($(#[$fdoc:meta])* $field:ident: $ftype:ty),* $(,)? } -> $response:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            pub struct $type { $($(#[$fdoc])* pub $field: $ftype),* }

            impl Command for $type {
                const NAME: &'static str = $name;
                type Response = $response;
            }
        )*

        /// Every command, in order; the build makes a permission of each and a test holds the capabilities to it.
        pub const COMMANDS: &[&str] = &[$($name),*];

        /// Any command, for doors that get them as data.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "command", content = "args")]
        pub enum AnyCommand { $(#[serde(rename = $name)] $type($type)),* }
    };
}

commands! {
    /// Starts the work on a goal; in a new session where none is named. One run at a time.
    "start_run" StartRun {
        goal: String,
        #[serde(default)] session: Option<SessionId>,
        #[serde(default)] overrides: RunOverrides,
    } -> StartedRun;
    /// Adds the user's words to the run under way; the model reads them at its next turn.
    "steer_run" SteerRun { run: RunId, text: String } -> ();
    /// Stops a run, or whatever runs where none is named. Answers when nothing is held any more.
    "stop_run" StopRun { #[serde(default)] run: Option<RunId> } -> ();
    "pause_run" PauseRun { #[serde(default)] run: Option<RunId> } -> ();
    "resume_run" ResumeRun { #[serde(default)] run: Option<RunId> } -> ();
    "answer_approval" AnswerApproval { approval: ApprovalId, digest: String, answer: Answer } -> ();
    "snapshot" Snapshot {} -> SnapshotView;
    /// All events from now on, through the door's own channel (a Tauri `Channel`, the socket's lines).
    "subscribe" Subscribe {} -> ();
    "list_sessions" ListSessions {} -> Vec<SessionView>;
    "open_session" OpenSession { session: SessionId } -> SessionHistory;
    "edit_session" EditSession {
        session: SessionId,
        #[serde(default)] title: Option<String>,
        #[serde(default)] mode: Option<Mode>,
        #[serde(default)] approval: Option<ApprovalMode>,
        #[serde(default)] search: Option<bool>,
    } -> SessionView;
    /// One call through the exec contract, without a model.
    "call_tool" CallTool { tool: String, arguments: serde_json::Value } -> ExecResult;
    "update_settings" UpdateSettings { patch: SettingsPatch } -> Settings;
    "set_key" SetKey { provider: String, key: Secret } -> KeyView;
    "delete_key" DeleteKey { provider: String } -> KeyView;
    "key_status" KeyStatus {} -> Vec<KeyView>;
    "list_providers" ListProviders {} -> Vec<ProviderView>;
    /// A provider's models: as it lists them now where it is `asked`, else those known to this version.
    "list_models" ListModels { provider: String, #[serde(default)] asked: bool } -> ModelsView;
    /// Asks the model one tiny question with a tool and a picture, which costs what it costs.
    "test_model" TestModel { model: ModelId } -> TrialView;
    /// Checks what the program needs from the machine, now.
    "permissions" Permissions {} -> Vec<CheckView>;
    /// Opens the system's settings at the place where a permission is given.
    "open_permission" OpenPermission { check: Check } -> ();
    /// Shows, hides or toggles one of our windows. Of the app only.
    "show_window" ShowWindow { window: Window, action: WindowAction } -> ();
}

/// What one run may set differently from the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunOverrides {
    pub mode: Option<Mode>,
    pub approval: Option<ApprovalMode>,
    /// Whether the provider may search the web.
    pub search: Option<bool>,
    pub model: Option<ModelId>,
    pub base_url: Option<String>,
    pub max_steps: Option<u32>,
    /// The only applications that may be acted on, by parts of their names.
    pub only_apps: Option<Vec<String>>,
    /// What to do with a question when no surface that could answer is attached.
    pub unattended: Unattended,
    /// Of the command line only: a window names no files.
    pub recording: Option<Recording>,
}

/// A file with what a model says in a run, by its absolute path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recording {
    /// Written while the model works; must not be there yet.
    Record(String),
    /// Played in the model's place.
    Replay(String),
}

/// What becomes of an approval that nobody at this door can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unattended {
    /// Wait for any surface, until the deadline.
    #[default]
    Wait,
    /// End the run, saying that it needs an approval (`miki run` without a terminal: exit code 4).
    End,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    pub session: SessionId,
    pub run: RunId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Window {
    Dashboard,
    Chat,
    Overlay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowAction {
    Show,
    Hide,
    Toggle,
}

/// A key on its way to the keychain. Its `Debug` hides it; it is in no event and no log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_shows_in_debug() {
        let command = SetKey { provider: "gemini".into(), key: Secret("canary-123".into()) };
        assert!(!format!("{command:?}").contains("canary"));
    }

    #[test]
    fn a_command_as_data_carries_its_name_and_arguments() {
        let command = AnyCommand::StopRun(StopRun { run: None });
        let json = serde_json::to_value(&command).unwrap();
        assert_eq!(json, serde_json::json!({"command": "stop_run", "args": {"run": null}}));
        assert_eq!(serde_json::from_value::<AnyCommand>(json).unwrap(), command);
    }

    #[test]
    fn an_unknown_field_is_refused_not_ignored() {
        assert!(serde_json::from_str::<StopRun>(r#"{"runn": "r-1"}"#).is_err());
    }
}
