//! macOS: the accessibility interface (AX), ScreenCaptureKit, Vision, AppKit and AppleScript behind [`Platform`]. All
//! else is `portable`'s.
//!
//! Type-checked by the cross-check and written from Apple's documentation; not run by this project's tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use futures::future::BoxFuture;
use pictures::Frame;
use protocol::geometry::ScaleFactor;
use protocol::view::{Check, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

use crate::portable::scene::{Change, Own, Top};
use crate::portable::watch::Heard;
use crate::portable::{self, Capture, Line, Listening, Platform, bundles, settings};
use crate::{Desktop, DesktopError, Options, Script, ScriptedApp, osascript};

mod apps;
mod ax;
mod capture;
mod frames;
mod locks;
mod permission;
mod tap;
mod tree;
mod vision;

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    portable::open::<Mac>(options)
}

enum Mac {}

impl Platform for Mac {
    type Tree = tree::MacTree;
    const SCRIPTING: bool = true;

    fn capture(wish: &Capture, own: &Own) -> Option<Result<Frame, DesktopError>> {
        capture::is_there().then(|| capture::take(wish, own))
    }

    fn read_text(frame: &Frame) -> Result<Vec<Line>, DesktopError> {
        vision::read(frame)
    }

    fn is_locked() -> bool {
        locks::is_locked()
    }

    fn listen(hear: Box<dyn Fn(Heard) + Send>) -> Result<Box<dyn Listening>, DesktopError> {
        tap::listen(hear)
    }

    fn hidden(scale: ScaleFactor) -> Vec<Top> {
        frames::hidden(scale)
    }

    fn states(top: &Top, display: &DisplayView) -> Vec<String> {
        frames::states(top, display)
    }

    fn change(top: &Top, change: Change, scale: ScaleFactor) -> Result<(), DesktopError> {
        frames::change(top, change, scale)
    }

    fn running() -> Vec<(String, u32)> {
        apps::running()
    }

    fn installed() -> BTreeMap<String, PathBuf> {
        let mut folders: Vec<PathBuf> = ["/Applications", "/System/Applications"].map(PathBuf::from).to_vec();
        folders.extend(std::env::home_dir().map(|home| home.join("Applications")));
        bundles::find(&folders, "app")
    }

    fn start(file: &Path) -> Result<(), DesktopError> {
        run_open(file.as_os_str(), "-a")
    }

    fn end(pid: u32) -> Result<(), DesktopError> {
        apps::end(pid)
    }

    fn checks(scripted: &[ScriptedApp]) -> Vec<CheckView> {
        permission::checks(scripted)
    }

    fn open_permission(check: Check, scripted: Vec<ScriptedApp>) -> Result<(), DesktopError> {
        let address = settings::address(check).ok_or_else(|| {
            DesktopError::NotAvailable(format!("System Settings has no page for {check:?}"))
        })?;
        // Else the page would not show Miki, and its user would have to find the program's file.
        permission::be_listed(check, scripted);
        run_open(address.as_ref(), "-u")
    }

    fn script(script: Script, cancel: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>> {
        Box::pin(async move { osascript::run(&script, &cancel).await })
    }
}

/// macOS's own opener; `how` says what the word is: an application (`-a`) or an address (`-u`).
fn run_open(what: &std::ffi::OsStr, how: &str) -> Result<(), DesktopError> {
    let output = Command::new("/usr/bin/open")
        .arg(how)
        .arg(what)
        // What it opens gets its environment.
        .env_clear()
        .envs(crate::environment::for_children())
        .output()
        .map_err(|error| DesktopError::Failed(format!("start /usr/bin/open: {error}")))?;
    if output.status.success() {
        Ok(())
    } else {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(DesktopError::Failed(format!("open {}: {said}", what.display())))
    }
}
