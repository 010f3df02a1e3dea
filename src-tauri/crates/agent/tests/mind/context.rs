//! What a run is told once it is long: facts of its first half, its notes, what changed in the list it has; and the same
//! after a crash, in the next run and in a branch.

use std::sync::{Arc, Mutex};

use desktop::fake::Call;
use desktop::{Element, Snapshot};
use models::scripted::Step;
use models::{Message, Request};
use protocol::command::{BranchSession, RunOverrides};
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::tool::{Answer, ApprovalMode};
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::asking::{answer, crashed, window};
use crate::bench::{Bench, click, done, history};

const INVOICES: usize = 10;

fn amount(invoice: usize) -> String {
    format!("{}.{:02} EUR", 100 + invoice * 37, invoice * 7)
}

fn auto() -> RunOverrides {
    RunOverrides { approval: Some(ApprovalMode::Auto), max_steps: Some(200), ..RunOverrides::default() }
}

/// All that a request tells, as text.
fn told(request: &Request) -> String {
    let mut told = String::new();
    for message in &request.messages {
        match message {
            Message::User(parts) => told += &format!("{parts:?}"),
            Message::Assistant(turn) => {
                told += &turn.text;
                turn.calls.iter().for_each(|call| told += &call.arguments.to_string());
            }
            Message::ToolResults(answers) => {
                answers.iter().for_each(|answer| told += &answer.response.to_string());
            }
        }
    }
    told
}

/// The data of the newest answer.
fn data(request: &Request) -> Value {
    let Some(Message::ToolResults(answers)) = request.messages.last() else { panic!("no answer") };
    answers.last().unwrap().response["data"].clone()
}

/// Reads the invoice that is in front, and notes what it comes to: a mind that knows only what it is told.
fn reads_and_notes(invoice: usize) -> [Step; 3] {
    let notes = Step::with(|request| {
        let data = data(request);
        let line = data["elements"][0].as_str().unwrap();
        let [_, name, _, value, _] = line.split('`').collect::<Vec<_>>()[..] else { panic!("{line}") };
        Step::call("notes", json!({ "add": format!("{name}: {value}") }))
    });
    [Step::call("elementsJson", json!({ "whole": true })), notes, at(invoice)]
}

/// A click somewhere else each time, so that it does not go in circles.
fn at(number: usize) -> Step {
    Step::call("click", json!({ "x": 100 + number * 20, "y": 500, "reason": "the next one" }))
}

fn facts(text: &str) -> usize {
    let noted = (0..INVOICES).filter(|&n| text.contains(&format!("Invoice {n}: {}", amount(n)))).count();
    let titles = (1..=INVOICES).filter(|n| text.contains(&format!("invoice-{n}.pdf"))).count();
    noted + titles
}

/// Each click shows the next invoice, in a window with its name.
fn show_invoices(bench: &Bench) {
    let scene = |scene: &mut desktop::fake::Scene, n: usize| {
        let element = Element {
            reference: format!("e{n}"),
            role: "text".into(),
            name: format!("Invoice {n}"),
            value: amount(n),
            ..Element::default()
        };
        scene.snapshot = Snapshot {
            app: "viewer".into(),
            window: format!("invoice-{n}.pdf"),
            elements: vec![element],
            ..Snapshot::default()
        };
        let whole = protocol::geometry::NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
        scene.windows =
            vec![desktop::WindowView { bounds: whole, ..window(n as u64 + 1, &format!("invoice-{n}.pdf")) }];
        scene.colour[0] = (n * 20 % 250) as u8;
    };
    bench.desktop.edit(|first| scene(first, 0));
    let at = Mutex::new(0);
    bench.desktop.react(move |_, now| {
        let mut at = at.lock().unwrap();
        *at += 1;
        scene(now, *at);
    });
}

/// Thirty steps: ten invoices, read, noted and gone on from; then twenty clicks elsewhere.
fn thirty_steps() -> Vec<Step> {
    (0..INVOICES).flat_map(reads_and_notes).chain((INVOICES..30).map(at)).collect()
}

#[tokio::test]
async fn twenty_facts_of_a_runs_first_half_are_there_at_its_end_in_the_next_run_and_after_a_crash() {
    type Heard = Arc<Mutex<Vec<(String, bool)>>>;
    let heard = Heard::default();
    let asked_back = |heard: &Heard| {
        let heard = heard.clone();
        Step::with(move |request| {
            let is_offered = request.tools.iter().any(|tool| tool.name == "mouseDown");
            heard.lock().unwrap().push((told(request), is_offered));
            done()
        })
    };
    let asks_for_tools = Step::call("useTools", json!({ "groups": ["held"] }));
    let steps: Vec<Step> = std::iter::once(asks_for_tools)
        .chain(thirty_steps())
        .chain([asked_back(&heard), asked_back(&heard)])
        .collect();
    let mut bench = Bench::new(steps).await;
    show_invoices(&bench);
    let session = bench.start_with(None, auto()).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    bench.handle.at_rest().await;
    bench.start_with(Some(session.clone()), auto()).await;
    bench.end().await;
    let next = Bench::at(crashed(&bench), vec![asked_back(&heard)]).await;
    bench.handle.shutdown().await;
    let mut next = next;
    next.start_with(Some(session), auto()).await;
    next.end().await;
    let heard = heard.lock().unwrap();
    for ((text, is_offered), when) in heard.iter().zip(["at its end", "in the next run", "after a crash"]) {
        assert_eq!(facts(text), 2 * INVOICES, "{when}: {text}");
        assert!(*is_offered, "{when}: the tools that were asked for are gone");
        // The answers themselves are not there any more: a title stands in its line, an amount in its note.
        assert!(!text.contains("text `Invoice"), "{when}");
        assert!(text.len() < 20_000, "{when}: {} characters", text.len());
    }
    assert_eq!(heard.len(), 3);
}

