//! What a browser's events have told so far: tabs, sessions, dialogs, what loads. Folded, never asked.

use std::collections::HashMap;

use serde_json::Value;

use crate::live::Page;
use crate::{Dialog, DialogKind};

/// A page or frame that can be attached to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TargetInfo {
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) url: String,
    /// Counts up in the order in which tabs came to be.
    pub(crate) born: u64,
}

/// What is known of an attached page.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageState {
    pub(crate) target: String,
    /// The main frame; at first it has the page's own id.
    pub(crate) frame: String,
    pub(crate) dialog: Option<Dialog>,
    /// The main frame asks for, or takes in, a document.
    pub(crate) loading: bool,
    /// Documents the main frame has had.
    pub(crate) documents: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BrowserState {
    pub(crate) closed: bool,
    pub(crate) targets: HashMap<String, TargetInfo>,
    /// By session.
    pub(crate) pages: HashMap<String, PageState>,
    /// Sessions of frames in processes of their own, by frame.
    pub(crate) frames: HashMap<String, String>,
    born: u64,
    /// Dialogs that have opened.
    dialogs: u64,
}

impl BrowserState {
    /// Takes one event in; whether it told anything new.
    pub(crate) fn fold(&mut self, session: &str, event: &str, told: &Value) -> bool {
        match event {
            "Target.targetCreated" | "Target.targetInfoChanged" => self.target(&told["targetInfo"]),
            "Target.targetDestroyed" => {
                let id = text(&told["targetId"]);
                self.frames.remove(&id);
                self.pages.retain(|_, page| page.target != id);
                self.targets.remove(&id).is_some()
            }
            "Target.attachedToTarget" => {
                let (target, session) = (text(&told["targetInfo"]["targetId"]), text(&told["sessionId"]));
                if told["targetInfo"]["type"] == "iframe" {
                    self.frames.insert(target.clone(), session.clone());
                }
                let frame = target.clone();
                self.pages.insert(session, PageState { target, frame, ..PageState::default() });
                true
            }
            "Target.detachedFromTarget" => {
                let gone = text(&told["sessionId"]);
                self.frames.retain(|_, session| *session != gone);
                self.pages.remove(&gone).is_some()
            }
            "Page.javascriptDialogOpening" => {
                self.dialogs += 1;
                let dialog = Dialog {
                    number: self.dialogs,
                    kind: match told["type"].as_str() {
                        Some("confirm") => DialogKind::Confirm,
                        Some("prompt") => DialogKind::Prompt,
                        Some("beforeunload") => DialogKind::Leave,
                        _ => DialogKind::Alert,
                    },
                    message: text(&told["message"]),
                };
                self.with(session, |page| page.dialog = Some(dialog))
            }
            "Page.javascriptDialogClosed" => self.with(session, |page| page.dialog = None),
            "Page.frameStartedLoading" => self.main(session, &told["frameId"], |page| page.loading = true),
            "Page.frameStoppedLoading" => self.main(session, &told["frameId"], |page| page.loading = false),
            "Page.frameNavigated" if told["frame"]["parentId"].is_null() => self.with(session, |page| {
                page.frame = text(&told["frame"]["id"]);
                page.documents += 1;
            }),
            _ => false,
        }
    }

    fn target(&mut self, info: &Value) -> bool {
        let is_page = info["type"] == "page";
        let known = self.targets.entry(text(&info["targetId"])).or_insert_with(|| {
            self.born += u64::from(is_page);
            TargetInfo { born: self.born, ..TargetInfo::default() }
        });
        known.kind = text(&info["type"]);
        known.title = text(&info["title"]);
        known.url = text(&info["url"]);
        true
    }

    fn with(&mut self, session: &str, change: impl FnOnce(&mut PageState)) -> bool {
        self.pages.get_mut(session).map(change).is_some()
    }

    fn main(&mut self, session: &str, frame: &Value, change: impl FnOnce(&mut PageState)) -> bool {
        match self.pages.get_mut(session) {
            Some(page) if frame.as_str() == Some(&page.frame) => {
                change(page);
                true
            }
            _ => false,
        }
    }

    /// Tabs, oldest first.
    pub(crate) fn tabs(&self) -> Vec<(&String, &TargetInfo)> {
        let mut tabs: Vec<_> = self.targets.iter().filter(|(_, info)| info.is_tab()).collect();
        tabs.sort_by_key(|(_, info)| info.born);
        tabs
    }

    /// The page with an open dialog, where that is the dialog with this number.
    ///
    /// # Errors
    /// The one that is open instead; `None` if none is.
    pub(crate) fn asking(&self, number: u64) -> Result<(Page, Dialog), Option<Dialog>> {
        let asking = |(session, page): (&String, &PageState)| {
            let page_of = Page { target: page.target.clone(), session: session.clone() };
            page.dialog.clone().map(|dialog| (page_of, dialog))
        };
        let mut open = self.pages.iter().filter_map(asking);
        let told = open.clone().find(|(_, dialog)| dialog.number == number);
        told.ok_or_else(|| open.next().map(|(_, other)| other))
    }

    pub(crate) fn session_of(&self, target: &str) -> Option<String> {
        self.pages.iter().find(|(_, page)| page.target == target).map(|(session, _)| session.clone())
    }
}

impl TargetInfo {
    /// The browser's own side panels and pop-ups are pages too, but no tabs.
    pub(crate) fn is_tab(&self) -> bool {
        self.kind == "page" && !self.url.starts_with("devtools://")
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_for_the_dialog_that_was_told_of_and_for_no_other() {
        let mut state = BrowserState::default();
        for tab in ["a", "b"] {
            let target = json!({ "targetInfo": { "targetId": tab, "type": "page" }, "sessionId": tab });
            state.fold("", "Target.attachedToTarget", &target);
        }
        let opening = json!({ "type": "confirm", "message": "Really?" });
        assert_eq!(state.asking(0), Err(None));
        state.fold("a", "Page.javascriptDialogOpening", &opening);
        let (page, told) = state.asking(1).unwrap();
        assert_eq!((page.session.as_str(), told.message.as_str()), ("a", "Really?"));
        // Another one takes its place, in the same words; or one in another tab.
        state.fold("a", "Page.javascriptDialogClosed", &json!({}));
        assert_eq!(state.asking(told.number), Err(None));
        for session in ["b", "a"] {
            state.fold(session, "Page.javascriptDialogOpening", &opening);
            assert!(matches!(state.asking(told.number), Err(Some(_))));
        }
        assert_eq!(state.asking(3).unwrap().0.session, "a");
        assert_eq!(state.asking(2).unwrap().0.session, "b");
    }
}
