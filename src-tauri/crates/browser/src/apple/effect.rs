//! What an act did to a page, as the page and the list of tabs tell: there are no events to hear.

use std::time::Duration;

use desktop::{Acted, DesktopError, Evidence};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::act::Grip;
use super::{AppleBrowser, Page, State};
use crate::effect::meaning;
use crate::script::After;
use crate::{Tab, WebActed};

/// How long a page may take to show what an act did. One look takes an osascript.
const SETTLE: Duration = Duration::from_millis(900);
const LOOK_AGAIN: Duration = Duration::from_millis(60);
/// Longer than this only a page with a dialog lets us wait.
const SILENCE: Duration = Duration::from_secs(4);

impl AppleBrowser {
    /// What an act did, looked for until something is seen or the page has had its time.
    pub(super) async fn judge(&self, state: &mut State, grip: &Grip) -> Acted {
        let spot = &grip.page.spot;
        let read_back = |note: String| Acted { evidence: Evidence::ReadBack, note };
        let end = Instant::now() + SETTLE;
        let after = loop {
            match self.talk.ask_again::<After>(spot, "after", json!({}), SILENCE).await {
                Ok(Some(now)) => {
                    if now.altered || now.changes > 0 || Instant::now() >= end {
                        break now;
                    }
                }
                Ok(None) | Err(DesktopError::NotAvailable(_)) => {
                    let arrived = self.arrived(state, &grip.page, None).await;
                    return read_back(format!("the page went to {}", arrived.url));
                }
                Err(DesktopError::NotFound(_)) => return read_back("the tab was closed by it".into()),
                Err(error) => return Acted { evidence: Evidence::Sent, note: error.to_string() },
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        let _done: Result<Option<Value>, _> = self.talk.ask_again(spot, "finish", json!({}), SILENCE).await;
        if let Some(tab) = self.opened(state, grip).await {
            return read_back(format!("a new tab opened: {}", tab.reference));
        }
        meaning(Some(&after))
    }

    pub(super) async fn outcome(
        &self,
        state: &mut State,
        grip: &Grip,
        called: String,
        acted: Acted,
    ) -> WebActed {
        let opened = self.opened(state, grip).await;
        let Tab { url, title, .. } = state.tab(&grip.page);
        WebActed { acted, called, at: None, url, title, dialog: None, opened }
    }

    /// A tab that is newer than the act.
    async fn opened(&self, state: &mut State, grip: &Grip) -> Option<Tab> {
        let app = grip.page.spot.app;
        self.list(state, app).await.ok()?;
        let number = state.tabs.of(app).map(|known| known.number).max().filter(|&new| new > grip.newest)?;
        let views = state.tabs.views(app);
        views.into_iter().find(|tab| tab.reference == format!("ta{number}"))
    }

    /// The tab as it is now.
    pub(super) async fn tab(&self, state: &mut State, page: &Page) -> Tab {
        if let Err(error) = self.list(state, page.spot.app).await {
            tracing::debug!(%error, "the tabs are not listed anew");
        }
        state.tab(page)
    }
}

impl State {
    /// The tab as it was last listed.
    fn tab(&self, page: &Page) -> Tab {
        let views = self.tabs.views(page.spot.app);
        let name = super::look::reference(page);
        views.into_iter().find(|tab| tab.reference == name).unwrap_or_default()
    }
}
