//! The pages of a web browser, by their DOM: what is in them, what they say, acting on them, where they go.
//!
//! One trait, [`Browser`], over two ways: the Chrome DevTools Protocol on every platform (`cdp.rs`), and AppleScript for
//! the browsers of macOS (`apple/`). `choice.rs` says which is used when. Both run the same `collector.js`. Values of
//! password fields never leave a page.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::geometry::{NormPoint, NormRect};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use desktop::{Acted, Button, Desktop, DesktopError, Fence, Key, ScriptedApp};
use futures::future::BoxFuture;

pub use absent::absent;

pub mod fake;

mod absent;
mod act;
mod address;
// Of macOS; all but the program that is started is tested on Linux.
#[cfg(any(target_os = "macos", test))]
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only macOS has the applications"))]
mod apple;
mod cdp;
#[cfg(any(target_os = "macos", test))]
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only macOS has something to choose"))]
mod choice;
mod effect;
mod filled;
mod find;
mod go;
mod gone;
mod listener;
mod live;
mod look;
mod outlook;
mod page_transform;
mod script;
mod state;
mod wire;
mod write;

/// What is asked of a browser.
pub type Reply<'a, T> = BoxFuture<'a, Result<T, DesktopError>>;

/// One browser. Refs are `w1`, `w2` ...; tabs are `t1`, `t2` ...; by Apple events `wa1` and `ta1`.
///
/// A tab that is not named is the one in front. Text takes the keyboard from no other window; a click brings the
/// browser's window to the front, as Chromium does with every press of a button.
pub trait Browser: Send + Sync {
    /// Why no browser can be used; `None` if one is attached or can be found. Quick.
    fn missing(&self) -> Option<String>;
    fn tabs(&self) -> Reply<'_, Vec<Tab>>;
    /// Activates, opens or closes a tab, and lists all.
    fn change_tab(&self, change: TabChange, cancel: CancellationToken) -> Reply<'_, Vec<Tab>>;
    fn elements(&self, query: PageQuery) -> Reply<'_, PageView>;
    fn read(&self, query: TextQuery) -> Reply<'_, PageText>;
    /// What an act would touch now: the element with this ref, or the open dialog. Starts no browser.
    fn target(&self, reference: Option<String>) -> Reply<'_, WebTarget>;
    /// Why nothing would be done in it within a fence. Starts no browser.
    fn within(&self, _fence: Fence) -> Reply<'_, ()> {
        Box::pin(async { Ok(()) })
    }
    /// Clicks an element with trusted input, where it is not covered by another one.
    fn click(&self, click: WebClick, cancel: CancellationToken) -> Reply<'_, WebActed>;
    /// Fills a field, or chooses an option, and reads it back.
    fn type_text(&self, text: WebText, cancel: CancellationToken) -> Reply<'_, WebActed>;
    /// Answers the dialog that is open, where it is the one that was told of last.
    fn answer(&self, answer: DialogAnswer, cancel: CancellationToken) -> Reply<'_, WebActed>;
    /// Goes somewhere, and waits until the page is loaded, for a bounded time.
    fn navigate(&self, journey: Journey, cancel: CancellationToken) -> Reply<'_, Arrived>;
    /// The same browser as one run has it: the tab it works on is its own, and another run that goes somewhere goes there
    /// in another tab. Its tabs are anybody's again when it is dropped. `None` if all runs share what is in front.
    fn of_run(&self) -> Option<Arc<dyn Browser>> {
        None
    }
}

/// Opens nothing yet: a browser is attached to, or started, when it is first used.
pub fn open(options: Options, desktop: Arc<dyn Desktop>) -> Arc<dyn Browser> {
    #[cfg(target_os = "macos")]
    if choice::is_open(&options) {
        let cdp = cdp::CdpBrowser::new(options, Arc::clone(&desktop));
        return Arc::new(choice::Either::new(cdp, Arc::new(apple::Osascript), desktop));
    }
    Arc::new(cdp::CdpBrowser::new(options, desktop))
}

/// The browsers that answer Apple events; none off macOS.
pub fn scriptable() -> Vec<ScriptedApp> {
    #[cfg(target_os = "macos")]
    return apple::known().collect();
    #[cfg(not(target_os = "macos"))]
    return Vec::new();
}

/// How a browser is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The folder in which a browser that we start has its own profile.
    pub data: PathBuf,
    /// The debugging port of a browser that runs; searched for if `None`.
    pub port: Option<u16>,
    /// The browser to start; the first one found if `None`.
    pub program: Option<PathBuf>,
    /// Further arguments for a browser that we start.
    pub arguments: Vec<String>,
    /// Whether a browser of the user's own, with its debugging allowed, may be attached to.
    pub attach: Attach,
    /// The X display for a browser that we start; the environment's if `None`. Ignored off Linux.
    pub display: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attach {
    /// Any running browser whose profile names a debugging port.
    #[default]
    Any,
    /// Only the one with our own profile.
    Own,
}

