//! What the transcript of a session keeps, and what it says of costs and ends.

use protocol::ids::BlobRef;
use protocol::principal::Surface;
use protocol::tool::{Approval, ToolError};
use protocol::turn::{StopReason, Usd};
use serde_json::json;

use super::*;
use crate::sample::{
    USAGE, click, clicked, created, delta, event, events, question, said, started, tool_finished,
    tool_started, turn,
};

fn after(bodies: Vec<EventBody>) -> Transcript {
    Transcript::of(&events(bodies))
}

fn step(stage: Stage) -> Step {
    Step { risk: Some(Risk::Edit), ..Step::of(click("c-1"), stage) }
}

fn steps(transcript: &Transcript) -> Vec<Step> {
    let step = |entry: &Entry| match &entry.body {
        EntryBody::Step(step) => Some(step.clone()),
        _ => None,
    };
    transcript.entries().iter().filter_map(step).collect()
}

#[test]
fn a_run_becomes_goal_words_step_and_end() {
    let transcript = after(vec![
        created(),
        started(),
        turn(1, " I click. ", vec![click("c-1")]),
        tool_started("c-1"),
        tool_finished("c-1"),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
    ]);
    let spent = Spent { usd: Usd(1_230_000_000), turns: 1, ..Spent::default() };
    let bill = Bill { usage: USAGE, spent, is_whole: true, agents: None };
    let bodies: Vec<EntryBody> = transcript.entries().iter().map(|entry| entry.body.clone()).collect();
    assert_eq!(
        bodies,
        [
            EntryBody::Goal {
                run: Some(RunId("r-1".into())),
                goal: "write a haiku".into(),
                model: "gemini/flash".into(),
                by_agent: false,
            },
            EntryBody::Turn {
                turn: 1,
                text: "I click.".into(),
                thinking: String::new(),
                citations: Vec::new(),
            },
            EntryBody::Step(step(Stage::Done { result: Box::new(clicked()) })),
            EntryBody::End {
                end: RunEnd::Completed { summary: "done".into() },
                bill,
                suggestions: Vec::new(),
                report: None,
                acts: Acts { done: 1, ..Acts::default() },
                way_back: Box::new(WayBack {
                    run: Some(RunId("r-1".into())),
                    back: Vec::new(),
                    stays: vec!["click 10, 20".into()],
                    ..WayBack::default()
                }),
                repeats: false,
            },
        ]
    );
}

#[test]
fn the_bill_of_a_run_whose_beginning_is_not_there_is_not_whole() {
    let mut all = events([created(), started(), turn(1, "a", vec![]), turn(2, "b", vec![])]);
    all.drain(..3);
    let transcript = Transcript::of(&all);
    assert_eq!((transcript.bill.spent.turns, transcript.bill.is_whole), (1, false));
}

#[test]
fn text_streams_until_the_turn_is_whole() {
    let streams = vec![created(), started(), delta(1, 0, "I "), delta(1, 1, "click")];
    let mut transcript = after(streams);
    assert_eq!(transcript.streaming, Streaming { text: "I click".into(), thinking: String::new() });
    transcript.fold(&event(2, delta(1, 1, "click")));
    assert_eq!(transcript.streaming.text, "I click", "a delta told twice counts once");
    transcript.fold(&event(3, turn(1, "I click", vec![])));
    transcript.fold(&event(3, delta(1, 2, "late")));
    assert_eq!(transcript.streaming, Streaming::default());
}

#[test]
fn a_reader_who_comes_late_sees_that_the_text_began_before() {
    let transcript = after(vec![created(), started(), delta(1, 7, "the moon"), delta(1, 8, " is out")]);
    assert_eq!(transcript.streaming.text, "…the moon is out");
}

#[test]
fn a_reader_who_comes_late_and_is_told_what_was_said_goes_on_from_there() {
    let so_far =
        |next| EventBody::TurnSoFar { turn: 1, next, text: "The moon".into(), thinking: "Hm".into() };
    let mut transcript =
        after(vec![created(), started(), delta(1, 7, "moon"), so_far(8), delta(1, 8, " is out")]);
    assert_eq!(transcript.streaming, Streaming { text: "The moon is out".into(), thinking: "Hm".into() });
    // What it has heard since is not taken back; and of a turn that is over nothing streams.
    transcript.fold(&event(2, so_far(8)));
    assert_eq!(transcript.streaming.text, "The moon is out");
    transcript.fold(&event(3, turn(1, "The moon is out", vec![])));
    transcript.fold(&event(3, so_far(8)));
    assert_eq!(transcript.streaming, Streaming::default());
}

