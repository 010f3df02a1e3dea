//! Pointer, wheel and keys by XTEST. Typing text is in `typing.rs`, what stays down in `holding.rs`.
//!
//! Each event is sent and seen to be worked off before the next; between two of them an action can be stopped.
//! Nothing is done to our own windows, and nothing in the failsafe's corner.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::geometry::{NormPoint, PhysicalPoint};
use tokio_util::sync::CancellationToken;
use x11rb::protocol::xtest;

use super::failsafe::in_corner;
use super::fence::Fenced;
use super::keymap::{Keymap, Stroke};
use super::pressed::{Down, PressedInput, Stop};
use super::session::{Session, no_display};
use super::windows::Own;
use crate::worker::WorkerState;
use crate::{Acted, Action, Button, DesktopError, Evidence, Key};

/// Pixels between two points of a drag; applications start dragging after a few.
const DRAG_STEP: f64 = 12.0;
/// Time an application gets between two points of a drag.
const DRAG_PAUSE: Duration = Duration::from_millis(4);
/// Between the clicks of a double click: Chromium takes two presses of the same millisecond for one.
const CLICK_PAUSE: Duration = Duration::from_millis(5);
/// Two presses so near in time and place are one double click to an application: GTK and Qt come with 400 ms and 5
/// pixels.
const DOUBLE_CLICK: (Duration, f64) = (Duration::from_millis(500), 8.0);
/// Most notches of one scroll, presses of one key, points of one drag.
const MOST_NOTCHES: u32 = 200;
const MOST_PRESSES: u32 = 200;
const MOST_POINTS: usize = 500;
/// Menus that lie over each other, and how long one takes to close.
const MOST_MENUS: u32 = 3;
const MENU_CLOSES: Duration = Duration::from_millis(300);

/// What acting keeps open.
pub(super) struct InputSender {
    pub(super) session: Session,
    /// Of the user's keyboard, where ours is another: applications read the codes of all keyboards by its layout.
    users: Option<Session>,
    pub(super) held: Arc<PressedInput>,
    pub(super) own: Own,
    pub(super) display: Option<String>,
    /// Whether to keep out of the corner.
    pub(super) corner: Arc<AtomicBool>,
    pub(super) fence: Arc<Fenced>,
    /// The last press of a pointer's button.
    last_press: Cell<Option<(Button, PhysicalPoint, Instant)>>,
}

impl WorkerState for InputSender {
    fn is_alive(&self) -> bool {
        self.session.is_alive()
    }
}

impl Drop for InputSender {
    fn drop(&mut self) {
        self.held.release_all();
    }
}

impl InputSender {
    pub(super) fn open(
        display: Option<String>,
        own: Own,
        held: Arc<PressedInput>,
        corner: Arc<AtomicBool>,
        fence: Arc<Fenced>,
    ) -> Result<Self, DesktopError> {
        let session = Session::connect_as(display.as_deref(), held.pair.as_deref())?;
        let users = held.pair.as_ref().map(|_| Session::connect(display.as_deref())).transpose()?;
        if !session.has(xtest::X11_EXTENSION_NAME) {
            return Err(DesktopError::NotAvailable(
                "the X server has no XTEST extension, which pointer and keys need; start it without -extension XTEST"
                    .into(),
            ));
        }
        Ok(Self { session, users, held, own, display, corner, fence, last_press: Cell::new(None) })
    }

    /// Does one act. When it answers, nothing is down that was not before, but what it was to leave down.
    pub(super) fn perform(
        &mut self,
        action: &Action,
        cancel: CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let _acting = self.held.begin();
        let stop = Stop::new(cancel, &self.held);
        let before = self.held.all();
        let result = stop.check().and_then(|()| self.dispatch(action, &stop));
        match &result {
            Ok(_) => {}
            Err(DesktopError::Cancelled | DesktopError::Timeout(_) | DesktopError::Failed(_)) => {
                self.held.release_all_and_wait();
                // The connection may be what failed; then the server lets it go, and says so where it is next used.
                if let Err(error) = self.held.release_pressed(&self.session) {
                    tracing::debug!(%error, "what was pressed is released by another connection alone");
                }
            }
            // Refused: what an earlier act left down stays down.
            Err(_) => self.held.release_since(&self.session, &before)?,
        }
        // Every act ends with an answer of the server.
        self.held.settle();
        result
    }

