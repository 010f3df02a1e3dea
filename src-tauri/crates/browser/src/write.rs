//! Filling fields: text with trusted input, values that only scripts can set, options of a select; all read back.

use std::time::Duration;

use desktop::{Acted, Button, DesktopError, Evidence};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::act::{Grip, Moved, modifiers};
use crate::cdp::CdpBrowser;
use crate::filled::{TAKEN_BACK, chosen, may_be_filled, typed, unless_taken_back, untold, was_set};
use crate::live::{Live, Page};
use crate::script::{FieldContent, Focused, Ready};
use crate::{Fill, Then, WebActed, WebClick, WebText};

/// Characters that are typed key by key, as pages that complete or check while typing need it.
const KEYS: usize = 200;
/// A page may tidy what was typed.
const SETTLE: Duration = Duration::from_millis(400);

impl CdpBrowser {
    pub(crate) async fn type_now(
        &self,
        text: WebText,
        cancel: &CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        let mut held = self.held().await?;
        let live = held.live()?;
        let grip = live.grip(&text.reference).await?;
        let page = &grip.page;
        let focus = live.come_to(page).await?;
        let done = live.write(&grip, &text, cancel).await;
        live.leave(page, focus).await;
        done
    }
}

impl Live {
    async fn write(
        &mut self,
        grip: &Grip,
        text: &WebText,
        cancel: &CancellationToken,
    ) -> Result<WebActed, DesktopError> {
        let page = &grip.page;
        let ready = self.ready(grip, "keydown", Moved::No).await?;
        may_be_filled(&ready, &text.reference)?;
        let before = self.before(page);
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let acted = match ready.kind.as_str() {
            "select" => self.choose(grip, &ready.called, &text.text).await?,
            "set" => self.set(grip, &ready.called, &text.text).await?,
            _ => self.fill(grip, &ready, text, cancel).await?,
        };
        let is_shut = acted.evidence.falls_short() || self.dialog(page).is_some();
        if text.then == Then::Nothing || is_shut {
            let acted = if is_shut { acted } else { self.unless_taken_back(grip, acted, &text.text).await };
            return Ok(self.outcome(page, &before, ready.called, acted).await);
        }
        self.keys(page, "\r").await?;
        let then = self.judge(page, &grip.known.frame, &before).await;
        // The field was read back before Enter; what Enter did is a second thing.
        let note = format!("{}; Enter: {}", acted.note, then.note);
        let acted = Acted { evidence: acted.evidence, note };
        Ok(self.outcome(page, &before, ready.called, acted).await)
    }

    async fn fill(
        &mut self,
        grip: &Grip,
        ready: &Ready,
        text: &WebText,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let Grip { id, known, page } = grip;
        let ask = json!({ "id": id, "append": text.how == Fill::Append });
        let mut focused: Focused = self.ask(&known.frame, "focusText", ask.clone()).await?;
        if !focused.focused
            && let (Some(x), Some(y)) = (ready.x, ready.y)
        {
            // Some fields come to life with a click alone.
            let at = self.in_page(&known.frame, (x, y)).await?;
            let click = WebClick {
                reference: text.reference.clone(),
                button: Button::Left,
                count: 1,
                held: Vec::new(),
                display: 0,
            };
            self.press_button(page, at, &click).await?;
            focused = self.ask(&known.frame, "focusText", ask).await?;
        }
        if focused.gone {
            return Err(self.stale(grip).await);
        }
        if !focused.focused {
            return Err(DesktopError::BadInput(format!("{} takes no focus", ready.called)));
        }
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let wanted = &text.text;
        if wanted.is_empty() {
            if text.how == Fill::Replace {
                self.keys(page, "\u{8}").await?;
            }
        } else if wanted.chars().count() <= KEYS && wanted.chars().all(|c| key_of(c).is_some() && c != '\r') {
            self.keys(page, wanted).await?;
        } else {
            let text = json!({ "text": wanted });
            let sent = self.wire.send(Some(&page.session), "Input.insertText", text).await?;
            self.answered(page, vec![sent]).await;
        }
        self.read_back(grip, wanted).await
    }

