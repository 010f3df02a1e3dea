//! Text at the keyboard focus: by keys where the layout can type it, else by the clipboard.
//!
//! Keys outside the layout would need it remapped, which races applications; pasting is exact in any script.
//! A line break is the key Enter in either way: pasted, it runs nothing, sends nothing, and terminals ask about it.
//! The clipboard gets its earlier content back.
//!
//! An Enter may bring another window to the front, a terminal even: what is left of the text is not for that one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::atspi::Typing;
use super::clipboard::{Content, Offer, earlier_content};
use super::input::{InputSender, MOVED_ON, sent, short_of};
use super::keymap::{Keymap, Stroke};
use super::pressed::{Down, Stop};
use super::terminals;
use super::watchdog::program::MOST_KEPT;
use super::worked_off::WorkedOff;
use crate::{Acted, DesktopError, Key};

/// The longest text that is typed key by key, in bytes; longer ones only where they have too many lines to paste.
const MOST_TYPED: usize = 200;
/// Lines pasted one by one: an application takes up to a fifth of a second for each.
const MOST_PASTED: usize = 100;
/// The longest text at all, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// As many keys after an act, or after an Enter, may meet a window that these bring to the front.
const GUARDED: usize = 32;
/// Content larger than this is not handed to the watchdog.
const MOST_GUARDED: usize = MOST_KEPT / 2;
/// How long an application may take to ask for the pasted text.
const PASTE_WAIT: Duration = Duration::from_secs(4);
/// After which any reader will do: some applications read through a process of their own.
const ANY_READER: Duration = Duration::from_millis(800);
/// For a reader to ask once more.
const ASKS_AGAIN: Duration = Duration::from_millis(150);

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
    let keymap = input.keymap()?;
    let lines: Vec<&str> = text.split('\n').collect();
    let pasted = lines.iter().filter(|line| !line.is_empty()).count();
    let strokes: Option<Vec<Stroke>> = text.chars().map(|character| keymap.typing(character)).collect();
    match strokes {
        Some(strokes) if text.len() <= MOST_TYPED || !(1..=MOST_PASTED).contains(&pasted) => {
            let typed = by_keys(input, &strokes, &keymap, stop)?;
            if typed < strokes.len() {
                let all = strokes.len();
                let note = format!("typed {typed} of {all} characters by keys, then {MOVED_ON}");
                return Ok(short_of(typed == 0, note));
            }
            Ok(sent(format!("typed {typed} characters by keys")))
        }
        None if pasted > MOST_PASTED => Err(DesktopError::BadInput(format!(
            "a text of {pasted} lines with characters that the keyboard lacks is too long to type; type at most \
             {MOST_PASTED} lines at a time"
        ))),
        Some(_) | None => by_clipboard(input, &lines, stop),
    }
}

/// How many of the strokes went to the window that has the keyboard now.
fn by_keys(
    input: &InputSender,
    strokes: &[Stroke],
    keymap: &Keymap,
    stop: &Stop,
) -> Result<usize, DesktopError> {
    let window = input.session.key_window()?;
    let mut after_enter = None;
    let shift = Down::Key(keymap.key(Key::Shift)?.code);
    let enter = keymap.key(Key::Enter)?.code;
    let mut guarded = GUARDED;
    let mut shifted = false;
    let mut typed = 0;
    for (at, stroke) in strokes.iter().enumerate() {
        let mut act = || {
            if !input.session.keys_stay(&window)? {
                return Ok(false);
            }
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
            Ok(true)
        };
        // Each look waits for the server: applications get the keys no faster than it works them off. Where something may
        // be coming to the front, the keyboard is kept where it is between look and key; always would slow a stop down.
        let is_enter = stroke.code == enter;
        guarded = if is_enter { GUARDED } else { guarded.saturating_sub(1) };
        let stays = if guarded > 0 { input.session.undisturbed(act)? } else { act()? };
        if !stays {
            break;
        }
        typed += 1;
        if is_enter && at + 1 < strokes.len() {
            rest(&mut after_enter, input, stop)?;
        }
    }
    if shifted {
        input.held.release(&input.session, shift)?;
    }
    input.session.sync()?;
    Ok(typed)
}

/// What follows an Enter before more is typed: it is waited for what took that.
enum AfterEnter {
    /// The program that runs in a terminal, by the terminal's process.
    Terminal(Option<u32>),
    Application(Box<WorkedOff>),
}

impl AfterEnter {
    fn of(input: &InputSender) -> Result<Self, DesktopError> {
        let session = &input.session;
        if Typing::of(&session.focused_class()?).is_terminal() {
            return Ok(Self::Terminal(session.focused_pid()?));
        }
        let application = WorkedOff::new(input.display.as_deref(), session)?;
        Ok(Self::Application(Box::new(application)))
    }

    fn rest(&self, stop: &Stop) -> Result<(), DesktopError> {
        match self {
            Self::Terminal(pid) => terminals::rest(*pid, stop),
            Self::Application(application) => application.rest(stop),
        }
    }
}

