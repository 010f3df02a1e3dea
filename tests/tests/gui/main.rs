//! The windows of the built app, through WebDriver and through real keys.
//!
//! Needs `MIKI_BIN`, the built program, and WebKitWebDriver. Each test has a desktop of its own.

mod allowed;
mod approval;
mod asked;
mod beyond;
mod connections;
mod drawn;
mod goal;
mod layout;
mod overlay;
mod own_process;
mod planning;
mod remembered;
mod rights;
mod sessions;
mod settings;
mod shelf;
mod shortcut;
mod spoofed;
mod suggestions;

use outside::browser;
