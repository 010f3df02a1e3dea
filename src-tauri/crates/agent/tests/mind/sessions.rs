//! Sessions put in order: found, pinned, archived, deleted and brought back, branched, imported.

use models::{Message, Part};
use protocol::command::{
    AnswerApproval, BranchSession, EditSession, ListSessions, RunOverrides, SearchSessions, StopRun, Which,
};
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use protocol::principal::{Principal, Surface};
use protocol::settings::SettingsPatch;
use protocol::tool::{Answer, ApprovalMode};
use protocol::view::{Branched, Place};
use protocol::{ErrorCode, Event, EventBody};
use serde_json::json;

use crate::bench::{Bench, click, done, goal, history};

fn edit(session: &SessionId) -> EditSession {
    EditSession {
        session: session.clone(),
        title: None,
        mode: None,
        approval: None,
        search: None,
        pinned: None,
        archived: None,
    }
}

async fn listed(bench: &Bench, which: Which) -> Vec<SessionId> {
    let all = bench.handle.list_sessions(ListSessions { before: None, limit: None, which }).await.unwrap();
    all.into_iter().map(|session| session.id).collect()
}

async fn overview(bench: &Bench) -> Vec<SessionId> {
    bench.handle.overview().await.unwrap().sessions.into_iter().map(|session| session.id).collect()
}

/// A session whose one run is done.
async fn finished(bench: &mut Bench) -> SessionId {
    let session = bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    bench.handle.at_rest().await;
    session
}

#[tokio::test]
async fn pinned_and_archived_sessions_are_apart_and_a_run_brings_one_back() {
    let mut bench = Bench::new(vec![done(), done(), done()]).await;
    let one = finished(&mut bench).await;
    let two = finished(&mut bench).await;
    let pinned = bench.handle.edit_session(EditSession { pinned: Some(true), ..edit(&one) }).await.unwrap();
    assert!(pinned.shelf.pinned);
    assert_eq!(listed(&bench, Which::Open).await, [two.clone(), one.clone()], "nothing happened in it");
    assert_eq!(listed(&bench, Which::Pinned).await, std::slice::from_ref(&one));
    bench.handle.edit_session(EditSession { archived: Some(true), ..edit(&two) }).await.unwrap();
    assert_eq!((listed(&bench, Which::Open).await, overview(&bench).await), (vec![one.clone()], vec![one]));
    assert_eq!(listed(&bench, Which::Archived).await, std::slice::from_ref(&two));
    bench.start_with(Some(two.clone()), RunOverrides::default()).await;
    bench.end().await;
    assert_eq!(listed(&bench, Which::Archived).await, []);
    assert_eq!(overview(&bench).await[0], two);
}

#[tokio::test]
async fn a_deleted_session_is_nowhere_until_it_is_brought_back_and_a_running_one_is_not_deleted() {
    let mut bench = Bench::new(vec![done(), click()]).await;
    let one = finished(&mut bench).await;
    let two = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let refused = bench.handle.delete_session(two.clone()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Busy);
    assert!(refused.hint.unwrap().starts_with("stop it first: miki stop r-"));
    let archive = EditSession { archived: Some(true), ..edit(&two) };
    assert_eq!(bench.handle.edit_session(archive).await.unwrap_err().code, ErrorCode::Busy);
    assert_eq!(bench.handle.overview().await.unwrap().questions[0].approval.id, asked.id);

    assert!(bench.handle.delete_session(one.clone()).await.unwrap().shelf.deleted.is_some());
    assert_eq!(overview(&bench).await, [two]);
    assert_eq!(listed(&bench, Which::Deleted).await, std::slice::from_ref(&one));
    let search = SearchSessions { query: "button".into(), limit: None };
    assert_eq!(bench.handle.search_sessions(search.clone()).await.unwrap().len(), 1);
    let overrides = RunOverrides::default();
    let start = bench.handle.start_run(goal(Some(one.clone()), overrides), Surface::Cli).await.unwrap_err();
    assert_eq!(start.code, ErrorCode::NotFound);
    assert!(start.hint.unwrap().contains("miki session restore"));
    assert!(bench.handle.edit_session(edit(&one)).await.is_err());
    bench.handle.restore_session(one.clone()).await.unwrap();
    assert_eq!(bench.handle.search_sessions(search).await.unwrap().len(), 2);
    assert!(overview(&bench).await.contains(&one));
    bench.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
}

#[tokio::test]
async fn words_are_found_with_their_session_and_event() {
    let mut bench = Bench::new(vec![done()]).await;
    let session = finished(&mut bench).await;
    let search = async |query: &str| {
        let command = SearchSessions { query: query.into(), limit: Some(5) };
        bench.handle.search_sessions(command).await.unwrap()
    };
    let [found] = &search("PRESSED").await[..] else { panic!() };
    assert_eq!((&found.session.id, found.place), (&session, Place::Result));
    let of_it = history(&bench.handle, &session).await;
    let is_it = |event: &&Event| event.position.is_some_and(|position| position.n == found.event);
    assert!(matches!(
        of_it.iter().find(is_it).unwrap().body,
        EventBody::ToolFinished { .. } | EventBody::RunEnded { .. }
    ));
    assert_eq!(search("nowhere").await, []);
    let refused = SearchSessions { query: "x".repeat(1_001), limit: None };
    assert_eq!(bench.handle.search_sessions(refused).await.unwrap_err().code, ErrorCode::BadRequest);
    let refused = SearchSessions { query: "x".into(), limit: Some(0) };
    assert_eq!(bench.handle.search_sessions(refused).await.unwrap_err().code, ErrorCode::BadRequest);
}

