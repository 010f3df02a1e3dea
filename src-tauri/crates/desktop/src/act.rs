//! What hands can do, what is known of it afterwards, and how the user steps in. Data only.

use std::time::Duration;

use protocol::geometry::NormPoint;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::Key;

/// One physical act. Points are on display `display`.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Move {
        display: u32,
        to: NormPoint,
    },
    Click {
        display: u32,
        at: NormPoint,
        button: Button,
        count: u8,
        held: Vec<Key>,
    },
    Drag {
        display: u32,
        path: Vec<NormPoint>,
        button: Button,
        held: Vec<Key>,
    },
    /// Notches; positive `down` scrolls towards the end, positive `right` to the right.
    Scroll {
        display: u32,
        at: NormPoint,
        down: i32,
        right: i32,
        held: Vec<Key>,
    },
    /// Text at the keyboard focus, in any script.
    Type {
        text: String,
    },
    /// One key, pressed and released, `times` times.
    Press {
        key: Key,
        times: u32,
    },
    /// All pressed in order, released in reverse.
    Hotkey {
        keys: Vec<Key>,
    },
    /// A button goes down and stays down until it is released, the run stops or the program ends.
    ButtonDown {
        display: u32,
        at: NormPoint,
        button: Button,
    },
    ButtonUp {
        display: u32,
        at: NormPoint,
        button: Button,
    },
    /// A key goes down and stays down until it is released, the run stops or the program ends.
    KeyDown {
        key: Key,
    },
    KeyUp {
        key: Key,
    },
    /// All pressed for this long, then released.
    Hold {
        keys: Vec<Key>,
        time: Duration,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    Left,
    Middle,
    Right,
}

/// What an act is known to have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    pub evidence: Evidence,
    /// For people: "typed 17 characters by paste, read back equal".
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Read back, and as wished.
    ReadBack,
    /// The events were sent; nothing could be read back.
    Sent,
    /// Read back: something came of it, but less or other than was wished. The note says what there is now.
    Mismatch,
    /// Read back: nothing happened.
    Nothing,
}

impl Evidence {
    /// Read back, and not as wished: what was to follow was meant for something else.
    pub fn falls_short(self) -> bool {
        matches!(self, Self::Mismatch | Self::Nothing)
    }
}

/// When the user last pressed something; `None` if they have not, or if it is not watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastPress {
    /// A key or a button on no window of ours, also where that may yet bring one of ours to the front.
    pub elsewhere: Option<Instant>,
    /// A key on any window, ours too.
    pub key: Option<Instant>,
    /// A button on no window of ours.
    pub click: Option<Instant>,
    /// Ctrl, Alt or Super went down or came up, or another key while one is down: the window manager's shortcuts.
    pub shortcut: Option<Instant>,
}

/// How the user stepped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The pointer was thrown into the top left corner: everything stops.
    Corner,
    /// Escape was held for a second: everything stops.
    Escape,
    /// The user's own mouse or keyboard was used, on no window of ours: the run pauses.
    UserInput,
}
