//! Filling fields by script: text at the caret as an editor takes it, values that only scripts can set, options; all
//! read back. No other window loses the keyboard.

use std::time::Duration;

use desktop::{Acted, DesktopError, Evidence};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::act::Grip;
use super::talk::Front;
use super::{AppleBrowser, State};
use crate::act::Moved;
use crate::filled::{TAKEN_BACK, chosen, may_be_filled, typed, unless_taken_back, untold, was_set};
use crate::script::{About, FieldContent, Focused, Ready};
use crate::{Fill, Then, WebActed, WebText};

/// A page may tidy what was typed.
const SETTLE: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(40);
const ANSWERS: Duration = Duration::from_secs(5);

impl AppleBrowser {
    pub(crate) async fn type_text(
        &self,
        text: WebText,
        cancel: &CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        let mut state = self.state.lock().await;
        let grip = self.grip(&mut state, &text.reference).await?;
        let spot = &grip.page.spot;
        let about: About = self.talk.ask(spot, "about", json!({})).await?;
        if !about.visible {
            self.talk.show(spot, Front::Window).await?;
        }
        let ready = self.ready(&mut state, &grip, "keydown", Moved::No).await?;
        may_be_filled(&ready, &text.reference)?;
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let acted = match ready.kind.as_str() {
            "select" => {
                let held = self.held(&mut state, &grip, "choose", &text.text).await?;
                chosen(&held, &ready.called)?
            }
            "set" => {
                let held = self.held(&mut state, &grip, "setValue", &text.text).await?;
                was_set(&held, &ready.called)
            }
            _ => self.fill(&mut state, &grip, &ready, &text, cancel).await?,
        };
        if text.then == Then::Nothing || acted.evidence.falls_short() {
            let acted = self.unless_taken_back(&grip, acted, &text.text).await;
            return Ok(self.outcome(&mut state, &grip, ready.called, acted).await);
        }
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        // Where the page goes elsewhere at once, it does not answer.
        let entered: Result<Option<Value>, _> =
            self.talk.ask_again(spot, "enter", json!({ "id": grip.id }), ANSWERS).await;
        if let Err(error) = entered {
            tracing::debug!(%error, "the page says nothing of Enter");
        }
        let then = self.judge(&mut state, &grip).await;
        let note = format!("{}; Enter by script: {}", acted.note, then.note);
        let acted = Acted { evidence: then.evidence, note };
        Ok(self.outcome(&mut state, &grip, ready.called, acted).await)
    }

    async fn held(
        &self,
        state: &mut State,
        grip: &Grip,
        function: &str,
        text: &str,
    ) -> Result<FieldContent, DesktopError> {
        let ask = json!({ "id": grip.id, "text": text });
        let held: FieldContent = self.talk.ask(&grip.page.spot, function, ask).await?;
        if held.gone { Err(self.stale(state, grip).await) } else { Ok(held) }
    }

    async fn fill(
        &self,
        state: &mut State,
        grip: &Grip,
        ready: &Ready,
        text: &WebText,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let spot = &grip.page.spot;
        let ask = json!({ "id": grip.id, "append": text.how == Fill::Append });
        let focused: Focused = self.talk.ask(spot, "focusText", ask).await?;
        if focused.gone {
            return Err(self.stale(state, grip).await);
        }
        if !focused.focused {
            return Err(DesktopError::BadInput(format!(
                "{} takes no focus; click it with webClick first",
                ready.called
            )));
        }
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let wanted = &text.text;
        let ask = json!({ "id": grip.id, "text": wanted });
        let _done: Value = self.talk.ask(spot, "insert", ask).await?;
        let end = Instant::now() + SETTLE;
        loop {
            let Some(held) = self.held_by(grip, wanted).await else { return Ok(untold()) };
            if held.equal || Instant::now() >= end {
                return Ok(typed(&held, wanted));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// What a field holds; `None` if it is gone or the page does not tell.
    async fn held_by(&self, grip: &Grip, wanted: &str) -> Option<FieldContent> {
        let ask = json!({ "id": grip.id, "text": wanted });
        let held: Option<FieldContent> =
            self.talk.ask_again(&grip.page.spot, "holds", ask, ANSWERS).await.unwrap_or_default();
        held.filter(|held| !held.gone)
    }

    /// What was read back, if it is so still a moment later.
    async fn unless_taken_back(&self, grip: &Grip, acted: Acted, wanted: &str) -> Acted {
        if acted.evidence != Evidence::ReadBack {
            return acted;
        }
        let then = self.held_by(grip, wanted).await;
        tokio::time::sleep(TAKEN_BACK).await;
        match (then, self.held_by(grip, wanted).await) {
            (Some(then), Some(now)) => unless_taken_back(acted, &then, &now),
            _ => acted,
        }
    }
}
