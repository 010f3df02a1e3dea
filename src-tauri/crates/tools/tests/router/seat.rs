//! What a call takes of the machine: the desktop's seat, pictures around it, and never another's fence or limits.

use std::sync::Arc;
use std::time::Duration;

use crate::stage::{Trouble, Troubled, call, desktop, execute, limits, request};
use browser::fake::FakeBrowser;
use desktop::Hands as _;
use desktop::fake::Call;
use protocol::geometry::PixelSize;
use protocol::tool::Mode;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{ExecRequest, Fence, Group, Limits, Needs, Router, Spec, Verify};

fn router() -> Router {
    Router::builtin(desktop()).with_browser(FakeBrowser::new())
}

fn seat(tool: &str, arguments: Value) -> (Option<Needs>, bool) {
    let assessment = router().outline(&request(tool, arguments), &limits());
    (assessment.needs, assessment.seat)
}

#[test]
fn an_act_on_screen_or_page_needs_the_seat_and_looking_thinking_and_waiting_do_not() {
    use Needs::{Browser, Desktop, Nothing};
    let click = || json!({"x": 1, "y": 2});
    for (tool, arguments, needs, seated) in [
        ("click", click(), Desktop, true),
        ("move", click(), Desktop, true),
        ("type", json!({"text": "a"}), Desktop, true),
        ("focusWindow", json!({"window": 7}), Desktop, true),
        ("writeClipboard", json!({"text": "a"}), Desktop, true),
        ("osa", json!({"script": "a"}), Desktop, true),
        ("webClick", json!({"ref": "w1"}), Browser, true),
        ("webTab", json!({"ref": "t1"}), Browser, true),
        ("screenshot", json!({}), Desktop, false),
        ("elementsJson", json!({}), Desktop, false),
        ("webRead", json!({}), Browser, false),
        ("think", json!({"thought": "a"}), Nothing, false),
        ("wait", json!({"seconds": 1}), Nothing, false),
        ("done", json!({"summary": "a"}), Nothing, false),
    ] {
        assert_eq!(seat(tool, arguments), (Some(needs), seated), "{tool}");
    }
}

#[test]
fn a_batch_needs_what_its_parts_need() {
    let batch = |parts: Value| seat("batch", json!({ "actions": parts }));
    let think = json!({"tool": "think", "arguments": {"thought": "a"}});
    let read = json!({"tool": "webRead", "arguments": {}});
    let click = json!({"tool": "click", "arguments": {"x": 1, "y": 2}});
    assert_eq!(batch(json!([think])), (Some(Needs::Nothing), false));
    assert_eq!(batch(json!([think, read])), (Some(Needs::Browser), false));
    assert_eq!(batch(json!([read, click])), (Some(Needs::Desktop), true));
}

#[test]
fn a_call_without_a_plan_needs_no_seat() {
    assert_eq!(seat("click", json!({"x": 1})), (Some(Needs::Desktop), false));
    assert_eq!(seat("Click", json!({"x": 1, "y": 2})), (None, false));
}

#[test]
fn every_tool_says_what_it_is_for_what_it_reads_and_what_it_can_send() {
    let specs = router().specs(Mode::Act, &tools::Ports::default());
    let names = |is: fn(&Spec) -> bool| -> Vec<String> {
        specs.iter().filter(|spec| is(spec)).map(|spec| spec.name.to_string()).collect()
    };
    assert_eq!(
        names(|spec| spec.egress),
        ["webClick", "webType", "webNavigate", "webTabEdit", "osa", "batch"]
    );
    assert_eq!(
        names(|spec| !spec.reads),
        ["displays", "writeClipboard", "useTools", "plan", "wait", "think", "notes", "done"]
    );
    assert_eq!(
        names(|spec| spec.needs == Needs::Nothing),
        ["useTools", "plan", "wait", "think", "notes", "batch", "done"]
    );
    assert_eq!(
        names(|spec| spec.group == Group::Mind),
        ["useTools", "plan", "wait", "think", "notes", "batch", "done"]
    );
    for spec in &specs {
        let only_looks = spec.risk == protocol::tool::Risk::Observe;
        assert!(!only_looks || spec.verify == Verify::Own, "{}", spec.name);
        assert_eq!(spec.group == Group::Web, spec.needs == Needs::Browser, "{}", spec.name);
        assert_eq!(spec.hash().len(), 64);
    }
}

#[tokio::test(start_paused = true)]
async fn pictures_are_taken_around_what_is_verified_on_the_screen_and_around_nothing_else() {
    for (tool, arguments, pictured) in [
        ("click", json!({"x": 1, "y": 2}), true),
        ("webClick", json!({"ref": "w1"}), true),
        ("batch", json!({"actions": [{"tool": "click", "arguments": {"x": 1, "y": 2}}]}), true),
        ("osa", json!({"script": "a"}), false),
        ("writeClipboard", json!({"text": "a"}), false),
        ("readClipboard", json!({}), false),
        ("think", json!({"thought": "a"}), false),
        ("batch", json!({"actions": [{"tool": "think", "arguments": {"thought": "a"}}]}), false),
    ] {
        let fake = desktop();
        let router = Router::builtin(fake.clone()).with_browser(FakeBrowser::new());
        let asked = request(tool, arguments);
        let yes = router.assess(&asked, &limits()).await.yes();
        let allowed = ExecRequest { approved: Some(yes), ..asked };
        let before = fake.calls().len();
        let executed = execute(&router, allowed, CancellationToken::new()).await;
        assert_eq!(executed.result.error, None, "{tool}");
        assert_eq!(executed.picture.is_some(), pictured, "{tool}");
        let looked = fake.calls()[before..].iter().any(|call| matches!(call, Call::Screenshot(_)));
        assert_eq!(looked, pictured, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_the_seat_lets_go_of_nothing() {
    let troubled = Troubled::new(Trouble::Hangs);
    let router = Router::builtin(troubled.clone());
    call(&router, "elementsJson", json!({})).await;
    assert_eq!(troubled.fake.releases(), 0);
    call(&router, "click", json!({"x": 1, "y": 2})).await;
    assert_eq!(troubled.fake.releases(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_call_changes_the_fence() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let fence = Fence { displays: vec![0], apps: vec!["Editor".into()], never: vec![] };
    router.fence(fence.clone());
    router.specs(Mode::Act, &tools::Ports::default());
    router.picture_size(&limits()).await;
    for (tool, arguments) in [("think", json!({"thought": "a"})), ("click", json!({"x": 1, "y": 2}))] {
        router.outline(&request(tool, arguments.clone()), &limits());
        call(&router, tool, arguments).await;
    }
    assert_eq!(fake.fenced(), fence);
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_keep_each_to_its_own_limits() {
    let router = Router::builtin(desktop());
    let within = |width, seconds| {
        let picture = PixelSize { width, height: 48 }.into();
        let limits = Limits { picture, timeout: Duration::from_secs(seconds), ..limits() };
        let call = tools::Call {
            request: request("screenshot", json!({})),
            cancel: CancellationToken::new(),
            limits: Arc::new(limits),
        };
        router.execute(call)
    };
    let (small, large) = tokio::join!(within(16, 1), within(64, 30));
    assert_eq!(small.picture.unwrap().size.width, 16);
    assert_eq!(large.picture.unwrap().size.width, 64);
}
