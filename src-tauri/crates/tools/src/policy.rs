//! Whether a call may run: a pure function of mode, approval mode, risk and grant. Nothing else decides.

use std::collections::BTreeSet;

use protocol::ids::Timestamp;
use protocol::settings::{Settings, StandingGrant};
use protocol::tool::{ApprovalMode, Grant, Mode, Risk};

use crate::{applications, hosts};

/// What the user allowed in this session: tools, each in one application or at one address
/// ([`protocol::tool::Answer::Thread`]; never covers Consequential calls), and the hosts that may be gone to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    allowed: BTreeSet<Grant>,
    /// Until the run ends: these count where every step is asked about, too.
    in_run: BTreeSet<Grant>,
    hosts: BTreeSet<String>,
    /// The user's own words.
    words: BTreeSet<String>,
    /// Parts of names of applications, in lower case, of which each act is asked about.
    asked: BTreeSet<String>,
    /// A browser is among them: pages are known by their addresses.
    asks_of_pages: bool,
    /// Something was read that is not the user's own words.
    has_read: bool,
}

impl Grants {
    /// Remembers a yes for the session, for what the user saw.
    pub fn allow(&mut self, touches: impl IntoIterator<Item = Grant>) {
        self.allowed.extend(touches);
    }

    /// What was allowed for the session.
    pub fn allowed(&self) -> impl Iterator<Item = &Grant> {
        self.allowed.iter()
    }

    /// Forgets a yes for the session; whether there was one.
    pub fn take_back(&mut self, grant: &Grant) -> bool {
        self.allowed.remove(grant)
    }

    /// Remembers a yes for the run.
    pub fn allow_in_run(&mut self, touches: impl IntoIterator<Item = Grant>) {
        self.in_run.extend(touches);
    }

    /// The same with what the settings say of applications, and what they allow at this time.
    pub fn with_settings(mut self, settings: &Settings, now: impl Fn() -> Timestamp) -> Self {
        self.asked = settings.ask_apps.iter().map(|app| app.to_lowercase()).collect();
        self.asks_of_pages = self.asked.iter().any(|part| applications::has_browser(part));
        let valid = settings.grants.iter().filter(|grant| grant.until.is_none_or(|until| until > now()));
        self.allow(valid.map(|StandingGrant { tool, app, until: _ }| Grant {
            tool: tool.clone(),
            app: Some(app.clone()),
        }));
        self
    }

    /// The same after something was read that is not the user's own words, or before.
    pub(crate) fn after_reading(&self, has_read: bool) -> Self {
        Self { has_read, ..self.clone() }
    }

    pub(crate) fn has_read(&self) -> bool {
        self.has_read
    }

    /// Whether there is an application of which each act is asked about.
    pub(crate) fn ask_of_some(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Whether each act in the application of that grant is asked about.
    pub(crate) fn ask_of(&self, grant: &Grant) -> bool {
        let app = grant.app.as_deref().unwrap_or_default().to_lowercase();
        let is_a_page = app.contains("://");
        (is_a_page && self.asks_of_pages) || self.asked.iter().any(|part| app.contains(part))
    }

    pub fn covers(&self, grant: &Grant) -> bool {
        self.allowed.contains(grant) && !self.ask_of(grant) || self.covers_in_run(grant)
    }

    pub(crate) fn covers_in_run(&self, grant: &Grant) -> bool {
        self.in_run.contains(grant) && !self.ask_of(grant)
    }

    /// Takes the user's own words, and the hosts that they name.
    pub fn note_words(&mut self, words: &str) {
        self.hosts.extend(hosts::named(words));
        self.words.insert(words.to_owned());
    }

    /// Whether the user's own words have this in them, by itself and not as a part of a word.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        let text = text.trim();
        let is_apart = |words: &str, at: usize| {
            let (before, rest) = words.split_at(at);
            let after = rest.strip_prefix(text).unwrap_or(rest);
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
        };
        let has_it =
            |words: &String| words.match_indices(text).any(|(at, _)| !text.is_empty() && is_apart(words, at));
        self.words.iter().any(has_it)
    }

    /// Takes the hosts that a question named and that the user said yes to, be it for once.
    pub fn visit(&mut self, hosts: &[String]) {
        self.hosts.extend(hosts.iter().cloned());
    }

    /// Forgets hosts that a yes named which was taken back.
    pub fn unvisit(&mut self, hosts: &[String]) {
        self.hosts.retain(|host| !hosts.contains(host));
    }

    /// Whether the user's words or an earlier yes named a host; with or without `www.` is the same. What stays on this
    /// machine needs no naming.
    pub(crate) fn knows(&self, host: &str) -> bool {
        let bare = host.strip_prefix("www.").unwrap_or(host);
        hosts::is_here(host) || self.hosts.contains(bare) || self.hosts.contains(&format!("www.{bare}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Run,
    Ask,
    Forbid,
}

/// Whether every tool that would ask was granted for the session or longer, or for this very run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    InRun,
    Yes,
    No,
}

/// Whether anything goes out to a host that nobody named, after content was read that may have asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Egress {
    Known,
    Unknown,
}

/// Whether the plan that the user agreed to names all that it would touch and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planned {
    Yes,
    No,
}

pub(crate) fn decide(
    mode: Mode,
    approval: ApprovalMode,
    risk: Risk,
    granted: Granted,
    egress: Egress,
    planned: Planned,
) -> Verdict {
    match (mode, risk) {
        (Mode::Plan | Mode::Act, Risk::Observe) => Verdict::Run,
        (Mode::Plan, Risk::Navigate | Risk::Edit | Risk::Consequential) => Verdict::Forbid,
        (Mode::Act, Risk::Navigate) => Verdict::Run,
        (Mode::Act, Risk::Edit | Risk::Consequential) if planned == Planned::Yes => Verdict::Run,
        (Mode::Act, Risk::Edit) => match (approval, granted) {
            (ApprovalMode::Auto, _) | (_, Granted::InRun) | (ApprovalMode::Thread, Granted::Yes) => {
                Verdict::Run
            }
            (ApprovalMode::Thread, Granted::No) | (ApprovalMode::Ask, Granted::Yes | Granted::No) => {
                Verdict::Ask
            }
        },
        (Mode::Act, Risk::Consequential) => match (approval, egress) {
            (ApprovalMode::Auto, Egress::Known) => Verdict::Run,
            (ApprovalMode::Auto, Egress::Unknown) | (ApprovalMode::Ask | ApprovalMode::Thread, _) => {
                Verdict::Ask
            }
        },
    }
}

#[cfg(test)]
mod tests;
