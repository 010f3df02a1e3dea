//! What is known of programs by their windows alone, as data: who they are told by the class of a window, or by the name
//! of the window that asks for the clipboard. No window tells a version.

/// How a window takes what is pasted, and what its keyboard reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super::super) enum Typing {
    /// Ctrl+V.
    Plain,
    /// Ctrl+Shift+V; the keyboard is the program's that runs in it.
    Terminal,
    /// Shift+Insert, of what was selected; the keyboard is the program's that runs in it.
    OldTerminal,
}

impl Typing {
    /// By the class and instance of a window, in lower case.
    pub(in super::super::super) fn of(class: &str) -> Self {
        let known = class.split(' ').find_map(|word| TERMINALS.iter().find(|(name, _)| *name == word));
        match known {
            Some((_, typing)) => *typing,
            None if class.contains("terminal") => Self::Terminal,
            None => Self::Plain,
        }
    }

    pub(in super::super::super) fn is_terminal(self) -> bool {
        self != Self::Plain
    }
}

const TERMINALS: [(&str, Typing); 15] = [
    ("xterm", Typing::OldTerminal),
    ("uxterm", Typing::OldTerminal),
    ("urxvt", Typing::OldTerminal),
    ("st-256color", Typing::OldTerminal),
    ("gnome-terminal", Typing::Terminal),
    ("xfce4-terminal", Typing::Terminal),
    ("konsole", Typing::Terminal),
    ("alacritty", Typing::Terminal),
    ("kitty", Typing::Terminal),
    ("tilix", Typing::Terminal),
    ("terminator", Typing::Terminal),
    ("mate-terminal", Typing::Terminal),
    ("lxterminal", Typing::Terminal),
    ("wezterm", Typing::Terminal),
    ("kgx", Typing::Terminal),
];

/// Chromium, Electron and CEF look what the text is before the page gets the key that pastes it, and ask what there is
/// once for that, with the page's first asking twice. The page takes the text later, much later where it is busy, and
/// asks what there is nine times and more; a field of the browser's own asks three times.
const CHROMIUM: &[u8] = b"Chromium clipboard";
const LOOKS_BY: u32 = 2;

/// Whether one that reads a text from the clipboard only looks at it: by the name of the window that it asks by, and by
/// how often it has asked what there is since it read last.
pub(in super::super::super) fn is_look(asker: &[u8], targets: u32) -> bool {
    asker == CHROMIUM && targets <= LOOKS_BY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_known_by_the_class_of_its_window_and_what_calls_itself_one_is_one() {
        for (class, typing) in [
            ("xterm xterm", Typing::OldTerminal),
            ("gnome-terminal-server gnome-terminal", Typing::Terminal),
            ("some-terminal x", Typing::Terminal),
            ("mousepad mousepad", Typing::Plain),
            ("", Typing::Plain),
        ] {
            assert_eq!(Typing::of(class), typing, "{class}");
        }
    }

    #[test]
    fn only_chromium_looks_before_it_takes() {
        assert!(is_look(b"Chromium clipboard", 2) && !is_look(b"Chromium clipboard", 3));
        assert!(!is_look(b"Mousepad", 1));
    }
}
