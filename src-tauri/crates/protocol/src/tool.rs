//! The exec contract's words: what may be asked, how risky it is, what really came of it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::About;
use crate::geometry::NormPoint;
use crate::ids::{BlobRef, CallId};
use crate::terminal::Line;

/// What a call can do, from harmless to irrevocable. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Risk {
    /// Looks, waits or thinks; changes nothing.
    Observe,
    /// Moves about: pointer, focus, scrolling. Easily taken back.
    Navigate,
    /// Changes something: a click, text, a key.
    Edit,
    /// Cannot be undone, leaves the machine, spends or sends.
    Consequential,
}

/// Whether the session may act or only look and plan. Ordered from stricter to looser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Only [`Risk::Observe`] runs.
    Plan,
    #[default]
    Act,
}

/// When the user is asked. Ordered from stricter to looser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Every Edit and Consequential call asks; a yes may be for one tool in one application until the run ends.
    #[default]
    Ask,
    /// A yes may be remembered for one tool in this session; Consequential calls ask each time.
    Thread,
    /// Only what may carry something away asks, once something was read. The failsafe, Plan mode and the fence still hold.
    Auto,
}

/// One request of the model to use a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub id: CallId,
    /// Exactly as the model wrote it; the router knows which names exist.
    pub tool: String,
    /// Exactly as the model wrote them; each tool checks its own.
    pub arguments: Value,
}

/// Tools that keep what takes their acts back. A test of `tools` holds the names to those that there are.
const RECORDED: [&str; 13] = [
    "writeFile",
    "editFile",
    "moveFile",
    "makeFolder",
    "trashFile",
    "createEvent",
    "changeEvent",
    "deleteEvent",
    "createReminder",
    "changeReminder",
    "deleteReminder",
    "setValue",
    "writeClipboard",
];
/// The tool by which an agent asks its user; the answer is its argument `answer`, which its user adds.
pub const ASK_HUMAN: &str = "askHuman";
/// The tool by which an agent waits for those that it started. It changes nothing: begun again, it is the same wait.
pub const WAIT_FOR: &str = "waitFor";

/// Tools that only look, or keep what is the run's own. A test of `tools` holds the names to what those say of themselves.
const ONLY_LOOKS: [&str; 25] = [
    "think",
    "continue",
    "notes",
    "wait",
    "waitFor",
    "askParent",
    "displays",
    "screenshot",
    "zoom",
    "readText",
    "elementsJson",
    "listWindows",
    "listApps",
    "listFiles",
    "readFile",
    "report",
    "searchFiles",
    "readCommand",
    "listEvents",
    "listReminders",
    "webElements",
    "webRead",
    "webTabs",
    "useTools",
    "done",
];

/// Calls that do nothing to anything of the user's: the end, the plan, what is taken back, and a question.
pub const NO_ACTS: [&str; 7] = ["done", "plan", "undo", ASK_HUMAN, "spawn", "kill", "answerAgent"];
/// Tools beside these that change nothing which anybody would want back.
const MOVES_ABOUT: [&str; 5] = ["move", "scroll", "focusElement", "focusWindow", "readClipboard"];

impl ToolCall {
    /// Whether its tool, by its name, is one that only looks; of a batch, all of them.
    pub fn only_looks(&self) -> bool {
        self.parts().iter().all(|part| ONLY_LOOKS.contains(&part.tool.as_str()))
    }

