//! The file of the settings: read whole or refused, with its line.

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
