//! Which client a model is opened with, and which key goes where.

use super::*;
use crate::keys::fake::FakeStore;
use models::Auth;

async fn open(model: &str, key: Option<&'static str>) -> Result<ModelId, ErrorView> {
    open_to(model, key, false).await
}

async fn open_to(model: &str, key: Option<&'static str>, search: bool) -> Result<ModelId, ErrorView> {
    let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(move |_| key.map(str::to_owned)));
    let settings = Settings { model: ModelId(model.into()), ..Settings::default() };
    let wanted = OpenModel { search, ..OpenModel::of(&settings) };
    Models::new(keys).open(wanted).await.map(|model| model.id().clone())
}

#[tokio::test]
async fn search_where_there_is_none_is_refused_before_the_run_and_before_a_key_is_asked_for() {
    let error = open_to("ollama/qwen3-vl:8b", None, true).await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::BadRequest, "ollama has no search of its own")
    );
    assert!(error.hint.unwrap().starts_with("turn search off for this session"));
    let error = open_to("gemini/gemini-2.5-flash", None, true).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BadRequest);
    assert!(open_to("gemini/gemini-3-flash-preview", Some("k"), true).await.is_ok());
}

#[tokio::test]
async fn a_missing_key_names_the_command_that_sets_it() {
    let error = open("gemini/some-model", None).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::NoKey, "no key for gemini"));
    assert_eq!(error.hint.as_deref(), Some("miki key set gemini"));
}

#[tokio::test]
async fn an_unknown_provider_is_answered_with_those_there_are() {
    for model in ["opneai/gpt", "nonsense", "/x"] {
        let error = open(model, Some("k")).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest, "{model}");
        assert!(error.hint.unwrap().contains("gemini"));
    }
}

#[tokio::test]
async fn a_key_opens_the_model_that_was_asked_for() {
    assert_eq!(open("gemini/some-model", Some("k")).await.unwrap(), ModelId("gemini/some-model".into()));
}

#[tokio::test]
async fn each_known_provider_is_opened_and_one_of_this_machine_without_a_key() {
    for model in ["anthropic/a", "openai/a", "openrouter/a/b", "xai/a"] {
        assert_eq!(open(model, Some("k")).await.unwrap(), ModelId(model.into()));
        assert_eq!(open(model, None).await.unwrap_err().code, ErrorCode::NoKey, "{model}");
    }
    for model in ["ollama/qwen3-vl:8b", "lmstudio/qwen/qwen3-vl-8b"] {
        assert_eq!(open(model, None).await.unwrap(), ModelId(model.into()));
    }
}

#[tokio::test]
async fn thoughts_are_asked_for_where_the_provider_or_the_table_says_that_there_are_some() {
    let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(|_| Some("k".into())));
    let models = Models::new(keys);
    let asks = async |name: &str| {
        let model = ModelId(format!("openrouter/{name}"));
        let settings = Settings { model, ..Settings::default() };
        let remote = models.open_remote(OpenModel::of(&settings)).await.unwrap();
        remote.body(&models::Request::default()).contains("reasoning")
    };
    assert!(asks("x-ai/grok-4.7").await);
    assert!(!asks("mistralai/some-model").await);
    let listed = |id: &str, thinking| ListedModel {
        id: id.into(),
        name: None,
        context: None,
        abilities: Abilities { thinking: Some(thinking), ..Abilities::default() },
    };
    let openrouter = Provider::named("openrouter").unwrap();
    models.remember(openrouter, &[listed("x-ai/grok-4.7", false), listed("mistralai/some-model", true)]);
    assert!(!asks("x-ai/grok-4.7").await);
    assert!(asks("mistralai/some-model").await);
    // Another server is another's.
    let elsewhere = Provider { base_url: "http://127.0.0.1:1".into(), ..openrouter.clone() };
    assert!(models.thinks(&elsewhere, &ModelId("openrouter/x-ai/grok-4.7".into())));
}

