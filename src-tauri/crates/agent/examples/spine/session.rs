//! A long session, written through the journal as an engine writes it: every turn with its blob, every call with its
//! intent, its outcome and its picture.

use std::path::Path;
use std::sync::Arc;

use desktop::fake::FakeDesktop;
use desktop::{Screen, Shot};
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use journal::{Journal, SystemClock};
use protocol::EventBody;
use protocol::event::{RunEnd, Scope};
use protocol::geometry::PixelSize;
use protocol::ids::{AgentId, BlobRef, CallId, ModelId, RunId, SessionId};
use protocol::run::{Fence, RunSpec};
use protocol::settings::Settings;
use protocol::tool::{Effect, ExecResult, Millis, PictureView, Risk, ToolCall};
use protocol::turn::{Cost, StopReason, Usage};
use serde_json::json;

use crate::Failure;

pub const STEPS: usize = 10_000;
/// Steps of one run.
const OF_A_RUN: usize = 100;
/// As large as a picture of a busy screen that a model is sent.
const PICTURE_BYTES: usize = 48 * 1024;
/// Blobs that are synced at a time.
const BESIDE: usize = 16;
/// Appends that wait for one sync; fewer than the journal's queue takes at once, so that their order is kept.
const TOGETHER: usize = 120;
const SIZE: PixelSize = PixelSize { width: 1024, height: 576 };

/// Makes it in the data folder `home`.
pub async fn make(home: &Path) -> Result<SessionId, Failure> {
    let journal = Journal::open(home, Arc::new(SystemClock))?;
    let id = SessionId::from_suffix("long");
    let of_session = Scope { session: Some(id.clone()), ..Scope::default() };
    let settings = Settings::default();
    let created = EventBody::SessionCreated {
        title: "a long piece of work".into(),
        mode: settings.mode,
        approval: settings.approval,
        search: false,
        origin: None,
    };
    journal.append(of_session.clone(), created).await?;
    let picture = FakeDesktop::new().screenshot(Shot::of_display(0, SIZE, 80)).await?;
    for first in (0..STEPS).step_by(OF_A_RUN) {
        let run = first / OF_A_RUN;
        let scope = Scope {
            run: Some(RunId::from_suffix(run)),
            agent: Some(AgentId::from_suffix(run)),
            ..of_session.clone()
        };
        let steps = first..first + OF_A_RUN;
        let made = stream::iter(steps).map(|step| made(&journal, &picture.jpeg, step));
        let made: Vec<Step> = made.buffered(BESIDE).try_collect().await?;
        let mut bodies = vec![EventBody::RunStarted(Box::new(spec(&settings)))];
        bodies.extend(made.into_iter().zip(1..).flat_map(|(step, turn)| step.events(turn)));
        bodies.push(EventBody::RunEnded { end: RunEnd::Completed { summary: "all of it is done".into() } });
        for together in bodies.chunks(TOGETHER) {
            let appended = together.iter().map(|body| journal.append(scope.clone(), body.clone()));
            try_join_all(appended).await?;
        }
    }
    Ok(id)
}

fn spec(settings: &Settings) -> RunSpec {
    RunSpec {
        goal: "copy the figures of every report into the table".into(),
        model: ModelId("scripted/bench".into()),
        base_url: None,
        mode: settings.mode,
        approval: settings.approval,
        max_steps: 500,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: false,
        fence: Some(Fence::default()),
        unattended: Default::default(),
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

/// A step whose blobs are on disk.
struct Step {
    number: usize,
    raw: BlobRef,
    picture: BlobRef,
}

/// Writes the blobs of a step; no two steps have the same.
async fn made(journal: &Journal, jpeg: &[u8], number: usize) -> Result<Step, Failure> {
    let mut bytes = jpeg.to_vec();
    // What follows a picture's end is read by nobody; it gives the file its size, and makes it another one.
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.resize(PICTURE_BYTES, 0x5a);
    let raw = json!({
        "provider": "scripted",
        "raw": { "text": text(number), "calls": [{ "id": "p1", "name": "click", "args": arguments(number) }] },
        "callIds": ["p1"],
    });
    let picture = journal.put_blob(bytes, "image/jpeg").await?;
    let raw = journal.put_blob(serde_json::to_vec(&raw)?, "application/json").await?;
    Ok(Step { number, raw, picture })
}

fn text(number: usize) -> String {
    format!(
        "Row {number} is in view. The next figure belongs into the third column, so I click its cell first."
    )
}

fn arguments(number: usize) -> serde_json::Value {
    json!({ "x": number % 1000, "y": number / 10 % 1000, "reason": "the cell of the third column" })
}

impl Step {
    fn events(self, turn: u32) -> [EventBody; 3] {
        let call = ToolCall {
            id: CallId::from_suffix(self.number),
            tool: "click".into(),
            arguments: arguments(self.number),
        };
        let result = ExecResult {
            effect: Effect::Confirmed,
            summary: format!("clicked the cell of row {}", self.number),
            data: json!({ "changed": "the cell has the focus", "window": "Reports" }),
            error: None,
            picture: Some(PictureView {
                blob: self.picture,
                width: SIZE.width,
                height: SIZE.height,
                dot: None,
            }),
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(180),
        };
        let usage = Usage { input: 9_000, cached: 8_000, output: 90, ..Usage::default() };
        [
            EventBody::TurnFinished {
                turn,
                text: text(self.number),
                thinking: "The table's header says which column it is.".into(),
                calls: vec![call.clone()],
                citations: Vec::new(),
                usage,
                cost: Cost::Unknown,
                stop: StopReason::ToolCalls,
                raw: Some(self.raw),
            },
            EventBody::ToolStarted { call: call.clone(), risk: Risk::Edit },
            EventBody::ToolFinished { call: call.id, result },
        ]
    }
}
