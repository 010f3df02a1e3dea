//! What agents say to each other, bounded: whatever a child did, its parent's model reads no more than a report of it.

use serde::{Deserialize, Serialize};

use crate::ids::CallId;
use crate::tool::Changed;
use crate::turn::Usd;

/// Characters of one text of a report, and texts in one list of it.
const TEXT_CHARS: usize = 1_000;
const LIST: usize = 30;
/// Characters of a whole report.
pub const REPORT_CHARS: usize = 8_000;

/// What a run's agents used and did, with all below them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentsSummary {
    pub tokens: u64,
    /// Of the calls whose price is known; `None` if it is of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    pub ends: AgentsEnds,
    /// What they tried to change and what was done of it, as [`crate::view::Tried`] counts.
    pub done: u32,
    pub not_done: u32,
    /// What can be taken back, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<AgentsChange>,
    /// What else they did, which nothing takes back, oldest first, each in one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
}

/// How many agents ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentsEnds {
    pub completed: u32,
    /// They say that they are done, and nothing was done of what they tried.
    pub came_to_nothing: u32,
    pub failed: u32,
    /// Of the failed: they needed a yes, and nobody could be asked.
    pub unanswered: u32,
    pub stopped: u32,
}

/// What an agent changed, which can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentsChange {
    pub call: CallId,
    pub of: Changed,
    pub name: String,
}

/// What a child has found out and done, in its model's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// What came of the goal.
    pub outcome: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Files that it made or changed, by their paths in the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What is left to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follow_ups: Vec<String>,
    /// How it knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// How many characters of it are left out; 0 if it is whole.
    #[serde(default, skip_serializing_if = "is_none_left_out")]
    pub left_out: usize,
}

fn is_none_left_out(left_out: &usize) -> bool {
    *left_out == 0
}

impl AgentReport {
    /// The same within its bounds; what is left out is counted.
    #[must_use]
    pub fn bounded(self) -> Self {
        let before = self.chars();
        let mut left = REPORT_CHARS;
        let mut text = |text: String| -> String {
            let kept: String = text.chars().take(TEXT_CHARS.min(left)).collect();
            left -= kept.chars().count();
            kept
        };
        let outcome = text(self.outcome);
        let mut list = |all: Vec<String>| -> Vec<String> {
            all.into_iter().take(LIST).map(&mut text).filter(|text| !text.is_empty()).collect()
        };
        let (findings, files) = (list(self.findings), list(self.files));
        let (follow_ups, evidence) = (list(self.follow_ups), list(self.evidence));
        let report = Self { outcome, findings, files, follow_ups, evidence, left_out: 0 };
        Self { left_out: self.left_out + (before - report.chars()), ..report }
    }

    fn chars(&self) -> usize {
        let lists = [&self.findings, &self.files, &self.follow_ups, &self.evidence];
        let all = lists.into_iter().flatten().chain([&self.outcome]);
        all.map(|text| text.chars().count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_ten_megabytes_is_cut_and_says_so() {
        let findings = vec!["あ".repeat(100_000); 100];
        let report = AgentReport { outcome: "done".into(), findings, ..AgentReport::default() };
        let cut = report.bounded();
        assert_eq!(cut.findings.len(), 8);
        assert_eq!(cut.chars() + cut.left_out, 10_000_004);
        assert!(cut.chars() <= REPORT_CHARS && serde_json::to_string(&cut).unwrap().len() < 40_000);
        let short = AgentReport { outcome: "done".into(), ..AgentReport::default() };
        assert_eq!(short.clone().bounded(), short);
    }
}
