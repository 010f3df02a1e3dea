//! A terminal with a shell in it: what was run is seen in a file.

use super::Oracle::{File, Title};
use super::Sabotage::{Moved, Stopped};
use super::{Act, Oracle, Real, task};

const fn said(text: &'static str) -> Oracle {
    File("said.txt", text)
}

const COMMAND: Real =
    task("terminal", "type a command", &[Act::Type("echo hello > said.txt\n")], said("hello\n"));

pub(super) const XTERM: &[Real] = &[
    COMMAND.quick(),
    task(
        "terminal",
        "type two commands",
        &[Act::Type("echo one > said.txt\necho two >> said.txt\n")],
        said("one\ntwo\n"),
    )
    .quick(),
    task(
        "terminal",
        "type, then Enter",
        &[Act::Type("echo Grüße > said.txt"), Act::Press("enter")],
        said("Grüße\n"),
    )
    .quick(),
    COMMAND.spoilt(Stopped),
    COMMAND.spoilt(Moved),
    task(
        "terminal",
        "hotkey, Ctrl+C",
        &[Act::Type("sleep 1000\n"), Act::Hotkey(&["ctrl", "c"]), Act::Type("echo free > said.txt\n")],
        said("free\n"),
    ),
    task(
        "terminal",
        "hotkey, Ctrl+D",
        &[Act::Type("cat > said.txt\n"), Act::Type("one\ntwo\n"), Act::Hotkey(&["ctrl", "d"])],
        said("one\ntwo\n"),
    ),
    task(
        "terminal",
        "type a program and its lines at once",
        &[Act::Type("cat > said.txt\none\ntwo\n"), Act::Hotkey(&["ctrl", "d"])],
        said("one\ntwo\n"),
    )
    .quick(),
    task(
        "terminal",
        "type a program and its lines at once, by paste",
        &[Act::Type("cat > said.txt\nGrüße\nzwei\n"), Act::Hotkey(&["ctrl", "d"])],
        said("Grüße\nzwei\n"),
    ),
    task(
        "terminal",
        "hotkey, a line taken back",
        &[Act::Type("echo wrong"), Act::Hotkey(&["ctrl", "u"]), Act::Type("echo right > said.txt\n")],
        said("right\n"),
    ),
    task(
        "terminal",
        "type, a program that asks",
        &[Act::Type("read -p 'Name? ' who; echo $who > said.txt\n"), Act::Type("Ada\n")],
        said("Ada\n"),
    ),
    task(
        "terminal",
        "press, the last command again",
        &[Act::Type("echo hello >> said.txt\n"), Act::Press("up"), Act::Press("enter")],
        said("hello\nhello\n"),
    ),
    task(
        "terminal",
        "press, a name completed",
        &[Act::Type("cat letter.t"), Act::Press("tab"), Act::Type("> said.txt\n")],
        said("dear\n"),
    ),
    task(
        "terminal",
        "type, a loop of several lines",
        &[Act::Type("for one in a b c; do\necho $one >> said.txt\ndone\n")],
        said("a\nb\nc\n"),
    ),
    task(
        "terminal",
        "type, a title",
        &[Act::Type("printf '\\033]0;xterm, done\\007'\n")],
        Title("xterm, done"),
    ),
];
