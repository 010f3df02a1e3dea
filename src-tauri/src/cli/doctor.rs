//! `miki doctor`: what the program needs from the machine, and how to fix what is not well.

use std::sync::Arc;

use clap::Args;
use protocol::command::Permissions;
use protocol::settings::Settings;
use protocol::view::{Check, CheckState, CheckView};
use protocol::{ErrorCode, ErrorView};

use super::interrupt;
use super::text::plain;
use crate::checks;
use crate::engine::open_desktop;
use crate::exit::Exit;
use crate::home::Home;
use crate::keys::{Keychain, Keys, environment};
use crate::link::Link;
use crate::model_source::Models;
use crate::settings_file::SettingsFile;

/// Check display, permissions, keychain, sandbox, accessibility bus and model, and tell how to fix each
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub async fn run(self, home: &Home) -> Result<Exit, ErrorView> {
        let mut interrupts = interrupt::listen()?;
        let views = match Link::open_with(home, Permissions {}, &mut interrupts).await {
            Ok(Some((link, views))) => {
                link.leave(&mut interrupts).await;
                views.transpose()?
            }
            Ok(None) => None,
            // What keeps the engine from starting is a finding; the rest is looked at all the same.
            Err(error) => interrupt::unless(&mut interrupts, without_engine(home, error)).await,
        };
        let Some(views) = views else { return Ok(Exit::Stopped) };
        if self.json {
            let json = serde_json::to_string(&views).map_err(|error| {
                ErrorView::new(ErrorCode::Internal, format!("checks cannot be written: {error}"))
            })?;
            super::say(&json);
        } else {
            super::tell(&report(&views));
        }
        let well = views.iter().all(|view| view.state != CheckState::Missing);
        Ok(if well { Exit::Done } else { Exit::Failed })
    }
}

async fn without_engine(home: &Home, error: ErrorView) -> Vec<CheckView> {
    let (settings, file) = match SettingsFile::new(home.settings()).load() {
        Ok(settings) => (settings, checks::settings_file(None)),
        Err(error) => (Settings::default(), checks::failed(Check::Settings, error)),
    };
    let journal = match file.state {
        CheckState::Well => checks::failed(Check::Journal, error),
        // It is what keeps the engine from starting.
        CheckState::Limited | CheckState::Missing => {
            let detail = "not looked at: without its settings Miki does not start".to_owned();
            CheckView { check: Check::Journal, state: CheckState::Limited, detail, remedy: None }
        }
    };
    let keys = Keys::new(Arc::new(Keychain), environment());
    let models = Models::new(keys.clone());
    let desktop = open_desktop(home, &settings, Default::default());
    checks::all(desktop.as_ref(), &keys, (file, journal), &models, &settings).await
}

fn report(views: &[CheckView]) -> String {
    let mut lines = Vec::new();
    let mut remedies: Vec<&str> = Vec::new();
    for (at, view) in views.iter().enumerate() {
        // One that fails for the same reason as another is named with it.
        if is_missing_alike(view, &views[..at]) {
            continue;
        }
        let mark = match view.state {
            CheckState::Well => "ok     ",
            CheckState::Limited => "limited",
            CheckState::Missing => "MISSING",
        };
        lines.push(format!("{mark}  {:<16}  {}", name(view.check), plain(&view.detail)));
        // What fixes two things is said once.
        if let Some(remedy) = &view.remedy
            && !remedies.contains(&remedy.as_str())
        {
            remedies.push(remedy);
            lines.push(format!("{:27}{}", "", plain(remedy)));
        }
        let alike =
            views[at + 1..].iter().filter(|other| is_missing_alike(other, std::slice::from_ref(view)));
        let alike: Vec<&str> = alike.map(|other| name(other.check)).collect();
        if !alike.is_empty() {
            lines.push(format!("{:27}missing for the same reason: {}", "", alike.join(", ")));
        }
    }
    lines.join("\n")
}

/// Whether it is missing for the reason and with the remedy of one of these.
fn is_missing_alike(view: &CheckView, others: &[CheckView]) -> bool {
    let is_alike = |other: &CheckView| {
        (other.state, &other.detail, &other.remedy) == (view.state, &view.detail, &view.remedy)
    };
    view.state == CheckState::Missing && others.iter().any(is_alike)
}

fn name(check: Check) -> &'static str {
    match check {
        Check::Display => "display",
        Check::ScreenCapture => "screen capture",
        Check::Input => "input",
        Check::Accessibility => "accessibility",
        Check::Automation => "automation",
        Check::InputMonitoring => "input monitoring",
        Check::Clipboard => "clipboard",
        Check::Ocr => "text in pictures",
        Check::Keychain => "keychain",
        Check::Sandbox => "sandbox",
        Check::Settings => "settings file",
        Check::Journal => "journal",
        Check::Model => "model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_stands_with_its_remedy() {
        let view = CheckView {
            check: Check::Keychain,
            state: CheckState::Missing,
            detail: "there is no keychain".into(),
            remedy: Some("start one".into()),
        };
        assert_eq!(
            report(std::slice::from_ref(&view)),
            "MISSING  keychain          there is no keychain\n                           start one"
        );
        let model = CheckView { check: Check::Model, detail: "no model".into(), ..view.clone() };
        assert_eq!(report(&[view, model]).matches("start one").count(), 1, "what fixes both is said once");
    }

    #[test]
    fn what_is_missing_for_one_reason_is_told_once_with_all_that_need_it() {
        let view = |check, state, detail: &str| {
            let remedy = (state == CheckState::Missing).then(|| "set DISPLAY".to_owned());
            CheckView { check, state, detail: detail.into(), remedy }
        };
        let told = report(&[
            view(Check::Display, CheckState::Missing, "no X server"),
            view(Check::ScreenCapture, CheckState::Missing, "no X server"),
            view(Check::Sandbox, CheckState::Well, "works"),
            view(Check::Clipboard, CheckState::Missing, "no X server"),
            view(Check::Model, CheckState::Missing, "no model"),
        ]);
        let lines: Vec<&str> = told.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "MISSING  display           no X server",
                "set DISPLAY",
                "missing for the same reason: screen capture, clipboard",
                "ok       sandbox           works",
                "MISSING  model             no model",
            ]
        );
    }
}
