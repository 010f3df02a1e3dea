//! A browser that is attached: its tabs, the worlds in which the collector runs, and what refs stand for.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use desktop::DesktopError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::address::check_page;
use crate::outlook::{Outlooks, Owner};
use crate::page_transform::PageTransform;
use crate::script::{About, COLLECTOR};
use crate::wire::{Wire, WireError};
use crate::{Dialog, DialogKind, Tab};

/// One look or step within a page.
pub(crate) const STEP: Duration = Duration::from_secs(10);
/// A tab that does not say whether it is in front.
const GLANCE: Duration = Duration::from_secs(5);
/// A tab whose document is just being replaced cannot be asked for a moment.
const REPLACED: Duration = Duration::from_secs(1);
/// Refs that are remembered.
const REFS: usize = 20_000;

/// A document's frame: the session that speaks to its process, and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) session: String,
    pub(crate) frame: String,
}

/// A tab that is attached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) target: String,
    pub(crate) session: String,
}

/// What a tab says of itself when it is looked at.
enum TabLook {
    InFront(Page, About),
    Hidden(Page, About),
    /// No answer in time.
    Silent,
    /// That it cannot be asked.
    Broken,
}

/// What a ref stands for.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) target: String,
    pub(crate) frame: Frame,
    pub(crate) role: String,
    pub(crate) name: String,
}

pub(crate) struct Live {
    pub(crate) wire: Wire,
    /// Who works on which tab.
    pub(crate) outlooks: Outlooks,
    worlds: HashMap<Frame, i64>,
    /// The frame above, and the number of the frame's element in it.
    pub(crate) above: HashMap<Frame, (Frame, u64)>,
    pub(crate) refs: BTreeMap<u64, Known>,
    /// The next ref.
    pub(crate) next: u64,
    /// `None` if it was measured in vain.
    pub(crate) places: HashMap<String, (Vec<f64>, Option<PageTransform>)>,
}

impl Live {
    pub(crate) async fn attach(wire: Wire) -> Result<Self, DesktopError> {
        wire.call(None, "Target.setDiscoverTargets", json!({ "discover": true })).await?;
        Ok(Self {
            wire,
            outlooks: Outlooks::default(),
            worlds: HashMap::new(),
            above: HashMap::new(),
            refs: BTreeMap::new(),
            next: 1,
            places: HashMap::new(),
        })
    }

    /// Whether the browser is still there. One that has ended is not known to be gone before its pipe or socket is
    /// read, so it is asked.
    pub(crate) async fn is_there(&self) -> bool {
        let asked = self.wire.call(None, "Browser.getVersion", json!({})).await;
        asked != Err(WireError::Closed) && self.is_attached()
    }

    /// Whether the browser has not been heard to end.
    pub(crate) fn is_attached(&self) -> bool {
        self.wire.is_open()
    }

    /// The browser's own process.
    pub(crate) async fn process(&self) -> Result<u32, DesktopError> {
        let told = self.wire.call(None, "SystemInfo.getProcessInfo", json!({})).await?;
        let mut all = told["processInfo"].as_array().into_iter().flatten();
        let pid = all.find(|one| one["type"] == "browser").and_then(|one| one["id"].as_u64());
        pid.and_then(|pid| u32::try_from(pid).ok())
            .ok_or_else(|| DesktopError::Failed("the browser does not tell its process".into()))
    }

    /// Every tab with its title and address as they are now: events do not tell of titles. Files and the browser's own
    /// pages are nobody's business.
    pub(crate) async fn tabs(&self) -> Result<Vec<Tab>, DesktopError> {
        let told = self.wire.call(None, "Target.getTargets", json!({})).await?;
        let now = |id: &str, word: &str| {
            let infos = told["targetInfos"].as_array()?;
            infos.iter().find(|info| info["targetId"] == id)?[word].as_str().map(str::to_owned)
        };
        let current = self.outlooks.current();
        Ok(self.wire.look(|book| {
            book.tabs()
                .into_iter()
                .map(|(id, info)| Tab {
                    reference: format!("t{}", info.born),
                    title: now(id, "title").unwrap_or_else(|| info.title.clone()),
                    url: now(id, "url").unwrap_or_else(|| info.url.clone()),
                    front: Some(id) == current,
                })
                .filter(|tab| check_page(&tab.url).is_ok())
                .collect()
        }))
    }

    pub(crate) fn has_tabs(&self) -> bool {
        self.wire.look(|book| !book.tabs().is_empty())
    }