    fn dispatch(&mut self, action: &Action, stop: &Stop) -> Result<Acted, DesktopError> {
        match action {
            Action::Move { display, to } => self.travel(*display, *to, stop),
            Action::Click { display, at, button, count, held } => {
                self.no_double_click(*display, *at, *button, stop)?;
                let at = self.target(*display, *at)?;
                self.click(at, *button, *count, held, stop)
            }
            Action::Drag { display, path, button, held } => {
                if let Some(first) = path.first() {
                    self.no_double_click(*display, *first, *button, stop)?;
                }
                self.drag(*display, path, *button, held, stop)
            }
            Action::Scroll { display, at, down, right, held } => {
                let at = self.target(*display, *at)?;
                self.scroll(at, (*down, *right), held, stop)
            }
            Action::Type { text } => self.write(text, stop),
            Action::Press { key, times } => self.press(*key, *times, stop),
            Action::Hotkey { keys } => self.hotkey(keys, stop),
            Action::ButtonDown { display, at, button } => {
                self.no_double_click(*display, *at, *button, stop)?;
                let at = self.target(*display, *at)?;
                self.button_down(at, *button, stop)
            }
            Action::ButtonUp { display, at, button } => {
                let at = self.target(*display, *at)?;
                self.button_up(at, *button, stop)
            }
            Action::KeyDown { key } => self.key_down(*key, stop),
            Action::KeyUp { key } => self.key_up(*key, stop),
            Action::Hold { keys, time } => self.hold(keys, *time, stop),
        }
    }

    /// The pixel of a point where acting is allowed.
    fn place(&self, display: u32, at: NormPoint) -> Result<PhysicalPoint, DesktopError> {
        let displays = self.session.bounds()?;
        let Some(bounds) = displays.get(display as usize) else {
            return Err(no_display(display, &self.session.displays()?));
        };
        self.fence.check_display(display)?;
        let point = at.to_physical(bounds);
        if self.corner.load(Ordering::SeqCst) && in_corner(point, &displays, 2) {
            return Err(DesktopError::Forbidden(
                "the top left corner of the screen is the user's emergency stop; act at another point".into(),
            ));
        }
        Ok(point)
    }

    /// The same, where no window of ours takes the click.
    fn target(&self, display: u32, at: NormPoint) -> Result<PhysicalPoint, DesktopError> {
        let point = self.place(display, at)?;
        let top = self.session.top_once_clear(point, &self.own)?;
        if top.is_some_and(|top| top.own.is_some()) {
            return Err(DesktopError::Forbidden(format!(
                "{:.0},{:.0} is on one of Miki's own windows; act on another window, or ask the user to move it",
                at.x(),
                at.y()
            )));
        }
        self.fence.check_point(&self.session, &self.own, point)?;
        Ok(point)
    }

    /// Waits until a press there is no second click of the last act's to the application: two clicks of one each are no
    /// double click.
    fn no_double_click(
        &self,
        display: u32,
        at: NormPoint,
        button: Button,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let to = self.place(display, at)?;
        let (time, distance) = DOUBLE_CLICK;
        match self.last_press.get() {
            Some((last, from, pressed))
                if last == button && f64::from(to.x - from.x).hypot(f64::from(to.y - from.y)) <= distance =>
            {
                stop.pause((pressed + time).saturating_duration_since(Instant::now()))
            }
            _ => Ok(()),
        }
    }

    /// Presses a button of the pointer, which is there already.
    pub(super) fn press_button(
        &self,
        button: Button,
        at: PhysicalPoint,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        self.last_press.set(Some((button, at, Instant::now())));
        self.held.press(&self.session, Down::Button(number(button)), stop)
    }

    pub(super) fn check_focus(&self) -> Result<(), DesktopError> {
        if self.session.focus_is_own(&self.own)? {
            return Err(DesktopError::Forbidden(
                "the keyboard focus is in one of Miki's own windows; click or focus the target first".into(),
            ));
        }
        self.fence.check_focus(&self.session)
    }

    /// Sends the pointer there; the server works it off before anything that is sent later.
    pub(super) fn move_to(&self, point: PhysicalPoint) -> Result<(), DesktopError> {
        let out = |_| DesktopError::Failed(format!("{},{} is beyond what X11 can address", point.x, point.y));
        let (x, y) = (i16::try_from(point.x).map_err(out)?, i16::try_from(point.y).map_err(out)?);
        self.session.move_to((x, y))
    }

