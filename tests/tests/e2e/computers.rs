//! The vendors' own computer tools through the app, in a real editor: actions in the vendor's coordinates, batches, one
//! that fails, and warnings that the user is asked about even where nothing else is.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use outside::fake_model::{Asked, ComputerAction, FakeModel, Mind, MindTurn, ToolResult, Wire};
use outside::miki::{self, Miki, check_file};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::command::{AnswerApproval, Subscribe};
use protocol::event::RunEnd;
use protocol::ids::{Seq, StreamId};
use protocol::tool::{Answer, Approval, Risk};
use protocol::{Event, EventBody};
use serde_json::json;

use crate::wires::{turns_came_back, with_keys};

/// The end of a goal that needs only what it cannot do without.
const AGAIN: &str = "again";
const WARNING: &str = "this saves over a file";
/// For so long no answer to a question counts.
const UNREAD: Duration = Duration::from_millis(500);

/// Who has which, by the vendor's name for it, and whether the vendor warns.
const MODELS: [(Wire, &str, &str, bool); 6] = [
    (Wire::Anthropic, "anthropic/claude-opus-5-5", "computer_toolset_20260801", false),
    (Wire::Anthropic, "anthropic/claude-sonnet-4-6", "computer_20251124", false),
    (Wire::Anthropic, "anthropic/claude-haiku-4-5", "computer_20250124", false),
    (Wire::Responses, "openai/gpt-6.1-terra", "computer", true),
    (Wire::Responses, "openai/computer-use-preview", "computer_use_preview", true),
    (Wire::Gemini, "gemini/gemini-3.5-flash", "ENVIRONMENT_DESKTOP", true),
];

/// The older tool of OpenAI's has one action a call.
const ONE_BY_ONE: &str = "computer_use_preview";

/// What is done in all, in calls of ours: of the chord with a key that there is not, nothing.
const CALLS: [&str; 9] =
    ["screenshot", "click", "hotkey", "type", "scroll", "think", "screenshot", "hotkey", "done"];

fn text(goal: &str) -> String {
    format!("{goal} — done\nby hand")
}

/// Writes [`text`] into the editor and saves it, after a warning, by actions alone.
#[derive(Default)]
struct Hands(Vec<Step>);

/// What is done in one turn.
#[derive(Clone)]
struct Step {
    actions: Vec<ComputerAction>,
    calls: Vec<(String, serde_json::Value)>,
    warned: bool,
    /// The step before must have failed.
    after_failure: bool,
}

fn step(actions: &[ComputerAction]) -> Step {
    Step { actions: actions.to_vec(), calls: Vec::new(), warned: false, after_failure: false }
}

fn steps(goal: &str, one_by_one: bool) -> Vec<Step> {
    let (x, y) = (250.0, 400.0);
    let write = [
        ComputerAction::Click { x, y },
        ComputerAction::press(&["ctrl", "a"]),
        ComputerAction::Write(text(goal)),
    ];
    let mut wrong =
        vec![ComputerAction::press(&["ctrl", "no_such_key"]), ComputerAction::Write("never".to_owned())];
    wrong.truncate(if one_by_one { 1 } else { 2 });
    let think = ("think".to_owned(), json!({ "thought": "it is there" }));
    let mut all = vec![step(&[ComputerAction::Look])];
    match one_by_one {
        true => all.extend(write.iter().map(|one| step(std::slice::from_ref(one)))),
        false => all.push(step(&write)),
    }
    if !goal.ends_with(AGAIN) {
        all.push(step(&wrong));
        all.push(Step { after_failure: true, ..step(&[ComputerAction::Scroll { x, y, notches: 2 }]) });
        all.push(Step { calls: vec![think], ..step(&[ComputerAction::Look]) });
    }
    all.push(Step { warned: true, ..step(&[ComputerAction::press(&["ctrl", "s"])]) });
    all
}

