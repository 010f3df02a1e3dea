//! A run as it was asked for: all that is needed to go on with it in another process.

use serde::{Deserialize, Serialize};

use crate::budget::{Forecast, Most};
use crate::command::{Recording, Unattended};
use crate::ids::{ModelId, RunId};
use crate::tool::{ApprovalMode, Mode};

/// What a run works on and within which limits. Fixed when it starts, and journaled whole in `RunStarted`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSpec {
    pub goal: String,
    pub model: ModelId,
    /// Where the model's provider is asked; `None` for the address in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    pub mode: Mode,
    pub approval: ApprovalMode,
    /// Turns that the model may take.
    pub max_steps: u32,
    /// What else it may use up; its steps are in `max_steps`.
    #[serde(default, skip_serializing_if = "Most::is_open")]
    pub most: Most,
    /// What it may come to, as far as earlier runs tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Whether the provider may search the web.
    #[serde(default)]
    pub search: bool,
    /// `None` in journals of version 1, which did not keep it: such a run cannot go on after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    #[serde(default)]
    pub unattended: Unattended,
    /// The folder that its files and commands are confined to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The run whose agent asked for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// A run whose model is recorded or replayed cannot go on after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// Whether its model may propose a plan, within which it then works unasked.
    #[serde(default)]
    pub plan: bool,
    /// What the user said to the run at the top of its tree; `None` if this one is it. The goal of a child is its parent's
    /// words, and none of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_goal: Option<String>,
    /// The groups of tools that it has, beside those for the course of the work itself; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// It has no tools itself but those to start agents, to wait for them and to stop them: `groups` are theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conducts: bool,
    /// How often it still goes on by itself after Miki ended in the middle of it; 0: its user is offered to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carry_on: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How often a run goes on by itself where its user wants that: not for ever, if it is what ends Miki.
pub const CARRY_ON: u32 = 3;

/// The provider of models that are agents of other programs.
pub const GUEST: &str = "mcp";

impl RunSpec {
    /// Whether its model is an agent of another program, which works at the desktop for its own user's goal.
    pub fn is_guests(&self) -> bool {
        self.model.provider() == Some(GUEST)
    }

    /// Whether an agent set its goal: that one may have read anything, and what it wants is nobody's order.
    pub fn is_told_by_an_agent(&self) -> bool {
        self.parent.is_some() || self.is_guests()
    }

    /// All that it may use up.
    pub fn budget(&self) -> Most {
        Most { steps: Some(self.max_steps), ..self.most }
    }

    /// What its user said: of a child, to the run at the top of its tree.
    pub fn words(&self) -> &str {
        self.user_goal.as_deref().unwrap_or(&self.goal)
    }

    /// Whether it goes on by itself after Miki ended in the middle of it.
    pub fn carries_on(&self) -> bool {
        self.carry_on > 0 && self.parent.is_none() && self.can_go_on()
    }

    /// What it is about, for people: what its user said, or what the agent above it wants.
    pub fn told(&self) -> &str {
        if self.parent.is_some() { &self.goal } else { self.words() }
    }

    /// Whether another process can go on with it.
    pub fn can_go_on(&self) -> bool {
        self.fence.is_some() && self.recording.is_none() && !self.is_guests()
    }
}

/// Where acts may go. Empty lists allow everything; our own windows are refused either way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fence {
    /// Indexes of displays.
    #[serde(default)]
    pub displays: Vec<u32>,
    /// Parts of applications' names, in any case.
    #[serde(default)]
    pub apps: Vec<String>,
    /// The same of applications that are never acted on, whatever else is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never: Vec<String>,
}

impl Fence {
    /// Whether all that this fence allows is allowed by `other`, too.
    pub fn is_within(&self, other: &Self) -> bool {
        let displays = other.displays.is_empty()
            || (!self.displays.is_empty() && self.displays.iter().all(|one| other.displays.contains(one)));
        let allowed =
            |app: &String| other.apps.iter().any(|outer| app.to_lowercase().contains(&outer.to_lowercase()));
        let apps = other.apps.is_empty() || (!self.apps.is_empty() && self.apps.iter().all(allowed));
        // A shorter part of a name is a part of more names.
        let refused =
            |app: &String| self.never.iter().any(|part| app.to_lowercase().contains(&part.to_lowercase()));
        displays && apps && other.never.iter().all(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(displays: &[u32], apps: &[&str]) -> Fence {
        let apps = apps.iter().map(|app| (*app).to_owned()).collect();
        Fence { displays: displays.to_vec(), apps, never: Vec::new() }
    }

    #[test]
    fn a_fence_is_within_another_only_where_it_allows_nothing_more() {
        let none = Fence::default();
        let editor = fence(&[], &["mousepad"]);
        assert!(none.is_within(&none) && editor.is_within(&none) && editor.is_within(&editor));
        assert!(!none.is_within(&editor), "no fence is wider than any");
        assert!(fence(&[], &["Mousepad 2"]).is_within(&editor), "a longer part of a name allows less");
        assert!(!fence(&[], &["pad"]).is_within(&editor), "a shorter one allows more");
        assert!(!fence(&[], &["mousepad", "xterm"]).is_within(&editor));
        assert!(fence(&[1], &[]).is_within(&fence(&[0, 1], &[])));
        assert!(!fence(&[2], &[]).is_within(&fence(&[0, 1], &[])));
        let without = |never: &str| Fence { never: vec![never.into()], ..Fence::default() };
        assert!(without("bank").is_within(&none) && without("bank").is_within(&without("GnuBank")));
        assert!(!none.is_within(&without("bank")) && !without("gnubank").is_within(&without("bank")));
    }

    #[test]
    fn a_run_of_an_older_journal_is_read_but_cannot_go_on() {
        let old =
            r#"{"goal":"g","model":"gemini/x","mode":"act","approval":"ask","maxSteps":30,"search":true}"#;
        let spec: RunSpec = serde_json::from_str(old).unwrap();
        assert!(!spec.can_go_on());
        assert_eq!((spec.goal.as_str(), spec.search, spec.fence), ("g", true, None));
    }
}