#[test]
fn another_try_of_a_turn_streams_from_its_beginning() {
    let transcript = after(vec![
        created(),
        started(),
        delta(1, 0, "Half a"),
        failed(true, Usage::default(), None),
        delta(1, 0, "Whole"),
    ]);
    assert_eq!(transcript.streaming.text, "Whole");
}

#[test]
fn a_question_waits_on_its_step_until_it_is_answered() {
    let asked = || {
        let approval = question("q-1");
        vec![created(), started(), turn(1, "", vec![click("c-1")]), EventBody::ApprovalRequested { approval }]
    };
    assert_eq!(steps(&after(asked())), [step(Stage::Waiting { approval: question("q-1").id })]);
    for by in [Surface::Chat, Surface::Deadline] {
        let approval = question("q-1").id;
        let answered = EventBody::ApprovalAnswered { approval, answer: Answer::Deny, by };
        let denied = Step { answer: Some((Answer::Deny, by)), ..step(Stage::Proposed) };
        assert_eq!(steps(&after(asked().into_iter().chain([answered]).collect())), [denied]);
    }
}

#[test]
fn a_call_that_never_began_is_not_run_when_the_run_is_over() {
    let transcript = after(vec![
        created(),
        started(),
        turn(1, "", vec![click("c-1")]),
        EventBody::ApprovalRequested { approval: question("q-1") },
        EventBody::RunEnded { end: RunEnd::Stopped { reason: "by the user".into() } },
    ]);
    assert_eq!(steps(&transcript), [step(Stage::NotRun)]);
}

#[test]
fn what_the_end_says_again_is_marked_on_the_step_that_ended_the_run() {
    let done = || ToolCall { tool: "done".into(), arguments: json!({"summary": "done"}), ..click("c-1") };
    let ends = || {
        let begins = EventBody::ToolStarted { call: done(), risk: Risk::Observe };
        vec![created(), started(), turn(1, "", vec![done()]), begins, tool_finished("c-1")]
    };
    let told =
        |bodies| steps(&after(bodies)).into_iter().map(|step| step.is_told_by_the_end).collect::<Vec<_>>();
    assert_eq!(told(ends()), [false]);
    assert!(!steps(&after(ends()))[0].has_effect(), "that the model says so shows nothing");
    let end = EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } };
    assert_eq!(told(ends().into_iter().chain([end.clone()]).collect()), [true]);
    let spoke = [said("and this"), turn(2, "that as well", vec![]), end];
    assert_eq!(told(ends().into_iter().chain(spoke).collect()), [false], "the end says something else");
}

#[test]
fn a_step_redraws_by_its_revision_and_the_others_stay() {
    let mut transcript = after(vec![created(), started(), turn(1, "hm", vec![click("c-1")])]);
    let keys = |transcript: &Transcript| {
        let key = |entry: &Entry| (entry.id.n, entry.id.part, entry.revision);
        transcript.entries().iter().map(key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&transcript), [(2, 0, 0), (3, 0, 0), (3, 1, 0)]);
    transcript.fold(&event(4, tool_started("c-1")));
    assert_eq!(keys(&transcript), [(2, 0, 0), (3, 0, 0), (3, 1, 1)]);
    let id = EntryId { n: 3, part: 1 };
    assert_eq!(transcript.entry(id).map(|entry| entry.id), Some(id));
}

#[test]
fn the_ring_is_where_it_acts_and_then_where_the_dot_is() {
    let run = || vec![created(), started(), tool_started("c-1")];
    let at = |x| Some((click("c-1").id, NormPoint::new(x, 20.0).unwrap()));
    assert_eq!(after(run()).last_point(), at(10.0));
    let blob = BlobRef { sha256: "ab".repeat(32), media_type: "image/jpeg".into(), bytes: 9 };
    let dot = NormPoint::new(11.0, 20.0).ok();
    let picture = Some(PictureView { blob, width: 1280, height: 800, dot });
    let result = ExecResult { picture, ..clicked() };
    let finished = EventBody::ToolFinished { call: click("c-1").id, result };
    assert_eq!(after(run().into_iter().chain([finished]).collect()).last_point(), at(11.0));
    let mut elsewhere = click("c-1");
    elsewhere.arguments["display"] = 1.into();
    let away = vec![created(), started(), EventBody::ToolStarted { call: elsewhere, risk: Risk::Edit }];
    assert_eq!(after(away).last_point(), None, "the overlay covers the first display");
}

