//! The small program that stands between the sandbox and a command: see [`space::terminal::confine`].

use std::process::ExitCode;

use space::terminal::confine;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let error = match words.next() {
        Some(word) if word == confine::SUBCOMMAND => confine::confine(words),
        Some(word) if word == confine::FORWARD => confine::forward(),
        _ => {
            eprintln!("{} is started by Miki's sandbox only", env!("CARGO_BIN_NAME"));
            return ExitCode::from(2);
        }
    };
    eprintln!("{error}");
    ExitCode::from(126)
}
