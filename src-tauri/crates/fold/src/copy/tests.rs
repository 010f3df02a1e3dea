//! What a copy has of a session, and what it never has.

use protocol::event::Position;
use protocol::ids::Seq;
use protocol::principal::Surface;
use protocol::tool::{Change, Changed, Grant, PictureView, Until};
use protocol::view::{Branched, Shelf};

use super::*;
use crate::sample::{
    click, clicked, created, event, events, question, said, started, tool_finished, tool_started, turn,
};
use crate::{OpenRun, session};

fn view() -> SessionView {
    let first = event(1, created());
    let view = session(None, &SessionId("s-1".into()), &first).unwrap();
    let origin = Origin { branched: Some(Branched { session: view.id.clone(), at: 9 }), imported: 0 };
    SessionView {
        id: SessionId("s-new".into()),
        title: "copy".into(),
        origin: Some(origin),
        shelf: Shelf::default(),
        ..view
    }
}

fn made(events: &[Event], from_file: bool) -> Vec<Copied> {
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        format!("new{next}")
    };
    let view = view();
    let into = Into { session: &view, fresh: &mut fresh, reason: "cut off here" };
    if from_file { imported(events, into) } else { branched(events, into) }
}

fn open_runs(copied: &[Copied]) -> Vec<OpenRun> {
    let mut runs: BTreeMap<Option<RunId>, OpenRun> = BTreeMap::new();
    for (n, copied) in (1..).zip(copied) {
        let event = Event {
            position: Some(Position { seq: Seq(n), n }),
            stream: copied.scope.stream(),
            time: copied.time,
            scope: copied.scope.clone(),
            body: copied.body.clone(),
        };
        let before = runs.remove(&event.scope.run);
        if let Some(run) = run(before, &event) {
            runs.insert(event.scope.run, run);
        }
    }
    runs.into_values().collect()
}

#[test]
fn a_branch_tells_the_same_with_ids_of_its_own_and_no_run_of_it_is_open() {
    let source = events([
        created(),
        started(),
        turn(1, "I click", vec![click("c-1"), click("c-2")]),
        tool_started("c-1"),
        tool_finished("c-1"),
        tool_started("c-2"),
    ]);
    let copied = made(&source, false);
    let text =
        serde_json::to_string(&copied.iter().map(|one| (&one.scope, &one.body)).collect::<Vec<_>>()).unwrap();
    for old in ["\"s-1\"", "\"r-1\"", "\"c-1\"", "\"c-2\""] {
        // Where it came from is said.
        assert_eq!(text.matches(old).count(), usize::from(old == "\"s-1\""), "{old} in {text}");
    }
    assert!(copied.iter().all(|one| one.scope.session == Some(SessionId("s-new".into()))));
    assert_eq!(open_runs(&copied), []);
    let Some(
        [
            Copied { body: EventBody::ToolFinished { result, .. }, .. },
            Copied { body: EventBody::RunEnded { end }, .. },
        ],
    ) = copied.last_chunk()
    else {
        panic!("{copied:?}")
    };
    assert_eq!(
        (result.effect, end),
        (Effect::Unknown, &RunEnd::Interrupted { reason: Some("cut off here".into()) })
    );
    let times: Vec<i64> = copied[1..].iter().map(|one| one.time.0).collect();
    assert_eq!(times, [2_000, 3_000, 4_000, 5_000, 6_000, 6_000, 6_000]);
}

#[test]
fn an_open_question_stays_behind_and_a_yes_for_longer_becomes_one_for_once() {
    let grant = Grant { tool: "click".into(), app: Some("pad".into()) };
    let answered = protocol::tool::Approval { touches: vec![grant], ..question("q-1") };
    let source = events([
        created(),
        started(),
        EventBody::ApprovalRequested { approval: answered },
        EventBody::ApprovalAnswered {
            approval: ApprovalId("q-1".into()),
            answer: Answer::Until { until: Until::Always },
            by: Surface::Dashboard,
        },
        EventBody::ApprovalRequested { approval: question("q-2") },
    ]);
    let copied = made(&source, false);
    let asked: Vec<&EventBody> = copied
        .iter()
        .map(|one| &one.body)
        .filter(|body| {
            matches!(body, EventBody::ApprovalRequested { .. } | EventBody::ApprovalAnswered { .. })
        })
        .collect();
    let [EventBody::ApprovalRequested { approval }, EventBody::ApprovalAnswered { approval: of, answer, .. }] =
        asked.as_slice()
    else {
        panic!("{asked:?}")
    };
    assert_eq!((&approval.id, answer), (of, &Answer::Once));
    assert_ne!(*of, ApprovalId("q-1".into()));
}

#[test]
fn from_a_file_come_no_settings_no_modes_and_nothing_that_goes_to_a_provider() {
    let blob = protocol::ids::BlobRef { sha256: "ab".repeat(32), media_type: "image/jpeg".into(), bytes: 1 };
    let mut with_raw = turn(1, "t", Vec::new());
    if let EventBody::TurnFinished { raw, .. } = &mut with_raw {
        *raw = Some(blob.clone());
    }
    let picture = Some(PictureView { blob, width: 1, height: 1, dot: None });
    let result = protocol::tool::ExecResult { picture, ..clicked() };
    let change = Change { of: Changed::File, name: ".bashrc".into(), diff: None, data: "forged".into() };
    let with_change = protocol::tool::ExecResult { changes: vec![change], ..result.clone() };
    let mut begun = started();
    if let EventBody::RunStarted(spec) = &mut begun {
        spec.space = Some("~/theirs".into());
    }
    let source = events([
        created(),
        EventBody::SettingsChanged { settings: Box::default() },
        EventBody::SessionEdited {
            title: None,
            mode: None,
            approval: Some(protocol::tool::ApprovalMode::Auto),
            search: Some(true),
            pinned: None,
            archived: None,
            space: Some("~/theirs".into()),
        },
        begun,
        said("hello"),
        with_raw,
        EventBody::ToolFinished { call: CallId("c-1".into()), result: with_change },
    ]);
    let copied = made(&source, true);
    let kinds: Vec<String> = copied
        .iter()
        .map(|one| serde_json::to_value(&one.body).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["sessionCreated", "runStarted", "runSteered", "turnFinished", "toolFinished", "runEnded"]
    );
    let EventBody::SessionCreated { origin: Some(origin), .. } = &copied[0].body else { panic!() };
    assert_eq!(origin.imported, copied.len() as u64, "no model is told of any of it");
    let EventBody::TurnFinished { raw: None, .. } = &copied[3].body else { panic!("{:?}", copied[3]) };
    let EventBody::ToolFinished { result: of, .. } = &copied[4].body else { panic!() };
    assert_eq!(*of, result, "its picture stays, and nothing is there to be taken back");
    let EventBody::RunStarted(spec) = &copied[1].body else { panic!() };
    assert_eq!(spec.space, None, "whoever wrote the file chooses no folder");
}

#[test]
fn what_came_from_a_file_stays_untold_in_a_branch() {
    let source = events([created(), started(), said("from the file"), said("here")]);
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next.to_string()
    };
    let view = SessionView { origin: Some(Origin { branched: None, imported: 3 }), ..view() };
    let copied = branched(&source, Into { session: &view, fresh: &mut fresh, reason: "r" });
    let EventBody::SessionCreated { origin: Some(origin), .. } = &copied[0].body else { panic!() };
    let untold: Vec<&EventBody> = copied[..origin.imported as usize].iter().map(|one| &one.body).collect();
    assert_eq!(untold.last(), Some(&&said("from the file")));
}
