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
        About::Plan { contract, changes, forecast } => {
            let mut text =
                "\n? Miki proposes a plan. What it names runs without further questions; all else asks.\n"
                    .to_owned();
            for (number, clause) in (1..).zip(contract.clauses()) {
                text += &format!("{number:>4}  {}\n", line(&clause.to_string()));
            }
            for change in changes {
                text += &format!("  changed: {}\n", line(change));
            }
            if let Some(forecast) = forecast {
                text += &format!("  {forecast}\n");
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
mod tests;
