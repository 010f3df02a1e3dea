//! A checked call, ready to run: its own risk, its steps, and what of the machine it takes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use desktop::{Action, ElementAction};
use protocol::geometry::NormPoint;
use protocol::tool::{Mode, Risk, ToolError, ToolErrorKind};
use serde_json::Value;

use crate::ports::Ports;
use crate::reach::{Act, Reach};
use crate::spec::{Available, Needs, Spec, Tool, Verify};
use crate::tool::{Context, DISPLAY, FileWrite, Outcome, bad_arguments, tool_error};
use crate::{Limits, schema, untrusted};

/// Characters of all arguments of one call; what is longer is refused before it is read.
const ARGUMENT_CHARS: usize = 200_000;
/// Characters of a model's reason that people see.
const REASON_CHARS: usize = 200;
/// Characters of an unknown tool's name that are said again.
const NAME_CHARS: usize = 60;
/// How alike a tool's name must be to an unknown one to be named with it, of 1; and how many are named.
const ALIKE: f64 = 0.75;
const MOST_NEAR: usize = 3;

/// What a call does when it runs. Runs again from the start if it is tried again.
#[async_trait]
pub trait Task: Send + Sync {
    /// Never fails: what went wrong is in the outcome. It has to keep to [`Context::cancel`]; the deadline is kept
    /// for it.
    async fn run(&self, cx: &Context) -> Outcome;
}

/// What a tool wants done.
pub struct Plan {
    risk: Risk,
    work: Work,
    reason: Option<String>,
    takes: Duration,
    display: u32,
    points: Vec<NormPoint>,
    reach: Reach,
    act: Option<Act>,
    /// Why it asks each time, in every mode.
    always: Option<String>,
    /// The file that it writes.
    writes: Option<FileWrite>,
}

pub(crate) enum Work {
    One(Arc<dyn Task>),
    Steps(Vec<Step>),
}

impl Plan {
    /// One task with the risk that these arguments have.
    pub fn new(risk: Risk, task: impl Task + 'static) -> Self {
        let work = Work::One(Arc::new(task));
        Self {
            risk,
            work,
            reason: None,
            takes: Duration::ZERO,
            display: DISPLAY,
            points: Vec::new(),
            reach: Reach::Nowhere,
            act: None,
            always: None,
            writes: None,
        }
    }

    /// Calls in a row, with the highest risk among them.
    pub fn of_steps(steps: Vec<Step>) -> Self {
        let risk = steps.iter().map(Step::risk).max().unwrap_or(Risk::Observe);
        // One picture for all: of the display that the last one that acts is on.
        let display = steps.iter().rfind(|step| step.risk() > Risk::Observe);
        let display = display.map_or(DISPLAY, |step| step.plan.display);
        Self {
            risk,
            work: Work::Steps(steps),
            reason: None,
            takes: Duration::ZERO,
            display,
            points: Vec::new(),
            reach: Reach::Nowhere,
            act: None,
            always: None,
            writes: None,
        }
    }

    /// The risk of these very arguments, where it is not the tool's highest.
    pub fn with_risk(self, risk: Risk) -> Self {
        Self { risk, ..self }
    }

    /// The display whose picture is taken before and after it; the first one if this is not said.
    pub fn on(self, display: u32) -> Self {
        Self { display, ..self }
    }

    /// The points of its display that it acts at: allowed once, it is done only where they look the same.
    pub fn at(self, points: &[NormPoint]) -> Self {
        Self { points: points.to_vec(), ..self }
    }

    /// Where it acts, by which its risk is told anew before it is asked about.
    pub(crate) fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// What it does there.
    pub(crate) fn doing(self, act: Act) -> Self {
        Self { act: Some(act), ..self }
    }

    /// It goes to a server of the user's: a yes for the session is for this tool of this server. Where what it is told `leaves`,
    /// as it may go on to others, it asks in every mode once something was read.
    pub fn on_server(self, name: Arc<str>, leaves: bool) -> Self {
        self.reaching(Reach::Server { name, leaves })
    }

    /// It asks each time, in every mode, whatever was allowed before: why, for the user.
    pub(crate) fn asking_always(self, why: impl Into<String>) -> Self {
        Self { always: Some(why.into()), risk: Risk::Consequential, ..self }
    }

