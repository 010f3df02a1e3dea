//! The settings page as a table: one row a field, by its name in `Settings`.

use protocol::remembered::Theme;
use protocol::settings::Settings;
use serde_json::Value;

use crate::words::Word;

/// One field of the settings page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Its JSON name in [`Settings`] and in a patch.
    pub name: &'static str,
    pub label: Word,
    pub note: Option<Word>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    /// A folder, written or chosen in the system's dialog.
    Folder,
    /// Text of several lines.
    Lines,
    Number,
    Switch,
    /// An object, as it is written.
    Json,
    /// A list of names, with commas between them.
    Names,
    /// JSON values and what they are called.
    Choice(&'static [(&'static str, Word)]),
}

pub const MODEL: Field =
    Field { name: "model", label: Word::ModelId, note: Some(Word::ModelIdNote), kind: Kind::Text };

/// Of every provider.
pub const MAX_OUTPUT: Field =
    Field { name: "maxOutput", label: Word::MaxOutput, note: Some(Word::MaxOutputNote), kind: Kind::Number };

/// Of Gemini's provider.
pub const GEMINI: &[Field] = &[Field {
    name: "geminiApiVersion",
    label: Word::ApiVersion,
    note: Some(Word::ApiVersionNote),
    kind: Kind::Text,
}];

/// Of all who speak Gemini's protocol.
pub const PICTURES: &[Field] = &[Field {
    name: "mediaResolution",
    label: Word::MediaResolution,
    note: Some(Word::MediaResolutionNote),
    kind: Kind::Choice(&[
        ("none", Word::ResolutionUsual),
        ("low", Word::ResolutionLow),
        ("medium", Word::ResolutionMedium),
        ("high", Word::ResolutionHigh),
        ("ultra_high", Word::ResolutionHighest),
    ]),
}];

/// Of all who speak Ollama's.
pub const OLLAMA: &[Field] = &[Field {
    name: "ollamaContext",
    label: Word::OllamaContext,
    note: Some(Word::OllamaContextNote),
    kind: Kind::Number,
}];

/// Of the user's own server.
pub const CUSTOM: &[Field] = &[
    Field {
        name: "customWire",
        label: Word::CustomWire,
        note: None,
        kind: Kind::Choice(&[
            ("openai-chat", Word::WireChat),
            ("openai-responses", Word::WireResponses),
            ("anthropic", Word::WireAnthropic),
            ("gemini", Word::WireGemini),
            ("ollama", Word::WireOllama),
        ]),
    },
    Field {
        name: "customHeaders",
        label: Word::CustomHeaders,
        note: Some(Word::CustomHeadersNote),
        kind: Kind::Json,
    },
    Field {
        name: "customKeyHeader",
        label: Word::CustomKeyHeader,
        note: Some(Word::CustomKeyHeaderNote),
        kind: Kind::Text,
    },
];

pub const APPROVALS: &[(&str, Word)] =
    &[("ask", Word::ApprovalAsk), ("thread", Word::ApprovalThread), ("auto", Word::ApprovalAuto)];

