//! What a provider has in place of a model that it does not know, over real sockets: its list is asked for once.

use super::*;

use models::Wire;

/// Answers lists, and knows no model.
async fn listing(list: &'static str) -> Server {
    Server::start(move |asked| {
        let is_list = ["/v1beta/models?", "/models ", "/api/tags "];
        let line = format!("{} ", asked.line);
        if is_list.iter().any(|path| line.contains(path)) {
            return answer(200, list);
        }
        if line.contains("/api/show") {
            let tools = !String::from_utf8_lossy(&asked.body).contains("minilm");
            return answer(
                200,
                if tools { r#"{"capabilities":["tools"]}"# } else { r#"{"capabilities":["embedding"]}"# },
            );
        }
        answer(404, fixture!("error_404.json"))
    })
    .await
}

fn of(provider: Provider, wished: &str) -> Remote {
    let options = RemoteOptions { key: Some(Secret(KEY.into())), ..RemoteOptions::new(provider, wished) };
    Remote::new(&Http::new(CONNECT).unwrap(), options).unwrap()
}

fn at(id: &str, server: &Server) -> Provider {
    Provider { base_url: server.url.clone(), ..Provider::named(id).unwrap().clone() }
}

fn names(error: &ModelError) -> Vec<&str> {
    assert_eq!((error.kind, error.retry()), (ModelErrorKind::NotFound, Retry::Never), "{error}");
    error.suggestions.iter().map(|model| model.0.as_str()).collect()
}

const GEMINI: &str = r#"{"models":[
    {"name":"models/gemini-3.9-flash","supportedGenerationMethods":["generateContent"]},
    {"name":"models/gemini-3-flash-preview","supportedGenerationMethods":["generateContent"]},
    {"name":"models/gemini-3.9-embed","supportedGenerationMethods":["embedContent"]}]}"#;

#[tokio::test]
async fn the_nearest_names_of_the_providers_own_list_are_offered_and_its_fallback() {
    let server = listing(GEMINI).await;
    let error = ask(&of(at("gemini", &server), "gemini-3.9-flsh")).await.unwrap_err();
    // One that the table has never heard of comes first.
    assert_eq!(names(&error), ["gemini/gemini-3.9-flash", "gemini/gemini-3-flash-preview"]);
    assert_eq!(
        error.hint.as_deref(),
        Some(
            "choose another model in the settings, for example gemini/gemini-3.9-flash, gemini/gemini-3-flash-preview"
        )
    );
    // Both versions were asked for the model, and then the one that knows all for its list, with the key.
    let asked = server.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.line.split(['?', ':']).next().unwrap()).collect();
    assert_eq!(
        paths,
        ["POST /v1/models/gemini-3.9-flsh", "POST /v1beta/models/gemini-3.9-flsh", "GET /v1beta/models"]
    );
    assert!(asked.iter().all(|asked| asked.key.as_deref() == Some(KEY)));
    let error = of(at("gemini", &server), "gemini-3.9-flsh").probe().await.unwrap_err();
    assert_eq!(names(&error).len(), 2);
}

#[tokio::test]
async fn where_no_list_comes_the_table_tells_and_the_hint_says_that_it_did() {
    let server = Server::start(|_| answer(404, "<html>nothing here</html>")).await;
    let error = ask(&of(at("anthropic", &server), "claude-opus-5.5")).await.unwrap_err();
    assert_eq!(names(&error)[0], "anthropic/claude-opus-5-5");
    assert_eq!(names(&error).last(), Some(&"anthropic/claude-sonnet-5-5"));
    let hint = error.hint.clone().unwrap();
    assert!(hint.starts_with("check the model's name and the base URL: anthropic gave no list"), "{hint}");
    assert_eq!(server.lines(), ["POST /messages", "GET /models?limit=1000"]);
    // Nobody has a table of what is on this machine.
    for id in ["ollama", "lmstudio"] {
        let error = ask(&of(at(id, &server), "qwen3-vl:8b")).await.unwrap_err();
        assert_eq!(names(&error), [""; 0], "{id}");
    }
}

#[tokio::test]
async fn a_server_of_ones_own_and_ollama_offer_the_first_of_their_list_that_can_use_tools() {
    let list = r#"{"data":[{"id":"zephyr"},{"id":"llama-4"},{"id":"dull","supported_parameters":[]}]}"#;
    let server = listing(list).await;
    let custom = |wire| Provider::custom("custom", &server.url, wire, Default::default());
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses] {
        let error = ask(&of(custom(wire), "mixtral")).await.unwrap_err();
        assert_eq!(names(&error), ["custom/llama-4"], "{wire}");
    }
    let error = ask(&of(at("lmstudio", &server), "zephyr-7b")).await.unwrap_err();
    assert_eq!(names(&error), ["lmstudio/zephyr", "lmstudio/llama-4"]);
    let server = listing(r#"{"models":[{"model":"qwen3-vl:8b"},{"model":"all-minilm"}]}"#).await;
    let error = ask(&of(at("ollama", &server), "gemma4")).await.unwrap_err();
    assert_eq!(names(&error), ["ollama/qwen3-vl:8b"]);
    let error = ask(&of(at("ollama", &server), "all-minilm:1")).await.unwrap_err();
    assert_eq!(names(&error), ["ollama/qwen3-vl:8b"]);
}

#[tokio::test]
async fn a_name_that_openrouter_calls_a_bad_request_is_told_from_other_bad_requests_by_its_list() {
    let server = Server::start(|asked| match asked.line.as_str() {
        "GET /models" => answer(
            200,
            r#"{"data":[{"id":"anthropic/claude-sonnet-4.6"},{"id":"google/gemini-3-flash-preview"}]}"#,
        ),
        _ => answer(400, r#"{"error":{"message":"that is not a valid model ID","code":400}}"#),
    })
    .await;
    let error = ask(&of(at("openrouter", &server), "claude-sonnet-4-6")).await.unwrap_err();
    let offered = ["openrouter/anthropic/claude-sonnet-4.6", "openrouter/google/gemini-3-flash-preview"];
    assert_eq!(names(&error), offered);
    assert!(error.message.contains("refused the request (400): that is not"), "{error}");
    for known in ["google/gemini-3-flash-preview", "google/gemini-3-flash-preview:nitro"] {
        let error = ask(&of(at("openrouter", &server), known)).await.unwrap_err();
        assert_eq!((error.kind, error.suggestions), (ModelErrorKind::BadRequest, Vec::new()), "{known}");
    }
    let server = Server::start(|_| answer(400, "{}")).await;
    let error = ask(&of(at("openrouter", &server), "claude-sonnet-4-6")).await.unwrap_err();
    assert_eq!((error.kind, error.suggestions), (ModelErrorKind::BadRequest, Vec::new()));
}

#[tokio::test]
async fn other_refusals_offer_nothing_and_ask_for_no_list() {
    for status in [400, 401, 429, 500] {
        let server = Server::start(move |_| answer(status, "{}")).await;
        let error = ask(&of(at("openai", &server), "gpt-6.1-terra")).await.unwrap_err();
        assert_eq!((error.suggestions, server.asked().len()), (Vec::new(), 1), "{status}");
    }
}
