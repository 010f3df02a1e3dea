//! What stays down: buttons and keys from one act to the next, and keys for a while.
//!
//! Whatever is left down comes up at the latest when the run stops, when this program ends, or when it is killed
//! (`watchdog.rs`).

use std::time::{Duration, Instant};

use protocol::geometry::PhysicalPoint;

use super::input::{InputSender, MOVED_ON, cmd_note, number, sent, short_of};
use super::pressed::{Down, Stop};
use crate::{Acted, Button, DesktopError, Key};

/// The longest hold.
const LONGEST: Duration = Duration::from_secs(10);
/// Most keys of one hold.
const MOST_KEYS: usize = 6;
/// Between two looks whether the focus has come to another window, which must not get the repeated keys.
const FOCUS: Duration = Duration::from_millis(20);

impl InputSender {
    pub(super) fn holds_a_button(&self) -> bool {
        self.held.all().iter().any(|what| matches!(what, Down::Button(_)))
    }

    pub(super) fn check_up(&self, button: Button) -> Result<(), DesktopError> {
        if self.held.has(Down::Button(number(button))) {
            return Err(DesktopError::BadInput(format!(
                "the {} button is down already; let it go with mouseUp first",
                word(button)
            )));
        }
        Ok(())
    }

    pub(super) fn button_down(
        &self,
        at: PhysicalPoint,
        button: Button,
        stop: &Stop,
    ) -> Result<Acted, DesktopError> {
        self.check_up(button)?;
        self.move_to(at)?;
        self.press_button(button, at, stop)?;
        self.session.sync()?;
        Ok(sent(format!("the {} button is down at pixel {},{}", word(button), at.x, at.y)))
    }

    pub(super) fn button_up(
        &self,
        at: PhysicalPoint,
        button: Button,
        stop: &Stop,
    ) -> Result<Acted, DesktopError> {
        let what = Down::Button(number(button));
        if !self.held.has(what) {
            return Err(DesktopError::BadInput(format!(
                "the {} button is not down; press it with mouseDown first (a stop or a question lets everything go)",
                word(button)
            )));
        }
        self.glide(self.session.pointer()?, at, stop)?;
        self.held.release(&self.session, what)?;
        self.session.sync()?;
        Ok(sent(format!("the {} button is up at pixel {},{}", word(button), at.x, at.y)))
    }

    pub(super) fn key_down(&self, key: Key, stop: &Stop) -> Result<Acted, DesktopError> {
        self.check_focus()?;
        let codes = self.codes(&[key])?;
        if self.press_all(&codes, stop)?.is_empty() {
            return Err(DesktopError::BadInput(format!("{key} is down already; let it go with keyUp first")));
        }
        self.session.sync()?;
        Ok(sent(format!("{key} is down{}", cmd_note(&[key]))))
    }

    pub(super) fn key_up(&self, key: Key, stop: &Stop) -> Result<Acted, DesktopError> {
        stop.check()?;
        let codes = self.codes(&[key])?;
        let down: Vec<u8> = codes.into_iter().filter(|code| self.held.has(Down::Key(*code))).collect();
        if down.is_empty() {
            return Err(DesktopError::BadInput(format!(
                "{key} is not down; press it with keyDown first (a stop or a question lets everything go)"
            )));
        }
        self.let_go(&down)?;
        Ok(sent(format!("{key} is up{}", cmd_note(&[key]))))
    }

    pub(super) fn hold(&self, keys: &[Key], time: Duration, stop: &Stop) -> Result<Acted, DesktopError> {
        if !(1..=MOST_KEYS).contains(&keys.len()) {
            return Err(DesktopError::BadInput(format!(
                "a hold of {} keys is outside 1-{MOST_KEYS}",
                keys.len()
            )));
        }
        if time.is_zero() || time > LONGEST {
            return Err(DesktopError::BadInput(format!(
                "a hold of {time:?} is not above 0 and up to {LONGEST:?}"
            )));
        }
        self.check_focus()?;
        let window = self.session.key_window()?;
        let codes = self.codes(keys)?;
        let names = keys.iter().map(Key::to_string).collect::<Vec<_>>().join("+");
        let pressed = self.press_all(&codes, stop)?;
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            stop.pause(left.min(FOCUS))?;
            if !self.session.keys_stay(&window)? {
                self.let_go(&pressed)?;
                return Ok(short_of(false, format!("let go of {names} before the time was up: {MOVED_ON}")));
            }
        }
        self.let_go(&pressed)?;
        Ok(sent(format!("held {names} for {time:?}{}", cmd_note(keys))))
    }

    /// Presses what is not down yet, in order; answers what that was.
    pub(super) fn press_all(&self, codes: &[u8], stop: &Stop) -> Result<Vec<u8>, DesktopError> {
        let mut pressed = Vec::with_capacity(codes.len());
        for code in codes {
            if !self.held.has(Down::Key(*code)) {
                self.held.press(&self.session, Down::Key(*code), stop)?;
                pressed.push(*code);
            }
        }
        Ok(pressed)
    }

    /// Lets go in reverse order, and waits until the server has worked it off.
    pub(super) fn let_go(&self, pressed: &[u8]) -> Result<(), DesktopError> {
        for code in pressed.iter().rev() {
            self.held.release(&self.session, Down::Key(*code))?;
        }
        self.session.sync()
    }
}

fn word(button: Button) -> &'static str {
    match button {
        Button::Left => "left",
        Button::Middle => "middle",
        Button::Right => "right",
    }
}