#[tokio::test]
async fn bounds_and_the_resolution_of_pictures_are_asked_for_as_they_are_set() {
    let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(|_| Some("k".into())));
    let models = Models::new(keys);
    let body = async |model: &str, settings: &Settings| {
        let model = ModelId(model.into());
        let wanted = OpenModel { model: &model, ..OpenModel::of(settings) };
        models.open_remote(wanted).await.unwrap().body(&models::Request::default())
    };
    let (usual, set) = (
        Settings::default(),
        Settings {
            media_resolution: settings::MediaResolution::UltraHigh,
            max_output: 4_321,
            ollama_context: 65_432,
            ..Settings::default()
        },
    );
    for (model, words) in [
        ("gemini/some-model", &["MEDIA_RESOLUTION_ULTRA_HIGH", "\"maxOutputTokens\":4321"][..]),
        ("ollama/some-model", &["\"num_ctx\":65432", "\"num_predict\":4321"]),
        ("anthropic/some-model", &["\"max_tokens\":4321"]),
    ] {
        let (with, without) = (body(model, &set).await, body(model, &usual).await);
        for word in words {
            assert!(with.contains(word) && !without.contains(word), "{model}: {with} {without}");
        }
    }
    assert!(body("ollama/some-model", &usual).await.contains("\"num_ctx\":32768"));
}

#[tokio::test]
async fn a_custom_server_is_opened_without_a_key_on_each_of_its_wires() {
    use CustomWire::{Anthropic, Gemini, Ollama, OpenaiChat, OpenaiResponses};
    for custom_wire in [OpenaiChat, OpenaiResponses, Anthropic, Gemini, Ollama] {
        let keys = Keys::new(Arc::new(FakeStore::default()), Arc::new(|_| None));
        let model = ModelId("custom/some-model".into());
        let base_urls = [(CUSTOM.to_owned(), "http://127.0.0.1:1".to_owned())].into();
        let settings = Settings { model, base_urls, custom_wire, ..Settings::default() };
        Models::new(keys).open_remote(OpenModel::of(&settings)).await.map(drop).unwrap();
    }
}

#[test]
fn a_custom_server_needs_its_address_and_speaks_the_wire_that_is_set() {
    let (model, mut settings) = (ModelId("custom/some-model".into()), Settings::default());
    let error = provider_of(&model, &settings).unwrap_err();
    assert!(error.hint.unwrap().contains("--base-url"));
    settings.base_urls.insert(CUSTOM.into(), "http://127.0.0.1:8080/v1".into());
    settings.custom_headers.insert("x-org".into(), "mine".into());
    let wire = |settings: &Settings| provider_of(&model, settings).unwrap().wire;
    assert_eq!(wire(&settings), Wire::OpenAiChat);
    settings.custom_wire = CustomWire::Anthropic;
    assert_eq!(wire(&settings), Wire::Anthropic);
    let provider = provider_of(&model, &settings).unwrap();
    assert_eq!(provider.base_url, "http://127.0.0.1:8080/v1");
    assert_eq!(provider.headers["x-org"].0, "mine");
    assert_eq!(provider.auth, Auth::Header("x-api-key".into()));
    settings.custom_key_header = "api-key".into();
    assert_eq!(provider_of(&model, &settings).unwrap().auth, Auth::Header("api-key".into()));
}

#[test]
fn an_address_of_the_settings_goes_before_the_one_that_is_known() {
    let (model, mut settings) = (ModelId("gemini/x".into()), Settings::default());
    let at = |settings: &Settings| provider_of(&model, settings).unwrap().base_url;
    assert_eq!(at(&settings), Provider::named("gemini").unwrap().base_url);
    settings.base_urls.insert("gemini".into(), "http://127.0.0.1:1".into());
    settings.base_urls.insert("openai".into(), "http://127.0.0.1:2".into());
    assert_eq!(at(&settings), "http://127.0.0.1:1");
}
