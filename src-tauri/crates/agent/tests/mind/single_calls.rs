//! Single calls of a person's own, outside any run.

use desktop::WindowView;
use protocol::ErrorCode;
use protocol::command::CallTool;
use protocol::principal::{Principal, Surface};
use protocol::tool::{ApprovalMode, ExecResult};
use serde_json::json;

use crate::asking::window;
use crate::bench::Bench;

async fn types(bench: &Bench, by: Surface, asked: Option<String>) -> Result<ExecResult, protocol::ErrorView> {
    let call = CallTool { tool: "type".into(), arguments: json!({ "text": "ls" }), asked };
    bench.handle.call_tool_by(call, &Principal::of(by)).await
}

fn show(bench: &Bench, app: &str, pid: u32) {
    let there = WindowView { app: app.into(), pid: Some(pid), ..window(u64::from(pid), "a window") };
    bench.desktop.edit(|scene| scene.windows = vec![there]);
}

#[tokio::test]
async fn a_grave_call_of_a_program_is_done_only_once_its_person_has_seen_why() {
    let bench = Bench::new(Vec::new()).await;
    let acts = || bench.desktop.actions().len();
    show(&bench, "XTerm", 9);
    let refused = types(&bench, Surface::Cli, None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NeedsApproval);
    assert!(refused.message.contains("XTerm is a terminal"), "{refused:?}");
    let asked = refused.asks.unwrap();
    // It was told of another one.
    show(&bench, "XTerm", 8);
    for digest in [asked.clone(), String::new()] {
        let refused = types(&bench, Surface::Cli, Some(digest)).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::NeedsApproval);
    }
    assert_eq!(acts(), 0);
    show(&bench, "XTerm", 9);
    assert_eq!(types(&bench, Surface::Cli, Some(asked)).await.unwrap().error, None);
    assert_eq!(acts(), 1);
    // In one of our windows the person is there; what can be undone asks nobody; nor does what is set to auto.
    assert_eq!(types(&bench, Surface::Dashboard, None).await.unwrap().error, None);
    show(&bench, "editor", 7);
    assert_eq!(types(&bench, Surface::Cli, None).await.unwrap().error, None);
    let auto = serde_json::from_value(json!({ "approval": ApprovalMode::Auto })).unwrap();
    bench.handle.update_settings(auto).await.unwrap();
    show(&bench, "XTerm", 9);
    assert_eq!(types(&bench, Surface::Cli, None).await.unwrap().error, None);
    assert_eq!(acts(), 4);
}
