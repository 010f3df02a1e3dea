//! What a model can get wrong, and every way its turn can end, through whole runs in virtual time; counted.

use models::scripted::Step;
use models::{Message, ProposedCall};
use protocol::event::RunEnd;
use protocol::tool::ApprovalMode;
use protocol::turn::StopReason;
use serde_json::{Value, json};

use crate::bench::{Bench, click, done};

fn call(id: &str, name: &str, arguments: Value) -> ProposedCall {
    ProposedCall::new(Some(id.into()), name, arguments)
}

fn calls(calls: Vec<ProposedCall>) -> Step {
    Step::turn("", calls, StopReason::ToolCalls)
}

/// Calls of one turn, and how many of them are good clicks; the others must come back as this kind of error.
fn mistakes() -> Vec<(&'static str, Vec<ProposedCall>, usize, &'static str)> {
    let bad = "bad_arguments";
    let one = |name: &str, arguments: Value| vec![call("p1", name, arguments)];
    let good = json!({ "x": 1, "y": 1 });
    let many = (0..50).map(|n| call(&format!("p{n}"), "click", good.clone())).collect();
    let mixed = (0..50).map(|n| call(&format!("p{n}"), ["click", "fly"][n % 2], good.clone())).collect();
    let twins = vec![call("p1", "click", good.clone()), call("p1", "click", good.clone())];
    let odd_twins = vec![call("p1", "click", good.clone()), call("p1", "click", json!({}))];
    vec![
        ("an unknown tool", one("fly", json!({})), 0, "unknown_tool"),
        ("a name of none", one("", json!({})), 0, "unknown_tool"),
        ("a name of 5 MB", one(&"x".repeat(5_000_000), json!({})), 0, "unknown_tool"),
        ("another type", one("click", json!({ "x": "left", "y": [] })), 0, bad),
        ("out of range", one("click", json!({ "x": 5000, "y": -3 })), 0, bad),
        ("a field missing", one("click", json!({ "x": 500 })), 0, bad),
        ("a field too many", one("type", json!({ "text": "x", "secretly": true })), 0, bad),
        ("no object but text", one("click", json!("x: 1, y: 1")), 0, bad),
        ("no object but nothing", one("click", Value::Null), 0, bad),
        ("no object but a list", one("click", json!([1, 1])), 0, bad),
        ("a text of 5 MB", one("type", json!({ "text": "a".repeat(5_000_000) })), 0, bad),
        ("a string of 5 MB", one("press", json!({ "key": "a".repeat(5_000_000) })), 0, bad),
        ("a field of 5 MB", one("click", json!({ "x": 1, "y": "1".repeat(5_000_000) })), 0, bad),
        (
            "an unknown field of 5 MB",
            one("click", json!({ "x": 1, "y": 1, "z": "1".repeat(5_000_000) })),
            0,
            bad,
        ),
        ("50 calls at once", many, 50, ""),
        ("50 calls, every other one wrong", mixed, 25, "unknown_tool"),
        ("two calls of one id", twins, 2, ""),
        ("two calls of one id, one wrong", odd_twins, 1, bad),
    ]
}

/// The answers that the next request has, as (id, kind of error).
fn answers(bench: &Bench, request: usize) -> Vec<(String, Value)> {
    let requests = bench.model.requests();
    let Some(Message::ToolResults(answers)) = requests[request].messages.last() else {
        panic!("no results went back")
    };
    let told = |answer: &models::ToolAnswer| {
        (answer.id.clone().unwrap_or_default(), answer.response["error"]["kind"].clone())
    };
    answers.iter().map(told).collect()
}

