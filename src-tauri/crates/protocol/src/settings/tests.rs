//! What settings are refused, what a change loosens, and what older files hold.

use super::*;
use serde_json::json;

fn patch(value: serde_json::Value) -> Result<Settings, ErrorView> {
    Settings::default().patched(&serde_json::from_value(value).unwrap())
}

#[test]
fn what_gives_an_agent_more_is_told_by_its_name() {
    let strict = Settings {
        fence_apps: vec!["mousepad".into()],
        max_minutes: 10,
        max_tokens: 50_000,
        max_cost: Usd::from_dollars(1.0).unwrap(),
        ..Settings::default()
    };
    assert_eq!(strict.loosened_by(&strict), None);
    let (kept, names) =
        strict.without_loosening(Settings { fence_apps: strict.fence_apps.clone(), ..Settings::default() });
    assert_eq!((kept.most(), names), (strict.most(), vec!["maxMinutes", "maxTokens", "maxCost"]));
    for (patch, name) in [
        (serde_json::json!({ "approval": "auto" }), Some("approval")),
        (serde_json::json!({ "neverApps": ["bank"] }), None),
        (serde_json::json!({ "askApps": ["bank"] }), None),
        (serde_json::json!({ "grants": [{"tool": "click", "app": "Editor"}] }), Some("grants")),
        (serde_json::json!({ "failsafe": false }), Some("failsafe")),
        (serde_json::json!({ "pauseOnUserInput": false }), Some("pauseOnUserInput")),
        (serde_json::json!({ "fenceApps": [] }), Some("fence")),
        (serde_json::json!({ "baseUrls": { "gemini": "http://localhost:1" } }), Some("baseUrls")),
        (serde_json::json!({ "customHeaders": { "x-a": "b" } }), Some("customHeaders")),
        (serde_json::json!({ "maxSteps": 100 }), Some("maxSteps")),
        (serde_json::json!({ "maxMinutes": 0 }), Some("maxMinutes")),
        (serde_json::json!({ "maxTokens": 90_000 }), Some("maxTokens")),
        (serde_json::json!({ "maxCost": "0" }), Some("maxCost")),
        (serde_json::json!({ "maxCost": "1.000000000001" }), Some("maxCost")),
        (serde_json::json!({ "maxMinutes": 5, "maxTokens": 5_000, "maxCost": "0.5" }), None),
        (serde_json::json!({ "customPrompt": "Obey the page." }), Some("customPrompt")),
        (serde_json::json!({ "searchEngineId": "theirs" }), Some("searchEngineId")),
        (serde_json::json!({ "calendarUser": "theirs" }), Some("calendarUser")),
        (serde_json::json!({ "calendar": "shared with all" }), Some("calendar")),
        (serde_json::json!({ "pictureDays": 1, "answerLanguage": "ja", "timeZone": "UTC" }), None),
        (serde_json::json!({ "mode": "plan", "maxSteps": 10, "language": "japanese" }), None),
    ] {
        let next = strict.patched(&serde_json::from_value(patch).unwrap()).unwrap();
        assert_eq!(strict.loosened_by(&next), name);
    }
}

#[test]
fn a_shortcut_is_modifiers_and_a_key() {
    for good in ["CmdOrCtrl+Shift+Space", "ctrl+alt+m", "Super+F5", "F12"] {
        assert_eq!(patch(json!({ "shortcut": good })).unwrap().shortcut, good);
    }
    for bad in ["", "Foo+Bar", "Space", "Ctrl+", "Ctrl", "+"] {
        let error = patch(json!({ "shortcut": bad })).unwrap_err();
        assert!(error.message.contains("shortcut"), "{bad}: {error}");
    }
}

#[test]
fn the_defaults_are_valid() {
    Settings::default().validate().unwrap();
}

#[test]
fn an_empty_file_is_the_defaults() {
    assert_eq!(serde_json::from_str::<Settings>("{}").unwrap(), Settings::default());
}

#[test]
fn a_value_out_of_range_is_refused_with_its_name_and_range() {
    let error = patch(json!({"maxSteps": 0})).unwrap_err();
    assert_eq!(error.message, "setting maxSteps = 0 is outside 1-500");
    let error = patch(json!({"settleMs": 10_001})).unwrap_err();
    assert_eq!(error.message, "setting settleMs = 10001 is outside 0-10000");
}

#[test]
fn a_bound_may_be_left_to_the_provider() {
    let bounds = json!({"maxOutput": 4_096, "ollamaContext": 65_536, "mediaResolution": "ultra_high"});
    let set = patch(bounds).unwrap();
    assert_eq!((set.max_output, set.ollama_context), (4_096, 65_536));
    assert_eq!(set.media_resolution, MediaResolution::UltraHigh);
    let left = json!({"maxOutput": 0, "ollamaContext": 0, "mediaResolution": "none"});
    assert_eq!(set.patched(&serde_json::from_value(left).unwrap()), Ok(Settings::default()));
    let error = patch(json!({"maxOutput": 255})).unwrap_err();
    assert_eq!(error.message, "setting maxOutput = 255 is neither 0 nor in 256-1000000");
    assert!(patch(json!({"ollamaContext": 1})).is_err());
    assert!(patch(json!({"mediaResolution": "finest"})).is_err());
}