    /// The names by which [`Self::only_looks`] tells.
    pub fn looking_by_name() -> impl Iterator<Item = &'static str> {
        ONLY_LOOKS.into_iter()
    }

    /// Whether what it changes is kept with what takes it back, as far as its name and arguments tell: of a batch, all of
    /// its actions. What was there before may not be readable, even so.
    pub fn can_be_taken_back(&self) -> bool {
        let changes_nothing = |tool: &str| MOVES_ABOUT.contains(&tool) || ONLY_LOOKS.contains(&tool);
        let fits = |part: &Self| match part.tool.as_str() {
            "changeWindow" => part.arguments.get("change").and_then(Value::as_str) != Some("close"),
            tool => RECORDED.contains(&tool) || (self.tool == "batch" && changes_nothing(tool)),
        };
        self.parts().iter().all(fits)
    }

    /// Whether it did something that stays as it is when all is taken back. Of a batch, some may be kept and others not.
    pub fn stays(&self, risk: Risk, result: &ExecResult) -> bool {
        let was_done = matches!(result.effect, Effect::Confirmed | Effect::Unverified | Effect::Unknown);
        let values = self.parts().iter().filter(|part| part.tool == "setValue").count();
        let kept_values = result.changes.iter().filter(|change| change.of == Changed::Value).count();
        let is_kept = !result.changes.is_empty() && kept_values >= values && self.can_be_taken_back();
        risk >= Risk::Edit && !NO_ACTS.contains(&self.tool.as_str()) && was_done && !is_kept
    }

    /// Whether [`Self::can_be_taken_back`] depends on what is on the screen: a value is kept where its element has a name and
    /// it is listed whole.
    pub fn may_not_be_kept(&self) -> bool {
        self.parts().iter().any(|part| part.tool == "setValue")
    }

    /// The names by which [`Self::can_be_taken_back`] tells tools apart.
    pub fn told_by_name() -> impl Iterator<Item = &'static str> {
        RECORDED.into_iter().chain(MOVES_ABOUT).chain(ONLY_LOOKS).chain(["changeWindow"])
    }

    /// Whether what it does goes to wherever the keyboard focus is, and nowhere else.
    pub fn goes_to_the_focus(&self) -> bool {
        ["type", "press", "hotkey", "hold", "keyDown", "keyUp"].contains(&self.tool.as_str())
    }

    /// The window that it names by the system's number.
    pub fn window(&self) -> Option<u64> {
        let names_one = ["focusWindow", "changeWindow", "screenshot"].contains(&self.tool.as_str());
        names_one.then(|| self.arguments.get("window")?.as_u64()).flatten()
    }

    /// The element of the accessibility tree that it names by its ref.
    pub fn element(&self) -> Option<&str> {
        let names_one =
            ["clickElement", "focusElement", "setValue", "doAction"].contains(&self.tool.as_str());
        names_one.then(|| self.arguments.get("ref")?.as_str()).flatten()
    }

    /// The calls in it: a batch's actions in order, else itself.
    pub fn parts(&self) -> Vec<Self> {
        let Some(Value::Array(actions)) = self.arguments.get("actions").filter(|_| self.tool == "batch")
        else {
            return vec![self.clone()];
        };
        let part = |action: &Value| Self {
            id: self.id.clone(),
            tool: action.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned(),
            arguments: action.get("arguments").cloned().unwrap_or_default(),
        };
        actions.iter().map(part).collect()
    }
}

/// A question to the user about one exact call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    pub id: crate::ids::ApprovalId,
    pub call: ToolCall,
    pub risk: Risk,
    /// Why it is asked, for the user.
    pub reason: String,
    /// SHA-256 over tool, arguments and what they were found to touch; an answer counts for this alone.
    pub digest: String,
    /// When silence becomes a no.
    pub deadline: crate::ids::Timestamp,
    /// The window that was in front when it was asked, and gets the focus back before the call is done; `None` if there
    /// was none but ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<FrontWindow>,
    /// The window that the call names, as it was when it was asked; `None` if it names none that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<FrontWindow>,
    /// What each call in it goes to, in order, as it was when it was asked, for the user: the element and the window that it
    /// names, or those at its points. Empty if none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goes_to: Vec<String>,
    /// What the screen showed around the points that the call acts at: a hash of its pixels, and behind a space one of what
    /// the elements there are called; `None` if it acts at none, or if the screen could not be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// A cut of that screen with a mark where the call would act, for the user; `None` as above, or if its place is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Box<PictureView>>,
    /// Hosts that it goes to and that `reason` names: a yes makes them known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What it does, one for each of its acts: what a yes for the session would cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Grant>,
    /// What the model had read before, the newest last, where the call is a plan, sends something to a host that nobody
    /// named, or asks in a run that asks of nothing else: who wrote that may have asked for this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Source>,
    #[serde(default, skip_serializing_if = "About::is_plain")]
    pub about: Box<About>,
    /// When its run asks: what was set for its session since is for the next one.
    #[serde(default)]
    pub asks: ApprovalMode,
}

impl Approval {
    /// What a yes for the session would cover, where it may be given: in a run that asks once for a tool.
    pub fn for_session(&self) -> Option<Vec<&Grant>> {
        self.all_like_it().filter(|_| self.asks == ApprovalMode::Thread)
    }

