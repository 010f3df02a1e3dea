//! The user's hands: events of the server's own devices, which no XTEST device is the source of.

use std::io::IoSlice;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::xinput::{self, ConnectionExt as _, DeviceType};
use x11rb::protocol::xproto::Window;
use x11rb::protocol::xtest;
use x11rb::rust_connection::RustConnection;

use crate::screen::Screen;

const KEY_PRESS: u8 = 1;
const KEY_RELEASE: u8 = 2;
const BUTTON_PRESS: u8 = 3;
const BUTTON_RELEASE: u8 = 4;
const MOTION: u8 = 5;
/// The codes of some keys on every evdev keyboard.
pub const ESCAPE: u8 = 9;
pub const A: u8 = 38;

pub struct User {
    pub conn: RustConnection,
    root: Window,
    pointer: u8,
    keyboard: u8,
    /// The first event of the input extension; those of its devices are counted from it.
    base: u8,
    xtest: u8,
}

impl User {
    pub fn new(screen: &Screen) -> Self {
        let conn = screen.connect();
        let root = conn.setup().roots[0].root;
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let extension = |name| conn.extension_information(name).unwrap().unwrap();
        let base = extension(xinput::X11_EXTENSION_NAME).first_event;
        let xtest = extension(xtest::X11_EXTENSION_NAME).major_opcode;
        let devices = conn.xinput_xi_query_device(0_u16).unwrap().reply().unwrap().infos;
        let slave = |kind: DeviceType| {
            let found = devices.iter().find(|device| {
                device.type_ == kind && !String::from_utf8_lossy(&device.name).contains("XTEST")
            });
            u8::try_from(found.unwrap().deviceid).unwrap()
        };
        let (pointer, keyboard) = (slave(DeviceType::SLAVE_POINTER), slave(DeviceType::SLAVE_KEYBOARD));
        Self { conn, root, pointer, keyboard, base, xtest }
    }

    /// Puts the pointer there.
    pub fn point(&self, x: i16, y: i16) {
        self.send(MOTION, 0, self.pointer, &[x.into(), y.into()]);
    }

    /// Moves the pointer by so many pixels.
    pub fn push(&self, right: i32, down: i32) {
        self.send(MOTION, 1, self.pointer, &[right, down]);
    }

    pub fn click(&self) {
        self.send(BUTTON_PRESS, 1, self.pointer, &[]);
        self.send(BUTTON_RELEASE, 1, self.pointer, &[]);
    }

    pub fn key_down(&self, code: u8) {
        self.send(KEY_PRESS, code, self.keyboard, &[]);
    }

    pub fn key_up(&self, code: u8) {
        self.send(KEY_RELEASE, code, self.keyboard, &[]);
    }

    /// One event of a device as XTEST takes it: with the device's number, and its axes in an event of their own.
    fn send(&self, kind: u8, detail: u8, device: u8, axes: &[i32]) {
        let mut request = vec![self.xtest, xtest::FAKE_INPUT_REQUEST, 0, 0];
        request.extend([self.base + kind, detail, 0, 0]);
        request.extend(0_u32.to_ne_bytes());
        request.extend(self.root.to_ne_bytes());
        request.extend([0; 19]);
        request.push(device);
        if !axes.is_empty() {
            request.extend([self.base, device, 0, 0, 0, 0, axes.len() as u8, 0]);
            let all = axes.iter().copied().chain(std::iter::repeat(0));
            request.extend(all.take(6).flat_map(i32::to_ne_bytes));
        }
        let length = u16::try_from(request.len() / 4).unwrap();
        request[2..4].copy_from_slice(&length.to_ne_bytes());
        let sent = self.conn.send_request_without_reply(&[IoSlice::new(&request)], vec![]).unwrap();
        sent.check().unwrap();
    }
}
