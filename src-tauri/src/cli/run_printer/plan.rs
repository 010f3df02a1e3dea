//! A plan in a terminal: what is asked of it, how it is answered, and what came of it.

use protocol::ErrorView;
use protocol::contract::{About, Clause, Contract, EffectClass, Finding, Report};
use protocol::tool::{Answer, Approval};

use crate::cli::text::{bounded, plain};

/// Characters of one clause, at its beginning and at its end.
const CLAUSE: (usize, usize) = (400, 100);

/// All that a question about a plan, or about its result, is about; `None` if it is about a call.
pub(super) fn shown(approval: &Approval) -> Option<String> {
    match &*approval.about {
        About::Call { .. } | About::Elicitation(_) => None,
        About::Plan { contract, changes, forecast } => {
            let mut text =
                "\n? Miki proposes a plan. What it names runs without further questions; all else asks.\n"
                    .to_owned();
            for (number, clause) in (1..).zip(contract.clauses()) {
                text += &format!("{number:>4}  {}\n", line(&in_words(&clause)));
            }
            for change in changes {
                text += &format!("  changed: {}\n", line(&changed(change)));
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
        About::Call { .. } | About::Elicitation(_) => None,
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
    let bound = bound.map(|clause| line(&in_words(&clause))).collect::<Vec<_>>().join("; ");
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
        let outside = deviation.outside.iter().map(|clause| needed(clause)).collect::<Vec<_>>().join(", ");
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

/// Why something is asked: what of it the plan does not name, in words.
pub(super) fn reason(approval: &Approval) -> String {
    let About::Call { outside, .. } = &*approval.about else { return approval.reason.clone() };
    let words: Vec<String> = outside.iter().map(|clause| needed(clause)).collect();
    // As the engine has put them there.
    approval.reason.replace(
        &format!("not in the plan: {}", outside.join(", ")),
        &format!("not in the plan: {}", words.join(", ")),
    )
}

/// What is wrong with a plan that was changed, without the names that its fields have for models.
pub(in crate::cli) fn fault(mut error: ErrorView) -> ErrorView {
    error.message = without_fields(&error.message);
    error
}

/// `budget.turns = 0` is "turns = 0", and `hosts[1]` "host 2".
fn without_fields(message: &str) -> String {
    const LISTS: [(&str, &str); 5] = [
        ("steps[", "step "),
        ("applications[", "application "),
        ("folders[", "folder "),
        ("hosts[", "host "),
        ("checks[", "check "),
    ];
    let Some((list, one)) = LISTS.iter().find(|(list, _)| message.starts_with(list)) else {
        return message.strip_prefix("budget.").unwrap_or(message).to_owned();
    };
    let rest = &message[list.len()..];
    let at = rest.split_once(']').and_then(|(at, rest)| Some((at.parse::<usize>().ok()?, rest)));
    match at {
        Some((at, rest)) => match rest.strip_prefix('.') {
            Some(field) => format!("{one}{}: {field}", at + 1),
            None => format!("{one}{}{rest}", at + 1),
        },
        None => message.to_owned(),
    }
}

/// One thing that a plan says.
fn in_words(clause: &Clause) -> String {
    match clause {
        Clause::Effect(effect) => format!("may {}", does(*effect)),
        Clause::Application(name) => format!("in the application {name}"),
        Clause::Host(host) => format!("on the pages of {host}"),
        Clause::Folder(path) => format!("with the files in {path}"),
        Clause::Check(check) => format!("done when {check}"),
        Clause::Turns(1) => "at most 1 turn of the model".into(),
        Clause::Turns(turns) => format!("at most {turns} turns of the model"),
        Clause::Minutes(_) | Clause::Dollars(_) | Clause::Step(_) => clause.to_string(),
    }
}

/// A line of what was changed: `+ effect send`.
fn changed(line: &str) -> String {
    match line.split_once(' ') {
        Some(("+", clause)) => format!("new: {}", needed(clause)),
        Some(("-", clause)) => format!("no more: {}", needed(clause)),
        _ => line.to_owned(),
    }
}

/// A clause as the journal has it: `effect run`, `application xterm`.
fn needed(clause: &str) -> String {
    let effect = |name: &str| EffectClass::ALL.into_iter().find(|effect| effect.name() == name);
    match clause.split_once(' ') {
        Some(("effect", name)) => {
            effect(name).map_or_else(|| clause.to_owned(), |effect| format!("to {}", does(effect)))
        }
        Some(("application", name)) => format!("the application {name}"),
        Some(("host", host)) => format!("the pages of {host}"),
        Some(("folder", path)) => format!(
            "the folder {}",
            path.strip_prefix("of ").map_or_else(|| path.to_owned(), |file| format!("of {file}"))
        ),
        Some(("check", check)) => format!("done when {check}"),
        _ => clause.to_owned(),
    }
}

/// After "may" or "to".
fn does(effect: EffectClass) -> &'static str {
    match effect {
        EffectClass::Edit => "click, type and change things",
        EffectClass::Clipboard => "use the clipboard",
        EffectClass::Browse => "go to pages and enter things there",
        EffectClass::Run => "run commands and programs",
        EffectClass::Send => "send messages",
        EffectClass::Submit => "submit forms",
        EffectClass::Publish => "publish",
        EffectClass::Delete => "delete",
        EffectClass::Pay => "pay",
        EffectClass::Sign => "sign",
        EffectClass::Install => "install",
        EffectClass::System => "change the system's settings",
        EffectClass::Remote => "act on other computers",
        EffectClass::Passwords => "use a password manager",
    }
}

fn line(text: &str) -> String {
    bounded(text, CLAUSE.0, CLAUSE.1)
}

#[cfg(test)]
mod tests;