    /// The same until the run ends: also where every step is asked about, of a tool in an application.
    pub fn for_run(&self) -> Option<Vec<&Grant>> {
        self.all_like_it().filter(|grants| match self.asks {
            ApprovalMode::Ask => grants.iter().all(|grant| grant.app.is_some()),
            ApprovalMode::Thread => true,
            ApprovalMode::Auto => false,
        })
    }

    /// One tool in one known place, that can be undone; of a batch each of its tools, in one application. Never what goes to
    /// several places (a drag from one application into another). Each grant once, in order.
    fn all_like_it(&self) -> Option<Vec<&Grant>> {
        let mut grants: Vec<&Grant> = Vec::new();
        for grant in &self.touches {
            if !grants.contains(&grant) {
                grants.push(grant);
            }
        }
        let app = &grants.first()?.app;
        let is_in_one_place = grants.iter().all(|grant| grant.app == *app);
        let can_be_said = match self.call.tool == "batch" {
            true => app.is_some(),
            false => grants.len() == 1,
        };
        (self.risk < Risk::Consequential && is_in_one_place && can_be_said).then_some(grants)
    }
}

/// What a yes for the session covers: a tool in an application, and in no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub tool: String,
    /// As the desktop calls it; `None` if the tool acts in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
}

/// A window of another application, told again after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontWindow {
    /// The system's number of the window.
    pub id: u64,
    pub app: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

impl fmt::Display for FrontWindow {
    /// As people know it: `“notes.txt” (Mousepad)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.title.trim() {
            "" => f.write_str(&self.app),
            title => write!(f, "“{title}” ({})", self.app),
        }
    }
}

/// The user's answer to an [`Approval`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Deny,
    /// This one call.
    Once,
    /// This tool in this application for the rest of the session. Not offered for Consequential calls.
    Thread,
    /// The same for another time. Beyond the run only from a window.
    Until {
        until: Until,
    },
    /// These arguments in place of the model's: of a plan that is a yes to them; any other call is looked up again, and
    /// asked about as it is now.
    Edit {
        arguments: Value,
    },
}

impl Answer {
    /// Whether it allows more than the one call that was asked about.
    pub fn allows_more(&self) -> bool {
        matches!(self, Self::Thread | Self::Until { .. })
    }
}

/// How long a yes counts that is for more than one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Until {
    /// The end of the run that asked.
    Run,
    /// A day later.
    Day,
    /// Until it is taken back, in the settings.
    Always,
}

/// What a call really did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Done, and seen to be done (read back, or the tool only looks).
    Confirmed,
    /// Sent, but not seen to be done as asked: nothing could be read back, or it was done in part or otherwise.
    Unverified,
    /// Sent, and read back: it did not happen.
    NoChange,
    /// Not done: forbidden, denied, bad arguments, failed before acting.
    Refused,
    /// Interrupted: it may or may not have happened. Never run again by itself.
    Unknown,
}

/// Why a call failed, as data for the model and the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorKind {
    UnknownTool,
    BadArguments,
    /// "not available here: ..."
    NotAvailable,
    /// Policy said no (Plan mode, own windows, failsafe).
    Forbidden,
    /// The user said no.
    Denied,
    /// The system does not let us: a permission is missing.
    Permission,
    /// Another computer could not be reached, or did not answer as it should.
    Network,
    Timeout,
    Cancelled,
    NotFound,
    /// The platform failed.
    Failed,
}

/// The classes in which errors are told, each with what can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    InvalidParameters,
    ExecutionFailed,
    PermissionDenied,
    Network,
    Timeout,
    NotAvailable,
    Refused,
    UnknownOutcome,
}

impl ErrorClass {
    pub const ALL: [Self; 8] = [
        Self::InvalidParameters,
        Self::ExecutionFailed,
        Self::PermissionDenied,
        Self::Network,
        Self::Timeout,
        Self::NotAvailable,
        Self::Refused,
        Self::UnknownOutcome,
    ];