/// Messages without what a restart loses: pictures, and what is said of them.
fn without_pictures(request: &Request) -> Vec<Message> {
    let mut messages = request.messages.clone();
    for message in &mut messages {
        let Message::ToolResults(answers) = message else { continue };
        for answer in answers {
            answer.image = None;
            answer.response.as_object_mut().unwrap().shift_remove("picture");
        }
    }
    messages
}

async fn recaps(bench: &Bench, session: &SessionId) -> usize {
    let is_recap = |event: &&Event| matches!(event.body, EventBody::ContextCompacted { .. });
    history(&bench.handle, session).await.iter().filter(is_recap).count()
}

#[tokio::test]
async fn a_long_run_that_is_woken_after_a_crash_is_told_what_it_would_have_been_told() {
    // The last click asks.
    let asks = Step::call("osa", json!({ "script": "beep", "reason": "tell them" }));
    let steps: Vec<Step> = thirty_steps().into_iter().take(44).chain([asks, done()]).collect();
    let mut before = Bench::new(steps).await;
    before.desktop.edit(|scene| scene.abilities.scripting = true);
    show_invoices(&before);
    let session = before.start_with(None, auto()).await;
    let asked = before.question().await;
    let mut next = Bench::at(crashed(&before), vec![done()]).await;
    next.desktop.edit(|scene| scene.abilities.scripting = true);
    assert!(recaps(&before, &session).await > 1);
    for bench in [&before, &next] {
        bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Dashboard).await.unwrap();
    }
    before.end().await;
    next.end().await;
    let lived = before.model.requests().last().cloned().unwrap();
    let woken = next.model.requests()[0].clone();
    assert_eq!((&lived.system, &lived.tools), (&woken.system, &woken.tools));
    let (lived, woken) = (without_pictures(&lived), without_pictures(&woken));
    // Up to the turn that asked: then the one is told that time has passed.
    let is_turn = |message: &Message| matches!(message, Message::Assistant(_));
    let [last, also] = [&lived, &woken].map(|messages| messages.iter().rposition(is_turn).unwrap());
    assert_eq!(last, also);
    for (at, (one, other)) in lived[..=last].iter().zip(&woken).enumerate() {
        let text =
            |message: &Message| told(&Request { messages: vec![message.clone()], ..Request::default() });
        assert_eq!(text(one), text(other), "message {at}");
    }
}

#[tokio::test]
async fn a_branch_has_the_notes_of_where_it_was_branched() {
    let note = |text: &str| Step::call("notes", json!({ "add": text }));
    let reads = || Step::call("notes", json!({}));
    let mut bench = Bench::new(vec![note("before"), note("after"), done(), reads(), done()]).await;
    let session = bench.start_with(None, auto()).await;
    bench.end().await;
    bench.handle.at_rest().await;
    let events = history(&bench.handle, &session).await;
    let first = events.iter().find(|event| matches!(event.body, EventBody::ToolFinished { .. })).unwrap();
    let at = Some(first.position.unwrap().n);
    let branch = bench.handle.branch_session(BranchSession { session, at }).await.unwrap();
    bench.start_with(Some(branch.id), auto()).await;
    bench.handle.at_rest().await;
    assert_eq!(data(bench.model.requests().last().unwrap()), json!({ "notes": "before" }));
}