    /// It writes this file: what would change there is shown before it is allowed.
    pub(crate) fn writing(self, write: FileWrite) -> Self {
        Self { writes: Some(write), ..self }
    }

    pub(crate) fn writes(&self) -> Option<&FileWrite> {
        self.writes.as_ref()
    }

    /// The model's reason, cleaned and bounded for people.
    pub fn because(self, reason: Option<String>) -> Self {
        let reason = reason.map(|text| untrusted::line(&text, REASON_CHARS)).filter(|text| !text.is_empty());
        Self { reason, ..self }
    }

    /// Time that it takes by its nature, on top of the timeout.
    pub fn taking(self, takes: Duration) -> Self {
        Self { takes, ..self }
    }

    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// The model's reason, for people; `None` if it gave none.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub fn takes(&self) -> Duration {
        self.takes
    }

    pub fn display(&self) -> u32 {
        self.display
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Why it asks each time, in every mode.
    pub(crate) fn always(&self) -> Option<&str> {
        self.always.as_deref()
    }

    pub(crate) fn act(&self) -> Option<&Act> {
        self.act.as_ref()
    }

    /// What it writes where it acts: in a browser, an address goes somewhere.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.act {
            Some(
                Act::Input(Action::Type { text })
                | Act::Element(ElementAction::SetValue(text))
                | Act::Fill(text),
            ) => Some(text),
            Some(Act::Input(_) | Act::Element(_) | Act::Start(_)) | None => None,
        }
    }

    /// Those of its display that it acts at.
    pub(crate) fn points(&self) -> &[NormPoint] {
        &self.points
    }

    /// The calls in it; empty if it is one by itself.
    pub fn steps(&self) -> &[Step] {
        match &self.work {
            Work::One(_) => &[],
            Work::Steps(steps) => steps,
        }
    }

    pub(crate) fn work(&self) -> &Work {
        &self.work
    }
}

/// A plan with its tool: a call that may be a part of another.
pub struct Step {
    tool: Arc<dyn Tool>,
    plan: Plan,
}

impl Step {
    pub fn spec(&self) -> &Spec {
        self.tool.spec()
    }

    pub fn name(&self) -> &str {
        &self.spec().name
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn risk(&self) -> Risk {
        self.plan.risk
    }

    /// The calls in a row that this is, or itself, to be changed.
    pub(crate) fn parts_mut(&mut self) -> Vec<&mut Self> {
        if matches!(self.plan.work, Work::One(_)) {
            return vec![self];
        }
        match &mut self.plan.work {
            Work::Steps(steps) => steps.iter_mut().collect(),
            Work::One(_) => Vec::new(),
        }
    }

    /// What it meets makes it graver than its arguments tell.
    pub(crate) fn raise(&mut self, risk: Risk) {
        self.plan.risk = self.plan.risk.max(risk);
    }

    /// The calls in a row that this is, or itself.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Step> {
        let steps = self.plan.steps();
        steps.iter().chain(steps.is_empty().then_some(self))
    }

    /// Whether this very call may go to a host: a web tool's, or clicks, keys and texts in a browser.
    pub(crate) fn goes_out(&self) -> bool {
        match self.plan.reach() {
            Reach::Address(_) | Reach::Page { .. } => true,
            // Commands have no network; calendars go to where their user keeps them.
            Reach::Files { .. } | Reach::Command(_) | Reach::Calendar { .. } | Reach::Search { .. } => false,
            // Not in a browser: what it leads to is weighed where it is looked up.
            Reach::Server { .. } => false,
            // A link may be there.
            Reach::Element(_) | Reach::Points { .. } => self.risk() >= Risk::Edit,
            reach => self.plan.text().is_some() || reach.enters(),
        }
    }

    /// Whether it may send something, and nobody can tell where: a script.
    pub(crate) fn goes_anywhere(&self) -> bool {
        self.spec().egress && *self.plan.reach() == Reach::Nowhere
    }

    /// Whether what it would touch is looked up before it runs: it may ask, or be graver than its arguments tell.
    pub(crate) fn is_looked_up(&self) -> bool {
        self.risk() >= Risk::Edit
            || (self.risk() == Risk::Navigate
                && matches!(self.plan.reach(), Reach::Address(_) | Reach::Search { .. }))
    }

