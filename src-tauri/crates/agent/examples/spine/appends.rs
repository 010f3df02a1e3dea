//! Intents appended one after the other: alone, beside a reader that pages the whole session without a pause, and beside
//! one that computes as much and reads nothing, which tells what the reader holds up from what a busy core does.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use journal::{Journal, SystemClock};
use protocol::event::Scope;
use protocol::ids::{CallId, RunId, SessionId, StreamId};
use protocol::tool::{Risk, ToolCall};
use protocol::view::EventPage;
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::{Failure, contender, since};

/// Appends of each contender, in blocks by turns: a busy moment of the disk is busy for both.
const BLOCKS: usize = 10;
const OF_A_BLOCK: usize = 40;
/// The largest page that there is: the longest read.
const PAGE: u32 = 1_000;

pub async fn race(home: &Path, session: &SessionId) -> Result<Value, Failure> {
    let journal = Journal::open(home, Arc::new(SystemClock))?;
    let (mut alone, mut beside, mut busy, mut number) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..BLOCKS {
        append(&journal, session, &mut number, &mut alone).await?;
        for (does, ms) in [(Does::Read, &mut beside), (Does::Compute, &mut busy)] {
            let other = Other::start(&journal, session, does).await?;
            append(&journal, session, &mut number, ms).await?;
            other.stop().await?;
        }
    }
    let contenders = [("ours", &beside), ("alone", &alone), ("busy", &busy)];
    let contenders = contenders.map(|(who, ms)| contender(who, ms.len(), ms));
    Ok(json!({ "work": "append", "contenders": contenders }))
}

async fn append(
    journal: &Journal,
    session: &SessionId,
    number: &mut usize,
    ms: &mut Vec<f64>,
) -> Result<(), Failure> {
    for _ in 0..OF_A_BLOCK {
        *number += 1;
        let call = ToolCall {
            id: CallId::from_suffix(format!("append-{number}")),
            tool: "click".into(),
            arguments: json!({ "x": 500, "y": 500, "reason": "press it" }),
        };
        let run = Some(RunId::from_suffix("appends"));
        let scope = Scope { session: Some(session.clone()), run, agent: None };
        let began = Instant::now();
        journal.append(scope, EventBody::ToolStarted { call, risk: Risk::Edit }).await?;
        ms.push(since(began));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Does {
    /// Reads the session from its beginning to its end, again and again.
    Read,
    /// What is done with a page that was read, to the same page each time.
    Compute,
}

/// Somebody who is at work meanwhile.
struct Other {
    stopped: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<Result<(), Failure>>,
}

impl Other {
    /// Answers when it is at work.
    async fn start(journal: &Journal, session: &SessionId, does: Does) -> Result<Self, Failure> {
        let stopped = Arc::new(AtomicBool::new(false));
        let (journal, stream, stop) = (journal.clone(), StreamId::of_session(session), stopped.clone());
        let first = page(&journal, &stream, 0).await?;
        let mut after = last_of(&first);
        let bodies: Arc<[String]> =
            first.events.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let task = tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                match does {
                    Does::Read => after = last_of(&page(&journal, &stream, after).await?),
                    Does::Compute => {
                        let bodies = bodies.clone();
                        tokio::task::spawn_blocking(move || parse(&bodies)).await??;
                    }
                }
            }
            Ok(())
        });
        Ok(Self { stopped, task })
    }

    async fn stop(self) -> Result<(), Failure> {
        self.stopped.store(true, Ordering::Relaxed);
        self.task.await?
    }
}

async fn page(journal: &Journal, stream: &StreamId, after: u64) -> Result<EventPage, Failure> {
    let stream = stream.clone();
    Ok(journal.read(move |reader| reader.page(&stream, None, Some(after), PAGE)).await?)
}

/// 0 at the end of the session: then it is read from its beginning again.
fn last_of(page: &EventPage) -> u64 {
    page.events.last().and_then(|event| event.position).map_or(0, |position| position.n)
}

fn parse(bodies: &[String]) -> Result<(), Failure> {
    for body in bodies {
        std::hint::black_box(serde_json::from_str::<Event>(body)?);
    }
    Ok(())
}