/// A tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tab {
    #[serde(rename = "ref")]
    pub reference: String,
    pub title: String,
    pub url: String,
    /// In front, as far as is known: what tools without a tab's ref work on.
    pub front: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabChange {
    Activate(String),
    /// `http`, `https` or `about:blank`.
    Open(String),
    Close(String),
}

/// Which elements are wished for.
#[derive(Clone, Debug, PartialEq)]
pub struct PageQuery {
    /// Only elements whose name, value, role or hint contains this, in any case.
    pub query: Option<String>,
    pub scope: Scope,
    pub kind: Kind,
    /// Most elements in the answer.
    pub limit: u32,
    /// The display whose 0-1000 bounds are told in.
    pub display: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What is in view.
    View,
    /// The whole page.
    Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What can be clicked or filled.
    Interactive,
    /// Text, pictures and shapes too.
    All,
}

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageView {
    pub tab: String,
    pub title: String,
    pub url: String,
    /// What bounds are 0-1000 of.
    pub space: Space,
    pub elements: Vec<WebElement>,
    /// A dialog that keeps the page from going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// What was left out, with counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// What bounds are 0-1000 of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Space {
    /// The display, as with every other tool.
    #[default]
    Display,
    /// The page's visible part: where it is on the display could not be found out.
    Viewport,
}

/// An element of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebElement {
    #[serde(rename = "ref")]
    pub reference: String,
    pub role: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Never a password.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Of one without a name: id, class and picture in the page's code; the colour of what is drawn.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub href: String,
    /// What a select offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    pub bounds: NormRect,
}

/// Which text is wished for. Offsets count characters.
#[derive(Clone, Debug, PartialEq)]
pub struct TextQuery {
    pub offset: usize,
    pub limit: usize,
    pub links: Links,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// `[text](url)`
    Shown,
    Left,
}

/// A page's readable text, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    pub tab: String,
    pub title: String,
    pub url: String,
    pub text: String,
    pub offset: usize,
    /// Characters of the whole text.
    pub total: usize,
    /// Where the next part begins; `None` at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WebClick {
    pub reference: String,
    pub button: Button,
    /// 2 for a double click.
    pub count: u8,
    pub held: Vec<Key>,
    pub display: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebText {
    pub reference: String,
    /// For a select: the text of the option.
    pub text: String,
    pub how: Fill,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Replace,
    Append,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Nothing,
    /// Enter is pressed.
    Submit,
}

/// A dialog of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialog {
    pub kind: DialogKind,
    pub message: String,
    /// Counts up: two dialogs may say the same.
    #[serde(skip)]
    pub number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DialogKind {
    Alert,
    Confirm,
    Prompt,
    /// The page asks whether it may be left.
    Leave,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogAnswer {
    /// With the text for a prompt.
    Accept(Option<String>),
    Dismiss,
}

/// What an act in a page would touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebTarget {
    /// The document's.
    pub url: String,
    /// The element's name, or what the dialog says.
    pub called: String,
    /// The text of the table row, list item, article or dialog that it is in, cut; empty if it is in none.
    pub row: String,
    /// Where its link or its form would go; `None` if it has none.
    pub leads_to: Option<String>,
    /// It is a password field of the page itself, and of no frame in it.
    pub hides: bool,
    /// Whether a click on it goes there.
    pub goes_there: bool,
    /// Whether a click on it sends its form.
    pub sends_form: bool,
    /// Whether its form only asks the page's own site for something, as the page says it: a search.
    pub searches: bool,
}

/// Something was done in a page.
#[derive(Clone, Debug, PartialEq)]
pub struct WebActed {
    pub acted: Acted,
    /// `button "Save"`.
    pub called: String,
    /// Where it was done, where that is known on the display.
    pub at: Option<NormPoint>,
    pub url: String,
    pub title: String,
    /// A dialog that it opened.
    pub dialog: Option<Dialog>,
    /// A tab that it opened.
    pub opened: Option<Tab>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journey {
    /// `http`, `https` or `about:blank`.
    To(String),
    Back,
    Forward,
    Reload,
}

/// Where a journey ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Arrived {
    pub tab: String,
    pub url: String,
    pub title: String,
    /// The answer's HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub loaded: Loaded,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Loaded {
    #[default]
    Wholly,
    /// It still loads after a bounded wait.
    StillLoading,
}
