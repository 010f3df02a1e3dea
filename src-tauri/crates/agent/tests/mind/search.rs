//! The provider's own search: a switch of the session, asked for before the run, and what it found kept on disk.

use std::sync::{Arc, Mutex};

use agent::{ModelSource, OpenModel};
use futures::FutureExt;
use futures::future::BoxFuture;
use models::scripted::{Scripted, Step, USAGE};
use models::{Message, Request, SharedModel, Turn, TurnEvent};
use protocol::citation::Citation;
use protocol::command::{EditSession, RunOverrides, StopRun};
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::turn::StopReason;
use protocol::{ErrorCode, ErrorView, EventBody};
use serde_json::Value;

use crate::bench::{Bench, done, goal, history};

/// Remembers whether search was wanted; has none itself where it is told so.
struct Searching {
    model: Arc<Scripted>,
    wanted: Arc<Mutex<Vec<bool>>>,
    can: bool,
}

impl ModelSource for Searching {
    fn open<'a>(&'a self, wanted: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        self.wanted.lock().unwrap().push(wanted.search);
        let model: SharedModel = self.model.clone();
        let refused = wanted.search && !self.can;
        let no = || ErrorView::new(ErrorCode::BadRequest, "scripted has no search of its own");
        async move { if refused { Err(no()) } else { Ok(model) } }.boxed()
    }
}

async fn bench(steps: Vec<Step>, can: bool) -> (Bench, Arc<Mutex<Vec<bool>>>) {
    let wanted = Arc::new(Mutex::new(Vec::new()));
    let (model, told) = (Arc::new(Scripted::new(steps)), wanted.clone());
    let source = Searching { model: model.clone(), wanted: told, can };
    let mut bench = Bench::other(Vec::new(), |setup| setup.models = Arc::new(source)).await;
    bench.model = model;
    (bench, wanted)
}

fn search(on: bool) -> RunOverrides {
    RunOverrides { search: Some(on), ..RunOverrides::default() }
}

fn cited(text: &str, pages: &[(&str, &str)], stop: StopReason) -> Step {
    let turn = Turn {
        text: text.into(),
        calls: Vec::new(),
        provider: "scripted".into(),
        raw: Value::String(format!("[{{\"said\":\"{text}\"}}]")),
    };
    let found = pages
        .iter()
        .map(|(url, title)| Ok(TurnEvent::Citation { url: (*url).into(), title: (*title).into() }));
    let end = Ok(TurnEvent::Finished { turn, usage: USAGE, stop });
    Step::events(found.chain([end]).collect())
}

#[tokio::test]
async fn search_is_off_until_the_session_has_it_on_and_then_for_each_of_its_runs() {
    let (mut bench, wanted) = bench(vec![done(), done(), done(), done()], true).await;
    let session = bench.start_with(None, RunOverrides::default()).await;
    bench.end().await;
    let edit = EditSession {
        session: session.clone(),
        title: None,
        mode: None,
        approval: None,
        search: Some(true),
        pinned: None,
        archived: None,
    };
    assert!(bench.handle.edit_session(edit).await.unwrap().search);
    for overrides in [RunOverrides::default(), search(false)] {
        bench.start_with(Some(session.clone()), overrides).await;
        bench.end().await;
    }
    // Begun with it, a session has it.
    let begun = bench.start_with(None, search(true)).await;
    bench.end().await;
    assert_eq!(*wanted.lock().unwrap(), [false, true, false, true]);
    let has = |id: &SessionId| {
        let (handle, id) = (bench.handle.clone(), id.clone());
        async move { handle.open_session(&id).await.unwrap() }
    };
    assert!(has(&begun).await.search && has(&session).await.search);
    let told: Vec<bool> = history(&bench.handle, &session)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::RunStarted(spec) => Some(spec.search),
            _ => None,
        })
        .collect();
    assert_eq!(told, [false, true, false]);
}

#[tokio::test]
async fn where_there_is_no_search_nothing_begins() {
    let (bench, _) = bench(vec![], false).await;
    let error = bench.handle.start_run(goal(None, search(true)), Surface::Cli).await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::BadRequest, "scripted has no search of its own")
    );
    assert_eq!(bench.handle.overview().await.unwrap().sessions, []);
}

