//! The exec contract: the only way anything is executed, by our agent, a person at the CLI, MCP or REST alike.
//!
//! `Call -> Router -> ExecResult`. A tool says what it is ([`Spec`]) and makes a [`Plan`] of its arguments, with the
//! risk that these have. A built-in one is one file: a typed input whose doc comments the model reads, a schema derived
//! from it, and what it does through a port; others come into the [`Registry`] at run time. The router checks names and
//! arguments, knows Plan and Act, applies policy, holds the deadline, retries what only looks, and never lets a tool's
//! failure become more than data. Nothing of a call outlives it: limits come with each, and no call sets the fence.
//! Knows nothing of models, agents, journals or windows.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use protocol::contract::{Check, Contract};
use protocol::geometry::{NormPoint, PictureBudget, PixelSize};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Effect, ExecResult, Grant, Millis, Mode, Risk, ToolCall, ToolError};
use tokio_util::sync::CancellationToken;

mod agents;
mod focus;
mod goes_to;
mod look;
mod router;
mod sight;
mod surroundings;

mod plan;
mod ports;
mod reach;
mod redaction;
mod registry;
mod spec;

mod applications;
mod blackout;
mod contract;
mod digest;
mod hosts;
mod links;
mod policy;
mod provenance;
mod secrets;

mod effect;
mod schema;
mod settle;
mod supervise;
mod target;
mod tool;
mod whose;
mod withheld;
mod words;

pub mod untrusted;

pub use agents::{AgentStage, AgentState, Agents, Until, WantedAgent};
pub use contract::longest_look;
pub use desktop::{Abilities, Fence, Interruption, ToldElements, WindowId, one_look};
pub use focus::{FocusedWindow, Keyboard};
pub use goes_to::ActsIn;
pub use look::{Look, Part};
pub use plan::{Env, Plan, Refusal, Step, Task};
pub use policy::Grants;
pub use ports::{AgendaPort, Asker, Intent, Ports, Progress, Recalled, WebPort};
pub use registry::{AddError, Registry};
pub use router::Router;
pub use secrets::{Secret, SecretScope, SecretSource};
pub use spec::{Available, Group, Needs, Spec, Tool, Verify};
pub use surroundings::Meanwhile;
pub use tool::{
    ANSWER_AGENT, ASK_PARENT, CONTINUE, Context, ELEMENTS, ListShown, NOTE_CHARS, NOTES, Outcome,
    PARENTS_ANSWER, REASON, USE_TOOLS, edited_notes, named_groups, notes_edit_of,
};

/// One call on its way: what is asked, how it is stopped, and the bounds it keeps to.
#[derive(Clone, Debug)]
pub struct Call {
    pub request: ExecRequest,
    pub cancel: CancellationToken,
    pub limits: Arc<Limits>,
}

/// What is asked for, with all that decides whether it may run.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    pub call: ToolCall,
    pub mode: Mode,
    pub approval: ApprovalMode,
    pub grants: Grants,
    /// Whether something that is not the user's own words was read before: then what goes to a host that nobody named asks
    /// in every mode.
    pub has_read: bool,
    /// What the user said yes to; `None` if they were not asked.
    pub approved: Option<Yes>,
    pub planning: Planning,
    /// Checks of the plan that the user saw fail, or was asked, when they said yes to `done`.
    pub waived: Vec<Check>,
    /// Where its acts may go: what is outside is not asked about.
    pub fence: Fence,
    /// What its session works with beyond the screen.
    pub ports: Ports,
}

/// What a question was about that was answered by a yes. Counts for the very same call on the very same target alone, and
/// for no more than was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yes {
    pub digest: String,
    pub risk: Risk,
}

/// Whether a run may propose a plan, and the one it works by. Of one run alone.
#[derive(Clone, Debug, Default)]
pub enum Planning {
    #[default]
    Off,
    Open,
    /// The user said yes to it.
    Agreed(Arc<Contract>),
}

impl Planning {
    pub(crate) fn agreed(&self) -> Option<&Arc<Contract>> {
        match self {
            Self::Agreed(contract) => Some(contract),
            Self::Off | Self::Open => None,
        }
    }
}

/// What the router thinks of a call before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// `None` if there is no such tool, or if a batch cannot be read.
    pub risk: Option<Risk>,
    /// What it works on; `None` if there is no such tool.
    pub needs: Option<Needs>,
    /// Whether this very call needs the desktop's seat: pointer, keyboard and focus for itself.
    pub seat: bool,
    /// SHA-256 over tool, its definition, arguments and what they would touch, lower-case hex.
    pub digest: String,
    /// Hosts that it would go to and that nobody has named: a yes to a question that names them makes them known.
    pub hosts: Vec<String>,
    /// What a yes for the session would cover; empty if nothing was looked up.
    pub touches: Vec<Grant>,
    /// What the plan that was agreed to does not name of it; empty if there is none, or if it only looks.
    pub outside: Vec<String>,
    pub decision: Decision,
}