fn failed(retry: bool, usage: Usage, cost: Option<Cost>) -> EventBody {
    let message = "overloaded".into();
    EventBody::TurnFailed { turn: 1, message, hint: None, retry, usage, cost, suggestions: Vec::new() }
}

#[test]
fn what_a_failed_or_stopped_turn_cost_is_in_the_bill_and_a_refused_one_costs_nothing() {
    let usage = Usage { input: 7, ..Usage::default() };
    let partly = Some(Cost::AtLeast { usd: Usd(5) });
    let end = EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } };
    let text = "The moon ".to_owned();
    let dropped = EventBody::TurnDropped { turn: 2, usage, cost: Cost::Unknown, text };
    let refused = failed(true, Usage::default(), None);
    let transcript = after(vec![started(), refused, failed(true, usage, partly), dropped, end]);
    let Some(Entry { body: EntryBody::End { bill, .. }, .. }) = transcript.entries().last() else {
        panic!("no end: {transcript:?}")
    };
    let said = &transcript.entries()[transcript.entries().len() - 2].body;
    assert!(matches!(said, EntryBody::Turn { text, .. } if text == "The moon…"), "{said:?}");
    let usage = Usage { input: 14, ..Usage::default() };
    let spent = Spent { usd: Usd(5), turns: 2, partly: 1, unknown: 1 };
    assert_eq!(*bill, Bill { usage, spent, is_whole: true, agents: None });
    assert!(!spent.is_exact() && !spent.is_unknown());
}

#[test]
fn an_answer_is_told_once_where_the_end_says_the_same() {
    let end = |summary: &str| EventBody::RunEnded { end: RunEnd::Completed { summary: summary.into() } };
    let repeats = |bodies: Vec<EventBody>| match after(bodies).entries().last() {
        Some(Entry { body: EntryBody::End { repeats, .. }, .. }) => *repeats,
        other => panic!("no end: {other:?}"),
    };
    assert!(repeats(vec![started(), turn(1, "It is Tuesday.", vec![]), end("It is Tuesday.\n")]));
    assert!(!repeats(vec![started(), turn(1, "It is Tuesday.", vec![]), end("It is Monday.")]));
    let between = vec![
        started(),
        turn(1, "Done.", vec![click("a")]),
        tool_started("a"),
        tool_finished("a"),
        end("Done."),
    ];
    assert!(!repeats(between));
}

#[test]
fn the_end_counts_what_was_done_and_what_was_refused_of_its_own_run() {
    let refused = |id: &str, kind| {
        let error = Some(ToolError { kind, message: "no".into() });
        let result = ExecResult { effect: Effect::Refused, error, ..clicked() };
        EventBody::ToolFinished { call: CallId(id.into()), result }
    };
    let look = |id: &str| EventBody::ToolStarted { call: click(id), risk: Risk::Observe };
    let unseen = ExecResult { effect: Effect::NoChange, ..clicked() };
    let end = || EventBody::RunEnded { end: RunEnd::Completed { summary: "All is done.".into() } };
    let calls = |ids: [&str; 6]| turn(1, "", ids.map(click).to_vec());
    let acts = |bodies| match after(bodies).entries().last() {
        Some(Entry { body: EntryBody::End { acts, .. }, .. }) => *acts,
        other => panic!("no end: {other:?}"),
    };
    let first = vec![
        started(),
        calls(["a", "b", "c", "d", "e", "g"]),
        refused("a", ToolErrorKind::Denied),
        refused("b", ToolErrorKind::Forbidden),
        refused("c", ToolErrorKind::BadArguments),
        refused("g", ToolErrorKind::Failed),
        look("d"),
        refused("d", ToolErrorKind::NotFound),
        tool_started("e"),
        EventBody::ToolFinished { call: CallId("e".into()), result: unseen },
        end(),
    ];
    let nothing = acts(first.clone());
    assert_eq!(nothing, Acts { refused: 3, in_doubt: 1, ..Acts::default() });
    assert!(nothing.came_to_nothing() && !nothing.all_done());
    let mut plans = first.clone();
    if let EventBody::RunStarted(spec) = &mut plans[0] {
        spec.mode = Mode::Plan;
    }
    assert_eq!(acts(plans), Acts::default(), "to be refused is what it was begun for");
    let second = [started(), turn(1, "", vec![click("f")]), tool_started("f"), tool_finished("f"), end()];
    let whole = acts(first.into_iter().chain(second).collect());
    assert_eq!(whole, Acts { done: 1, ..Acts::default() }, "the run before is not counted again");
    assert!(whole.all_done() && !whole.came_to_nothing());
}