#[tokio::test]
async fn what_an_answer_rests_on_is_on_disk_with_it_each_page_once_and_nothing_that_is_no_page() {
    let pages = [
        ("https://example.org/a", "A\n page"),
        ("https://example.org/a", "again"),
        ("javascript:alert(1)", "x"),
        ("https://example.org/b", ""),
    ];
    let (mut bench, _) = bench(vec![cited("found", &pages, StopReason::End)], true).await;
    let session = bench.start_with(None, search(true)).await;
    assert_eq!(bench.end().await, RunEnd::Completed { summary: "found".into() });
    let events = history(&bench.handle, &session).await;
    let found = events.into_iter().find_map(|event| match event.body {
        EventBody::TurnFinished { citations, .. } => Some(citations),
        _ => None,
    });
    let page = |url: &str, title: &str| Citation { url: url.into(), title: title.into() };
    assert_eq!(found.unwrap(), [page("https://example.org/a", "A page"), page("https://example.org/b", "")]);
}

#[tokio::test]
async fn a_paused_turn_goes_on_from_its_own_words_and_survives_in_the_next_run() {
    let steps = vec![
        cited("looking", &[], StopReason::Paused),
        cited("found", &[("https://example.org/a", "A")], StopReason::End),
        done(),
    ];
    let (mut bench, _) = bench(steps, true).await;
    let session = bench.start_with(None, search(true)).await;
    assert_eq!(bench.end().await, RunEnd::Completed { summary: "found".into() });
    bench.start_with(Some(session), RunOverrides::default()).await;
    bench.end().await;
    let requests = bench.model.requests();
    let raw = |message: &Message| match message {
        Message::Assistant(turn) => turn.raw.as_str().map(str::to_owned),
        Message::User(_) | Message::ToolResults(_) => None,
    };
    // Nothing is said after the paused turn: the provider goes on where it stopped.
    assert_eq!(requests[1].messages.len(), 2);
    assert_eq!(raw(&requests[1].messages[1]).as_deref(), Some(r#"[{"said":"looking"}]"#));
    let kept: Vec<String> = requests[2].messages.iter().filter_map(raw).collect();
    assert_eq!(kept, [r#"[{"said":"looking"}]"#, r#"[{"said":"found"}]"#]);
}

/// The raws that a request brings, oldest first.
fn raws(request: &Request) -> Vec<Value> {
    let raw = |message: &Message| match message {
        Message::Assistant(turn) => Some(turn.raw.clone()),
        Message::User(_) | Message::ToolResults(_) => None,
    };
    request.messages.iter().filter_map(raw).collect()
}

#[tokio::test]
async fn a_paused_turn_that_nothing_follows_goes_back_in_our_words() {
    let paused = || cited("looking", &[], StopReason::Paused);
    let (mut bench, _) = bench(vec![paused(), Step::silence(), done()], true).await;
    let session = bench.start_with(None, search(true)).await;
    bench.until(|body| matches!(body, EventBody::TurnFinished { .. })).await;
    while bench.model.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    bench.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
    bench.end().await;
    bench.start_with(Some(session), RunOverrides::default()).await;
    bench.end().await;
    let requests = bench.model.requests();
    assert_eq!(raws(requests.last().unwrap()), [Value::Null]);
}

// bar: C65
#[tokio::test(start_paused = true)]
async fn an_answer_of_nothing_but_thoughts_is_asked_for_again_as_if_it_had_not_come() {
    let thought = || {
        let raw = Value::String(r#"[{"type":"thinking"}]"#.into());
        let turn = Turn { text: "\n".into(), calls: Vec::new(), provider: "scripted".into(), raw };
        let end = TurnEvent::Finished { turn, usage: USAGE, stop: StopReason::End };
        Step::events(vec![Ok(TurnEvent::Thinking("hm".into())), Ok(end)])
    };
    let cut = cited("half", &[], StopReason::MaxTokens);
    let (mut bench, _) = bench(vec![thought(), done(), thought(), cut, done()], true).await;
    let session = bench.start_with(None, RunOverrides::default()).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let requests = bench.model.requests();
    assert_eq!(requests[1], requests[0]);
    let told = history(&bench.handle, &session).await.into_iter().find_map(|event| match event.body {
        EventBody::TurnFailed { message, retry, cost, .. } => Some((message, retry, cost)),
        _ => None,
    });
    assert_eq!(
        told,
        Some(("the model answered nothing".into(), true, None)),
        "it is not tried again in silence"
    );
    // Nor in later runs; and what was cut by its length is told in our words.
    for failed in [true, false] {
        bench.start_with(Some(session.clone()), RunOverrides::default()).await;
        assert_eq!(matches!(bench.end().await, RunEnd::Failed { .. }), failed);
    }
    let requests = bench.model.requests();
    assert_eq!((raws(&requests[2]).len(), raws(&requests[3]).len()), (1, 1));
    let last = raws(&requests[4]);
    assert_eq!((last.len(), &last[1]), (2, &Value::Null));
}
