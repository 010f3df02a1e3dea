//! What tools a model is offered, and what that weighs in each request.

use models::Request;
use models::scripted::Step;
use protocol::command::RunOverrides;
use protocol::tool::ApprovalMode;
use serde_json::json;

use crate::bench::{Bench, click, done};

fn names(request: &Request) -> Vec<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

/// Characters of the system prompt and the tools, as JSON.
fn weight(request: &Request) -> usize {
    let of_tool = |tool: &models::ToolSpec| {
        json!({ "name": tool.name, "description": tool.description, "schema": tool.schema }).to_string().len()
    };
    request.system.len() + request.tools.iter().map(of_tool).sum::<usize>()
}

#[tokio::test]
async fn a_run_begins_with_what_any_goal_needs_and_gets_the_rest_when_it_asks() {
    let steps = vec![click(), Step::call("useTools", json!({ "groups": ["held"] })), click(), done(), done()];
    let mut bench = Bench::new(steps).await;
    let overrides = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    let session = bench.start_with(None, overrides.clone()).await;
    bench.end().await;
    bench.start_with(Some(session), overrides).await;
    bench.end().await;
    let requests = bench.model.requests();
    let first = names(&requests[0]);
    for (tool, is_there) in [
        ("elementsJson", true),
        ("click", true),
        ("launchApp", true),
        ("useTools", true),
        ("webRead", false),
        ("mouseDown", false),
        ("readClipboard", false),
    ] {
        assert_eq!(first.iter().any(|name| name == tool), is_there, "{tool}");
    }
    assert_eq!(names(&requests[1]), first, "an act changes nothing");
    // What was there stays where it was, so that as much as possible of the request is as before.
    let second = names(&requests[2]);
    assert_eq!(second[..first.len()], first);
    assert_eq!(second[first.len()..], ["move", "drag", "hold", "mouseDown", "mouseUp", "keyDown", "keyUp"]);
    assert_eq!(names(&requests[3]), second);
    assert_eq!(names(&requests[4]), second, "the next run of its session has them, too");
}

#[tokio::test]
async fn a_tool_that_was_not_offered_works_and_brings_its_group() {
    let mut bench = Bench::new(vec![Step::call("readClipboard", json!({})), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    let requests = bench.model.requests();
    assert!(!names(&requests[0]).contains(&"writeClipboard".to_owned()));
    assert!(names(&requests[1]).contains(&"writeClipboard".to_owned()));
}

#[tokio::test]
async fn what_every_request_begins_with_is_some_four_thousand_tokens() {
    let mut bench = Bench::new(vec![done()]).await;
    bench.start(ApprovalMode::Ask).await;
    bench.end().await;
    let request = &bench.model.requests()[0];
    assert!(names(request).contains(&"plan".to_owned()));
    // A token is 3.5 characters of it where the fewest are counted (Anthropic), 4.2 of o200k.
    assert!(weight(request) <= 14_000, "{} characters", weight(request));
}
