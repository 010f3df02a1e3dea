//! The network of commands: what it asks, and what is refused.

use protocol::tool::{ApprovalMode, Grant, Risk, ToolErrorKind};
use serde_json::json;
use tools::{Decision, ExecRequest, Grants};

use crate::beyond::Session;
use crate::stage::limits;

fn known(host: &str) -> Grants {
    let mut grants = Grants::default();
    grants.visit(&[host.to_owned()]);
    grants
}

/// In `auto`, with these grants, once something was read or before.
fn in_auto(session: &Session, tool: &str, arguments: serde_json::Value, has_read: bool) -> ExecRequest {
    let request = session.request(tool, arguments);
    ExecRequest { approval: ApprovalMode::Auto, has_read, grants: known("pypi.org"), ..request }
}

#[tokio::test]
async fn a_command_with_a_network_asks_each_time_and_in_auto_once_something_was_read() {
    let session = Session::new();
    let install = || json!({"command": "pip download attrs", "hosts": ["pypi.org"]});
    for approval in [ApprovalMode::Ask, ApprovalMode::Thread] {
        // Whatever was allowed of commands like it, and of the host.
        let like = Grant { tool: "runCommand".into(), app: Some("pip download (~/Miki)".into()) };
        let mut grants = known("pypi.org");
        grants.allow([like]);
        let request = ExecRequest { approval, grants, ..session.request("runCommand", install()) };
        let reason = session.asks(&request).await.expect("it asks");
        assert!(reason.contains("pypi.org"), "{reason}");
    }
    // What only reads a file tells all of it to whoever it reaches.
    let read = json!({"command": "cat a.txt", "hosts": ["pypi.org"]});
    assert!(session.asks(&session.asking("runCommand", read.clone())).await.is_some());
    assert_eq!(session.asks(&session.asking("runCommand", json!({"command": "cat a.txt"}))).await, None);
    assert_eq!(session.asks(&in_auto(&session, "runCommand", install(), false)).await, None);
    for arguments in [install(), read] {
        let reason = session.asks(&in_auto(&session, "runCommand", arguments, true)).await.expect("it asks");
        assert!(reason.contains("send anything") && !reason.contains("named pypi.org"), "{reason}");
    }
    let other = json!({"command": "pip download attrs", "hosts": ["pypi.org", "evil.example"]});
    let reason = session.asks(&in_auto(&session, "runCommand", other, true)).await.expect("it asks");
    assert!(reason.contains("named evil.example"), "{reason}");
}

#[tokio::test]
async fn a_yes_is_for_the_hosts_that_it_was_given_for() {
    let session = Session::new();
    let run = |hosts: &[&str]| session.asking("runCommand", json!({"command": "make", "hosts": hosts}));
    let asked = session.router.assess(&run(&["pypi.org"]), &limits()).await;
    assert_eq!(asked.risk, Some(Risk::Consequential));
    for other in [&["evil.example"][..], &["pypi.org", "evil.example"]] {
        let approved = ExecRequest { approved: Some(asked.yes()), ..run(other) };
        let executed = crate::stage::execute(&session.router, approved, Default::default()).await.result;
        assert_eq!(executed.error.unwrap().kind, ToolErrorKind::Forbidden);
    }
    // Without the program that leads to the proxy there is no network, and nothing is run.
    let approved = ExecRequest { approved: Some(asked.yes()), ..run(&["pypi.org"]) };
    let error =
        crate::stage::execute(&session.router, approved, Default::default()).await.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::NotAvailable, "{error:?}");
    assert!(error.message.contains("no network"), "{error:?}");
}

#[tokio::test]
async fn a_host_is_named_whole() {
    let session = Session::new();
    for wrong in
        ["*.pypi.org", "https://pypi.org", "pypi.org/simple", "pypi.org:22", "localhost", "", "a b", "[::1]"]
    {
        let request = session.request("runCommand", json!({"command": "make", "hosts": [wrong]}));
        let Decision::Forbid { error } = session.router.assess(&request, &limits()).await.decision else {
            panic!("{wrong} is taken");
        };
        assert!(error.message.contains("hosts"), "{error:?}");
    }
    let many: Vec<String> = (0..9).map(|at| format!("host{at}.example")).collect();
    let request = session.request("runCommand", json!({"command": "make", "hosts": many}));
    assert!(matches!(session.router.assess(&request, &limits()).await.decision, Decision::Forbid { .. }));
}