pub const RUNS: &[Field] = &[
    Field {
        name: "approval",
        label: Word::ApprovalMode,
        note: Some(Word::ApprovalNote),
        kind: Kind::Choice(APPROVALS),
    },
    Field { name: "plan", label: Word::PlanSetting, note: Some(Word::PlanSettingNote), kind: Kind::Switch },
    Field { name: "maxSteps", label: Word::MaxSteps, note: Some(Word::MaxStepsNote), kind: Kind::Number },
    Field { name: "maxMinutes", label: Word::MaxMinutes, note: Some(Word::BoundNote), kind: Kind::Number },
    Field { name: "maxTokens", label: Word::MaxTokens, note: Some(Word::BoundNote), kind: Kind::Number },
    Field { name: "maxCost", label: Word::MaxCost, note: Some(Word::MaxCostNote), kind: Kind::Text },
    Field {
        name: "agentChildren",
        label: Word::AgentChildren,
        note: Some(Word::AgentChildrenNote),
        kind: Kind::Number,
    },
    Field {
        name: "agentDepth",
        label: Word::AgentDepth,
        note: Some(Word::AgentDepthNote),
        kind: Kind::Number,
    },
    Field { name: "agents", label: Word::AgentsInAll, note: None, kind: Kind::Number },
    Field { name: "agentModel", label: Word::AgentModel, note: Some(Word::AgentModelNote), kind: Kind::Text },
    Field { name: "carryOn", label: Word::CarryOn, note: Some(Word::CarryOnNote), kind: Kind::Switch },
    Field {
        name: "stepDelayMs",
        label: Word::StepDelay,
        note: Some(Word::StepDelayNote),
        kind: Kind::Number,
    },
    Field { name: "jpegQuality", label: Word::Quality, note: Some(Word::QualityNote), kind: Kind::Number },
    Field { name: "failsafe", label: Word::Failsafe, note: Some(Word::FailsafeNote), kind: Kind::Switch },
    Field {
        name: "pauseOnUserInput",
        label: Word::PauseOnInput,
        note: Some(Word::PauseOnInputNote),
        kind: Kind::Switch,
    },
    Field { name: "ownHands", label: Word::OwnHands, note: Some(Word::OwnHandsNote), kind: Kind::Switch },
];

/// Files, commands, the web and calendars.
pub const BEYOND: &[Field] = &[
    Field {
        name: "space",
        label: Word::SpaceSetting,
        note: Some(Word::SpaceSettingNote),
        kind: Kind::Folder,
    },
    Field {
        name: "searchEngine",
        label: Word::SearchEngine,
        note: Some(Word::SearchEngineNote),
        kind: Kind::Choice(&[
            ("none", Word::SearchEngineNone),
            ("brave", Word::SearchEngineBrave),
            ("google", Word::SearchEngineGoogle),
            ("searxng", Word::SearchEngineSearxng),
        ]),
    },
    Field { name: "searchEngineId", label: Word::SearchEngineId, note: None, kind: Kind::Text },
    Field { name: "searchUrl", label: Word::SearchUrl, note: Some(Word::SearchUrlNote), kind: Kind::Text },
    Field {
        name: "calendarUrl",
        label: Word::CalendarUrl,
        note: Some(Word::CalendarUrlNote),
        kind: Kind::Text,
    },
    Field { name: "calendarUser", label: Word::CalendarUser, note: None, kind: Kind::Text },
    Field {
        name: "calendar",
        label: Word::CalendarUsual,
        note: Some(Word::CalendarUsualNote),
        kind: Kind::Text,
    },
];

/// What is allowed where.
pub const PLACES: &[Field] = &[
    Field { name: "fenceApps", label: Word::OnlyApps, note: Some(Word::OnlyAppsNote), kind: Kind::Names },
    Field { name: "neverApps", label: Word::NeverApps, note: Some(Word::NeverAppsNote), kind: Kind::Names },
    Field { name: "askApps", label: Word::AskApps, note: Some(Word::AskAppsNote), kind: Kind::Names },
];

pub const APP: &[Field] = &[
    Field {
        name: "notifications",
        label: Word::Notifications,
        note: Some(Word::NotificationsNote),
        kind: Kind::Switch,
    },
    Field { name: "shortcut", label: Word::Shortcut, note: Some(Word::ShortcutNote), kind: Kind::Text },
    Field {
        name: "customPrompt",
        label: Word::CustomPrompt,
        note: Some(Word::CustomPromptNote),
        kind: Kind::Lines,
    },
    Field {
        name: "answerLanguage",
        label: Word::AnswerLanguage,
        note: Some(Word::AnswerLanguageNote),
        kind: Kind::Text,
    },
    Field { name: "timeZone", label: Word::TimeZone, note: Some(Word::TimeZoneNote), kind: Kind::Text },
    Field { name: "deletedDays", label: Word::DeletedDays, note: None, kind: Kind::Number },
    Field { name: "pictureDays", label: Word::PictureDays, note: Some(Word::KeptNote), kind: Kind::Number },
    Field {
        name: "pictureMegabytes",
        label: Word::PictureMegabytes,
        note: Some(Word::KeptNote),
        kind: Kind::Number,
    },
    Field {
        name: "language",
        label: Word::Language,
        note: None,
        kind: Kind::Choice(&[("english", Word::English), ("japanese", Word::Japanese)]),
    },
];

