//! A plan as a contract: what a run may do unasked once its user has said yes, how it is known to be done, and what came
//! of it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::{Forecast, Most};
use crate::elicitation::Elicitation;
use crate::tool::Answer;
use crate::turn::Usd;

/// What a run works within. The arguments of the tool `plan`, and of an [`Answer::Edit`] to its question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Contract {
    /// What will be done, in words for the user. They bind nothing.
    pub steps: Vec<String>,
    /// Applications that may be acted in, by any name that they are known by. A browser's pages are named by their hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<String>,
    /// Folders of the user's, below the home, whose files the checks may look at, and file tools and commands may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Hosts whose pages may be gone to and acted in: `example.org`, `localhost:8080`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What may be done there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub effects: BTreeSet<EffectClass>,
    #[serde(default, skip_serializing_if = "Budget::is_open")]
    pub budget: Budget,
    /// What must be so when it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

impl Contract {
    /// What differs from an earlier one, a line for each: `+ host example.org`, `- effect send`.
    pub fn changes_from(&self, before: &Self) -> Vec<String> {
        let (now, then) = (self.clauses(), before.clauses());
        let gone = then.iter().filter(|clause| !now.contains(clause)).map(|clause| ('-', clause));
        let new = now.iter().filter(|clause| !then.contains(clause)).map(|clause| ('+', clause));
        let (steps, binding): (Vec<_>, Vec<_>) =
            new.chain(gone).partition(|(_, clause)| matches!(clause, Clause::Step(_)));
        binding.into_iter().chain(steps).map(|(sign, clause)| format!("{sign} {clause}")).collect()
    }

    /// All that it binds to, the gravest first, and its steps, which bind nothing: no length of them moves a clause out of
    /// sight.
    pub fn clauses(&self) -> Vec<Clause> {
        let texts =
            |all: &[String], of: fn(String) -> Clause| all.iter().cloned().map(of).collect::<Vec<_>>();
        let mut all: Vec<Clause> = self.effects.iter().copied().map(Clause::Effect).collect();
        all.extend(texts(&self.applications, Clause::Application));
        all.extend(texts(&self.hosts, Clause::Host));
        all.extend(texts(&self.folders, Clause::Folder));
        all.extend(self.checks.iter().cloned().map(Clause::Check));
        let Budget { turns, minutes, dollars } = self.budget;
        all.extend(turns.map(Clause::Turns));
        all.extend(minutes.map(Clause::Minutes));
        all.extend(dollars.map(Clause::Dollars));
        all.extend(texts(&self.steps, Clause::Step));
        all
    }

    /// The same without one of its clauses.
    #[must_use]
    pub fn without(mut self, clause: &Clause) -> Self {
        match clause {
            Clause::Step(text) => self.steps.retain(|one| one != text),
            Clause::Application(text) => self.applications.retain(|one| one != text),
            Clause::Host(text) => self.hosts.retain(|one| one != text),
            Clause::Folder(text) => self.folders.retain(|one| one != text),
            Clause::Effect(effect) => drop(self.effects.remove(effect)),
            Clause::Check(check) => self.checks.retain(|one| one != check),
            Clause::Turns(_) => self.budget.turns = None,
            Clause::Minutes(_) => self.budget.minutes = None,
            Clause::Dollars(_) => self.budget.dollars = None,
        }
        self
    }
}

/// One thing that a contract says.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    Step(String),
    Application(String),
    Host(String),
    Folder(String),
    Effect(EffectClass),
    Check(Check),
    Turns(u32),
    Minutes(u32),
    Dollars(f64),
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(text) => write!(f, "step {text}"),
            Self::Application(name) => write!(f, "application {name}"),
            Self::Host(host) => write!(f, "host {host}"),
            Self::Folder(path) => write!(f, "folder {path}"),
            Self::Effect(effect) => write!(f, "effect {}", effect.name()),
            Self::Check(check) => write!(f, "check {check}"),
            Self::Turns(turns) => write!(f, "at most {turns} turns"),
            Self::Minutes(minutes) => write!(f, "at most {minutes} minutes"),
            Self::Dollars(dollars) => write!(f, "at most ${dollars}"),
        }
    }
}