#[test]
fn a_call_that_its_user_changed_is_shown_as_it_was_done_with_what_was_proposed() {
    let asked = |id: &str, call: ToolCall| EventBody::ApprovalRequested {
        approval: Approval { call, ..question(id) },
    };
    let answered = |id: &str, answer| EventBody::ApprovalAnswered {
        approval: ApprovalId(id.into()),
        answer,
        by: Surface::Dashboard,
    };
    let (was, now) = (click("c-1"), ToolCall { arguments: json!({ "x": 70, "y": 80 }), ..click("c-1") });
    let transcript = after(vec![
        started(),
        turn(1, "", vec![was.clone()]),
        asked("q-1", was.clone()),
        answered("q-1", Answer::Edit { arguments: now.arguments.clone() }),
        asked("q-2", now.clone()),
        answered("q-2", Answer::Once),
        EventBody::ToolStarted { call: now.clone(), risk: Risk::Edit },
        tool_finished("c-1"),
    ]);
    let [step] = &steps(&transcript)[..] else { panic!("{transcript:?}") };
    assert_eq!((&step.call, step.proposed.as_ref()), (&now, Some(&was.arguments)));
}

#[test]
fn a_failure_is_said_once_by_the_end_with_what_to_take_instead() {
    let end = RunEnd::Failed { message: "overloaded".into(), hint: None };
    let mut last = failed(false, Usage::default(), None);
    let others = vec![ModelId("xai/grok-9".into())];
    if let EventBody::TurnFailed { suggestions, .. } = &mut last {
        suggestions.clone_from(&others);
    }
    let again = failed(true, Usage::default(), None);
    let transcript = after(vec![started(), again, last, EventBody::RunEnded { end: end.clone() }]);
    let [_, again, ended] = transcript.entries() else { panic!("{transcript:?}") };
    assert!(matches!(again.body, EntryBody::TurnFailed { .. }), "{again:?}");
    assert!(
        matches!(&ended.body, EntryBody::End { end: said, suggestions, .. } if *said == end && *suggestions == others),
        "{ended:?}"
    );
}

#[test]
fn a_turn_that_only_names_its_sources_is_shown_with_them() {
    let page = Citation::new("https://example.org/a", "A page").unwrap();
    let body = EventBody::TurnFinished {
        turn: 1,
        text: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        citations: vec![page.clone()],
        usage: Usage::default(),
        cost: Cost::Unknown,
        stop: StopReason::Paused,
        raw: None,
    };
    let transcript = after(vec![body]);
    let [Entry { body: EntryBody::Turn { citations, .. }, .. }] = transcript.entries() else {
        panic!("no turn: {transcript:?}")
    };
    assert_eq!(*citations, [page]);
}

#[test]
fn what_the_user_said_is_an_entry_of_its_own() {
    let transcript = after(vec![started(), said("faster")]);
    assert_eq!(transcript.last_run().last().unwrap().body, EntryBody::Said { text: "faster".into() });
}

#[test]
fn a_step_knows_the_window_that_it_names_from_the_last_listing_or_from_its_question() {
    let call = |id: &str, tool: &str, arguments| {
        let id = CallId(id.into());
        ToolCall { id, tool: tool.into(), arguments }
    };
    let listed = |id: &str, windows| {
        let data = json!({ "windows": windows });
        let result = ExecResult { data, ..clicked() };
        EventBody::ToolFinished { call: CallId(id.into()), result }
    };
    let window = |id: u64, title: &str| FrontWindow { id, app: "Pad".into(), title: title.into(), pid: None };
    let as_listed = |id: u64, title: &str| json!({"id": id, "title": title, "app": "Pad", "display": 0});
    let focus = |id: &str, number: u64| call(id, "focusWindow", json!({ "window": number }));
    let asked = call("c-6", "changeWindow", json!({ "window": 9, "change": "close" }));
    let approval = Approval { call: asked.clone(), target: Some(window(9, "asked")), ..question("q-1") };
    let list = |id: &str| call(id, "listWindows", json!({}));
    let transcript = after(vec![
        turn(1, "", vec![focus("c-1", 7), list("c-2")]),
        listed("c-2", json!([as_listed(7, "old"), as_listed(8, "other")])),
        turn(2, "", vec![list("c-3")]),
        listed("c-3", json!([as_listed(7, "new")])),
        turn(3, "", vec![focus("c-4", 7), focus("c-5", 8), asked]),
        EventBody::ApprovalRequested { approval },
    ]);
    let known = |step: Step| step.call.window().map(|_| step.window.map(|window| window.title));
    let known: Vec<Option<String>> = steps(&transcript).into_iter().filter_map(known).collect();
    assert_eq!(known, [None, Some("new".into()), None, Some("asked".into())]);
}

