//! Everything a surface may ask of the engine: one struct a command, one response type each.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::budget::Forecast;
use crate::ids::ModelId;
use crate::ids::{ApprovalId, CallId, RunId, Seq, SessionId, StreamId};
use crate::mcp::{GuestView, GuestWay, ServerView};
use crate::offer::{ModelsView, ProviderView, TrialView};
use crate::principal::{Right, Surface};
use crate::remembered::{Change, Remembered};
use crate::settings::{Settings, SettingsPatch};
use crate::tool::{Answer, ApprovalMode, ExecResult, Grant, Mode};
use crate::turn::Usd;
use crate::view::{
    Check, CheckView, EventPage, Exported, Found, Imported, KeyView, Overview, RunStatus, SecretView,
    SessionView,
};

/// A request with its name, the same in IPC and on the socket, and the type of its answer.
pub trait Command: Serialize + DeserializeOwned + Send + 'static {
    /// The Tauri command's and the socket's name, snake case.
    const NAME: &'static str;
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $right:ident $type:ident { $($(#[$fdoc:meta])* $field:ident: $ftype:ty),* $(,)? } -> $response:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            pub struct $type { $($(#[$fdoc])* pub $field: $ftype),* }

            impl Command for $type {
                const NAME: &'static str = stringify!($name);
                type Response = $response;
            }
        )*

        /// Every command, in order; the build makes a permission of each and a test holds the capabilities to it.
        pub const COMMANDS: &[&str] = &[$(stringify!($name)),*];

        /// Any command, where they come as data: the socket, and the engine itself.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "command", content = "args", rename_all = "snake_case")]
        pub enum AnyCommand { $($type($type)),* }

        $(impl From<$type> for AnyCommand {
            fn from(command: $type) -> Self {
                Self::$type(command)
            }
        })*

        impl AnyCommand {
            /// What it takes at the least; what it asks for may take more.
            pub fn right(&self) -> Right {
                match self { $(Self::$type(_) => Right::$right),* }
            }

            pub fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => stringify!($name)),* }
            }
        }
    };
}

