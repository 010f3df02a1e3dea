//! The programs whose effect is known: those that only read, those a "like it" may be said of, those that run others.
//!
//! Short on purpose. A program that is not here may change anything, and is asked for as it stands.

use super::parse::{Arg, Simple};
use super::{Effect, Segment};

/// Read, whatever their arguments.
const READ: &[&str] = &[
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "false",
    "fgrep",
    "fold",
    "free",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "join",
    "locale",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "printenv",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "tr",
    "true",
    "uname",
    "unexpand",
    "uptime",
    "wc",
    "whereis",
    "which",
    "whoami",
    "type",
    ":",
    "exit",
    "jq",
];
/// Read, unless one of these is among their words. A letter stands for a short option, wherever in a cluster.
const READ_UNLESS: &[(&str, &[&str])] = &[
    // A variable's name that they are given may have a subscript, and that a command in it.
    ("[", &["-v", "-R"]),
    ("test", &["-v", "-R"]),
    ("wait", &["p"]),
    ("date", &["s", "--set", "f", "--file"]),
    ("file", &["C", "--compile"]),
    ("find", &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"]),
    ("printf", &["v"]),
    ("rg", &["--pre", "--pre-glob", "--hostname-bin", "z", "--search-zip"]),
    (
        "sort",
        &[
            "o",
            "T",
            "S",
            "--output",
            "--compress-program",
            "--temporary-directory",
            "--files0-from",
            "--random-source",
        ],
    ),
    ("tree", &["o", "R", "--output"]),
];
/// `git` commands that read, with what makes them write or run something.
const GIT_READS: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];
const GIT_NEVER: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    // Writes the index, for which a hook is called.
    "--dirty",
    "--broken",
    "--filters",
    "--exec",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--open-files-in-pager",
    "--extcmd",
    "--tool",
    "--config",
    "--template",
    "--git-dir",
    "--work-tree",
    "--separate-git-dir",
    "--edit",
    "--interactive",
    "--force",
    "--force-with-lease",
    "--hard",
    "--mirror",
    "--delete",
    "--no-verify",
];
/// Programs whose first word is what they do: "like it" is the program with that word.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["build", "check", "clippy", "doc", "fmt", "test", "tree", "metadata"]),
    (
        "git",
        &[
            "add", "commit", "fetch", "pull", "push", "stash", "switch", "tag", "mv", "branch", "merge",
            "init",
        ],
    ),
    ("go", &["build", "fmt", "test", "vet"]),
    ("npm", &["ci", "install", "test", "audit", "ls"]),
    ("pnpm", &["install", "test"]),
    ("yarn", &["install", "test"]),
    ("dotnet", &["build", "test"]),
    ("uv", &["sync", "lock"]),
];
/// Options of those that run something else or reach elsewhere.
const SUBCOMMAND_NEVER: &[&str] = &[
    "--config",
    "--manifest-path",
    "--target-dir",
    "--toolexec",
    "-toolexec",
    "-exec",
    "--script-shell",
    "--prefix",
    "--registry",
    "-C",
    "--global",
    "-g",
    "--runner",
    "-overlay",
    "-modfile",
];
/// Programs that do one thing to files: "like it" is their name.
const PLAIN: &[&str] = &["cp", "ln", "mkdir", "mv", "rmdir", "touch"];

/// Run what they are given, change what words mean, or leave the sandbox's user: never known, never granted.
const ANYTHING: &[&str] = &[
    ".",
    "alias",
    "at",
    "batch",
    "bind",
    "busybox",
    "chroot",
    "complete",
    "coproc",
    "crontab",
    "doas",
    "enable",
    "eval",
    "fc",
    "flock",
    "gdb",
    "hash",
    "history",
    "let",
    "ltrace",
    "mapfile",
    "nsenter",
    "parallel",
    "pkexec",
    "readarray",
    "runuser",
    "screen",
    "script",
    "setpriv",
    "setsid",
    "source",
    "ssh",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tmux",
    "toybox",
    "trap",
    "unshare",
    "watch",
    "entr",
    "expect",
    "socat",
    "nc",
    "ncat",
    "netcat",
];
/// Set variables or options of the shell: what follows may mean something else.
const ENVIRONMENT: &[&str] = &[
    "declare", "export", "getopts", "local", "read", "readonly", "set", "shift", "shopt", "typeset", "umask",
    "unset",
];
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// What makes `find` run a program.
const RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

pub(super) enum Inner {
    None,
    Program(Vec<Arg>),
    Script(String),
    Environment,
}

/// The program without its folder, where that is the system's own; `None` if it is only known when it runs.
fn name(simple: &Simple) -> Option<&str> {
    let text = simple.words.first()?.plain()?;
    for folder in ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/"] {
        if let Some(name) = text.strip_prefix(folder) {
            return Some(name);
        }
    }
    Some(text)
}

