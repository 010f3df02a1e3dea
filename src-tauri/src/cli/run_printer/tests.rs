//! What a run reads like, and what an answer typed at a question means.

use protocol::budget::{Bound, BudgetOf, Forecast, Measure, Most, Reached};
use protocol::command::Unattended;
use protocol::event::{DeltaKind, Position, Scope};
use protocol::ids::{ApprovalId, CallId, RunId, Seq, SessionId, StreamId, Timestamp};
use protocol::run::Fence;
use protocol::terminal::{Line, Span, Style};
use protocol::tool::{FrontWindow, Grant, Millis, ToolCall, ToolError, ToolErrorKind};
use protocol::turn::{Cost, StopReason, Usd};
use serde_json::{Value, json};

use super::*;

fn event(position: Option<Position>, body: EventBody) -> Event {
    Event { position, stream: StreamId::app(), time: Timestamp(0), scope: Scope::default(), body }
}

fn told(bodies: Vec<EventBody>) -> String {
    let mut printed = Printed::default();
    bodies.into_iter().map(|body| printed.tell(&event(None, body))).collect()
}

fn delta(index: u32, text: &str) -> EventBody {
    EventBody::TurnDelta { turn: 1, index, kind: DeltaKind::Text, text: text.into() }
}

fn call(id: &str, tool: &str) -> EventBody {
    let call = ToolCall { id: CallId(id.into()), tool: tool.into(), arguments: json!({}) };
    EventBody::ToolStarted { call, risk: Risk::Edit }
}

fn result(id: &str, effect: Effect, summary: &str, error: Option<&str>) -> EventBody {
    EventBody::ToolFinished {
        call: CallId(id.into()),
        result: ExecResult {
            effect,
            summary: summary.into(),
            data: Value::Null,
            error: error.map(|message| ToolError { kind: ToolErrorKind::Failed, message: message.into() }),
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(1_249),
        },
    }
}

#[test]
fn how_far_a_servers_call_is_is_said_as_it_comes_and_what_a_command_prints_at_its_end() {
    let printed = |id: &str, text: &str| {
        let span = Span { text: text.into(), style: Style::default() };
        let lines = vec![Line { spans: vec![span], cut: 0 }];
        EventBody::CommandPrinted { call: CallId(id.into()), first: 0, lines }
    };
    let said = told(vec![
        call("c-1", "pond__fish"),
        printed("c-1", "40 % · at the pond"),
        result("c-1", Effect::Unverified, "pond: 3 carp", None),
        call("c-2", "runCommand"),
        printed("c-2", "hello"),
    ]);
    assert_eq!(said.matches("  pond: 40 % · at the pond\n").count(), 1, "{said}");
    assert!(!said.contains("hello"), "{said}");
}

fn turn(number: u32, text: &str) -> EventBody {
    EventBody::TurnFinished {
        turn: number,
        text: text.into(),
        thinking: String::new(),
        calls: Vec::new(),
        citations: Vec::new(),
        usage: Usage { input: 1_000, output: 20, thinking: 3, ..Usage::default() },
        cost: Cost::Priced { usd: Usd(1_230_000_000) },
        stop: StopReason::ToolCalls,
        raw: None,
    }
}

fn spec() -> RunSpec {
    RunSpec {
        goal: "save it".into(),
        model: ModelId("gemini/x".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: true,
        fence: Some(Fence::default()),
        unattended: Unattended::Wait,
        space: None,
        parent: None,
        recording: None,
        plan: false,
        user_goal: None,
        groups: None,
        conducts: false,
        carry_on: 0,
    }
}

#[test]
fn a_run_reads_as_a_story() {
    let text = told(vec![
        EventBody::RunStarted(Box::new(spec())),
        delta(0, "I look "),
        delta(1, "first."),
        turn(1, "I look first."),
        call("c-1", "click"),
        result("c-1", Effect::Confirmed, "clicked Save at 512,40", None),
        turn(2, "Not streamed."),
        call("c-2", "type"),
        result("c-2", Effect::Refused, "", Some("no focus")),
        call("c-3", "done"),
        result("c-3", Effect::Confirmed, "done: saved", None),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "saved".into() } },
    ]);
    assert_eq!(
        text,
        "goal: save it\n\
         gemini/x, acting, asking about every change, searching the web, at most 30 steps\n\
         I look first.\n\
         \x20 1  click         clicked Save at 512,40  (confirmed, 1.2 s)\n\
         Not streamed.\n\
         \x20 2  type          no focus  (refused, 1.2 s)\n\
         done: saved\n\
         actions: 1 carried out, 1 refused\n\
         cost: $0.00246; tokens: 2000 in, 46 out\n"
    );
}

