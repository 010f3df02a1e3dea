//! Hears the user's own mouse and keys: low-level hooks. What programs sent, we among them, is marked as injected.
#![expect(unsafe_code, reason = "C callbacks; each block says what makes it sound")]

use std::cell::RefCell;
use std::sync::mpsc;

use protocol::geometry::PhysicalPoint;
use windows::Win32::Foundation::{LPARAM, LRESULT, WPARAM};
use windows::Win32::System::Threading::GetCurrentThreadId;
use windows::Win32::UI::Input::KeyboardAndMouse::VK_ESCAPE;
use windows::Win32::UI::WindowsAndMessaging::{
    CallNextHookEx, GetMessageW, HC_ACTION, KBDLLHOOKSTRUCT, LLKHF_INJECTED, LLMHF_INJECTED, MSG,
    MSLLHOOKSTRUCT, PostThreadMessageW, SetWindowsHookExW, UnhookWindowsHookEx, WH_KEYBOARD_LL, WH_MOUSE_LL,
    WM_KEYDOWN, WM_KEYUP, WM_LBUTTONDOWN, WM_MBUTTONDOWN, WM_MOUSEHWHEEL, WM_MOUSEMOVE, WM_MOUSEWHEEL,
    WM_QUIT, WM_RBUTTONDOWN, WM_SYSKEYDOWN, WM_SYSKEYUP, WM_XBUTTONDOWN,
};

use crate::DesktopError;
use crate::portable::Listening;
use crate::portable::watch::{Heard, Way};

type Hear = Box<dyn Fn(Heard) + Send>;

thread_local! {
    /// Windows calls hooks on the thread that set them, and hands them nothing of ours.
    static HEAR: RefCell<Option<Hear>> = const { RefCell::new(None) };
}

struct Ears {
    thread: u32,
}

impl Listening for Ears {}

impl Drop for Ears {
    fn drop(&mut self) {
        // SAFETY: a message without pointers; a thread that is gone refuses it.
        let posted = unsafe { PostThreadMessageW(self.thread, WM_QUIT, WPARAM(0), LPARAM(0)) };
        if let Err(error) = posted {
            tracing::debug!(%error, "the listening thread had already ended");
        }
    }
}

pub(super) fn listen(hear: Hear) -> Result<Box<dyn Listening>, DesktopError> {
    let (opened, answer) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("desktop-user".into())
        .spawn(move || run(hear, &opened))
        .map_err(|error| DesktopError::Failed(format!("start the listening thread: {error}")))?;
    match answer.recv() {
        Ok(Ok(thread)) => Ok(Box::new(Ears { thread })),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(DesktopError::Failed("the listening thread ended".into())),
    }
}

fn run(hear: Hear, opened: &mpsc::SyncSender<Result<u32, DesktopError>>) {
    HEAR.set(Some(hear));
    // SAFETY: both callbacks are functions of this program, and are unhooked below on this thread.
    let hooks = unsafe {
        SetWindowsHookExW(WH_MOUSE_LL, Some(on_mouse), None, 0)
            .and_then(|mouse| Ok((mouse, SetWindowsHookExW(WH_KEYBOARD_LL, Some(on_key), None, 0)?)))
    };
    let (mouse, keys) = match hooks {
        Ok(hooks) => hooks,
        Err(error) => {
            let error = DesktopError::NotAvailable(format!("input hooks: {error}"));
            let _gone = opened.send(Err(error));
            return;
        }
    };
    let mut message = MSG::default();
    // SAFETY: takes nothing.
    let _gone = opened.send(Ok(unsafe { GetCurrentThreadId() }));
    // SAFETY: a valid place for a message. Ends with WM_QUIT (0) and with an error (-1).
    while unsafe { GetMessageW(&raw mut message, None, 0, 0) }.0 > 0 {}
    for hook in [mouse, keys] {
        // SAFETY: set above, on this thread, and unhooked once.
        if let Err(error) = unsafe { UnhookWindowsHookEx(hook) } {
            tracing::debug!(%error, "an input hook had already ended");
        }
    }
    HEAR.set(None);
}

fn tell(heard: Heard) {
    HEAR.with_borrow(|hear| {
        if let Some(hear) = hear {
            hear(heard);
        }
    });
}

unsafe extern "system" fn on_mouse(code: i32, kind: WPARAM, data: LPARAM) -> LRESULT {
    if u32::try_from(code) == Ok(HC_ACTION) {
        // SAFETY: with this code, `data` is a MSLLHOOKSTRUCT for the length of this call.
        let told = unsafe { &*std::ptr::with_exposed_provenance::<MSLLHOOKSTRUCT>(data.0.cast_unsigned()) };
        let at = PhysicalPoint { x: told.pt.x, y: told.pt.y };
        if told.flags & LLMHF_INJECTED == 0 {
            match u32::try_from(kind.0).unwrap_or(0) {
                WM_MOUSEMOVE => tell(Heard::Moved(at)),
                WM_LBUTTONDOWN | WM_RBUTTONDOWN | WM_MBUTTONDOWN | WM_XBUTTONDOWN | WM_MOUSEWHEEL
                | WM_MOUSEHWHEEL => tell(Heard::Pressed(at)),
                _ => {}
            }
        }
    }
    // SAFETY: hands on what was handed in.
    unsafe { CallNextHookEx(None, code, kind, data) }
}

unsafe extern "system" fn on_key(code: i32, kind: WPARAM, data: LPARAM) -> LRESULT {
    if u32::try_from(code) == Ok(HC_ACTION) {
        // SAFETY: with this code, `data` is a KBDLLHOOKSTRUCT for the length of this call.
        let told = unsafe { &*std::ptr::with_exposed_provenance::<KBDLLHOOKSTRUCT>(data.0.cast_unsigned()) };
        if !told.flags.contains(LLKHF_INJECTED) {
            let is_escape = told.vkCode == u32::from(VK_ESCAPE.0);
            match u32::try_from(kind.0).unwrap_or(0) {
                WM_KEYDOWN | WM_SYSKEYDOWN if is_escape => tell(Heard::Escape(Way::Down)),
                WM_KEYUP | WM_SYSKEYUP if is_escape => tell(Heard::Escape(Way::Up)),
                WM_KEYDOWN | WM_SYSKEYDOWN => tell(Heard::Key),
                _ => {}
            }
        }
    }
    // SAFETY: hands on what was handed in.
    unsafe { CallNextHookEx(None, code, kind, data) }
}
