//! What the watch sees: raw events and the pointer, made into interruptions. Runs on the watch's thread alone.

mod motion;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    self, ConnectionExt as _, DeviceId, EventMask, RawButtonPressEvent, XIEventMask,
};
use x11rb::protocol::xproto::ConnectionExt as _;

use self::motion::{Axes, Shake};
use super::super::failsafe::in_corner;
use super::super::keymap::Keymap;
use super::super::pressed::{Down, PressedInput};
use super::super::session::Session;
use super::super::windows::Own;
use crate::{DesktopError, Interruption, Key, LastPress};

/// How long Escape is held for a stop.
const ESCAPE: Duration = Duration::from_secs(1);
/// A pointer that a program warps makes no raw event: the corner is looked at this often all the same.
const WARPED: Duration = Duration::from_millis(50);
/// Displays are asked for again after this.
const DISPLAYS: Duration = Duration::from_secs(2);
/// The same is not told again within this.
const TOLD: Duration = Duration::from_millis(100);
/// A hand that leaves our window, or has just started the run, still moves the pointer for a while.
const LEAVING: Duration = Duration::from_millis(700);
/// A press that brings a window of ours to the front (of a switcher, a panel, a notification) has done so within this.
const COMING: Duration = Duration::from_secs(1);
/// For how long the window below the pointer is taken for the one it was.
const SAME_WINDOW: Duration = Duration::from_millis(100);
/// All devices, and all that the user's ones are attached to (XInput2).
const ALL: DeviceId = 0;
const ALL_MASTERS: DeviceId = 1;

pub(super) struct Senses {
    pub(super) session: Session,
    own: Own,
    devices: HashMap<DeviceId, Source>,
    escape_code: Option<u8>,
    /// Key codes that the window manager's shortcuts begin with.
    shortcuts: HashSet<u32>,
    escape: Option<Escape>,
    shake: Shake,
    displays: Vec<PhysicalRect>,
    displays_read: Instant,
    /// Until then the pointer's moves do not count.
    leaving: Instant,
    /// When the pointer was last seen on a window of ours.
    on_own: Option<Instant>,
    in_corner: Option<Instant>,
    told_input: Option<Instant>,
    /// Keys of the user's that are down.
    keys: HashSet<u32>,
    /// When the user last pressed something on no window of ours, until it is clear whether that counts.
    pressed: Option<Instant>,
    /// Since the last look.
    presses: Presses,
}

/// What the user has pressed.
#[derive(Default)]
pub(super) struct Presses {
    /// Those that count.
    pub(super) counted: u64,
    pub(super) last: LastPress,
}

/// Where events are from.
enum Source {
    /// Programs.
    Xtest,
    /// A hand.
    User(Axes),
}

struct Escape {
    since: Instant,
    told: bool,
}

impl Senses {
    pub(super) fn open(display: Option<&str>, own: Own) -> Result<Self, DesktopError> {
        let session = Session::connect(display)?;
        let conn = &session.conn;
        // From 2.1 on, raw events come through others' grabs too.
        let version = conn.xinput_xi_query_version(2, 2)?.reply()?;
        if (version.major_version, version.minor_version) < (2, 1) {
            return Err(DesktopError::NotAvailable(
                "the X server's input extension is older than 2.1".into(),
            ));
        }
        let raw = XIEventMask::RAW_KEY_PRESS
            | XIEventMask::RAW_KEY_RELEASE
            | XIEventMask::RAW_BUTTON_PRESS
            | XIEventMask::RAW_MOTION;
        let masks = [
            EventMask { deviceid: ALL_MASTERS, mask: vec![raw] },
            EventMask { deviceid: ALL, mask: vec![XIEventMask::HIERARCHY] },
        ];
        conn.xinput_xi_select_events(session.root, &masks)?.check()?;
        let keymap = Keymap::read(&session)?;
        let escape_code = keymap.key(Key::Escape).ok().map(|stroke| stroke.code);
        let map = conn.get_modifier_mapping()?.reply()?;
        // Control, Mod1 and Mod4, with the keys of both sides; a row has a zero for each key that is not there.
        let rows = map.keycodes.chunks(usize::from(map.keycodes_per_modifier()).max(1)).enumerate();
        let rows = rows.filter(|(row, _)| [2, 3, 6].contains(row));
        let shortcuts = rows.flat_map(|(_, keys)| keys).filter(|key| **key != 0).map(|key| u32::from(*key));
        let shortcuts = shortcuts.collect();
        let now = Instant::now();
        let mut senses = Self {
            displays: session.bounds()?,
            session,
            own,
            devices: HashMap::new(),
            escape_code,
            shortcuts,
            escape: None,
            shake: Shake::default(),
            displays_read: now,
            leaving: now + LEAVING,
            on_own: None,
            in_corner: None,
            told_input: None,
            keys: HashSet::new(),
            pressed: None,
            presses: Presses::default(),
        };
        senses.read_devices()?;
        // Pressed before anyone listened: its second begins now.
        if senses.is_escape_down()? {
            senses.escape = Some(Escape { since: now, told: false });
        }
        Ok(senses)
    }

