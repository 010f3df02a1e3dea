//! Many runs at once: whose turn it is at the desktop, whose fence holds, and whom a stop or the user's hand concerns.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent::{ModelSource, OpenModel};
use desktop::{Action, Hands};
use futures::FutureExt;
use futures::future::BoxFuture;
use models::SharedModel;
use models::scripted::{Scripted, Step};
use protocol::command::{
    AnswerApproval, AnyCommand, CallTool, EditSession, OpenPermission, ResumeRun, RunOverrides, ShowWindow,
    StartRun, StartedRun, StopRun, Subscribe, UpdateSettings, Window, WindowAction,
};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, RunId};
use protocol::principal::{Principal, Surface};
use protocol::run::Fence;
use protocol::tool::{Answer, ApprovalMode, Mode};
use protocol::view::Check;
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use serde_json::json;
use tokio::sync::Notify;

use crate::bench::{Bench, done};

/// A model for each name.
struct Cast(BTreeMap<String, Arc<Scripted>>);

impl ModelSource for Cast {
    fn open<'a>(&'a self, what: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        let model: SharedModel = self.0[what.model.name()].clone();
        async move { Ok(model) }.boxed()
    }
}

/// A bench on which the model `scripted/NAME` says `steps`.
async fn bench(cast: Vec<(String, Vec<Step>)>) -> Bench {
    let cast = cast.into_iter().map(|(name, steps)| (name, Arc::new(Scripted::new(steps)))).collect();
    Bench::other(Vec::new(), |setup| setup.models = Arc::new(Cast(cast))).await
}

async fn start(bench: &Bench, name: &str, only_app: Option<&str>) -> StartedRun {
    let overrides = RunOverrides {
        approval: Some(ApprovalMode::Auto),
        model: Some(ModelId(format!("scripted/{name}"))),
        only_apps: only_app.map(|app| vec![app.to_owned()]),
        ..RunOverrides::default()
    };
    let goal = format!("what {name} does");
    bench.handle.start_run(StartRun { goal, session: None, overrides }, Surface::Cli).await.unwrap()
}

async fn end_of(bench: &mut Bench, run: &RunId) -> RunEnd {
    until_of(bench, run, |body| matches!(body, EventBody::RunEnded { .. })).await.map_end()
}

async fn until_of(bench: &mut Bench, run: &RunId, wanted: impl Fn(&EventBody) -> bool) -> Event {
    loop {
        let event = bench.until(&wanted).await;
        if event.scope.run.as_ref() == Some(run) {
            return event;
        }
    }
}

trait MapEnd {
    fn map_end(self) -> RunEnd;
}

impl MapEnd for Event {
    fn map_end(self) -> RunEnd {
        match self.body {
            EventBody::RunEnded { end } => end,
            other => panic!("no end: {other:?}"),
        }
    }
}

fn click_at(x: usize) -> Step {
    Step::call("click", json!({ "x": x, "y": 500, "reason": "press it" }))
}

fn starts_a_tool(body: &EventBody) -> bool {
    matches!(body, EventBody::ToolStarted { .. })
}

const RUNS: usize = 20;
const CLICKS: usize = 5;

#[tokio::test(start_paused = true)]
async fn twenty_runs_take_turns_at_the_desktop_and_no_act_is_under_anothers_fence() {
    let steps = |number: usize| (0..CLICKS).map(move |_| click_at(10 + number)).chain([done()]).collect();
    let bench_cast = (0..RUNS).map(|number| (number.to_string(), steps(number))).collect();
    let mut bench = bench(bench_cast).await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_millis(50));
    let mut open = std::collections::BTreeSet::new();
    for number in 0..RUNS {
        open.insert(start(&bench, &number.to_string(), Some(&format!("app {number}"))).await.run);
    }
    while !open.is_empty() {
        let ended = bench.until(|body| matches!(body, EventBody::RunEnded { .. })).await;
        assert!(open.remove(ended.scope.run.as_ref().unwrap()));
        assert_eq!(ended.map_end(), RunEnd::Completed { summary: "pressed it".into() });
    }
    let acts: Vec<(usize, Fence)> = bench
        .desktop
        .fenced_acts()
        .into_iter()
        .filter_map(|(action, fence)| match action {
            Action::Click { at, .. } => Some((at.x() as usize - 10, fence)),
            _ => None,
        })
        .collect();
    assert_eq!(acts.len(), RUNS * CLICKS);
    for (number, fence) in &acts {
        let own = Fence { displays: vec![], apps: vec![format!("app {number}")], never: vec![] };
        assert_eq!(*fence, own, "an act of run {number}");
    }
    // Whoever has acted goes to the end of the queue: between two acts of a run each other one acts about once.
    for number in 0..RUNS {
        let places: Vec<usize> = (0..acts.len()).filter(|at| acts[*at].0 == number).collect();
        let longest = places.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(longest <= 2 * RUNS, "run {number} waited for {longest} acts of others");
    }
    assert_eq!(bench.handle.overview().await.unwrap().desktop.owner, None);
}

