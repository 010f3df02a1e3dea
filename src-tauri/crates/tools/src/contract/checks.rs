//! Looking at what a plan says must be so. Nothing is changed but by a command that the user saw in the plan, and nothing
//! that a file holds or a command prints is told.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agenda::{Range, ReminderFilter, ReminderState};
use browser::{Browser, Links, TextQuery};
use desktop::{Desktop, ElementQuery, Scope, WindowView};
use protocol::contract::{Check, Contract, Finding};
use sha2::{Digest, Sha256};
use space::terminal::policy::{self, Effect as Does};
use space::terminal::{CommandSpec, Exit, Job, Stopped, Strength};

use super::is_same;
use super::read::{file_in, real};
use crate::ports::AgendaPort;
use crate::tool::{self, Context};
use crate::{Limits, Ports, digest, untrusted, withheld};

const PATIENCE: Duration = Duration::from_secs(5);
/// A calendar is on another computer.
const ASKED_ELSEWHERE: Duration = Duration::from_secs(15);
/// Longest run of a check's command.
const COMMAND: Duration = Duration::from_secs(60);
/// Events are looked for from so many days ago until so many days ahead.
const DAYS: (i64, i64) = (31, 1_000);
/// Bytes of a file that are read, at the most.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
const PAGE_CHARS: usize = 1_000_000;
const FOUND_CHARS: usize = 200;

/// What checks look through.
pub(crate) struct CheckPorts {
    pub desktop: Arc<dyn Desktop>,
    pub browser: Arc<dyn Browser>,
    pub home: Option<PathBuf>,
    pub limits: Arc<Limits>,
    /// Of the session: its commands and its calendars.
    pub ports: Ports,
}

/// How long a look at all of a contract's checks may take.
pub fn longest_look(contract: &Contract) -> Duration {
    contract.checks.iter().map(patience).sum()
}

fn patience(check: &Check) -> Duration {
    match check {
        Check::CommandExit { .. } => COMMAND + PATIENCE,
        Check::Reminder { .. } | Check::Event { .. } => ASKED_ELSEWHERE,
        Check::FileExists { .. }
        | Check::FileContains { .. }
        | Check::FileHash { .. }
        | Check::Window { .. }
        | Check::Element { .. }
        | Check::PageAddress { .. }
        | Check::PageText { .. }
        | Check::AskUser { .. } => PATIENCE,
    }
}

/// Whether a check passes, and what was found.
type CheckResult = Result<String, String>;

impl CheckPorts {
    pub(crate) fn of(cx: &Context) -> Self {
        let (desktop, browser) = (cx.desktop.clone(), cx.browser.clone());
        let (home, limits, ports) = (cx.home.clone(), cx.limits.clone(), cx.ports.clone());
        Self { desktop, browser, home, limits, ports }
    }

    /// All checks of a contract, in order. `waived` are those that the user was asked about and said yes to.
    pub(crate) async fn findings(&self, contract: &Contract, waived: &[Check]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for check in &contract.checks {
            let look = tokio::time::timeout(patience(check), self.look(check, contract, waived));
            let seen = look.await.unwrap_or_else(|_| Err("nothing could be looked at in time".into()));
            let passed = seen.is_ok();
            let found = seen.unwrap_or_else(|found| found);
            let found = untrusted::line(&found, FOUND_CHARS);
            findings.push(Finding { check: check.clone(), passed, found });
        }
        findings
    }

    async fn look(&self, check: &Check, contract: &Contract, waived: &[Check]) -> CheckResult {
        let is_of_the_screen = matches!(
            check,
            Check::Window { .. } | Check::Element { .. } | Check::PageAddress { .. } | Check::PageText { .. }
        );
        if is_of_the_screen && self.desktop.is_locked().await {
            return Err(desktop::LOCKED.to_owned());
        }
        match check {
            Check::FileExists { path } => self.file(path, contract, FileCondition::There).await,
            Check::FileContains { path, text } => {
                self.file(path, contract, FileCondition::Text(text.clone())).await
            }
            Check::FileHash { path, sha256 } => {
                self.file(path, contract, FileCondition::Hash(sha256.clone())).await
            }
            Check::Window { application, title } => self.window(application, title.as_deref()).await,
            Check::Element { application, name, role, value } => {
                self.element(application, name, role.as_deref(), value.as_deref()).await
            }
            Check::PageAddress { address } => self.page_address(address).await,
            Check::PageText { text } => self.page_text(text).await,
            Check::AskUser { .. } if waived.contains(check) => Ok("the user said yes".into()),
            Check::AskUser { .. } => Err("the user was not asked yet".into()),
            Check::CommandExit { command, code } => self.command(command, *code, contract).await,
            Check::Reminder { title } => self.reminder(title).await,
            Check::Event { title } => self.event(title).await,
        }
    }

