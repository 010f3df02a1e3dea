//! Windows: UI Automation, Win32 and the shell behind [`Platform`]. All else is `portable`'s.
//!
//! Type-checked by the cross-check and written from Microsoft's documentation; not run by this project's tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use pictures::Frame;
use protocol::geometry::ScaleFactor;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;
use uiautomation::UIAutomation;

use crate::portable::scene::{Change, Own, Top};
use crate::portable::watch::Heard;
use crate::portable::{self, Capture, Capturer, Listening, Platform, view};
use crate::{Desktop, DesktopError, Options, Script, ScriptedApp};

mod frames;
mod hooks;
mod locks;
mod shell;
mod tree;

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    portable::open::<Win>(options)
}

enum Win {}

impl Platform for Win {
    type Tree = tree::WindowsTree;
    const SCRIPTING: bool = false;

    /// xcap does it; our own windows leave themselves out (`WDA_EXCLUDEFROMCAPTURE`).
    fn capture(_: &Capture, _: &Own) -> Option<Result<Frame, DesktopError>> {
        None
    }

    fn is_locked() -> bool {
        locks::is_locked()
    }

    fn listen(hear: Box<dyn Fn(Heard) + Send>) -> Result<Box<dyn Listening>, DesktopError> {
        hooks::listen(hear)
    }

    fn hidden(_: ScaleFactor) -> Vec<Top> {
        Capturer::minimized().unwrap_or_default()
    }

    fn states(top: &Top, display: &DisplayView) -> Vec<String> {
        frames::states(top, display)
    }

    fn change(top: &Top, change: Change, _: ScaleFactor) -> Result<(), DesktopError> {
        frames::change(top, change)
    }

    /// Those with windows.
    fn running() -> Vec<(String, u32)> {
        let mut all: Vec<(String, u32)> =
            windows().into_iter().filter(|top| !top.title.is_empty()).map(|top| (top.app, top.pid)).collect();
        all.sort();
        all.dedup();
        all
    }

    fn installed() -> BTreeMap<String, PathBuf> {
        shell::applications()
    }

    fn start(file: &Path) -> Result<(), DesktopError> {
        shell::start(file)
    }

    fn end(pid: u32) -> Result<(), DesktopError> {
        windows().iter().filter(|top| top.pid == pid).try_for_each(|top| frames::change(top, Change::Close))
    }

    fn checks(_: &[ScriptedApp]) -> Vec<CheckView> {
        let accessibility = match UIAutomation::new() {
            Ok(_) => view(Check::Accessibility, CheckState::Well, "UI Automation answers".into(), None),
            Err(error) => view(
                Check::Accessibility,
                CheckState::Missing,
                format!("UI Automation does not start: {error}"),
                Some("start Miki inside the user's own session"),
            ),
        };
        let capture = "Windows asks for no permission to capture the screen";
        vec![view(Check::ScreenCapture, CheckState::Well, capture.into(), None), accessibility]
    }

    fn open_permission(check: Check, _: Vec<ScriptedApp>) -> Result<(), DesktopError> {
        Err(DesktopError::NotAvailable(format!("Windows asks for no permission for {check:?}")))
    }

    fn script(_: Script, _: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("AppleScript needs macOS".into())) })
    }
}

fn windows() -> Vec<Top> {
    let mut tops = Capturer::tops().unwrap_or_default();
    tops.extend(Capturer::minimized().unwrap_or_default());
    tops
}
