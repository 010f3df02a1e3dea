//! A plan agreed to once: worked by in a real editor without another question, and done when its file says so.

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::tool::{Answer, ApprovalMode};
use serde_json::json;

const GOAL: &str = "write the haiku";

/// Proposes a plan, writes, says too early that it is done, saves. For any other goal it thinks, slowly: such a run keeps
/// the engine.
fn mind(asked: &Asked) -> MindTurn {
    if !format!("{:?}", asked.heard.messages.first()).contains(GOAL) {
        let think = MindTurn::call("", "think", json!({ "thought": "on and on" }));
        return MindTurn { pause: std::time::Duration::from_millis(500), ..think };
    }
    let results = asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count();
    let plan = json!({
        "steps": ["Write the haiku", "Save it"],
        "applications": ["Mousepad"],
        "folders": ["~/letters"],
        "effects": ["edit"],
        "checks": [{ "check": "fileContains", "path": "~/letters/haiku.txt", "text": "old pond" }],
    });
    match results {
        0 => MindTurn::call("", "plan", plan),
        1 => MindTurn::call("", "click", json!({ "x": 250, "y": 400, "reason": "to write there" })),
        2 => MindTurn::call("", "type", json!({ "text": "old pond", "reason": "the first line" })),
        3 => MindTurn::done("written", true),
        4 => MindTurn::call("", "hotkey", json!({ "keys": ["ctrl", "s"], "reason": "to save it" })),
        _ => MindTurn::done("written and saved", true),
    }
}

#[test]
fn a_plan_is_asked_about_once_and_the_work_is_done_when_its_file_says_so() {
    let stage = Stage::small().unwrap();
    let folder = stage.path("home").join("letters");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("haiku.txt");
    std::fs::write(&file, "\n").unwrap();
    let editor = stage.open_editor(Some(&file)).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let model = FakeModel::start(mind).unwrap();
    let settings = json!({ "approval": "ask", "settleMs": 100, "maxSteps": 500, "pauseOnUserInput": false });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let _engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    for (plan, questions, summary) in
        [(None, ["plan"].as_slice(), "written and saved"), (Some(false), &["click", "type"], "written")]
    {
        let approval = Some(ApprovalMode::Ask);
        let overrides = RunOverrides { approval, plan, ..RunOverrides::default() };
        let start = StartRun { goal: GOAL.into(), session: None, overrides };
        let started: StartedRun = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
        let mut asked = Vec::new();
        let history = wait_for("the run's end", LONG, || {
            let open = client.overview().ok()?.questions;
            if let Some(question) = open.into_iter().find(|question| question.run == started.run) {
                let (approval, digest) = (question.approval.id, question.approval.digest);
                asked.push(question.approval.call.tool);
                client.call(AnswerApproval { approval, digest, answer: Answer::Once }.into()).ok()?;
            }
            let history = client.history(&started.session).ok()?;
            miki::end(&history).is_some().then_some(history)
        })
        .unwrap();
        println!("questions {}: {}", if plan.is_none() { "with a plan" } else { "without" }, asked.len());
        assert_eq!(asked, questions, "{history:#?}");
        assert_eq!(miki::end(&history), Some(RunEnd::Completed { summary: summary.into() }));
        let report = history.iter().find_map(|event| match &event.body {
            EventBody::PlanReported { report } => Some(report),
            _ => None,
        });
        assert_eq!(report.is_some(), plan.is_none());
        if let Some(report) = report {
            assert!(report.findings[0].passed && report.deviations.is_empty(), "{report:?}");
            assert!(std::fs::read_to_string(&file).unwrap().contains("old pond"));
        }
    }
    drop(editor);
}
