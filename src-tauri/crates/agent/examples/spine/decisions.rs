//! How long it takes to decide about a call, as far as its arguments tell, with many things allowed already.

use std::hint::black_box;
use std::time::Instant;

use desktop::fake::FakeDesktop;
use protocol::ids::CallId;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Grant, Mode, ToolCall};
use serde_json::{Value, json};
use tools::{ExecRequest, Grants, Limits, Router};

use crate::{contender, since};

const TRIALS: usize = 200;
/// Decisions of one trial: the clock is no finer.
const EACH: usize = 100;
const GRANTS: usize = 200;

pub fn race() -> Value {
    let router = Router::builtin(FakeDesktop::new());
    let limits = Limits::from(&Settings::default());
    let mut grants = Grants::default();
    grants.allow((0..GRANTS).map(|n| Grant { tool: "click".into(), app: Some(format!("Application {n}")) }));
    let arguments = json!({ "x": 512, "y": 40, "reason": "to open the menu" });
    let request = ExecRequest {
        waived: Vec::new(),
        call: ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments },
        mode: Mode::Act,
        approval: ApprovalMode::Thread,
        grants,
        has_read: true,
        approved: None,
        planning: tools::Planning::Off,
    };
    let trial = || {
        let began = Instant::now();
        for _ in 0..EACH {
            black_box(router.outline(black_box(&request), &limits));
        }
        since(began) / EACH as f64
    };
    let ms: Vec<f64> = std::iter::repeat_with(trial).take(TRIALS).collect();
    json!({ "work": "decide", "contenders": [contender("ours", EACH, &ms)] })
}
