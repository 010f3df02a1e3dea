//! Search over 1,000 sessions and export of 1,000 steps with their pictures, measured on a real disk, for `cargo xtask bench
//! sessions`: `cargo run --release -p journal --example sessions -- FOLDER`. Prints one line of JSON; what a figure should be
//! is not known here. The exported page is left in the folder, as `export.html`, to be looked at.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use journal::{Copied, Journal, SystemClock, export};
use protocol::EventBody;
use protocol::command::Unattended;
use protocol::event::{RunEnd, Scope};
use protocol::ids::{BlobRef, CallId, ModelId, RunId, SessionId, StreamId, Timestamp};
use protocol::run::RunSpec;
use protocol::tool::{ApprovalMode, Effect, ExecResult, Millis, Mode, PictureView, Risk, ToolCall};
use protocol::turn::{Cost, StopReason, Usage};
use serde_json::json;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SESSIONS: usize = 1_000;
/// Of each of them: four texts a step.
const STEPS: usize = 12;
const LONG: usize = 1_000;
const PICTURE: usize = 48 * 1024;
const WORDS: [&str; 16] = [
    "invoice",
    "letter",
    "garden",
    "spreadsheet",
    "calendar",
    "請求書",
    "俳句",
    "browser",
    "folder",
    "report",
    "figures",
    "column",
    "表計算",
    "summary",
    "picture",
    "window",
];

/// What is looked for: words that are everywhere, in few sessions, in none; short ones, and other scripts.
const QUERIES: [&str; 10] = [
    "invoice",
    "俳句",
    "句",
    "e",
    "zz",
    "row 7 clicked",
    "calendar 表計算 browser",
    "needle 613",
    "nowhere at all",
    "garden zz",
];
const SEARCHES: usize = 20;
const EXPORTS: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder on the disk to measure")?);
    std::fs::create_dir_all(&folder)?;
    let home = tempfile::tempdir_in(&folder)?;
    let journal = Journal::open(home.path(), Arc::new(SystemClock))?;
    for number in 0..SESSIONS {
        journal.append_all(session(number, STEPS, |_| None)).await?;
    }
    let before = load();
    let mut races = Vec::new();
    for query in QUERIES {
        let mut times = Vec::with_capacity(SEARCHES);
        let mut hits = 0;
        for _ in 0..SEARCHES {
            let began = Instant::now();
            hits = journal.read(move |reader| reader.search(query, 50)).await?.len();
            times.push(ms(began));
        }
        races.push(race(&format!("search {query}"), hits, &times));
    }
    let pictures: Vec<BlobRef> =
        (0..LONG).map(|n| journal.blobs().put(&picture(n), "image/png")).collect::<Result<_, _>>()?;
    journal.append_all(session(SESSIONS, LONG, |n| Some(pictures[n].clone()))).await?;
    let id = SessionId::from_suffix(SESSIONS);
    for ending in ["jsonl", "md", "html"] {
        let to = folder.join("export").with_extension(ending);
        let mut times = Vec::with_capacity(EXPORTS);
        for _ in 0..EXPORTS {
            // From the journal to a file, as it is asked for.
            let began = Instant::now();
            let (view, events) = read(&journal, &id).await?;
            let mut out = BufWriter::with_capacity(1 << 20, File::create(&to)?);
            let mut of =
                |blob: &BlobRef| journal.blobs().path(&blob.sha256).and_then(|path| std::fs::read(path).ok());
            match ending {
                "jsonl" => drop(export::jsonl(&mut out, &view, &events, Some(&mut of))?),
                "md" => export::markdown(&mut out, &view, &events)?,
                _ => drop(export::html(&mut out, &view, &events, Some(&mut of))?),
            }
            out.flush()?;
            times.push(ms(began));
        }
        races.push(race(&format!("export {ending}"), LONG, &times));
        if ending != "html" {
            std::fs::remove_file(&to)?;
        }
    }
    println!("{}", json!({ "load": [before, load()], "races": races, "memory": [] }));
    Ok(())
}

