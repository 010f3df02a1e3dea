//! The one way in: assesses a call, and runs it only where the assessment lets it.
//!
//! Whoever calls may have asked the user or not: the router looks for itself, each time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use browser::Browser;
use desktop::{Desktop, Fence, Interruption, LastPress, ToldElements};
use protocol::contract::{Contract, Finding};
use protocol::geometry::PixelSize;
use protocol::tool::{
    ASK_HUMAN, Approval, ApprovalMode, Change, Changed, Effect, ExecResult, Mode, Risk, Source, ToolCall,
    ToolError, ToolErrorKind,
};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::plan::{Env, Refusal, Step};
use crate::policy::{Egress, Granted, Planned, Verdict, decide};
use crate::ports::Ports;
use crate::reach::{Act, Ordered, Reach};
use crate::redaction;
use crate::registry::Registry;
use crate::secrets::{NoSecrets, Secret, SecretSource};
use crate::spec::{Available, Group, Needs, Spec, Tool};
use crate::target::{self, Found, PATIENCE, Targets};
use crate::tool::{self, Context, Outcome, tool_error};
use crate::{
    Assessment, Call, Decision, ExecRequest, Executed, Limits, Planning, contract, digest, untrusted,
};

mod carry_out;

use carry_out::{Allowed, Asks, carry_out, controls_under};

static NO_PORTS: Ports = Ports {
    space: None,
    keep: None,
    intent: None,
    terminal: None,
    web: None,
    agenda: None,
    agents: None,
    asker: None,
    progress: None,
    home: None,
    recalled: None,
};
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Longest wait for a desktop that cannot be looked at in time.
const READY: Duration = Duration::from_secs(5);

/// The tools there are, and the ports they work through. Holds nothing of any call.
pub struct Router {
    registry: Arc<Registry>,
    desktop: Arc<dyn Desktop>,
    browser: Arc<dyn Browser>,
    secrets: Arc<dyn SecretSource>,
    home: Option<PathBuf>,
    clipboards: Arc<tool::Clipboards>,
    hands: Arc<Hands>,
}

/// Whether acts on the screen are under way, and when the last one ended.
#[derive(Default)]
struct Hands(Mutex<(usize, Option<Instant>)>);

impl Hands {
    fn state(&self) -> MutexGuard<'_, (usize, Option<Instant>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> impl Drop + '_ {
        struct Act<'a>(&'a Hands);
        impl Drop for Act<'_> {
            fn drop(&mut self) {
                let mut state = self.0.state();
                *state = (state.0.saturating_sub(1), Some(Instant::now()));
            }
        }
        self.state().0 += 1;
        Act(self)
    }
}

/// How closely a call's targets are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Before it may be asked about: with what the controls at its points say.
    Closely,
    /// Before it runs.
    Quickly,
}

impl Router {
    /// Tools on a desktop; those of the browser work once there is one.
    pub fn new(registry: Arc<Registry>, desktop: Arc<dyn Desktop>) -> Self {
        let (secrets, clipboards) = (Arc::new(NoSecrets), Arc::default());
        let (browser, hands) = (browser::absent(), Arc::<Hands>::default());
        Self { registry, desktop, browser, secrets, home: None, clipboards, hands }
    }

    /// The built-in tools on a desktop.
    pub fn builtin(desktop: Arc<dyn Desktop>) -> Self {
        Self::new(Arc::new(Registry::builtin()), desktop)
    }

    /// The same with a browser.
    pub fn with_browser(self, browser: Arc<dyn Browser>) -> Self {
        Self { browser, ..self }
    }

    /// The same for one run, whose tab in the browser is its own.
    pub fn of_run(&self) -> Self {
        let Self { registry, desktop, browser, secrets, home, clipboards, hands } = self;
        Self {
            registry: registry.clone(),
            desktop: desktop.clone(),
            browser: browser.of_run().unwrap_or_else(|| browser.clone()),
            secrets: secrets.clone(),
            home: home.clone(),
            clipboards: clipboards.clone(),
            hands: hands.clone(),
        }
    }

