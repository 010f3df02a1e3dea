//! The program's entry: everything is in the library, so that tests can reach it.
//!
//! No `windows_subsystem`: `miki run` must print to the console it was started from.

fn main() -> std::process::ExitCode {
    miki::main_entry()
}
