//! Runs side by side: each has its own fence, they take turns with the desktop, and the end of one is nothing to the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, Mind, MindTurn, ToolResult};
use outside::miki::{self, Client, Miki, check_file};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::command::CallTool;
use protocol::event::RunEnd;
use protocol::view::RunStatus;
use serde_json::{Value, json};

/// Between two looks at whether something has come about; and how long the reader's model is silent.
const LOOK: Duration = Duration::from_millis(100);
const SILENCE: Duration = Duration::from_secs(2);
const PAGE_TEXT: &str = "Nothing but the weather is written here.";

/// What the test and the minds tell each other.
#[derive(Default)]
struct Signs {
    /// The browser's window is where it is to be.
    placed: AtomicBool,
    holding: AtomicBool,
    reader_over: AtomicBool,
    reads: AtomicUsize,
    /// What was done outside of a fence, with what came of it.
    outside: Mutex<BTreeMap<&'static str, String>>,
}

impl Signs {
    fn note(&self, who: &'static str, asked: &Asked) {
        let said = asked.results().iter().map(|result| result.error().unwrap_or_else(|| result.effect()));
        self.outside.lock().unwrap().insert(who, said.collect());
    }
}

/// A mind that goes through its steps; one answers `None` if it is not its time yet.
struct Steps<F> {
    at: usize,
    next: F,
}

impl<F: FnMut(usize, &Asked) -> Option<MindTurn> + Send> Mind for Steps<F> {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        match (self.next)(self.at, asked) {
            Some(turn) => {
                self.at += 1;
                turn
            }
            None => MindTurn { pause: LOOK, ..MindTurn::call("", "think", json!({ "thought": "not yet" })) },
        }
    }
}

/// Another mind for each goal.
pub struct Each(pub BTreeMap<&'static str, Box<dyn Mind>>);

impl Mind for Each {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        match self.0.get_mut(asked.goal()) {
            Some(mind) => mind.turn(asked),
            None => MindTurn::done("I know no such goal", false),
        }
    }
}

fn call(tool: &str, arguments: Value) -> Option<MindTurn> {
    Some(MindTurn::call("", tool, arguments))
}

/// Types into the editor, holds shift over turns, and tries to click into the browser.
fn writer(signs: Arc<Signs>) -> impl Mind {
    let next = move |step: usize, asked: &Asked| match step {
        0 => call("click", json!({ "x": 265, "y": 444, "reason": "to write there" })),
        1 => call("type", json!({ "text": "side by side " })),
        2 if !signs.placed.load(Ordering::SeqCst) => None,
        2 => call("click", json!({ "x": 750, "y": 490, "reason": "which is not mine" })),
        3 => {
            signs.note("writer", asked);
            call("keyDown", json!({ "key": "shift" }))
        }
        4 if !signs.reader_over.load(Ordering::SeqCst) => {
            signs.holding.store(true, Ordering::SeqCst);
            None
        }
        4 => call("press", json!({ "key": "a" })),
        5 => call("keyUp", json!({ "key": "shift" })),
        6 => call("type", json!({ "text": " end" })),
        7 => call("hotkey", json!({ "keys": ["ctrl", "s"], "reason": "to save it" })),
        _ => Some(MindTurn::done("it is written", true)),
    };
    Steps { at: 0, next }
}

/// Opens a page, is silent for a while, reads it, and tries to click into the editor.
fn reader(signs: Arc<Signs>, page: String) -> impl Mind {
    let next = move |step: usize, asked: &Asked| {
        let has_read = |result: &&ToolResult| result.response.to_string().contains(PAGE_TEXT);
        signs.reads.fetch_add(asked.results().iter().filter(has_read).count(), Ordering::SeqCst);
        match step {
            0 => call("webNavigate", json!({ "url": page, "reason": "to read it" })),
            1 if !signs.placed.load(Ordering::SeqCst) => None,
            1 => call("click", json!({ "x": 265, "y": 444, "reason": "which is not mine" })),
            2 => {
                signs.note("reader", asked);
                Some(MindTurn { pause: SILENCE, ..MindTurn::call("", "webRead", json!({})) })
            }
            3 if !signs.holding.load(Ordering::SeqCst) => None,
            3 => call("webRead", json!({})),
            _ => Some(MindTurn::done("it is read", true)),
        }
    };
    Steps { at: 0, next }
}

