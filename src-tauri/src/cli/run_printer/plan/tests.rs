//! A plan and its answers in a terminal.

use super::*;
use protocol::budget::Forecast;
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
        asks: Default::default(),
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
    let forecast = Some(Forecast { runs: 8, steps: (12, 20), tokens: (40_000, 90_000), cost: None });
    let approval = asked(About::Plan { contract: Box::new(contract()), changes, forecast });
    assert_eq!(
        shown(&approval).unwrap(),
        "\n? Miki proposes a plan. What it names runs without further questions; all else asks.\n   \
             1  may click, type and change things\n   2  may send messages\n   3  in the application Mousepad\n   \
             4  done when the file ~/a/b is there\n   5  at most 9 turns of the model\n   \
             6  step write\\u{001B}[2J it\n  changed: new: to send messages\n  \
             about 40k-90k tokens, 12-20 steps (from 8 runs)\n"
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
    let approval = asked(About::Plan { contract: Box::new(contract()), changes: Vec::new(), forecast: None });
    let left = |line: &str| match edited(line, &approval)? {
        Answer::Edit { arguments } => serde_json::from_value::<Contract>(arguments).ok(),
        _ => None,
    };
    let without = left("y -2 -4 turns=3 minutes=20").unwrap();
    assert_eq!(without.effects.iter().map(|effect| effect.name()).collect::<Vec<_>>(), ["edit"]);
    assert_eq!((without.checks.len(), without.budget.turns, without.budget.minutes), (0, Some(3), Some(20)));
    assert_eq!(left("YES -5").unwrap().budget.turns, None);
    for unclear in ["y", "yes", "n -1", "y -0", "y -7", "y 4", "y -x", "y turns=", "y turns=-1", "-4", ""] {
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
        "plan: may click, type and change things; may send messages; in the application Mousepad; at most 9 turns of the \
         model\n  left it, denied: type (the application xterm)\n  failed: the file ~/a/b is there (it is not there)\n  \
             open: you say yes to: is it fine? (the user was not asked yet)\n"
    );
}

#[test]
fn no_name_of_a_field_is_told_to_a_person() {
    let outside = vec!["application xterm".to_owned(), "effect run".to_owned(), "folder of ~/a/b".to_owned()];
    let about = About::Call { outside, diff: None, unconfined: false };
    let mut approval = asked(about);
    approval.reason =
        "click can change something; not in the plan: application xterm, effect run, folder of ~/a/b; the \
                       model says: go"
            .into();
    assert_eq!(
        reason(&approval),
        "click can change something; not in the plan: the application xterm, to run commands and programs, the folder of \
         ~/a/b; the model says: go"
    );
    for (message, told) in [
        ("budget.turns = 0 is outside 1-500", "turns = 0 is outside 1-500"),
        ("hosts[1] = \"*\" is no host", "host 2 = \"*\" is no host"),
        ("checks[0].sha256 is not 64 digits", "check 1: sha256 is not 64 digits"),
        ("checks[x", "checks[x"),
        ("the number of steps = 21 is outside 0-20", "the number of steps = 21 is outside 0-20"),
    ] {
        assert_eq!(without_fields(message), told);
    }
    // Each effect has words of its own.
    let words: std::collections::BTreeSet<_> = EffectClass::ALL.map(does).into();
    assert_eq!(words.len(), EffectClass::ALL.len());
}
