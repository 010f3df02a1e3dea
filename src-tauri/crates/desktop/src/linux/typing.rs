//! Text at the keyboard focus: by keys where the layout can type it, else by the clipboard.
//!
//! Keys outside the layout would need it remapped, which races applications; pasting is exact in any script.
//! The clipboard gets its earlier content back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clipboard::{Content, Offer, earlier_content};
use super::input::InputSender;
use super::keymap::{Keymap, Stroke};
use super::pressed::{Down, Stop};
use super::watchdog::program::MOST_KEPT;
use crate::{Acted, DesktopError, Evidence, Key};

/// The longest text that is typed key by key.
const MOST_TYPED: usize = 200;
/// Keys between two looks at whether to stop.
const KEYS_A_FLUSH: usize = 12;
/// The longest text at all, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Content larger than this is not handed to the watchdog.
const MOST_GUARDED: usize = MOST_KEPT / 2;
/// How long an application may take to ask for the pasted text.
const PASTE_WAIT: Duration = Duration::from_secs(4);
/// After which any reader will do: some applications read through a process of their own.
const ANY_READER: Duration = Duration::from_millis(800);

pub(super) fn write(input: &InputSender, text: &str, stop: &Stop) -> Result<Acted, DesktopError> {
    if text.is_empty() || text.len() > MOST_BYTES {
        return Err(DesktopError::BadInput(format!(
            "a text of {} bytes is outside 1-{MOST_BYTES}",
            text.len()
        )));
    }
    if input.held.all().iter().any(|what| matches!(what, Down::Key(_))) {
        return Err(DesktopError::BadInput(
            "keys are held down and would change the text; let them go with keyUp first".into(),
        ));
    }
    // Line ends of other systems would become two new lines.
    let text = text.replace("\r\n", "\n");
    let keymap = Keymap::read(&input.session)?;
    let strokes: Option<Vec<Stroke>> = if text.len() <= MOST_TYPED {
        text.chars().map(|character| keymap.typing(character)).collect()
    } else {
        None
    };
    match strokes {
        Some(strokes) => {
            by_keys(input, &strokes, &keymap, stop)?;
            Ok(sent(format!("typed {} characters by keys", strokes.len())))
        }
        None => by_clipboard(input, &text, stop),
    }
}

fn by_keys(
    input: &InputSender,
    strokes: &[Stroke],
    keymap: &Keymap,
    stop: &Stop,
) -> Result<(), DesktopError> {
    let shift = Down::Key(keymap.key(Key::Shift)?.code);
    let mut shifted = false;
    for (i, stroke) in strokes.iter().enumerate() {
        if stroke.shift != shifted {
            if stroke.shift {
                input.held.press(&input.session, shift, stop)?;
            } else {
                input.held.release(&input.session, shift)?;
            }
            shifted = stroke.shift;
        }
        input.held.press(&input.session, Down::Key(stroke.code), stop)?;
        input.held.release(&input.session, Down::Key(stroke.code))?;
        if i % KEYS_A_FLUSH == KEYS_A_FLUSH - 1 {
            input.session.sync()?;
        }
    }
    if shifted {
        input.held.release(&input.session, shift)?;
    }
    input.session.sync()
}

/// How an application pastes: from which selection, by which keys.
struct Paste {
    selection: u32,
    codes: Vec<u8>,
}

fn way_of_pasting(input: &InputSender) -> Result<Paste, DesktopError> {
    const OLD_TERMINALS: [&str; 4] = ["xterm", "uxterm", "urxvt", "st-256color"];
    const TERMINALS: [&str; 11] = [
        "gnome-terminal",
        "xfce4-terminal",
        "konsole",
        "alacritty",
        "kitty",
        "tilix",
        "terminator",
        "mate-terminal",
        "lxterminal",
        "wezterm",
        "kgx",
    ];
    let class = input.session.focused_class()?;
    let is = |names: &[&str]| class.split(' ').any(|word| names.contains(&word));
    let primary = u32::from(x11rb::protocol::xproto::AtomEnum::PRIMARY);
    let clipboard = input.session.atoms.CLIPBOARD;
    let is_terminal = is(&TERMINALS) || class.contains("terminal");
    let with_v: Option<&[Key]> = if is(&OLD_TERMINALS) {
        None
    } else if is_terminal {
        Some(&[Key::Ctrl, Key::Shift, Key::Char('v')])
    } else {
        Some(&[Key::Ctrl, Key::Char('v')])
    };
    // A layout without Latin letters has no v; Shift+Insert pastes as well, in terminals what was selected.
    let keymap = Keymap::read(&input.session)?;
    if let Some(keys) = with_v.filter(|_| keymap.key(Key::Char('v')).is_ok()) {
        return Ok(Paste { selection: clipboard, codes: input.codes(keys)? });
    }
    let selection = if is_terminal || is(&OLD_TERMINALS) { primary } else { clipboard };
    Ok(Paste { selection, codes: input.codes(&[Key::Shift, Key::Insert])? })
}

fn by_clipboard(input: &InputSender, text: &str, stop: &Stop) -> Result<Acted, DesktopError> {
    let paste = way_of_pasting(input)?;
    let focused = input.session.focused()?;
    let earlier = earlier_content(&input.session, paste.selection)?;
    stop.check()?;
    let offer = offer(input, paste.selection, text, earlier.as_ref())?;
    let read = input.chord(&paste.codes, stop).and_then(|()| wait_until_read(&offer, focused, stop));
    let kept = earlier.is_some();
    // Also when stopped: our text must not stay in the user's clipboard.
    offer.give_back(earlier)?;
    let count = text.chars().count();
    if !read? {
        return Ok(Acted {
            evidence: Evidence::Mismatch,
            note: format!(
                "the focused window did not take the paste of {count} characters; focus an editable field first"
            ),
        });
    }
    let clipboard = if kept { "" } else { "; the clipboard's earlier content could not be kept" };
    Ok(sent(format!("typed {count} characters by paste{clipboard}")))
}

/// Offers the text. The watchdog has the earlier content meanwhile, and for as long as it comes from us.
fn offer(
    input: &InputSender,
    selection: u32,
    text: &str,
    earlier: Option<&Content>,
) -> Result<Offer, DesktopError> {
    let text = Content::text(&input.session, text);
    let display = input.display.as_deref();
    let Some(earlier) = earlier.filter(|content| !content.is_empty() && content.size() <= MOST_GUARDED)
    else {
        return Offer::make(display, selection, text);
    };
    let held = Arc::clone(&input.held);
    let kept = held.watchdog.keep(earlier.encode(selection));
    Offer::make_with(display, selection, text, move || held.watchdog.forget(kept))
}

/// Whether the window with the focus, or after a while anyone, has read the text.
fn wait_until_read(offer: &Offer, focused: Option<u32>, stop: &Stop) -> Result<bool, DesktopError> {
    let begin = Instant::now();
    while begin.elapsed() < PASTE_WAIT {
        let reads = offer.readers(focused);
        if reads.by_focused > 0 || (reads.by_others > 0 && begin.elapsed() > ANY_READER) {
            // Some ask for more than one form of it.
            stop.pause(Duration::from_millis(40))?;
            return Ok(true);
        }
        stop.pause(Duration::from_millis(4))?;
    }
    Ok(false)
}

fn sent(note: String) -> Acted {
    Acted { evidence: Evidence::Sent, note }
}
