//! What is said where a run ends because nobody could be asked.

use fold::call::{Line, lines};
use protocol::tool::{ASK_HUMAN, Approval, ApprovalMode};

use crate::cli::text::plain;

pub fn say(approval: &Approval, is_json: bool) {
    crate::cli::tell_aside(&told(approval, is_json));
}

/// What nobody could be asked, why it is asked, and how the run comes further than this time.
fn told(approval: &Approval, is_json: bool) -> String {
    let calls = lines(approval).into_iter().take(super::CALLS).map(|Line { tool, about, goes_to }| {
        let there = if goes_to.is_empty() { String::new() } else { format!(" → {}", plain(&goes_to)) };
        format!("{} {}{there}", plain(&tool), plain(&about)).trim_end().to_owned()
    });
    let (calls, why) = (calls.collect::<Vec<_>>().join("; "), plain(&super::plan::reason(approval)));
    let way = way_on(approval, is_json);
    format!("miki: needs an approval, and nobody can be asked here: {calls}\n  {why}\n  {way}")
}

/// No more than helps: nothing that was given already.
fn way_on(approval: &Approval, is_json: bool) -> String {
    let here = if is_json { "without --json at a terminal" } else { "at a terminal" };
    let asked = format!("to be asked, run it {here}, or give the goal to the app (miki)");
    match approval.asks {
        // What it wants to know, no setting answers.
        _ if approval.call.tool == ASK_HUMAN => asked,
        ApprovalMode::Auto => format!("{asked}; this is asked with --approval auto, too"),
        ApprovalMode::Ask | ApprovalMode::Thread => format!(
            "{asked}; with --approval auto, it asks only before what cannot be undone or may carry something away"
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_could_not_be_asked_is_told_what_helps_and_nothing_that_was_given_already() {
        let asked = |asks: ApprovalMode, tool: &str| {
            let approval = json!({
                "id": "q-1", "call": { "id": "c-1", "tool": tool, "arguments": { "key": "a" } }, "risk": "edit",
                "reason": "it asks", "digest": "d", "deadline": 0, "asks": asks,
            });
            serde_json::from_value::<Approval>(approval).unwrap()
        };
        let ask = told(&asked(ApprovalMode::Ask, "press"), true);
        assert!(ask.starts_with("miki: needs an approval, and nobody can be asked here: press a"), "{ask}");
        assert!(ask.contains("without --json at a terminal") && ask.contains("--approval auto"), "{ask}");
        assert!(!ask.contains('{') && !ask.contains("thread"), "{ask}");
        let auto = way_on(&asked(ApprovalMode::Auto, "press"), false);
        assert!(
            auto.ends_with("this is asked with --approval auto, too") && !auto.contains("--json"),
            "{auto}"
        );
        assert!(!auto.contains("with --approval auto, it"), "{auto}");
        let human = way_on(&asked(ApprovalMode::Ask, ASK_HUMAN), false);
        assert!(!human.contains("--approval"), "{human}");
    }
}