// bar: C63
#[tokio::test(start_paused = true)]
async fn what_a_model_gets_wrong_goes_back_as_an_error_each_time_and_the_run_goes_on() {
    let (mut cases, mut answered, mut clicked) = (0, 0, 0);
    for (what, proposed, good, kind) in mistakes() {
        let ids: Vec<String> = proposed.iter().filter_map(|call| call.id.clone()).collect();
        let mut bench = Bench::new(vec![calls(proposed), done()]).await;
        // Small, for the pictures of an unoptimised build.
        bench.desktop.edit(|scene| {
            scene.displays[0].bounds.width = 192;
            scene.displays[0].bounds.height = 108;
        });
        bench.start(ApprovalMode::Auto).await;
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }), "{what}");
        assert_eq!(bench.clicks(), good, "{what}");
        let answers = answers(&bench, 1);
        assert_eq!(answers.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), ids, "{what}");
        let wrong: Vec<&Value> =
            answers.iter().map(|(_, kind)| kind).filter(|kind| !kind.is_null()).collect();
        assert_eq!(wrong.len(), ids.len() - good, "{what}");
        assert!(wrong.iter().all(|found| *found == kind), "{what}: {wrong:?}");
        cases += 1;
        answered += answers.len();
        clicked += good;
    }
    println!("{cases} turns with mistakes, {answered} calls answered, {clicked} of them done");
}

// bar: C63
#[tokio::test(start_paused = true)]
async fn three_turns_of_mistakes_are_mended_and_a_fourth_ends_the_run() {
    let mut cases = 0;
    for (what, proposed, good, _) in mistakes() {
        // Once is enough for what is large.
        if good > 0 || what.contains("MB") {
            continue;
        }
        let wrong = || calls(proposed.clone());
        let mut bench = Bench::new(vec![wrong(), wrong(), wrong(), click(), done()]).await;
        bench.start(ApprovalMode::Auto).await;
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }), "{what}");
        assert_eq!(bench.clicks(), 1, "{what}");
        let mut bench = Bench::new(vec![wrong(), wrong(), wrong(), wrong(), click(), done()]).await;
        bench.start(ApprovalMode::Auto).await;
        let end = bench.end().await;
        assert!(
            matches!(&end, RunEnd::Failed { message, .. } if message.contains("malformed")),
            "{what}: {end:?}"
        );
        assert_eq!((bench.clicks(), bench.model.steps_left()), (0, 2), "{what}");
        cases += 1;
    }
    println!("{cases} mistakes made three and four times over");
}

// bar: C65
#[tokio::test(start_paused = true)]
async fn every_way_a_turn_can_end_ends_or_goes_on_in_a_defined_way_and_runs_nothing_of_a_cut_one() {
    let proposed = || vec![call("p1", "click", json!({ "x": 1, "y": 1 }))];
    let refused = || StopReason::Refused { category: "cyber".into() };
    let blocked = || StopReason::Blocked { reason: "SAFETY".into() };
    let ends = [
        ("token limit", StopReason::MaxTokens),
        ("context full", StopReason::ContextFull),
        ("refused", refused()),
        ("blocked", blocked()),
    ];
    let mut cases = 0;
    for (what, stop) in ends {
        for (text, calls) in [("", vec![]), ("I see", vec![]), ("", proposed()), ("I see", proposed())] {
            let mut bench = Bench::new(vec![Step::turn(text, calls, stop.clone()), done()]).await;
            bench.start(ApprovalMode::Auto).await;
            let end = bench.end().await;
            let has_reason = matches!(&end, RunEnd::Failed { message, .. } if !message.is_empty());
            assert!(has_reason, "{what} {text:?}: {end:?}");
            assert_eq!((bench.clicks(), bench.model.steps_left()), (0, 1), "{what} {text:?}");
            cases += 1;
        }
    }
    // Nothing at all: it is asked for again, four times in all.
    let empty = || Step::turn(" \n", vec![], StopReason::End);
    let empties =
        |count: usize| std::iter::repeat_with(empty).take(count).chain([done()]).collect::<Vec<_>>();
    for (count, completes) in [(3, true), (4, false)] {
        let mut bench = Bench::new(empties(count)).await;
        bench.start(ApprovalMode::Auto).await;
        let end = bench.end().await;
        assert_eq!(matches!(end, RunEnd::Completed { .. }), completes, "{end:?}");
        cases += 1;
    }
    // Words alone are the end; a pause goes on.
    for (first, steps_left) in
        [(Step::text("that is all"), 1), (Step::turn("wait", vec![], StopReason::Paused), 0)]
    {
        let mut bench = Bench::new(vec![first, done()]).await;
        bench.start(ApprovalMode::Auto).await;
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        assert_eq!(bench.model.steps_left(), steps_left);
        cases += 1;
    }
    println!("{cases} ways a turn ended");
}