/// Another program in the words of this one. What is not plainly so is [`Inner::None`], and `judge` is strict with it.
pub(super) fn inner(simple: &Simple) -> Inner {
    let Some(name) = name(simple) else { return Inner::None };
    let words = &simple.words[1..];
    match name {
        name if ENVIRONMENT.contains(&name) => Inner::Environment,
        name if SHELLS.contains(&name) => match script(words) {
            Some(text) => Inner::Script(text),
            None => Inner::None,
        },
        _ => wrapped(name, words).map_or(Inner::None, Inner::Program),
    }
}

/// `-c TEXT`, with nothing before it but `-e`, `-u`, `-x` and the like.
fn script(words: &[Arg]) -> Option<String> {
    let at = words
        .iter()
        .position(|word| word.plain().is_some_and(|word| word.starts_with('-') && word.ends_with('c')))?;
    let known = |word: &Arg| {
        word.plain().is_some_and(|word| {
            word.len() > 1 && word.starts_with('-') && word[1..].bytes().all(|b| b"ceux".contains(&b))
        })
    };
    let text = words.get(at + 1)?.plain()?;
    words[..=at].iter().all(known).then(|| text.to_owned())
}

/// The words of the program that `name` would run with `words`.
fn wrapped(name: &str, words: &[Arg]) -> Option<Vec<Arg>> {
    let plain = |at: usize| words.get(at).and_then(Arg::plain);
    let rest = |at: usize| (words.len() > at).then(|| words[at..].to_vec());
    match name {
        "nohup" | "time" | "command" | "builtin" | "exec" | "env" | "coproc" => {
            let first = plain(0)?;
            (!first.starts_with('-') && !first.contains('=')).then(|| rest(0))?
        }
        "nice" => match (plain(0), plain(1)) {
            (Some("-n"), Some(number)) if is_number(number) => rest(2),
            (Some(first), _) if !first.starts_with('-') => rest(0),
            _ => None,
        },
        "timeout" => {
            let seconds = plain(0)?.trim_end_matches(['s', 'm', 'h', 'd']);
            if is_number(seconds) { rest(1) } else { None }
        }
        "xargs" => {
            let mut at = 0;
            loop {
                match plain(at)? {
                    "-0" | "-r" | "-t" | "--null" | "--no-run-if-empty" => at += 1,
                    "-n" | "-P" | "-L" if plain(at + 1).is_some_and(is_number) => at += 2,
                    word if word.starts_with('-') => return None,
                    _ => break,
                }
            }
            let mut all = rest(at)?;
            all.push(Arg::Unknown("…".into()));
            Some(all)
        }
        "find" => {
            let run = |word: &Arg| word.plain().is_some_and(|word| RUNS.contains(&word));
            // One only: of several, the others would not be looked at.
            let at = words.iter().position(run)?;
            if words.iter().filter(|word| run(word)).count() > 1 {
                return None;
            }
            let found = |word: &Arg| match word.plain() {
                Some(text) if text.contains('{') => Arg::Unknown(text.to_owned()),
                _ => word.clone(),
            };
            let end = words.iter().position(|word| matches!(word.plain(), Some(";" | "+")));
            let end = end.unwrap_or(words.len());
            let mut all: Vec<Arg> = words.get(at + 1..end)?.iter().map(found).collect();
            all.push(Arg::Unknown("…".into()));
            Some(all)
        }
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

pub(super) fn judge(simple: &Simple) -> Segment {
    let (effect, grant) = effect(simple);
    let effect = if simple.writes { effect.max(Effect::Changes) } else { effect };
    let grant = grant.filter(|_| effect == Effect::Changes && !simple.writes);
    Segment { words: simple.words.iter().map(|word| word.text().to_owned()).collect(), effect, grant }
}

fn effect(simple: &Simple) -> (Effect, Option<String>) {
    if simple.assigns {
        return (Effect::Reads, None);
    }
    let Some(name) = name(simple) else {
        // Nothing but a redirection, or a name that is computed.
        let effect = if simple.words.is_empty() { Effect::Changes } else { Effect::Unclear };
        return (effect, None);
    };
    let words = &simple.words[1..];
    if ANYTHING.contains(&name) {
        return (Effect::Unclear, None);
    }
    if SHELLS.contains(&name) {
        // A script's file may be anything, but it is a file that can be looked at.
        let text = words.iter().any(|word| word.plain().is_none() || word.text().starts_with('-'))
            || words.is_empty();
        let known = script(words).is_some();
        let effect = match (known, text) {
            // What it runs was added on its own.
            (true, _) => Effect::Reads,
            (false, true) => Effect::Unclear,
            (false, false) => Effect::Changes,
        };
        return (effect, None);
    }
    if READ.contains(&name) {
        return (Effect::Reads, None);
    }
    if let Some((_, unless)) = READ_UNLESS.iter().find(|(program, _)| *program == name) {
        let runs = |word: &Arg| RUNS.contains(&word.text()) || matches!(word, Arg::Unknown(_));
        if name == "find" && words.iter().any(runs) && wrapped(name, words).is_none() {
            return (Effect::Unclear, None);
        }
        let known = |word: &Arg| is_none_of(word, unless);
        let reads = words.iter().all(known);
        return (if reads { Effect::Reads } else { Effect::Changes }, None);
    }
    // Two names: the second is written to.
    if name == "uniq" && words.iter().all(|word| word.plain().is_some()) {
        let names = words.iter().filter(|word| !word.text().starts_with('-')).count();
        return (if names < 2 { Effect::Reads } else { Effect::Changes }, None);
    }
    if name == "!" || name.contains('=') {
        // Something of the shell's where a program is expected: what is meant to run is not what would.
        return (Effect::Unclear, None);
    }
    if matches!(
        name,
        "nohup" | "time" | "command" | "builtin" | "exec" | "env" | "nice" | "timeout" | "xargs"
    ) {
        // What they run was added on its own; where it could not be seen, anything may run.
        let alone = words.is_empty() && matches!(name, "env" | "time");
        let lookup = name == "command"
            && words.first().and_then(Arg::plain).is_some_and(|word| matches!(word, "-v" | "-V"));
        let seen = alone || lookup || wrapped(name, words).is_some();
        return (if seen { Effect::Reads } else { Effect::Unclear }, None);
    }
    if name == "git" {
        return git(words);
    }
    if let Some((_, known)) = SUBCOMMANDS.iter().find(|(program, _)| *program == name) {
        return (Effect::Changes, subcommand(name, known, words, SUBCOMMAND_NEVER));
    }
    let plain = words.iter().all(|word| word.plain().is_some());
    let grant = (PLAIN.contains(&name) && plain).then(|| name.to_owned());
    (Effect::Changes, grant)
}

fn git(words: &[Arg]) -> (Effect, Option<String>) {
    let words = match words {
        [Arg::Plain(first), rest @ ..] if first == "--no-pager" || first == "-P" => rest,
        words => words,
    };
    let Some(sub) = words.first().and_then(Arg::plain) else { return (Effect::Changes, None) };
    let rest = &words[1..];
    let harmless = |word: &Arg| {
        !matches!(word, Arg::Unknown(_))
            && !is_one_of(word.text(), GIT_NEVER)
            && !word.text().starts_with("ext::")
    };
    let safe = rest.iter().all(harmless);
    let lists = match sub {
        "branch" => rest.iter().all(|word| {
            matches!(word.text(), "-a" | "-v" | "-vv" | "-r" | "--list" | "--show-current" | "--all")
        }),
        "remote" => rest.iter().all(|word| word.text() == "-v"),
        "tag" => rest.iter().all(|word| matches!(word.text(), "-l" | "--list")),
        "stash" => matches!(rest, [word] if word.text() == "list"),
        sub => GIT_READS.contains(&sub),
    };
    if lists && safe {
        return (Effect::Reads, None);
    }
    let known =
        SUBCOMMANDS.iter().find(|(program, _)| *program == "git").map_or(&[] as &[&str], |(_, known)| known);
    // Short options of the granted commands: `-D`, `-f`, `-x` and what takes a value are not among these.
    let short = |word: &Arg| {
        let text = word.text();
        !text.starts_with('-')
            || text.starts_with("--")
            || text == "-"
            || text[1..].bytes().all(|b| b"amvqnuslA".contains(&b))
    };
    let grant = subcommand("git", known, words, GIT_NEVER).filter(|_| safe && rest.iter().all(short));
    // `+branch` and `:branch` force and delete.
    let plus = rest.iter().any(|word| word.text().starts_with(['+', ':']));
    (
        Effect::Changes,
        grant.filter(|_| {
            !(plus || sub == "stash" && rest.iter().any(|word| matches!(word.text(), "drop" | "clear")))
        }),
    )
}

fn subcommand(name: &str, known: &[&str], words: &[Arg], never: &[&str]) -> Option<String> {
    let sub = words.first()?.plain()?;
    // `+nightly` is another toolchain, `--` ends the program's own options.
    let fine =
        |word: &Arg| word.plain().is_some_and(|word| !is_one_of(word, never) && !word.starts_with('+'));
    (known.contains(&sub) && words.iter().all(fine)).then(|| format!("{name} {sub}"))
}

/// Long options may be shortened: `--outp=x` is `--output`.
fn is_one_of(word: &str, options: &[&str]) -> bool {
    options.iter().any(|option| {
        if word == *option {
            return true;
        }
        let Some(long) = word.strip_prefix("--") else {
            // `-C/etc` is `-C /etc`.
            return option.len() == 2 && option.starts_with('-') && word.starts_with(option);
        };
        let name = long.split('=').next().unwrap_or_default();
        !name.is_empty() && option.strip_prefix("--").is_some_and(|option| option.starts_with(name))
    })
}

fn is_none_of(word: &Arg, options: &[&str]) -> bool {
    let text = match word {
        Arg::Unknown(_) => return false,
        Arg::Plain(text) | Arg::Files(text) => text,
    };
    if is_one_of(text, options) {
        return false;
    }
    let letters = options.iter().filter(|option| option.len() == 1);
    let cluster = text.starts_with('-') && !text.starts_with("--");
    !(cluster && letters.into_iter().any(|letter| text[1..].contains(letter)))
}
