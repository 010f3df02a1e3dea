//! A tree of agents: one that conducts, and children at pages in a real browser and in a real editor. One is killed and
//! started again, the app is killed with -9 in between, and the work ends right.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{Client, Miki, check_file};
use outside::stage::{Furniture, Stage};
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::tool::Answer;
use serde_json::{Value, json};

use crate::asking::Approver;

/// Characters of a page, about; what it says of the weather stands at its end.
const PAGE_CHARS: usize = 24_000;
/// In so many parts it is read.
const PARTS: usize = 6;
/// Tokens of a picture, at the least, and characters of a token.
const PICTURE_TOKENS: usize = 258;
const TOKEN_CHARS: usize = 4;
const SUMMARY: &str = "north: rain, south: sun";

/// Pages of much text, for as long as the test lives.
fn serve_pages() -> String {
    outside::serve_pages(|path| {
        let weather = if path.contains("north") { "rain" } else { "sun" };
        let filler: String = (0..PAGE_CHARS / 60)
            .map(|at| format!("<p>Line {at} of the news says nothing that anybody has to know.</p>"))
            .collect();
        format!("<!doctype html><title>News</title><main><p>The weather: {weather}.</p>{filler}</main>")
    })
}

/// Results since the goal.
fn turns(asked: &Asked) -> usize {
    asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count()
}

fn call(tool: &str, arguments: Value) -> MindTurn {
    MindTurn::call("", tool, arguments)
}

fn report(outcome: &str, finding: &str) -> MindTurn {
    let report = json!({ "outcome": outcome, "findings": [finding], "evidence": ["I have seen it"] });
    MindTurn {
        calls: vec![
            ("report".to_owned(), report),
            ("done".to_owned(), json!({ "summary": outcome, "success": true })),
        ],
        ..MindTurn::default()
    }
}

/// What a child at a page does; `slowly` it never gets there.
fn reader(asked: &Asked, url: &str) -> MindTurn {
    match turns(asked) {
        0 => call("webNavigate", json!({ "url": url, "reason": "to read it" })),
        1 if asked.goal().contains("slowly") => {
            MindTurn { pause: Duration::from_secs(120), ..call("think", json!({ "thought": "hm" })) }
        }
        part @ 1..=PARTS => call("webRead", json!({ "offset": (part - 1) * 2_000 })),
        _ => {
            let text: String = asked.heard.messages.iter().map(|said| format!("{said:?}")).collect();
            let weather = if text.contains("The weather: rain") { "rain" } else { "sun" };
            report("read the page", &format!("the weather is {weather}"))
        }
    }
}

/// What the child at the editor does.
fn writer(asked: &Asked) -> MindTurn {
    // What was not done is done again: a busy machine comes late to many a window.
    let is_done =
        |said: &&Said| matches!(said, Said::Results(all) if all.iter().all(|one| one.error().is_none()));
    match asked.heard.messages.iter().filter(is_done).count() {
        0 => call("elementsJson", json!({ "app": "Mousepad" })),
        1 => {
            let elements = asked.elements();
            let area = elements.iter().find(|one| one.role.contains("text")).map(|area| area.center());
            let (x, y) = area.unwrap_or((265.0, 444.0));
            call("click", json!({ "x": x.round(), "y": y.round(), "reason": "to write there" }))
        }
        2 => call("type", json!({ "text": SUMMARY, "reason": "the summary" })),
        3 => call("hotkey", json!({ "keys": ["ctrl", "s"], "reason": "to save it" })),
        _ => report("wrote it into the editor", "saved"),
    }
}

/// The one that conducts: it goes on where it was, also after the app was killed.
#[derive(Default)]
struct Conductor {
    step: usize,
    agents: Vec<String>,
    /// What it was told of each agent last.
    told: Value,
}

