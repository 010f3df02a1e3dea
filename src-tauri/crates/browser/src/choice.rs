//! Which way a browser of macOS is worked with: by its debugging port, or by Apple events.
//!
//! The rule, in this order. A port that was named, and "only our own", mean CDP and nothing else. The browser whose
//! window is on top counts: Safari is always asked by Apple events. A running Chromium that lets itself be debugged is
//! worked with by CDP, which can do more (frames of other sites, dialogs, pages in the background). Any other that runs
//! is asked by Apple events. Where none runs, one is started with a profile of its own and a port; where there is no
//! Chromium, Safari is opened. Refs say which way they are of: `wa1` and `ta1` are Apple events'.

use std::sync::Arc;

use desktop::Desktop;
use tokio_util::sync::CancellationToken;

use crate::apple::{self, App, AppleBrowser, Osa};
use crate::cdp::{CdpBrowser, stoppable};
use crate::{
    Arrived, Attach, Browser, DialogAnswer, Journey, Options, PageQuery, PageText, PageView, Reply, Tab,
    TabChange, TextQuery, WebActed, WebClick, WebTarget, WebText,
};

/// How the browser in front is worked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Port,
    Events(&'static App),
}

fn choose(top: Option<&'static App>, debugged: bool, running: &[&'static App], startable: bool) -> Way {
    match top {
        Some(app) if app.is_safari() => Way::Events(app),
        _ if debugged => Way::Port,
        Some(app) => Way::Events(app),
        None => match running.first() {
            Some(app) => Way::Events(app),
            None if startable => Way::Port,
            None => Way::Events(apple::safari()),
        },
    }
}

/// Whether there is anything to choose.
pub(crate) fn is_open(options: &Options) -> bool {
    options.port.is_none() && options.attach == Attach::Any
}

pub(crate) struct Either {
    cdp: CdpBrowser,
    apple: Arc<AppleBrowser>,
    desktop: Arc<dyn Desktop>,
}

impl Either {
    pub(crate) fn new(cdp: CdpBrowser, osa: Arc<dyn Osa>, desktop: Arc<dyn Desktop>) -> Self {
        let apple = AppleBrowser::new(osa, crate::wire::secret(), Arc::clone(&desktop));
        Self { cdp, apple: Arc::new(apple), desktop }
    }

    async fn way(&self) -> Way {
        let windows = self.desktop.windows().await.unwrap_or_default();
        let shown = windows.iter().filter(|one| !one.states.iter().any(|state| state == "minimized"));
        let top = apple::topmost(shown.map(|window| window.app.as_str()));
        let debugged = !top.is_some_and(App::is_safari) && self.cdp.attach_running().await;
        let running = if top.is_none() && !debugged { self.apple.running().await } else { Vec::new() };
        let way = choose(top, debugged, &running, self.cdp.can_start());
        tracing::debug!(?way, "the way to the browser");
        way
    }
}

/// Whether an element's or a tab's ref is of Apple events.
fn is_events(reference: &str) -> bool {
    reference.starts_with("wa") || reference.starts_with("ta")
}

impl Browser for Either {
    /// Every Mac has Safari.
    fn missing(&self) -> Option<String> {
        None
    }

    fn tabs(&self) -> Reply<'_, Vec<Tab>> {
        Box::pin(async move {
            match self.way().await {
                Way::Port => self.cdp.tabs().await,
                Way::Events(app) => self.apple.tabs(app).await,
            }
        })
    }

    fn change_tab(&self, change: TabChange, cancel: CancellationToken) -> Reply<'_, Vec<Tab>> {
        Box::pin(async move {
            let way = match &change {
                TabChange::Open(_) => self.way().await,
                // The tab itself knows whose it is.
                TabChange::Activate(tab) | TabChange::Close(tab) if is_events(tab) => {
                    Way::Events(apple::safari())
                }
                TabChange::Activate(_) | TabChange::Close(_) => Way::Port,
            };
            match way {
                Way::Port => self.cdp.change_tab(change, cancel).await,
                Way::Events(app) => stoppable(cancel, self.apple.change_tab(app, change)).await,
            }
        })
    }

    fn elements(&self, query: PageQuery) -> Reply<'_, PageView> {
        Box::pin(async move {
            match self.way().await {
                Way::Port => self.cdp.elements(query).await,
                Way::Events(app) => self.apple.elements(app, query).await,
            }
        })
    }

    fn read(&self, query: TextQuery) -> Reply<'_, PageText> {
        Box::pin(async move {
            match self.way().await {
                Way::Port => self.cdp.read(query).await,
                Way::Events(app) => self.apple.read(app, query).await,
            }
        })
    }

    fn target(&self, reference: Option<String>) -> Reply<'_, WebTarget> {
        Box::pin(async move {
            match reference.as_deref() {
                Some(named) if is_events(named) => self.apple.target(named).await,
                // Nobody tells what a dialog says that Apple events meet.
                _ => self.cdp.target(reference).await,
            }
        })
    }

    fn click(&self, click: WebClick, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(async move {
            match is_events(&click.reference) {
                true => self.apple.click(click, &cancel).await,
                false => self.cdp.click(click, cancel).await,
            }
        })
    }

    fn type_text(&self, text: WebText, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(async move {
            match is_events(&text.reference) {
                true => self.apple.type_text(text, &cancel).await,
                false => self.cdp.type_text(text, cancel).await,
            }
        })
    }

    fn answer(&self, answer: DialogAnswer, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(async move {
            match self.way().await {
                Way::Port => self.cdp.answer(answer, cancel).await,
                Way::Events(app) => self.apple.answer(app, answer, cancel).await,
            }
        })
    }

    fn navigate(&self, journey: Journey, cancel: CancellationToken) -> Reply<'_, Arrived> {
        Box::pin(async move {
            match self.way().await {
                Way::Port => self.cdp.navigate(journey, cancel).await,
                Way::Events(app) => stoppable(cancel, self.apple.navigate(app, journey)).await,
            }
        })
    }

    /// By Apple events there is only what is in front.
    fn of_run(&self) -> Option<Arc<dyn Browser>> {
        let (apple, desktop) = (Arc::clone(&self.apple), Arc::clone(&self.desktop));
        Some(Arc::new(Self { cdp: self.cdp.for_a_run(), apple, desktop }))
    }
}

#[cfg(test)]
mod tests;