/// Asks what the keyboard's window is only where something is typed behind an Enter.
fn rest(after: &mut Option<AfterEnter>, input: &InputSender, stop: &Stop) -> Result<(), DesktopError> {
    let after = match after {
        Some(after) => after,
        None => after.insert(AfterEnter::of(input)?),
    };
    after.rest(stop)
}

/// How an application pastes: from which selection, by which keys.
struct Paste {
    selection: u32,
    codes: Vec<u8>,
}

fn way_of_pasting(input: &InputSender) -> Result<Paste, DesktopError> {
    let typing = Typing::of(&input.session.focused_class()?);
    let primary = u32::from(x11rb::protocol::xproto::AtomEnum::PRIMARY);
    let clipboard = input.session.atoms.CLIPBOARD;
    let with_v: Option<&[Key]> = match typing {
        Typing::OldTerminal => None,
        Typing::Terminal => Some(&[Key::Ctrl, Key::Shift, Key::Char('v')]),
        Typing::Plain => Some(&[Key::Ctrl, Key::Char('v')]),
    };
    // A layout without Latin letters has no v; Shift+Insert pastes as well, in terminals what was selected.
    let keymap = input.keymap()?;
    if let Some(keys) = with_v.filter(|_| keymap.key(Key::Char('v')).is_ok()) {
        return Ok(Paste { selection: clipboard, codes: input.codes(keys)? });
    }
    let selection = if typing.is_terminal() { primary } else { clipboard };
    Ok(Paste { selection, codes: input.codes(&[Key::Shift, Key::Insert])? })
}

/// Pastes the lines, and presses Enter between them.
fn by_clipboard(input: &InputSender, lines: &[&str], stop: &Stop) -> Result<Acted, DesktopError> {
    let paste = way_of_pasting(input)?;
    let earlier = earlier_content(&input.session, paste.selection)?;
    stop.check()?;
    let first = lines.iter().find(|line| !line.is_empty()).unwrap_or(&"");
    let offer = offer(input, paste.selection, first, earlier.as_ref())?;
    let taken = paste_lines(input, &paste, &offer, lines, stop);
    let kept = earlier.is_some();
    // Also when stopped: our text must not stay in the user's clipboard.
    offer.give_back(earlier)?;
    let count = lines.iter().map(|line| line.chars().count() + 1).sum::<usize>() - 1;
    match taken? {
        Taken::All => {
            let clipboard = if kept { "" } else { "; the clipboard's earlier content could not be kept" };
            Ok(sent(format!("typed {count} characters by paste{clipboard}")))
        }
        Taken::Part { lines: 0, .. } => {
            let note = format!(
                "the focused window did not take the paste of {count} characters; focus an editable field first"
            );
            Ok(short_of(true, note))
        }
        Taken::Part { lines: taken, why } => {
            Ok(short_of(false, format!("{taken} of {} lines were typed, then {why}", lines.len())))
        }
    }
}

/// How many of the lines the focused window took.
enum Taken {
    All,
    Part { lines: usize, why: &'static str },
}

fn paste_lines(
    input: &InputSender,
    paste: &Paste,
    offer: &Offer,
    lines: &[&str],
    stop: &Stop,
) -> Result<Taken, DesktopError> {
    let enter = input.codes(&[Key::Enter])?;
    let mut after_enter = None;
    let window = input.session.key_window()?;
    // Whether the window had the keyboard still, and got the keys.
    let chord = |codes: &[u8]| {
        input.session.undisturbed(|| {
            let stays = input.session.keys_stay(&window)?;
            if stays {
                input.chord(codes, stop)?;
            }
            Ok(stays)
        })
    };
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            if !chord(&enter)? {
                return Ok(Taken::Part { lines: at, why: MOVED_ON });
            }
            if lines[at..].iter().any(|line| !line.is_empty()) {
                rest(&mut after_enter, input, stop)?;
            }
        }
        if line.is_empty() {
            continue;
        }
        let focused = input.session.focused()?;
        if !offer.show(Content::text(&input.session, line))? {
            return Ok(Taken::Part { lines: at, why: "another program took the clipboard" });
        }
        if !chord(&paste.codes)? {
            return Ok(Taken::Part { lines: at, why: MOVED_ON });
        }
        if !wait_until_read(offer, focused, stop)? {
            return Ok(Taken::Part { lines: at, why: "the focused window took no more" });
        }
    }
    input.session.sync()?;
    Ok(Taken::All)
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

/// Whether the window with the focus, or after a while anyone, has taken the text, and asks no more.
fn wait_until_read(offer: &Offer, focused: Option<u32>, stop: &Stop) -> Result<bool, DesktopError> {
    let begin = Instant::now();
    while begin.elapsed() < PASTE_WAIT {
        let readers = offer.readers(focused);
        let is_taken = readers.focused || (readers.others && begin.elapsed() > ANY_READER);
        if is_taken && readers.asked.elapsed() > ASKS_AGAIN {
            return Ok(true);
        }
        stop.pause(Duration::from_millis(4))?;
    }
    Ok(offer.readers(focused).any)
}