    async fn read_back(&mut self, grip: &Grip, wanted: &str) -> Result<Acted, DesktopError> {
        let end = Instant::now() + SETTLE;
        loop {
            let Some(held) = self.held_by(grip, wanted).await else { return Ok(untold()) };
            if held.equal || Instant::now() >= end {
                return Ok(typed(&held, wanted));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What a field holds; `None` if it is gone or the page does not tell.
    async fn held_by(&mut self, grip: &Grip, wanted: &str) -> Option<FieldContent> {
        let ask = json!({ "id": grip.id, "text": wanted });
        let held = self.ask::<FieldContent>(&grip.known.frame, "holds", ask).await.ok()?;
        (!held.gone).then_some(held)
    }

    /// What was read back, if it is so still a moment later. Before an Enter nothing is waited for: what the field holds
    /// then is what counts.
    async fn unless_taken_back(&mut self, grip: &Grip, acted: Acted, wanted: &str) -> Acted {
        if acted.evidence != Evidence::ReadBack {
            return acted;
        }
        let then = self.held_by(grip, wanted).await;
        tokio::time::sleep(TAKEN_BACK).await;
        if self.dialog(&grip.page).is_some() {
            return acted;
        }
        match (then, self.held_by(grip, wanted).await) {
            (Some(then), Some(now)) => unless_taken_back(acted, &then, &now),
            _ => acted,
        }
    }

    async fn choose(&mut self, grip: &Grip, called: &str, text: &str) -> Result<Acted, DesktopError> {
        let held: FieldContent =
            self.ask(&grip.known.frame, "choose", json!({ "id": grip.id, "text": text })).await?;
        if held.gone {
            return Err(self.stale(grip).await);
        }
        chosen(&held, called)
    }

    async fn set(&mut self, grip: &Grip, called: &str, text: &str) -> Result<Acted, DesktopError> {
        let held: FieldContent =
            self.ask(&grip.known.frame, "setValue", json!({ "id": grip.id, "text": text })).await?;
        if held.gone {
            return Err(self.stale(grip).await);
        }
        Ok(was_set(&held, called))
    }

    /// Presses and releases a key for each character.
    pub(crate) async fn keys(&self, page: &Page, text: &str) -> Result<(), DesktopError> {
        let mut sent = Vec::new();
        for c in text.chars() {
            let Some(key) = key_of(c) else { continue };
            for kind in ["keyDown", "keyUp"] {
                let event = key.event(kind);
                sent.push(self.wire.send(Some(&page.session), "Input.dispatchKeyEvent", event).await?);
            }
        }
        self.answered(page, sent).await;
        Ok(())
    }
}

/// A key of the US layout, as CDP speaks of it.
struct WebKey {
    key: String,
    code: String,
    /// The Windows virtual key code, which is `keyCode` in pages.
    number: u32,
    text: Option<String>,
    shift: bool,
}

impl WebKey {
    fn event(&self, kind: &str) -> Value {
        let mut event = json!({
            "type": if kind == "keyDown" && self.text.is_none() { "rawKeyDown" } else { kind },
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.number,
            "nativeVirtualKeyCode": self.number,
            "modifiers": if self.shift { modifiers(&[desktop::Key::Shift]) } else { 0 },
        });
        if let (Some(text), "keyDown") = (&self.text, kind) {
            event["text"] = text.as_str().into();
            event["unmodifiedText"] = text.as_str().into();
        }
        event
    }
}

fn key_of(c: char) -> Option<WebKey> {
    const SHIFTED: &str = ")!@#$%^&*(";
    const SIGNS: [(char, char, u32, &str); 11] = [
        (';', ':', 186, "Semicolon"),
        ('=', '+', 187, "Equal"),
        (',', '<', 188, "Comma"),
        ('-', '_', 189, "Minus"),
        ('.', '>', 190, "Period"),
        ('/', '?', 191, "Slash"),
        ('`', '~', 192, "Backquote"),
        ('[', '{', 219, "BracketLeft"),
        ('\\', '|', 220, "Backslash"),
        (']', '}', 221, "BracketRight"),
        ('\'', '"', 222, "Quote"),
    ];
    let key = |code: String, number: u32, shift: bool| {
        let text = Some(c.to_string());
        Some(WebKey { key: c.to_string(), code, number, text, shift })
    };
    match c {
        'a'..='z' | 'A'..='Z' => {
            let upper = c.to_ascii_uppercase();
            key(format!("Key{upper}"), u32::from(upper), c.is_ascii_uppercase())
        }
        '0'..='9' => key(format!("Digit{c}"), u32::from(c), false),
        ' ' => key("Space".into(), 32, false),
        '\r' => Some(WebKey {
            key: "Enter".into(),
            code: "Enter".into(),
            number: 13,
            text: Some("\r".into()),
            shift: false,
        }),
        '\u{8}' => Some(WebKey {
            key: "Backspace".into(),
            code: "Backspace".into(),
            number: 8,
            text: None,
            shift: false,
        }),
        _ => {
            if let Some(digit) = SHIFTED.chars().position(|sign| sign == c) {
                return key(format!("Digit{digit}"), 48 + u32::try_from(digit).unwrap_or(0), true);
            }
            let (sign, _, number, code) =
                SIGNS.iter().find(|(sign, shifted, ..)| *sign == c || *shifted == c)?;
            key((*code).into(), *number, *sign != c)
        }
    }
}

#[cfg(test)]
mod tests;
