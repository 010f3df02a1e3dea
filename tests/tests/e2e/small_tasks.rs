//! An agent of another program does small tasks in a browser (MiniWoB++) by `miki mcp desktop`, while an agent of ours works
//! in a terminal: the pages' own rewards say whether each was done right.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use outside::fake_model::{Asked, FakeModel, Mind, MindTurn};
use outside::miki::{self, Client, Miki, check_file};
use outside::stage::{Furniture, Stage};
use outside::{LONG, Page, wait_for};
use protocol::command::{RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::ids::RunId;
use protocol::tool::{Approval, Grant, Risk};
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::asking::{Approver, go_on};
use crate::connected::{peer, text, tool};
use crate::side_by_side::Each;

/// The first one is done by an agent of ours, too.
const TASKS: [&str; 20] = [
    "enter-text",
    "click-test-2",
    "click-button-sequence",
    "click-link",
    "click-dialog-2",
    "click-widget",
    "focus-text-2",
    "click-tab",
    "click-option",
    "click-checkboxes",
    "choose-list",
    "enter-text-2",
    "enter-password",
    "login-user",
    "copy-paste",
    "read-table",
    "simple-arithmetic",
    "find-word",
    "search-engine",
    "email-inbox-reply",
];
/// To this its user says no.
const DENIED: &str = "choose-list";
const WHY: &str = "not this one";
/// On each page: begins an episode that does not end by its clock, and tells the referee what the page gives for it.
const REFEREE: &str = "<script>(() => {
    const begin = setInterval(() => {
        if (typeof core !== 'object' || core.cover_div === null || !WOB_TASK_READY) return;
        clearInterval(begin);
        const end = core.endEpisode;
        core.endEpisode = (...told) => {
            end(...told);
            const name = location.pathname.split('/').pop().replace('.html', '');
            fetch(`/reward/${name}/${WOB_RAW_REWARD_GLOBAL}`, { keepalive: true });
        };
        Math.seedrandom('1');
        core.EPISODE_MAX_TIME = 600000;
        core.startEpisodeReal();
    }, 10);
})()</script>";

type Rewards = Arc<Mutex<Vec<(String, f64)>>>;

/// The pages with their referee, and where they are.
fn pages(rewards: &Rewards) -> String {
    let (folder, rewards) = (tool("miniwob/miniwob/html"), Arc::clone(rewards));
    outside::serve(move |path| page(&folder, path, &rewards))
}

fn page(folder: &Path, path: &str, rewards: &Rewards) -> Option<Page> {
    let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
    if let Some((task, reward)) = path.strip_prefix("reward/").and_then(|told| told.split_once('/')) {
        rewards.lock().unwrap().push((task.to_owned(), reward.parse().ok()?));
        return Some(Page { kind: "text/plain", body: Vec::new() });
    }
    let mut body = std::fs::read(folder.join(path)).ok()?;
    let kind = match Path::new(path).extension()?.to_str()? {
        "html" => {
            body.extend_from_slice(REFEREE.as_bytes());
            "text/html; charset=utf-8"
        }
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "png" => "image/png",
        "gif" => "image/gif",
        _ => "application/octet-stream",
    };
    Some(Page { kind, body })
}

/// Between two looks whether another task is done.
const LOOK: Duration = Duration::from_secs(1);
const LOGS: &str = "Log each task";
const DOES_ONE: &str = "Do the first task";

/// Ours in the terminal: writes a line by a command for each task that is done, and ends when all are.
fn logger(rewards: Rewards) -> impl Mind {
    let (mut has_tools, mut written, mut thoughts) = (false, 0, 0);
    move |_: &Asked| {
        if !std::mem::replace(&mut has_tools, true) {
            return MindTurn::call("", "useTools", json!({ "groups": ["terminal"] }));
        }
        let done = rewards.lock().unwrap().len().min(TASKS.len());
        if written == TASKS.len() {
            return MindTurn::done("logged all of them", true);
        }
        if done == written {
            // Never twice the same: it would be taken for a run that does not come on.
            thoughts += 1;
            let thought = json!({ "thought": format!("none yet ({thoughts})") });
            return MindTurn { pause: LOOK, ..MindTurn::call("", "think", thought) };
        }
        written += 1;
        let command = format!("echo {written} >> done.log && tail -n 1 done.log");
        MindTurn::call("", "runCommand", json!({ "command": command, "reason": "to log it" }))
    }
}

/// Ours at the desktop: does the first task as the other program's agent does.
fn worker(base: String) -> impl Mind {
    let (mut step, mut text) = (0, String::new());
    move |asked: &Asked| {
        step += 1;
        let call = |tool: &str, mut arguments: Value| {
            arguments["reason"] = "the task asks for it".into();
            MindTurn::call("", tool, arguments)
        };
        let of = |role: &str| asked.elements().into_iter().find(|one| one.role == role);
        match step {
            1 => call("webNavigate", json!({ "url": format!("{base}/miniwob/{}.html", TASKS[0]) })),
            2 => MindTurn::call("", "webRead", json!({})),
            3 => {
                let read = asked.results()[0].field("text");
                text = read.as_str().unwrap().split('"').nth(1).unwrap().to_owned();
                MindTurn::call("", "webElements", json!({}))
            }
            // Until the episode has begun.
            4 if of("textbox").is_none() => {
                step -= 1;
                MindTurn::call("", "webElements", json!({}))
            }
            4 => call("webType", json!({ "ref": of("textbox").unwrap().reference, "text": text })),
            5 => MindTurn::call("", "webElements", json!({})),
            6 => call("webClick", json!({ "ref": of("button").unwrap().reference })),
            _ => MindTurn::done("it is done", true),
        }
    }
}

