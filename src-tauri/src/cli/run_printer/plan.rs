//! A plan in a terminal: what is asked of it, how it is answered, and what came of it.

use protocol::contract::{About, Clause, Contract, Finding, Report};
use protocol::tool::{Answer, Approval};

use crate::cli::text::{bounded, plain};

/// Characters of one clause, at its beginning and at its end.
const CLAUSE: (usize, usize) = (400, 100);

/// All that a question about a plan, or about its result, is about; `None` if it is about a call.
pub(super) fn shown(approval: &Approval) -> Option<String> {
    match &*approval.about {
        About::Call { .. } => None,
        About::Plan { contract, changes } => {
            let mut text =
                "\n? Miki proposes a plan. What it names runs without further questions; all else asks.\n"
                    .to_owned();
            for (number, clause) in (1..).zip(contract.clauses()) {
                text += &format!("{number:>4}  {}\n", line(&clause.to_string()));
            }
            for change in changes {
                text += &format!("  changed: {}\n", line(change));
            }
            Some(text)
        }
        About::Result { findings } => {
            let looked = findings.iter().filter(|finding| !finding.is_open_question());
            Some(format!("\n? Is it done? {}\n{}", plain(&approval.reason), found(looked)))
        }
    }
}

/// What may be answered; `None` if the question is about a call.
pub(super) fn choices(approval: &Approval) -> Option<String> {
    match &*approval.about {
        About::Call { .. } => None,
        About::Plan { .. } => Some(
            "  allow this plan? [y]es; yes without some of it, or with another bound: y -3 -4 turns=10; [n]o, and why if \
             you like: "
                .into(),
        ),
        About::Result { .. } => Some("  take it as it is? [y]es; [n]o, and why if you like: ".into()),
    }
}

/// A yes to a plan that the user has changed: `y -3 turns=10`. `None` if the line says anything else.
pub(super) fn edited(line: &str, approval: &Approval) -> Option<Answer> {
    let About::Plan { contract, .. } = &*approval.about else { return None };
    let mut words = line.split_whitespace();
    if !matches!(words.next()?.to_lowercase().as_str(), "y" | "yes") {
        return None;
    }
    let clauses = contract.clauses();
    let mut left: Contract = (**contract).clone();
    let mut is_changed = false;
    for word in words {
        is_changed = true;
        let bound = word.split_once('=');
        match (word.strip_prefix('-'), bound) {
            (Some(number), _) => {
                let at = number.parse::<usize>().ok()?.checked_sub(1)?;
                left = left.without(clauses.get(at)?);
            }
            (None, Some(("turns", turns))) => left.budget.turns = Some(turns.parse().ok()?),
            (None, Some(("minutes", minutes))) => left.budget.minutes = Some(minutes.parse().ok()?),
            (None, Some(("dollars", dollars))) => left.budget.dollars = Some(dollars.parse().ok()?),
            (None, _) => return None,
        }
    }
    let arguments = serde_json::to_value(left).ok()?;
    is_changed.then_some(Answer::Edit { arguments })
}

/// What came of a plan, at the end of its run.
pub(super) fn report(report: &Report) -> String {
    let Report { contract, deviations, findings } = report;
    let bound =
        contract.clauses().into_iter().filter(|clause| !matches!(clause, Clause::Step(_) | Clause::Check(_)));
    let bound = bound.map(|clause| line(&clause.to_string())).collect::<Vec<_>>().join("; ");
    let mut text = match bound.is_empty() {
        true => "plan:\n".to_owned(),
        false => format!("plan: {bound}\n"),
    };
    for deviation in deviations {
        let said = match &deviation.answer {
            Some(Answer::Deny) => "denied",
            Some(Answer::Once | Answer::Thread | Answer::Until { .. } | Answer::Edit { .. }) => "allowed",
            None => "not answered",
        };
        let outside = deviation.outside.join(", ");
        text += &format!("  left it, {said}: {} ({})\n", plain(&deviation.tool), line(&outside));
    }
    text + &found(findings.iter())
}

fn found<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let told = |finding: &Finding| {
        let mark = match (finding.passed, finding.is_open_question()) {
            (true, _) => "passed",
            (false, true) => "open",
            (false, false) => "failed",
        };
        format!("  {mark}: {} ({})\n", line(&finding.check.to_string()), line(&finding.found))
    };
    findings.map(told).collect()
}

