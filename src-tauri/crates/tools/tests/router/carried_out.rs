//! How a call that was allowed is carried out: failures, stops, panics, batches.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::contract::click;
use crate::stage::{Trouble, Troubled, call, desktop, execute, request};
use desktop::DesktopError;
use desktop::fake::Call;
use protocol::tool::{Effect, ToolErrorKind};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tools::Router;

#[tokio::test(start_paused = true)]
async fn an_act_that_gives_no_answer_is_unknown_and_lets_go_of_everything() {
    for trouble in [Trouble::Hangs, Trouble::HangsUntilCancelled] {
        let troubled = Troubled::new(trouble);
        let router = Router::builtin(troubled.clone());
        let result = call(&router, "click", click()).await.result;
        assert_eq!(result.effect, Effect::Unknown);
        let error = result.error.unwrap();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ToolErrorKind::Timeout, "click gave no answer within 30s")
        );
        assert_eq!((troubled.tried(), troubled.fake.releases()), (1, 1), "an act is never tried again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_that_gives_no_answer_is_tried_again_and_then_refused() {
    let troubled = Troubled::new(Trouble::Hangs);
    let router = Router::builtin(troubled.clone());
    let result = call(&router, "elementsJson", json!({})).await.result;
    assert_eq!((result.effect, result.error.unwrap().kind), (Effect::Refused, ToolErrorKind::Timeout));
    assert_eq!(troubled.tried(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_tried_again_and_a_success_ends_it() {
    let failed = || Trouble::Fails(DesktopError::Failed("the bus is gone".into()));
    let troubled = Troubled::new(failed());
    let result = call(&Router::builtin(troubled.clone()), "elementsJson", json!({})).await.result;
    assert_eq!((result.effect, troubled.tried()), (Effect::Refused, 4));
    assert_eq!(result.summary, "elementsJson not done: the bus is gone");

    let twice = Troubled { until: 2, ..Arc::into_inner(Troubled::new(failed())).unwrap() };
    let twice = Arc::new(Troubled { tries: AtomicUsize::new(0), ..twice });
    let result = call(&Router::builtin(twice.clone()), "elementsJson", json!({})).await.result;
    assert_eq!((result.effect, twice.tried()), (Effect::Confirmed, 3));
}

#[tokio::test(start_paused = true)]
async fn what_trying_again_cannot_fix_is_not_tried_again() {
    for error in [DesktopError::NotFound("app".into()), DesktopError::BadInput("no".into())] {
        let troubled = Troubled::new(Trouble::Fails(error));
        call(&Router::builtin(troubled.clone()), "elementsJson", json!({})).await;
        assert_eq!(troubled.tried(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_act_that_fails_is_not_tried_again_and_says_how_far_it_came() {
    for (error, effect, kind) in [
        (DesktopError::Failed("broke off".into()), Effect::Unknown, ToolErrorKind::Failed),
        (DesktopError::Timeout(Duration::from_secs(1)), Effect::Unknown, ToolErrorKind::Timeout),
        (DesktopError::Forbidden("our own window".into()), Effect::Refused, ToolErrorKind::Forbidden),
        (DesktopError::NotAvailable("no pointer".into()), Effect::Refused, ToolErrorKind::NotAvailable),
    ] {
        let troubled = Troubled::new(Trouble::Fails(error));
        let result = call(&Router::builtin(troubled.clone()), "click", click()).await.result;
        assert_eq!((result.effect, result.error.unwrap().kind), (effect, kind));
        assert_eq!(troubled.tried(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_in_the_middle_of_an_act_is_unknown_within_a_tenth_of_a_second() {
    for trouble in [Trouble::Hangs, Trouble::HangsUntilCancelled] {
        let troubled = Troubled::new(trouble);
        let router = Router::builtin(troubled.clone());
        let cancel = CancellationToken::new();
        let stop = async {
            while troubled.tried() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            cancel.cancel();
            tokio::time::Instant::now()
        };
        let (executed, stopped) =
            tokio::join!(execute(&router, request("click", click()), cancel.clone()), stop);
        assert!(stopped.elapsed() <= Duration::from_millis(100), "{:?}", stopped.elapsed());
        assert_eq!(executed.result.effect, Effect::Unknown);
        assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Cancelled);
        assert_eq!(troubled.fake.releases(), 1);
        assert!(executed.picture.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_anything_began_does_nothing() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let cancel = CancellationToken::new();
    cancel.cancel();
    for (tool, arguments) in
        [("click", click()), ("wait", json!({"seconds": 30})), ("elementsJson", json!({}))]
    {
        let result = execute(&router, request(tool, arguments), cancel.clone()).await.result;
        assert_eq!(
            (result.effect, result.error.unwrap().kind),
            (Effect::Refused, ToolErrorKind::Cancelled),
            "{tool}"
        );
    }
    assert_eq!(fake.actions(), []);
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_cut_short_by_a_stop() {
    let router = Router::builtin(desktop());
    let cancel = CancellationToken::new();
    let wait = execute(&router, request("wait", json!({"seconds": 30})), cancel.clone());
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (executed, ()) = tokio::join!(wait, stop);
    assert!(executed.result.took.0 <= 1_100, "{:?}", executed.result.took);
    assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_panic_becomes_an_error_and_the_next_call_works() {
    let troubled = Troubled::new(Trouble::Panics);
    let router = Router::builtin(troubled.clone());
    for (tool, arguments) in [("click", click()), ("elementsJson", json!({}))] {
        let result = call(&router, tool, arguments).await.result;
        assert_eq!(result.effect, Effect::Unknown, "{tool}");
        let error = result.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::Failed);
        assert_eq!(error.message, format!("{tool} broke down: the backend is broken"));
    }
    assert_eq!(troubled.tried(), 2, "neither is tried again");
    assert_eq!(call(&router, "think", json!({"thought": "on"})).await.result.effect, Effect::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_fails_never_hides_what_was_done() {
    let calm = Troubled::new(Trouble::Hangs);
    let blind = Arc::new(Troubled { blind: true, until: 0, ..Arc::into_inner(calm).unwrap() });
    let router = Router::builtin(blind.clone());
    let executed = call(&router, "click", click()).await;
    assert_eq!(blind.fake.actions().len(), 1);
    assert_eq!((executed.result.effect, executed.result.error), (Effect::Unverified, None));
    assert_eq!(
        executed.result.summary,
        "clicked left at 512,40; no picture could be had: the display is gone"
    );
    assert!(executed.picture.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_batch_runs_its_parts_in_order_with_one_picture_at_the_end() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let actions = json!({"actions": [
        {"tool": "click", "arguments": click()},
        {"tool": "type", "arguments": {"text": "a"}},
        {"tool": "think", "arguments": {"thought": "b"}},
    ]});
    let executed = call(&router, "batch", actions).await;
    assert_eq!(executed.result.summary, "3 of 3 actions done");
    assert_eq!((executed.result.effect, executed.result.error), (Effect::Unverified, None));
    let told: Vec<_> = executed
        .result
        .data
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["tool"].clone(), p["effect"].clone()))
        .collect();
    assert_eq!(
        told,
        [("click", "unverified"), ("type", "unverified"), ("think", "confirmed")]
            .map(|(t, e)| (json!(t), json!(e)))
    );
    assert!(executed.result.took.0 >= 400, "two delays of 200 ms");
    let calls = fake.calls();
    let acts: Vec<usize> =
        calls.iter().enumerate().filter(|(_, c)| matches!(c, Call::Act(_))).map(|(i, _)| i).collect();
    assert_eq!(acts, [1, 2], "one look before, none in between");
    assert!(executed.picture.unwrap().dot.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_batch_stops_at_the_first_failure_and_says_what_was_not_executed() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let actions = json!({"actions": [
        {"tool": "click", "arguments": click()},
        {"tool": "focusElement", "arguments": {"ref": "e9"}},
        {"tool": "type", "arguments": {"text": "a"}},
        {"tool": "press", "arguments": {"key": "Enter"}},
    ]});
    let result = call(&router, "batch", actions).await.result;
    assert_eq!(fake.actions().len(), 1);
    assert_eq!(result.effect, Effect::Unverified);
    let error = result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::NotFound);
    assert!(error.message.starts_with("action 2 of 4 (focusElement): not found"), "{}", error.message);
    assert!(result.summary.starts_with("1 of 4 actions done; action 2 of 4"), "{}", result.summary);
    for index in [2, 3] {
        assert_eq!(result.data[index]["summary"], "not executed: an earlier action in this batch failed");
        assert_eq!(result.data[index]["effect"], "refused");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_stops_where_text_was_read_back_wrong() {
    for (evidence, effect) in
        [(desktop::Evidence::Mismatch, Effect::Unverified), (desktop::Evidence::Nothing, Effect::NoChange)]
    {
        let fake = desktop();
        fake.edit(|scene| scene.evidence = evidence);
        let router = Router::builtin(fake.clone());
        let actions = json!({"actions": [
            {"tool": "type", "arguments": {"text": "a"}}, {"tool": "press", "arguments": {"key": "Enter"}},
        ]});
        let result = call(&router, "batch", actions).await.result;
        assert_eq!(fake.actions().len(), 1);
        assert_eq!((result.effect, result.error.unwrap().kind), (effect, ToolErrorKind::Failed));
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_with_one_bad_part_does_nothing_at_all() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let actions = json!({"actions": [
        {"tool": "click", "arguments": click()}, {"tool": "press", "arguments": {"key": "Entrr"}},
    ]});
    let result = call(&router, "batch", actions).await.result;
    assert_eq!(result.error.unwrap().kind, ToolErrorKind::BadArguments);
    assert_eq!(fake.calls(), []);
}