/// What can be done to the user's things, as far as a call's target tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EffectClass {
    /// Clicks, texts, keys, values and windows, where nothing below is meant.
    Edit,
    /// The clipboard is read or written.
    Clipboard,
    /// Pages of the hosts are gone to, and get what is entered.
    Browse,
    /// What runs or starts what is typed: terminals, launchers, an editor's terminal; a control that runs something.
    Run,
    Send,
    Submit,
    Publish,
    Delete,
    Pay,
    Sign,
    Install,
    /// The system's own settings, packages, disks.
    System,
    /// Another computer's screen or shell.
    Remote,
    Passwords,
}

impl EffectClass {
    pub const ALL: [Self; 14] = [
        Self::Edit,
        Self::Clipboard,
        Self::Browse,
        Self::Run,
        Self::Send,
        Self::Submit,
        Self::Publish,
        Self::Delete,
        Self::Pay,
        Self::Sign,
        Self::Install,
        Self::System,
        Self::Remote,
        Self::Passwords,
    ];

    /// As contracts write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Clipboard => "clipboard",
            Self::Browse => "browse",
            Self::Run => "run",
            Self::Send => "send",
            Self::Submit => "submit",
            Self::Publish => "publish",
            Self::Delete => "delete",
            Self::Pay => "pay",
            Self::Sign => "sign",
            Self::Install => "install",
            Self::System => "system",
            Self::Remote => "remote",
            Self::Passwords => "passwords",
        }
    }

    /// Whether it may not be taken back.
    pub fn is_grave(self) -> bool {
        !matches!(self, Self::Edit | Self::Clipboard | Self::Browse)
    }
}

/// How much it may take; what is left out is bounded by the settings alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Turns of the model from the yes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Of work from the yes on; waiting for an answer does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// US dollars from the yes on, as far as costs are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

impl Budget {
    /// As runs are measured.
    pub fn most(&self) -> Most {
        let Self { turns, minutes, dollars } = *self;
        Most { steps: turns, minutes, tokens: None, cost: dollars.and_then(Usd::from_dollars) }
    }

    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

/// What can be looked at to know that work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Check {
    FileExists {
        path: String,
    },
    FileContains {
        path: String,
        text: String,
    },
    /// `sha256` in lower-case hex.
    FileHash {
        path: String,
        sha256: String,
    },
    /// A window of this application; with this in its title, where that is said.
    Window {
        application: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// An element by its whole name; with this role and value, where they are said.
    Element {
        application: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// The page in front is this address, or below it.
    PageAddress {
        address: String,
    },
    /// The page in front says this.
    PageText {
        text: String,
    },
    /// The user is asked when the model is done.
    AskUser {
        question: String,
    },
    /// A command in the session's folder ends with this code. It is run each time that it is looked at, in the sandbox.
    CommandExit {
        command: String,
        code: i32,
    },
    /// A reminder by its whole title, open or ticked off.
    Reminder {
        title: String,
    },
    /// An event by its whole title, from a month ago on.
    Event {
        title: String,
    },
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileExists { path } => write!(f, "the file {path} is there"),
            Self::FileContains { path, text } => write!(f, "the file {path} contains “{text}”"),
            Self::FileHash { path, sha256 } => write!(f, "the file {path} has the SHA-256 {sha256}"),
            Self::Window { application, title: None } => write!(f, "{application} has a window"),
            Self::Window { application, title: Some(title) } => {
                write!(f, "{application} has a window with “{title}” in its title")
            }
            Self::Element { application, name, role, value } => {
                let role = role.as_deref().unwrap_or("element");
                write!(f, "{application} shows the {role} “{name}”")?;
                value.as_ref().map_or(Ok(()), |value| write!(f, " with the value “{value}”"))
            }
            Self::PageAddress { address } => write!(f, "the page in front is {address}"),
            Self::PageText { text } => write!(f, "the page in front says “{text}”"),
            Self::AskUser { question } => write!(f, "you say yes to: {question}"),
            Self::CommandExit { command, code } => write!(f, "“{command}” exits with {code}"),
            Self::Reminder { title } => write!(f, "there is the reminder “{title}”"),
            Self::Event { title } => write!(f, "there is the event “{title}”"),
        }
    }
}

