//! The referee: starts an episode with a seed and reads the reward, past the tools; it helps nobody. And where the
//! pages are.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::browser_stage::{Answer, Stage, get};
use crate::mind::{Mind, Task};

/// An episode is not to end by its clock.
const EPISODE_MS: u32 = 600_000;
/// For a page to come to its verdict after the last act.
const VERDICT: Duration = Duration::from_secs(10);

/// Where set-up puts the pages.
fn folder() -> PathBuf {
    let tools = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let folder = tools.join("miniwob/miniwob/html");
    assert!(
        folder.join("core/core.js").is_file(),
        "the pages of MiniWoB++ are not in {folder:?}; run: cargo xtask setup"
    );
    folder
}

pub fn pages() -> impl Fn(&str, u16) -> Answer + Send + Sync + 'static {
    let folder = folder();
    move |path, _| {
        let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        let kind = match ending.unwrap_or_default() {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "png" => "image/png",
            "gif" => "image/gif",
            _ => "application/octet-stream",
        };
        match std::fs::read(folder.join(path)) {
            Ok(body) => Answer { status: 200, kind, body },
            Err(_) => Answer { status: 404, kind: "text/plain", body: Vec::new() },
        }
    }
}

pub struct Referee {
    socket: WebSocketStream<TcpStream>,
    sent: u64,
    here: String,
}

impl Referee {
    /// Lets the mind's own tool open the browser, and listens to its page.
    pub async fn watching(stage: &Stage, mind: &Mind) -> Self {
        let start = format!("{}/miniwob/click-test.html", stage.here);
        mind.call("webNavigate", json!({ "url": start })).await.unwrap();
        let port = stage.port();
        let list: Value = serde_json::from_str(&get(port, "/json/list").await).unwrap();
        let page = list
            .as_array()
            .unwrap()
            .iter()
            .find(|target| target["type"] == "page" && target["url"] == start.as_str())
            .unwrap_or_else(|| panic!("the page is not among {list}"));
        let address = page["webSocketDebuggerUrl"].as_str().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async(address, stream).await.unwrap();
        Self { socket, sent: 0, here: stage.here.clone() }
    }

    /// One episode of a task: its reward, which has to be above 0.
    pub async fn episode(&mut self, task: &Task, seed: &str, mind: &Mind) -> Result<f64> {
        let url = format!("{}/miniwob/{}.html", self.here, task.name);
        mind.call("webNavigate", json!({ "url": url })).await?;
        self.start(seed).await?;
        (task.solve)(mind).await?;
        self.verdict().await
    }

    async fn start(&mut self, seed: &str) -> Result<()> {
        let end = Instant::now() + VERDICT;
        // The page lays its cover when it is loaded.
        while self.ask("typeof core === 'object' && core.cover_div !== null && WOB_TASK_READY").await? != true
        {
            if Instant::now() >= end {
                bail!("the page does not get ready");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let seed = json!(seed);
        let start = format!(
            "Math.seedrandom({seed}); core.EPISODE_MAX_TIME = {EPISODE_MS}; core.startEpisodeReal(); true"
        );
        self.ask(&start).await.map(drop)
    }

    async fn verdict(&mut self) -> Result<f64> {
        let end = Instant::now() + VERDICT;
        loop {
            let told = self.ask("[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL]").await?;
            let reward = told[1].as_f64().unwrap_or_default();
            match told[0].as_bool() {
                Some(true) if reward > 0.0 => return Ok(reward),
                Some(true) => bail!("the page gave {reward}"),
                _ if Instant::now() >= end => bail!("the page says that it is not done"),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn ask(&mut self, expression: &str) -> Result<Value> {
        self.sent += 1;
        let command = json!({
            "id": self.sent,
            "method": "Runtime.evaluate",
            "params": { "expression": expression, "returnByValue": true },
        });
        self.socket.send(Message::text(command.to_string())).await?;
        while let Some(message) = self.socket.next().await {
            let Message::Text(text) = message? else { continue };
            let told: Value = serde_json::from_str(&text)?;
            if told["id"] == self.sent {
                let thrown = &told["result"]["exceptionDetails"];
                if !thrown.is_null() {
                    bail!("the page threw {thrown}");
                }
                return Ok(told["result"]["result"]["value"].clone());
            }
        }
        Err(anyhow::anyhow!("the browser is gone")).context("the referee asked the page")
    }
}