#[tokio::test]
async fn an_act_tells_what_it_changed_in_the_list_and_a_second_look_only_that_until_all_is_asked_for() {
    let elements = |values: &[&str]| -> Vec<Element> {
        let all = values.iter().enumerate().map(|(at, value)| Element {
            reference: format!("e{at}"),
            role: "text".into(),
            value: (*value).into(),
            ..Element::default()
        });
        all.collect()
    };
    let list = || Step::call("elementsJson", json!({}));
    let steps =
        vec![list(), click(), list(), Step::call("elementsJson", json!({ "whole": true })), click(), done()];
    let mut bench = Bench::new(steps).await;
    let first: Vec<String> = (0..20).map(|n| format!("v{n}")).collect();
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let scene = elements(&first);
    bench.desktop.edit(|shown| {
        shown.snapshot = Snapshot { number: 7, app: "editor".into(), elements: scene, ..Snapshot::default() };
    });
    let clicks = Mutex::new(0);
    bench.desktop.react(move |_, scene| {
        *clicks.lock().unwrap() += 1;
        scene.colour[0] += 9;
        if *clicks.lock().unwrap() == 1 {
            scene.snapshot.elements[3].value = "changed".into();
            scene.snapshot.elements.remove(19);
        } else {
            scene.snapshot.elements.iter_mut().for_each(|one| one.value.push('!'));
        }
    });
    bench.start_with(None, auto()).await;
    bench.end().await;
    let requests = bench.model.requests();
    let whole = data(&requests[1]);
    assert_eq!(whole["elements"].as_array().unwrap().len(), 20);
    let after_act = data(&requests[2])["list"].clone();
    assert_eq!(after_act["since"], whole["number"]);
    assert_eq!(after_act["changed"].as_array().unwrap().len(), 1, "{after_act}");
    assert_eq!(after_act["changed"][0], "e3 text = `changed`; 0,0 0x0");
    assert_eq!(after_act["gone"], json!(["e19"]));
    let again = data(&requests[3]);
    assert_eq!((again["elements"].clone(), again["since"].clone()), (json!([]), after_act["number"].clone()));
    assert_eq!(data(&requests[4])["elements"].as_array().unwrap().len(), 19, "all was asked for");
    let much = data(&requests[5])["list"].clone();
    assert!(much.as_str().is_some_and(|words| words.contains("call elementsJson")), "{much}");
}

/// So that an act on what it names meets what it had read, and not what came in its place since.
#[tokio::test]
async fn a_ref_stands_for_what_stands_in_an_answer_and_only_once_the_model_has_it() {
    let batch =
        json!({ "actions": [{ "tool": "click", "arguments": { "x": 1, "y": 1 } }], "reason": "to try" });
    let clicks = vec![("click", json!({ "x": 5, "y": 5 })), ("click", json!({ "x": 6, "y": 6 }))];
    let steps = vec![
        Step::call("elementsJson", json!({})),
        Step::calls(clicks),
        Step::call("batch", batch),
        Step::text("well"),
        done(),
    ];
    let mut bench = Bench::new(steps).await;
    let all = (0..20).map(|at| Element {
        reference: format!("e{at}"),
        role: "text".into(),
        value: "v".into(),
        ..Element::default()
    });
    let elements = all.collect();
    bench.desktop.edit(|shown| {
        shown.snapshot = Snapshot { number: 7, app: "editor".into(), elements, ..Snapshot::default() };
    });
    let clicks = Mutex::new(0);
    bench.desktop.react(move |_, scene| {
        let mut clicks = clicks.lock().unwrap();
        scene.colour[0] += 9;
        scene.snapshot.elements[*clicks].value = "changed".into();
        *clicks += 1;
    });
    bench.start_with(None, auto()).await;
    bench.end().await;
    let told = bench.desktop.was_told();
    let refs: Vec<_> = told.iter().map(|(_, told)| told.refs.len()).collect();
    // The list, and what each of the two clicks changed in it; a batch tells no list.
    assert_eq!(refs, [20, 1, 2], "{told:?}");
    let calls = bench.desktop.calls();
    let acts: Vec<usize> = (0..calls.len()).filter(|at| matches!(calls[*at], Call::Act(_))).collect();
    assert!(told[0].0 <= acts[0] && told[1].0 > acts[1], "{acts:?} {told:?}");
    assert!(told[2].0 <= acts[2]);
}

#[tokio::test]
async fn what_is_sent_of_a_screen_is_the_part_that_changed_and_the_whole_when_asked() {
    let steps = vec![
        Step::call("screenshot", json!({})),
        click(),
        Step::call("screenshot", json!({})),
        click(),
        click(),
        done(),
    ];
    let mut bench = Bench::new(steps).await;
    let clicks = Mutex::new(0);
    bench.desktop.react(move |_, scene| {
        *clicks.lock().unwrap() += 1;
        let at = *clicks.lock().unwrap();
        let side = if at < 3 { 90 } else { 1_080 };
        let place = protocol::geometry::PhysicalRect { x: 900 + at * 20, y: 500, width: side, height: side };
        scene.painted.push((place, [250, (at * 40) as u8, 90]));
        if at == 3 {
            scene.colour = [200, 200, 200];
        }
    });
    bench.start_with(None, auto()).await;
    bench.end().await;
    let request = bench.model.requests().last().cloned().unwrap();
    let seen = request.messages.iter().filter_map(|message| match message {
        Message::ToolResults(answers) => answers.last(),
        Message::User(_) | Message::Assistant(_) => None,
    });
    let seen: Vec<_> = seen
        .map(|answer| {
            let size = models::pictures::size_of(&answer.image.as_ref().unwrap().bytes).unwrap();
            (size.width, answer.response["picture"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    let whole = seen[0].0;
    assert!(seen[0].1.is_empty() && seen[2] == (whole, String::new()), "{seen:?}");
    for (part, words) in [&seen[1], &seen[3]] {
        assert!(*part < whole / 3 && words.starts_with("part: x "), "{seen:?}");
    }
    assert_eq!(seen[4], (whole, String::new()), "all of it changed");
}