impl Conductor {
    fn turn(&mut self, asked: &Asked, base: &str) -> MindTurn {
        for result in asked.results() {
            if let Some(agent) = result
                .response
                .pointer("/data/agent")
                .or(result.response.get("agent"))
                .and_then(Value::as_str)
            {
                self.agents.push(agent.to_owned());
            }
            if let Some(agents) = result.response.pointer("/data/agents").or(result.response.get("agents")) {
                self.told = agents.clone();
            }
        }
        self.step += 1;
        let spawn = |goal: String, tools: &str| {
            call("spawn", json!({ "goal": goal, "tools": [tools], "reason": "side by side" }))
        };
        match self.step {
            1 => call("useTools", json!({ "groups": ["agents", "files"] })),
            2 => MindTurn {
                calls: ["north", "south, slowly"]
                    .map(|page| {
                        let goal = format!("read {base}/{page}");
                        (
                            "spawn".to_owned(),
                            json!({ "goal": goal, "tools": ["web"], "reason": "side by side" }),
                        )
                    })
                    .into(),
                ..MindTurn::default()
            },
            3 => call("waitFor", json!({ "any": true })),
            4 => call("kill", json!({ "agent": self.agents[1], "reason": "it hangs" })),
            5 => spawn(format!("read {base}/south"), "web"),
            6 => call("waitFor", json!({ "agents": [self.agents[0], self.agents[2]] })),
            7 => spawn(format!("write into the editor: {SUMMARY}"), "screen"),
            // The app is killed while this one asks: the wait goes on.
            8 => call("waitFor", json!({})),
            // And once more in the middle of a turn.
            9 => MindTurn {
                pause: Duration::from_secs(120),
                ..call("think", json!({ "thought": "what is left?" }))
            },
            10 => call("waitFor", json!({})),
            11 => call(
                "writeFile",
                json!({ "path": "summary.txt", "text": format!("{SUMMARY}\n"), "reason": "as asked" }),
            ),
            _ => MindTurn::done("compared the pages", true),
        }
    }
}

/// Says yes to the question that is open, if there is one; the goal of who asks.
fn say_yes(client: &mut Client) -> Option<String> {
    let overview = client.overview().unwrap();
    let question = overview.questions.into_iter().next()?;
    let asker = overview.runs.iter().find(|run| run.run == question.run).map(|run| run.goal.clone());
    let (approval, digest) = (question.approval.id, question.approval.digest);
    let answer = AnswerApproval { approval, digest, answer: Answer::Once };
    // It may have lapsed meanwhile.
    client.call(answer.into()).ok()?;
    Some(asker.unwrap_or_default())
}

/// Goes on by itself if the app ends.
fn start(client: &mut Client, goal: &str) -> StartedRun {
    let overrides = RunOverrides { carry_on: Some(true), ..RunOverrides::default() };
    let start = StartRun { goal: goal.to_owned(), session: None, overrides };
    serde_json::from_value(client.call(start.into()).unwrap()).unwrap()
}

/// Tokens of a request, by a rule of thumb.
fn tokens(asked: &Asked) -> usize {
    let chars = |said: &Said| match said {
        Said::User { texts, .. } => texts.iter().map(String::len).sum(),
        Said::Assistant(answer) => {
            let calls = answer.calls.iter().map(|call| call.arguments.to_string().len());
            answer.text.len() + calls.sum::<usize>()
        }
        Said::Results(results) => results.iter().map(|result| result.response.to_string().len()).sum(),
    };
    let chars: usize = asked.heard.messages.iter().map(chars).sum();
    chars / TOKEN_CHARS + asked.images().len() * PICTURE_TOKENS
}