    /// The same in small steps, as applications expect it of a drag.
    pub(super) fn glide(
        &self,
        from: PhysicalPoint,
        to: PhysicalPoint,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let (dx, dy) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
        let steps = (dx.hypot(dy) / DRAG_STEP).ceil().max(2.0);
        for step in 1..=steps as u32 {
            let part = f64::from(step) / steps;
            let x = from.x + (dx * part).round() as i32;
            let y = from.y + (dy * part).round() as i32;
            stop.pause(DRAG_PAUSE)?;
            self.move_to(PhysicalPoint { x, y })?;
            self.session.sync()?;
        }
        stop.pause(DRAG_PAUSE)
    }

    fn travel(&self, display: u32, to: NormPoint, stop: &Stop) -> Result<Acted, DesktopError> {
        let point = self.place(display, to)?;
        stop.check()?;
        let before = self.session.pointer()?;
        if self.holds_a_button() {
            self.glide(before, point, stop)?;
        } else {
            self.move_to(point)?;
        }
        let now = self.session.pointer()?;
        let evidence = match now {
            now if now == point => Evidence::ReadBack,
            now if now == before => Evidence::Nothing,
            _ => Evidence::Mismatch,
        };
        Ok(Acted { evidence, note: format!("the pointer is at pixel {},{}", now.x, now.y) })
    }

    fn tap(&self, what: Down, stop: &Stop) -> Result<(), DesktopError> {
        self.held.press(&self.session, what, stop)?;
        self.held.release(&self.session, what)
    }

    fn click(
        &self,
        at: PhysicalPoint,
        button: Button,
        count: u8,
        modifiers: &[Key],
        stop: &Stop,
    ) -> Result<Acted, DesktopError> {
        if !(1..=3).contains(&count) {
            return Err(DesktopError::BadInput(format!("click count = {count} is outside 1-3")));
        }
        self.check_up(button)?;
        let codes = self.codes(modifiers)?;
        self.move_to(at)?;
        let pressed = self.press_all(&codes, stop)?;
        self.held.click(&self.session, number(button), count, CLICK_PAUSE, stop)?;
        self.let_go(&pressed)?;
        // The server has done it by now.
        self.session.sync()?;
        self.last_press.set(Some((button, at, Instant::now())));
        let clicked = format!("clicked {button:?} x{count} at pixel {},{}", at.x, at.y).to_lowercase();
        Ok(sent(format!("{clicked}{}", cmd_note(modifiers))))
    }

    pub(super) fn keymap(&self) -> Result<Keymap, DesktopError> {
        Keymap::of(self.users.as_ref().unwrap_or(&self.session), &self.session)
    }