/// What was asked: the tool, how grave it is, why, and what a yes for more than once would cover.
fn asked(events: &[Event]) -> Vec<(String, Risk, String, Vec<Grant>)> {
    let asked = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.clone()),
        _ => None,
    });
    asked.map(|Approval { call, risk, reason, touches, .. }| (call.tool, risk, reason, touches)).collect()
}

#[test]
fn another_programs_agent_does_twenty_small_tasks_in_a_browser_while_ours_works_in_a_terminal() {
    // The pages are small, and each act is looked at before and after.
    let furniture = Furniture { windows: true, keyring: true };
    let stage = Stage::sized(furniture, "800x600x24").unwrap();
    let rewards = Rewards::default();
    let base = pages(&rewards);
    let minds: [(&str, Box<dyn Mind>); 2] =
        [(LOGS, Box::new(logger(rewards.clone()))), (DOES_ONE, Box::new(worker(base.clone())))];
    let model = FakeModel::start(Each(BTreeMap::from(minds))).unwrap();
    // As it is where nobody has set anything: each act is asked about.
    let settings = json!({ "approval": "ask", "maxSteps": 500, "settleMs": 0 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let approver = Approver::new(&stage, &miki);
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let mut ours = miki.start(&stage, "ours", &["run", LOGS, "--approval", "auto", "--json"]).unwrap();

    let began = Instant::now();
    let mut command = stage.command(tool("mcp/bin/python"));
    command.args(["-I", &peer("miniwob.py"), text(&miki.bin), text(&miki.home), &base]).args(TASKS);
    command.arg(format!("!{DENIED}"));
    let mut theirs = stage.launch("theirs", "the protocol's SDK (run: cargo xtask setup)", command).unwrap();
    let (events, run) = answered(&mut client, &approver, &rewards);
    let took = began.elapsed().as_secs_f32();
    let said = stage.log("theirs");
    assert_eq!(theirs.wait(LONG).unwrap().code(), Some(0), "{said}");

    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let (refused, done) = said.split_last().unwrap();
    assert!(done.iter().all(|task| task["told"].is_null()), "{said:#?}");
    // Its user's no is what its model is told, and nothing was done.
    let told = refused["told"].as_str().unwrap();
    assert!(told.contains(WHY) && told.contains("refused"), "{told}");
    let given = rewards.lock().unwrap().clone();
    let names: Vec<&str> = given.iter().map(|(task, _)| task.as_str()).collect();
    assert_eq!(names, TASKS);
    assert!(given.iter().all(|(_, reward)| *reward > 0.0), "{given:?}");

    // Ours has come to its end meanwhile.
    assert_eq!(ours.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("ours"));
    let lines: String = (1..=TASKS.len()).map(|line| format!("{line}\n")).collect();
    check_file(&stage.path("home").join("Miki/done.log"), &lines).unwrap();
    let (of_theirs, of_others): (Vec<Event>, Vec<Event>) =
        events.into_iter().partition(|event| event.scope.run.as_ref() == Some(&run));
    let commands = |event: &&Event| matches!(&event.body, EventBody::ToolStarted { call, .. } if call.tool == "runCommand");
    let beside = of_others.iter().filter(commands).count();
    assert!(beside >= TASKS.len() - 1, "{beside} commands were run beside its acts");

    // It was asked about what ours is asked about, in the same words.
    let asks = asked(&of_theirs);
    let one = StartRun { goal: DOES_ONE.into(), session: None, overrides: RunOverrides::default() };
    let one: StartedRun = serde_json::from_value(client.call(one.into()).unwrap()).unwrap();
    let of_ours = go_on(&mut client, &one, &approver);
    assert!(matches!(miki::end(&of_ours), Some(RunEnd::Completed { .. })), "{:?}", miki::end(&of_ours));
    let last = || rewards.lock().unwrap().get(TASKS.len()).cloned();
    let (task, reward) = wait_for("the reward of ours", LONG, last).unwrap();
    assert!(task == TASKS[0] && reward > 0.0, "{task}: {reward}");
    let ours = asked(&of_ours);
    assert_eq!(
        ours.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(),
        ["webNavigate", "webType", "webClick"]
    );
    assert_eq!(asks[..ours.len()], ours);
    let grave = asks.iter().filter(|ask| ask.1 == Risk::Consequential).count();
    let calls: u64 = said.iter().filter_map(|task| task["calls"].as_u64()).sum();
    writeln!(
        std::io::stdout(),
        "MiniWoB++ by another program's agent: {} of {} tasks, {calls} calls, {} questions ({grave} grave, 1 denied), \
         {beside} commands of ours beside it, {took:.0} s",
        given.len(),
        TASKS.len(),
        asks.len(),
    )
    .unwrap();
}

/// All events until the guest's run has ended, and which that is; its questions are answered.
fn answered(client: &mut Client, approver: &Approver<'_>, rewards: &Rewards) -> (Vec<Event>, RunId) {
    let (mut events, mut run) = (Vec::new(), None);
    loop {
        let event = client.event().unwrap();
        match &event.body {
            EventBody::RunStarted(spec) if spec.is_guests() => run = event.scope.run.clone(),
            EventBody::ApprovalRequested { approval } => {
                let answer = match approval.for_run() {
                    // After the tasks.
                    _ if rewards.lock().unwrap().len() == TASKS.len() => &["no", "--why", WHY][..],
                    // What can be undone, for the whole run; the rest each time.
                    Some(_) => &["run"],
                    None => &["yes"],
                };
                approver.answer(approval, answer);
            }
            _ => {}
        }
        let ends = miki::is_end(&event.body) && event.scope.run == run;
        events.push(event);
        if let Some(run) = run.take_if(|_| ends) {
            return (events, run);
        }
    }
}
