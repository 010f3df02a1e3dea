//! The windows, in a process of their own: `miki` starts it, and it ends with that one. Here, so that no command loads a
//! window system's toolkit.

fn main() -> std::process::ExitCode {
    miki::gui_entry()
}