    /// Runs it as `runCommand` would, in the same sandbox; what that tool would ask about is not run. Its output is nobody's.
    async fn command(&self, line: &str, code: i32, contract: &Contract) -> CheckResult {
        let terminal = self.ports.terminal.clone().ok_or("this session has no folder to run commands in")?;
        if let Strength::None { why } = terminal.strength() {
            return Err(format!("no command is run unasked, since nothing confines it here: {why}"));
        }
        let weighed = policy::weigh(line);
        let changes = weighed.effect != Does::Reads;
        let asked = weighed.unclear.or_else(|| weighed.destructive.into_iter().next());
        let asked = asked.or_else(|| tool::named_in(line, None, changes, &self.ports).why);
        if let Some(why) = asked {
            return Err(format!("no command is run unasked of which this holds: {why}"));
        }
        let outside = super::outside(contract, &super::of_command(&self.ports));
        if changes && !outside.is_empty() {
            return Err(format!("it changes something, and is not in the plan: {}", outside.join(", ")));
        }
        let mut spec = CommandSpec::new(line);
        spec.timeout = Some(COMMAND);
        // It looks through the folder first.
        let started = tokio::task::spawn_blocking(move || terminal.start(spec, |_| {})).await;
        let job = started.map_err(|panic| panic.to_string())?.map_err(|error| error.to_string())?;
        // Whoever looks may be stopped: nothing of it goes on then.
        let running = Running(job);
        let outcome = running.0.wait().await.map_err(|error| error.to_string())?;
        if !tool::held_back(&self.ports, &running.0).await.is_empty() {
            return Err("it made what is run later, and that was not asked for".into());
        }
        match outcome.exit {
            Exit::Code(ended) if i64::from(ended) == i64::from(code) => Ok(format!("it ends with {ended}")),
            Exit::Code(ended) => Err(format!("it ends with {ended}")),
            Exit::Stopped(_) => {
                Err(format!("it was stopped: it took longer than {} s, or too much", COMMAND.as_secs()))
            }
        }
    }

    fn agenda(&self) -> Result<Arc<AgendaPort>, String> {
        self.ports.agenda.clone().ok_or_else(|| "no calendar is set up".to_owned())
    }

    async fn reminder(&self, title: &str) -> CheckResult {
        let filter = ReminderFilter { state: ReminderState::All, list: None };
        let found = self.agenda()?.agenda.reminders(&filter).await.map_err(|error| error.to_string())?;
        match found.reminders.iter().find(|one| one.title == title) {
            Some(one) if one.done => Ok("it is there, ticked off".into()),
            Some(_) => Ok("it is there".into()),
            None => Err(format!("none of {} reminders is called so", found.reminders.len())),
        }
    }

    async fn event(&self, title: &str) -> CheckResult {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let range = Range::around(now, DAYS.0, DAYS.1, agenda::local_zone());
        let range = range.map_err(|error| error.to_string())?;
        let found = self.agenda()?.agenda.events(&range, None).await.map_err(|error| error.to_string())?;
        match found.events.iter().find(|one| one.title == title && !one.cancelled) {
            Some(one) => Ok(format!("it is there, on {}", one.start.date())),
            None => Err(format!("none of {} events is called so", found.events.len())),
        }
    }

    async fn file(&self, path: &str, contract: &Contract, wanted: FileCondition) -> CheckResult {
        let home = self.home.clone().ok_or("no home folder is known")?;
        let (path, folders) = (path.to_owned(), contract.folders.clone());
        let look = tokio::task::spawn_blocking(move || look_at_file(&path, &folders, &home, &wanted));
        look.await.unwrap_or_else(|panic| Err(format!("the file cannot be looked at: {panic}")))
    }

    async fn windows(&self) -> Result<Vec<WindowView>, String> {
        self.desktop.windows().await.map_err(|error| error.to_string())
    }

    async fn window(&self, application: &str, title: Option<&str>) -> CheckResult {
        let windows = self.windows().await?;
        let of_app = windows.iter().filter(|window| is_same(application, &window.app));
        let titles: Vec<&str> = of_app.map(|window| window.title.as_str()).collect();
        let is_there = match title {
            Some(part) => titles.iter().any(|title| title.to_lowercase().contains(&part.to_lowercase())),
            None => !titles.is_empty(),
        };
        match (is_there, titles.as_slice()) {
            (true, _) => Ok("it is there".into()),
            (false, []) => Err(format!("{application} has no window")),
            (false, titles) => Err(format!("its windows are: {}", titles.join(" | "))),
        }
    }

