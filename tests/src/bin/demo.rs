//! The demo: the real app operates a real editor on a private desktop, driven by a scripted model.
//!
//! Needs neither a key nor a display, and never touches the user's own desktop. Ends well only where the file that
//! the task is about is right, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use outside::fake_model::{FakeModel, HAIKU, HaikuMind, SlowMind};
use outside::miki::{self, Client, GOAL, Miki};
use outside::report::Report;
use outside::stage::{Screen, Stage, Window};
use outside::{LONG, Process, wait_for};
use protocol::event::RunEnd;
use protocol::{Event, EventBody};
use serde_json::json;

const NOTICE: &str = "The model in this run is scripted: a fake server that speaks Gemini's wire and finds its targets in the \
    elements it is sent. The app, the screen, the editor, the keyboard and the mouse are real.";

fn main() -> std::process::ExitCode {
    let out = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("artifacts/demo"), PathBuf::from);
    match demo(&out) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: failed: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn demo(out: &Path) -> Result<()> {
    println!("demo: the model is scripted, everything else is real; nothing touches your own desktop");
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    clear(out).with_context(|| format!("cannot clear {}", out.display()))?;
    let stage = Stage::full()?;
    println!(
        "demo: a private desktop is up (X server, session bus, accessibility, window manager, tray, keyring)"
    );
    let editor = stage.open_editor(None)?;
    println!("demo: a text editor is open: {}", editor.window.title);
    let model = FakeModel::start(SlowMind { mind: HaikuMind::default(), pause: Duration::from_millis(300) })?;
    let miki =
        Miki::with_model(&stage, "miki", &model.url(), json!({ "stepDelayMs": 500, "batchDelayMs": 200 }))?;
    println!("demo: approvals are set to auto for this run, since nobody is here to answer");
    let app = miki.start(&stage, "miki", &[])?;
    let shown = Show { out, stage: &stage, screen: stage.screen()?, views: Vec::new() };
    let outcome = play(&miki, shown, &editor.window, app);
    outcome.with_context(|| format!("the app said: {}", stage.log("miki")))
}

/// What the demo leaves beside the steps' pictures, in the order in which it is best looked at.
const LEFT: [&str; 6] =
    ["report.html", "dashboard.png", "chat.png", "at-work.png", "answer.png", "haiku.txt"];

/// Takes away what an earlier demo left, and nothing else: the folder may be anyone's.
fn clear(out: &Path) -> Result<()> {
    for entry in fs::read_dir(out)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_step = name.starts_with("step-") && name.ends_with(".jpg");
        if LEFT.contains(&name) || is_step {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The screen, and what is kept of it.
struct Show<'a> {
    out: &'a Path,
    stage: &'a Stage,
    screen: Screen,
    views: Vec<(String, Vec<u8>)>,
}

impl Show<'_> {
    fn keep(&mut self, file: &str, what: &str, png: Vec<u8>) -> Result<()> {
        fs::write(self.out.join(file), &png)?;
        self.views.push((what.to_owned(), png));
        Ok(())
    }

    fn keep_window(&mut self, file: &str, what: &str, title: &str) -> Result<Window> {
        let window = self.screen.wait_for_window(title, LONG, |found| found == title)?;
        // Painted to the end: two looks in a row are the same. A caret may blink for ever, so it is not an error.
        let (screen, mut before) = (&self.screen, Vec::new());
        let _ = wait_for("a still picture", Duration::from_secs(3), || {
            std::thread::sleep(Duration::from_millis(150));
            let now = screen.png_of(window.x, window.y, window.width, window.height).ok()?;
            (std::mem::replace(&mut before, now.clone()) == now).then_some(())
        });
        self.keep(file, what, before)?;
        Ok(window)
    }
}