fn line(text: &str) -> String {
    bounded(text, CLAUSE.0, CLAUSE.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::contract::{Check, Deviation};
    use protocol::ids::{ApprovalId, CallId, Timestamp};
    use protocol::tool::{Risk, ToolCall};
    use serde_json::json;

    fn contract() -> Contract {
        serde_json::from_value(json!({
            "steps": ["write\u{1b}[2J it"], "applications": ["Mousepad"], "effects": ["edit", "send"],
            "budget": {"turns": 9}, "checks": [{"check": "fileExists", "path": "~/a/b"}],
        }))
        .unwrap()
    }

    fn asked(about: About) -> Approval {
        Approval {
            id: ApprovalId("q".into()),
            call: ToolCall { id: CallId("c".into()), tool: "plan".into(), arguments: json!({}) },
            risk: Risk::Consequential,
            reason: "the plan asks you: is it fine?".into(),
            digest: "d".into(),
            deadline: Timestamp(0),
            window: None,
            target: None,
            goes_to: Vec::new(),
            seen: None,
            picture: None,
            hosts: Vec::new(),
            touches: Vec::new(),
            read: Vec::new(),
            about: Box::new(about),
        }
    }

    fn findings() -> Vec<Finding> {
        let check = Check::FileExists { path: "~/a/b".into() };
        let question = Check::AskUser { question: "is it fine?".into() };
        let found = |check, found: &str| Finding { check, passed: false, found: found.into() };
        vec![found(check, "it is not there"), found(question, "the user was not asked yet")]
    }

    #[test]
    fn a_plan_is_asked_about_clause_by_clause_and_steers_no_terminal() {
        let changes = vec!["+ effect send".to_owned()];
        let approval = asked(About::Plan { contract: Box::new(contract()), changes });
        assert_eq!(
            shown(&approval).unwrap(),
            "\n? Miki proposes a plan. What it names runs without further questions; all else asks.\n   \
             1  effect edit\n   2  effect send\n   3  application Mousepad\n   4  check the file ~/a/b is there\n   \
             5  at most 9 turns\n   6  step write\\u{001B}[2J it\n  changed: + effect send\n"
        );
        assert!(choices(&approval).unwrap().contains("y -3 -4 turns=10"));
        let result = asked(About::Result { findings: findings() });
        assert_eq!(
            shown(&result).unwrap(),
            "\n? Is it done? the plan asks you: is it fine?\n  failed: the file ~/a/b is there (it is not there)\n"
        );
        assert_eq!((shown(&asked(About::default())), choices(&asked(About::default()))), (None, None));
    }

    #[test]
    fn a_plan_is_allowed_without_what_is_struck_out_and_only_by_clear_words() {
        let approval = asked(About::Plan { contract: Box::new(contract()), changes: Vec::new() });
        let left = |line: &str| match edited(line, &approval)? {
            Answer::Edit { arguments } => serde_json::from_value::<Contract>(arguments).ok(),
            _ => None,
        };
        let without = left("y -2 -4 turns=3 minutes=20").unwrap();
        assert_eq!(without.effects.iter().map(|effect| effect.name()).collect::<Vec<_>>(), ["edit"]);
        assert_eq!(
            (without.checks.len(), without.budget.turns, without.budget.minutes),
            (0, Some(3), Some(20))
        );
        assert_eq!(left("YES -5").unwrap().budget.turns, None);
        for unclear in ["y", "yes", "n -1", "y -0", "y -7", "y 4", "y -x", "y turns=", "y turns=-1", "-4", ""]
        {
            assert_eq!(left(unclear), None, "{unclear}");
        }
        assert_eq!(edited("y -1", &asked(About::default())), None, "a call is no plan");
    }

    #[test]
    fn a_report_names_what_bound_what_left_it_and_what_was_found() {
        let answer = Some(Answer::Deny);
        let outside = vec!["application xterm".to_owned()];
        let deviations = vec![Deviation { tool: "type".into(), outside, answer }];
        let told = report(&Report { contract: contract(), deviations, findings: findings() });
        assert_eq!(
            told,
            "plan: effect edit; effect send; application Mousepad; at most 9 turns\n  \
             left it, denied: type (application xterm)\n  failed: the file ~/a/b is there (it is not there)\n  \
             open: you say yes to: is it fine? (the user was not asked yet)\n"
        );
    }
}