    pub(crate) fn tab_name(&self, target: &str) -> String {
        self.wire
            .look(|book| book.targets.get(target).map(|info| format!("t{}", info.born)))
            .unwrap_or_default()
    }

    pub(crate) async fn target_of(&self, tab: &str) -> Result<String, DesktopError> {
        let found = self.wire.look(|book| {
            let mut tabs = book.tabs().into_iter();
            tabs.find(|(_, info)| format!("t{}", info.born) == tab).map(|(id, _)| id.clone())
        });
        if let Some(found) = found.filter(|found| self.check_web(found).is_ok()) {
            return Ok(found);
        }
        let all: Vec<_> =
            self.tabs().await?.into_iter().map(|tab| format!("{} ({})", tab.reference, tab.title)).collect();
        Err(DesktopError::NotFound(format!("tab {tab}; the tabs are {}", all.join(", "))))
    }

    /// The tab's session, attached first where it is not yet.
    pub(crate) async fn page(&mut self, target: &str) -> Result<Page, DesktopError> {
        if let Some(session) = self.wire.look(|book| book.session_of(target)) {
            return Ok(Page { target: target.into(), session });
        }
        let attached = self
            .wire
            .call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }))
            .await?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        self.watch_frames(&session).await?;
        self.wire.call(Some(&session), "Page.enable", json!({})).await?;
        Ok(Page { target: target.into(), session })
    }

    /// Frames in processes of their own get sessions, too.
    async fn watch_frames(&self, session: &str) -> Result<(), WireError> {
        let filter = json!([{ "type": "iframe" }, { "exclude": true }]);
        let wish =
            json!({ "autoAttach": true, "flatten": true, "waitForDebuggerOnStart": false, "filter": filter });
        self.wire.call(Some(session), "Target.setAutoAttach", wish).await.map(|_| ())
    }

    pub(crate) fn main_frame(&self, page: &Page) -> Frame {
        let frame = self.wire.look(|book| book.pages.get(&page.session).map(|page| page.frame.clone()));
        Frame { session: page.session.clone(), frame: frame.unwrap_or_else(|| page.target.clone()) }
    }

    /// From now on it is this one's turn.
    pub(crate) fn turn_to(&mut self, owner: &Owner) {
        self.outlooks.turn_to(owner);
    }

    /// The tab to go somewhere in: the one in front, if it is nobody else's. `None` if that is another run's, or if another
    /// run's lies over it: then it takes a new one.
    pub(crate) async fn front_to_go_in(&mut self) -> Result<Option<(Page, About)>, DesktopError> {
        let before = self.outlooks.current().cloned();
        let (page, about) = self.front().await?;
        let is_mine = before.as_ref() == Some(&page.target);
        let is_in_front = about.visible || self.dialog(&page).is_some();
        let is_free = is_in_front || !self.outlooks.is_shared();
        if is_mine || is_free && !self.outlooks.is_anothers(&page.target) {
            return Ok(Some((page, about)));
        }
        self.outlooks.go_back_to(before);
        Ok(None)
    }

    /// The tab that a person sees in front: the current one while it is visible, else the newest visible one. Another run's
    /// counts only for who has none of its own yet.
    pub(crate) async fn front(&mut self) -> Result<(Page, About), DesktopError> {
        let tabs: Vec<String> =
            self.wire.look(|book| book.tabs().into_iter().rev().map(|(id, _)| id.clone()).collect());
        let current = self.outlooks.current().filter(|current| tabs.contains(current)).cloned();
        let rest = tabs.into_iter().filter(|tab| Some(tab) != current.as_ref());
        let (others, free): (Vec<String>, Vec<String>) = rest.partition(|tab| self.outlooks.is_anothers(tab));
        let is_at_one = current.is_some();
        let mut order: Vec<String> = current.into_iter().chain(free).collect();
        if !is_at_one {
            order.extend(others);
        }
        let mut hidden = None;
        let mut busy = None;
        let end = Instant::now() + REPLACED;
        loop {
            for target in &order {
                match self.look_at(target, GLANCE).await? {
                    TabLook::InFront(page, about) => return Ok(self.now_at(page, about)),
                    TabLook::Hidden(page, about) => hidden = hidden.or(Some((page, about))),
                    TabLook::Silent => busy = busy.or(Some(target.clone())),
                    TabLook::Broken => {}
                }
            }
            if order.is_empty() || hidden.is_some() || busy.is_some() || Instant::now() >= end {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Where no tab answers, the first one has much to do: it is waited for.
        if let (None, Some(target)) = (&hidden, busy)
            && let TabLook::InFront(page, about) | TabLook::Hidden(page, about) =
                self.look_at(&target, STEP).await?
        {
            hidden = Some((page, about));
        }
        let (page, about) = hidden.ok_or_else(|| {
            DesktopError::NotFound("a tab that answers; open one with webNavigate or webTabs".into())
        })?;
        Ok(self.now_at(page, about))
    }

    fn now_at(&mut self, page: Page, about: About) -> (Page, About) {
        self.outlooks.come_to(&page.target);
        (page, about)
    }

    /// Asks a tab whether it is in front, for so long. One with a dialog is, and says nothing.
    async fn look_at(&mut self, target: &str, patience: Duration) -> Result<TabLook, DesktopError> {
        let page = self.page(target).await?;
        if self.dialog(&page).is_some() {
            return Ok(TabLook::InFront(page, About::default()));
        }
        let frame = self.main_frame(&page);
        let look = tokio::time::timeout(patience, self.ask::<About>(&frame, "about", json!({}))).await;
        // It may have come meanwhile.
        if self.dialog(&page).is_some() {
            return Ok(TabLook::InFront(page, About::default()));
        }
        Ok(match look {
            Ok(Ok(about)) if about.visible => TabLook::InFront(page, about),
            Ok(Ok(about)) => TabLook::Hidden(page, about),
            Ok(Err(error)) if !self.wire.is_open() => return Err(error),
            Ok(Err(_)) => TabLook::Broken,
            Err(_) => TabLook::Silent,
        })
    }

    /// The open dialog, to be told: the next answer is for it.
    pub(crate) fn tell_dialog(&self, page: &Page) -> Option<Dialog> {
        let dialog = self.dialog(page);
        self.outlooks.tell_dialog(dialog.as_ref().map_or(0, |dialog| dialog.number));
        dialog
    }

    /// The dialog that was told of last, where that is still open.
    pub(crate) fn told_dialog(&self) -> Result<(Page, Dialog), DesktopError> {
        match self.wire.look(|state| state.asking(self.outlooks.dialog())) {
            Ok((page, dialog)) => self.check_web(&page.target).map(|()| (page, dialog)),
            Err(None) => Err(DesktopError::NotFound("a dialog; none is open".into())),
            Err(Some(other)) => Err(self.in_the_way(&other)),
        }
    }

    /// The error of what a dialog keeps from being done.
    pub(crate) fn in_the_way(&self, dialog: &Dialog) -> DesktopError {
        self.outlooks.tell_dialog(dialog.number);
        DesktopError::BadInput(format!(
            "{}; answer it first with webClick: dialog accept or dismiss",
            shown(dialog)
        ))
    }

    /// Refuses a tab that shows no web page.
    pub(crate) fn check_web(&self, target: &str) -> Result<(), DesktopError> {
        let url = self.wire.look(|state| state.targets.get(target).map(|info| info.url.clone()));
        check_page(&url.unwrap_or_default())
    }

    pub(crate) fn dialog(&self, page: &Page) -> Option<Dialog> {
        self.wire.look(|book| book.pages.get(&page.session).and_then(|page| page.dialog.clone()))
    }

    /// Lets a page go on as if it had the focus while it is acted on, so that no other window has to lose it.
    pub(crate) async fn pretend_focus(&self, page: &Page, focus: Focus) -> Result<(), WireError> {
        let wish = json!({ "enabled": focus == Focus::Pretended });
        let session = Some(page.session.as_str());
        self.wire.call(session, "Emulation.setFocusEmulationEnabled", wish).await.map(|_| ())
    }

    /// Refuses an act that a dialog keeps from being done.
    pub(crate) fn clear_of_dialogs(&self, page: &Page) -> Result<(), DesktopError> {
        match self.dialog(page) {
            Some(dialog) => Err(self.in_the_way(&dialog)),
            None => Ok(()),
        }
    }

    /// Runs one of the collector's functions in a frame, and puts the collector there first where it is not yet.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &mut self,
        frame: &Frame,
        function: &'static str,
        argument: Value,
    ) -> Result<T, DesktopError> {
        let answer = self.ask_raw(frame, function, argument, Form::Json).await?;
        let text = answer["value"].as_str().unwrap_or("null");
        serde_json::from_str(text).map_err(|error| {
            DesktopError::Failed(format!("the page's answer to {function} cannot be read: {error}"))
        })
    }

    async fn ask_raw(
        &mut self,
        frame: &Frame,
        function: &'static str,
        argument: Value,
        form: Form,
    ) -> Result<Value, DesktopError> {
        let mut fresh = false;
        loop {
            let world = match self.worlds.get(frame) {
                Some(world) if !fresh => *world,
                _ => {
                    fresh = true;
                    self.make_world(frame).await?
                }
            };
            let body = match form {
                Form::Json => format!("JSON.stringify(room.{function}(ask))"),
                Form::Object => format!("room.{function}(ask)"),
            };
            // Each argument is compiled like a script; a text that stays the same is not compiled again.
            let key = Value::from(self.wire.secret.as_str());
            let declaration =
                format!("function(ask){{const room=globalThis[{key}];return room?{body}:null}}");
            let call = json!({
                "functionDeclaration": declaration,
                "executionContextId": world,
                "arguments": [{ "value": argument }],
                "returnByValue": form == Form::Json,
            });
            let answer = self.wire.send(Some(&frame.session), "Runtime.callFunctionOn", call).await;
            let answer = match answer {
                Ok(pending) => {
                    let session = frame.session.clone();
                    tokio::select! {
                        answer = pending.answer(STEP) => answer,
                        Some(dialog) = self.wire.until(STEP, |book| book.pages.get(&session)?.dialog.clone()) => {
                            return Err(self.in_the_way(&dialog));
                        }
                    }
                }
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) if !answer["exceptionDetails"].is_null() => {
                    let details = &answer["exceptionDetails"];
                    let what = details["exception"]["description"].as_str().or(details["text"].as_str());
                    let what = what.unwrap_or("an error without words").lines().next().unwrap_or_default();
                    return Err(DesktopError::Failed(format!("looking into the page failed: {what}")));
                }
                Ok(answer) if answer["result"]["subtype"] != "null" => return Ok(answer["result"].clone()),
                // The document was replaced: its world is gone with it.
                Ok(_) | Err(WireError::Refused { .. }) if !fresh => {
                    self.worlds.remove(frame);
                }
                Ok(_) => {
                    return Err(DesktopError::Failed("the page was replaced while it was looked at".into()));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn make_world(&mut self, frame: &Frame) -> Result<i64, DesktopError> {
        let session = Some(frame.session.as_str());
        let wish = json!({ "frameId": frame.frame, "worldName": "miki", "grantUniveralAccess": false });
        let made = self.wire.call(session, "Page.createIsolatedWorld", wish).await?;
        let world = made["executionContextId"].as_i64().unwrap_or_default();
        let key = Value::from(self.wire.secret.as_str());
        // A world is made once for each document; a second collector in it would give its numbers anew.
        let source = format!("globalThis[{key}]??={COLLECTOR};0");
        let put = json!({ "expression": source, "contextId": world });
        let put = self.wire.call(session, "Runtime.evaluate", put).await?;
        if !put["exceptionDetails"].is_null() {
            return Err(DesktopError::Failed(format!(
                "the page takes no collector: {}",
                put["exceptionDetails"]
            )));
        }
        self.worlds.insert(frame.clone(), world);
        Ok(world)
    }

    /// The frame behind a frame's element.
    pub(crate) async fn inner_frame(&mut self, parent: &Frame, id: u64) -> Result<Frame, DesktopError> {
        let element = self.ask_raw(parent, "element", json!({ "id": id }), Form::Object).await?;
        let object = json!({ "objectId": element["objectId"] });
        let node = self.wire.call(Some(&parent.session), "DOM.describeNode", object.clone()).await?;
        self.wire.call(Some(&parent.session), "Runtime.releaseObject", object).await?;
        let frame = node["node"]["frameId"].as_str().unwrap_or_default().to_owned();
        let session = match self.wire.look(|book| book.frames.get(&frame).cloned()) {
            Some(session) => {
                self.watch_frames(&session).await?;
                session
            }
            None => parent.session.clone(),
        };
        let inner = Frame { session, frame };
        self.above.insert(inner.clone(), (parent.clone(), id));
        Ok(inner)
    }

    pub(crate) fn remember(&mut self, id: u64, known: Known) {
        self.refs.insert(id, known);
        while self.refs.len() > REFS {
            self.refs.pop_first();
        }
    }
}

/// What a page is told of its focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Pretended,
    Real,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Object,
}

/// `a confirm dialog is open: "Really?"`
pub(crate) fn shown(dialog: &Dialog) -> String {
    let kind = match dialog.kind {
        DialogKind::Alert => "an alert",
        DialogKind::Confirm => "a confirm dialog",
        DialogKind::Prompt => "a prompt",
        DialogKind::Leave => "a question whether to leave the page",
    };
    let message: String = dialog.message.chars().take(300).collect();
    if message.is_empty() { format!("{kind} is open") } else { format!("{kind} is open: {message:?}") }
}