/// Goes to its page when as many have gone to theirs as are before it, and reads it when both have.
fn own_page(
    number: usize,
    page: String,
    arrived: Arc<AtomicUsize>,
    read: Arc<Mutex<[String; 2]>>,
) -> impl Mind {
    let next = move |step: usize, asked: &Asked| match step {
        0 if arrived.load(Ordering::SeqCst) < number => None,
        0 => call("webNavigate", json!({ "url": page, "reason": "to read it" })),
        1 => {
            arrived.fetch_max(number + 1, Ordering::SeqCst);
            if arrived.load(Ordering::SeqCst) < 2 { None } else { call("webRead", json!({})) }
        }
        _ => {
            read.lock().unwrap()[number] = asked.results().iter().map(|of| of.response.to_string()).collect();
            Some(MindTurn::done("it is read", true))
        }
    };
    Steps { at: 0, next }
}

/// A page of one sentence and its path, for as long as the test lives.
fn serve_page() -> String {
    let page =
        |path: &str| format!("<!doctype html><title>Weather</title><main><p>{PAGE_TEXT} {path}</p></main>");
    outside::serve_pages(page) + "/"
}

fn runs(client: &mut Client) -> Vec<RunStatus> {
    client.overview().unwrap().runs
}

/// The end that a command's log tells of.
fn end_in(log: &str) -> Option<RunEnd> {
    let lines: String =
        log.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
    miki::end(&miki::events(&lines).unwrap())
}