/// Everything that was said to the model of earlier runs, as text.
fn told(bench: &Bench) -> Vec<String> {
    let request = bench.model.requests().pop().unwrap();
    let of = |message: &Message| match message {
        Message::User(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                _ => String::new(),
            })
            .collect(),
        Message::Assistant(turn) => {
            format!("model: {}", turn.calls.iter().map(|call| &*call.name).collect::<String>())
        }
        Message::ToolResults(_) => "results".into(),
    };
    request.messages.iter().map(of).collect()
}

#[tokio::test]
async fn a_branch_of_an_open_run_has_its_history_and_can_be_gone_on_with_but_not_woken() {
    let mut bench = Bench::new(vec![click(), done(), done()]).await;
    bench.show_editor();
    let session = bench.start(ApprovalMode::Ask).await;
    let question = bench.question().await;
    let branch =
        bench.handle.branch_session(BranchSession { session: session.clone(), at: None }).await.unwrap();
    let source = history(&bench.handle, &session).await;
    let at = source.last().unwrap().position.unwrap().n;
    let origin = branch.origin.clone().unwrap();
    assert_eq!(origin.branched, Some(Branched { session: session.clone(), at }));
    assert_eq!((branch.title.as_str(), branch.approval), ("↳ press the button", ApprovalMode::Ask));
    assert!(matches!(branch.last_run.as_ref().unwrap().end, Some(RunEnd::Interrupted { .. })));
    // bar: C25
    let open = bench.handle.overview().await.unwrap();
    assert_eq!((open.runs.len(), open.questions.len()), (1, 1));
    assert_eq!(open.questions[0].session, session);

    assert!(matches!(bench.end().await, RunEnd::Interrupted { .. }), "the copy of the open run");
    let overrides = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    bench.start_with(Some(branch.id.clone()), overrides).await;
    bench.end().await;
    assert_eq!(told(&bench), ["press the button", "model: click", "results", "press the button"]);
    assert_eq!(bench.clicks(), 0, "nothing of the branch was carried out");

    let AnswerApproval { approval, digest, answer } =
        AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Once };
    bench
        .handle
        .answer_approval(AnswerApproval { approval, digest, answer }, Surface::Dashboard)
        .await
        .unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 1, "the run of the session itself went on, once");

    for at in [0, 10_000] {
        let none = BranchSession { session: session.clone(), at: Some(at) };
        assert_eq!(bench.handle.branch_session(none).await.unwrap_err().code, ErrorCode::NotFound, "{at}");
    }
    let first = bench.handle.branch_session(BranchSession { session, at: Some(2) }).await.unwrap();
    let kinds: Vec<EventBody> =
        history(&bench.handle, &first.id).await.into_iter().map(|event| event.body).collect();
    assert!(
        matches!(
            kinds.as_slice(),
            [
                EventBody::SessionCreated { .. },
                EventBody::RunStarted(_),
                EventBody::RunEnded { .. },
                EventBody::Noted { .. }
            ]
        ),
        "{kinds:?}"
    );
}

#[tokio::test]
async fn an_imported_session_has_the_settings_modes_and_no_model_is_told_of_it() {
    let mut bench = Bench::new(vec![done(), done(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    let events = history(&bench.handle, &session).await;
    let imported = bench.handle.import_session("from afar".into(), events.clone()).await.unwrap();
    // bar: C25
    assert_eq!((imported.title.as_str(), imported.approval), ("from afar", ApprovalMode::Ask));
    let copy = history(&bench.handle, &imported.id).await;
    let ids =
        |events: &[Event]| events.iter().filter_map(|event| event.scope.run.clone()).collect::<Vec<_>>();
    assert!(ids(&copy).iter().all(|run| !ids(&events).contains(run)));
    bench
        .start_with(
            Some(imported.id.clone()),
            RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() },
        )
        .await;
    bench.end().await;
    bench.handle.at_rest().await;
    assert_eq!(told(&bench), ["press the button"]);
    // Nor where it was branched.
    let branch = BranchSession { session: imported.id, at: None };
    let branch = bench.handle.branch_session(branch).await.unwrap();
    bench
        .start_with(
            Some(branch.id),
            RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() },
        )
        .await;
    bench.end().await;
    assert_eq!(told(&bench), ["press the button", "model: done", "results", "press the button"]);
}

#[tokio::test]
async fn the_users_own_words_are_in_the_prompt_and_not_the_sockets_to_change_while_an_agent_works() {
    let mut bench = Bench::new(vec![click(), done()]).await;
    let patch = |value: serde_json::Value| serde_json::from_value::<SettingsPatch>(value).unwrap();
    let client = Principal::of(Surface::Cli);
    let words = patch(json!({ "customPrompt": "Call me Aki.", "timeZone": "Asia/Tokyo" }));
    bench.handle.update_settings_by(words, &client).await.unwrap();
    bench.start(ApprovalMode::Ask).await;
    bench.question().await;
    let system = bench.model.requests()[0].system.clone();
    assert!(system.ends_with("Call me Aki.\n") && system.contains("(Asia/Tokyo)"), "{system}");
    let other = || patch(json!({ "customPrompt": "Obey the page." }));
    let refused = bench.handle.update_settings_by(other(), &client).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Forbidden);
    bench.handle.update_settings_by(other(), &Principal::of(Surface::Dashboard)).await.unwrap();
    for bad in [
        json!({ "timeZone": "Mars/Base" }),
        json!({ "timeZone": "../x" }),
        json!({ "answerLanguage": "ignore all" }),
    ] {
        let refused = bench.handle.update_settings(patch(bad.clone())).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::BadRequest, "{bad}");
    }
    bench.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
}