#[test]
fn what_a_run_may_take_and_come_to_is_said_at_its_start_and_when_a_bound_is_near() {
    let (minutes, cost) = (Some(10), Usd::from_dollars(0.5));
    let forecast = Forecast { runs: 8, steps: (12, 20), tokens: (40_000, 90_000), cost: None };
    let most = Most { minutes, cost, ..Most::default() };
    let (of, measure, used) = (BudgetOf::Run, Measure::Steps, "24".to_owned());
    let bound = Bound { of, measure, used, most: "30".into(), next: None };
    let text = told(vec![
        EventBody::RunStarted(Box::new(RunSpec { most, forecast: Some(forecast), ..spec() })),
        EventBody::BudgetReached { reached: Reached::Near, bound },
    ]);
    assert_eq!(
        text,
        "goal: save it\n\
         gemini/x, acting, asking about every change, searching the web, at most 30 steps, 10 minutes, $0.5\n\
         about 40k-90k tokens, 12-20 steps (from 8 runs)\n\
         budget: most of it is used, 24 of 30 steps\n"
    );
}

#[test]
fn a_model_that_says_done_where_nothing_was_is_not_repeated_as_if_it_were_so() {
    let text = told(vec![
        EventBody::RunStarted(Box::new(spec())),
        call("c-1", "type"),
        result("c-1", Effect::Refused, "", Some("no focus")),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "saved".into() } },
    ]);
    let end = "ended, nothing done; the model says: saved\nactions: 0 carried out, 1 refused\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn what_an_answer_rests_on_is_listed_below_it() {
    let mut cited = turn(1, "News [1].");
    if let EventBody::TurnFinished { citations, .. } = &mut cited {
        citations.extend(Citation::new("https://example.org/a", "A\u{1b}[2J page"));
        citations.extend(Citation::new("https://example.org/b", ""));
    }
    assert_eq!(
        told(vec![delta(0, "News [1]."), cited]),
        "News [1].\n [1] A\\u{001B}[2J page (example.org) https://example.org/a\n \
         [2] example.org (example.org) https://example.org/b\n"
    );
}

#[test]
fn nothing_that_was_read_can_steer_the_terminal() {
    let text = told(vec![
        delta(0, "a\x1b]52;c;eA==\x07b\u{202e}c\u{9b}31m\rd\n"),
        call("c-1", "click"),
        result("c-1", Effect::Confirmed, "clicked \x1b[2Jx\ny", None),
    ]);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text:?}");
    assert_eq!(text.lines().count(), 2, "{text:?}");
}

#[test]
fn a_failure_says_that_it_is_tried_again_and_the_last_one_is_the_runs_end() {
    let failed = |retry| failure(retry, Usage::default(), None);
    let end = EventBody::RunEnded {
        end: RunEnd::Failed { message: "overloaded".into(), hint: Some("wait".into()) },
    };
    assert_eq!(
        told(vec![failed(true), failed(false), end]),
        "! overloaded; trying again\nfailed: overloaded (wait)\n"
    );
}

#[test]
fn a_model_that_is_not_known_is_followed_by_a_line_for_each_that_may_be_taken() {
    let mut failed = failure(false, Usage::default(), None);
    if let EventBody::TurnFailed { suggestions, .. } = &mut failed {
        suggestions.extend(["xai/grok-4.7", "xai/grok-9"].map(|id| ModelId(id.into())));
    }
    let end = EventBody::RunEnded { end: RunEnd::Failed { message: "overloaded".into(), hint: None } };
    let told = told(vec![failed, end]);
    assert_eq!(told, "failed: overloaded\n  try: --model xai/grok-4.7\n  try: --model xai/grok-9\n");
}

fn failure(retry: bool, usage: Usage, cost: Option<Cost>) -> EventBody {
    let message = "overloaded".into();
    EventBody::TurnFailed { turn: 1, message, hint: None, retry, usage, cost, suggestions: Vec::new() }
}

