//! Search over 1,000 sessions and export of 1,000 steps with their pictures, measured on a real disk: `cargo run --release -p
//! journal --example sessions -- FOLDER`. Prints each trial; what a figure should be is not known here. With `keep` behind the
//! folder, the exported page is left there to be looked at.

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

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder on the disk to measure")?);
    let keep = arguments.next().is_some();
    std::fs::create_dir_all(&folder)?;
    let home = tempfile::tempdir_in(&folder)?;
    let journal = Journal::open(home.path(), Arc::new(SystemClock))?;
    let began = Instant::now();
    for number in 0..SESSIONS {
        journal.append_all(session(number, STEPS, |_| None)).await?;
    }
    println!("{SESSIONS} sessions of {STEPS} steps made in {:.1} s", began.elapsed().as_secs_f64());
    for query in [
        "invoice",
        "俳句",
        "句",
        "zz",
        "row 7 clicked",
        "calendar 表計算 browser",
        "e",
        "needle 613",
        "nowhere at all",
    ] {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..20 {
            let began = Instant::now();
            hits = journal.read(move |reader| reader.search(query, 50)).await?.len();
            times.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        times.sort_by(f64::total_cmp);
        println!("search {query:?}: {hits} found, median {:.1} ms, slowest {:.1} ms", times[10], times[19]);
    }
    let pictures: Vec<BlobRef> =
        (0..LONG).map(|n| journal.blobs().put(&picture(n), "image/png")).collect::<Result<_, _>>()?;
    journal.append_all(session(SESSIONS, LONG, |n| Some(pictures[n].clone()))).await?;
    let id = SessionId::from_suffix(SESSIONS);
    let began = Instant::now();
    let (view, events) = read(&journal, &id).await?;
    println!("{} events read in {:.2} s", events.len(), began.elapsed().as_secs_f64());
    for ending in ["jsonl", "md", "html"] {
        let to = home.path().join("export").with_extension(ending);
        let began = Instant::now();
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&to)?);
        let mut of =
            |blob: &BlobRef| journal.blobs().path(&blob.sha256).and_then(|path| std::fs::read(path).ok());
        let written = match ending {
            "jsonl" => export::jsonl(&mut out, &view, &events, Some(&mut of))?,
            "md" => {
                export::markdown(&mut out, &view, &events)?;
                Default::default()
            }
            _ => export::html(&mut out, &view, &events, Some(&mut of))?,
        };
        out.flush()?;
        let (seconds, bytes) = (began.elapsed().as_secs_f64(), std::fs::metadata(&to)?.len());
        println!("export of {LONG} steps as {ending}: {seconds:.2} s, {} MB, {written:?}", bytes / 1_000_000);
        if keep && ending == "html" {
            std::fs::rename(&to, folder.join("export.html"))?;
        }
    }
    Ok(())
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
        search: false,
        fence: None,
        unattended: Unattended::Wait,
        space: None,
        parent: None,
        recording: None,
        plan: false,
    }
}