    /// What the model can do, where the message alone does not say it.
    pub fn for_the_model(self) -> &'static str {
        match self {
            Self::InvalidParameters => "correct the arguments and call again",
            Self::ExecutionFailed => "find out what is there now, then try another way",
            Self::PermissionDenied => {
                "this needs a permission of the system; say so to the user, do not try around it"
            }
            Self::Network => "try once more; if it fails again, go on without it or tell the user",
            Self::Timeout => "look at what is there now before you try again",
            Self::NotAvailable => "use another tool",
            Self::Refused => "do not try the same in another form",
            Self::UnknownOutcome => {
                "it may or may not have happened: look before you go on, do not repeat it unseen"
            }
        }
    }
}

impl ToolErrorKind {
    /// What came of its call decides where it may have been done.
    pub fn class(self, effect: Effect) -> ErrorClass {
        if effect == Effect::Unknown {
            return ErrorClass::UnknownOutcome;
        }
        match self {
            Self::UnknownTool | Self::NotAvailable => ErrorClass::NotAvailable,
            Self::BadArguments => ErrorClass::InvalidParameters,
            Self::Forbidden | Self::Denied | Self::Cancelled => ErrorClass::Refused,
            Self::Permission => ErrorClass::PermissionDenied,
            Self::Network => ErrorClass::Network,
            Self::Timeout => ErrorClass::Timeout,
            Self::NotFound | Self::Failed => ErrorClass::ExecutionFailed,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    pub kind: ToolErrorKind,
    /// What was wrong, and what to do, for the model and the user.
    pub message: String,
}

/// What came of one call: the only result shape, for our agent and every other caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecResult {
    pub effect: Effect,
    /// One line for people: "clicked Save at 512,40".
    pub summary: String,
    /// For the model, bounded. Data, not instructions.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// The screen after the call, own windows left out, with the red dot where it acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureView>,
    /// Where what it tells came from, each once. Empty if it tells only of itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Source>,
    /// What it changed that can be taken back, in the order in which it was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What a command printed last, for people, bounded. No model is told it: it gets the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Line>,
    pub took: Millis,
}

/// One thing that a call changed, with all that is needed to take it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    pub of: Changed,
    /// What it is called, for people: a path, an event's title.
    pub name: String,
    /// The lines that changed, for people: a unified diff, bounded. No model is told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// As whoever made the change reads it again.
    pub data: Value,
}

impl Change {
    /// The blob in which what a file held before is kept; `None` if nothing is.
    pub fn kept(&self) -> Option<BlobRef> {
        let before = self.data.get("before").filter(|_| self.of == Changed::File)?;
        let sha256 = before.get("name")?.as_str().filter(|name| BlobRef::is_name(name))?.to_owned();
        let bytes = before.get("bytes")?.as_u64()?;
        Some(BlobRef { sha256, media_type: KEPT.into(), bytes })
    }
}

/// Of bytes that are kept as they were.
pub const KEPT: &str = "application/octet-stream";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Changed {
    File,
    Event,
    Reminder,
    Clipboard,
    Value,
    Window,
}

/// Where something that the model read came from, other than from its user. Whoever wrote it may have wished to mislead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Source {
    /// A page in a browser; without a host, a list of them or one that has none.
    Page {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// What an application tells of its elements.
    Application {
        name: String,
    },
    /// Pictures and text of a display, titles of windows.
    Screen,
    Clipboard,
    /// A script's output.
    Script,
    /// A server's tools.
    Server {
        name: String,
    },
    /// A search of the web.
    Search,
    /// A file of the session's folder, by its path in it.
    File {
        path: String,
    },
    /// What a command in the terminal printed.
    Terminal,
    /// Calendars and reminders.
    Agenda,
    /// An earlier run of the session.
    Earlier,
    /// Another agent: the one that it works for, or one that works for it.
    Agent,
}

impl Source {
    /// Adds what is not there yet; the newest comes last.
    pub fn add(all: &mut Vec<Self>, more: impl IntoIterator<Item = Self>) {
        for source in more {
            all.retain(|one| *one != source);
            all.push(source);
        }
    }
}

/// A picture in the blob store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureView {
    pub blob: BlobRef,
    pub width: u32,
    pub height: u32,
    /// Where the red dot is, in 0-1000 of the display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dot: Option<NormPoint>,
}

/// A duration in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Millis> for Duration {
    fn from(millis: Millis) -> Self {
        Self::from_millis(millis.0)
    }
}
