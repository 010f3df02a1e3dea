//! A private X server with a Chromium that plays the applications of macOS, and a small web server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{Desktop, DesktopError};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::super::app::{App, Family};
use super::super::{AppleBrowser, Osa, talk};
use crate::live::Live;
use crate::{Attach, Kind, Options, PageQuery, PageView, Reply, Scope, WebElement, find};

const PLAYED: &str = include_str!("played.js");

/// Runs the script in the page itself, which plays the application.
struct Played {
    live: Live,
    family: Family,
    bundle: &'static str,
}

impl Played {
    /// A session that leaves dialogs to the browser itself.
    async fn evaluate(&self, code: &str) -> Result<String, DesktopError> {
        let refused = |what: &str| DesktopError::Failed(format!("no page to play in: {what}"));
        let targets = self.live.wire.call(None, "Target.getTargets", json!({})).await?;
        let infos = targets["targetInfos"].as_array().ok_or_else(|| refused("no list"))?;
        let page = infos.iter().find(|info| info["type"] == "page").ok_or_else(|| refused("no tab"))?;
        let wish = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.live.wire.call(None, "Target.attachToTarget", wish).await?;
        let session = attached["sessionId"].as_str().unwrap_or_default();
        let wish = json!({ "expression": code, "returnByValue": true });
        let answer = self.live.wire.call(Some(session), "Runtime.evaluate", wish).await;
        let gone = json!({ "sessionId": session });
        let _detached = self.live.wire.call(None, "Target.detachFromTarget", gone).await;
        let answer = answer?;
        let text = answer["result"]["value"].as_str().map(str::to_owned);
        text.ok_or_else(|| refused(&answer.to_string()))
    }
}

impl Osa for Played {
    fn run(&self, wish: String, within: Duration) -> Reply<'_, String> {
        let (family, bundle) = (self.family.word(), self.bundle);
        let code = format!(
            "(() => {{ {PLAYED}\nconst Application = played({family:?}, {bundle:?}, [screenX, screenY]);\n{}\nreturn run([{}]); }})()",
            talk::SCRIPT,
            json!(wish)
        );
        Box::pin(async move {
            let answered = async {
                loop {
                    match self.evaluate(&code).await {
                        // Between two documents there is no page; applications wait for it.
                        Err(DesktopError::Failed(_)) => tokio::time::sleep(Duration::from_millis(30)).await,
                        answer => return answer,
                    }
                }
            };
            // This machine may be loaded; a page with a dialog is silent for however long.
            let late = Err(DesktopError::Timeout(within));
            let within = within.max(Duration::from_secs(8));
            tokio::time::timeout(within, answered).await.unwrap_or(late)
        })
    }
}

pub(super) struct Stage {
    pub(super) browser: AppleBrowser,
    /// `http://127.0.0.1:PORT`
    pub(super) here: String,
    running: Vec<Child>,
    _home: tempfile::TempDir,
}

impl Stage {
    pub(super) async fn open(app: &'static App, pages: fn(&str) -> String) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut x = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start Xvfb");
        let mut number = String::new();
        BufReader::new(x.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let openbox = Command::new("openbox")
            .env("DISPLAY", &display)
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start openbox");
        let running = vec![openbox, x];
        let desktop = desktop::open(desktop::Options {
            failsafe: false,
            display: Some(display.clone()),
            ..desktop::Options::default()
        });
        let arguments = ["--window-position=137,91", "--window-size=1000,700", "--disable-gpu"];
        let options = Options {
            data: home.path().join("data"),
            arguments: arguments.map(str::to_owned).to_vec(),
            attach: Attach::Own,
            display: Some(display),
            ..Options::default()
        };
        let live = find::start(&options).await.unwrap();
        let osa = Arc::new(Played { live, family: app.family, bundle: app.bundle });
        let browser = AppleBrowser::new(osa, "mikitest".into(), Arc::clone(&desktop) as Arc<dyn Desktop>);
        let here = format!("http://127.0.0.1:{}", serve(pages).await);
        Self { browser, here, running, _home: home }
    }

    /// Looks until the page is the one of this path.
    pub(super) async fn comes_to(&self, app: &'static App, path: &str) {
        let (wanted, end) = (format!("{}{path}", self.here), Instant::now() + Duration::from_secs(30));
        loop {
            // None answers while one page goes and the next comes.
            let seen = self.browser.elements(app, query()).await.map(|view| view.url);
            if seen.as_ref().is_ok_and(|url| *url == wanted) {
                return;
            }
            assert!(Instant::now() < end, "not {wanted} but {seen:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Looks until the page has an element of this name; answers it with what was seen.
    pub(super) async fn find(&self, app: &'static App, name: &str) -> (WebElement, PageView) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let view = self.browser.elements(app, query()).await.unwrap();
            if let Some(found) = view.elements.iter().find(|one| one.name == name) {
                return (found.clone(), view);
            }
            assert!(Instant::now() < end, "no {name:?} in {view:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Stage {
    /// Chromium ends with its display.
    fn drop(&mut self) {
        for child in &mut self.running {
            let _gone = child.kill();
            let _status = child.wait();
        }
    }
}

pub(super) fn query() -> PageQuery {
    PageQuery { query: None, scope: Scope::Page, kind: Kind::Interactive, limit: 200, display: 0 }
}

pub(super) fn token() -> CancellationToken {
    CancellationToken::new()
}

async fn serve(pages: fn(&str) -> String) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 16 * 1024];
                let read = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let body = pages(request.split_whitespace().nth(1).unwrap_or("/"));
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
            });
        }
    });
    port
}
