//! Clicking an element with the real pointer, and answering a page's dialog with the real keys.
//!
//! The pointer goes to where the page should be; the page's own event tells where it came out, and the click goes to
//! where the element is by that. Where the pointer cannot reach the page, the element is pressed by script, and said so.

use std::time::Duration;

use desktop::{Acted, Action, Button, DesktopError, Evidence, Key, WindowChange};
use protocol::geometry::NormPoint;
use protocol::view::DisplayView;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::talk::Front;
use super::{App, AppleBrowser, Page, Ref, State, app};
use crate::act::{Moved, may_be_clicked};
use crate::gone::{Was, stale};
use crate::page_transform::PageTransform;
use crate::script::{About, Form, Ready};
use crate::{DialogAnswer, Kind, PageQuery, Scope, WebActed, WebClick, WebTarget};

/// What scrolled answers to scrolling.
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// How long a page may take to hear of the pointer.
const POINTER: Duration = Duration::from_millis(600);
/// A page without a dialog answers sooner than this.
const ANSWERS: Duration = Duration::from_secs(3);
/// Beside the aim, so that there is a movement wherever the pointer was: in 0-1000.
const ASIDE: f64 = 3.0;

/// An element that is to be acted on.
pub(super) struct Grip {
    pub(super) id: u64,
    pub(super) known: Ref,
    pub(super) page: Page,
    /// The newest tab before the act.
    pub(super) newest: u64,
}

/// A point of a page that the pointer is to meet.
struct Aim<'a> {
    page: &'a Page,
    before: &'a About,
    point: (f64, f64),
    display: &'a DisplayView,
}

impl Grip {
    pub(super) fn reference(&self) -> String {
        format!("wa{}", self.id)
    }
}

impl AppleBrowser {
    pub(crate) async fn target(&self, reference: &str) -> Result<WebTarget, DesktopError> {
        let mut state = self.state.lock().await;
        let grip = self.grip(&mut state, reference).await?;
        let form: Form = self.talk.ask(&grip.page.spot, "form", json!({ "id": grip.id })).await?;
        form.target(reference)
    }

    pub(crate) async fn click(
        &self,
        click: WebClick,
        cancel: &CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        let mut state = self.state.lock().await;
        let grip = self.grip(&mut state, &click.reference).await?;
        let spot = &grip.page.spot;
        self.talk.show(spot, Front::Screen).await?;
        let mut ready = self.ready(&mut state, &grip, "mousedown", Moved::No).await?;
        if ready.scrolled {
            tokio::time::sleep(LOOK_AGAIN).await;
            ready = self.ready(&mut state, &grip, "mousedown", Moved::Yes).await?;
        }
        let point = may_be_clicked(&ready, &click.reference)?;
        let before: About = self.talk.ask(spot, "about", json!({})).await?;
        let at = match self.display(click.display).await {
            Some(display) => {
                let aim = Aim { page: &grip.page, before: &before, point, display: &display };
                self.aim(&mut state, aim, cancel).await?
            }
            None => None,
        };
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let acted = match at {
            Some(at) => {
                let WebClick { button, count, held, display, .. } = click;
                let count = count.max(1);
                self.desktop.act(Action::Click { display, at, button, count, held }, cancel.clone()).await?;
                self.judge(&mut state, &grip).await
            }
            None => {
                self.press(&mut state, &grip, &click).await?;
                let acted = self.judge(&mut state, &grip).await;
                let note =
                    format!("pressed by script, as the pointer does not reach the page; {}", acted.note);
                Acted { note, ..acted }
            }
        };
        let told = self.outcome(&mut state, &grip, ready.called, acted).await;
        Ok(WebActed { at, ..told })
    }

    /// What a ref stands for, in its tab as that is now.
    pub(super) async fn grip(&self, state: &mut State, reference: &str) -> Result<Grip, DesktopError> {
        let id = reference.strip_prefix("wa").and_then(|number| number.parse::<u64>().ok());
        let known = id.and_then(|id| state.refs.get(&id).cloned().map(|known| (id, known)));
        let Some((id, known)) = known else {
            return Err(DesktopError::NotFound(format!("element {reference}; take a ref from webElements")));
        };
        let Some(page) = self.page(state, known.tab).await? else {
            return Err(DesktopError::NotFound(format!("the tab that {reference} was in; it was closed")));
        };
        self.check_fence(page.spot.app)?;
        state.check_web(&page)?;
        Ok(Grip { id, known, page, newest: state.tabs.newest() })
    }

    /// Readies an element, and watches it for an event; one that is gone is an error that names the nearest one.
    pub(super) async fn ready(
        &self,
        state: &mut State,
        grip: &Grip,
        watch: &str,
        moved: Moved,
    ) -> Result<Ready, DesktopError> {
        let ask = json!({ "id": grip.id, "watch": watch, "moved": moved == Moved::Yes });
        let ready: Ready = self.talk.ask(&grip.page.spot, "ready", ask).await?;
        if ready.gone { Err(self.stale(state, grip).await) } else { Ok(ready) }
    }

