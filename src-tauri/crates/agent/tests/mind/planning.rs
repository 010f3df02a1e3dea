//! Runs with a plan: agreed to once, worked by, kept to, and checked at the end.

use desktop::Field;
use desktop::fake::Scene;
use models::Message;
use models::scripted::Step;
use protocol::EventBody;
use protocol::command::{AnswerApproval, ResumeRun, RunOverrides};
use protocol::contract::{About, Report};
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode, Mode, Risk};
use serde_json::{Value, json};

use crate::asking::{answer, crashed, refusals, window};
use crate::bench::{Bench, done, history, home};

/// Editing in the editor, and `more`.
fn plan(more: &Value) -> Step {
    let mut arguments =
        json!({"steps": ["write the letter"], "applications": ["editor"], "effects": ["edit"]});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Step::call("plan", arguments)
}

fn typing(text: &str) -> Step {
    Step::call("type", json!({ "text": text, "reason": "to write" }))
}

/// A run whose user's home is the bench's folder, with the editor in front.
async fn bench(steps: Vec<Step>) -> Bench {
    let folder = home();
    let at = folder.path().to_owned();
    let bench = Bench::with(folder, steps, |setup| {
        let router =
            std::mem::replace(&mut setup.router, tools::Router::builtin(desktop::fake::FakeDesktop::new()));
        setup.router = router.with_home(Some(at));
    })
    .await;
    bench.desktop.edit(letter_in_front);
    bench
}

/// With the keyboard in its text.
fn letter_in_front(scene: &mut Scene) {
    scene.windows = vec![window(1, "letter")];
    scene.field = Some(Field { takes_lines: true, pid: Some(7), ..Field::default() });
}

async fn say(bench: &Bench, asked: &Approval, word: Answer) {
    bench.handle.answer_approval(answer(asked, word), Surface::Dashboard).await.unwrap();
}

async fn end(bench: &mut Bench) -> RunEnd {
    bench.end().await
}

fn completed() -> RunEnd {
    RunEnd::Completed { summary: "pressed it".into() }
}

async fn questions(bench: &Bench, session: &SessionId) -> Vec<Approval> {
    let events = history(&bench.handle, session).await.into_iter();
    let asked = events.filter_map(|event| match event.body {
        EventBody::ApprovalRequested { approval } => Some(approval),
        _ => None,
    });
    asked.collect()
}

async fn report(bench: &Bench, session: &SessionId) -> Option<Report> {
    let events = history(&bench.handle, session).await.into_iter();
    let mut told = events.filter_map(|event| match event.body {
        EventBody::PlanReported { report } => Some(*report),
        _ => None,
    });
    let report = told.next();
    assert!(told.next().is_none(), "it is reported once");
    report
}