#[test]
fn a_run_reads_its_own_page_though_another_run_went_elsewhere_between_two_of_its_turns() {
    let stage = Stage::plain().unwrap();
    let (arrived, read) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::default()));
    let url = serve_page();
    let mind =
        |number, path| own_page(number, format!("{url}{path}"), Arc::clone(&arrived), Arc::clone(&read));
    let minds: [(&str, Box<dyn Mind>); 2] =
        [("first", Box::new(mind(0, "here"))), ("second", Box::new(mind(1, "there")))];
    let model = FakeModel::start(Each(minds.into())).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let mut first = miki.start(&stage, "first", &["run", "first", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    wait_for("the first run", LONG, || (runs(&mut client).len() == 1).then_some(())).unwrap();
    let mut second = miki.start(&stage, "second", &["run", "second", "--json"]).unwrap();
    for (run, log) in [(&mut first, "first"), (&mut second, "second")] {
        assert_eq!(run.wait(LONG).unwrap().code(), Some(0), "{}", stage.log(log));
    }
    let [here, there] = read.lock().unwrap().clone();
    assert!(here.contains(&format!("{PAGE_TEXT} /here")) && !here.contains("/there"), "{here}");
    assert!(there.contains(&format!("{PAGE_TEXT} /there")) && !there.contains("/here"), "{there}");
}

#[test]
fn one_types_while_the_other_reads_and_neither_meets_the_others_fence_keys_or_end() {
    let stage = Stage::plain().unwrap();
    let file = stage.work().join("side.txt");
    std::fs::write(&file, "").unwrap();
    let _editor = stage.open_editor(Some(&file)).unwrap();
    let screen = stage.screen().unwrap();
    let signs = Arc::new(Signs::default());
    let minds: [(&str, Box<dyn Mind>); 2] =
        [("write", Box::new(writer(signs.clone()))), ("read", Box::new(reader(signs.clone(), serve_page())))];
    let model = FakeModel::start(Each(minds.into())).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let run = |goal: &str, app: &str| {
        miki.start(&stage, goal, &["run", goal, "--json", "--only-app", app]).unwrap()
    };
    let mut writing = run("write", "Mousepad");
    let mut client = miki.connect(LONG).unwrap();
    wait_for("the first run", LONG, || (runs(&mut client).len() == 1).then_some(())).unwrap();
    let mut reading = run("read", "Chromium");

    let browser = screen.wait_for_window("the browser", LONG, |title| title.contains("Weather")).unwrap();
    screen.place(&browser, 1000, 80, 880, 900).unwrap();
    wait_for("the browser's place", LONG, || {
        screen.windows().ok()?.iter().any(|window| window.id == browser.id && window.x >= 990).then_some(())
    })
    .unwrap();
    let think = || miki.run(&stage, &["do", "think", r#"{"thought":"in between"}"#]).unwrap();
    assert_eq!(think().code(), 0);
    signs.placed.store(true, Ordering::SeqCst);
    wait_for("a held key", LONG, || signs.holding.load(Ordering::SeqCst).then_some(())).unwrap();
    assert_eq!(think().code(), 0, "a look needs no desktop");

    assert_eq!(reading.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("read"));
    assert!(!screen.held_keys().unwrap().is_empty(), "the reader's end let go of the writer's key");
    assert!(!writing.has_ended(), "{}", stage.log("write"));
    signs.reader_over.store(true, Ordering::SeqCst);
    assert_eq!(writing.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("write"));

    wait_for("the file", LONG, || check_file(&file, "side by side A end").ok()).unwrap();
    assert!(screen.held_keys().unwrap().is_empty());
    assert_eq!(signs.reads.load(Ordering::SeqCst), 2, "the page was not read: {}", stage.log("read"));
    let outside = signs.outside.lock().unwrap();
    for who in ["writer", "reader"] {
        let said = outside.get(who).map_or("nothing", String::as_str);
        assert!(said.contains("outside the user's fence"), "{who} was told: {said}");
    }
}

/// Thinks until it is told to end.
fn thinker(over: Arc<AtomicBool>) -> impl Mind {
    let next = move |_: usize, _: &Asked| {
        over.load(Ordering::SeqCst).then(|| MindTurn::done("thought of everything", true))
    };
    Steps { at: 0, next }
}

#[test]
fn a_command_that_is_the_engine_waits_for_what_others_do_in_it() {
    let stage = Stage::small().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let mut engine = miki.start(&stage, "engine", &["do", "wait", r#"{"seconds":10}"#]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let longer = CallTool { tool: "wait".into(), arguments: json!({ "seconds": 13 }), asked: None };
    let waited = client.call(longer.into()).unwrap();
    assert_eq!(waited["effect"], json!("confirmed"), "{waited}");
    assert_eq!(engine.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("engine"));
    assert!(stage.log("engine").contains("waiting for another command"), "{}", stage.log("engine"));
}

#[test]
fn two_commands_at_once_are_listed_and_one_is_stopped_without_the_other() {
    let stage = Stage::small().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let minds: [(&str, Box<dyn Mind>); 2] =
        [("first", Box::new(thinker(Arc::default()))), ("second", Box::new(thinker(over.clone())))];
    let model = FakeModel::start(Each(minds.into())).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let listed = || -> Vec<RunStatus> {
        let done = miki.run(&stage, &["ps", "--json"]).unwrap();
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let mut told: Value = serde_json::from_str(&done.stdout).unwrap();
        serde_json::from_value(told["runs"].take()).unwrap()
    };
    assert!(listed().is_empty(), "nothing runs yet");
    assert_eq!(miki.run(&stage, &["ps"]).unwrap().stdout, "nothing is running\n");
    assert_eq!(miki.run(&stage, &["stop"]).unwrap().code(), 0);
    assert!(!miki.journal().exists(), "a command that only looks became the engine");

    let mut first = miki.start(&stage, "first", &["run", "first", "--json"]).unwrap();
    let mut second = miki.start(&stage, "second", &["run", "second", "--json"]).unwrap();
    let both = wait_for("both runs", LONG, || {
        let runs = listed();
        (runs.len() == 2).then_some(runs)
    })
    .unwrap();
    let id = |goal: &str| both.iter().find(|run| run.goal == goal).unwrap().run.clone();
    let table = miki.run(&stage, &["ps"]).unwrap().stdout;
    assert!(table.starts_with("RUN "), "{table}");
    let is_run = |line: &&str| line.ends_with("first") || line.ends_with("second");
    assert_eq!(table.lines().filter(is_run).count(), 2, "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("first") && table.contains("second"), "{table}");

    let unknown = miki.run(&stage, &["stop", "r-nothing"]).unwrap();
    assert_eq!(unknown.code(), 1);
    assert!(unknown.stderr.contains("first") && unknown.stderr.contains("second"), "{}", unknown.stderr);
    let all = miki.run(&stage, &["stop", "r-0"]).unwrap();
    assert_eq!(all.code(), 1, "two begin so: {}{}", all.stdout, all.stderr);

    // As it is shown: its end.
    let shown = table.lines().find(|line| line.ends_with("first")).unwrap();
    let shown = shown.split_whitespace().next().unwrap();
    let stopped = miki.run(&stage, &["stop", shown]).unwrap();
    assert_eq!((stopped.code(), stopped.stdout), (0, format!("stopped {}\n", id("first"))));
    wait_for("one run less", LONG, || {
        let runs = listed();
        (runs.len() == 1 && runs[0].run == id("second")).then_some(())
    })
    .unwrap();
    over.store(true, Ordering::SeqCst);
    assert_eq!(second.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("second"));
    assert_eq!(first.wait(LONG).unwrap().code(), Some(3), "{}", stage.log("first"));
    assert!(matches!(end_in(&stage.log("first")), Some(RunEnd::Stopped { .. })));
    assert!(matches!(end_in(&stage.log("second")), Some(RunEnd::Completed { .. })));
    assert!(listed().is_empty());
}

#[test]
fn a_stop_ends_a_runs_jobs_while_the_engine_goes_on_with_another() {
    let stage = Stage::plain().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let name = format!("miki-job-{}", std::process::id());
    let command = format!("tail -F {name}");
    let follower = Steps {
        at: 0,
        next: move |step: usize, _: &Asked| match step {
            0 => call("runCommand", json!({ "command": command, "background": true })),
            _ => None,
        },
    };
    let minds: [(&str, Box<dyn Mind>); 2] =
        [("first", Box::new(thinker(over.clone()))), ("second", Box::new(follower))];
    let model = FakeModel::start(Each(minds.into())).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let mut first = miki.start(&stage, "first", &["run", "first", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    wait_for("the first run", LONG, || (runs(&mut client).len() == 1).then_some(())).unwrap();
    let mut second = miki.start(&stage, "second", &["run", "second", "--json"]).unwrap();
    let follows = || {
        let lines = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines = lines.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.any(|line| line.starts_with("tail") && line.contains(&name))
    };
    wait_for("the job", LONG, || follows().then_some(())).unwrap();
    let of_second = runs(&mut client).into_iter().find(|run| run.goal == "second").unwrap().run;
    assert_eq!(miki.run(&stage, &["stop", of_second.as_str()]).unwrap().code(), 0);
    assert_eq!(second.wait(LONG).unwrap().code(), Some(3), "{}", stage.log("second"));
    wait_for("its job to end", LONG, || (!follows()).then_some(())).unwrap();
    assert_eq!(runs(&mut client).len(), 1, "the other goes on");
    over.store(true, Ordering::SeqCst);
    assert_eq!(first.wait(LONG).unwrap().code(), Some(0), "{}", stage.log("first"));
}