    pub(super) async fn stale(&self, state: &mut State, grip: &Grip) -> DesktopError {
        let query =
            PageQuery { query: None, scope: Scope::Page, kind: Kind::Interactive, limit: 2_000, display: 0 };
        let seen = self.collect(state, &grip.page, &query).await.unwrap_or_default().elements;
        let was = Was { reference: &grip.reference(), role: &grip.known.role, name: &grip.known.name };
        stale(&was, &seen, "wa")
    }

    /// Where on the display a point of the page is; `None` if the pointer does not reach it.
    async fn aim(
        &self,
        state: &mut State,
        aim: Aim<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<NormPoint>, DesktopError> {
        let Aim { page, before, point: (x, y), display } = aim;
        let geometry = &before.geometry;
        let measured = state.places.get(&page.number).filter(|(then, _)| then == geometry);
        if let Some((_, place)) = measured {
            return Ok(place.point(x, y, &display.bounds));
        }
        let view = page.view(geometry, display);
        let guess = view.guessed();
        let screen = || PageTransform::new((0.0, 0.0), 1.0, display.scale.0);
        let towards = match &guess {
            Some(place) => place.point(x, y, &display.bounds),
            None => view.within().and_then(|(x, y)| screen().point(x, y, &display.bounds)),
        };
        let Some(towards) = towards else { return Ok(None) };
        for to in [aside(towards), towards] {
            self.desktop.act(Action::Move { display: display.index, to }, cancel.clone()).await?;
        }
        let end = Instant::now() + POINTER;
        loop {
            let now: About = self.talk.ask(&page.spot, "about", json!({})).await?;
            let came = now.pointers.last().filter(|last| before.pointers.last() != Some(last));
            if let Some(place) = came.and_then(|&came| page.view(&now.geometry, display).measured(came)) {
                state.places.insert(page.number, (now.geometry, place));
                return Ok(place.point(x, y, &display.bounds));
            }
            if Instant::now() >= end {
                // In a frame the pointer is heard by that frame alone.
                return Ok(guess.and_then(|place| place.point(x, y, &display.bounds)));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn press(&self, state: &mut State, grip: &Grip, click: &WebClick) -> Result<(), DesktopError> {
        if click.button != Button::Left || click.count > 1 || !click.held.is_empty() {
            return Err(DesktopError::BadInput(format!(
                "{} cannot be reached with the pointer, and a script does plain left clicks only; bring the window \
                 wholly onto the display",
                click.reference
            )));
        }
        self.ready(state, grip, "click", Moved::Yes).await?;
        // A page that goes elsewhere at once does not answer.
        let pressed: Result<Option<Value>, _> =
            self.talk.ask_again(&grip.page.spot, "press", json!({ "id": grip.id }), ANSWERS).await;
        match pressed {
            Ok(_) | Err(DesktopError::NotAvailable(_) | DesktopError::Failed(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// By the keys that every dialog knows: nobody tells of dialogs but a page that says nothing.
    pub(crate) async fn answer(
        &self,
        app: &'static App,
        answer: DialogAnswer,
        cancel: CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        self.check_fence(app)?;
        let mut state = self.state.lock().await;
        // As it was last listed: an application with a dialog may not even list its tabs.
        let page = match state.tabs.front(app) {
            Some(known) => Page { number: known.number, spot: known.spot.clone(), bounds: None },
            None => self.front(&mut state, app).await?,
        };
        if self.answers(&page).await {
            return Err(DesktopError::NotFound("a dialog; none is open".into()));
        }
        self.raise(app).await?;
        let (key, did) = match answer {
            DialogAnswer::Accept(text) => {
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    self.desktop.act(Action::Type { text }, cancel.clone()).await?;
                }
                (Key::Enter, "accepted")
            }
            DialogAnswer::Dismiss => (Key::Escape, "dismissed"),
        };
        self.desktop.act(Action::Press { key, times: 1 }, cancel).await?;
        let acted = if self.answers(&page).await {
            Acted {
                evidence: Evidence::ReadBack,
                note: format!("the dialog was {did}; the page answers again"),
            }
        } else {
            let note = format!("{key} was pressed, but the page still does not answer; look at a screenshot");
            Acted { evidence: Evidence::Mismatch, note }
        };
        let tab = self.tab(&mut state, &page).await;
        Ok(WebActed {
            acted,
            called: "dialog".into(),
            at: None,
            url: tab.url,
            title: tab.title,
            dialog: None,
            opened: None,
        })
    }

    /// The application's topmost window gets the keyboard, without an event that a dialog would hold up.
    async fn raise(&self, app: &'static App) -> Result<(), DesktopError> {
        let windows = self.desktop.windows().await?;
        if let Some(window) = windows.iter().find(|window| app::named(&window.app) == Some(app)) {
            self.desktop.change_window(window.id, WindowChange::Focus).await?;
        }
        Ok(())
    }

    /// Whether the page says anything at all.
    async fn answers(&self, page: &Page) -> bool {
        let asked: Result<Option<Value>, _> =
            self.talk.ask_again(&page.spot, "about", json!({}), ANSWERS).await;
        !matches!(asked, Err(DesktopError::Failed(_)))
    }
}

fn aside(point: NormPoint) -> NormPoint {
    let x = if point.x() > 500.0 { point.x() - ASIDE } else { point.x() + ASIDE };
    NormPoint::new(x, point.y()).unwrap_or(point)
}