    /// What this call works on; of several calls in a row, the scarcest.
    pub fn needs(&self) -> Needs {
        let steps = self.plan.steps().iter().map(Step::needs).max();
        steps.unwrap_or(Needs::Nothing).max(self.spec().needs)
    }

    /// Whether this very call needs the desktop's seat: pointer, keyboard and focus for itself. A look needs none.
    pub fn seat(&self) -> bool {
        match &self.plan.work {
            Work::One(_) => {
                self.risk() > Risk::Observe && matches!(self.spec().needs, Needs::Desktop | Needs::Browser)
            }
            Work::Steps(steps) => steps.iter().any(Step::seat),
        }
    }

    /// Whether the screen is looked at before and after it.
    pub(crate) fn is_verified_on_screen(&self) -> bool {
        match &self.plan.work {
            Work::One(_) => self.risk() > Risk::Observe && self.spec().verify != Verify::Own,
            Work::Steps(steps) => steps.iter().any(Step::is_verified_on_screen),
        }
    }
}

/// Why a call has no plan.
#[derive(Debug)]
pub struct Refusal {
    /// The highest that the tool can have; `None` if there is no such tool, or if it depends on steps that could not
    /// be read.
    pub risk: Option<Risk>,
    /// `None` if there is no such tool.
    pub needs: Option<Needs>,
    pub error: ToolError,
}

/// What a plan is made within.
pub struct Env<'a> {
    pub available: Available,
    pub limits: &'a Limits,
    /// Whether a key or button is held down: then moving about drags.
    pub is_holding: bool,
    /// In Plan mode what does more than look is not to be had.
    pub mode: Mode,
    /// The user's.
    pub(crate) home: Option<&'a Path>,
    /// Of the session.
    pub(crate) ports: &'a Ports,
    pub(crate) tools: &'a [Arc<dyn Tool>],
}

impl Env<'_> {
    /// Makes a plan of a call. The name is compared byte by byte: no trimming, no folding, no look-alikes.
    ///
    /// # Errors
    /// There is no such tool, it cannot work here, or its arguments are wrong.
    pub fn plan(&self, name: &str, arguments: &Value) -> Result<Step, Refusal> {
        let Some(tool) = self.tools.iter().find(|tool| *tool.spec().name == *name) else {
            return Err(Refusal { risk: None, needs: None, error: self.unknown(name) });
        };
        let spec = tool.spec();
        let refuse = |error| Refusal {
            risk: (name != crate::tool::BATCH).then_some(spec.risk),
            needs: Some(spec.needs),
            error,
        };
        if let Some(why) = tool.missing(&self.available) {
            let message = format!("not available here: {why}");
            return Err(refuse(tool_error(ToolErrorKind::NotAvailable, message)));
        }
        let length = arguments.to_string().len();
        if length > ARGUMENT_CHARS {
            let message =
                format!("the arguments are {length} characters long; at most {ARGUMENT_CHARS} are taken");
            return Err(refuse(bad_arguments(message)));
        }
        let arguments = match arguments {
            // Some models send nothing at all where a tool needs nothing.
            Value::Null => Value::Object(serde_json::Map::new()),
            Value::Object(_) => arguments.clone(),
            _ => return Err(refuse(bad_arguments("the arguments must be one JSON object"))),
        };
        if let Some(path) = schema::list_for_object(&arguments, &spec.schema) {
            return Err(refuse(bad_arguments(format!(
                "{path}: a list, where an object with named fields is asked for"
            ))));
        }
        let plan = tool.plan(arguments, self).map_err(refuse)?;
        Ok(Step { tool: Arc::clone(tool), plan })
    }

    fn unknown(&self, name: &str) -> ToolError {
        let name = untrusted::line(name, NAME_CHARS);
        let wished = name.to_lowercase();
        let works = |tool: &&Arc<dyn Tool>| tool.missing(&self.available).is_none();
        let names = self.tools.iter().filter(works).map(|tool| &*tool.spec().name);
        let mut near: Vec<(f64, &str)> = names
            .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &wished), known))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        let near: Vec<&str> = near.into_iter().take(MOST_NEAR).map(|(_, known)| known).collect();
        let meant = if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) };
        tool_error(ToolErrorKind::UnknownTool, format!("there is no tool {name:?}{meant}"))
    }
}