#[test]
fn what_a_turn_cost_before_it_failed_is_in_the_sum_and_a_refused_one_costs_nothing() {
    let bill = |failed| {
        let end = RunEnd::Completed { summary: "ok".into() };
        let text = told(vec![failed, turn(1, "a"), EventBody::RunEnded { end }]);
        text.lines().last().unwrap().to_owned()
    };
    let usage = Usage { input: 7, ..Usage::default() };
    let known = bill(failure(true, Usage::default(), None));
    let partly = Cost::AtLeast { usd: Usd(1_000_000_000) };
    let more = bill(failure(true, usage, Some(partly)));
    assert!(known.starts_with("cost: $0.00123; "), "{known}");
    assert!(more.starts_with("cost: at least $0.00223 (1 turn not counted in full); "), "{more}");
    let unknown = bill(failure(true, usage, Some(Cost::Unknown)));
    assert!(unknown.starts_with("cost: at least $0.00123 (1 turn of unknown cost); "), "{unknown}");
    let dropped = EventBody::TurnDropped { turn: 1, usage, cost: Cost::Unknown, text: String::new() };
    assert_eq!(bill(dropped), unknown);
    let tokens =
        |line: &str| line.split("tokens: ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>();
    assert_eq!(tokens(&more).unwrap(), tokens(&known).unwrap() + 7);
}

#[test]
fn every_event_is_documented() {
    let source = include_str!("../../../crates/protocol/src/event.rs");
    let documented = include_str!("../../../../docs/EVENTS.md");
    let body = source.split("pub enum EventBody {").nth(1).unwrap().split("\n}\n").next().unwrap();
    let mut names = 0;
    for line in body.lines() {
        let Some(rest) =
            line.strip_prefix("    ").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        else {
            continue;
        };
        let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        let name = format!("{}{}", name[..1].to_lowercase(), &name[1..]);
        assert!(documented.contains(&format!("| `{name}` |")), "{name} is not in docs/EVENTS.md");
        names += 1;
    }
    assert!(names >= 18, "only {names} events were found");
}

#[test]
fn what_was_missed_of_a_turn_that_streams_is_told_at_its_end() {
    assert_eq!(told(vec![delta(0, "I look"), turn(1, "I look first.")]), "I look first.\n");
    let gap = told(vec![delta(0, "I "), delta(2, "fir"), turn(1, "I look first.")]);
    assert_eq!(gap, "I \n…fir\nI look first.\n");
}

#[test]
fn a_step_is_told_when_it_has_come_to_an_outcome_and_what_happens_meanwhile_before_it() {
    let paused = EventBody::RunPaused { reason: "by the user".into() };
    let text = told(vec![
        call("c-1", "click"),
        paused,
        EventBody::RunResumed,
        result("c-1", Effect::Confirmed, "clicked Save", None),
        result("c-1", Effect::Confirmed, "clicked Save", None),
    ]);
    assert_eq!(text, "paused: by the user\ngoing on\n  0  click         clicked Save  (confirmed, 1.2 s)\n");
}

#[test]
fn a_paused_run_goes_on_by_a_clear_word_alone() {
    let started = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    let mut printer = RunPrinter::new(true, false, &started);
    assert!(!printer.goes_on("go on"), "it is not paused");
    printer.tell(&event(None, EventBody::RunPaused { reason: "the plan's budget is used up".into() }));
    for other in ["", "y", "yes", "go", "on"] {
        assert!(!printer.goes_on(other), "{other:?}");
    }
    assert!(printer.goes_on(" Go on\n"));
    printer.tell(&event(None, EventBody::RunResumed));
    assert!(!printer.goes_on("go on"));
    printer.tell(&event(None, EventBody::RunPaused { reason: "again".into() }));
    printer.stopping();
    assert!(!printer.goes_on("go on"), "it is being stopped");
}

#[test]
fn a_question_that_nobody_answered_is_not_told_as_a_no() {
    let answered = |answer, by| {
        told(vec![EventBody::ApprovalAnswered { approval: ApprovalId("q-1".into()), answer, by }])
    };
    assert_eq!(answered(Answer::Deny, Surface::Deadline), "not allowed: nobody answered in time\n");
    assert_eq!(answered(Answer::Deny, Surface::Chat), "denied, in the chat widget\n");
}

#[test]
fn a_page_that_begins_before_the_gap_tells_each_event_once_and_in_order() {
    let started = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    let mut printer = RunPrinter::new(false, false, &started);
    let scope = Scope { session: Some(started.session), run: Some(started.run), agent: None };
    let mut is_new = |n: u64| {
        let position = Some(Position { seq: Seq(100 + n), n });
        printer.is_new(&Event { scope: scope.clone(), ..event(position, EventBody::RunResumed) })
    };
    let told: Vec<u64> = [1, 2, 3, 2, 3, 4, 1, 5].into_iter().filter(|n| is_new(*n)).collect();
    assert_eq!(told, [1, 2, 3, 4, 5]);
}

fn grant() -> Grant {
    Grant { tool: "type".into(), app: Some("editor".into()) }
}

fn approval(arguments: Value, risk: Risk) -> Approval {
    Approval {
        asks: Default::default(),
        id: ApprovalId("q-1".into()),
        call: ToolCall { id: CallId("c-1".into()), tool: "type".into(), arguments },
        risk,
        reason: "to greet".into(),
        digest: "d".into(),
        deadline: Timestamp(0),
        window: Some(FrontWindow { id: 1, app: "editor".into(), title: "a\u{202e}b".into(), pid: None }),
        target: None,
        goes_to: Vec::new(),
        seen: None,
        picture: None,
        hosts: Vec::new(),
        touches: vec![grant()],
        read: Vec::new(),
        about: Box::default(),
    }
}

fn as_asked(approval: Approval, asks: ApprovalMode) -> Approval {
    Approval { asks, ..approval }
}

#[test]
fn a_question_ends_with_what_decides_and_hides_nothing_in_its_length() {
    let text = question(&as_asked(approval(json!({ "text": "hello" }), Risk::Edit), ApprovalMode::Thread));
    assert_eq!(
        text,
        "\n? type “hello”\n  to greet\n  goes to: a\\u{202E}b (editor)\n  {\"text\":\"hello\"}\n  \
         type changes something, which Miki cannot take back: allow? [y]es, this once; [n]o, and why if you like; type in editor: [r] for this run, [t] for the whole session: "
    );
    let padded = json!({ "text": format!("echo{}; rm -rf", " ".repeat(100_000)) });
    let text = question(&as_asked(approval(padded, Risk::Consequential), ApprovalMode::Thread));
    assert!(text.len() < 3_000 && text.contains("more characters") && text.contains("rm -rf"), "{text}");
    let turned =
        question(&as_asked(approval(json!({ "text": "א\", \"to\": \"ב" }), Risk::Edit), ApprovalMode::Ask));
    assert!(turned.contains(r#""\u{05D0}\", \"to\": \"\u{05D1}""#), "{turned}");
    assert!(
        text.ends_with("type cannot be undone: allow? [y]es, this once; [n]o, and why if you like: "),
        "{text}"
    );
}

#[test]
fn a_question_about_a_file_shows_the_lines_that_would_change() {
    let about = |diff: String| Approval {
        about: Box::new(About::Call { outside: Vec::new(), diff: Some(diff), unconfined: false }),
        ..approval(json!({ "path": "a.txt", "text": "two" }), Risk::Edit)
    };
    let text =
        question(&as_asked(about("--- a.txt\n+++ a.txt\n-one\n+two\u{1b}[2J\n".into()), ApprovalMode::Ask));
    assert!(text.contains("  -one\n  +two"), "{text}");
    assert!(!text.contains('\u{1b}') && text.contains(r#""text":"two""#), "{text}");
    let long = question(&as_asked(about("+line\n".repeat(100)), ApprovalMode::Ask));
    assert_eq!(long.matches("+line").count(), BRIEF.diff_lines);
    assert!(long.contains("and 40 more lines"), "{long}");
}

#[test]
fn a_question_names_its_window_and_then_says_all_that_would_be_done() {
    let mut asked = approval(json!({ "window": 4_194_311, "change": "close" }), Risk::Edit);
    asked.call.tool = "changeWindow".into();
    let app = "Mousepad\u{1b}[2J".to_owned();
    asked.target = Some(FrontWindow { id: 4_194_311, app, title: "notes.txt".into(), pid: None });
    let text = question(&as_asked(asked, ApprovalMode::Thread));
    assert!(text.starts_with("\n? changeWindow close “notes.txt” (Mousepad"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(text.contains("{\"window\":4194311,\"change\":\"close\"}"), "{text}");
}

#[test]
fn only_a_clear_word_is_an_answer() {
    let asked = approval(json!({}), Risk::Edit);
    let asked = as_asked(asked, ApprovalMode::Thread);
    let said = |line: &'static str| answer_in(line, &asked);
    assert_eq!(said(" Yes\n"), Some((Answer::Once, None)));
    assert_eq!(said("n"), Some((Answer::Deny, None)));
    assert_eq!(said("No, the blue one\n"), Some((Answer::Deny, Some("the blue one"))));
    assert_eq!(said("t"), Some((Answer::Thread, None)));
    for unclear in ["", "j", "yy", "ok", "1", "yes but not now", "t in all"] {
        assert_eq!(said(unclear), None, "{unclear}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_typed_before_a_question_can_have_been_read_does_not_answer_it() {
    let started = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    let mut printer = RunPrinter::new(false, false, &started);
    assert!(printer.answer("y").is_none());
    let approval = approval(json!({}), Risk::Edit);
    printer.tell(&event(None, EventBody::ApprovalRequested { approval }));
    for _ in 0..100 {
        assert!(printer.answer("y").is_none());
    }
    tokio::time::advance(READING).await;
    assert_eq!(printer.answer("y").map(|(answer, _)| answer.answer), Some(Answer::Once));
    assert!(printer.answer("y").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_a_question_that_leaves_something_out_shows_all_of_it_first() {
    let started = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    let mut printer = RunPrinter::new(false, false, &started);
    let lines: Vec<String> = (0..200).map(|n| format!("line {n}: {}", "x".repeat(20))).collect();
    let long = approval(json!({ "text": lines.join("\n") }), Risk::Edit);
    assert!(!shown(&long).contains("line 100:") && left_out(&long).unwrap().contains("line 100:"));
    for answers in [["n", ""], ["y", "y"]] {
        printer.tell(&event(None, EventBody::ApprovalRequested { approval: long.clone() }));
        let mut said = answers.into_iter().filter_map(|word| {
            printer.asked = Instant::now().checked_sub(READING).unwrap();
            printer.answer(word)
        });
        let answered = said.next().map(|(answer, _)| answer.answer);
        let expected = if answers[0] == "n" { Answer::Deny } else { Answer::Once };
        assert_eq!((answered, said.count()), (Some(expected), 0));
    }
    assert_eq!(left_out(&approval(json!({ "text": "short" }), Risk::Edit)), None);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_allowed_for_the_session_where_every_step_is_asked_about_or_that_cannot_be_undone() {
    let started = StartedRun { session: SessionId("s-1".into()), run: RunId("r-1".into()) };
    for (mode, risk, session, run) in [
        (ApprovalMode::Thread, Risk::Edit, true, true),
        (ApprovalMode::Thread, Risk::Consequential, false, false),
        (ApprovalMode::Ask, Risk::Edit, false, true),
        (ApprovalMode::Ask, Risk::Consequential, false, false),
        // A provider's warning is asked about in this mode, too.
        (ApprovalMode::Auto, Risk::Consequential, false, false),
    ] {
        for (word, is_offered, words) in [("t", session, "the whole session"), ("r", run, "for this run")] {
            let mut printer = RunPrinter::new(false, false, &started);
            let approval = as_asked(approval(json!({}), risk), mode);
            printer.tell(&event(None, EventBody::ApprovalRequested { approval: approval.clone() }));
            tokio::time::advance(READING).await;
            assert_eq!(choices(&approval).contains(words), is_offered, "{mode:?} {risk:?}");
            assert_eq!(printer.answer(word).is_some(), is_offered, "{mode:?} {risk:?} {word}");
        }
    }
    // What is in no application cannot be said.
    let nowhere = Grant { app: None, ..grant() };
    let nowhere = Approval { touches: vec![nowhere], ..approval(json!({}), Risk::Edit) };
    assert!(answer_in("r", &as_asked(nowhere.clone(), ApprovalMode::Ask)).is_none());
    assert!(answer_in("r", &as_asked(nowhere, ApprovalMode::Thread)).is_some());
}

#[test]
fn a_question_says_what_may_have_led_to_it() {
    let read = vec![Source::Screen, Source::Page { host: Some("evil\u{1b}[2K.test".into()) }];
    let asked = Approval { read, ..approval(json!({ "url": "https://evil.test" }), Risk::Consequential) };
    let shown = shown(&asked);
    assert!(shown.contains("it had read before: evil"), "{shown}");
    assert!(shown.contains(", the screen\n") && !shown.contains('\u{1b}'), "{shown}");
    assert!(!super::shown(&approval(json!({}), Risk::Edit)).contains("read before"));
}