    /// The same with a pointer and a keyboard of its own, called after whoever it is for; its fence is its own, too.
    ///
    /// # Errors
    /// `NotAvailable` says why there are none here.
    pub async fn with_own_hands(&self, name: String) -> Result<Self, ToolError> {
        let desktop = self
            .desktop
            .with_own_hands(name)
            .await
            .map_err(|error| tool_error(ToolErrorKind::NotAvailable, error.to_string()))?;
        Ok(Self { desktop, browser: self.browser.clone(), ..self.of_run() })
    }

    /// The same with secrets, which calls name and never hold.
    pub fn with_secrets(self, secrets: Arc<dyn SecretSource>) -> Self {
        Self { secrets, ..self }
    }

    /// The same with the user's home folder, in which the files are that plans may name.
    pub fn with_home(self, home: Option<PathBuf>) -> Self {
        Self { home, ..self }
    }

    /// A plan as `plan` takes it, cleaned and bounded.
    ///
    /// # Errors
    /// What is wrong with it, in words for whoever wrote it.
    pub async fn contract(&self, mut arguments: Value) -> Result<Contract, ToolError> {
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.shift_remove(tool::REASON);
        }
        let wrong = |error: serde_json::Error| tool::bad_arguments(error);
        let proposed = serde_json::from_value(arguments).map_err(wrong)?;
        let read = contract::read(proposed, self.home.as_deref())?;
        let (looked, home) = (read.clone(), self.home.clone());
        let look = tokio::task::spawn_blocking(move || contract::look(&looked, home.as_deref())).await;
        look.map_err(|panic| tool_error(ToolErrorKind::Failed, format!("its folders: {panic}")))??;
        Ok(read)
    }

    /// Looks at what a plan says must be so; what the user is to be asked has not passed.
    pub async fn check(&self, contract: &Contract, limits: &Arc<Limits>, ports: &Ports) -> Vec<Finding> {
        let (desktop, browser) = (self.desktop.clone(), self.browser.clone());
        let (home, limits, ports) = (self.home.clone(), limits.clone(), ports.clone());
        let look = contract::checks::CheckPorts { desktop, browser, home, limits, ports };
        let mut findings = look.findings(contract, &[]).await;
        redaction::redact_findings(&mut findings, &self.secrets.all().await);
        findings
    }

    /// The secrets that calls may name.
    pub async fn secrets(&self) -> Arc<[Secret]> {
        self.secrets.all().await
    }

    /// Takes the values of secrets out of all that a question shows but the call's own arguments.
    pub async fn redact_question(&self, question: &mut Approval) {
        redaction::redact_question(question, &self.secrets.all().await);
    }

    /// An error without the values of secrets.
    pub async fn redact_error(&self, error: ToolError) -> ToolError {
        let message = redaction::redacted(&error.message, &self.secrets.all().await);
        ToolError { message, ..error }
    }

    /// The tools: more may be added at any time.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The size of the pictures of the first display; `None` if none can be taken.
    pub async fn picture_size(&self, limits: &Limits) -> Option<PixelSize> {
        if !self.desktop.abilities().screen {
            return None;
        }
        let displays = self.desktop.displays().await.ok()?;
        let first = displays.into_iter().find(|display| display.index == tool::DISPLAY)?.bounds;
        Some(limits.picture.fit(PixelSize { width: first.width, height: first.height }))
    }

    /// From now on acts only within these displays and applications, whoever asks for them. Only whoever gives the
    /// desktop to someone says this; no call does.
    pub fn fence(&self, fence: Fence) {
        self.desktop.fence(fence);
    }

    /// Releases every key and button this program holds down. Never waits for a call under way.
    pub fn release_all(&self) {
        self.desktop.release_all();
    }

    /// Whether any key or button is held down now.
    pub fn is_holding(&self) -> bool {
        self.desktop.is_holding()
    }

    /// Closes an open menu or its like, which would take the user's next click and keys; whether there was one.
    pub async fn close_menus(&self) -> bool {
        self.desktop.close_menus().await
    }

    /// Whether acts keep out of the corner that stops everything.
    pub fn keep_corner(&self, on: bool) {
        self.desktop.keep_corner(on);
    }

    /// Completes when the user steps in after this call.
    pub fn interrupted(&self) -> futures::future::BoxFuture<'_, Interruption> {
        self.desktop.interrupted()
    }

    /// How often the user has pressed something in windows that are not ours.
    pub fn presses(&self) -> u64 {
        self.desktop.presses()
    }

    /// The user's last presses, as they come.
    pub fn last_press(&self) -> LastPress {
        self.desktop.last_press()
    }

    /// When a call acted on the screen the last time: what a program reads from its terminal may then be of its hands. Now, if
    /// one does.
    pub fn last_act(&self) -> Option<Instant> {
        let (under_way, ended) = *self.hands.state();
        if under_way > 0 { Some(Instant::now()) } else { ended }
    }

    pub(crate) fn desktop(&self) -> &dyn Desktop {
        &*self.desktop
    }

    pub(crate) fn browser(&self) -> &dyn Browser {
        &*self.browser
    }

    /// What is offered to a model: what works here and, in Plan mode, only looks. Always in the same order.
    pub fn specs(&self, mode: Mode, ports: &Ports) -> Vec<Spec> {
        let available = self.available(ports);
        let offered = |tool: &&Arc<dyn Tool>| {
            let fits = mode == Mode::Act || tool.spec().risk == Risk::Observe;
            fits && tool.missing(&available).is_none()
        };
        self.registry.all().iter().filter(offered).map(|tool| tool.spec().clone()).collect()
    }

    fn available(&self, ports: &Ports) -> Available {
        Available {
            abilities: self.desktop.abilities(),
            no_browser: self.browser.missing(),
            space: ports.space.is_some(),
            web: ports.web.is_some(),
            agenda: ports.agenda.is_some(),
            spawns: ports.agents.as_ref().is_some_and(|agents| agents.may_spawn()),
            is_child: ports.agents.as_ref().is_some_and(|agents| agents.is_child()),
        }
    }

    /// What plans of these tools are made within.
    /// Of the desktop and the browser alone.
    pub(crate) fn env<'a>(&'a self, limits: &'a Limits, tools: &'a [Arc<dyn Tool>]) -> Env<'a> {
        self.env_with(limits, tools, &NO_PORTS, Mode::Act)
    }

    fn env_with<'a>(
        &'a self,
        limits: &'a Limits,
        tools: &'a [Arc<dyn Tool>],
        ports: &'a Ports,
        mode: Mode,
    ) -> Env<'a> {
        let (available, is_holding) = (self.available(ports), self.desktop.is_holding());
        Env { available, limits, is_holding, mode, home: self.home.as_deref(), ports, tools }
    }

    /// What would become of a call, as far as its arguments tell. Pure: nothing is looked at or done.
    pub fn outline(&self, request: &ExecRequest, limits: &Limits) -> Assessment {
        self.weigh(request, limits, &Targets::default()).0
    }

    /// What would become of a call, with what it would touch looked up first, where that can make a difference.
    pub async fn assess(&self, request: &ExecRequest, limits: &Limits) -> Assessment {
        let closely = || async { self.look_and_weigh(request, limits, Care::Closely).await.0 };
        desktop::one_look(async {
            let begun = Instant::now();
            let assessment = closely().await;
            // What could not be looked at in time can be a moment later; nobody answers as fast as that.
            if begun.elapsed() < PATIENCE || !matches!(assessment.decision, Decision::Ask { .. }) {
                return assessment;
            }
            closely().await
        })
        .await
    }

    async fn look_and_weigh(
        &self,
        request: &ExecRequest,
        limits: &Limits,
        care: Care,
    ) -> (Assessment, Option<(Step, Found)>) {
        let mut outline = self.weigh(request, limits, &Targets::default());
        // What only looks or moves about never asks, and in auto only what goes out once something was read.
        let asks_of_edits = match request.approval {
            ApprovalMode::Ask | ApprovalMode::Thread => true,
            ApprovalMode::Auto => request.grants.ask_of_some(),
        };
        let may_ask = asks_of_edits || request.has_read;
        let over_value = match &mut outline.1 {
            Some(step) if request.mode == Mode::Act && asks_of_edits => {
                self.weigh_scrolls(step, limits).await
            }
            Some(_) | None => None,
        };
        let is_looked_up = outline.1.as_ref().is_some_and(|step| step.parts().any(Step::is_looked_up));
        let asks = may_ask && (is_looked_up || over_value.is_some());
        match outline {
            (Assessment { decision: Decision::Ask { .. } | Decision::Run, .. }, Some(step)) if asks => {
                let mut found = self.find(request, &step).await;
                let ports = (&*self.desktop, &*self.browser);
                target::keep_to_fence(ports, &request.fence, &step, &mut found).await;
                // Nobody has seen a call that runs by the plan: what it would do is told by what it meets, each time.
                let is_planned = request.planning.agreed().is_some() && request.approved.is_none();
                // What a later part of a batch finds under its points is held against what was there before the first.
                let reads_controls = found.parts.len() > 1
                    || (care == Care::Closely && found.parts.iter().all(|its| !its.leaves));
                if !is_planned && reads_controls {
                    for (part, its) in step.parts().zip(&mut found.parts) {
                        its.read(&controls_under(part, self.desktop()).await);
                    }
                }
                let mut targets = found.together();
                if let Some(control) = over_value {
                    targets.risk = targets.risk.max(Some(Risk::Edit));
                    targets.why.get_or_insert(format!("scrolling over {control} changes its value"));
                }
                if is_planned {
                    for (at, (part, its)) in step.parts().zip(&found.parts).enumerate() {
                        // What a later part of a batch meets, those before it make: it is looked at when it comes.
                        let met = if at == 0 { Some(self.met(part).await) } else { None };
                        targets.meet(part, its, met.as_ref());
                    }
                }
                let (mut assessment, step) = self.weigh(request, limits, &targets);
                if request.call.tool == tool::PLAN && care == Care::Closely {
                    let contract = self.contract(request.call.arguments.clone()).await;
                    // What its user has made of it may be less.
                    let is_left = |contract: &_| match request.approved {
                        Some(_) => Ok(()),
                        None => contract::check_binds(contract),
                    };
                    if let Err(error) = contract.and_then(|contract| is_left(&contract)) {
                        assessment.decision = Decision::Forbid { error };
                    }
                }
                (assessment, step.map(|step| (step, found)))
            }
            (assessment, step) => (assessment, step.map(|step| (step, Found::default()))),
        }
    }

    async fn find(&self, request: &ExecRequest, step: &Step) -> Found {
        let grants = request.grants.after_reading(request.has_read);
        target::find(&*self.desktop, &*self.browser, &grants, &request.ports, step).await
    }

    /// What is scrolled where something takes the wheel as a new value is no moving about; what that is, for the user.
    async fn weigh_scrolls(&self, step: &mut Step, limits: &Limits) -> Option<String> {
        let mut control = None;
        for part in step.parts_mut() {
            let plan = part.plan();
            if plan.act().is_some_and(Act::scrolls) && plan.risk() < Risk::Edit {
                let met = self.value_at(plan.display(), plan.points(), limits).await;
                if met.is_some() {
                    part.raise(Risk::Edit);
                }
                control = control.or(met);
            }
        }
        control
    }

    /// Runs a call, where [`Router::assess`] says that it may run or `approved` is its digest. Never fails: what
    /// went wrong is in the result.
    pub async fn execute(&self, call: Call) -> Executed {
        let Call { request, cancel, limits } = call;
        let started = Instant::now();
        let secrets = self.secrets.all().await;
        let mut of_the_screen = true;
        let mut outcome = match self.permit(&request, &limits, &cancel).await {
            Ok((step, ..)) if step.needs() >= Needs::Browser && self.desktop.is_locked().await => {
                self.desktop.release_all();
                let error = tool_error(ToolErrorKind::NotAvailable, desktop::LOCKED);
                Outcome::failed(step.name(), Effect::Refused, error)
            }
            Ok((step, found)) => {
                of_the_screen = !step.parts().all(|part| matches!(part.spec().group, Group::Server(_)));
                let (desktop, browser) = (self.desktop.clone(), self.browser.clone());
                let display = step.plan().display();
                let grants = request.grants.after_reading(request.has_read);
                let by_plan = request.planning.agreed().filter(|_| request.approved.is_none());
                let watched = by_plan.cloned().map(|contract| (self, contract));
                let cx = Context::new(desktop, browser, secrets.clone(), limits, cancel, display);
                let cx = cx.within(request.planning.agreed().cloned(), request.waived, &self.home);
                let cx = cx.with_ports(request.ports, self.clipboards.clone());
                let asks = match request.approval {
                    ApprovalMode::Auto if request.has_read => Some(Asks::Leaving),
                    ApprovalMode::Auto if request.grants.ask_of_some() => Some(Asks::Rules),
                    ApprovalMode::Auto => None,
                    ApprovalMode::Ask | ApprovalMode::Thread => Some(Asks::All),
                };
                let allowed = asks.map(|asks| Allowed { asks, found, grants, watched });
                let acts = |part: &Step| part.risk() >= Risk::Edit && part.plan().reach().is_on_the_screen();
                let _acting = step.parts().any(acts).then(|| self.hands.begin());
                carry_out(&step, allowed.as_ref(), &cx).await
            }
            Err(error) => Outcome::failed(&request.call.tool, Effect::Refused, error),
        };
        redaction::redact(&mut outcome, &secrets);
        let Outcome {
            effect,
            summary,
            data,
            error,
            picture,
            mut read,
            changes,
            output,
            finished,
            told,
            dot: _,
            in_part: _,
        } = outcome;
        if picture.is_some() && of_the_screen {
            Source::add(&mut read, [Source::Screen]);
        }
        let took = started.elapsed().into();
        let result = ExecResult { effect, summary, data, error, picture: None, read, changes, output, took };
        Executed { result, picture, finished, told }
    }

    /// What an agent was told of elements: from now on their refs stand for what they were then.
    pub async fn told(&self, all: Vec<ToldElements>) {
        for told in all {
            self.desktop.told(told).await;
        }
    }

    /// What a call would change in a file, for its question; `None` if it changes none, or if that cannot be shown.
    pub async fn diff(&self, request: &ExecRequest, limits: &Limits) -> Option<String> {
        let tools = self.registry.all();
        let env = self.env_with(limits, &tools, &request.ports, request.mode);
        let step = env.plan(&request.call.tool, &request.call.arguments).ok()?;
        let diffs = step.parts().filter_map(|part| part.plan().writes());
        let mut all = Vec::new();
        for write in diffs {
            let (space, write) = (request.ports.space.clone()?, write.clone());
            let preview = tokio::task::spawn_blocking(move || {
                let diff = write.preview(&space).ok()?;
                Some(format!("--- {}\n{}", write.path, tool::shown_diff(&diff)?))
            });
            all.extend(preview.await.ok().flatten());
        }
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Of each call in this one, in order: the entry of a calendar that it is about, as its user knows it, or where a command
    /// runs. Empty if it is about neither, or if that cannot be told.
    pub async fn entries(&self, call: &ToolCall, ports: &Ports, limits: &Limits) -> Vec<String> {
        let tools = self.registry.all();
        let env = self.env_with(limits, &tools, ports, Mode::Act);
        let mut all = Vec::new();
        for part in call.parts() {
            let step = env.plan(&part.tool, &part.arguments).ok();
            all.push(match step.as_ref().map(|step| step.plan().reach()) {
                Some(Reach::Calendar { entry, .. }) => {
                    target::beyond::entry_called(entry, ports).await.unwrap_or_default()
                }
                Some(Reach::Command(Ordered::Run { hosts, .. })) => {
                    let below = part.arguments.get("folder").and_then(serde_json::Value::as_str);
                    runs_in(ports, below.unwrap_or_default(), hosts)
                }
                _ => String::new(),
            });
        }
        all
    }

    /// Takes back one thing that a call changed, where nobody has changed it since. What it does on the screen keeps to the
    /// fence that is set: whoever calls has the desktop. `false` if it was as before already.
    ///
    /// # Errors
    /// Why it stays as it is.
    pub async fn take_back(&self, change: &Change, ports: &Ports) -> Result<bool, ToolError> {
        let none =
            |what: &str| tool_error(ToolErrorKind::NotAvailable, format!("there is no {what} here any more"));
        match change.of {
            Changed::File => {
                let space = ports.space.clone().ok_or_else(|| none("folder"))?;
                let keep = ports.keep.clone().ok_or_else(|| none("folder"))?;
                tool::take_back_file(space, keep, change).await
            }
            Changed::Event | Changed::Reminder => {
                let port = ports.agenda.clone().ok_or_else(|| none("calendar"))?;
                tool::take_back_entry(&*port.agenda, change).await.map(|()| true)
            }
            Changed::Clipboard | Changed::Value | Changed::Window if self.desktop.is_locked().await => {
                Err(tool_error(ToolErrorKind::NotAvailable, desktop::LOCKED))
            }
            Changed::Clipboard | Changed::Value | Changed::Window => {
                tool::take_back_on_screen(&*self.desktop, &self.clipboards, change).await.map(|()| true)
            }
        }
    }

    /// The plan of a call that may run now, or why it may not. It is looked again while a look may have run out of time, for
    /// what could not be read is no other target, and once more for what was allowed and does not seem to be there.
    async fn permit(
        &self,
        request: &ExecRequest,
        limits: &Limits,
        cancel: &CancellationToken,
    ) -> Result<(Step, Found), ToolError> {
        let end = Instant::now() + READY;
        let mut is_first = true;
        loop {
            let begun = Instant::now();
            // What is looked at once more may have become another control meanwhile.
            let care = if is_first { Care::Quickly } else { Care::Closely };
            let permitted = self.permit_as_it_is(request, limits, care).await;
            let may_be_late = begun.elapsed() >= PATIENCE && Instant::now() < end;
            let looks_again = may_be_late || (is_first && request.approved.is_some());
            if permitted.is_ok() || !looks_again || cancel.is_cancelled() {
                return permitted;
            }
            is_first = false;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn permit_as_it_is(
        &self,
        request: &ExecRequest,
        limits: &Limits,
        care: Care,
    ) -> Result<(Step, Found), ToolError> {
        let (assessment, planned) = desktop::one_look(self.look_and_weigh(request, limits, care)).await;
        let planned = planned.ok_or_else(|| tool_error(ToolErrorKind::Failed, "the call has no plan"));
        match assessment.decision {
            Decision::Run => {}
            Decision::Ask { reason } => {
                let why = match &request.approved {
                    None => format!("the user has to say yes first: {reason}"),
                    Some(yes) if yes.digest != assessment.digest => {
                        "the user's yes was for another call, or for something \
                         else than is there now; look again"
                            .to_owned()
                    }
                    Some(yes) if Some(yes.risk) < assessment.risk => {
                        format!("the user's yes was for less than it would do now; look again: {reason}")
                    }
                    Some(_) => return planned,
                };
                return Err(tool_error(ToolErrorKind::Forbidden, why));
            }
            Decision::Forbid { error } => return Err(error),
        }
        planned
    }

    fn weigh(&self, request: &ExecRequest, limits: &Limits, targets: &Targets) -> (Assessment, Option<Step>) {
        let call = &request.call;
        let tools = self.registry.all();
        let mut definitions: Vec<_> =
            call.parts().iter().map(|part| self.registry.hash(&part.tool)).collect();
        if call.tool == "batch" {
            definitions.push(self.registry.hash(&call.tool));
        }
        let digest = digest::digest(call, &definitions, &targets.identity());
        // No yes for longer covers a part that none can name, whatever the others are.
        let is_nameable = !(targets.is_unknown || targets.is_ungranted);
        let touches = if is_nameable { targets.touches.clone() } else { Vec::new() };
        let hosts = targets.hosts.clone();
        let env = self.env_with(limits, &tools, &request.ports, request.mode);
        let step = match env.plan(&call.tool, &call.arguments) {
            Ok(step) => step,
            Err(Refusal { risk, needs, error }) => {
                // A mistake is told before the mode is: either way it does not run.
                let decision = Decision::Forbid { error };
                let outside = Vec::new();
                return (
                    Assessment { risk, needs, seat: false, digest, hosts, touches, outside, decision },
                    None,
                );
            }
        };
        let grants = &request.grants;
        let granted = match touches.is_empty() {
            false if touches.iter().all(|touch| grants.covers_in_run(touch)) => Granted::InRun,
            false if touches.iter().all(|touch| grants.covers(touch)) => Granted::Yes,
            _ => Granted::No,
        };
        let risk = targets.risk.map_or(step.risk(), |risk| risk.max(step.risk()));
        // What a script sends, and where to, nobody can tell: it asks whatever was read.
        let always = step.parts().find_map(|part| part.plan().always());
        let goes_out = always.is_some()
            || step.parts().any(Step::goes_anywhere)
            || (request.has_read && (targets.leaves || !hosts.is_empty()));
        let egress = if goes_out { Egress::Unknown } else { Egress::Known };
        let agreed = request.planning.agreed().filter(|_| risk >= Risk::Edit);
        let outside = agreed.map(|contract| contract::outside(contract, &targets.needs));
        let planned = match &outside {
            Some(outside) if outside.is_empty() && !targets.is_unknown => Planned::Yes,
            Some(_) | None => Planned::No,
        };
        let outside = outside.unwrap_or_default();
        // The user's own rule for an application stands above all that was allowed; what cannot be told may be in it.
        let ruled = targets.touches.iter().find(|touch| request.grants.ask_of(touch));
        let may_be_ruled = ruled.is_some() || (targets.is_unknown && request.grants.ask_of_some());
        let verdict = match decide(request.mode, request.approval, risk, granted, egress, planned) {
            Verdict::Run if (may_be_ruled && risk >= Risk::Edit) || always.is_some() => Verdict::Ask,
            verdict => verdict,
        };
        let may_plan = !matches!(request.planning, Planning::Off) && request.approval != ApprovalMode::Auto;
        let decision = match (verdict, &targets.refusal) {
            // Nobody is asked about what would then not be done.
            (Verdict::Ask, Some(error)) => Decision::Forbid { error: error.clone() },
            (Verdict::Run | Verdict::Ask, _) if step.name() == tool::PLAN && !may_plan => {
                let message = "not available here: there are no plans in this run; go on without one";
                Decision::Forbid { error: tool_error(ToolErrorKind::NotAvailable, message) }
            }
            (Verdict::Run, _) => Decision::Run,
            (Verdict::Ask, None) => {
                let ruled = ruled.and_then(|touch| touch.app.as_deref());
                let ruled = ruled.map(|app| format!("you want to be asked of each act in {app}"));
                let mut why: Vec<&str> = targets.why.as_deref().into_iter().chain(always).collect();
                if why.is_empty() {
                    why.extend(ruled.as_deref());
                }
                Decision::Ask { reason: question(&step, risk, &why.join("; "), &outside) }
            }
            (Verdict::Forbid, _) => {
                let message = format!(
                    "{} is not for plan mode, which only looks; say what you would do, and let the user switch to act mode",
                    step.name()
                );
                Decision::Forbid { error: tool_error(ToolErrorKind::Forbidden, message) }
            }
        };
        let (risk, needs, seat) = (Some(risk), Some(step.needs()), step.seat());
        (Assessment { risk, needs, seat, digest, hosts, touches, outside, decision }, Some(step))
    }
}

/// Where a command runs, and what it can reach: `~/Miki/drafts · no network`.
fn runs_in(ports: &Ports, below: &str, hosts: &[String]) -> String {
    let below = untrusted::line(below, 80);
    let below = below.trim_matches('/');
    let folder =
        if matches!(below, "" | ".") { ports.folder() } else { format!("{}/{below}", ports.folder()) };
    let reaches = match (ports.unconfined(), hosts.is_empty()) {
        (Some(_), _) => "no sandbox".to_owned(),
        (None, true) => "no network".to_owned(),
        (None, false) => format!("network: {}", hosts.join(", ")),
    };
    format!("{folder} · {reaches}")
}

/// Why the user is asked, with the model's own reason told apart from ours.
fn question(step: &Step, risk: Risk, why: &str, outside: &[String]) -> String {
    if step.name() == tool::PLAN {
        return "within a plan that you allow nothing is asked; what leaves it asks as before".to_owned();
    }
    if step.name() == ASK_HUMAN {
        return why.to_owned();
    }
    let ours = match risk {
        Risk::Consequential => "can do what cannot be undone, or send something out",
        Risk::Observe | Risk::Navigate | Risk::Edit => "can change something on this computer",
    };
    let mut why = if why.is_empty() { String::new() } else { format!(": {why}") };
    if !outside.is_empty() {
        why.push_str(&format!("; not in the plan: {}", outside.join(", ")));
    }
    let what = if step.plan().steps().is_empty() { step.name() } else { "one of these actions" };
    match step.plan().reason() {
        Some(theirs) => format!("{what} {ours}{why}; the model says: {theirs}"),
        None => format!("{what} {ours}{why}"),
    }
}