/// What a result says went wrong, in whichever form.
fn failure(result: &ToolResult) -> Option<String> {
    let told = result.response.as_str().filter(|words| words.starts_with("Error:"));
    let said = result.response["said"].as_str();
    result.error().or_else(|| told.or(said).map(str::to_owned))
}

impl Mind for Hands {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        let Some(computer) = &asked.heard.computer else {
            return MindTurn::done("there is no computer tool", false);
        };
        if let Some(goal) = asked.new_goal() {
            self.0 = steps(goal, computer.version == ONE_BY_ONE);
            self.0.reverse();
        }
        let failed = asked.results().iter().find_map(failure);
        let Some(step) = self.0.pop() else {
            return match failed {
                Some(failure) => MindTurn::done(&format!("it stopped at: {failure}"), false),
                None => MindTurn::done("it is written and saved", true),
            };
        };
        if failed.is_some() != step.after_failure {
            return MindTurn::done(&format!("this was not to be: {failed:?}"), false);
        }
        let warning = step.warned.then(|| WARNING.to_owned());
        let turn = MindTurn { calls: step.calls, warning, ..MindTurn::actions("I go on.", &step.actions) };
        turn.thinking("What is next?")
    }
}

/// What a run left: its events and the questions that were asked.
type Ran = (Vec<Event>, Vec<Approval>);

/// A run that asks nothing.
fn run(stage: &Stage, miki: &Miki, line: [&str; 6]) -> Ran {
    let done = miki.run(stage, &[&line[..], &["--json"]].concat()).unwrap();
    (miki::events(&done.stdout).unwrap(), Vec::new())
}

/// A run at a terminal, where a question is waited for and answered.
fn run_and_answer(stage: &Stage, miki: &Miki, line: [&str; 6], answer: Answer) -> Ran {
    let words = line.map(|word| format!("'{word}'")).join(" ");
    let mut terminal = miki.starter(stage, "script");
    let command = format!("'{}' {words}", miki.bin.display());
    terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    terminal.stdin(Stdio::piped());
    let prompts = || stage.log("terminal").matches("allow?").count();
    let before = prompts();
    let mut run = stage.launch("terminal", "util-linux", terminal).unwrap();
    let mut input = run.child().stdin.take().unwrap();
    if before == 0 {
        // Nobody who types this has read the question.
        write!(input, "no, never, ").unwrap();
    }
    let mut client = miki.connect(LONG).unwrap();
    let asked = wait_for("a question", LONG, || {
        let overview = client.overview().unwrap();
        (!overview.questions.is_empty() || run.has_ended()).then_some(overview)
    });
    let asked = asked.unwrap_or_else(|error| panic!("{error}: {}", stage.log("terminal")));
    let [question] = &asked.questions[..] else { panic!("{:?}: {}", asked.questions, stage.log("terminal")) };
    // Of another connection, it is none of its business.
    let (approval, digest) = (question.approval.id.clone(), question.approval.digest.clone());
    let refused =
        client.call(AnswerApproval { approval, digest, answer: answer.clone() }.into()).unwrap_err();
    assert!(refused.to_string().contains("not for this terminal"), "{refused}");
    let said = match answer {
        Answer::Deny => "n",
        Answer::Once => "y",
        Answer::Thread => "t",
        Answer::Edit { .. } | Answer::Until { .. } => unreachable!("neither is said here"),
    };
    wait_for("the question at the terminal", LONG, || (prompts() > before).then_some(())).unwrap();
    let streams = Some(vec![StreamId::of_session(&question.session)]);
    client.call(Subscribe { streams, after: Some(Seq(0)) }.into()).unwrap();
    if before == 0 {
        // Its first half second, in which no answer counts: the next line would be read with what was typed before.
        std::thread::sleep(UNREAD);
    }
    let answers = || stage.log("terminal").matches(", on the command line").count();
    let (answered, mut asked) = (answers(), before);
    loop {
        // Whoever answers before the question can have been read is asked again.
        let again = || (prompts() > asked || answers() > answered).then(prompts);
        asked = wait_for("the question to be asked again, or its answer", LONG, again).unwrap();
        if answers() > answered {
            break;
        }
        writeln!(input, "{said}").unwrap();
    }
    let mut events = client.events_until(miki::is_end).unwrap();
    events.retain(|event| event.body.is_durable());
    run.wait(LONG).unwrap();
    let questions = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.clone()),
        _ => None,
    });
    let questions = questions.collect();
    (events, questions)
}

