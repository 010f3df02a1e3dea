//! The eyes and hands of a scripted mind: the public tools, called through the router as a model calls them, and
//! nothing else. What a page is made of, where it is on the screen and what it wants, it knows from their answers alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use browser::WebElement;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Call, Executed, Limits, Router};

use crate::browser_stage::Stage;
use crate::stage::{limits, request};

/// A task of MiniWoB++, and who solves it.
pub struct Task {
    pub name: &'static str,
    pub solve: for<'a> fn(&'a Mind) -> BoxFuture<'a, Result<()>>,
}

/// `"click-test" => clicking_the_only_button`, one for each task.
macro_rules! tasks {
    ($($name:literal => $solve:path),* $(,)?) => {
        pub fn tasks() -> Vec<crate::mind::Task> {
            vec![$(crate::mind::Task { name: $name, solve: |mind| Box::pin($solve(mind)) }),*]
        }
    };
}
pub(crate) use tasks;

/// A machine may be busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// What follows the task's own text on every page.
const SCORES: &str = "Last reward:";

/// Which elements are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum See {
    /// What can be clicked or filled.
    Active,
    /// Text, pictures and shapes too.
    All,
    /// Out of view, too.
    Page,
}

/// A point in 0-1000 of the display.
pub type Point = (f64, f64);

pub struct Mind {
    router: Router,
    limits: Arc<Limits>,
    used: Mutex<BTreeMap<String, u32>>,
}

impl Mind {
    pub fn on(stage: &Stage) -> Self {
        let limits = Limits {
            batch_delay: Duration::ZERO,
            batch_actions: 40,
            ui_nodes: 600,
            data_chars: 20_000,
            settle: Duration::ZERO,
            ..limits()
        };
        let router = Router::builtin(stage.desktop.clone()).with_browser(stage.browser.clone());
        Self { router, limits: Arc::new(limits), used: Mutex::default() }
    }

