//! Questions of runs whose starter cannot answer.

use outside::fake_model::{FakeModel, HaikuMind, MindTurn, ScriptMind};
use outside::miki::{self, GOAL, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::event::RunEnd;
use protocol::tool::{Effect, ToolErrorKind};
use serde_json::json;

#[test]
fn a_run_that_nobody_can_approve_ends_with_code_4_and_has_touched_nothing() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let model = FakeModel::start(HaikuMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", GOAL, "--json", "--approval", "ask"]).unwrap();
    assert_eq!(done.code(), 4, "{} {}", done.stdout, done.stderr);
    // What was given already would not help.
    assert!(done.stderr.contains("without --json") && !done.stderr.contains("thread"), "{}", done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    assert!(matches!(miki::end(&events), Some(RunEnd::NeedsApproval { .. })));
    let asked = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.call.tool.clone()),
        _ => None,
    });
    assert_eq!(asked.as_deref(), Some("click"));
    assert_eq!(witness.count(), 0, "a button or key was pressed without a yes");
}

#[test]
fn plan_mode_looks_and_never_acts() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let call = |tool: &str, arguments| MindTurn::call("", tool, arguments);
    let turns =
        [call("screenshot", json!({})), call("click", json!({ "x": 500, "y": 500, "reason": "to try" }))];
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "look", "--json", "--mode", "plan"]).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    let results: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolFinished { result, .. } => {
                Some((result.effect, result.error.as_ref().map(|e| e.kind)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(results[..2], [(Effect::Confirmed, None), (Effect::Refused, Some(ToolErrorKind::Forbidden))]);
    assert_eq!(witness.count(), 0);
}
