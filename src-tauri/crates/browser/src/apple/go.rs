//! Where tabs go by Apple events: addresses, back and forward, reload; tabs opened, activated and closed. Documents are
//! told apart by when they came to be. Waits are bounded.

use std::time::Duration;

use desktop::DesktopError;
use serde_json::json;
use tokio::time::Instant;

use super::look::reference;
use super::talk::{Front, Way};
use super::{App, AppleBrowser, Page, State, tabs};
use crate::address::checked_url;
use crate::script::About;
use crate::{Arrived, Journey, Loaded, Tab, TabChange};

/// A page that loads longer is left loading.
const LOAD: Duration = Duration::from_secs(15);
/// A journey that has not begun by then is over: it led to where the page was already, or nowhere.
const SOON: Duration = Duration::from_secs(4);
const LOOK_AGAIN: Duration = Duration::from_millis(120);

impl AppleBrowser {
    pub(crate) async fn tabs(&self, app: &'static App) -> Result<Vec<Tab>, DesktopError> {
        let mut state = self.state.lock().await;
        self.list(&mut state, app).await?;
        Ok(state.tabs.views(app))
    }

    pub(crate) async fn navigate(
        &self,
        app: &'static App,
        journey: Journey,
    ) -> Result<Arrived, DesktopError> {
        self.check_fence(app)?;
        let mut state = self.state.lock().await;
        let way = match &journey {
            Journey::To(url) => Way::To(checked_url(url)?),
            Journey::Back => Way::Back,
            Journey::Forward => Way::Forward,
            Journey::Reload => Way::Reload,
        };
        let front = self.front(&mut state, app).await;
        let page = match (front, way) {
            (Ok(page), _) => page,
            // Not running, or without a window.
            (Err(DesktopError::NotAvailable(_) | DesktopError::NotFound(_)), Way::To(url)) => {
                return self.open(&mut state, app, url).await;
            }
            (Err(error), _) => return Err(error),
        };
        let before: Option<About> = self.talk.ask(&page.spot, "about", json!({})).await.ok();
        self.talk.go(&page.spot, way).await?;
        let begun = Instant::now();
        if matches!(way, Way::Back | Way::Forward)
            && let Some(before) = &before
        {
            while !self.has_moved(&page, before).await {
                if begun.elapsed() >= SOON {
                    let way = if way == Way::Back { "back" } else { "forward" };
                    return Err(DesktopError::BadInput(format!("there is no page to go {way} to")));
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
        Ok(self.arrived(&mut state, &page, before.as_ref()).await)
    }

    pub(crate) async fn change_tab(
        &self,
        app: &'static App,
        change: TabChange,
    ) -> Result<Vec<Tab>, DesktopError> {
        let mut state = self.state.lock().await;
        let app = match change {
            TabChange::Open(url) => {
                self.check_fence(app)?;
                self.open(&mut state, app, checked_url(&url)?).await?;
                app
            }
            TabChange::Activate(tab) => {
                let page = self.named(&mut state, &tab).await?;
                self.talk.show(&page.spot, Front::Screen).await?;
                page.spot.app
            }
            TabChange::Close(tab) => {
                let page = self.named(&mut state, &tab).await?;
                self.talk.close(&page.spot).await?;
                state.places.remove(&page.number);
                page.spot.app
            }
        };
        self.list(&mut state, app).await?;
        Ok(state.tabs.views(app))
    }

    /// A tab that is to be changed.
    async fn named(&self, state: &mut State, tab: &str) -> Result<Page, DesktopError> {
        if let Some(number) = tabs::number(tab)
            && let Some(page) = self.page(state, number).await?
        {
            self.check_fence(page.spot.app)?;
            state.check_web(&page)?;
            return Ok(page);
        }
        Err(DesktopError::NotFound(format!("tab {tab}; list them with webTabs")))
    }

    async fn open(&self, state: &mut State, app: &'static App, url: &str) -> Result<Arrived, DesktopError> {
        self.talk.open(app, url).await?;
        let end = Instant::now() + SOON;
        let page = loop {
            // A window that was asked for takes a moment to come.
            match self.front(state, app).await {
                Ok(page) => break page,
                Err(error) if Instant::now() >= end => return Err(error),
                Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        };
        Ok(self.arrived(state, &page, None).await)
    }

    async fn has_moved(&self, page: &Page, before: &About) -> bool {
        let now: Result<About, _> = self.talk.ask(&page.spot, "about", json!({})).await;
        now.is_ok_and(|now| is_another(&now, before))
    }

    /// Waits until the page is there, and says where that is. A page that lets no script in is told of by its tab.
    pub(super) async fn arrived(&self, state: &mut State, page: &Page, before: Option<&About>) -> Arrived {
        let begun = Instant::now();
        loop {
            let late = begun.elapsed() >= LOAD;
            match self.talk.ask::<About>(&page.spot, "about", json!({})).await {
                Ok(now) => {
                    let moved = before.is_none_or(|before| is_another(&now, before));
                    let whole = now.ready == "complete" && (moved || begun.elapsed() >= SOON);
                    if whole || late {
                        return Arrived {
                            tab: reference(page),
                            url: now.url,
                            title: now.title,
                            status: (now.status > 0).then_some(now.status),
                            loaded: if whole { Loaded::Wholly } else { Loaded::StillLoading },
                            dialog: None,
                        };
                    }
                }
                Err(DesktopError::NotAvailable(_)) if begun.elapsed() < SOON => {}
                Err(error) => {
                    tracing::debug!(%error, "the page tells nothing of itself");
                    let Tab { url, title, .. } = self.tab(state, page).await;
                    let (tab, loaded) = (reference(page), Loaded::StillLoading);
                    return Arrived { tab, url, title, loaded, ..Arrived::default() };
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Another document, or another place within it.
fn is_another(now: &About, before: &About) -> bool {
    now.born != before.born || now.url != before.url
}