fn race(work: &str, count: usize, ms: &[f64]) -> serde_json::Value {
    json!({ "work": work, "contenders": [{ "who": "ours", "count": count, "ms": ms }] })
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// Of the last minute; 0 where the system does not say.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

async fn read(
    journal: &Journal,
    id: &SessionId,
) -> Result<(protocol::view::SessionView, Vec<protocol::Event>), Failure> {
    let mut events: Vec<protocol::Event> = Vec::new();
    loop {
        let after = events.last().and_then(|event| event.position).map_or(0, |position| position.n);
        let stream = StreamId::of_session(id);
        let page = journal.read(move |reader| reader.page(&stream, None, Some(after), 1_000)).await?;
        if page.events.is_empty() {
            break;
        }
        events.extend(page.events);
    }
    let of = id.clone();
    let view = journal.read(move |reader| reader.session(&of)).await?.ok_or("there is no session")?;
    Ok((view, events))
}

/// A small picture with a number of its own behind its end, as large as one of a busy screen.
fn picture(number: usize) -> Vec<u8> {
    let mut bytes = include_bytes!("colours.png").to_vec();
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.resize(PICTURE, 0x5a);
    bytes
}

fn session(number: usize, steps: usize, picture: impl Fn(usize) -> Option<BlobRef>) -> Vec<Copied> {
    let of = Scope { session: Some(SessionId::from_suffix(number)), ..Scope::default() };
    let run = Scope { run: Some(RunId::from_suffix(number)), ..of.clone() };
    let word = |n: usize| WORDS[(number * 7 + n * 3) % WORDS.len()];
    let mut bodies = vec![
        (
            of,
            EventBody::SessionCreated {
                title: format!("{} and {} {number}", word(0), word(1)),
                mode: Mode::Act,
                approval: ApprovalMode::Ask,
                search: false,
                origin: None,
            },
        ),
        (
            run.clone(),
            EventBody::RunStarted(Box::new(spec(format!(
                "put the {} into the {}, needle {number}",
                word(2),
                word(3)
            )))),
        ),
    ];
    for n in 0..steps {
        let call = ToolCall {
            id: CallId::from_suffix(format!("{number}-{n}")),
            tool: "click".into(),
            arguments: json!({ "x": n % 1000, "y": 7 }),
        };
        let view = picture(n).map(|blob| PictureView { blob, width: 64, height: 36, dot: None });
        let result = ExecResult {
            effect: Effect::Confirmed,
            summary: format!("clicked row {n} of the {}", word(n)),
            data: json!(null),
            error: None,
            picture: view,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(9),
        };
        let turn = EventBody::TurnFinished {
            turn: u32::try_from(n).unwrap_or(0) + 1,
            text: format!(
                "Row {n} is in view. The next figure belongs to the {}, so I click its cell in the {} first.",
                word(n),
                word(n + 5)
            ),
            thinking: String::new(),
            calls: vec![call.clone()],
            citations: Vec::new(),
            usage: Usage::default(),
            cost: Cost::Unknown,
            stop: StopReason::ToolCalls,
            raw: None,
        };
        bodies.push((run.clone(), turn));
        bodies.push((run.clone(), EventBody::ToolStarted { call: call.clone(), risk: Risk::Edit }));
        bodies.push((run.clone(), EventBody::ToolFinished { call: call.id, result }));
    }
    bodies
        .push((run, EventBody::RunEnded { end: RunEnd::Completed { summary: "all of it is done".into() } }));
    let time = Timestamp(1_790_000_000_000 + number as i64);
    bodies.into_iter().map(|(scope, body)| Copied { time, scope, body }).collect()
}

fn spec(goal: String) -> RunSpec {
    RunSpec {
        goal,
        model: ModelId("scripted/bench".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 500,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: false,
        fence: None,
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