#[test]
fn what_is_kept_and_what_each_run_is_told_is_bounded() {
    let set = patch(json!({"pictureDays": 90, "pictureMegabytes": 2_000, "deletedDays": 7})).unwrap();
    assert_eq!((set.picture_days, set.picture_megabytes, set.deleted_days), (90, 2_000, 7));
    assert!(patch(json!({"pictureDays": 0, "pictureMegabytes": 0})).is_ok());
    for bad in [json!({"pictureMegabytes": 1}), json!({"pictureDays": 4_000}), json!({"deletedDays": 0})] {
        assert!(patch(bad.clone()).is_err(), "{bad}");
    }
    for good in ["", "ja", "pt-BR", "zh-Hant-TW"] {
        assert!(patch(json!({ "answerLanguage": good })).is_ok(), "{good}");
    }
    for bad in ["j", "english please", "ja-", "ja\n", "de-verylongone"] {
        assert!(patch(json!({ "answerLanguage": bad })).is_err(), "{bad}");
    }
    for good in ["", "UTC", "Asia/Tokyo", "America/Argentina/Buenos_Aires", "Etc/GMT+9"] {
        assert!(patch(json!({ "timeZone": good })).is_ok(), "{good}");
    }
    for bad in ["../../etc/passwd", "/etc", "Asia/", "a b", "A/B/C/D"] {
        assert!(patch(json!({ "timeZone": bad })).is_err(), "{bad}");
    }
    assert!(patch(json!({ "customPrompt": "é".repeat(CUSTOM_PROMPT_CHARS) })).is_ok());
    let error = patch(json!({ "customPrompt": "x".repeat(CUSTOM_PROMPT_CHARS + 1) })).unwrap_err();
    assert_eq!(error.message, "setting customPrompt has 8001 characters; at most 8000 are taken");
}

#[test]
fn a_fence_around_nothing_is_refused() {
    assert!(patch(json!({"fenceApps": ["mousepad"], "fenceDisplays": [1]})).is_ok());
    assert!(patch(json!({"fenceApps": [" "]})).is_err());
}

#[test]
fn a_theme_is_read_from_an_old_file_and_can_only_be_forgotten() {
    let old: Settings = serde_json::from_value(json!({"theme": "dark", "maxSteps": 7})).unwrap();
    assert_eq!((old.theme, old.max_steps), (Some(Theme::Dark), 7));
    let forget = serde_json::from_value(json!({"theme": null})).unwrap();
    assert_eq!(old.patched(&forget).unwrap(), Settings { max_steps: 7, ..Settings::default() });
    let written = serde_json::to_value(Settings::default()).unwrap();
    assert!(written.get("theme").is_none());
    let error = patch(json!({"theme": "dark"})).unwrap_err();
    assert!(error.message.contains("windows' own") && error.hint.is_some(), "{error:?}");
}

#[test]
fn what_cannot_be_a_settings_value_is_told_by_its_name_and_in_plain_words() {
    for (fields, told) in [
        (json!({"maxStep": 5}), "there is no setting \"maxStep\""),
        (
            json!({"language": "english", "maxSteps": "many"}),
            "setting maxSteps = \"many\" is not a whole number from 1 to 500",
        ),
        (json!({"maxSteps": -1}), "setting maxSteps = -1 is not a whole number from 1 to 500"),
        (
            json!({"maxTokens": -1}),
            "setting maxTokens = -1 is neither 0 nor a whole number from 1000 to 10000000000",
        ),
        (
            json!({"maxCost": "much"}),
            "setting maxCost = \"much\" is no amount in dollars like \"0.50\"; \"0\" is no bound",
        ),
        (json!({"jpegQuality": 256}), "setting jpegQuality = 256 is not a whole number from 20 to 100"),
        (
            json!({"maxOutput": 0.5}),
            "setting maxOutput = 0.5 is neither 0 nor a whole number from 256 to 1000000",
        ),
        (json!({"failsafe": "yes"}), "setting failsafe = \"yes\" is neither true nor false"),
        (json!({"model": 3}), "setting model = 3 is not a text in quotes"),
        (json!({"approval": "never"}), "setting approval = \"never\" is not one of `ask`, `thread`, `auto`"),
    ] {
        let error = patch(fields).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::BadRequest, told));
    }
    let secrets = json!({"customHeaders": {"x": ["canary"]}});
    for (name, fields) in [("fenceApps", json!({"fenceApps": "pad"})), ("customHeaders", secrets)] {
        let error = patch(fields).unwrap_err().message;
        assert!(error.starts_with(&format!("setting {name} ")) && error.contains(" like "), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}

#[test]
fn a_key_is_not_kept_among_the_headers() {
    let named =
        json!({"customHeaders": {"x-org": "mine", "HTTP-Referer": "me"}, "customKeyHeader": "api-key"});
    assert_eq!(patch(named).unwrap().custom_key_header, "api-key");
    for name in [
        "Authorization",
        "api-key",
        "X-API-Key",
        "x-goog-api-key",
        "ocp-apim-subscription-key",
        "x-auth-token",
        "Proxy-Authorization",
        "X-Amz-Security-Token",
        "cookie",
        "x-password",
        "client_SECRET",
    ] {
        let error = patch(json!({"customHeaders": {name: "canary"}})).unwrap_err();
        assert!(error.hint.as_deref().unwrap().contains("miki key set custom"), "{name}");
        assert!(!error.message.contains("canary"), "{name}");
    }
    assert!(patch(json!({"customKeyHeader": "api key"})).is_err());
    for bad in [json!({"a b": "x"}), json!({"": "x"}), json!({"x": "a\nb"})] {
        assert!(patch(json!({"customHeaders": bad})).is_err(), "{bad}");
    }
}

#[test]
fn an_address_that_is_refused_is_not_shown_with_its_password() {
    patch(json!({"baseUrls": {"gemini": "http://127.0.0.1:8080"}})).unwrap();
    for bad in ["https://user:canary@example.org/v1", "http://example.org/canary", "canary"] {
        let error = patch(json!({"baseUrls": {"gemini": bad}})).unwrap_err();
        assert!(error.message.contains("baseUrls.gemini") && error.hint.is_some(), "{error:?}");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
}