/// The calls that were done.
fn done(events: &[Event]) -> Vec<String> {
    let tool = |event: &Event| match &event.body {
        EventBody::ToolStarted { call, .. } => Some(call.tool.clone()),
        _ => None,
    };
    events.iter().filter_map(tool).collect()
}

#[test]
fn each_vendors_computer_tool_writes_into_an_editor_and_its_warnings_are_the_users_to_answer() {
    // bar: C30
    let stage = Stage::small().unwrap();
    let file = stage.work().join("notes.txt");
    fs::write(&file, "nothing yet\n").unwrap();
    let editor = stage.open_editor(Some(&file)).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let model = FakeModel::start(Hands::default()).unwrap();
    let ids = MODELS.map(|(_, id, ..)| id);
    let settings = json!({ "settleMs": 0, "vendorTools": ids });
    let miki = with_keys(Miki::with_model(&stage, "miki", &model.url(), settings).unwrap());
    for (wire, id, version, warns) in MODELS {
        let url = model.base_url(wire);
        let line = |goal| ["run", goal, "--model", id, "--base-url", url.as_str()];
        let (asked, given) = (model.turns().len(), model.given().len());
        let (events, questions) = match warns {
            true => run_and_answer(&stage, &miki, line(version), Answer::Once),
            false => run(&stage, &miki, line(version)),
        };
        let end = miki::end(&events);
        assert!(matches!(end, Some(RunEnd::Completed { .. })), "{version}: {end:?}");
        wait_for("the file", LONG, || check_file(&file, &text(version)).ok())
            .unwrap_or_else(|_| check_file(&file, &text(version)).unwrap());
        assert_eq!(done(&events), CALLS, "{version}");
        let turns = model.turns().split_off(asked);
        let given = model.given().split_off(given);
        let last = turns.last().unwrap();
        assert_eq!(last.heard.computer.as_ref().unwrap().version, version);
        let ours = ["click", "type", "screenshot", "batch"];
        assert!(ours.iter().all(|tool| !last.heard.tools.iter().any(|name| name == tool)), "{version}");
        turns_came_back(wire, last, &given[..given.len() - 1]);
        assert_eq!(questions.len(), usize::from(warns), "{version}: {questions:?}");
        if !warns {
            continue;
        }
        let question = &questions[0];
        assert_eq!((question.call.tool.as_str(), question.risk), ("hotkey", Risk::Consequential));
        assert_eq!(question.reason, format!("the model's provider warns: {WARNING}"));
        let acknowledged = String::from_utf8_lossy(&last.text).contains("acknowledge");
        assert!(acknowledged, "{version}: the yes did not go back");

        let goal = format!("{version} {AGAIN}");
        let (events, questions) = run_and_answer(&stage, &miki, line(&goal), Answer::Deny);
        assert_eq!(questions.len(), 1, "{version}");
        match miki::end(&events) {
            Some(RunEnd::Failed { message, .. }) => {
                assert!(message.contains("the user said no"), "{version}: {message}");
            }
            other => panic!("{version}: {other:?}"),
        }
        check_file(&file, &text(version)).unwrap();
        let turns = model.turns();
        let told = String::from_utf8_lossy(&turns.last().unwrap().text);
        assert!(!told.contains(WARNING) && !told.contains("acknowledge"), "{version}: {told}");
    }
    let refused: Vec<_> = model.requests().into_iter().filter(|request| request.status != 200).collect();
    assert!(refused.is_empty(), "{refused:?}");
}
