//! The small program that stands between the sandbox and a command: see [`space::terminal::confine`].

use std::process::ExitCode;

use space::terminal::confine;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != confine::SUBCOMMAND) {
        eprintln!("{} is started by Miki's sandbox only", env!("CARGO_BIN_NAME"));
        return ExitCode::from(2);
    }
    let error = confine::confine(words);
    eprintln!("{error}");
    ExitCode::from(126)
}