    /// Someone new listens: what goes on already is news to them.
    pub(super) fn tell_again(&mut self) {
        self.in_corner = None;
        if let Some(escape) = &mut self.escape {
            escape.told = false;
        }
    }

    /// Tells of all that has happened; answers what the user has pressed.
    pub(super) fn look(
        &mut self,
        held: &PressedInput,
        tell: impl Fn(Interruption),
    ) -> Result<Presses, DesktopError> {
        loop {
            self.look_at_corner(&tell)?;
            self.look_at_escape(held, &tell)?;
            let came_to_us = self.pressed.is_some() && self.session.focus_is_own(&self.own)?;
            // Last, since each question to the server may bring events with its answer.
            let mut any = false;
            while let Some(event) = self.session.conn.poll_for_event()? {
                any = true;
                self.take(&event, &tell)?;
            }
            if !any {
                if came_to_us {
                    self.pressed = None;
                }
                break;
            }
        }
        if self.keys.is_empty() && self.pressed.is_some_and(|since| since.elapsed() > COMING) {
            self.count_press();
        }
        Ok(std::mem::take(&mut self.presses))
    }

    /// How long nothing needs a look unless an event comes.
    pub(super) fn sleep(&self) -> Duration {
        let due = self.escape.as_ref().filter(|escape| !escape.told).map(|escape| escape.since + ESCAPE);
        let until = due.map_or(WARPED, |due| due.saturating_duration_since(Instant::now()));
        until.min(WARPED)
    }

    fn look_at_corner(&mut self, tell: &impl Fn(Interruption)) -> Result<(), DesktopError> {
        let now = Instant::now();
        if now.duration_since(self.displays_read) > DISPLAYS {
            self.displays = self.session.bounds()?;
            self.displays_read = now;
        }
        if !in_corner(self.session.pointer()?, &self.displays, 0) {
            self.in_corner = None;
        } else if self.in_corner.is_none_or(|told| now.duration_since(told) > TOLD) {
            self.in_corner = Some(now);
            // The way into the corner is no other stepping in.
            self.told_input = Some(now);
            tell(Interruption::Corner);
        }
        Ok(())
    }

    fn look_at_escape(
        &mut self,
        held: &PressedInput,
        tell: &impl Fn(Interruption),
    ) -> Result<(), DesktopError> {
        let (Some(escape), Some(code)) = (&self.escape, self.escape_code) else { return Ok(()) };
        if escape.told || escape.since.elapsed() < ESCAPE {
            return Ok(());
        }
        if held.has(Down::Key(code)) || !self.is_escape_down()? {
            self.escape = None;
            return Ok(());
        }
        if let Some(escape) = &mut self.escape {
            escape.told = true;
        }
        self.told_input = Some(Instant::now());
        tell(Interruption::Escape);
        Ok(())
    }

    fn is_escape_down(&self) -> Result<bool, DesktopError> {
        let Some(code) = self.escape_code else { return Ok(false) };
        let keys = self.session.conn.query_keymap()?.reply()?.keys;
        Ok(keys[usize::from(code / 8)] & (1 << (code % 8)) != 0)
    }