/// What was typed, in order.
fn typed(bench: &Bench) -> Vec<String> {
    let actions = bench.desktop.actions().into_iter();
    let texts = actions.filter_map(|action| match action {
        desktop::Action::Type { text } => Some(text),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn within_a_plan_nothing_is_asked_and_without_one_each_change_is() {
    let acts = || vec![typing("a"), typing("b"), typing("c"), done()];
    for (mut steps, asked_of) in [(vec![plan(&json!({}))], vec!["plan"]), (vec![], vec!["type"; 3])] {
        steps.extend(acts());
        let mut bench = bench(steps).await;
        let session = bench.start(ApprovalMode::Ask).await;
        for _ in &asked_of {
            let asked = bench.question().await;
            say(&bench, &asked, Answer::Once).await;
        }
        assert_eq!(end(&mut bench).await, completed());
        assert_eq!(typed(&bench), ["a", "b", "c"]);
        let tools: Vec<String> =
            questions(&bench, &session).await.into_iter().map(|asked| asked.call.tool).collect();
        assert_eq!(tools, asked_of);
        assert_eq!(report(&bench, &session).await.is_some(), asked_of == ["plan"]);
    }
}

#[tokio::test]
async fn what_leaves_the_plan_asks_and_says_which_clause_and_is_reported() {
    let switch = Step::with(|_| typing("ls"));
    let mut bench = bench(vec![plan(&json!({})), typing("a"), switch, typing("rm"), done()]).await;
    // After the first text a terminal is in front.
    bench.desktop.react(|_, scene| scene.windows[0].app = "xterm".into());
    let session = bench.start(ApprovalMode::Thread).await;
    let asked = bench.question().await;
    let About::Plan { contract, changes, .. } = &*asked.about else { panic!("{asked:?}") };
    assert_eq!((contract.applications[0].as_str(), changes.len()), ("editor", 0));
    assert_eq!((asked.risk, asked.for_session()), (Risk::Consequential, None));
    say(&bench, &asked, Answer::Once).await;
    for word in [Answer::Once, Answer::Deny] {
        let asked = bench.question().await;
        let About::Call { outside, .. } = &*asked.about else { panic!("{asked:?}") };
        assert_eq!(outside, &["application xterm", "effect run"]);
        assert!(asked.reason.contains("not in the plan: application xterm, effect run"), "{}", asked.reason);
        say(&bench, &asked, word).await;
    }
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(typed(&bench), ["a", "ls"]);
    let report = report(&bench, &session).await.unwrap();
    let answers: Vec<_> = report.deviations.into_iter().map(|one| (one.tool, one.answer)).collect();
    assert_eq!(answers, [("type".into(), Some(Answer::Once)), ("type".into(), Some(Answer::Deny))]);
}

#[tokio::test]
async fn a_plan_is_of_its_run_alone() {
    let mut bench = bench(vec![plan(&json!({})), typing("a"), done(), typing("b"), done()]).await;
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    assert_eq!(end(&mut bench).await, completed());
    let ask = RunOverrides { approval: Some(ApprovalMode::Ask), ..RunOverrides::default() };
    bench.start_with(Some(session.clone()), ask).await;
    let asked = bench.question().await;
    assert_eq!(asked.call.tool, "type", "the next run of the same session asks");
    assert!(asked.about.is_plain());
    say(&bench, &asked, Answer::Deny).await;
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(typed(&bench), ["a"]);
}

#[tokio::test]
async fn the_user_may_strike_things_out_and_the_model_is_told_the_plan_as_they_left_it() {
    let mut bench = bench(vec![plan(&json!({"budget": {"turns": 9}})), typing("a"), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let edit = |arguments| Answer::Edit { arguments };
    // What could not be proposed cannot be put in its place either, and the question stays open.
    let wide = json!({"steps": ["s"], "hosts": ["*"], "effects": ["edit"]});
    let error =
        bench.handle.answer_approval(answer(&asked, edit(wide)), Surface::Dashboard).await.unwrap_err();
    assert!(error.message.contains("no host"), "{error:?}");
    let left = json!({"steps": ["write the letter"], "applications": ["editor"], "effects": ["clipboard"]});
    say(&bench, &asked, edit(left.clone())).await;
    let asked = bench.question().await;
    assert_eq!(
        *asked.about,
        About::Call { outside: vec!["effect edit".into()], diff: None, unconfined: false }
    );
    let told = format!("{:?}", bench.model.requests()[1].messages.last());
    assert!(told.contains("clipboard") && told.contains("- at most 9 turns"), "{told}");
    // A call is no plan: it takes no plan's arguments.
    let refused = bench.handle.answer_approval(answer(&asked, edit(left)), Surface::Dashboard).await;
    assert_eq!(refused.unwrap_err().code, protocol::ErrorCode::BadRequest);
    say(&bench, &asked, Answer::Deny).await;
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(typed(&bench), [""; 0]);
}

#[tokio::test]
async fn a_plan_of_which_its_user_strikes_all_effects_out_asks_about_each_act() {
    let mut bench = bench(vec![plan(&json!({})), typing("a"), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let left = json!({"steps": ["write the letter"], "applications": ["editor"], "effects": []});
    say(&bench, &asked, Answer::Edit { arguments: left }).await;
    let asked = bench.question().await;
    assert_eq!(
        *asked.about,
        About::Call { outside: vec!["effect edit".into()], diff: None, unconfined: false }
    );
    say(&bench, &asked, Answer::Once).await;
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(typed(&bench), ["a"]);
}

#[tokio::test]
async fn another_plan_asks_again_and_until_the_yes_the_first_one_holds() {
    let wider = || plan(&json!({"applications": ["editor", "xterm"], "effects": ["edit", "run"]}));
    let mut bench = bench(vec![plan(&json!({})), wider(), typing("a"), wider(), done()]).await;
    let session = bench.start(ApprovalMode::Ask).await;
    let first = bench.question().await;
    say(&bench, &first, Answer::Once).await;
    let second = bench.question().await;
    let About::Plan { changes, .. } = &*second.about else { panic!("{second:?}") };
    assert_eq!(changes, &["+ effect run", "+ application xterm"]);
    // The yes to the first is none to the second.
    let stale = AnswerApproval { digest: first.digest.clone(), ..answer(&second, Answer::Once) };
    assert!(bench.handle.answer_approval(stale, Surface::Dashboard).await.is_err());
    say(&bench, &second, Answer::Deny).await;
    let third = bench.question().await;
    assert_eq!(typed(&bench), ["a"], "the first plan still holds");
    say(&bench, &third, Answer::Once).await;
    assert_eq!(end(&mut bench).await, completed());
    let told = refusals(&bench, &session).await;
    assert!(told.len() == 1 && told[0].contains("no to this plan"), "{told:?}");
    assert_eq!(report(&bench, &session).await.unwrap().contract.applications, ["editor", "xterm"]);
}

#[tokio::test]
async fn a_plan_that_cannot_be_agreed_to_is_refused_to_the_model_and_never_asked() {
    let bad = [
        json!({"hosts": ["*"]}),
        json!({"folders": ["/etc"]}),
        json!({"everything": true}),
        json!({"effects": ["all"]}),
        json!({"checks": [{"check": "commandExit", "command": "eval $X", "code": 0}]}),
        json!({"steps": []}),
    ];
    let mut steps: Vec<Step> = bad.iter().map(plan).collect();
    // One in a batch would be one yes for two things.
    steps.push(Step::call("batch", json!({"actions": [{"tool": "plan", "arguments": {"steps": ["s"]}}]})));
    let count = steps.len();
    for at in 0..count {
        // A turn of nothing but malformed calls ends a run after a few.
        let wait = Step::call("wait", json!({"seconds": 0.01}));
        steps.insert(2 * at + 1, wait);
    }
    steps.push(done());
    let mut bench = bench(steps).await;
    let session = bench.start(ApprovalMode::Ask).await;
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(questions(&bench, &session).await, []);
    assert_eq!(refusals(&bench, &session).await.len(), count);
}

#[tokio::test]
async fn where_there_are_no_plans_none_is_offered_nor_taken() {
    let over = RunOverrides { approval: Some(ApprovalMode::Ask), ..RunOverrides::default() };
    for (over, offered) in [
        (over.clone(), true),
        (RunOverrides { plan: Some(false), ..over.clone() }, false),
        (RunOverrides { mode: Some(Mode::Plan), ..over.clone() }, false),
        (RunOverrides { approval: Some(ApprovalMode::Auto), ..over }, false),
    ] {
        let mut bench = bench(vec![plan(&json!({})), done()]).await;
        let session = bench.start_with(None, over.clone()).await;
        if offered {
            let asked = bench.question().await;
            say(&bench, &asked, Answer::Deny).await;
        }
        assert_eq!(end(&mut bench).await, completed(), "{over:?}");
        let names = bench.model.requests()[0].tools.iter().any(|tool| tool.name == "plan");
        assert_eq!((names, questions(&bench, &session).await.len()), (offered, usize::from(offered)));
        assert_eq!(report(&bench, &session).await, None);
    }
}

fn letter() -> Value {
    json!({"folders": ["~/letters"],
        "checks": [{"check": "fileContains", "path": "~/letters/a.txt", "text": "Dear"}]})
}

#[tokio::test]
async fn done_is_refused_while_a_check_fails_and_words_alone_do_not_end_the_run() {
    let steps = vec![plan(&letter()), Step::text("all done"), done(), typing("x"), done()];
    let mut bench = bench(steps).await;
    let folder = bench.home.path().join("letters");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("a.txt");
    bench.desktop.react(move |_, _| std::fs::write(&file, "Dear Ms. Jones").unwrap());
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    assert_eq!(end(&mut bench).await, completed());
    let told = refusals(&bench, &session).await;
    let [refusal] = &told[..] else { panic!("{told:?}") };
    assert!(refusal.contains("~/letters/a.txt contains “Dear”"), "{refusal}");
    assert!(refusal.contains("it is not there"), "{refusal}");
    assert_eq!(bench.model.requests().len(), 5, "the words were answered");
    let findings = report(&bench, &session).await.unwrap().findings;
    assert!(findings.len() == 1 && findings[0].passed, "{findings:?}");
}

#[tokio::test]
async fn after_three_refusals_the_user_decides_whether_it_is_done() {
    let mut steps = vec![plan(&letter())];
    steps.extend((0..5).map(|_| done()));
    let mut bench = bench(steps).await;
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    for word in [Answer::Deny, Answer::Once] {
        let asked = bench.question().await;
        let About::Result { findings } = &*asked.about else { panic!("{asked:?}") };
        assert!(findings.len() == 1 && !findings[0].passed, "{findings:?}");
        assert_eq!(asked.call.tool, "done");
        say(&bench, &asked, word).await;
    }
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(bench.model.requests().len(), 6);
    assert_eq!(refusals(&bench, &session).await.len(), 4, "three by the check, one by the user");
    assert!(!report(&bench, &session).await.unwrap().findings[0].passed, "the report hides nothing");
}

#[tokio::test]
async fn what_the_plan_asks_its_user_is_asked_where_other_checks_fail_too() {
    let missing = json!({"check": "fileExists", "path": "~/letters/a.txt"});
    let asks = json!({"check": "askUser", "question": "Is the amount right?"});
    let mut steps = vec![plan(&json!({"folders": ["~/letters"], "checks": [missing, asks]}))];
    steps.extend((0..4).map(|_| done()));
    let mut bench = bench(steps).await;
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    let asked = bench.question().await;
    assert!(asked.reason.contains("checks of the plan fail (1)"), "{}", asked.reason);
    assert!(asked.reason.contains("Is the amount right?"), "a yes says yes to it: {}", asked.reason);
    say(&bench, &asked, Answer::Once).await;
    assert_eq!(end(&mut bench).await, completed());
}

#[tokio::test]
async fn a_check_may_be_the_users_own_eyes() {
    let asks = json!({"checks": [{"check": "askUser", "question": "Is the letter fine?"}]});
    let mut bench = bench(vec![plan(&asks), done(), done()]).await;
    let session = bench.start(ApprovalMode::Ask).await;
    for word in [Answer::Once, Answer::Deny, Answer::Once] {
        let asked = bench.question().await;
        if asked.call.tool == "done" {
            assert!(asked.reason.contains("Is the letter fine?"), "{}", asked.reason);
        }
        say(&bench, &asked, word).await;
    }
    assert_eq!(end(&mut bench).await, completed());
    assert!(report(&bench, &session).await.unwrap().findings[0].passed);
}

#[tokio::test]
async fn a_run_that_has_used_up_its_budget_waits_until_it_may_have_as_much_again() {
    let mut steps = vec![plan(&json!({"budget": {"turns": 2}}))];
    steps.extend(["a", "b", "c", "d", "e"].map(typing));
    steps.push(done());
    let mut bench = bench(steps).await;
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    for (used, typings) in [("2 of 2 steps", 2), ("4 of 4 steps", 4)] {
        let paused = bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
        let EventBody::RunPaused { reason } = &paused.body else { unreachable!() };
        assert!(reason.starts_with(&format!("the plan's budget is used up: {used}; ")), "{reason}");
        assert_eq!(typed(&bench).len(), typings);
        bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    }
    assert_eq!(end(&mut bench).await, completed());
    assert_eq!(typed(&bench).len(), 5);
    let turns = history(&bench.handle, &session).await;
    let turns = turns.iter().filter_map(|event| match event.body {
        EventBody::TurnFinished { turn, .. } => Some(turn),
        _ => None,
    });
    assert_eq!(turns.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7], "none was counted that was not asked for");
    assert!(report(&bench, &session).await.is_some());
}

#[tokio::test]
async fn a_run_that_goes_on_after_a_crash_has_its_plan_again() {
    let mut before = bench(vec![plan(&json!({})), typing("a")]).await;
    let session = before.start(ApprovalMode::Ask).await;
    let asked = before.question().await;
    // Crashed at the plan's question; and once more at that of a call outside it.
    let then = vec![typing("b"), typing("ls")];
    let mut next = Bench::at(crashed(&before), then).await;
    before.handle.shutdown().await;
    next.desktop.edit(letter_in_front);
    next.desktop.react(|_, scene| scene.windows[0].app = "xterm".into());
    let open = next.handle.overview().await.unwrap().questions;
    assert_eq!(open[0].approval, asked);
    say(&next, &asked, Answer::Once).await;
    let outside = next.question().await;
    assert_eq!((outside.call.arguments["text"].as_str(), typed(&next)), (Some("ls"), vec!["b".to_owned()]));
    let mut last = Bench::at(crashed(&next), vec![typing("c"), done()]).await;
    next.handle.shutdown().await;
    last.desktop.edit(letter_in_front);
    say(&last, &outside, Answer::Deny).await;
    assert_eq!(end(&mut last).await, completed());
    assert_eq!(typed(&last), ["c"]);
    assert_eq!(questions(&last, &session).await.len(), 2);
    let report = report(&last, &session).await.unwrap();
    assert_eq!(report.deviations.len(), 1);
    let told = last.model.requests()[0].messages.iter().any(|message| matches!(message, Message::User(_)));
    assert!(told);
}

#[tokio::test]
async fn a_run_that_is_stopped_while_it_waits_reports_its_plan_too() {
    let mut bench = bench(vec![plan(&json!({})), typing("a")]).await;
    bench.desktop.react(|_, scene| scene.windows[0].app = "xterm".into());
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    let _ = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    bench.handle.stop_run(protocol::command::StopRun { run: None }, Surface::Tray).await.unwrap();
    assert!(matches!(end(&mut bench).await, RunEnd::Stopped { .. }));
    assert!(report(&bench, &session).await.is_some());
}