/// Another run's agent may type a yes into the terminal in which a run's question waits.
// bar: C35
#[tokio::test(start_paused = true)]
async fn an_answer_from_a_terminal_right_after_another_agents_act_is_not_taken() {
    let typing = Step::call("type", json!({ "text": "y\n", "reason": "as it says" }));
    let mut bench =
        bench(vec![("asks".into(), vec![click_at(500), done()]), ("types".into(), vec![typing, done()])])
            .await;
    let overrides = RunOverrides {
        approval: Some(ApprovalMode::Ask),
        model: Some(ModelId("scripted/asks".into())),
        ..RunOverrides::default()
    };
    let asking = StartRun { goal: "press it".into(), session: None, overrides };
    let asking = bench.handle.start_run(asking, Surface::Cli).await.unwrap();
    let question = bench.question().await;
    let yes = || AnswerApproval {
        approval: question.id.clone(),
        digest: question.digest.clone(),
        answer: Answer::Once,
    };
    let typing = start(&bench, "types", None).await;
    end_of(&mut bench, &typing.run).await;
    let refused = bench.handle.answer_approval(yes(), Surface::Cli).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Busy, "{refused:?}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    bench.handle.answer_approval(yes(), Surface::Cli).await.unwrap();
    assert!(matches!(end_of(&mut bench, &asking.run).await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn another_call_or_run_never_changes_the_fence_of_the_one_that_has_the_desktop() {
    let typing = Step::call("type", json!({ "text": "hello" }));
    let look = Step::call("screenshot", json!({}));
    let mut bench =
        bench(vec![("types".into(), vec![typing, done()]), ("looks".into(), vec![look, done()])]).await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_millis(300));
    let types = start(&bench, "types", Some("editor")).await;
    until_of(&mut bench, &types.run, starts_a_tool).await;
    let own = Fence { displays: vec![], apps: vec!["editor".into()], never: vec![] };
    assert_eq!(bench.desktop.fenced(), own);
    for (tool, arguments) in [("think", json!({ "thought": "hm" })), ("screenshot", json!({}))] {
        bench.handle.call_tool(CallTool { tool: tool.into(), arguments, asked: None }).await.unwrap();
        assert_eq!(bench.desktop.fenced(), own, "{tool}");
    }
    let looks = start(&bench, "looks", Some("browser")).await;
    assert!(matches!(end_of(&mut bench, &types.run).await, RunEnd::Completed { .. }));
    drop(looks);
    assert_eq!(bench.desktop.fenced(), own, "looking needs no desktop");
}

#[tokio::test]
async fn the_end_of_one_run_lets_go_of_nothing_that_another_holds() {
    let hold = Step::call("keyDown", json!({ "key": "shift", "reason": "to select" }));
    let up = Step::call("keyUp", json!({ "key": "shift", "reason": "selected" }));
    let has_looked = Arc::new(Notify::new());
    let up = up.once(&has_looked);
    let thought = Step::call("think", json!({ "thought": "and now?" }));
    let mut bench = bench(vec![
        ("holds".into(), vec![hold, thought, up, done()]),
        ("looks".into(), vec![Step::call("screenshot", json!({})), done()]),
        ("clicks".into(), vec![click_at(1), done()]),
    ])
    .await;
    let holds = start(&bench, "holds", None).await;
    for what in ["the press itself", "a thought after it"] {
        until_of(&mut bench, &holds.run, |body| matches!(body, EventBody::ToolFinished { .. })).await;
        assert!(bench.desktop.is_holding(), "{what} let go of the key");
    }
    let looks = start(&bench, "looks", None).await;
    end_of(&mut bench, &looks.run).await;
    assert!(bench.desktop.is_holding(), "the end of one let go of another's key");
    has_looked.notify_one();
    let clicks = start(&bench, "clicks", None).await;
    assert!(matches!(end_of(&mut bench, &clicks.run).await, RunEnd::Completed { .. }));
    // It had to wait until nothing was held.
    let actions = bench.desktop.actions();
    let at = |wanted: fn(&Action) -> bool| actions.iter().position(wanted).unwrap();
    let up = at(|action| matches!(action, Action::KeyUp { .. }));
    assert!(up < at(|action| matches!(action, Action::Click { .. })), "{actions:?}");
}

#[tokio::test]
async fn a_stop_of_one_leaves_the_others_alone_and_a_stop_of_all_leaves_none() {
    let endless = || vec![Step::call("type", json!({ "text": "hello" })), Step::silence()];
    let mut bench = bench(vec![
        ("one".into(), endless()),
        ("two".into(), vec![Step::silence()]),
        ("three".into(), vec![Step::silence()]),
    ])
    .await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    let one = start(&bench, "one", None).await;
    let (two, three) = (start(&bench, "two", None).await, start(&bench, "three", None).await);
    until_of(&mut bench, &one.run, starts_a_tool).await;
    let releases = bench.desktop.releases();
    bench.handle.stop_run(StopRun { run: Some(two.run.clone()) }, Surface::Dashboard).await.unwrap();
    assert!(matches!(end_of(&mut bench, &two.run).await, RunEnd::Stopped { .. }));
    assert_eq!(bench.desktop.releases(), releases, "it had nothing to let go of");
    let left: Vec<RunId> =
        bench.handle.list_runs().await.unwrap().into_iter().map(|status| status.run).collect();
    assert_eq!(left, [one.run.clone(), three.run.clone()]);
    bench.handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    assert!(bench.desktop.releases() > releases);
    assert_eq!(bench.handle.list_runs().await.unwrap(), []);
}

#[tokio::test]
async fn the_users_hands_pause_the_run_that_has_the_desktop_and_no_other() {
    let is_paused = Arc::new(Notify::new());
    let mut bench = bench(vec![
        ("acts".into(), vec![Step::call("type", json!({ "text": "hello" })), done()]),
        ("thinks".into(), vec![done().once(&is_paused)]),
    ])
    .await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    let acts = start(&bench, "acts", None).await;
    until_of(&mut bench, &acts.run, starts_a_tool).await;
    let thinks = start(&bench, "thinks", None).await;
    bench.desktop.interrupt(tools::Interruption::UserInput);
    until_of(&mut bench, &acts.run, |body| matches!(body, EventBody::RunPaused { .. })).await;
    bench.desktop.end_interruption();
    is_paused.notify_one();
    // The other one is not paused: it comes to its end by itself.
    assert!(matches!(end_of(&mut bench, &thinks.run).await, RunEnd::Completed { .. }));
    let given_back = async {
        while bench.handle.overview().await.unwrap().desktop.owner.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), given_back).await.expect("a paused run gives it back");
    bench.desktop.edit(|scene| scene.delay = Duration::ZERO);
    bench.handle.resume_run(ResumeRun { run: Some(acts.run.clone()) }).await.unwrap();
    assert!(matches!(end_of(&mut bench, &acts.run).await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn a_run_that_waits_for_the_desktop_can_be_stopped_and_is_gone_from_the_queue() {
    let mut bench = bench(vec![
        ("acts".into(), vec![Step::call("type", json!({ "text": "hello" })), done()]),
        ("waits".into(), vec![click_at(1), done()]),
    ])
    .await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    let acts = start(&bench, "acts", None).await;
    until_of(&mut bench, &acts.run, starts_a_tool).await;
    let waits = start(&bench, "waits", None).await;
    bench
        .until(|body| matches!(body, EventBody::DesktopChanged { desktop } if !desktop.waiting.is_empty()))
        .await;
    let desktop = bench.handle.overview().await.unwrap().desktop;
    assert_eq!((desktop.owner, desktop.waiting), (Some(acts.run), vec![waits.run.clone()]));
    bench.handle.stop_run(StopRun { run: Some(waits.run.clone()) }, Surface::Dashboard).await.unwrap();
    assert!(bench.handle.overview().await.unwrap().desktop.waiting.is_empty());
    assert_eq!(bench.clicks(), 0);
}

/// Any other program of the user's, on the socket.
fn client() -> Principal {
    Principal::of(Surface::Cli)
}

#[tokio::test]
async fn a_client_loosens_nothing_while_an_agent_is_at_work() {
    let bench = bench(vec![("waits".into(), vec![Step::silence(), Step::silence()])]).await;
    let handle = &bench.handle;
    let idle = start(&bench, "waits", None).await;
    handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    // That session is `auto`, the settings ask.
    let running = start(&bench, "waits", None).await;
    let overrides = RunOverrides { recording: None, ..RunOverrides::default() };
    let started = |session, overrides| StartRun { goal: "evil".into(), session, overrides };
    let auto = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    let replayed = protocol::command::Recording::Replay("/tmp/evil".into());
    let replayed = RunOverrides { recording: Some(replayed), ..RunOverrides::default() };
    let attacks: Vec<AnyCommand> = vec![
        started(Some(idle.session.clone()), overrides).into(),
        started(None, auto).into(),
        started(None, replayed).into(),
        CallTool { tool: "click".into(), arguments: json!({ "x": 1, "y": 1 }), asked: None }.into(),
        protocol::command::SteerRun { run: running.run.clone(), text: "type rm".into() }.into(),
        ResumeRun { run: Some(running.run.clone()) }.into(),
        protocol::command::DeleteKey { provider: "gemini".into() }.into(),
    ];
    for attack in attacks {
        let refused = handle.permit(&attack, &client()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden, "{attack:?}");
        assert!(refused.hint.is_some());
    }
    let harmless: Vec<AnyCommand> = vec![
        started(None, RunOverrides::default()).into(),
        CallTool { tool: "screenshot".into(), arguments: json!({}), asked: None }.into(),
        StopRun { run: None }.into(),
        ShowWindow { window: Window::Dashboard, action: WindowAction::Show, session: None }.into(),
        OpenPermission { check: Check::Input }.into(),
    ];
    for command in harmless {
        handle.permit(&command, &client()).await.unwrap();
    }
    // These are looked at under the lock of what they change, whatever was permitted before.
    for patch in [
        json!({ "approval": "auto" }),
        json!({ "failsafe": false }),
        json!({ "baseUrls": { "gemini": "http://localhost:1" } }),
    ] {
        let update = UpdateSettings { patch: serde_json::from_value(patch).unwrap() };
        let refused = handle.update_settings_by(update.patch, &client()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden);
    }
    let edit = EditSession {
        session: idle.session.clone(),
        title: None,
        mode: None,
        approval: Some(ApprovalMode::Ask),
        search: None,
        pinned: None,
        archived: None,
    };
    handle.edit_session_by(edit.clone(), &client()).await.unwrap();
    let back = EditSession { approval: Some(ApprovalMode::Auto), ..edit };
    let of_mode = |mode| EditSession { mode: Some(mode), approval: None, ..back.clone() };
    handle.edit_session_by(of_mode(Mode::Plan), &client()).await.unwrap();
    for loosening in [back.clone(), of_mode(Mode::Act)] {
        let refused = handle.edit_session_by(loosening.clone(), &client()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden);
        handle.edit_session_by(loosening, &Principal::of(Surface::Dashboard)).await.unwrap();
    }
}

#[tokio::test]
async fn nobody_may_send_a_command_and_a_window_any_that_the_table_gives_it() {
    let bench = bench(vec![("waits".into(), vec![Step::silence()])]).await;
    let running = start(&bench, "waits", None).await;
    let steer = protocol::command::SteerRun { run: running.run, text: "on".into() };
    for command in [AnyCommand::from(steer), StopRun { run: None }.into()] {
        bench.handle.permit(&command, &Principal::of(Surface::Chat)).await.unwrap();
        let refused = bench.handle.permit(&command, &Principal::of(Surface::Deadline)).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden);
    }
}

#[tokio::test]
async fn a_stream_that_does_not_exist_is_refused_with_how_streams_are_named() {
    let bench = bench(vec![]).await;
    for unknown in ["s-none", "nonsense"] {
        let wanted: protocol::ids::StreamId = serde_json::from_value(json!(unknown)).unwrap();
        let streams = Some(vec![protocol::ids::StreamId::app(), wanted]);
        let answer = bench.handle.subscribe(Subscribe { streams, after: None }).await;
        let refused = answer.err().unwrap();
        assert_eq!(refused.code, ErrorCode::NotFound, "{unknown}");
        assert!(refused.message.contains(unknown) && refused.hint.is_some(), "{refused:?}");
    }
}

#[tokio::test]
async fn a_client_answers_only_what_its_own_runs_ask() {
    let asks = || vec![click_at(1), done()];
    let mut bench = bench(vec![("one".into(), asks())]).await;
    let overrides = RunOverrides { model: Some(ModelId("scripted/one".into())), ..RunOverrides::default() };
    let command = StartRun { goal: "press".into(), session: None, overrides };
    let started = bench.handle.start_run(command, Surface::Cli).await.unwrap();
    let asked = bench.question().await;
    let answer = protocol::command::AnswerApproval {
        approval: asked.id,
        digest: asked.digest,
        answer: protocol::tool::Answer::Once,
    };
    let answer = AnyCommand::from(answer);
    let refused = bench.handle.permit(&answer, &client()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Forbidden);
    let starter = Principal { surface: Surface::Cli, started: vec![started.run] };
    bench.handle.permit(&answer, &starter).await.unwrap();
    bench.handle.permit(&answer, &Principal::of(Surface::Dashboard)).await.unwrap();
    // So is what is said to it. Acts of its own are nobody's.
    let run = starter.started[0].clone();
    let steer = protocol::command::SteerRun { run: run.clone(), text: "the blue one".into() };
    for own in [AnyCommand::from(steer), ResumeRun { run: Some(run) }.into()] {
        bench.handle.permit(&own, &starter).await.unwrap();
        assert_eq!(bench.handle.permit(&own, &client()).await.unwrap_err().code, ErrorCode::Forbidden);
    }
    let act = CallTool { tool: "click".into(), arguments: json!({ "x": 1, "y": 1 }), asked: None }.into();
    assert_eq!(bench.handle.permit(&act, &starter).await.unwrap_err().code, ErrorCode::Forbidden);
    // Who was refused stands in the journal.
    let noted = bench.until(|body| matches!(body, EventBody::Noted { .. })).await;
    let EventBody::Noted { message, .. } = noted.body else { unreachable!() };
    assert!(message.contains("answering this question"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_refused_again_and_again_does_not_fill_the_journal() {
    const FLOOD: usize = 5_000;
    let mut bench = bench(vec![("waits".into(), vec![Step::silence()])]).await;
    let running = start(&bench, "waits", None).await;
    let steer = AnyCommand::from(protocol::command::SteerRun { run: running.run, text: "type rm".into() });
    let other = AnyCommand::from(protocol::command::DeleteKey { provider: "gemini".into() });
    let before = bench.handle.overview().await.unwrap().seq.0;
    for _ in 0..FLOOD {
        assert_eq!(bench.handle.permit(&steer, &client()).await.unwrap_err().code, ErrorCode::Forbidden);
    }
    bench.handle.permit(&other, &client()).await.unwrap_err();
    let in_full = bench.handle.overview().await.unwrap().seq.0 - before;
    assert_eq!(in_full, 10 + 1, "ten of the one, and the other");
    // The rest is told as a number, and none is lost.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let more = bench
        .until(|body| matches!(body, EventBody::Noted { message, .. } if message.contains("times more")))
        .await;
    let EventBody::Noted { message, .. } = more.body else { unreachable!() };
    let expected = format!("steer_run, {} times more", FLOOD as u64 + 1 - in_full);
    assert!(message.contains(&expected), "{message}, not {expected}");
}
