//! The browsers of macOS by Apple events: Safari, and Chromium and its kin where none lets itself be debugged.
//!
//! The same collector as by CDP runs in the pages. Chromium gives it a world of its own; Safari runs it in the page's
//! world, under a name that no page can guess but that a page which looks for it can find. Frames of other sites
//! cannot be looked into. Clicks are the real pointer's; text is put in by script, which takes the keyboard from no
//! other window.
//!
//! Written from the dictionaries of the applications. The scripts and all rules are tested on Linux, in a real
//! Chromium that plays the applications; on macOS none of it has been run by this project.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use desktop::{Desktop, DesktopError};
use protocol::view::DisplayView;
use tokio::sync::Mutex;

use self::join::View;
use self::tabs::TabTable;
use self::talk::{Spot, Talk, Window};
use crate::address::check_page;
use crate::page_transform::PageTransform;

pub(crate) use self::app::App;
pub(crate) use self::talk::Osa;

mod act;
mod app;
mod effect;
mod go;
mod join;
mod look;
mod refusal;
mod tabs;
mod talk;
mod write;

// They start a private X server and a Chromium, as all tests of real programs do.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

/// Refs that are remembered.
const REFS: usize = 20_000;

pub(crate) struct AppleBrowser {
    talk: Talk,
    desktop: Arc<dyn Desktop>,
    state: Mutex<State>,
}

struct State {
    tabs: TabTable,
    refs: BTreeMap<u64, Ref>,
    /// The next element's number.
    next: u64,
    /// Where the page of a tab was measured to be, and the geometry it had then.
    places: HashMap<u64, (Vec<f64>, PageTransform)>,
}

/// What a ref stands for.
#[derive(Clone, Debug)]
struct Ref {
    tab: u64,
    role: String,
    name: String,
}

/// A tab that is worked on.
#[derive(Clone, Debug)]
struct Page {
    number: u64,
    spot: Spot,
    /// Of its window, in points.
    bounds: Option<[f64; 4]>,
}

impl AppleBrowser {
    pub(crate) fn new(osa: Arc<dyn Osa>, key: String, desktop: Arc<dyn Desktop>) -> Self {
        let state =
            State { tabs: TabTable::default(), refs: BTreeMap::new(), next: 1, places: HashMap::new() };
        Self { talk: Talk::new(osa, key), desktop, state: Mutex::new(state) }
    }

    pub(crate) async fn running(&self) -> Vec<&'static App> {
        self.talk.running().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "which browsers run is not known");
            Vec::new()
        })
    }

    async fn list(&self, state: &mut State, app: &'static App) -> Result<Vec<Window>, DesktopError> {
        let windows = self.talk.windows(app).await?;
        state.tabs.learn(app, &windows);
        Ok(windows)
    }

    /// The tab in front of an application, listed anew.
    async fn front(&self, state: &mut State, app: &'static App) -> Result<Page, DesktopError> {
        let windows = self.list(state, app).await?;
        let known = state.tabs.front(app).ok_or_else(|| {
            DesktopError::NotFound(format!("a window of {} with a page; open one with webNavigate", app.name))
        })?;
        Ok(Page { number: known.number, spot: known.spot.clone(), bounds: bounds(&windows, &known.spot) })
    }

    /// A tab that was listed, listed anew.
    async fn page(&self, state: &mut State, number: u64) -> Result<Option<Page>, DesktopError> {
        let Some(app) = state.tabs.number(number).map(|known| known.spot.app) else { return Ok(None) };
        let windows = self.list(state, app).await?;
        Ok(state.tabs.number(number).map(|known| Page {
            number,
            spot: known.spot.clone(),
            bounds: bounds(&windows, &known.spot),
        }))
    }

    fn check_fence(&self, app: &App) -> Result<(), DesktopError> {
        desktop::fence::check_app(&self.desktop.fenced(), &[app.name])
    }

    async fn display(&self, index: u32) -> Option<DisplayView> {
        let displays = self.desktop.displays().await.ok()?;
        displays.into_iter().find(|display| display.index == index)
    }
}

fn bounds(windows: &[Window], spot: &Spot) -> Option<[f64; 4]> {
    windows.iter().find(|window| window.id == spot.window)?.bounds
}

impl Page {
    fn view<'a>(&self, geometry: &'a [f64], display: &DisplayView) -> View<'a> {
        View { family: self.spot.app.family, geometry, bounds: self.bounds, scale: display.scale.0 }
    }
}

impl State {
    /// Refuses a tab that shows no web page.
    fn check_web(&self, page: &Page) -> Result<(), DesktopError> {
        check_page(self.tabs.number(page.number).map_or("", |known| &known.url))
    }

    /// As measured where the window has not changed since, else as its sizes say.
    fn place(&self, page: &Page, geometry: &[f64], display: &DisplayView) -> Option<PageTransform> {
        match self.places.get(&page.number) {
            Some((then, place)) if then == geometry => Some(*place),
            _ => page.view(geometry, display).guessed(),
        }
    }

    fn remember(&mut self, id: u64, known: Ref) {
        self.refs.insert(id, known);
        while self.refs.len() > REFS {
            self.refs.pop_first();
        }
    }
}

/// macOS's own osascript, in a child that is killed when nobody waits for it any more.
#[cfg(target_os = "macos")]
pub(crate) struct Osascript;

#[cfg(target_os = "macos")]
impl Osa for Osascript {
    fn run(&self, wish: String, within: std::time::Duration) -> crate::Reply<'_, String> {
        Box::pin(desktop::osascript::run_javascript(talk::SCRIPT, wish, within))
    }
}

/// The browser whose window is the first of these, from top to bottom.
pub(crate) fn topmost<'a>(owners: impl IntoIterator<Item = &'a str>) -> Option<&'static App> {
    owners.into_iter().find_map(app::named)
}

impl App {
    pub(crate) fn is_safari(&self) -> bool {
        self.family == app::Family::Safari
    }
}

/// All of them.
#[cfg(target_os = "macos")]
pub(crate) fn known() -> impl Iterator<Item = desktop::ScriptedApp> {
    app::all().map(|app| desktop::ScriptedApp { name: app.name.into(), bundle: app.bundle.into() })
}

/// The one that every Mac has.
pub(crate) fn safari() -> &'static App {
    &app::SAFARI
}
