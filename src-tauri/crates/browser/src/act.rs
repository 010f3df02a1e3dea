//! Acting on an element: found again by its ref, brought into view, seen to be uncovered, clicked with trusted input;
//! then what came of it, as the page tells.

use std::time::Duration;

use desktop::{Button, DesktopError, Evidence, Key};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cdp::CdpBrowser;
use crate::gone::{Was, stale};
use crate::live::{Focus, Frame, Known, Live, Page, STEP};
use crate::script::{Form, Outer, Ready};
use crate::wire::Pending;
use crate::{DialogAnswer, DialogKind, Kind, PageQuery, Scope, WebActed, WebClick, WebTarget};

/// What scrolled answers to scrolling.
const LOOK_AGAIN: Duration = Duration::from_millis(25);

impl CdpBrowser {
    pub(crate) async fn target_now(&self, reference: Option<String>) -> Result<WebTarget, DesktopError> {
        let mut held = self.running().await?;
        let live = held.live()?;
        let Some(reference) = reference else {
            let (page, dialog) = live.told_dialog()?;
            let url = live.tab(&page.target).await.url;
            return Ok(WebTarget { url, called: dialog.message, ..WebTarget::default() });
        };
        let grip = live.grip(&reference).await?;
        let form: Form = live.ask(&grip.known.frame, "form", json!({ "id": grip.id })).await?;
        form.target(&reference)
    }

    pub(crate) async fn click_now(
        &self,
        click: WebClick,
        cancel: &CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        let mut held = self.held().await?;
        let live = held.live()?;
        let grip = live.grip(&click.reference).await?;
        let page = &grip.page;
        let focus = live.come_to(page).await?;
        let done = live.click(&grip, &click, cancel).await;
        live.leave(page, focus).await;
        let (acted, (x, y)) = done?;
        let display = self.display(click.display).await;
        let at = display.and_then(|display| live.at(page, (x, y), &display));
        Ok(WebActed { at, ..acted })
    }

    pub(crate) async fn answer_now(&self, answer: DialogAnswer) -> Result<WebActed, DesktopError> {
        let mut held = self.held().await?;
        let live = held.live()?;
        let (page, dialog) = live.told_dialog()?;
        let before = live.before(&page);
        let (accept, text) = match &answer {
            DialogAnswer::Accept(text) => (true, text.clone()),
            DialogAnswer::Dismiss => (false, None),
        };
        if text.is_some() && dialog.kind != DialogKind::Prompt {
            return Err(DesktopError::BadInput("only a prompt takes a text".into()));
        }
        let wish = json!({ "accept": accept, "promptText": text.unwrap_or_default() });
        live.wire.call(Some(&page.session), "Page.handleJavaScriptDialog", wish).await?;
        let gone = |state: &crate::state::BrowserState| {
            state.pages.get(&page.session)?.dialog.is_none().then_some(())
        };
        live.wire.until(STEP, gone).await;
        live.leave(&page, Focus::Pretended).await;
        let frame = live.main_frame(&page);
        let mut acted = live.judge(&page, &frame, &before).await;
        acted.evidence = Evidence::ReadBack;
        let did = if accept { "accepted" } else { "dismissed" };
        acted.note = format!("the dialog was {did}; {}", acted.note);
        let called = format!("dialog {:?}", dialog.message.chars().take(80).collect::<String>());
        Ok(live.outcome(&page, &before, called, acted).await)
    }
}

/// An element that is to be acted on.
pub(crate) struct Grip {
    pub(crate) id: u64,
    pub(crate) known: Known,
    pub(crate) page: Page,
}

/// Whether an element was brought into view already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    No,
    Yes,
}

/// The point of a click; or why there is none.
pub(crate) fn may_be_clicked(ready: &Ready, reference: &str) -> Result<(f64, f64), DesktopError> {
    let called = &ready.called;
    let no = |why: String| Err(DesktopError::BadInput(format!("{called} ({reference}) {why}")));
    match ready.kind.as_str() {
        "file" => return no("asks for a file, which is chosen by the user".into()),
        "select" => {
            return no(format!("is chosen from with webType; its options: {}", ready.options.join("; ")));
        }
        _ => {}
    }
    if ready.disabled {
        return no("is disabled".into());
    }
    match (ready.x, ready.y, &ready.cover) {
        _ if ready.empty => no("is not shown; look with webElements again".into()),
        (Some(x), Some(y), _) => Ok((x, y)),
        (_, _, Some(cover)) => no(format!("is covered by {cover}; close or move that first")),
        _ => no("cannot be brought into view".into()),
    }
}

impl Live {
    /// What a ref stands for. A ref whose element is gone is refused with the nearest one that is there.
    pub(crate) async fn grip(&mut self, reference: &str) -> Result<Grip, DesktopError> {
        let id = reference.strip_prefix('w').and_then(|number| number.parse::<u64>().ok());
        let known = id.and_then(|id| self.refs.get(&id).cloned().map(|known| (id, known)));
        let Some((id, known)) = known else {
            return Err(DesktopError::NotFound(format!("element {reference}; take a ref from webElements")));
        };
        if !self.wire.look(|state| state.targets.contains_key(&known.target)) {
            return Err(DesktopError::NotFound(format!("the tab that {reference} was in; it was closed")));
        }
        self.check_web(&known.target)?;
        let page = self.page(&known.target).await?;
        self.clear_of_dialogs(&page)?;
        self.outlooks.come_to(&known.target);
        Ok(Grip { id, known, page })
    }