    fn take(&mut self, event: &Event, tell: &impl Fn(Interruption)) -> Result<(), DesktopError> {
        match event {
            Event::XinputHierarchy(_) => self.read_devices(),
            Event::XinputRawKeyPress(key) => {
                let is_escape = self.escape_code.is_some_and(|code| u32::from(code) == key.detail);
                if is_escape && self.escape.is_none() {
                    self.escape = Some(Escape { since: Instant::now(), told: false });
                }
                if self.is_users(key.sourceid)? {
                    self.presses.last.key = Some(Instant::now().into());
                    self.note_shortcut(key.detail);
                    if !self.session.focus_is_own(&self.own)? {
                        self.pressed_elsewhere();
                        self.stepped_in(tell);
                    }
                    self.keys.insert(key.detail);
                }
                Ok(())
            }
            Event::XinputRawKeyRelease(key) => {
                if self.keys.remove(&key.detail) {
                    self.note_shortcut(key.detail);
                }
                if self.escape_code.is_some_and(|code| u32::from(code) == key.detail) {
                    self.escape = None;
                }
                Ok(())
            }
            Event::XinputRawButtonPress(button) => {
                if !self.is_users(button.sourceid)? {
                    return Ok(());
                }
                if self.is_on_own()? {
                    // It is this click that brings ours to the front.
                    self.count_press();
                } else {
                    self.presses.last.click = Some(Instant::now().into());
                    self.pressed_elsewhere();
                    self.stepped_in(tell);
                }
                Ok(())
            }
            Event::XinputRawMotion(motion) => self.moved(motion, tell),
            _ => Ok(()),
        }
    }

    fn note_shortcut(&mut self, key: u32) {
        if self.shortcuts.contains(&key) || !self.shortcuts.is_disjoint(&self.keys) {
            self.presses.last.shortcut = Some(Instant::now().into());
        }
    }

    fn moved(
        &mut self,
        motion: &RawButtonPressEvent,
        tell: &impl Fn(Interruption),
    ) -> Result<(), DesktopError> {
        // The look that follows every event sees the corner; this is about whose hand it was.
        if !self.is_users(motion.sourceid)? {
            return Ok(());
        }
        let Some(Source::User(axes)) = self.devices.get_mut(&motion.sourceid) else { return Ok(()) };
        let way = axes.way(motion, (self.session.area.width, self.session.area.height));
        if !self.shake.is_meant(way, Instant::now()) {
            return Ok(());
        }
        if !self.is_on_own()? && Instant::now() > self.leaving {
            self.stepped_in(tell);
        }
        Ok(())
    }

    /// One with a key down is part of what that one began: of Alt+Tab, say.
    fn pressed_elsewhere(&mut self) {
        if self.keys.is_empty() {
            self.count_press();
        }
        let now = Instant::now();
        self.pressed = Some(now);
        self.presses.last.elsewhere = Some(now.into());
    }

    /// The last press elsewhere brought nothing of ours to the front.
    fn count_press(&mut self) {
        self.presses.counted += u64::from(self.pressed.take().is_some());
    }

    fn stepped_in(&mut self, tell: &impl Fn(Interruption)) {
        let now = Instant::now();
        if self.told_input.is_none_or(|told| now.duration_since(told) > TOLD) {
            self.told_input = Some(now);
            tell(Interruption::UserInput);
        }
    }

    /// Whether the pointer is on a window of ours that takes clicks.
    fn is_on_own(&mut self) -> Result<bool, DesktopError> {
        let now = Instant::now();
        if self.on_own.is_some_and(|seen| now.duration_since(seen) < SAME_WINDOW) {
            return Ok(true);
        }
        let at: PhysicalPoint = self.session.pointer()?;
        let own = self.session.top_at(at, &self.own)?.is_some_and(|top| top.own.is_some());
        self.on_own = own.then_some(now);
        if own {
            self.leaving = now + LEAVING;
        }
        Ok(own)
    }

    fn is_users(&mut self, device: DeviceId) -> Result<bool, DesktopError> {
        if !self.devices.contains_key(&device) {
            self.read_devices()?;
        }
        Ok(!matches!(self.devices.get(&device), Some(Source::Xtest)))
    }

    fn read_devices(&mut self) -> Result<(), DesktopError> {
        let known = self.session.conn.xinput_xi_query_device(ALL)?.reply()?.infos;
        let source = |device: &xinput::XIDeviceInfo| {
            // The server's own names, one pair for each master: "Virtual core XTEST pointer".
            let name = String::from_utf8_lossy(&device.name);
            let xtest = name.ends_with("XTEST pointer") || name.ends_with("XTEST keyboard");
            if xtest { Source::Xtest } else { Source::User(Axes::of(device)) }
        };
        self.devices = known.iter().map(|device| (device.deviceid, source(device))).collect();
        Ok(())
    }
}