    /// Calls a tool; its data. What it could not do is an error.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value> {
        Ok(self.execute(tool, arguments).await?.result.data)
    }

    async fn execute(&self, tool: &str, arguments: Value) -> Result<Executed> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner).entry(tool.into()).or_default() += 1;
        let (request, cancel) = (request(tool, arguments), CancellationToken::new());
        let done = self.router.execute(Call { request, cancel, limits: self.limits.clone() }).await;
        match &done.result.error {
            Some(error) => bail!("{tool}: {}", error.message),
            None => Ok(done),
        }
    }

    /// The tools called since it was last asked: `webRead 1, webClick 2`.
    pub fn used(&self) -> String {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        used.iter().map(|(tool, times)| format!("{tool} {times}")).collect::<Vec<_>>().join(", ")
    }

    /// The page's text: first the line that says what is to be done, then the rest.
    pub async fn read(&self) -> Result<(String, Vec<String>)> {
        let data = self.call("webRead", json!({})).await?;
        let text = data["text"].as_str().unwrap_or_default();
        let text = text.split(SCORES).next().unwrap_or_default();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        Ok((lines.next().unwrap_or_default(), lines.collect()))
    }

    /// What is to be done.
    pub async fn task(&self) -> Result<String> {
        Ok(self.read().await?.0)
    }

    pub async fn elements(&self, see: See) -> Result<Vec<WebElement>> {
        let arguments = match see {
            See::Active => json!({}),
            See::All => json!({ "all": true }),
            See::Page => json!({ "all": true, "wholePage": true }),
        };
        let data = self.call("webElements", arguments).await?;
        Ok(serde_json::from_value(data["elements"].clone())?)
    }

    /// Looks until the page shows what is wanted.
    pub async fn seek<T>(
        &self,
        what: &str,
        see: See,
        pick: impl Fn(&[WebElement]) -> Option<T>,
    ) -> Result<T> {
        self.seek_for(PATIENCE, what, see, pick).await
    }

    pub async fn seek_for<T>(
        &self,
        patience: Duration,
        what: &str,
        see: See,
        pick: impl Fn(&[WebElement]) -> Option<T>,
    ) -> Result<T> {
        let end = Instant::now() + patience;
        loop {
            let seen = self.elements(see).await?;
            if let Some(found) = pick(&seen) {
                return Ok(found);
            }
            if Instant::now() >= end {
                let shown: Vec<_> = seen
                    .iter()
                    .map(|one| format!("{} {:?} {:?} {:?}", one.role, one.name, one.hint, one.states))
                    .collect();
                bail!("no {what} among {shown:?}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The element of this name, of those that can be clicked or filled.
    pub async fn named(&self, name: &str) -> Result<WebElement> {
        let is = |one: &&WebElement| one.name == name;
        self.seek(name, See::Active, |seen| seen.iter().find(is).cloned()).await
    }

    /// All of this role, from top to bottom and from left to right.
    pub async fn of_role(&self, role: &str) -> Result<Vec<WebElement>> {
        let is = |one: &&WebElement| one.role == role;
        let pick = |seen: &[WebElement]| {
            let found: Vec<_> = seen.iter().filter(is).cloned().collect();
            (!found.is_empty()).then(|| in_order(found))
        };
        self.seek(role, See::Active, pick).await
    }

    /// The one that comes at this place among those of its role; 0 is the first.
    pub async fn nth(&self, role: &str, index: usize) -> Result<WebElement> {
        let pick = |seen: &[WebElement]| {
            in_order(seen.iter().filter(|one| one.role == role).cloned().collect()).into_iter().nth(index)
        };
        self.seek(&format!("{role} {index}"), See::Active, pick).await
    }

    /// Clicks in the page, which needs no pointer; again where the tool says that it met something else, as it does
    /// with what moves when it is pointed at.
    pub async fn web_click(&self, element: &WebElement) -> Result<()> {
        for _ in 0..3 {
            let done = self.execute("webClick", json!({ "ref": element.reference })).await?;
            if !done.result.data["note"].as_str().is_some_and(|note| note.contains("it went to ")) {
                return Ok(());
            }
        }
        bail!("clicks on {} {:?} meet something else", element.role, element.name)
    }

    /// Clicks with the real pointer where it can be seen that it meets the element, else in the page.
    pub async fn click(&self, element: &WebElement) -> Result<()> {
        if has(element, "offscreen") || has(element, "covered") {
            return self.web_click(element).await;
        }
        self.point(middle(element)).await
    }

    pub async fn click_named(&self, name: &str) -> Result<()> {
        self.click(&self.named(name).await?).await
    }

    /// Clicks with the real pointer.
    pub async fn point(&self, at: Point) -> Result<()> {
        self.call("click", json!({ "x": at.0, "y": at.1 })).await.map(drop)
    }

    /// The same at several places, with no look in between.
    pub async fn points(&self, places: &[Point]) -> Result<()> {
        let click = |(x, y): &Point| json!({ "tool": "click", "arguments": { "x": x, "y": y } });
        if places.is_empty() {
            return Ok(());
        }
        let actions: Vec<Value> = places.iter().map(click).collect();
        self.call("batch", json!({ "actions": actions })).await.map(drop)
    }

    /// Fills a field, or chooses an option.
    pub async fn fill(&self, field: &WebElement, text: &str) -> Result<()> {
        self.call("webType", json!({ "ref": field.reference, "text": text })).await.map(drop)
    }

    pub async fn drag(&self, path: &[Point]) -> Result<()> {
        let path: Vec<_> = path.iter().map(|(x, y)| json!({ "x": x, "y": y })).collect();
        self.call("drag", json!({ "path": path })).await.map(drop)
    }

    pub async fn press(&self, key: &str, times: u32) -> Result<()> {
        self.call("press", json!({ "key": key, "times": times })).await.map(drop)
    }

    /// Turns the wheel, and waits until the screen has changed and come to rest.
    pub async fn scroll(&self, at: Point, down: i32) -> Result<()> {
        let before = self.sight().await?;
        self.call("scroll", json!({ "x": at.0, "y": at.1, "down": down })).await?;
        let end = Instant::now() + PATIENCE;
        let mut last = before;
        loop {
            let now = self.sight().await?;
            if (now != before && now == last) || Instant::now() >= end {
                return Ok(());
            }
            last = now;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// What tells one screenshot from another.
    async fn sight(&self) -> Result<u64> {
        let picture = self.execute("screenshot", json!({})).await?.picture;
        Ok(picture.context("a screenshot is without a picture")?.pixels)
    }

    pub async fn hotkey(&self, keys: &[&str]) -> Result<()> {
        self.call("hotkey", json!({ "keys": keys })).await.map(drop)
    }

    /// How much longer a thousandth of the display is across than down.
    pub async fn wide(&self) -> Result<f64> {
        let data = self.call("displays", json!({})).await?;
        let bounds = &data["displays"][0]["bounds"];
        let size = |word: &str| bounds[word].as_f64().context("the display has no size");
        Ok(size("width")? / size("height")?)
    }

    /// Waits for one look that is like the one before, for what moves.
    pub async fn still(&self, name: &str) -> Result<WebElement> {
        let mut last = self.named(name).await?;
        let end = Instant::now() + PATIENCE;
        loop {
            tokio::time::sleep(Duration::from_millis(60)).await;
            let now = self.named(name).await?;
            if now.bounds == last.bounds || Instant::now() >= end {
                return Ok(now);
            }
            last = now;
        }
    }
}

pub fn in_order(mut elements: Vec<WebElement>) -> Vec<WebElement> {
    elements.sort_by(|one, other| {
        (one.bounds.y, one.bounds.x).partial_cmp(&(other.bounds.y, other.bounds.x)).unwrap()
    });
    elements
}

pub fn middle(element: &WebElement) -> Point {
    let bounds = &element.bounds;
    (bounds.x + bounds.width / 2.0, bounds.y + bounds.height / 2.0)
}

pub fn has(element: &WebElement, state: &str) -> bool {
    element.states.iter().any(|one| one == state)
}

/// Whether its hint names this id, class or picture.
pub fn hinted(element: &WebElement, word: &str) -> bool {
    element.hint.split([' ', ',']).any(|part| part == word)
}