fn asked_by_server(id: &str) -> (Elicitation, EventBody) {
    let wanted = Elicitation {
        server: "pond".into(),
        message: "How deep?".into(),
        is_required: true,
        usual: Some("a metre".into()),
        ..Elicitation::default()
    };
    let call = ToolCall {
        id: CallId(format!("c-{id}")),
        tool: protocol::tool::ASK_HUMAN.into(),
        arguments: json!({ "question": wanted.to_string() }),
    };
    let about = Box::new(About::Elicitation(Box::new(wanted.clone())));
    let approval = Approval { call, about, risk: Risk::Consequential, ..question(id) };
    (wanted, EventBody::ApprovalRequested { approval })
}

fn answered(id: &str, answer: Answer, by: Surface) -> EventBody {
    EventBody::ApprovalAnswered { approval: ApprovalId(id.into()), answer, by }
}

fn in_words(text: &str) -> Answer {
    Answer::Edit { arguments: json!({ "question": "?", "answer": text }) }
}

#[test]
fn what_a_server_asked_is_no_step_and_stands_with_what_it_was_told() {
    let refused = ExecResult {
        effect: Effect::Refused,
        error: Some(ToolError { kind: ToolErrorKind::Denied, message: "no".into() }),
        ..clicked()
    };
    let finished = |id: &str, result: &ExecResult| EventBody::ToolFinished {
        call: CallId(format!("c-{id}")),
        result: result.clone(),
    };
    let all = |bodies: Vec<EventBody>| {
        let transcript = after([vec![created(), started()], bodies].concat());
        assert_eq!(steps(&transcript), [], "the model has done nothing");
        let acts = transcript.entries().iter().find_map(|entry| match &entry.body {
            EntryBody::End { acts, .. } => Some(*acts),
            _ => None,
        });
        assert!(acts.is_none_or(|acts| acts == Acts::default()));
        let asked = |entry: &Entry| match &entry.body {
            EntryBody::Asked(asked) => {
                Some((asked.wanted.clone(), asked.reply.clone(), asked.said().map(str::to_owned)))
            }
            _ => None,
        };
        transcript.entries().iter().filter_map(asked).collect::<Vec<_>>()
    };
    let (wanted, asks) = asked_by_server("q");
    let end = || EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } };
    let told = |reply, said: Option<&str>| vec![(wanted.clone(), reply, said.map(str::to_owned))];
    assert_eq!(all(vec![asks.clone()]), told(Reply::Open, None));
    let given = |text| {
        vec![asks.clone(), answered("q", in_words(text), Surface::Chat), finished("q", &clicked()), end()]
    };
    assert_eq!(all(given("two")), told(Reply::Given("two".into()), Some("two")));
    assert_eq!(all(given(".")), told(Reply::Given(".".into()), Some("a metre")), "as usual");
    let no = |by| vec![asks.clone(), answered("q", Answer::Deny, by), finished("q", &refused), end()];
    assert_eq!(all(no(Surface::Dashboard)), told(Reply::Declined, None));
    assert_eq!(all(no(Surface::Deadline)), told(Reply::Nobody, None));
    assert_eq!(all(vec![asks, end()]), told(Reply::Nobody, None));
}

#[test]
fn a_pause_says_which_budget_is_used_up_and_another_pause_does_not() {
    let bound = Bound {
        of: protocol::budget::BudgetOf::Run,
        measure: protocol::budget::Measure::Steps,
        used: "3".into(),
        most: "3".into(),
        next: None,
    };
    let paused = || EventBody::RunPaused { reason: "r".into() };
    let used_up = EventBody::BudgetReached { reached: Reached::UsedUp, bound: bound.clone() };
    let transcript = after(vec![created(), started(), used_up, paused(), EventBody::RunResumed, paused()]);
    let pauses = transcript.entries().iter().filter_map(|entry| match &entry.body {
        EntryBody::Paused { used_up, .. } => Some(used_up.clone()),
        _ => None,
    });
    assert_eq!(pauses.collect::<Vec<_>>(), [Some(bound), None]);
}
