//! The main job: the haiku, with and without windows; and models that get it wrong.

use outside::LONG;
use outside::fake_model::{BadMind, FakeModel, Fault, HAIKU, HaikuMind, LoopMind};
use outside::miki::{self, GOAL, Miki, check_file};
use outside::stage::Stage;
use protocol::Event;
use protocol::EventBody;
use protocol::event::RunEnd;
use protocol::tool::{Effect, ExecResult, ToolErrorKind};
use serde_json::json;

fn results(events: &[Event]) -> Vec<&ExecResult> {
    let results = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => Some(result),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_goal_becomes_a_file_without_a_window() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let model = FakeModel::start(HaikuMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", GOAL, "--json"]).unwrap();
    let events = miki::events(&done.stdout).unwrap();
    assert_eq!(done.code(), 0, "{:?} {}", miki::end(&events), done.stderr);
    check_file(&stage.work().join("haiku.txt"), HAIKU).unwrap();
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })));
    let durable: Vec<u64> = events.iter().filter_map(|event| event.position).map(|at| at.n).collect();
    assert!(durable.windows(2).all(|pair| pair[1] == pair[0] + 1), "a gap in the numbers: {durable:?}");
    for result in results(&events).into_iter().filter(|r| r.effect != Effect::Refused) {
        if let Some(picture) = &result.picture {
            assert!(
                miki.picture(picture).unwrap().starts_with(&[0xff, 0xd8]),
                "{} is no JPEG",
                result.summary
            );
        }
    }
    let acts = results(&events).into_iter().filter(|r| r.picture.as_ref().is_some_and(|p| p.dot.is_some()));
    assert!(acts.count() >= 3, "each click leaves a picture with a dot");
    assert!(
        model.turns().iter().any(|turn| turn.results().iter().any(|r| !r.images.is_empty())),
        "the model saw no picture"
    );
    assert!(!stage.screen().unwrap().held_keys().unwrap().iter().any(|_| true), "keys are held");
}

#[test]
fn a_command_attaches_to_the_running_app_and_both_see_the_run() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let screen = stage.screen().unwrap();
    let model = FakeModel::start(HaikuMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    screen.activate(&editor.window).unwrap();
    let done = miki.run(&stage, &["run", GOAL, "--json"]).unwrap();
    assert_eq!(done.code(), 0, "{} {} {}", done.stdout, done.stderr, stage.log("app"));
    check_file(&stage.work().join("haiku.txt"), HAIKU).unwrap();
    let durable = |events: Vec<Event>| events.into_iter().filter(|e| e.body.is_durable()).collect::<Vec<_>>();
    let seen_here = durable(client.events_until(miki::is_end).unwrap());
    let seen_there = durable(miki::events(&done.stdout).unwrap());
    assert_eq!(seen_here, seen_there);
    // A second start of the app hands over to the first and ends well.
    assert_eq!(miki.run(&stage, &[]).unwrap().code(), 0);
}

#[test]
fn what_a_model_gets_wrong_goes_back_to_it_and_the_run_goes_on() {
    // bar: C63
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let model = FakeModel::start(BadMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "try", "--json"]).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    let results = results(&events);
    let (well, mistakes): (Vec<&ExecResult>, Vec<&ExecResult>) =
        results.into_iter().partition(|r| r.error.is_none());
    assert_eq!(mistakes.len(), BadMind::MISTAKES, "{mistakes:#?}");
    for result in mistakes {
        assert_eq!(result.effect, Effect::Refused, "{result:?}");
        let kind = result.error.as_ref().unwrap().kind;
        assert!(matches!(kind, ToolErrorKind::UnknownTool | ToolErrorKind::BadArguments), "{result:?}");
    }
    assert!(well.len() >= 3, "the good calls were not made: {well:?}");
    let told: Vec<String> =
        model.turns().iter().flat_map(|t| t.results()).filter_map(|r| r.error()).collect();
    assert_eq!(told.len(), BadMind::MISTAKES, "the model was told: {told:?}");
    assert_eq!(witness.count(), 0, "something was pressed");
}

#[test]
fn a_model_that_never_stops_is_ended_at_max_steps() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(LoopMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "think", "--json", "--max-steps", "4"]).unwrap();
    assert_eq!(done.code(), 1);
    let events = miki::events(&done.stdout).unwrap();
    match miki::end(&events) {
        Some(RunEnd::Failed { message, .. }) => assert!(message.contains("4 steps"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(model.turns().len(), 4);
}

#[test]
fn an_overloaded_server_and_a_cut_stream_are_tried_again() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(outside::fake_model::ScriptMind::new([])).unwrap();
    let overloaded =
        json!({ "error": { "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" } });
    model.fail_next([Fault::status(503, overloaded), Fault::Cut(60)]);
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "be done", "--json"]).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    let failures = miki::events(&done.stdout)
        .unwrap()
        .into_iter()
        .filter(|event| matches!(event.body, EventBody::TurnFailed { retry: true, .. }));
    assert_eq!(failures.count(), 2);
}
