//! A person at the stage's keyboard and mouse: events from a connection of its own, none of the app's code.

use std::time::Duration;

use anyhow::{Context, Result};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::Stage;
use super::xserver::SyncNow;

const SHIFT: u32 = 0xffe1;
const RETURN: u32 = 0xff0d;

/// Between two keys of a person in a hurry. Not a wait for anything: a rhythm.
const RHYTHM: Duration = Duration::from_millis(12);

pub struct User {
    connection: RustConnection,
    root: u32,
    first_code: u8,
    per_code: usize,
    symbols: Vec<u32>,
}

impl Stage {
    /// # Errors
    /// Where the display is gone.
    pub fn user(&self) -> Result<User> {
        let (connection, screen) = self.connect()?;
        let root = connection.setup().roots[screen].root;
        let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let map = connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        let per_code = usize::from(map.keysyms_per_keycode);
        Ok(User { connection, root, first_code: first, per_code, symbols: map.keysyms })
    }
}

impl User {
    /// # Errors
    /// Where the display is gone.
    pub fn move_to(&self, x: i32, y: i32) -> Result<()> {
        self.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, self.root, x as i16, y as i16, 0)?;
        self.connection.sync_now()
    }

    /// # Errors
    /// Where the display is gone.
    pub fn click(&self, x: i32, y: i32) -> Result<()> {
        self.move_to(x, y)?;
        for kind in [BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT] {
            self.connection.xtest_fake_input(kind, 1, 0, self.root, 0, 0, 0)?;
            self.connection.sync_now()?;
        }
        Ok(())
    }

    /// Presses all in order, releases in reverse: `["ctrl", "shift", "space"]`.
    ///
    /// # Errors
    /// Names a key that this keyboard does not have.
    pub fn chord(&self, keys: &[&str]) -> Result<()> {
        let codes = keys.iter().map(|key| self.named(key)).collect::<Result<Vec<u8>>>()?;
        for code in &codes {
            self.key(KEY_PRESS_EVENT, *code)?;
        }
        for code in codes.iter().rev() {
            self.key(KEY_RELEASE_EVENT, *code)?;
        }
        Ok(())
    }

    /// Types ASCII text, key by key.
    ///
    /// # Errors
    /// Names a character that this keyboard does not have.
    pub fn type_text(&self, text: &str) -> Result<()> {
        for character in text.chars() {
            let key = if character == '\n' { RETURN } else { u32::from(character) };
            let (code, shifted) = self.find(key).with_context(|| format!("no key for {character:?}"))?;
            let shift = if shifted { Some(self.find(SHIFT).context("no shift key")?.0) } else { None };
            if let Some(shift) = shift {
                self.key(KEY_PRESS_EVENT, shift)?;
            }
            self.key(KEY_PRESS_EVENT, code)?;
            self.key(KEY_RELEASE_EVENT, code)?;
            if let Some(shift) = shift {
                self.key(KEY_RELEASE_EVENT, shift)?;
            }
            std::thread::sleep(RHYTHM);
        }
        Ok(())
    }

    fn key(&self, kind: u8, code: u8) -> Result<()> {
        self.connection.xtest_fake_input(kind, code, 0, self.root, 0, 0, 0)?;
        self.connection.sync_now()
    }

    fn named(&self, key: &str) -> Result<u8> {
        let symbol = match key {
            "ctrl" => 0xffe3,
            "shift" => SHIFT,
            "alt" => 0xffe9,
            "enter" => 0xff0d,
            "escape" => 0xff1b,
            "tab" => 0xff09,
            "space" => 0x20,
            "home" => 0xff50,
            "f5" => 0xffc2,
            one if one.chars().count() == 1 => one.chars().next().map_or(0, u32::from),
            _ => 0,
        };
        Ok(self.find(symbol).with_context(|| format!("no key named {key}"))?.0)
    }

    /// The keycode of a symbol, and whether shift is needed for it.
    fn find(&self, symbol: u32) -> Option<(u8, bool)> {
        [0, 1].into_iter().find_map(|level| {
            let at = self.symbols.chunks(self.per_code).position(|row| row.get(level) == Some(&symbol))?;
            Some((self.first_code + u8::try_from(at).ok()?, level == 1))
        })
    }
}
