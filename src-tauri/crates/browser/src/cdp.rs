//! [`Browser`] by the Chrome DevTools Protocol: one attached browser, one thing done at a time, for runs that have each
//! its own tab.

use std::sync::Arc;

use desktop::{Desktop, DesktopError, Fence, fence};
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::live::Live;
use crate::outlook::Owner;
use crate::{
    Arrived, Browser, DialogAnswer, Journey, Options, PageQuery, PageText, PageView, Reply, Tab, TabChange,
    TextQuery, WebActed, WebClick, WebTarget, WebText, find,
};

pub(crate) struct CdpBrowser {
    options: Arc<Options>,
    desktop: Arc<dyn Desktop>,
    live: Arc<Mutex<Option<Live>>>,
    owner: Owner,
}

/// The lock, with a browser in it.
pub(crate) struct Attached<'a>(MutexGuard<'a, Option<Live>>);

impl Attached<'_> {
    pub(crate) fn live(&mut self) -> Result<&mut Live, DesktopError> {
        self.0.as_mut().ok_or_else(|| DesktopError::Failed("the browser is gone".into()))
    }
}

impl CdpBrowser {
    pub(crate) fn new(options: Options, desktop: Arc<dyn Desktop>) -> Self {
        let (options, live) = (Arc::new(options), Arc::default());
        Self { options, desktop, live, owner: Owner::anybody() }
    }

    /// The same browser, for one run.
    pub(crate) fn for_a_run(&self) -> Self {
        let (options, desktop) = (Arc::clone(&self.options), Arc::clone(&self.desktop));
        Self { options, desktop, live: Arc::clone(&self.live), owner: Owner::of_a_run() }
    }

    /// The browser to act in, attached to or started first where that is needed.
    ///
    /// # Errors
    /// `Forbidden` if it is outside the fence: a browser is an application as any other.
    pub(crate) async fn held(&self) -> Result<Attached<'_>, DesktopError> {
        let fence = self.desktop.fenced();
        let mut held = self.live.lock().await;
        if !is_there(held.as_ref()).await {
            *held = None;
            *held = match find::attach_running(&self.options).await? {
                None => {
                    fence::check_app(&fence, &[&find::called(&self.options)])?;
                    Some(find::start(&self.options).await?)
                }
                running => running,
            };
        }
        let mut held = Attached(held);
        held.live()?.turn_to(&self.owner);
        if fence != Fence::default() {
            self.check_fence(&fence, held.live()?).await?;
        }
        Ok(held)
    }

    /// As [`CdpBrowser::held`] would have it.
    async fn check_within(&self, fence: Fence) -> Result<(), DesktopError> {
        let mut held = self.live.lock().await;
        if !is_there(held.as_ref()).await {
            *held = find::attach_running(&self.options).await?;
        }
        match held.as_ref() {
            Some(live) => self.check_fence(&fence, live).await,
            None => fence::check_app(&fence, &[&find::called(&self.options)]),
        }
    }

    async fn check_fence(&self, fence: &Fence, live: &Live) -> Result<(), DesktopError> {
        let pid = live.process().await?;
        let windows = self.desktop.windows().await?;
        let its: Vec<_> = windows.iter().filter(|window| window.pid == Some(pid)).collect();
        let program = find::program_of(pid);
        // One that was just started may have no window yet.
        fence::check_app(fence, &[its.first().map_or(program.as_str(), |window| &window.app)])?;
        its.iter().try_for_each(|window| fence::check_display(fence, window.display))
    }

    /// The browser that runs: what only looks starts none.
    ///
    /// # Errors
    /// `NotFound` if none runs that lets itself be debugged.
    pub(crate) async fn running(&self) -> Result<Attached<'_>, DesktopError> {
        let mut held = self.live.lock().await;
        if !is_there(held.as_ref()).await {
            *held = find::attach_running(&self.options).await?;
        }
        self.taken(held)
    }

    /// The same without asking whether it is still there, for what can be asked again of another one.
    ///
    /// # Errors
    /// As [`CdpBrowser::running`].
    pub(crate) async fn attached(&self) -> Result<Attached<'_>, DesktopError> {
        let held = self.live.lock().await;
        if held.as_ref().is_some_and(Live::is_attached) {
            return self.taken(held);
        }
        drop(held);
        self.running().await
    }

    pub(crate) async fn is_attached(&self) -> bool {
        self.live.lock().await.as_ref().is_some_and(Live::is_attached)
    }

    fn taken<'a>(&self, held: MutexGuard<'a, Option<Live>>) -> Result<Attached<'a>, DesktopError> {
        if held.is_none() {
            return Err(DesktopError::NotFound("a browser that can be read; webNavigate opens one".into()));
        }
        let mut held = Attached(held);
        held.live()?.turn_to(&self.owner);
        Ok(held)
    }

    /// Whether a running browser lets itself be debugged; it is attached to then.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) async fn attach_running(&self) -> bool {
        let mut held = self.live.lock().await;
        if !is_there(held.as_ref()).await {
            *held = find::attach_running(&self.options).await.ok().flatten();
        }
        held.is_some()
    }

    /// Whether there is a browser to start.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) fn can_start(&self) -> bool {
        find::can_start(&self.options)
    }

    pub(crate) async fn display(&self, index: u32) -> Option<protocol::geometry::PhysicalRect> {
        let displays = self.desktop.displays().await.ok()?;
        displays.iter().find(|display| display.index == index).map(|display| display.bounds)
    }
}

