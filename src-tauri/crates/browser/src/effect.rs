//! What an act did to a page: dialogs, tabs and documents as events tell, and the element as the page tells.

use std::time::Duration;

use desktop::{Acted, Evidence};
use protocol::geometry::{NormPoint, PhysicalRect};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::live::{Frame, Live, Page, shown};
use crate::script::{About, After};
use crate::{Tab, WebActed};

/// How long a page may take to show what an act did.
const SETTLE: Duration = Duration::from_millis(400);
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// A document that an act called for.
const LOAD: Duration = Duration::from_secs(6);

/// What was there before an act.
pub(crate) struct Before {
    newest: u64,
    documents: u64,
}

impl Live {
    pub(crate) fn before(&self, page: &Page) -> Before {
        self.wire.look(|state| Before {
            newest: state.tabs().last().map_or(0, |(_, info)| info.born),
            documents: state.pages.get(&page.session).map_or(0, |page| page.documents),
        })
    }

    /// What an act did, looked for until something is seen or the page has had its time.
    pub(crate) async fn judge(&mut self, page: &Page, frame: &Frame, before: &Before) -> Acted {
        let end = Instant::now() + SETTLE;
        let mut after = None;
        loop {
            if let Some(acted) = self.told_by_events(page, before).await {
                return acted;
            }
            match self.ask::<After>(frame, "after", json!({})).await {
                Ok(now) => {
                    let seen = now.altered || now.changes > 0;
                    after = Some(now);
                    // What scripts do at once is seen at once; a document that is called for shows a little later.
                    if seen && Instant::now() + SETTLE / 2 >= end {
                        break;
                    }
                }
                Err(error) => tracing::debug!(%error, "the page tells nothing after the act"),
            }
            if Instant::now() >= end {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if let Some(acted) = self.told_by_events(page, before).await {
            return acted;
        }
        let _done: Result<Value, _> = self.ask(frame, "finish", json!({})).await;
        meaning(after.as_ref())
    }

    /// Dialogs, new tabs and new documents tell more than the page does.
    async fn told_by_events(&mut self, page: &Page, before: &Before) -> Option<Acted> {
        let said = |note: String| Some(Acted { evidence: Evidence::ReadBack, note });
        if let Some(dialog) = self.dialog(page) {
            return said(format!("{}; answer it with webClick: dialog accept or dismiss", shown(&dialog)));
        }
        if let Some((_, tab)) = self.opened(before) {
            return said(format!("a new tab opened: {tab}"));
        }
        let Some((documents, loading)) =
            self.wire.look(|state| state.pages.get(&page.session).map(|page| (page.documents, page.loading)))
        else {
            return said("the tab was closed by it".into());
        };
        if documents == before.documents && !loading {
            return None;
        }
        let there = self.loaded(page, 0, LOAD).await;
        if self.dialog(page).is_some() {
            return Box::pin(self.told_by_events(page, before)).await;
        }
        let about = self.about(page).await;
        if there == Some(before.documents) {
            // Something was fetched, but the document is the same.
            return None;
        }
        let still = if there.is_none() { ", which still loads" } else { "" };
        said(format!("the page went to {}{still}", about.url))
    }

    /// Waits until the main frame has had `least` documents and loads no more; their number then.
    pub(crate) async fn loaded(&self, page: &Page, least: u64, within: Duration) -> Option<u64> {
        let calm = |state: &crate::state::BrowserState| {
            let page = state.pages.get(&page.session)?;
            let whole = !page.loading && page.documents >= least;
            (whole || page.dialog.is_some()).then_some(page.documents)
        };
        self.wire.until(within, calm).await
    }

    pub(crate) async fn about(&mut self, page: &Page) -> About {
        let frame = self.main_frame(page);
        self.ask(&frame, "about", json!({})).await.unwrap_or_default()
    }

    /// The tab that was opened since, by its target and by its ref.
    fn opened(&self, before: &Before) -> Option<(String, String)> {
        let newest = self.wire.look(|state| state.tabs().last().map(|(id, info)| ((*id).clone(), info.born)));
        newest.filter(|(_, born)| *born > before.newest).map(|(target, born)| (target, format!("t{born}")))
    }

    /// A tab as it is now.
    pub(crate) async fn tab(&self, target: &str) -> Tab {
        let name = self.tab_name(target);
        let all = self.tabs().await.unwrap_or_default();
        all.into_iter().find(|tab| tab.reference == name).unwrap_or_default()
    }

    /// Where a point of the page is on the display, as last measured.
    pub(crate) fn at(&self, page: &Page, (x, y): (f64, f64), display: &PhysicalRect) -> Option<NormPoint> {
        let (_, place) = self.places.get(&page.target)?;
        place.as_ref()?.point(x, y, display)
    }

    pub(crate) async fn outcome(
        &mut self,
        page: &Page,
        before: &Before,
        called: String,
        acted: Acted,
    ) -> WebActed {
        let Tab { url, title, .. } = self.tab(&page.target).await;
        let opened = match self.opened(before) {
            Some((target, name)) => {
                self.outlooks.opened(&target);
                self.tabs().await.unwrap_or_default().into_iter().find(|tab| tab.reference == name)
            }
            None => None,
        };
        WebActed { acted, called, at: None, url, title, dialog: self.tell_dialog(page), opened }
    }
}

/// What the page itself tells of an act; `None` if it does not answer.
pub(crate) fn meaning(after: Option<&After>) -> Acted {
    let acted = |evidence, note: String| Acted { evidence, note };
    let Some(now) = after else { return acted(Evidence::Sent, "the page tells nothing of it".into()) };
    match &now.hit {
        Value::String(other) => acted(Evidence::Mismatch, format!("it went to {other} instead")),
        _ if now.altered && !now.connected => acted(Evidence::ReadBack, "it left the page".into()),
        _ if now.altered => {
            let states = if now.states.is_empty() { "no states".into() } else { now.states.join(", ") };
            let value = if now.value.is_empty() { String::new() } else { format!(", value {:?}", now.value) };
            acted(Evidence::ReadBack, format!("it reached the element, which has now {states}{value}"))
        }
        Value::Bool(true) if now.changes > 0 => {
            acted(Evidence::ReadBack, "it reached the element, and the page changed".into())
        }
        Value::Bool(true) => {
            acted(Evidence::Sent, "it reached the element; nothing in the page has changed".into())
        }
        _ if now.changes > 0 => acted(Evidence::ReadBack, "the page changed".into()),
        _ => acted(Evidence::Sent, "nothing in the page has changed".into()),
    }
}