    async fn element(
        &self,
        application: &str,
        name: &str,
        role: Option<&str>,
        value: Option<&str>,
    ) -> CheckResult {
        let query = ElementQuery {
            app: Some(application.to_owned()),
            query: Some(name.to_owned()),
            scope: Scope::All,
            limit: self.limits.ui_nodes,
            deadline: Some(PATIENCE),
            ..ElementQuery::default()
        };
        let snapshot = self.desktop.elements(query).await.map_err(|error| error.to_string())?;
        if !is_same(application, &snapshot.app) {
            return Err(format!("{application} shows nothing; {} was found", snapshot.app));
        }
        let told = withheld::of_app(&*self.desktop, &snapshot.app, snapshot.pid);
        told.map_err(|error| error.message)?;
        let is_it = |found: &&desktop::Element| {
            found.name == name && role.is_none_or(|role| found.role.eq_ignore_ascii_case(role))
        };
        let all: Vec<_> = snapshot.elements.iter().filter(is_it).collect();
        let Some(wanted) = value else {
            return if all.is_empty() { Err("it is not there".into()) } else { Ok("it is there".into()) };
        };
        match all.as_slice() {
            [] => Err("it is not there".into()),
            all if all.iter().any(|one| one.value == wanted) => Ok("it has that value".into()),
            [first, ..] => Err(format!("its value is “{}”", first.value)),
        }
    }

    async fn page_address(&self, address: &str) -> CheckResult {
        let tabs = self.browser.tabs().await.map_err(|error| error.to_string())?;
        let front = tabs.iter().find(|tab| tab.front).ok_or("no page is open")?;
        let below = front.url.strip_prefix(address.trim_end_matches('/'));
        match below {
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '?', '#']) => Ok("it is there".into()),
            Some(_) | None => Err(format!("the page in front is {}", front.url)),
        }
    }

    async fn page_text(&self, text: &str) -> CheckResult {
        let query = TextQuery { offset: 0, limit: PAGE_CHARS, links: Links::Left };
        let page = self.browser.read(query).await.map_err(|error| error.to_string())?;
        if page.text.contains(text) {
            Ok("it says so".into())
        } else {
            Err(format!("{} does not say it", page.url))
        }
    }
}

/// A command that ends when nobody waits for it any more.
struct Running(Arc<Job>);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.is_running() {
            self.0.stop(Stopped::Cancelled);
        }
    }
}

enum FileCondition {
    There,
    Text(String),
    Hash(String),
}

/// The file as it really is: no link leads out of the plan's folders. Blocking.
fn look_at_file(path: &str, folders: &[String], home: &Path, wanted: &FileCondition) -> CheckResult {
    let told = |error: protocol::tool::ToolError| error.message;
    let file = file_in(path, folders, Some(home)).map_err(told)?;
    let metadata = file.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "it is not there".to_owned(),
        _ => format!("it cannot be looked at: {error}"),
    })?;
    let real_file = real(&file, home).map_err(told)?;
    let is_in = |folder: &String| {
        let inner = folder.strip_prefix("~/").map_or_else(|| PathBuf::from(folder), |inner| home.join(inner));
        inner.canonicalize().is_ok_and(|folder| real_file.starts_with(folder))
    };
    if !folders.iter().any(is_in) {
        return Err("a link leads it out of the plan's folders".into());
    }
    if !metadata.is_file() {
        return Err("it is no file".into());
    }
    if matches!(wanted, FileCondition::There) {
        return Ok("it is there".into());
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!("it is larger than {MOST_BYTES} bytes"));
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(&real_file);
    opened
        .and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
        .map_err(|error| format!("it cannot be read: {error}"))?;
    let passes = match wanted {
        FileCondition::There => true,
        FileCondition::Text(text) => bytes.windows(text.len()).any(|part| part == text.as_bytes()),
        FileCondition::Hash(hash) => digest::hex(&Sha256::digest(&bytes)) == *hash,
    };
    match (passes, wanted) {
        (true, _) => Ok("it is so".into()),
        (false, FileCondition::Hash(_)) => Err("it is there with another hash".into()),
        (false, FileCondition::There | FileCondition::Text(_)) => Err("it is there without that text".into()),
    }
}