/// Remembered by the windows, and no setting.
pub const THEME: Field = Field {
    name: "theme",
    label: Word::Theme,
    note: None,
    kind: Kind::Choice(&[
        ("system", Word::ThemeSystem),
        ("light", Word::ThemeLight),
        ("dark", Word::ThemeDark),
    ]),
};

/// A theme as its field shows it.
pub fn theme_name(theme: Theme) -> &'static str {
    match theme {
        Theme::System => "system",
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}

impl Field {
    /// What the settings hold for it.
    pub fn value(&self, settings: &Settings) -> Value {
        serde_json::to_value(settings)
            .ok()
            .and_then(|mut all| all.get_mut(self.name).map(Value::take))
            .unwrap_or_default()
    }

    /// The same as a form field shows it.
    pub fn shown(&self, settings: &Settings) -> String {
        match self.value(settings) {
            Value::String(text) => text,
            Value::Array(names) if self.kind == Kind::Names => {
                names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }

    /// What was typed, as the patch says it. A number that is none goes as text: the engine refuses it with a reason.
    pub fn patch(&self, typed: &str) -> Value {
        match self.kind {
            Kind::Text | Kind::Folder | Kind::Lines | Kind::Choice(_) => typed.trim().into(),
            Kind::Number => typed.trim().parse::<u64>().map_or_else(|_| typed.into(), Value::from),
            Kind::Switch => (typed == "true").into(),
            Kind::Names => typed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
            Kind::Json => serde_json::from_str(typed).unwrap_or_else(|_| typed.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::settings::SettingsPatch;

    fn all() -> impl Iterator<Item = &'static Field> {
        let one = [&MODEL, &MAX_OUTPUT].into_iter();
        one.chain(GEMINI)
            .chain(PICTURES)
            .chain(OLLAMA)
            .chain(CUSTOM)
            .chain(RUNS)
            .chain(PLACES)
            .chain(BEYOND)
            .chain(APP)
    }

    #[test]
    fn every_field_shows_what_the_settings_hold_and_writes_it_back_unchanged() {
        let settings = Settings::default();
        for field in all() {
            let patch = [(field.name.to_owned(), field.patch(&field.shown(&settings)))].into_iter().collect();
            assert_eq!(settings.patched(&SettingsPatch(patch)), Ok(Settings::default()), "{}", field.name);
            assert_ne!(field.value(&settings), Value::Null, "{}", field.name);
        }
    }

    #[test]
    fn every_choice_is_a_value_the_settings_take() {
        for field in all() {
            let Kind::Choice(choices) = field.kind else { continue };
            for (value, _) in choices {
                let patch = SettingsPatch([(field.name.to_owned(), (*value).into())].into_iter().collect());
                let changed = Settings::default().patched(&patch).unwrap();
                assert_eq!(field.shown(&changed), *value);
            }
        }
    }

    #[test]
    fn names_are_told_apart_by_commas_and_nothing_is_no_name() {
        let field = PLACES[0];
        let names = field.patch(" Mousepad, ,GNU Image Manipulation Program,");
        assert_eq!(names, serde_json::json!(["Mousepad", "GNU Image Manipulation Program"]));
        let patch = SettingsPatch([(field.name.to_owned(), names)].into_iter().collect());
        let settings = Settings::default().patched(&patch).unwrap();
        assert_eq!(field.shown(&settings), "Mousepad, GNU Image Manipulation Program");
    }

    #[test]
    fn every_theme_is_a_choice_of_its_field() {
        let Kind::Choice(choices) = THEME.kind else { panic!("it is chosen") };
        let names = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let themes = names.iter().map(|name| serde_json::from_value::<Theme>(THEME.patch(name)).unwrap());
        assert_eq!(themes.map(theme_name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_number_that_is_none_is_left_to_the_engine_to_refuse() {
        let field = RUNS.iter().find(|field| field.name == "maxSteps").unwrap();
        let patch = SettingsPatch([(field.name.to_owned(), field.patch("many"))].into_iter().collect());
        assert!(Settings::default().patched(&patch).is_err());
    }
}
