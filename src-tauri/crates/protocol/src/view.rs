//! What surfaces show: plain data, folded from events or read from the machine.

use serde::{Deserialize, Serialize};

use crate::Event;
use crate::event::{RunEnd, Status};
use crate::geometry::{PhysicalRect, ScaleFactor};
use crate::ids::{RunId, Seq, SessionId, Timestamp};
use crate::settings::Settings;
use crate::tool::{Approval, ApprovalMode, Mode};

/// All that a surface needs to start folding: the state up to and with `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    pub seq: Seq,
    pub settings: Settings,
    pub status: Status,
    /// Newest first.
    pub sessions: Vec<SessionView>,
    /// The session whose run is under way, or the newest.
    pub current: Option<SessionId>,
    /// Durable events of `current`, oldest first.
    pub events: Vec<Event>,
    /// Questions without an answer, oldest first.
    pub approvals: Vec<Approval>,
    pub version: String,
    pub platform: Platform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Platform {
    Macos,
    Linux,
    Windows,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    pub title: String,
    pub mode: Mode,
    pub approval: ApprovalMode,
    /// Whether the provider may search the web for it.
    #[serde(default)]
    pub search: bool,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub last_run: Option<RunView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub id: RunId,
    pub goal: String,
    /// Nothing while it runs.
    pub end: Option<RunEnd>,
}

/// One session whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHistory {
    pub session: SessionView,
    /// Durable, oldest first.
    pub events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayView {
    /// From 0, in the system's order.
    pub index: u32,
    pub name: String,
    pub bounds: PhysicalRect,
    pub scale: ScaleFactor,
    pub primary: bool,
}

/// Where a provider's key is, never what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub provider: String,
    pub state: KeyState,
    /// What to do where it is missing or the keychain fails.
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyState {
    Missing,
    InKeychain,
    /// `MIKI_KEY_<PROVIDER>` overrides.
    InEnvironment,
    /// The keychain is locked, absent or refuses.
    KeychainFails,
}

/// One thing the program needs from the machine, whether it has it, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckView {
    pub check: Check,
    pub state: CheckState,
    /// What was found.
    pub detail: String,
    /// What to do, where it is not well.
    pub mend: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    Display,
    ScreenCapture,
    Input,
    Accessibility,
    /// Scripting other applications; macOS only.
    Automation,
    /// Hearing the user's own mouse and keys, to pause for them; macOS only.
    InputMonitoring,
    Clipboard,
    /// Reading text in pictures.
    Ocr,
    Keychain,
    Journal,
    Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckState {
    Well,
    /// Works in part, or is not needed on this platform.
    Limited,
    Missing,
}
