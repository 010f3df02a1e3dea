//! Real applications to operate.

use std::path::Path;

use anyhow::Result;

use super::{Stage, Window};
use crate::process::Process;
use crate::waiting::LONG;

/// A text editor with its window; closed at drop.
pub struct Editor {
    pub process: Process,
    pub window: Window,
}

impl Stage {
    /// Opens the text editor, on `file` where one is named, in the left half of the screen.
    ///
    /// # Errors
    /// Where it is missing or shows no window.
    pub fn open_editor(&self, file: Option<&Path>) -> Result<Editor> {
        let mut command = self.command("mousepad");
        command.arg("--disable-server").args(file);
        let process = self.launch("mousepad", "mousepad", command)?;
        let screen = self.screen()?;
        let window =
            screen.wait_for_window("the editor's window", LONG, |title| title.ends_with("- Mousepad"))?;
        screen.place(&window, 60, 80, 900, 700)?;
        Ok(Editor { process, window })
    }
}