    async fn click(
        &mut self,
        grip: &Grip,
        click: &WebClick,
        cancel: &CancellationToken,
    ) -> Result<(WebActed, (f64, f64)), DesktopError> {
        let page = &grip.page;
        let mut ready = self.ready(grip, "mousedown", Moved::No).await?;
        if ready.scrolled {
            tokio::time::sleep(LOOK_AGAIN).await;
            ready = self.ready(grip, "mousedown", Moved::Yes).await?;
        }
        let at = may_be_clicked(&ready, &click.reference)?;
        let (x, y) = self.in_page(&grip.known.frame, at).await?;
        let before = self.before(page);
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        self.press_button(page, (x, y), click).await?;
        let acted = self.judge(page, &grip.known.frame, &before).await;
        Ok((self.outcome(page, &before, ready.called, acted).await, (x, y)))
    }

    /// Brings a tab to the front of its window, and lets it have the focus where its window has not.
    pub(crate) async fn come_to(&mut self, page: &Page) -> Result<Focus, DesktopError> {
        let about = self.about(page).await;
        if !about.visible {
            self.wire.call(None, "Target.activateTarget", json!({ "targetId": page.target })).await?;
        }
        if about.focused {
            return Ok(Focus::Real);
        }
        self.pretend_focus(page, Focus::Pretended).await?;
        Ok(Focus::Pretended)
    }

    pub(crate) async fn leave(&self, page: &Page, focus: Focus) {
        // A page behind a dialog takes it once that is answered.
        if focus == Focus::Pretended
            && self.dialog(page).is_none()
            && let Err(error) = self.pretend_focus(page, Focus::Real).await
        {
            tracing::debug!(%error, "the page keeps its focus");
        }
    }

    /// Readies an element, and watches it for an event; one that is gone is an error that names the nearest one.
    pub(crate) async fn ready(
        &mut self,
        grip: &Grip,
        watch: &str,
        moved: Moved,
    ) -> Result<Ready, DesktopError> {
        let ask = json!({ "id": grip.id, "watch": watch, "moved": moved == Moved::Yes });
        match self.ask::<Ready>(&grip.known.frame, "ready", ask).await {
            Ok(ready) if !ready.gone => Ok(ready),
            Ok(_) => Err(self.stale(grip).await),
            // Its frame is gone, and the element with it.
            Err(DesktopError::Failed(_)) if self.wire.is_open() => Err(self.stale(grip).await),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn stale(&mut self, grip: &Grip) -> DesktopError {
        let Grip { id, known, page } = grip;
        let query =
            PageQuery { query: None, scope: Scope::Page, kind: Kind::Interactive, limit: 2_000, display: 0 };
        let seen = self.collect(page, &query).await.unwrap_or_default().elements;
        let was = Was { reference: &format!("w{id}"), role: &known.role, name: &known.name };
        stale(&was, &seen, "w")
    }

    /// A point of a frame in the page's visible part; the frames it is in are brought into view.
    pub(crate) async fn in_page(
        &mut self,
        frame: &Frame,
        point: (f64, f64),
    ) -> Result<(f64, f64), DesktopError> {
        let (mut frame, mut point) = (frame.clone(), point);
        while let Some((parent, id)) = self.above.get(&frame).cloned() {
            let outer: Outer = self.ask(&parent, "outer", json!({ "id": id, "show": true })).await?;
            if outer.gone {
                return Err(DesktopError::NotFound("the frame that the element is in; it is gone".into()));
            }
            point = (outer.x + point.0 * outer.scale, outer.y + point.1 * outer.scale);
            frame = parent;
        }
        Ok(point)
    }

    pub(crate) async fn press_button(
        &self,
        page: &Page,
        (x, y): (f64, f64),
        click: &WebClick,
    ) -> Result<(), DesktopError> {
        let button = match click.button {
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
        };
        let modifiers = modifiers(&click.held);
        let session = Some(page.session.as_str());
        let event = |kind: &str, count: u8| {
            let button = if kind == "mouseMoved" { "none" } else { button };
            json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count, "modifiers": modifiers })
        };
        let mut sent =
            vec![self.wire.send(session, "Input.dispatchMouseEvent", event("mouseMoved", 0)).await?];
        for count in 1..=click.count.max(1) {
            // The release follows at once, whatever the press is answered: nothing stays pressed.
            for kind in ["mousePressed", "mouseReleased"] {
                sent.push(self.wire.send(session, "Input.dispatchMouseEvent", event(kind, count)).await?);
            }
        }
        self.answered(page, sent).await;
        Ok(())
    }

    /// Waits until the page has taken all of it, or a dialog keeps it from answering.
    pub(crate) async fn answered(&self, page: &Page, sent: Vec<Pending<'_>>) {
        let all = async {
            for pending in sent {
                // A page that goes elsewhere takes its answers with it.
                let _answer = pending.answer(STEP).await;
            }
        };
        let dialog = self.wire.until(STEP, |state| state.pages.get(&page.session)?.dialog.clone());
        tokio::select! {
            () = all => {}
            Some(_) = dialog => {}
        }
    }
}

/// CDP's bits.
pub(crate) fn modifiers(held: &[Key]) -> u32 {
    held.iter().fold(0, |bits, key| {
        bits | match key.to_string().to_lowercase().as_str() {
            "alt" => 1,
            "ctrl" => 2,
            "cmd" | "meta" | "super" => 4,
            "shift" => 8,
            _ => 0,
        }
    })
}

#[cfg(test)]
mod tests;
