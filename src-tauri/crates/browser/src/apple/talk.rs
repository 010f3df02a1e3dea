//! Asking a browser by `script.js`: wishes as JSON, answers as types, refusals in the crate's words. Whether a wish is
//! carried by osascript or by a test is [`Osa`]'s business.

use std::sync::Arc;
use std::time::Duration;

use desktop::DesktopError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::app::{self, App};
use super::refusal::{EVENT, Refusal, explain, late, mute};
use crate::Reply;
use crate::script::COLLECTOR;

/// The source that osascript runs.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Runs [`SCRIPT`] with one argument, and answers what it returned.
pub(crate) trait Osa: Send + Sync {
    fn run(&self, wish: String, within: Duration) -> Reply<'_, String>;
}

/// Where a tab was when it was last listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) app: &'static App,
    pub(super) window: String,
    /// `None` in Safari, whose tabs have only a place.
    pub(super) id: Option<String>,
    pub(super) place: usize,
}

/// A window with pages, as it is listed from front to back.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Window {
    pub(super) id: String,
    /// Left, top, width and height in points.
    pub(super) bounds: Option<[f64; 4]>,
    /// The place of the tab in front; below zero where it is not known.
    pub(super) current: i64,
    pub(super) tabs: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Listed {
    pub(super) id: Option<String>,
    pub(super) url: String,
    pub(super) title: String,
}

/// Where a tab is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way<'a> {
    To(&'a str),
    Back,
    Forward,
    Reload,
}

/// How far a tab is brought to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// Of its window.
    Window,
    /// Of everything: its application gets the keyboard.
    Screen,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    value: Value,
    error: Option<Refusal>,
}

/// What became of a call into a page.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PageReply {
    value: Value,
    absent: bool,
    mute: bool,
    failed: Option<String>,
}

pub(super) struct Talk {
    osa: Arc<dyn Osa>,
    /// Names the collector in its document; no page can guess it.
    key: String,
}

impl Talk {
    pub(super) fn new(osa: Arc<dyn Osa>, key: String) -> Self {
        Self { osa, key }
    }

    /// Which of the known browsers run.
    pub(super) async fn running(&self) -> Result<Vec<&'static App>, DesktopError> {
        let bundles: Vec<&str> = app::all().map(|app| app.bundle).collect();
        let wish = json!({ "action": "running", "bundles": bundles });
        let answer = self.osa.run(wish.to_string(), EVENT).await?;
        let found: Vec<String> = read(&app::SAFARI, &answer)?;
        Ok(found.iter().filter_map(|bundle| app::by_bundle(bundle)).collect())
    }

    pub(super) async fn windows(&self, app: &'static App) -> Result<Vec<Window>, DesktopError> {
        self.wish(app, json!({ "action": "list" }), EVENT).await
    }

    /// Calls one of the collector's functions in a tab; the collector is put there first where it is not yet.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        spot: &Spot,
        function: &str,
        ask: Value,
    ) -> Result<T, DesktopError> {
        let told = self.call(spot, function, ask, COLLECTOR.into(), EVENT).await?;
        told.ok_or_else(|| DesktopError::Failed("the page was replaced while it was looked at".into()))
    }

    /// The same in the document that has the collector already; `None` if that was replaced.
    pub(super) async fn ask_again<T: DeserializeOwned>(
        &self,
        spot: &Spot,
        function: &str,
        ask: Value,
        within: Duration,
    ) -> Result<Option<T>, DesktopError> {
        self.call(spot, function, ask, Value::Null, within).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        spot: &Spot,
        function: &str,
        ask: Value,
        collector: Value,
        within: Duration,
    ) -> Result<Option<T>, DesktopError> {
        let wish = json!({
            "action": "call", "key": self.key, "function": function, "ask": ask, "collector": collector,
        });
        let told: PageReply = self.wish(spot.app, at(wish, spot), within).await?;
        match told {
            PageReply { mute: true, .. } => Err(mute(spot.app)),
            PageReply { absent: true, .. } => Ok(None),
            PageReply { failed: Some(why), .. } => {
                let why = why.lines().next().unwrap_or_default().to_owned();
                Err(DesktopError::Failed(format!("looking into the page failed: {why}")))
            }
            PageReply { value, .. } => serde_json::from_value(value).map(Some).map_err(|error| {
                DesktopError::Failed(format!("the page's answer to {function} cannot be read: {error}"))
            }),
        }
    }

    pub(super) async fn go(&self, spot: &Spot, way: Way<'_>) -> Result<(), DesktopError> {
        let (way, url) = match way {
            Way::To(url) => ("to", Some(url)),
            Way::Back => ("back", None),
            Way::Forward => ("forward", None),
            Way::Reload => ("reload", None),
        };
        let wish = json!({ "action": "go", "way": way, "url": url });
        self.wish(spot.app, at(wish, spot), EVENT).await.map(nothing)
    }

    pub(super) async fn show(&self, spot: &Spot, front: Front) -> Result<(), DesktopError> {
        let wish = json!({ "action": "show", "raise": front == Front::Screen });
        self.wish(spot.app, at(wish, spot), EVENT).await.map(nothing)
    }

    /// In a new tab of the window in front, or a new window where there is none; starts the application.
    pub(super) async fn open(&self, app: &'static App, url: &str) -> Result<(), DesktopError> {
        let wish = json!({ "action": "open", "url": url });
        // An application that is started takes longer.
        self.wish(app, wish, EVENT * 3).await.map(nothing)
    }

    pub(super) async fn close(&self, spot: &Spot) -> Result<(), DesktopError> {
        self.wish(spot.app, at(json!({ "action": "close" }), spot), EVENT).await.map(nothing)
    }

    async fn wish<T: DeserializeOwned>(
        &self,
        app: &'static App,
        mut wish: Value,
        within: Duration,
    ) -> Result<T, DesktopError> {
        wish["bundle"] = app.bundle.into();
        wish["family"] = app.family.word().into();
        let answer = self.osa.run(wish.to_string(), within).await.map_err(|error| late(app, error))?;
        read(app, &answer)
    }
}

/// What an action without an answer answers.
fn nothing(_: Value) {}

fn at(mut wish: Value, spot: &Spot) -> Value {
    wish["window"] = spot.window.as_str().into();
    wish["id"] = spot.id.as_deref().into();
    wish["place"] = spot.place.into();
    wish
}

fn read<T: DeserializeOwned>(app: &App, answer: &str) -> Result<T, DesktopError> {
    let unread = |error: serde_json::Error| {
        DesktopError::Failed(format!("the answer of {} cannot be read: {error}", app.name))
    };
    let answer: Answer = serde_json::from_str(answer).map_err(unread)?;
    match answer.error {
        Some(refusal) => Err(explain(app, &refusal)),
        None => serde_json::from_value(answer.value).map_err(unread),
    }
}

#[cfg(test)]
mod tests;
