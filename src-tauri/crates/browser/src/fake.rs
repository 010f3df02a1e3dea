//! A browser in memory, for the tests of the rooms above: it records what it is asked, and answers what it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use desktop::{Acted, DesktopError, Evidence, Fence};
use tokio_util::sync::CancellationToken;

use crate::{
    Arrived, Browser, DialogAnswer, Journey, PageQuery, PageText, PageView, Reply, Tab, TabChange, TextQuery,
    WebActed, WebClick, WebTarget, WebText,
};

/// What the fake shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pages {
    pub missing: Option<String>,
    pub tabs: Vec<Tab>,
    pub view: PageView,
    pub text: PageText,
    /// What is said to be touched; asking for it is no call.
    pub target: WebTarget,
    /// What clicks, texts and answers are said to have done.
    pub acted: WebActed,
    pub arrived: Arrived,
    /// What a fence has the browser by; empty if no fence is asked about it.
    pub app: String,
    /// Answered first, one for each call.
    pub failures: VecDeque<DesktopError>,
}

/// One call that reached the fake, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum WebCall {
    Tabs,
    ChangeTab(TabChange),
    Elements(PageQuery),
    Read(TextQuery),
    Click(WebClick),
    Type(WebText),
    Answer(DialogAnswer),
    Navigate(Journey),
}

pub struct FakeBrowser {
    state: Mutex<(Pages, Vec<WebCall>)>,
}

impl Default for FakeBrowser {
    fn default() -> Self {
        let acted = WebActed {
            acted: Acted { evidence: Evidence::ReadBack, note: "fake".into() },
            called: "button \"Go\"".into(),
            at: None,
            url: "https://example.org/".into(),
            title: "Example".into(),
            dialog: None,
            opened: None,
        };
        let pages = Pages {
            missing: None,
            tabs: Vec::new(),
            view: PageView::default(),
            text: PageText::default(),
            target: WebTarget { url: "https://example.org/".into(), ..WebTarget::default() },
            acted,
            arrived: Arrived::default(),
            app: String::new(),
            failures: VecDeque::new(),
        };
        Self { state: Mutex::new((pages, Vec::new())) }
    }
}

impl FakeBrowser {
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    pub fn edit(&self, edit: impl FnOnce(&mut Pages)) {
        edit(&mut self.state().0);
    }

    pub fn calls(&self) -> Vec<WebCall> {
        self.state().1.clone()
    }

    fn state(&self) -> MutexGuard<'_, (Pages, Vec<WebCall>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered<T: Send + 'static>(&self, call: WebCall, answer: impl FnOnce(&Pages) -> T) -> Reply<'_, T> {
        let mut state = self.state();
        state.1.push(call);
        let answer = match state.0.failures.pop_front() {
            Some(error) => Err(error),
            None => Ok(answer(&state.0)),
        };
        Box::pin(async move { answer })
    }
}

impl Browser for FakeBrowser {
    fn missing(&self) -> Option<String> {
        self.state().0.missing.clone()
    }
    fn within(&self, fence: Fence) -> Reply<'_, ()> {
        let app = self.state().0.app.clone();
        let within = if app.is_empty() { Ok(()) } else { desktop::fence::check_app(&fence, &[&app]) };
        Box::pin(async move { within })
    }
    fn tabs(&self) -> Reply<'_, Vec<Tab>> {
        self.answered(WebCall::Tabs, |pages| pages.tabs.clone())
    }
    fn change_tab(&self, change: TabChange, _: CancellationToken) -> Reply<'_, Vec<Tab>> {
        self.answered(WebCall::ChangeTab(change), |pages| pages.tabs.clone())
    }
    fn elements(&self, query: PageQuery) -> Reply<'_, PageView> {
        self.answered(WebCall::Elements(query), |pages| pages.view.clone())
    }
    fn read(&self, query: TextQuery) -> Reply<'_, PageText> {
        self.answered(WebCall::Read(query), |pages| pages.text.clone())
    }
    fn target(&self, _: Option<String>) -> Reply<'_, WebTarget> {
        let target = self.state().0.target.clone();
        Box::pin(async move { Ok(target) })
    }
    fn click(&self, click: WebClick, _: CancellationToken) -> Reply<'_, WebActed> {
        self.answered(WebCall::Click(click), |pages| pages.acted.clone())
    }
    fn type_text(&self, text: WebText, _: CancellationToken) -> Reply<'_, WebActed> {
        self.answered(WebCall::Type(text), |pages| pages.acted.clone())
    }
    fn answer(&self, answer: DialogAnswer, _: CancellationToken) -> Reply<'_, WebActed> {
        self.answered(WebCall::Answer(answer), |pages| pages.acted.clone())
    }
    fn navigate(&self, journey: Journey, _: CancellationToken) -> Reply<'_, Arrived> {
        self.answered(WebCall::Navigate(journey), |pages| pages.arrived.clone())
    }
}