commands! {
    /// Starts the work on a goal; in a new session where none is named. One run at a time in each session.
    start_run Start StartRun {
        goal: String,
        #[serde(default)] session: Option<SessionId>,
        #[serde(default)] overrides: RunOverrides,
    } -> StartedRun;
    /// Makes an agent of another program the model of a run: it works with tools for the desktop, as ours do, and may answer
    /// nothing.
    open_guest Start OpenGuest {
        /// As it calls itself.
        client: String,
        /// The groups of tools that it may use.
        groups: Vec<String>,
        /// It does nothing at the desktop itself: it starts agents of ours.
        #[serde(default)] conducts: bool,
        #[serde(default)] unattended: Unattended,
        #[serde(default)] way: GuestWay,
    } -> OpenedGuest;
    /// The next call of such an agent, by the ticket that it was given: answers when it is done, or was refused.
    guest_call Start GuestCall { ticket: String, tool: String, arguments: serde_json::Value } -> GuestAnswer;
    /// Such an agent has left.
    close_guest Start CloseGuest { ticket: String } -> ();
    /// Those that are there, the first that came first.
    list_guests Read ListGuests {} -> Vec<GuestView>;
    /// Adds the user's words to the run under way; the model reads them at its next turn.
    steer_run Steer SteerRun { run: RunId, text: String } -> ();
    /// From here on it asks again, in this run and in its session's later ones.
    take_back_grant Stop TakeBackGrant { run: RunId, grant: Grant } -> ();
    /// Stops a run, or whatever runs where none is named. Answers when nothing is held any more.
    stop_run Stop StopRun { #[serde(default)] run: Option<RunId> } -> ();
    pause_run Pause PauseRun { #[serde(default)] run: Option<RunId> } -> ();
    /// Brings the window up that a run with hands of its own works in. With `take` that run is paused first: what its user
    /// does there is theirs.
    bring_up_window OurWindows BringUpWindow { run: RunId, #[serde(default)] take: bool } -> ();
    resume_run Steer ResumeRun { #[serde(default)] run: Option<RunId> } -> ();
    answer_approval Answer AnswerApproval { approval: ApprovalId, digest: String, answer: Answer } -> ();
    /// The same by whoever knows the approver key, from any terminal.
    answer_with_key AnswerByKey AnswerWithKey {
        approval: ApprovalId,
        digest: String,
        answer: Answer,
        key: Secret,
        /// With a no: for the model.
        #[serde(default)] why: Option<String>,
    } -> ();
    /// Makes the approver key; it is told this once, and an earlier one is void.
    new_approver_key Keys NewApproverKey {} -> Secret;
    delete_approver_key Keys DeleteApproverKey {} -> ();
    /// Where everything stands: settings, sessions, questions, runs. No events.
    get_overview Read GetOverview {} -> Overview;
    /// Durable events of one stream, a page at a time: the newest before `before`, or the oldest after `after` (numbers in
    /// the stream), or the newest of all. At most `limit` (1 to 1,000); fewer where they would be too long together.
    read_events Read ReadEvents {
        stream: StreamId,
        #[serde(default)] before: Option<u64>,
        #[serde(default)] after: Option<u64>,
        limit: u32,
    } -> EventPage;
    /// Events through the surface's own channel (a Tauri `Channel`, the socket's lines): each durable one after `after` (from
    /// now on where that is not given), once and in order, and the passing ones that there are meanwhile. Only of these
    /// `streams`, where any are named; what is for readers of any stream always. Another `subscribe` takes its place.
    subscribe Read Subscribe {
        #[serde(default)] streams: Option<Vec<StreamId>>,
        #[serde(default)] after: Option<Seq>,
    } -> Seq;
    /// Sessions, newest first: a page of at most `limit` older than `before` (1 to 1,000). Pinned ones stand where they are
    /// by their age; `which` has them, or the archived ones, apart.
    list_sessions Read ListSessions {
        #[serde(default)] before: Option<SessionId>,
        #[serde(default)] limit: Option<u32>,
        #[serde(default)] which: Which,
    } -> Vec<SessionView>;
    /// Sessions with all words of the query ("in quotes", words in this order): by their titles first, then the newest text
    /// that has them, at most `limit` (1 to 200). Archived ones, too; deleted ones not.
    search_sessions Read SearchSessions { query: String, #[serde(default)] limit: Option<u32> } -> Vec<Found>;
    open_session Read OpenSession { session: SessionId } -> SessionView;
    /// What a run of this model, of the usual one where none is named, may come to; null where too little is known.
    get_forecast Read GetForecast { #[serde(default)] model: Option<ModelId> } -> Option<Forecast>;
    /// Runs that have not ended, oldest first.
    list_runs Read ListRuns {} -> Vec<RunStatus>;
    edit_session Edit EditSession {
        session: SessionId,
        #[serde(default)] title: Option<String>,
        #[serde(default)] mode: Option<Mode>,
        #[serde(default)] approval: Option<ApprovalMode>,
        #[serde(default)] search: Option<bool>,
        #[serde(default)] pinned: Option<bool>,
        #[serde(default)] archived: Option<bool>,
    } -> SessionView;
    /// A new session with the events of another up to number `at` of its stream (all, if `None`). Runs that had not ended by
    /// then end there; open questions stay behind.
    branch_session Edit BranchSession { session: SessionId, #[serde(default)] at: Option<u64> } -> SessionView;
    /// Takes it out of all lists. It can be restored until it is purged, some days later. Not while a run is under way in it.
    delete_session Edit DeleteSession { session: SessionId } -> SessionView;
    restore_session Edit RestoreSession { session: SessionId } -> SessionView;
    /// Asks the user, in a dialog of the system above the dashboard, for the folder that a session's runs work in; where no
    /// session is named, for one that whoever asks puts into the settings or into a session that begins. Answers as the
    /// folder is called, or `None` if they chose none. Of the windows only: nobody else chooses where an agent works.
    choose_folder OurWindows ChooseFolder { #[serde(default)] session: Option<SessionId> } -> Option<String>;
    /// Writes a session into a new file in the user's downloads. Of the windows: the command line reads events and writes
    /// its own file.
    export_session OurWindows ExportSession {
        session: SessionId,
        format: ExportFormat,
        #[serde(default)] pictures: bool,
    } -> Exported;
    /// Takes an exported session from a file, by its absolute path. Of the command line only: a window names no files. Never
    /// brings grants, approvals, secrets or settings into force; no model is told of what came with it.
    import_session Edit ImportSession { file: String } -> Imported;
    /// Takes back what a run changed, or one of its calls: the newest first. What has been changed by somebody else since
    /// stays as it is.
    undo CallTool Undo { #[serde(default)] run: Option<RunId>, #[serde(default)] call: Option<CallId> } -> Undone;
    /// One call through the exec contract, without a model. `asked` is the digest of the question that its person has said
    /// yes to, where there was one.
    call_tool CallTool CallTool {
        tool: String,
        arguments: serde_json::Value,
        #[serde(default)] asked: Option<String>,
    } -> ExecResult;
    update_settings Edit UpdateSettings { patch: SettingsPatch } -> Settings;
    /// For the `address` alone, where one is named.
    set_key Keys SetKey { provider: String, key: Secret, #[serde(default)] address: Option<String> } -> KeyView;
    delete_key Keys DeleteKey { provider: String } -> KeyView;
    /// Lets a key go to the address that its provider has now.
    move_key OurWindows MoveKey { provider: String } -> KeyView;
    key_status Read KeyStatus {} -> Vec<KeyView>;
    /// Keeps a value that calls may name and never hold, for one application or site.
    set_secret Keys SetSecret { name: String, place: String, value: Secret } -> SecretView;
    delete_secret Keys DeleteSecret { name: String } -> ();
    list_secrets Read ListSecrets {} -> Vec<SecretView>;
    /// Servers of the Model Context Protocol, without asking any of them anything.
    list_servers Read ListServers {} -> Vec<ServerView>;
    /// Starts a server of the settings where it is not started, and asks it what it offers.
    test_server CallTool TestServer { server: String } -> ServerView;
    /// Asks a server for one of its prompts, filled in: a text to begin a goal with. Nothing is done with it.
    fill_prompt CallTool FillPrompt { server: String, prompt: String, fields: BTreeMap<String, String> } -> String;
    /// Keeps the value of a variable that a server's program gets, or of a header that a server at an address gets, in the
    /// keychain.
    set_server_key Keys SetServerKey { server: String, variable: String, value: Secret } -> ();
    /// Begins to sign the user in at a server at an address: answers the address that they open in their browser. `client` is
    /// what Miki is registered as there, where its user has done that; else it registers itself.
    begin_sign_in Keys BeginSignIn {
        server: String,
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        scopes: Vec<String>,
    } -> String;
    /// Waits, some minutes at the most, until they have, and keeps the tokens in the keychain. Whoever hangs up gives it up.
    finish_sign_in Keys FinishSignIn { server: String } -> ();
    /// Forgets the tokens.
    sign_out Keys SignOut { server: String } -> ();
    list_providers Read ListProviders {} -> Vec<ProviderView>;
    /// A provider's models: as it lists them now where it is `asked`, else those known to this version.
    list_models Read ListModels { provider: String, #[serde(default)] asked: bool } -> ModelsView;
    /// Asks the model one tiny question with a tool and a picture, which costs what it costs.
    test_model Read TestModel { model: ModelId } -> TrialView;
    /// Checks what the program needs from the machine, now.
    permissions Read Permissions {} -> Vec<CheckView>;
    /// Opens the system's settings at the place where a permission is given.
    open_permission Windows OpenPermission { check: Check } -> ();
    /// Shows, hides or toggles one of our windows; the dashboard with this session, where one is named. Of the app only.
    show_window Windows ShowWindow {
        window: Window,
        action: WindowAction,
        #[serde(default)] session: Option<SessionId>,
    } -> ();
    /// What the windows remember. Of the app only.
    get_remembered OurWindows GetRemembered {} -> Remembered;
    remember OurWindows Remember { change: Change } -> ();
}

/// Which sessions a list is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Which {
    /// All but archived and deleted ones.
    #[default]
    Open,
    /// Of these, the pinned ones.
    Pinned,
    Archived,
    /// Not purged yet.
    Deleted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExportFormat {
    /// Everything, to be imported again: an event a line.
    Jsonl,
    Markdown,
    /// A page that shows it step by step, in one file.
    Html,
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
    /// Of these three, 0 is no bound.
    pub max_minutes: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_cost: Option<Usd>,
    /// The only applications that may be acted on, by parts of their names.
    pub only_apps: Option<Vec<String>>,
    /// What to do with a question when no surface that could answer is attached.
    pub unattended: Unattended,
    /// Of the command line only: a window names no files.
    pub recording: Option<Recording>,
    /// Whether the model may propose a plan.
    pub plan: Option<bool>,
    /// The folder that its files and commands are confined to; a session begun with it keeps it.
    pub space: Option<String>,
    /// The groups of tools that it has, beside those for the course of the work itself; `None` for all.
    pub groups: Option<Vec<String>>,
    /// It only starts agents, waits for them and stops them: `groups` are theirs.
    pub conducts: bool,
    /// Whether it goes on by itself at the next start after Miki ended in the middle of it.
    pub carry_on: Option<bool>,
    /// It goes on with an interrupted run of its session, whose goal in its user's words is this one's: the model is told so.
    pub goes_on: bool,
}

/// What came of an [`Undo`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undone {
    /// Whose changes they were; `None` if they were made by a call without a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// What is as it was, by its name.
    pub undone: Vec<String>,
    /// What was as before already, so that nothing was done about it: somebody else had taken it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was_so: Vec<String>,
    /// What is not, and why.
    pub left: Vec<Left>,
    /// Acts of the same run that nothing takes back, the oldest first, at most 50; empty of a single step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    pub name: String,
    pub why: String,
}

impl fmt::Display for Left {
    /// Its name, and why; once where that begins with the name.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.why.starts_with(&self.name) {
            write!(to, "{}: ", self.name)?;
        }
        to.write_str(&self.why)
    }
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

/// What becomes of an approval that nobody can answer where the run was started.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedGuest {
    pub run: StartedRun,
    /// What its calls are known by.
    pub ticket: String,
}

/// What came of a guest's call, as a model of ours would be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuestAnswer {
    pub answer: serde_json::Value,
    /// The user's words since the last call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<GuestPicture>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuestPicture {
    pub media_type: String,
    pub base64: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Window {
    Dashboard,
    Chat,
    Overlay,
}

/// A window's row in the table of windows.
struct Row {
    label: &'static str,
    title: &'static str,
    surface: Surface,
}

impl Window {
    pub const ALL: [Self; 3] = [Self::Dashboard, Self::Chat, Self::Overlay];

    /// The table of windows.
    const fn row(self) -> Row {
        match self {
            Self::Dashboard => Row { label: "dashboard", title: "Miki", surface: Surface::Dashboard },
            Self::Chat => Row { label: "chat", title: "Miki Chat", surface: Surface::Chat },
            Self::Overlay => Row { label: "overlay", title: "Miki Overlay", surface: Surface::Overlay },
        }
    }

    /// Its name for Tauri, its capability file and its page.
    pub const fn label(self) -> &'static str {
        self.row().label
    }

    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Whoever speaks through it.
    pub const fn surface(self) -> Surface {
        self.row().surface
    }

    /// `None` if no window has this label.
    pub fn of_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.label() == label)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowAction {
    Show,
    Hide,
    Toggle,
}

/// A key or a secret's value on its way to the keychain. Its `Debug` hides it; it is in no event and no log.
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
    fn a_secret_never_shows_in_debug_nor_in_the_message_of_a_panic() {
        // bar: C75
        let secret = || Secret("canary-123".into());
        let (approval, digest, answer) = (ApprovalId::from_suffix("1"), String::new(), Answer::Once);
        let commands: [AnyCommand; 3] = [
            SetKey { provider: "gemini".into(), key: secret(), address: None }.into(),
            SetSecret { name: "bank".into(), place: "vault".into(), value: secret() }.into(),
            AnswerWithKey { approval, digest, answer, key: secret(), why: None }.into(),
        ];
        for command in commands {
            assert!(!format!("{command:?}").contains("canary"));
            let refuse = |command: AnyCommand| Err::<(), Box<AnyCommand>>(Box::new(command));
            let broken = std::panic::catch_unwind(|| refuse(command).unwrap());
            let said = broken.unwrap_err().downcast::<String>().unwrap();
            assert!(said.contains("Secret(..)") && !said.contains("canary"), "{said}");
        }
    }

    #[test]
    fn a_command_as_data_carries_its_name_and_arguments() {
        let command = AnyCommand::StopRun(StopRun { run: None });
        let json = serde_json::to_value(&command).unwrap();
        assert_eq!(json, serde_json::json!({"command": "stop_run", "args": {"run": null}}));
        assert_eq!(serde_json::from_value::<AnyCommand>(json).unwrap(), command);
    }

    /// The enum's names are made of the types', the others are written: they must be the same.
    #[test]
    fn every_command_has_one_name_everywhere() {
        for name in COMMANDS {
            let data = serde_json::json!({ "command": name, "args": null });
            let error = serde_json::from_value::<AnyCommand>(data).unwrap_err().to_string();
            assert!(!error.contains("unknown variant"), "{error}");
        }
    }

    #[test]
    fn a_window_is_found_by_its_label_and_by_no_other_name() {
        for window in Window::ALL {
            assert_eq!(Window::of_label(window.label()), Some(window));
        }
        assert_eq!(Window::of_label("settings"), None);
    }

    #[test]
    fn an_unknown_field_is_refused_not_ignored() {
        assert!(serde_json::from_str::<StopRun>(r#"{"runn": "r-1"}"#).is_err());
    }
}
