//! Whether the screen is locked, or another user has it: what the window server says of the session.
#![expect(unsafe_code, reason = "a dictionary without types; the block says what makes it sound")]

use objc2_core_foundation::{CFBoolean, CFDictionary, CFNumber, CFRetained, CFString, CFType};
use objc2_core_graphics::CGSessionCopyCurrentDictionary;

pub(super) fn is_locked() -> bool {
    // Without a session there is no screen either, and other errors say so.
    let Some(session) = CGSessionCopyCurrentDictionary() else { return false };
    // SAFETY: the keys are strings and the values Core Foundation objects, as Apple documents; each value is asked for
    // its type before it is used.
    let session = unsafe { CFRetained::cast_unchecked::<CFDictionary<CFString, CFType>>(session) };
    let says = |name| {
        let value = session.get(&CFString::from_static_str(name))?;
        let flag = value.downcast_ref::<CFBoolean>().map(CFBoolean::as_bool);
        flag.or_else(|| value.downcast_ref::<CFNumber>()?.as_f64().map(|number| number != 0.0))
    };
    // The first is not in Apple's headers, and there only while it is locked.
    says("CGSSessionScreenIsLocked") == Some(true) || says("kCGSSessionOnConsoleKey") == Some(false)
}