impl Assessment {
    /// What a yes to this is.
    pub fn yes(&self) -> Yes {
        Yes { digest: self.digest.clone(), risk: self.risk.unwrap_or(Risk::Consequential) }
    }
}

/// Whether a call runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Run,
    /// Only with an approval of its digest.
    Ask {
        /// For the user; holds the model's own reason where it gave one.
        reason: String,
    },
    /// Never: no such tool, bad arguments, Plan mode, not available here.
    Forbid {
        error: ToolError,
    },
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Its `picture` is always nothing: whoever stores the bytes fills it in.
    pub result: ExecResult,
    pub picture: Option<TakenPicture>,
    /// From `done`.
    pub finished: Option<Finish>,
    /// The elements that the result tells of: whoever hands it on says so to [`Router::told`].
    pub told: Vec<ToldElements>,
}

impl Executed {
    /// A call that did not run.
    pub fn refused(error: ToolError) -> Self {
        let result = ExecResult {
            effect: Effect::Refused,
            summary: error.message.clone(),
            data: serde_json::Value::Null,
            error: Some(error),
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(0),
        };
        Self { told: Vec::new(), result, picture: None, finished: None }
    }
}

/// A JPEG of the display, own windows left out.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenPicture {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    /// Where the red dot is.
    pub dot: Option<NormPoint>,
    /// A hash of the pixels before marking: equal means that nothing changed.
    pub pixels: u64,
    /// A hash of all that is to be seen but the dot: pixels, place, size, marks, and what was made black. Whoever has a
    /// picture with the same one needs no other. Differs from one program's run to the next.
    pub sight: u64,
    /// Of a whole display; `None` if it shows something else, has marks, or is of a screen that did not rest.
    pub look: Option<Look>,
    covered: u64,
}

impl TakenPicture {
    fn of(picture: pictures::Picture, dot: Option<NormPoint>, marks: &[pictures::Mark]) -> Self {
        let pictures::Picture { jpeg, size, mapping, pixels, covered } = picture;
        let mut sight = DefaultHasher::new();
        let shows = mapping.shows;
        (pixels, covered, size.width, size.height, shows.x, shows.y, shows.width, shows.height)
            .hash(&mut sight);
        for mark in marks {
            let bounds = [mark.bounds.x, mark.bounds.y, mark.bounds.width, mark.bounds.height];
            (&mark.label, bounds.map(f64::to_bits)).hash(&mut sight);
        }
        Self { jpeg, size, dot, pixels, sight: sight.finish(), look: None, covered }
    }

    /// The picture in a PNG or JPEG, scaled down to fit. Blocking.
    ///
    /// # Errors
    /// Why it cannot be unpacked.
    pub fn of_file(bytes: &[u8], limits: &Limits) -> Result<Self, String> {
        let picture = pictures::of_file(bytes, limits.picture, limits.jpeg_quality);
        Ok(Self::of(picture.map_err(|error| error.to_string())?, None, &[]))
    }

    /// The same of a whole display, which looked like this thumbnail before or after; not where it is of another moment.
    fn of_display(self, display: u32, thumbnail: Option<pictures::Thumbnail>) -> Self {
        let same = thumbnail.filter(|thumbnail| thumbnail.pixels == self.pixels);
        Self { look: same.map(|thumbnail| Look::new(display, thumbnail, self.covered)), ..self }
    }
}

/// The model's word that the goal is reached, or cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    pub summary: String,
    pub success: bool,
}

/// Every bound that a call keeps to.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// For one try of one call; a wait has its own seconds on top.
    pub timeout: Duration,
    /// Further tries of a call that only looks.
    pub retries: u32,
    /// Between the parts of a batch.
    pub batch_delay: Duration,
    /// Most parts in a batch.
    pub batch_actions: u32,
    /// Most elements in one answer.
    pub ui_nodes: u32,
    pub jpeg_quality: u8,
    /// Pictures are scaled down to fit.
    pub picture: PictureBudget,
    /// Most characters of one text in an answer.
    pub data_chars: usize,
    /// Longest wait for the screen to come to rest after an action.
    pub settle: Duration,
}

/// Longest side of a picture that is for no model in particular, in pixels.
const PICTURE_SIDE: u32 = 1_568;

impl From<&Settings> for Limits {
    fn from(settings: &Settings) -> Self {
        Self {
            timeout: Duration::from_millis(settings.tool_timeout_ms),
            retries: settings.tool_retries,
            batch_delay: Duration::from_millis(settings.batch_delay_ms),
            batch_actions: settings.batch_actions,
            ui_nodes: settings.ui_nodes,
            jpeg_quality: settings.jpeg_quality,
            picture: PixelSize { width: PICTURE_SIDE, height: PICTURE_SIDE }.into(),
            data_chars: settings.history_data_chars as usize,
            settle: Duration::from_millis(settings.settle_ms),
        }
    }
}
