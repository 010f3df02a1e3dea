//! Where tabs go: addresses, back and forward, reload; tabs opened, activated and closed. Waits are bounded.

use std::time::Duration;

use desktop::DesktopError;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::address::checked_url;
use crate::cdp::CdpBrowser;
use crate::live::{Live, Page, shown};
use crate::{Arrived, Journey, Loaded, Tab, TabChange};

/// A page that loads longer is left loading.
const LOAD: Duration = Duration::from_secs(15);
/// A tab that goes, or an entry of the history that comes.
const SOON: Duration = Duration::from_secs(4);

impl CdpBrowser {
    pub(crate) async fn navigate_now(&self, journey: Journey) -> Result<Arrived, DesktopError> {
        let mut held = self.held().await?;
        let live = held.live()?;
        if let Journey::To(url) = &journey {
            let url = checked_url(url)?;
            if !live.has_tabs() {
                let page = live.open_tab(url).await?;
                return live.arrived(&page, 0).await;
            }
        }
        let Some((page, _)) = live.front_to_go_in().await? else {
            let Journey::To(url) = &journey else {
                let its = "a tab of this run; another run works in the one in front: webNavigate opens one";
                return Err(DesktopError::NotFound(its.into()));
            };
            let page = live.open_tab(checked_url(url)?).await?;
            return live.arrived(&page, 0).await;
        };
        live.clear_of_dialogs(&page)?;
        let documents = live.documents(&page);
        let least = match &journey {
            Journey::To(url) => {
                let answer = live.go_to(&page, checked_url(url)?).await?;
                // Within the same document there is no new one to wait for.
                let fresh = answer.is_some_and(|answer| answer["loaderId"].is_string());
                documents + u64::from(fresh)
            }
            Journey::Reload => {
                live.check_web(&page.target)?;
                live.command(&page, "Page.reload", json!({})).await?;
                documents + 1
            }
            Journey::Back | Journey::Forward => {
                live.check_web(&page.target)?;
                let by = if journey == Journey::Back { -1 } else { 1 };
                return live.go_by(&page, by).await;
            }
        };
        live.arrived(&page, least).await
    }

    pub(crate) async fn change_tab_now(&self, change: TabChange) -> Result<Vec<Tab>, DesktopError> {
        let mut held = self.held().await?;
        let live = held.live()?;
        match change {
            TabChange::Activate(tab) => {
                let target = live.target_of(&tab).await?;
                live.wire.call(None, "Target.activateTarget", json!({ "targetId": target })).await?;
                live.outlooks.take(&target);
            }
            TabChange::Open(url) => {
                let page = live.open_tab(checked_url(&url)?).await?;
                live.arrived(&page, 0).await?;
            }
            TabChange::Close(tab) => {
                let target = live.target_of(&tab).await?;
                let page = live.page(&target).await?;
                live.clear_of_dialogs(&page)?;
                live.wire.call(Some(&page.session), "Page.close", json!({})).await?;
                let gone = |state: &crate::state::BrowserState| {
                    let asks = state.pages.get(&page.session).is_some_and(|page| page.dialog.is_some());
                    (asks || !state.targets.contains_key(&target)).then_some(())
                };
                let closed = live.wire.until(SOON, gone).await;
                live.clear_of_dialogs(&page)?;
                closed.ok_or(DesktopError::Timeout(SOON))?;
                live.forget(&target);
                if live.has_tabs() {
                    live.front().await?;
                }
            }
        }
        live.tabs().await
    }
}

impl Live {
    async fn open_tab(&mut self, url: &str) -> Result<Page, DesktopError> {
        let made = self.wire.call(None, "Target.createTarget", json!({ "url": url })).await?;
        let target = made["targetId"].as_str().unwrap_or_default().to_owned();
        let known = |state: &crate::state::BrowserState| state.targets.contains_key(&target).then_some(());
        self.wire.until(SOON, known).await;
        self.outlooks.take(&target);
        self.page(&target).await
    }

    fn forget(&mut self, target: &str) {
        self.outlooks.forget(target);
        self.places.remove(target);
    }

    fn documents(&self, page: &Page) -> u64 {
        self.wire.look(|state| state.pages.get(&page.session).map_or(0, |page| page.documents))
    }

    /// A command that a question of the page may hold up.
    async fn command(
        &self,
        page: &Page,
        command: &'static str,
        parameters: Value,
    ) -> Result<Option<Value>, DesktopError> {
        let sent = self.wire.send(Some(&page.session), command, parameters).await?;
        let session = &page.session;
        tokio::select! {
            answer = sent.answer(LOAD) => Ok(Some(answer?)),
            Some(_) = self.wire.until(LOAD, |state| state.pages.get(session)?.dialog.clone()) => Ok(None),
        }
    }

    async fn go_to(&self, page: &Page, url: &str) -> Result<Option<Value>, DesktopError> {
        let answer = self.command(page, "Page.navigate", json!({ "url": url })).await?;
        let error = answer.as_ref().and_then(|answer| answer["errorText"].as_str()).unwrap_or_default();
        match error {
            "" => Ok(answer),
            "net::ERR_ABORTED" => Err(DesktopError::Failed(format!(
                "{url} opened no page: it is a download, or has no content, or the page refused to be left"
            ))),
            error => Err(DesktopError::Failed(format!("{url} cannot be opened: {error}"))),
        }
    }

    async fn go_by(&mut self, page: &Page, step: i64) -> Result<Arrived, DesktopError> {
        let session = Some(page.session.as_str());
        let history = self.wire.call(session, "Page.getNavigationHistory", json!({})).await?;
        let wanted = history["currentIndex"].as_i64().unwrap_or_default() + step;
        let entry = usize::try_from(wanted).ok().and_then(|index| history["entries"].get(index));
        let Some(entry) = entry else {
            let way = if step < 0 { "back" } else { "forward" };
            return Err(DesktopError::BadInput(format!("there is no page to go {way} to")));
        };
        let go = json!({ "entryId": entry["id"] });
        self.command(page, "Page.navigateToHistoryEntry", go).await?;
        let end = Instant::now() + SOON;
        // Entries of one document change nothing that events tell.
        while self.dialog(page).is_none() && Instant::now() < end {
            // Between two documents there is no page to ask.
            let now = self.wire.call(session, "Page.getNavigationHistory", json!({})).await;
            if now.is_ok_and(|now| now["currentIndex"].as_i64() == Some(wanted)) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.arrived(page, self.documents(page)).await
    }

    /// Waits until the page is there, and says where that is.
    async fn arrived(&mut self, page: &Page, least: u64) -> Result<Arrived, DesktopError> {
        let end = Instant::now() + LOAD;
        let tab = self.tab_name(&page.target);
        loop {
            let calm = self.loaded(page, least, end.saturating_duration_since(Instant::now())).await;
            if let Some(dialog) = self.tell_dialog(page) {
                let there = self.tab(&page.target).await;
                tracing::debug!(dialog = shown(&dialog), "a journey met a dialog");
                return Ok(Arrived {
                    tab,
                    url: there.url,
                    title: there.title,
                    status: None,
                    loaded: Loaded::StillLoading,
                    dialog: Some(dialog),
                });
            }
            let about = self.about(page).await;
            let whole = calm.is_some() && about.ready == "complete";
            if whole || Instant::now() >= end {
                return Ok(Arrived {
                    tab,
                    url: about.url,
                    title: about.title,
                    status: (about.status > 0).then_some(about.status),
                    loaded: if whole { Loaded::Wholly } else { Loaded::StillLoading },
                    dialog: None,
                });
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