    /// Key codes of keys to hold down, with the shift that the last ones may need.
    pub(super) fn codes(&self, keys: &[Key]) -> Result<Vec<u8>, DesktopError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keymap = self.keymap()?;
        let mut codes = Vec::new();
        for key in keys {
            // "ctrl+S" means ctrl+s: upper case is how hotkeys are written, not how they are pressed.
            let key = match *key {
                Key::Char(character) if keys.len() > 1 => Key::Char(character.to_ascii_lowercase()),
                key => key,
            };
            let Stroke { code, shift } = match (keymap.key(key), key) {
                (Err(error), Key::Char(character)) if keys.len() > 1 => {
                    let code = Keymap::place_of(character).ok_or(error)?;
                    Stroke { code, shift: false }
                }
                (stroke, _) => stroke?,
            };
            let shift = if shift { Some(keymap.key(Key::Shift)?.code) } else { None };
            for code in shift.into_iter().chain([code]) {
                if !codes.contains(&code) {
                    codes.push(code);
                }
            }
        }
        Ok(codes)
    }

    fn drag(
        &self,
        display: u32,
        path: &[NormPoint],
        button: Button,
        modifiers: &[Key],
        stop: &Stop,
    ) -> Result<Acted, DesktopError> {
        if !(2..=MOST_POINTS).contains(&path.len()) {
            return Err(DesktopError::BadInput(format!(
                "a drag of {} points is outside 2-{MOST_POINTS}",
                path.len()
            )));
        }
        self.check_up(button)?;
        let points = path.iter().map(|at| self.target(display, *at)).collect::<Result<Vec<_>, _>>()?;
        let codes = self.codes(modifiers)?;
        let what = Down::Button(number(button));
        let mut at = points[0];
        self.move_to(at)?;
        let pressed = self.press_all(&codes, stop)?;
        self.press_button(button, at, stop)?;
        for next in &points[1..] {
            self.glide(at, *next, stop)?;
            at = *next;
        }
        self.held.release(&self.session, what)?;
        self.let_go(&pressed)?;
        let note = cmd_note(modifiers);
        Ok(sent(format!("dragged over {} points to pixel {},{}{note}", points.len(), at.x, at.y)))
    }

    fn scroll(
        &self,
        at: PhysicalPoint,
        (down, right): (i32, i32),
        modifiers: &[Key],
        stop: &Stop,
    ) -> Result<Acted, DesktopError> {
        let notches = down.unsigned_abs().saturating_add(right.unsigned_abs());
        if !(1..=MOST_NOTCHES).contains(&notches) {
            return Err(DesktopError::BadInput(format!(
                "a scroll of {notches} notches is outside 1-{MOST_NOTCHES}"
            )));
        }
        let codes = self.codes(modifiers)?;
        self.move_to(at)?;
        let pressed = self.press_all(&codes, stop)?;
        let wheels = [(down, 5, 4), (right, 7, 6)];
        for (amount, forward, backward) in wheels {
            let wheel = if amount > 0 { forward } else { backward };
            for _ in 0..amount.unsigned_abs() {
                self.tap(Down::Button(wheel), stop)?;
                self.session.sync()?;
            }
        }
        self.let_go(&pressed)?;
        let note = cmd_note(modifiers);
        Ok(sent(format!("scrolled {down} down and {right} right at pixel {},{}{note}", at.x, at.y)))
    }

    fn press(&self, key: Key, times: u32, stop: &Stop) -> Result<Acted, DesktopError> {
        if !(1..=MOST_PRESSES).contains(&times) {
            return Err(DesktopError::BadInput(format!("times = {times} is outside 1-{MOST_PRESSES}")));
        }
        self.check_focus()?;
        let window = self.session.key_window()?;
        let codes = self.codes(&[key])?;
        for done in 0..times {
            let stays = self.session.undisturbed(|| {
                let stays = self.session.keys_stay(&window)?;
                if stays {
                    self.chord(&codes, stop)?;
                }
                Ok(stays)
            })?;
            if !stays {
                return Ok(short_of(
                    done == 0,
                    format!("pressed {key} {done} times of {times}, then {MOVED_ON}"),
                ));
            }
        }
        Ok(sent(format!("pressed {key} x{times}{}", cmd_note(&[key]))))
    }

    fn hotkey(&self, keys: &[Key], stop: &Stop) -> Result<Acted, DesktopError> {
        if !(1..=6).contains(&keys.len()) {
            return Err(DesktopError::BadInput(format!("a hotkey of {} keys is outside 1-6", keys.len())));
        }
        self.check_focus()?;
        let codes = self.codes(keys)?;
        self.chord(&codes, stop)?;
        let names: Vec<String> = keys.iter().map(Key::to_string).collect();
        Ok(sent(format!("pressed {}{}", names.join("+"), cmd_note(keys))))
    }

    /// Presses all in order and releases them in reverse.
    pub(super) fn chord(&self, codes: &[u8], stop: &Stop) -> Result<(), DesktopError> {
        let pressed = self.press_all(codes, stop)?;
        self.let_go(&pressed)
    }

    /// Escape, for as long as someone holds the pointer without a button down: X11's menus and popups do. Whether anyone
    /// did.
    pub(super) fn close_menus(&mut self) -> Result<bool, DesktopError> {
        let stop = Stop::new(CancellationToken::new(), &self.held);
        let escape = self.codes(&[Key::Escape])?;
        for closed in 0..=MOST_MENUS {
            if !self.session.is_pointer_held()? {
                return Ok(closed > 0);
            }
            // Whoever holds it still is no menu.
            if closed == MOST_MENUS {
                break;
            }
            let _acting = self.held.begin();
            self.chord(&escape, &stop)?;
            let end = Instant::now() + MENU_CLOSES;
            while self.session.is_pointer_held()? && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(false)
    }

    /// Writes text, where the focus is not ours.
    fn write(&self, text: &str, stop: &Stop) -> Result<Acted, DesktopError> {
        self.check_focus()?;
        super::typing::write(self, text, stop)
    }
}

pub(super) fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

pub(super) fn cmd_note(keys: &[Key]) -> &'static str {
    if keys.contains(&Key::Cmd) { " (cmd is ctrl on this platform)" } else { "" }
}

pub(super) fn sent(note: String) -> Acted {
    Acted { evidence: Evidence::Sent, note }
}

/// What came to less than was wished, or to nothing.
pub(super) fn short_of(is_nothing: bool, note: String) -> Acted {
    Acted { evidence: if is_nothing { Evidence::Nothing } else { Evidence::Mismatch }, note }
}

/// Why the rest of the keys of an act was not sent: they were meant for the window that had the keyboard.
pub(super) const MOVED_ON: &str = "another window came to have the keyboard; look again before the rest";
