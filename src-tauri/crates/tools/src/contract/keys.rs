//! What keys do by themselves, as far as they tell: an allow-list. Pure.
//!
//! Where they go, and what Enter does there, their field tells (`act_effects.rs`).

use desktop::{Action, Key};

/// What the keys of one act do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyed {
    /// The caret or the focus goes elsewhere.
    Moves,
    /// A field's text is changed, copied or saved; `enters` if Enter is among it.
    Writes { enters: bool },
    /// What is on the clipboard comes into a field.
    Pastes,
    /// A shortcut of the application or of the whole desktop: it may do anything.
    Untold,
}

/// `None` if it is no act of the keyboard.
pub(crate) fn does(action: &Action) -> Option<Keyed> {
    Some(match action {
        Action::Type { text } if text.chars().any(|c| c.is_control() && !is_break(c)) => Keyed::Untold,
        Action::Type { text } => Keyed::Writes { enters: text.contains(is_break) },
        Action::Press { key, .. } => chord(&[*key]),
        Action::Hotkey { keys } | Action::Hold { keys, .. } => chord(keys),
        // What is held changes what all later keys and clicks do.
        Action::KeyDown { .. } | Action::KeyUp { .. } => Keyed::Untold,
        Action::Move { .. }
        | Action::Click { .. }
        | Action::Drag { .. }
        | Action::Scroll { .. }
        | Action::ButtonDown { .. }
        | Action::ButtonUp { .. } => return None,
    })
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// Modifiers with one key.
fn chord(keys: &[Key]) -> Keyed {
    use Key::{
        Backspace, Char, Cmd, Ctrl, Delete, Down, End, Enter, Escape, Home, Insert, Left, PageDown, PageUp,
        Right, Shift, Space, Tab, Up,
    };
    let (held, pressed): (Vec<Key>, Vec<Key>) = keys.iter().partition(|key| key.is_modifier());
    let [key] = pressed.as_slice() else { return Keyed::Untold };
    let shift = held.contains(&Shift);
    let command = held.contains(&Ctrl) || held.contains(&Cmd);
    if held.iter().any(|key| !matches!(key, Shift | Ctrl | Cmd)) {
        return Keyed::Untold;
    }
    let writes = Keyed::Writes { enters: false };
    match (key, command) {
        (Left | Right | Up | Down | Home | End, _) => Keyed::Moves,
        (PageUp | PageDown | Tab | Escape, false) => Keyed::Moves,
        (Backspace | Delete, _) | (Char(_) | Space, false) => writes,
        (Enter, false) => Keyed::Writes { enters: true },
        (Insert, false) if shift => Keyed::Pastes,
        (Char('v'), true) if !shift => Keyed::Pastes,
        (Char('a' | 'c' | 'x' | 'y' | 's'), true) if !shift => writes,
        (Char('z'), true) => writes,
        _ => Keyed::Untold,
    }
}
