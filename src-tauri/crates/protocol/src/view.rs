//! What surfaces show: plain data, folded from events or read from the machine.

use serde::{Deserialize, Serialize};

use crate::Event;
use crate::event::{RunEnd, Status};
use crate::geometry::{NormPoint, PhysicalRect, ScaleFactor};
use crate::ids::{CallId, RunId, Seq, SessionId, Timestamp};
use crate::settings::Settings;
use crate::tool::{Approval, ApprovalMode, FrontWindow, Mode};

/// All that a surface needs to start: where everything stands after `seq`. Events are read by
/// [`ReadEvents`](crate::command::ReadEvents), and followed from `seq` on by [`Subscribe`](crate::command::Subscribe).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The last durable event that is in it.
    pub seq: Seq,
    pub settings: Settings,
    /// The newest first; further ones by [`ListSessions`](crate::command::ListSessions).
    pub sessions: Vec<SessionView>,
    /// Questions without an answer, oldest first.
    pub questions: Vec<Question>,
    /// Of each run that has not ended, oldest first.
    pub runs: Vec<RunStatus>,
    pub desktop: DesktopView,
    pub version: String,
    pub platform: Platform,
}

/// A question that is open, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub session: SessionId,
    pub run: RunId,
    pub approval: Approval,
}

/// What a run is doing now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    pub session: SessionId,
    pub run: RunId,
    pub goal: String,
    pub status: Status,
    /// The run whose agent started it; `None` if its user did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
}

/// Who has the pointer and the keyboard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DesktopView {
    /// `None` if nobody has it, or a call of the user's own.
    pub owner: Option<RunId>,
    /// In the order in which they get it.
    pub waiting: Vec<RunId>,
    /// Runs with hands of their own, in the order in which they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<BesideView>,
}

/// Where a run works that has a pointer and a keyboard of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BesideView {
    pub run: RunId,
    /// The window that it went into last; `None` before it has gone into any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<FrontWindow>,
    /// Where its pointer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<PointerView>,
    /// One of our windows lies over where it acts, and is to make room until it goes into another window, or has ended.
    #[serde(default)]
    pub wants_room: bool,
    /// From 0: which colour it is drawn in, another one than those beside it.
    pub color: u8,
}

/// A place of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PointerView {
    pub display: u32,
    pub at: NormPoint,
}

/// A part of a stream's durable events, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    pub events: Vec<Event>,
    /// How many the stream has; the number `n` of its last.
    pub last: u64,
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
    /// Of its last event, but for its title's, its modes' and its shelf's.
    pub updated: Timestamp,
    pub last_run: Option<RunView>,
    #[serde(default, skip_serializing_if = "Shelf::is_plain")]
    pub shelf: Shelf,
    /// Where its first events came from; `None` if it began here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The folder that was chosen for its runs; `None` if they work in that of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

/// Where a list has a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Shelf {
    /// Before all others.
    pub pinned: bool,
    /// Among the archived ones only, until something runs in it again.
    pub archived: bool,
    /// The run whose agent started the last run in it: it is shown with that one, and in no list of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// Since when it is deleted, if it is: in no list, and purged some time later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Timestamp>,
}

impl Shelf {
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the usual list has it.
    pub fn is_open(&self) -> bool {
        !self.archived && self.deleted.is_none() && self.parent.is_none()
    }
}

/// Where a session's first events came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The session that it was branched from, and the event of it (its number in the stream) that is the last in both;
    /// `None` if a file is where they came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branched: Option<Branched>,
    /// So many of its first events came from a file: whoever wrote that may have wished to mislead, so that no model is
    /// told of them.
    #[serde(default)]
    pub imported: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branched {
    pub session: SessionId,
    pub at: u64,
}

/// A session in which something was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub session: SessionView,
    /// The number of the event in its stream.
    pub event: u64,
    pub place: Place,
    /// A part of the text, with what was looked for.
    pub snippet: String,
    /// Where that stands in the snippet: first and one past the last, in characters (Unicode scalar values).
    pub marks: Vec<(u32, u32)>,
}

/// What kind of text something was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    Title,
    Goal,
    /// What the user said into a run.
    User,
    Model,
    /// What came of a call, or of the run.
    Result,
}

/// What an import brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    pub session: SessionView,
    pub events: u64,
    pub pictures: u64,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    pub file: String,
    pub bytes: u64,
    pub pictures: u64,
    /// Pictures that are gone.
    pub missing: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub id: RunId,
    pub goal: String,
    /// `None` while it runs or waits.
    pub end: Option<RunEnd>,
    /// What became of what it tried; `None` if it was only to look, or if that was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Box<Tried>>,
}

/// What became of a run's calls that were to change something. The model's last words may say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// Those of which nothing came yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<CallId>,
    pub done: u32,
    /// Refused, denied, failed, or seen not to have happened.
    pub not_done: u32,
    /// Agents that needed a yes which nobody could give.
    #[serde(default)]
    pub unanswered: u32,
}

impl Tried {
    /// Whether something was tried, and nothing of it was done.
    pub fn came_to_nothing(&self) -> bool {
        self.done == 0 && self.not_done + self.unanswered > 0
    }
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

/// A secret's name and the only place it goes to, never its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: String,
    /// `None` if the keychain does not tell.
    pub place: Option<String>,
}

/// Where a provider's key is, never what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub provider: String,
    pub state: KeyState,
    /// The only address that a key of the keychain goes to, without its path; `None` until it was first used.
    pub address: Option<String>,
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

/// One thing the program needs from the machine, whether it has it, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckView {
    pub check: Check,
    pub state: CheckState,
    /// What was found.
    pub detail: String,
    /// What to do, where it is not well.
    pub remedy: Option<String>,
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
    /// What confines commands.
    Sandbox,
    /// Whether the settings are as their file had them, or something in it was put back.
    Settings,
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
