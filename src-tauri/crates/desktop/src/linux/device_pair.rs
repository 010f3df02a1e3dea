//! A pointer and a keyboard beside the user's: a master pair of XInput 2, with which an agent works while its user does.
//!
//! Who speaks to the server as the pair ([`DevicePair::speak_for`]) means this pair by all that the core protocol calls
//! the pointer and the keyboard: XTEST, `QueryPointer`, `GetInputFocus`. Its keyboard follows its pointer, as the server
//! makes it: the window under the pointer gets the keys, and no window manager is told of a focus.
//!
//! Window managers take the clicks on a window that is not active (click to focus), and keys such as Alt+F4, by grabs of
//! exact modifiers. On the pair's keyboard a modifier is locked that no key has, so that none of them fits. Seen with
//! openbox, metacity and mutter; xfwm4 grabs buttons with any modifier.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use x11rb::connection::RequestConnection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::xinput::{
    ChangeMode, ConnectionExt as _, DEVICE_BUTTON_PRESS_EVENT, DEVICE_BUTTON_RELEASE_EVENT,
    DEVICE_KEY_PRESS_EVENT, DEVICE_KEY_RELEASE_EVENT, Device, DeviceId, DeviceType, HierarchyChange,
    HierarchyChangeData, HierarchyChangeDataAddMaster, HierarchyChangeDataRemoveMaster, X11_EXTENSION_NAME,
    XIDeviceInfo,
};
use x11rb::protocol::xkb::{ConnectionExt as _, Group};
use x11rb::protocol::xproto::{ConnectionExt as _, ModMask};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::x11_utils::Serialize as _;

use super::pressed::{Down, Way};
use super::session::Session;
use super::watchdog::Watchdog;
use super::windows::Own;
use crate::DesktopError;

/// What all our pairs are called, before the process and the number of the pair in it.
const PREFIX: &str = "Miki ";
/// The longest name of an agent in that of its pair.
const LONGEST_NAME: usize = 40;
/// Counts the pairs of this process.
static PAIRS: AtomicU32 = AtomicU32::new(0);

/// Removed when it is dropped; should this program be killed, by the watchdog.
pub(super) struct DevicePair {
    pub(super) ids: PairIds,
    session: Session,
    is_removed: AtomicBool,
}

/// The devices of a pair, as the server numbers them: what is sent to one that has gone reaches nobody, and says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairIds {
    pointer: DeviceId,
    /// What presses for the pointer and for the keyboard.
    buttons: DeviceId,
    keys: DeviceId,
    /// The first number of the input extension's events.
    events: u8,
}

impl PairIds {
    fn of(session: &Session, name: &str) -> Result<Option<(Self, DeviceId)>, DesktopError> {
        let devices = session.conn.xinput_xi_query_device(Device::ALL)?.reply()?.infos;
        let called = |what: &str| {
            let name = format!("{name} {what}");
            devices.iter().find(|device| String::from_utf8_lossy(&device.name) == name)
        };
        let all = (called("pointer"), called("XTEST pointer"), called("XTEST keyboard"));
        let (Some(pointer), Some(buttons), Some(keys)) = all else { return Ok(None) };
        let Some(events) = session.conn.extension_information(X11_EXTENSION_NAME)? else { return Ok(None) };
        let ids = Self {
            pointer: pointer.deviceid,
            buttons: buttons.deviceid,
            keys: keys.deviceid,
            events: events.first_event,
        };
        Ok(Some((ids, pointer.attachment)))
    }

    pub(super) fn pointer(&self) -> DeviceId {
        self.pointer
    }

    pub(super) fn move_to(&self, session: &Session, (x, y): (i16, i16)) -> Result<(), DesktopError> {
        let fixed = |pixels: i16| i32::from(pixels) << 16;
        let to = (fixed(x), fixed(y));
        let warped = session.conn.xinput_xi_warp_pointer(
            x11rb::NONE,
            session.root,
            0,
            0,
            0,
            0,
            to.0,
            to.1,
            self.pointer,
        )?;
        warped.check().map_err(gone)
    }

    pub(super) fn send(&self, session: &Session, what: Down, way: Way) -> Result<(), DesktopError> {
        let (kind, detail, device) = match (what, way) {
            (Down::Key(code), Way::Press) => (DEVICE_KEY_PRESS_EVENT, code, self.keys),
            (Down::Key(code), Way::Release) => (DEVICE_KEY_RELEASE_EVENT, code, self.keys),
            (Down::Button(number), Way::Press) => (DEVICE_BUTTON_PRESS_EVENT, number, self.buttons),
            (Down::Button(number), Way::Release) => (DEVICE_BUTTON_RELEASE_EVENT, number, self.buttons),
        };
        // The request has seven bits for it: a higher number would be another device's.
        let device = u8::try_from(device).ok().filter(|device| *device < 128);
        let Some(device) = device else { return Err(no_pair("the X server has numbered them too high")) };
        let kind = kind + self.events;
        session.conn.xtest_fake_input(kind, detail, 0, session.root, 0, 0, device)?.check().map_err(gone)
    }
}