async fn is_there(live: Option<&Live>) -> bool {
    match live {
        Some(live) => live.is_there().await,
        None => false,
    }
}

impl Browser for CdpBrowser {
    fn within(&self, fence: Fence) -> Reply<'_, ()> {
        Box::pin(self.check_within(fence))
    }

    fn missing(&self) -> Option<String> {
        // A browser that is in use is there; nobody waits for it to be asked.
        let attached = self.live.try_lock().map_or(true, |held| held.is_some());
        if attached { None } else { find::missing(&self.options) }
    }

    fn tabs(&self) -> Reply<'_, Vec<Tab>> {
        Box::pin(async move {
            let mut held = self.running().await?;
            let live = held.live()?;
            if live.has_tabs() {
                live.front().await?;
            }
            live.tabs().await
        })
    }

    fn change_tab(&self, change: TabChange, cancel: CancellationToken) -> Reply<'_, Vec<Tab>> {
        Box::pin(stoppable(cancel, self.change_tab_now(change)))
    }

    fn elements(&self, query: PageQuery) -> Reply<'_, PageView> {
        Box::pin(self.elements_now(query))
    }

    fn read(&self, query: TextQuery) -> Reply<'_, PageText> {
        Box::pin(self.read_now(query))
    }

    fn target(&self, reference: Option<String>) -> Reply<'_, WebTarget> {
        Box::pin(self.target_now(reference))
    }

    fn click(&self, click: WebClick, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(async move { self.click_now(click, &cancel).await })
    }

    fn type_text(&self, text: WebText, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(async move { self.type_now(text, &cancel).await })
    }

    fn answer(&self, answer: DialogAnswer, cancel: CancellationToken) -> Reply<'_, WebActed> {
        Box::pin(stoppable(cancel, self.answer_now(answer)))
    }

    fn navigate(&self, journey: Journey, cancel: CancellationToken) -> Reply<'_, Arrived> {
        Box::pin(stoppable(cancel, self.navigate_now(journey)))
    }

    fn of_run(&self) -> Option<Arc<dyn Browser>> {
        Some(Arc::new(self.for_a_run()))
    }
}

/// Work that holds nothing down can be dropped at any await.
pub(crate) async fn stoppable<T>(
    cancel: CancellationToken,
    work: impl Future<Output = Result<T, DesktopError>>,
) -> Result<T, DesktopError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(DesktopError::Cancelled),
        done = work => done,
    }
}
