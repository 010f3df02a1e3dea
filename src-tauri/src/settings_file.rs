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
mod tests {
    use super::*;

    fn file(text: Option<&str>) -> (tempfile::TempDir, SettingsFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        (folder, SettingsFile::new(path))
    }

    #[test]
    fn a_missing_file_is_the_defaults() {
        let (_folder, file) = file(None);
        assert_eq!(file.load().unwrap(), Settings::default());
    }

    #[test]
    fn what_was_stored_is_loaded_again() {
        let (_folder, file) = file(None);
        let settings = Settings { max_steps: 7, ..Settings::default() };
        file.store(&settings).unwrap();
        assert_eq!(file.load().unwrap(), settings);
    }

    #[test]
    fn a_corrupt_empty_unknown_or_impossible_file_refuses_the_start_and_is_kept() {
        // bar: C32
        for text in [
            "",
            "{",
            "null",
            "[]",
            r#"{"maxStep": 3}"#,
            r#"{"maxSteps": 0}"#,
            r#"{"maxSteps": "ten"}"#,
            r#"{"maxSteps": 3, "maxSteps": 4}"#,
            r#"{"approval": "never"}"#,
            "{}}",
        ] {
            let (_folder, file) = file(Some(text));
            let error = file.load().unwrap_err();
            assert_eq!(error.code, ErrorCode::Storage, "{text}");
            assert!(error.message.contains("settings.json") && error.hint.is_some(), "{text}: {error:?}");
            assert!(!error.message.contains("u32"), "{}", error.message);
            assert_eq!(std::fs::read_to_string(&file.0).unwrap(), text);
        }
    }

    #[test]
    fn what_is_out_of_its_range_is_told_with_its_line() {
        for (field, name) in [
            (r#""maxSteps": 0"#, "maxSteps"),
            (r#""jpegQuality": 5"#, "jpegQuality"),
            (r#""maxOutput": 3"#, "maxOutput"),
            (r#""baseUrls": {"gemini": "ftp://x"}"#, "baseUrls"),
        ] {
            let (_folder, file) = file(Some(&format!("{{\n  \"mode\": \"act\",\n\n  {field}\n}}")));
            let error = file.load().unwrap_err();
            assert!(error.message.contains(name) && error.message.contains("(line 4)"), "{error:?}");
        }
    }

    #[test]
    fn a_setting_is_found_by_its_line() {
        let (_folder, file) = file(Some("{\n\"approval\" : \"auto\",\n\"fenceApps\": [\"failsafe\"]\n}"));
        let line = |name| agent::SettingsStore::line_of(&file, name);
        assert_eq!((line("approval"), line("fence"), line("failsafe")), (Some(2), Some(3), None));
    }

    #[test]
    fn a_fault_is_told_with_its_line_and_what_is_wrong_in_a_grant() {
        for (grants, wrong) in [
            (r#"[{"tool": "click"}]"#, "missing field `app`"),
            (r#"[{"tool": "click", "app": "Mousepad", "for": "ever"}]"#, "unknown field `for`"),
            (r#"[{"tool": "click", "app": "Mousepad", "until": "never"}]"#, "invalid type: string \"never\""),
            (r#""click""#, "not a list"),
        ] {
            let (_folder, file) = file(Some(&format!("{{\n  \"maxSteps\": 30,\n  \"grants\": {grants}\n}}")));
            let error = file.load().unwrap_err();
            let parts = ["setting grants", wrong, "(line 3)"];
            assert!(parts.iter().all(|part| error.message.contains(part)), "{error:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_text_is_refused() {
        let (_folder, file) = file(None);
        std::fs::write(&file.0, [0xff, 0xfe, 0x00]).unwrap();
        assert_eq!(file.load().unwrap_err().code, ErrorCode::Storage);
    }
}