impl DevicePair {
    /// # Errors
    /// [`DesktopError::NotAvailable`] where the server has or gives none.
    pub(super) fn make(
        display: Option<&str>,
        agent: &str,
        own: &Own,
        watchdog: &Watchdog,
    ) -> Result<Self, DesktopError> {
        let session = Session::connect(display)?;
        version(&session)?;
        remove_left_over(&session, own)?;
        let agent: String = agent.chars().filter(|one| !one.is_control()).take(LONGEST_NAME).collect();
        let number = PAIRS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}.{number} {}", std::process::id(), agent.trim()).trim_end().to_owned();
        watchdog.pair(&name);
        let add = HierarchyChangeData::AddMaster(HierarchyChangeDataAddMaster {
            send_core: true,
            enable: true,
            name: name.as_bytes().to_vec(),
        });
        change(&session, add).map_err(|error| no_pair(&error.to_string()))?;
        let Some((ids, keyboard)) = PairIds::of(&session, &name)? else {
            return Err(no_pair("the X server made no pair"));
        };
        let pair = Self { ids, session, is_removed: AtomicBool::new(false) };
        pair.speak_for(&pair.session)?;
        pair.lock_free_modifier(keyboard)?;
        Ok(pair)
    }

    /// From now on the session's pointer and keyboard are this pair's.
    pub(super) fn speak_for(&self, session: &Session) -> Result<(), DesktopError> {
        Ok(session.conn.xinput_xi_set_client_pointer(x11rb::NONE, self.ids.pointer)?.check()?)
    }

    /// What it holds comes up, wherever it is still spoken for.
    pub(super) fn remove(&self) {
        if self.is_removed.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Err(error) = remove(&self.session, self.ids.pointer) {
            tracing::debug!(%error, "the agent's pointer went by itself");
        }
    }

    fn lock_free_modifier(&self, keyboard: DeviceId) -> Result<(), DesktopError> {
        let conn = &self.session.conn;
        conn.xkb_use_extension(1, 0)?.reply()?;
        let map = conn.get_modifier_mapping()?.reply()?;
        let keys: Vec<&[u8]> = map.keycodes.chunks(usize::from(map.keycodes_per_modifier()).max(1)).collect();
        let is_free = |index: &usize| keys.get(*index).is_some_and(|keys| keys.iter().all(|&key| key == 0));
        // Mod3 to Mod1; Mod3 has no key that types but in a few layouts, where it is of no letter on a plain level.
        let index = [5, 7, 4, 6, 3].into_iter().find(is_free).unwrap_or(5);
        let (free, none) = (ModMask::from(1u16 << index), ModMask::from(0u16));
        conn.xkb_latch_lock_state(keyboard, free, free, false, Group::M1, none, false, 0)?.check()?;
        Ok(())
    }
}

impl Drop for DevicePair {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Of the extension that pairs are made by, its major and minor number.
///
/// # Errors
/// [`DesktopError::NotAvailable`] where the server has none, or too old a one.
pub(super) fn version(session: &Session) -> Result<(u16, u16), DesktopError> {
    if !session.has(X11_EXTENSION_NAME) {
        return Err(no_pair("the X server has no XInput extension"));
    }
    let version = session.conn.xinput_xi_query_version(2, 2)?.reply()?;
    match (version.major_version, version.minor_version) {
        version if version < (2, 0) => Err(no_pair("the X server's XInput extension is older than 2.0")),
        version => Ok(version),
    }
}

/// Removes the pairs with this name; what they hold comes up.
pub(super) fn remove_named(session: &Session, name: &str) -> Result<(), DesktopError> {
    remove_where(session, |pointer| is_called(pointer, name))
}

/// Removes the pairs of programs of ours that are no more.
fn remove_left_over(session: &Session, own: &Own) -> Result<(), DesktopError> {
    remove_where(session, |pointer| {
        let name = String::from_utf8_lossy(&pointer.name);
        maker(&name).is_some_and(|pid| pid != std::process::id() && !own.has(pid))
    })
}

/// The process that has made a pair with this name.
fn maker(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('.')?.0.parse().ok()
}

fn remove_where(session: &Session, is_it: impl Fn(&XIDeviceInfo) -> bool) -> Result<(), DesktopError> {
    for pointer in pointers(session)?.iter().filter(|pointer| is_it(pointer)) {
        remove(session, pointer.deviceid)?;
    }
    Ok(())
}

fn remove(session: &Session, pointer: DeviceId) -> Result<(), DesktopError> {
    let Some(users) = pointers(session)?.into_iter().min_by_key(|one| one.deviceid) else { return Ok(()) };
    // A device of the user's that somebody has attached to it goes back to the user's pair.
    let remove = HierarchyChangeDataRemoveMaster {
        deviceid: pointer,
        return_mode: ChangeMode::ATTACH,
        return_pointer: users.deviceid,
        return_keyboard: users.attachment,
    };
    change(session, HierarchyChangeData::RemoveMaster(remove))
}

/// The pointers of all pairs.
fn pointers(session: &Session) -> Result<Vec<XIDeviceInfo>, DesktopError> {
    let mut devices = session.conn.xinput_xi_query_device(Device::ALL_MASTER)?.reply()?.infos;
    devices.retain(|device| device.type_ == DeviceType::MASTER_POINTER);
    Ok(devices)
}

fn is_called(pointer: &XIDeviceInfo, name: &str) -> bool {
    String::from_utf8_lossy(&pointer.name).strip_suffix(" pointer") == Some(name)
}

fn change(session: &Session, data: HierarchyChangeData) -> Result<(), DesktopError> {
    let mut change = HierarchyChange { len: 0, data };
    change.len = u16::try_from(change.serialize().len() / 4).unwrap_or(u16::MAX);
    Ok(session.conn.xinput_xi_change_hierarchy(&[change])?.check()?)
}

/// Whoever removes it, the user in the system's settings or another program, must not make us act with the user's own.
fn gone(error: ReplyError) -> DesktopError {
    match error {
        ReplyError::X11Error(error) => {
            no_pair(&format!("somebody has removed them ({:?})", error.error_kind))
        }
        ReplyError::ConnectionError(error) => error.into(),
    }
}

fn no_pair(why: &str) -> DesktopError {
    DesktopError::NotAvailable(format!("no pointer and keyboard of its own: {why}"))
}