fn play(miki: &Miki, mut show: Show<'_>, editor: &Window, mut app: Process) -> Result<()> {
    let mut client = miki.connect(LONG)?;
    client.subscribe()?;
    let dashboard = show.screen.wait_for_window("the dashboard", LONG, |title| title == "Miki")?;
    show.screen.place(&dashboard, 1000, 80, 880, 900)?;
    println!("demo: the app is up, with its dashboard");
    show.screen.activate(editor)?;
    give_the_goal(&mut show)?;
    let events = follow(&mut client, &mut show)?;
    let file = show.stage.work().join("haiku.txt");
    match miki::end(&events) {
        Some(RunEnd::Completed { summary }) => println!("demo: the run completed: {summary}"),
        other => bail!("the run did not complete: {other:?}"),
    }
    wait_for("haiku.txt", Duration::from_secs(5), || file.exists().then_some(()))?;
    miki::check_file(&file, HAIKU)?;
    println!("demo: haiku.txt is right, byte for byte:\n\n{HAIKU}\n");
    let chat = show.keep_window("answer.png", "The chat widget, back with the answer", "Miki Chat")?;
    show.screen.activate(&chat)?;
    miki::hide_chat(&show.screen, &show.stage.user()?)?;
    show.screen.activate(&dashboard)?;
    show.keep_window("dashboard.png", "The dashboard after the run", "Miki")?;
    let named = write_report(miki, &show, &events)?;
    ensure!(!app.has_ended(), "the app ended by itself");
    println!("demo: pictures and report:");
    for path in named {
        println!("  {}", path.display());
    }
    println!(
        "demo: with a real model: `miki key set gemini`, then `miki run \"{GOAL}\"`, or start `miki` and press Ctrl+Shift+Space"
    );
    Ok(())
}

/// As a user would: the shortcut, the goal by the keyboard, Enter.
fn give_the_goal(show: &mut Show<'_>) -> Result<()> {
    let user = show.stage.user()?;
    miki::open_chat(&show.screen, &user)?;
    user.type_text(GOAL)?;
    show.keep_window("chat.png", "The chat widget with the goal, typed with real keys", "Miki Chat")?;
    user.chord(&["enter"])?;
    println!("demo: the goal is typed into the chat widget: {GOAL}");
    Ok(())
}

/// Prints the run as it goes, takes pictures of the screen at work, answers its durable events.
fn follow(client: &mut Client, show: &mut Show<'_>) -> Result<Vec<Event>> {
    let mut events: Vec<Event> = Vec::new();
    let (mut started, mut step, mut overlay) = (false, 0, false);
    loop {
        let event = client.event()?;
        match &event.body {
            EventBody::RunStarted(spec) => {
                ensure!(spec.goal == GOAL, "the goal arrived as {:?}", spec.goal);
                started = true;
            }
            EventBody::ToolStarted { call, .. } => {
                step += 1;
                println!("demo: step {step}: {} {}", call.tool, call.arguments);
            }
            EventBody::ToolFinished { result, .. } => {
                println!("demo:         {} ({} ms)", result.summary, result.took.0);
                if !overlay && step >= 3 {
                    show.screen.wait_for_window("the overlay", LONG, |title| title == "Miki Overlay")?;
                    let png = show.screen.png()?;
                    show.keep("at-work.png", "The whole screen at work, with the overlay on top", png)?;
                    overlay = true;
                }
            }
            EventBody::TurnFailed { message, .. } => println!("demo: the model failed: {message}"),
            EventBody::Noted { message, .. } => println!("demo: note: {message}"),
            _ => {}
        }
        let over = started && miki::is_end(&event.body);
        if started && event.body.is_durable() {
            events.push(event);
        }
        if over {
            return Ok(events);
        }
    }
}

/// Writes each step's picture and the page; answers all files, in the order they are best looked at.
fn write_report(miki: &Miki, show: &Show<'_>, events: &[Event]) -> Result<Vec<PathBuf>> {
    let mut pictures = BTreeMap::new();
    let mut named = Vec::new();
    let results = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => Some(result),
        _ => None,
    });
    for (number, result) in results.enumerate() {
        if let Some(picture) = &result.picture {
            let jpeg = miki.picture(picture)?;
            let path = show.out.join(format!("step-{:02}.jpg", number + 1));
            fs::write(&path, &jpeg)?;
            named.push(path);
            pictures.insert(picture.blob.sha256.clone(), jpeg);
        }
    }
    ensure!(!pictures.is_empty(), "no step left a picture");
    let outcome = Some(("haiku.txt", HAIKU));
    let report =
        Report { goal: GOAL, events, pictures: &pictures, views: &show.views, notice: NOTICE, outcome };
    let page = show.out.join("report.html");
    fs::write(&page, report.html())?;
    fs::copy(show.stage.work().join("haiku.txt"), show.out.join("haiku.txt"))?;
    let all: Vec<PathBuf> = LEFT.map(|name| show.out.join(name)).into_iter().chain(named).collect();
    for path in &all {
        ensure!(path.exists(), "{} is missing: the demo did not show what it is to show", path.display());
    }
    Ok(all)
}