/// What was found when a check was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub check: Check,
    pub passed: bool,
    /// In words, bounded; never what a file holds.
    pub found: String,
}

impl Finding {
    /// What its user is asked right now, and so has neither passed nor failed.
    pub fn is_open_question(&self) -> bool {
        !self.passed && matches!(self.check, Check::AskUser { .. })
    }

    pub fn failed(&self) -> bool {
        !self.passed && !self.is_open_question()
    }
}

/// A call that left the contract, and what the user said to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    pub tool: String,
    /// The clauses that it left.
    pub outside: Vec<String>,
    /// `None` if it was not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What a question is about, beside its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum About {
    /// Whether it may be made; `outside` are the clauses of the contract that it leaves, where there is one.
    Call {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outside: Vec<String>,
        /// What it would change in a file: a unified diff, bounded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// It is a command, and nothing confines commands on this computer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unconfined: bool,
    },
    /// Whether the run may work by this contract.
    Plan {
        contract: Box<Contract>,
        /// From the one in force before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<String>,
        /// What a run by it may come to, as far as earlier runs tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forecast: Option<Forecast>,
    },
    /// Whether the work is taken as it is.
    Result { findings: Vec<Finding> },
    /// What a server wants to know in the middle of its call: that of `askHuman` stands for it, which no model made.
    Elicitation(Box<Elicitation>),
}

impl Default for About {
    fn default() -> Self {
        Self::Call { outside: Vec::new(), diff: None, unconfined: false }
    }
}

impl About {
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Call { outside, diff: None, unconfined: false } if outside.is_empty())
    }

    /// The checks that had not passed when this was asked: a yes takes them as they are.
    pub fn not_passed(&self) -> impl Iterator<Item = &Check> {
        let findings = match self {
            Self::Result { findings } => findings.as_slice(),
            Self::Call { .. } | Self::Plan { .. } | Self::Elicitation(_) => &[],
        };
        findings.iter().filter(|finding| !finding.passed).map(|finding| &finding.check)
    }
}

/// What came of a contract, at its run's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub contract: Contract,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<Deviation>,
    /// Of the last time that the checks were looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_effect_is_written_by_its_name() {
        for effect in EffectClass::ALL {
            assert_eq!(serde_json::to_value(effect).unwrap(), json!(effect.name()));
        }
    }

    #[test]
    fn a_field_that_is_not_known_is_refused_in_every_part() {
        let whole = json!({"steps": ["write it"], "applications": ["Mousepad"], "effects": ["edit"],
            "budget": {"turns": 5}, "checks": [{"check": "fileExists", "path": "~/a/b"}]});
        let contract: Contract = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!(serde_json::to_value(&contract).unwrap(), whole);
        for path in ["", "/budget", "/checks/0"] {
            let mut odd = whole.clone();
            odd.pointer_mut(path).unwrap()["extra"] = json!(1);
            assert!(serde_json::from_value::<Contract>(odd).is_err(), "{path}");
        }
        for (path, value) in [("/effects", json!(["everything"])), ("/checks/0/check", json!("shell"))] {
            let mut odd = whole.clone();
            *odd.pointer_mut(path).unwrap() = value;
            assert!(serde_json::from_value::<Contract>(odd).is_err(), "{path}");
        }
    }

    #[test]
    fn what_changed_is_told_clause_by_clause() {
        let of = |value| serde_json::from_value::<Contract>(value).unwrap();
        let before = of(json!({"steps": ["a"], "applications": ["Mousepad"], "effects": ["edit"]}));
        let after = of(json!({"steps": ["a"], "hosts": ["example.org"], "effects": ["edit", "send"]}));
        assert_eq!(
            after.changes_from(&before),
            ["+ effect send", "+ host example.org", "- application Mousepad"]
        );
        assert_eq!(after.changes_from(&after), [""; 0]);
        // Steps bind nothing: however many there are, what binds stands before them.
        let many = of(json!({"steps": ["x", "y"], "effects": ["pay"]})).changes_from(&before);
        assert_eq!(many[0], "+ effect pay");
        assert!(many.iter().skip(3).all(|line| line.contains(" step ")), "{many:?}");
        let bare = after.clauses().iter().fold(after.clone(), |left, clause| left.without(clause));
        assert_eq!(bare, Contract::default());
    }
}
