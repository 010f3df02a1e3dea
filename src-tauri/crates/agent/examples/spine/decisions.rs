//! How long it takes to decide about a click into an application, with many things allowed already; of a desktop that
//! answers at once, since what looking costs is measured beside the peers' looks.

use std::hint::black_box;
use std::time::Instant;

use desktop::fake::FakeDesktop;
use desktop::{WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::ids::CallId;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Grant, Mode, ToolCall};
use serde_json::{Value, json};
use tools::{Decision, ExecRequest, Grants, Limits, Router};

use crate::{contender, since};

const TRIALS: usize = 200;
/// Decisions of one trial: the clock is no finer.
const EACH: usize = 100;
const GRANTS: usize = 200;

pub async fn race() -> Value {
    let desktop = FakeDesktop::new();
    let bounds = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
    let (id, title, states) = (WindowId(1), "a window".into(), vec!["focused".into()]);
    // The grant that fits is the last one.
    let app = name(GRANTS - 1);
    desktop.edit(|scene| {
        scene.windows = vec![WindowView { id, title, app, pid: Some(7), display: 0, bounds, states }];
    });
    let router = Router::builtin(desktop);
    let limits = Limits::from(&Settings::default());
    let mut grants = Grants::default();
    grants.allow((0..GRANTS).map(|n| Grant { tool: "click".into(), app: Some(name(n)) }));
    let arguments = json!({ "x": 512, "y": 40, "reason": "to open the menu" });
    let request = ExecRequest {
        waived: Vec::new(),
        fence: Default::default(),
        ports: tools::Ports::default(),
        call: ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments },
        mode: Mode::Act,
        approval: ApprovalMode::Thread,
        grants,
        has_read: true,
        approved: None,
        planning: tools::Planning::Off,
    };
    let mut ms = Vec::new();
    for _ in 0..TRIALS {
        let began = Instant::now();
        for _ in 0..EACH {
            let decided = router.assess(black_box(&request), &limits).await;
            assert_eq!(black_box(decided).decision, Decision::Run, "it is allowed");
        }
        ms.push(since(began) / EACH as f64);
    }
    json!({ "work": "decide", "contenders": [contender("ours", EACH, &ms)] })
}

fn name(n: usize) -> String {
    format!("Application {n}")
}
