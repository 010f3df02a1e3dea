//! The app under WebDriver: WebKitWebDriver starts it, and each of its windows is picked by its label.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::miki::Miki;
use crate::process::Process;
use crate::stage::Stage;
use crate::waiting::{LONG, wait_for};

const LABEL: &str = "return window.__TAURI_INTERNALS__?.metadata?.currentWindow?.label ?? ''";

/// Scrolls each question to its end, as a person does who reads it: a yes takes nothing less.
pub const READ_TO_END: &str = "document.querySelectorAll('.approval > .asked').forEach((asked) => asked.scrollTo(0, asked.scrollHeight))";

pub struct Browser {
    pub client: Client,
    _driver: Process,
}

impl Browser {
    /// Starts the app with its windows.
    ///
    /// # Errors
    /// Where the driver or the app does not start.
    pub async fn open(stage: &Stage, miki: &Miki) -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut command = miki.starter(stage, "WebKitWebDriver");
        command.arg(format!("--port={port}")).env("TAURI_WEBVIEW_AUTOMATION", "true");
        let driver = stage.launch("app", "webkit2gtk-driver", command)?;
        wait_for("WebKitWebDriver", LONG, || std::net::TcpStream::connect(("127.0.0.1", port)).ok())?;
        let Value::Object(wish) = json!({ "webkitgtk:browserOptions": { "binary": miki.bin, "args": [] } })
        else {
            bail!("no object");
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wish)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .with_context(|| format!("no session; the log says: {}", stage.log("app")))?;
        Ok(Self { client, _driver: driver })
    }

    /// Makes the window with this label the one that is looked at.
    ///
    /// # Errors
    /// Where there is none within [`LONG`].
    pub async fn window(&self, label: &str) -> Result<()> {
        let began = Instant::now();
        loop {
            let mut seen = Vec::new();
            for handle in self.client.windows().await? {
                self.client.switch_to_window(handle).await?;
                let found = self.client.execute(LABEL, vec![]).await?;
                if found == label {
                    return Ok(());
                }
                seen.push(found);
            }
            if began.elapsed() > LONG {
                bail!("no window {label}, only {seen:?}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// # Errors
    /// Where nothing matches within [`LONG`].
    pub async fn find(&self, selector: &str) -> Result<fantoccini::elements::Element> {
        let wait = self.client.wait().at_most(LONG).for_element(Locator::Css(selector));
        wait.await.with_context(|| format!("there is no {selector}"))
    }

    /// # Errors
    /// Where the script fails.
    pub async fn script(&self, script: &str) -> Result<Value> {
        Ok(self.client.execute(script, vec![]).await?)
    }

    /// Runs a script that calls its last argument with the answer.
    ///
    /// # Errors
    /// Where the script fails or does not answer within the driver's time.
    pub async fn script_async(&self, script: &str, arguments: Vec<Value>) -> Result<Value> {
        Ok(self.client.execute_async(script, arguments).await?)
    }

    /// Clicks until a script answers `true`: a page that is drawn anew just then takes a click elsewhere, and its user clicks
    /// again.
    ///
    /// # Errors
    /// Where it does not within [`LONG`].
    pub async fn click_until(&self, selector: &str, what: &str, script: &str) -> Result<()> {
        const AGAIN: Duration = Duration::from_secs(3);
        let began = Instant::now();
        self.find(selector).await?.click().await?;
        let mut clicked = Instant::now();
        while began.elapsed() < LONG && self.script(script).await? != json!(true) {
            if clicked.elapsed() > AGAIN
                && let Ok(still_there) = self.client.find(Locator::Css(selector)).await
            {
                // It may go in this moment.
                let _gone = still_there.click().await;
                clicked = Instant::now();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.until(what, script).await
    }

    /// Clicks what there is by a selector, as soon as it is there. A line of a list may be another element a moment later: it
    /// is found and clicked at once.
    ///
    /// # Errors
    /// As [`Self::until`].
    pub async fn click(&self, selector: &str) -> Result<()> {
        let script = format!(
            "const it = document.querySelector(`{selector}`); if (it === null) return false; it.click(); return true;"
        );
        self.until(selector, &script).await
    }

    /// Waits until a script answers `true`.
    ///
    /// # Errors
    /// Where it does not within [`LONG`].
    pub async fn until(&self, what: &str, script: &str) -> Result<()> {
        let began = Instant::now();
        while self.script(script).await? != json!(true) {
            if began.elapsed() > LONG {
                let page = self.script("return document.body.innerText").await?;
                bail!("waited in vain for {what}; the page says: {page}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}
