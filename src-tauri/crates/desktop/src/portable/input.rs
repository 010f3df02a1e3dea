//! Pointer, keys and paste by enigo and arboard, on a thread of its own.
//!
//! Whatever an act holds is let go before it answers, and by [`release`] from any thread. Nothing is done to our own
//! windows or in the failsafe's corner.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use enigo::{Axis, Coordinate, Direction, Enigo, InputError, Keyboard, Mouse, Settings};
use protocol::geometry::{NormPoint, PhysicalPoint, PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;

use super::capture::Capturer;
use super::keymap::code;
use super::pressed::{Down, PressedInput, Stop};
use super::scene::{self, Own};
use crate::{Acted, Action, Button, DesktopError, Evidence, Fence, Key};

/// Between two points of a drag, for those who follow it.
const DRAG: Duration = Duration::from_millis(8);
const DRAG_STEPS: i32 = 12;
/// For the application to read the clipboard before its old content comes back: nobody tells when it has.
const PASTE: Duration = Duration::from_millis(300);
/// Longer texts, and all that is not ASCII, are pasted.
const TYPED: usize = 60;
/// Longer than this nothing is held in one act; its deadline is not far.
const HOLD: Duration = Duration::from_secs(20);
/// How near to the failsafe's corner we go.
const CORNER: i32 = 2;

pub(super) struct InputSender {
    enigo: Enigo,
    held: Arc<PressedInput>,
    own: Own,
    fence: Arc<Mutex<Fence>>,
    failsafe: Arc<AtomicBool>,
}

fn failed(error: &InputError) -> DesktopError {
    DesktopError::Failed(format!("send input: {error}"))
}

/// Opens enigo without delays, and without macOS's permission dialog.
pub(super) fn connect() -> Result<Enigo, DesktopError> {
    let settings = Settings { open_prompt_to_get_permissions: false, ..Settings::default() };
    Enigo::new(&settings).map_err(|error| match error {
        enigo::NewConError::NoPermission => DesktopError::Permission {
            what: "macOS does not let Miki use the pointer and the keyboard".into(),
            remedy: "allow Miki in System Settings > Privacy & Security > Accessibility, then try again"
                .into(),
        },
        error => DesktopError::NotAvailable(format!("input cannot be sent: {error}")),
    })
}

/// Ends every act, and lets go of everything on a thread of its own: never waits for an act under way. The answer
/// comes when it is done.
pub(super) fn release(held: &Arc<PressedInput>) -> Receiver<()> {
    let (done, answer) = sync_channel(1);
    let downs = held.end_all();
    if downs.is_empty() {
        let _nobody = done.try_send(());
        return answer;
    }
    let held = Arc::clone(held);
    let work = move || match connect() {
        Ok(mut enigo) => {
            let_go_of(&mut enigo, &downs);
            held.settle();
            let _nobody = done.try_send(());
        }
        Err(error) => tracing::error!(%error, "keys or buttons may still be held down"),
    };
    if let Err(error) = std::thread::Builder::new().name("desktop-release".into()).spawn(work) {
        tracing::error!(%error, "keys or buttons may still be held down");
    }
    answer
}

pub(super) fn let_go_of(enigo: &mut Enigo, downs: &[Down]) {
    for down in downs {
        send(enigo, *down, Direction::Release);
    }
}

fn send(enigo: &mut Enigo, down: Down, direction: Direction) {
    let sent = match down {
        Down::Key(key) => match code(key) {
            Ok(code) => enigo.key(code, direction),
            Err(_) => return,
        },
        Down::Button(button) => enigo.button(button_code(button), direction),
    };
    if let Err(error) = sent {
        tracing::error!(%error, ?down, "input could not be sent");
    }
}

/// Where the pointer is, in the platform's unit: points on macOS, pixels on Windows.
pub(super) fn pointer(enigo: &Enigo) -> Result<PhysicalPoint, DesktopError> {
    let (x, y) = enigo.location().map_err(|error| failed(&error))?;
    Ok(PhysicalPoint { x, y })
}

fn button_code(button: Button) -> enigo::Button {
    match button {
        Button::Left => enigo::Button::Left,
        Button::Middle => enigo::Button::Middle,
        Button::Right => enigo::Button::Right,
    }
}

impl InputSender {
    pub(super) fn open(
        held: Arc<PressedInput>,
        own: Own,
        fence: Arc<Mutex<Fence>>,
        failsafe: Arc<AtomicBool>,
    ) -> Result<Self, DesktopError> {
        Ok(Self { enigo: connect()?, held, own, fence, failsafe })
    }

    pub(super) fn perform(&mut self, action: &Action, stop: &Stop) -> Result<Acted, DesktopError> {
        stop.check()?;
        let result = self.act(action, stop);
        let_go_of(&mut self.enigo, &self.held.take());
        self.held.settle();
        let note = result?;
        Ok(Acted { evidence: Evidence::Sent, note })
    }

    fn act(&mut self, action: &Action, stop: &Stop) -> Result<String, DesktopError> {
        match action {
            Action::Move { display, to } => {
                self.go(*display, *to)?;
                Ok(format!("moved the pointer to {:.0},{:.0}", to.x(), to.y()))
            }
            Action::Click { display, at, button, count, held } => {
                self.go_on_others(*display, *at)?;
                for &key in held {
                    self.press(Down::Key(key), stop)?;
                }
                for _ in 0..*count {
                    self.press(Down::Button(*button), stop)?;
                    self.let_go(Down::Button(*button));
                }
                Ok(format!("clicked {count} times at {:.0},{:.0}", at.x(), at.y()))
            }
            Action::Drag { display, path, button, held } => {
                for &key in held {
                    self.press(Down::Key(key), stop)?;
                }
                self.drag(*display, path, *button, stop)
            }
            Action::Scroll { display, at, down, right, held } => {
                self.go_on_others(*display, *at)?;
                for &key in held {
                    self.press(Down::Key(key), stop)?;
                }
                for (length, axis) in [(*down, Axis::Vertical), (*right, Axis::Horizontal)] {
                    if length != 0 {
                        self.enigo.scroll(length, axis).map_err(|error| failed(&error))?;
                    }
                }
                Ok(format!("scrolled {down} down and {right} right"))
            }
            Action::Type { text } => self.write(text, stop),
            Action::Press { key, times } => {
                self.refuse_own_focus()?;
                let window = Self::key_window()?;
                for done in 0..*times {
                    if Self::key_window()? != window {
                        return Err(moved_on(&format!("pressed {key} {done} times of {times}")));
                    }
                    self.press(Down::Key(*key), stop)?;
                    self.let_go(Down::Key(*key));
                }
                Ok(format!("pressed {key} {times} times"))
            }
            Action::Hotkey { keys } => {
                self.refuse_own_focus()?;
                for &key in keys {
                    self.press(Down::Key(key), stop)?;
                }
                let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
                Ok(format!("pressed {}", names.join("+")))
            }
            Action::ButtonDown { display, at, button } => {
                self.go_on_others(*display, *at)?;
                self.press(Down::Button(*button), stop)?;
                self.held.keep(Down::Button(*button));
                Ok(format!("{button:?} button down at {:.0},{:.0}", at.x(), at.y()))
            }
            Action::ButtonUp { display, at, button } => {
                // Wherever it is: what we hold down is let go.
                let went = self.go_on_others(*display, *at);
                self.held.give_up(Down::Button(*button));
                send(&mut self.enigo, Down::Button(*button), Direction::Release);
                went?;
                Ok(format!("{button:?} button up at {:.0},{:.0}", at.x(), at.y()))
            }
            Action::KeyDown { key } => {
                self.refuse_own_focus()?;
                self.press(Down::Key(*key), stop)?;
                self.held.keep(Down::Key(*key));
                Ok(format!("{key} down"))
            }
            Action::KeyUp { key } => {
                code(*key)?;
                self.held.give_up(Down::Key(*key));
                send(&mut self.enigo, Down::Key(*key), Direction::Release);
                Ok(format!("{key} up"))
            }
            Action::Hold { keys, time } => {
                self.refuse_own_focus()?;
                for &key in keys {
                    self.press(Down::Key(key), stop)?;
                }
                let end = Instant::now() + (*time).min(HOLD);
                while Instant::now() < end {
                    stop.check()?;
                    sleep(DRAG);
                }
                let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
                Ok(format!("held {} for {} ms", names.join("+"), (*time).min(HOLD).as_millis()))
            }
        }
    }

    fn drag(
        &mut self,
        display: u32,
        path: &[NormPoint],
        button: Button,
        stop: &Stop,
    ) -> Result<String, DesktopError> {
        let [first, rest @ ..] = path else {
            return Err(DesktopError::BadInput("a drag needs at least two points".into()));
        };
        if rest.is_empty() {
            return Err(DesktopError::BadInput("a drag needs at least two points".into()));
        }
        for &point in path {
            self.refuse_own(&Capturer::display(display)?, point)?;
        }
        self.go(display, *first)?;
        self.press(Down::Button(button), stop)?;
        let mut from = *first;
        for &to in rest {
            for step in 1..=DRAG_STEPS {
                stop.check()?;
                let part = f64::from(step) / f64::from(DRAG_STEPS);
                let between = |a: f64, b: f64| a + (b - a) * part;
                let point = NormPoint::new(between(from.x(), to.x()), between(from.y(), to.y()))
                    .map_err(|error| DesktopError::BadInput(error.to_string()))?;
                self.go(display, point)?;
                sleep(DRAG);
            }
            from = to;
        }
        self.let_go(Down::Button(button));
        Ok(format!("dragged over {} points", path.len()))
    }

    /// By keys where it is short and ASCII, otherwise by paste; the clipboard's text comes back afterwards.
    fn write(&mut self, text: &str, stop: &Stop) -> Result<String, DesktopError> {
        self.refuse_own_focus()?;
        let count = text.chars().count();
        if text.is_ascii() && count <= TYPED {
            let window = Self::key_window()?;
            let mut typed = 0;
            // An Enter may bring another window to the front: what is left is not for that one.
            for line in text.split_inclusive('\n') {
                stop.check()?;
                if Self::key_window()? != window {
                    return Err(moved_on(&format!("typed {typed} of {count} characters by keys")));
                }
                self.enigo.text(line).map_err(|error| failed(&error))?;
                typed += line.chars().count();
            }
            return Ok(format!("typed {count} characters by keys"));
        }
        let lost = |error: &arboard::Error| DesktopError::Failed(format!("use the clipboard: {error}"));
        let mut clipboard = arboard::Clipboard::new().map_err(|error| lost(&error))?;
        let before = clipboard.get_text().ok();
        clipboard.set_text(text).map_err(|error| lost(&error))?;
        let pasted =
            self.press(Down::Key(Key::Cmd), stop).and_then(|()| self.press(Down::Key(Key::Char('v')), stop));
        self.let_go(Down::Key(Key::Char('v')));
        self.let_go(Down::Key(Key::Cmd));
        if pasted.is_ok() {
            sleep(PASTE);
        }
        let restored = match before {
            Some(before) => clipboard.set_text(before),
            None => clipboard.clear(),
        };
        if let Err(error) = restored {
            tracing::warn!(%error, "the clipboard's old content did not come back");
        }
        pasted?;
        Ok(format!("typed {count} characters by paste"))
    }

    fn press(&mut self, down: Down, stop: &Stop) -> Result<(), DesktopError> {
        stop.check()?;
        // Noted before it is sent: what fails half way may be down all the same.
        self.held.pressed(down);
        let sent = match down {
            Down::Key(key) => self.enigo.key(code(key)?, Direction::Press),
            Down::Button(button) => self.enigo.button(button_code(button), Direction::Press),
        };
        sent.map_err(|error| failed(&error))?;
        // A release of everything that came between has not seen this one.
        if let Err(stopped) = stop.check() {
            send(&mut self.enigo, down, Direction::Release);
            return Err(stopped);
        }
        Ok(())
    }

    fn let_go(&mut self, down: Down) {
        send(&mut self.enigo, down, Direction::Release);
        self.held.released(down);
    }

    fn go_on_others(&mut self, display: u32, at: NormPoint) -> Result<(), DesktopError> {
        self.refuse_own(&Capturer::display(display)?, at)?;
        self.go(display, at)
    }

    fn go(&mut self, display: u32, to: NormPoint) -> Result<(), DesktopError> {
        let display = Capturer::display(display)?;
        let point = to.to_physical(&display.bounds);
        if self.failsafe.load(Ordering::Relaxed)
            && scene::in_corner(point, &bounds(&Capturer::displays()?), CORNER)
        {
            return Err(DesktopError::Forbidden(
                "the top left corner is the failsafe's; aim a few pixels away from it".into(),
            ));
        }
        let (x, y) = to_platform(point, &display);
        self.enigo.move_mouse(x, y, Coordinate::Abs).map_err(|error| failed(&error))
    }

    fn refuse_own(&self, display: &DisplayView, at: NormPoint) -> Result<(), DesktopError> {
        let point = at.to_physical(&display.bounds);
        let tops = Capturer::tops()?;
        if scene::hits_own(&tops, &self.own, point, &bounds(&Capturer::displays()?)) {
            return Err(DesktopError::Forbidden("the point is on Miki's own window".into()));
        }
        scene::check_fence(&self.fence(), &tops, &self.own, Some((display.index, point)))
    }

    fn fence(&self) -> Fence {
        self.fence.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The window that gets the keys.
    fn key_window() -> Result<Option<u64>, DesktopError> {
        Ok(Capturer::tops()?.into_iter().find(|top| top.focused).map(|top| top.id))
    }

    fn refuse_own_focus(&self) -> Result<(), DesktopError> {
        let tops = Capturer::tops()?;
        if tops.iter().any(|top| top.focused && self.own.has(top)) {
            return Err(DesktopError::Forbidden(
                "Miki's own window has the keyboard; click the window that is meant first".into(),
            ));
        }
        scene::check_fence(&self.fence(), &tops, &self.own, None)
    }
}

/// Part of the keys was sent: what became of them is not known.
fn moved_on(done: &str) -> DesktopError {
    DesktopError::Failed(format!(
        "{done}, then another window came to have the keyboard; look again before the rest"
    ))
}

pub(super) fn bounds(displays: &[DisplayView]) -> Vec<PhysicalRect> {
    displays.iter().map(|display| display.bounds).collect()
}

/// macOS takes points, Windows pixels.
#[expect(clippy::cast_possible_truncation, reason = "positions on a screen")]
fn to_platform(point: PhysicalPoint, display: &DisplayView) -> (i32, i32) {
    if cfg!(target_os = "macos") {
        let logical = point.to_logical(display.scale);
        (logical.x.round() as i32, logical.y.round() as i32)
    } else {
        (point.x, point.y)
    }
}

/// A point as the platform's hooks tell it, in pixels: macOS's are points of the display they are on.
pub(super) fn from_platform(point: PhysicalPoint, displays: &[DisplayView]) -> PhysicalPoint {
    if !cfg!(target_os = "macos") {
        return point;
    }
    let to_pixels = |scale: ScaleFactor| PhysicalPoint {
        x: super::capture::to_pixels(f64::from(point.x), scale),
        y: super::capture::to_pixels(f64::from(point.y), scale),
    };
    let on = displays.iter().find(|display| display.bounds.contains(to_pixels(display.scale)));
    on.map_or(point, |display| to_pixels(display.scale))
}