#[test]
fn a_root_splits_its_goal_over_children_and_ends_right_though_one_and_the_app_are_killed() {
    let stage = Stage::new(Furniture { windows: false, keyring: true }).unwrap();
    let file = stage.work().join("notes.txt");
    fs::write(&file, "").unwrap();
    let _editor = stage.open_editor(Some(&file)).unwrap();
    let base = serve_pages();
    let conductor = Arc::new(Mutex::new(Conductor::default()));
    let model = {
        let (conductor, base) = (conductor.clone(), base.clone());
        FakeModel::start(move |asked: &Asked| {
            let goal = asked.goal().to_owned();
            match goal.strip_prefix("read ") {
                Some(url) => reader(asked, url.trim_end_matches(", slowly")),
                None if goal.starts_with("write into") => writer(asked),
                None => conductor.lock().unwrap().turn(asked, &base),
            }
        })
        .unwrap()
    };
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask", "maxSteps": 200 }))
        .unwrap();
    let approver = Approver::new(&stage, &miki);
    let mut app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let goal = format!(
        "compare {base}/north and {base}/south, and write a summary into the editor and into summary.txt"
    );
    let started = start(&mut client, &goal);
    wait_for("the question of the child at the editor", LONG, || {
        let overview = client.overview().unwrap();
        let of_root = overview.runs.iter().find(|run| run.run == started.run);
        assert!(of_root.is_some(), "{:?}", client.history(&started.session).unwrap().last());
        let question = overview.questions.first()?;
        let asker = overview.runs.iter().find(|run| run.run == question.run)?;
        assert_eq!(
            asker.parent.as_ref(),
            Some(&started.run),
            "the one that conducts does nothing to ask about"
        );
        if asker.goal.starts_with("write into") {
            // Before that it is no wait that can go on.
            return of_root?.status.detail.starts_with("waitFor").then_some(());
        }
        say_yes(&mut client);
        None
    })
    .unwrap();
    app.kill();

    // Nobody's terminal started it: its user answers with the approver key.
    let mut answered = BTreeSet::new();
    let mut answer = |client: &mut Client| {
        let overview = client.overview().unwrap();
        for question in
            overview.questions.iter().filter(|question| answered.insert(question.approval.id.clone()))
        {
            approver.say_yes(&question.approval);
        }
        overview
    };
    let mut app = miki.start(&stage, "again", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let open = client.overview().unwrap();
    assert!(open.runs.iter().any(|run| run.run == started.run), "it waits on: {:?}", open.runs);
    assert_eq!(open.questions.len(), 1, "{:?}", open.questions);
    wait_for("the turn after the wait", LONG * 2, || {
        answer(&mut client);
        (conductor.lock().unwrap().step == 9).then_some(())
    })
    .unwrap();
    app.kill();

    let _app = miki.start(&stage, "once more", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let again = wait_for("the run that goes on by itself", LONG, || {
        client.overview().unwrap().runs.into_iter().find(|run| run.session == started.session)
    });
    let again = again.unwrap();
    assert_ne!(again.run, started.run);
    wait_for("the end", LONG * 2, || {
        answer(&mut client).runs.iter().all(|run| run.run != again.run).then_some(())
    })
    .unwrap();

    let history = client.history(&started.session).unwrap();
    let ends: Vec<&RunEnd> = history
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::RunEnded { end } => Some(end),
            _ => None,
        })
        .collect();
    let told = conductor.lock().unwrap().told.clone();
    assert!(matches!(ends[..], [RunEnd::Interrupted { .. }, RunEnd::Completed { .. }]), "{ends:?} {told:#}");
    wait_for("the editor's file", LONG, || check_file(&file, SUMMARY).ok()).unwrap();
    check_file(&stage.path("home").join("Miki/summary.txt"), &format!("{SUMMARY}\n")).unwrap();

    // Of the children, the one that conducts was told what they reported, and nothing else.
    let turns = model.turns();
    let of_root = |asked: &&Arc<Asked>| asked.goal().starts_with("compare");
    let root = turns.iter().rfind(of_root).map(|asked| tokens(asked)).unwrap();
    let told: String = turns
        .iter()
        .filter(of_root)
        .flat_map(|asked| &asked.heard.messages)
        .map(|said| format!("{said:?}"))
        .collect();
    assert!(told.contains("the weather is rain") && told.contains("the weather is sun"));
    assert!(
        !told.contains("says nothing that anybody has to know"),
        "a page came up to the one that conducts"
    );
    let mut goals: Vec<&str> =
        turns.iter().map(|asked| asked.goal()).filter(|goal| !goal.starts_with("compare")).collect();
    goals.sort_unstable();
    goals.dedup();
    let children: usize = goals
        .iter()
        .map(|goal| turns.iter().rfind(|asked| asked.goal() == *goal).map_or(0, |asked| tokens(asked)))
        .sum();
    println!(
        "tokens in the context: {root} of the one that conducts, {children} of the children ({} questions)",
        answered.len()
    );
    assert!(root * 5 <= children, "{root} of {children}");
}
