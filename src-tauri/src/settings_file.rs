//! `settings.json`: read with care, written whole. Fails closed: what cannot be understood is neither guessed nor
//! overwritten, since it may say "ask before you act".

use std::io;
use std::path::{Path, PathBuf};

use protocol::settings::Settings;
use protocol::{ErrorCode, ErrorView};

use crate::atomic_file;

/// The settings' place on disk.
#[derive(Clone, Debug)]
pub struct SettingsFile(PathBuf);

impl SettingsFile {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The settings in the file; the defaults where there is none.
    ///
    /// # Errors
    /// [`ErrorCode::Storage`] where the file cannot be read, is no JSON, or holds an unknown name or a value out of
    /// range. It is left as it is.
    pub fn load(&self) -> Result<Settings, ErrorView> {
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(error) => return Err(unreadable(&self.0, &error.to_string())),
        };
        // A list would be read as fields in their order, and an empty one as the defaults.
        if !text.trim_start().starts_with('{') {
            return Err(unreadable(&self.0, "it is not a JSON object"));
        }
        let settings: Settings = serde_json::from_str(&text).map_err(|error| {
            let fields = serde_json::from_str(&text).ok();
            let fault = fields.and_then(|fields| Settings::fault(&fields));
            let told = |fault| format!("{fault} (line {})", error.line());
            unreadable(&self.0, &fault.map_or_else(|| error.to_string(), told))
        })?;
        settings.validate().map_err(|error| {
            let name = error.message.strip_prefix("setting ").and_then(|rest| rest.split([' ', '.']).next());
            let line = name.and_then(|name| line_of(&text, name));
            let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
            unreadable(&self.0, &format!("{}{line}", error.message))
        })?;
        Ok(settings)
    }

    /// Writes all settings.
    ///
    /// # Errors
    /// [`ErrorCode::Storage`]; the old file is kept then.
    pub fn store(&self, settings: &Settings) -> Result<(), ErrorView> {
        let mut json = serde_json::to_vec_pretty(settings).map_err(|error| {
            ErrorView::new(ErrorCode::Internal, format!("settings cannot be written as JSON: {error}"))
        })?;
        json.push(b'\n');
        atomic_file::replace(&self.0, &json).map_err(|error| {
            ErrorView::new(
                ErrorCode::Storage,
                format!("settings file {} cannot be written: {error}", self.0.display()),
            )
            .with_hint("free space or give write access, then change the setting again")
        })
    }
}

impl agent::SettingsStore for SettingsFile {
    fn save(&self, settings: &Settings) -> Result<(), ErrorView> {
        self.store(settings)
    }

    fn line_of(&self, setting: &str) -> Option<usize> {
        let text = std::fs::read_to_string(&self.0).ok()?;
        let names = if setting == "fence" { FENCE } else { &[setting] };
        names.iter().find_map(|name| line_of(&text, name))
    }
}

/// The settings that are the fence together.
const FENCE: &[&str] = &["fenceApps", "fenceDisplays", "neverApps"];

/// The first line of a JSON object that has this field.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let field = format!("\"{name}\"");
    let has_it =
        |line: &str| line.split_once(&field).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
    text.lines().position(has_it).map(|at| at + 1)
}

fn unreadable(path: &Path, reason: &str) -> ErrorView {
    ErrorView::new(ErrorCode::Storage, format!("settings file {} cannot be used: {reason}", path.display()))
        .with_hint("correct the file, or move it away to start with the defaults; nothing was changed")
}

#[cfg(test)]
mod tests;
