//! The recorded refusals of all providers, each with its kind and whether to try again.

use std::time::{Duration, UNIX_EPOCH};

use reqwest::header::{HeaderName, HeaderValue};

use super::*;
use crate::Retry;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../tests/fixtures/", $name))
    };
}

fn read(wire: Wire, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    from_answer(wire.name(), wire, StatusCode::from_u16(status).unwrap(), headers, body, UNIX_EPOCH)
}

/// The head of a recorded answer.
fn head(text: &str) -> HeaderMap {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, value)| {
            (name.parse::<HeaderName>().unwrap(), value.trim().parse::<HeaderValue>().unwrap())
        })
        .collect()
}

const AGAIN: Retry = Retry::After(None);

fn wait(milliseconds: u64) -> Retry {
    Retry::After(Some(Duration::from_millis(milliseconds)))
}

// bar: C61
#[test]
fn each_refusal_has_its_kind_and_says_whether_to_try_again() {
    use Wire::{Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses, OpenRouter, Xai};
    let table = [
        (Gemini, 400, fixture!("gemini/error_400_api_key_invalid.json"), Auth, Retry::Never),
        (Gemini, 400, fixture!("gemini/error_400_missing_signature.json"), BadRequest, Retry::Never),
        (Gemini, 403, fixture!("gemini/error_403.json"), Auth, Retry::Never),
        (Gemini, 404, fixture!("gemini/error_404.json"), NotFound, Retry::Never),
        (Gemini, 429, fixture!("gemini/error_429_per_minute.json"), Rate, wait(34_000)),
        (Gemini, 429, fixture!("gemini/error_429_per_day.json"), Quota, Retry::Never),
        (Gemini, 500, fixture!("gemini/error_500.json"), Overloaded, AGAIN),
        (Gemini, 503, fixture!("gemini/error_503.json"), Overloaded, AGAIN),
        (Gemini, 504, fixture!("gemini/error_504.json"), Overloaded, AGAIN),
        (Anthropic, 400, fixture!("anthropic/error_400_computer_tool_type.json"), BadRequest, Retry::Never),
        (Anthropic, 400, fixture!("anthropic/error_400_thinking_bound.json"), BadRequest, Retry::Never),
        (Anthropic, 400, fixture!("anthropic/error_400_tool_choice.json"), BadRequest, Retry::Never),
        (Anthropic, 401, fixture!("anthropic/error_401.json"), Auth, Retry::Never),
        (Anthropic, 402, fixture!("anthropic/error_402.json"), NoCredit, Retry::Never),
        (Anthropic, 403, fixture!("anthropic/error_403.json"), Auth, Retry::Never),
        (Anthropic, 404, fixture!("anthropic/error_404.json"), NotFound, Retry::Never),
        (Anthropic, 413, fixture!("anthropic/error_413.json"), TooLarge, Retry::Never),
        (Anthropic, 429, fixture!("anthropic/error_429.json"), Quota, Retry::Never),
        (Anthropic, 500, fixture!("anthropic/error_500.json"), Overloaded, AGAIN),
        (Anthropic, 504, fixture!("anthropic/error_504.json"), Overloaded, AGAIN),
        (Anthropic, 529, "{}", Overloaded, AGAIN),
        (OpenAiResponses, 400, fixture!("openai-responses/error_400_context.json"), TooLarge, Retry::Never),
        (OpenAiResponses, 401, fixture!("openai-responses/error_401.json"), Auth, Retry::Never),
        (OpenAiResponses, 404, fixture!("openai-responses/error_404.json"), NotFound, Retry::Never),
        (OpenAiResponses, 429, fixture!("openai-responses/error_429_quota.json"), Quota, Retry::Never),
        (OpenAiResponses, 429, fixture!("openai-responses/error_429_rate.json"), Rate, AGAIN),
        (OpenAiResponses, 500, fixture!("openai-responses/error_500.json"), Overloaded, AGAIN),
        (OpenAiResponses, 503, fixture!("openai-responses/error_503.json"), Overloaded, AGAIN),
        (OpenAiChat, 400, fixture!("openai-chat/error_400_context.json"), TooLarge, Retry::Never),
        (OpenAiChat, 401, fixture!("openai-chat/error_401.json"), Auth, Retry::Never),
        (OpenAiChat, 404, fixture!("openai-chat/error_404.json"), NotFound, Retry::Never),
        (OpenAiChat, 429, fixture!("openai-chat/error_429_quota.json"), Quota, Retry::Never),
        (OpenAiChat, 429, fixture!("openai-chat/error_429_rate.json"), Rate, AGAIN),
        (OpenAiChat, 500, fixture!("openai-chat/error_500.json"), Overloaded, AGAIN),
        (OpenAiChat, 503, fixture!("openai-chat/error_503.json"), Overloaded, AGAIN),
        (OpenAiChat, 400, fixture!("lmstudio/error_400_no_model.json"), NotFound, Retry::Never),
        (OpenRouter, 401, fixture!("openrouter/error_401.json"), Auth, Retry::Never),
        (OpenRouter, 402, fixture!("openrouter/error_402.json"), NoCredit, Retry::Never),
        (OpenRouter, 404, fixture!("openrouter/error_404.json"), NotFound, Retry::Never),
        // Its reset is a moment, and the time of this test is 1970.
        (OpenRouter, 429, fixture!("openrouter/error_429.json"), Rate, Retry::Never),
        (OpenRouter, 502, fixture!("openrouter/error_502.json"), Overloaded, AGAIN),
        (Xai, 401, fixture!("xai/error_401.json"), Auth, Retry::Never),
        (Xai, 429, fixture!("xai/error_429.json"), Rate, AGAIN),
        (Ollama, 400, fixture!("ollama/error_400_no_tools.json"), BadRequest, Retry::Never),
        (Ollama, 404, fixture!("ollama/error_404.json"), NotFound, Retry::Never),
        (Ollama, 429, fixture!("ollama/error_429_cloud.json"), Rate, AGAIN),
        (Gemini, 413, "<html>", TooLarge, Retry::Never),
        (Gemini, 402, "", NoCredit, Retry::Never),
        (Gemini, 418, "{}", BadRequest, Retry::Never),
        (Gemini, 404, "[{\"error\":{\"code\":404,\"message\":\"x\"}}]", NotFound, Retry::Never),
        (Gemini, 302, "null", Protocol, AGAIN),
    ];
    for (wire, status, body, kind, retry) in table {
        let error = read(wire, status, &HeaderMap::new(), body);
        assert_eq!((error.kind, error.retry()), (kind, retry), "{wire} {status} {error}");
        assert!(!error.message.ends_with('.') && error.message.len() < 600, "{error}");
        let said = serde_json::from_str::<Value>(body).ok();
        let said =
            said.and_then(|body| body["error"]["message"].as_str().or(body["error"].as_str()).map(str::len));
        assert!(said.is_none() || error.message.contains(": "), "what the provider said is shown: {error}");
    }
}

// bar: C61
#[test]
fn the_heads_of_recorded_refusals_say_how_long_to_wait() {
    for (wire, headers, body, expected) in [
        (
            Wire::Anthropic,
            fixture!("anthropic/headers_429.txt"),
            fixture!("anthropic/error_429.json"),
            12_000,
        ),
        (
            Wire::OpenAiResponses,
            fixture!("openai-responses/headers_429.txt"),
            fixture!("openai-responses/error_429_rate.json"),
            1_500,
        ),
        (
            Wire::OpenAiChat,
            fixture!("openai-chat/headers_429.txt"),
            fixture!("openai-chat/error_429_rate.json"),
            1_500,
        ),
    ] {
        let error = read(wire, 429, &head(headers), body);
        assert_eq!((error.kind, error.retry()), (Rate, wait(expected)), "{wire}");
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_waited_for() {
    let headers = head("retry-after: 86400\n");
    let error = read(Wire::OpenAiChat, 503, &headers, "{}");
    assert_eq!((error.kind, error.retry()), (Overloaded, Retry::Never));
    assert_eq!(error.retry_after, Some(Duration::from_secs(86_400)));
}

#[test]
fn an_error_without_any_word_in_the_middle_of_a_stream_may_be_tried_again() {
    let error = from_error("lmstudio", 0, &serde_json::json!({"error": {"message": "It has crashed."}}));
    assert_eq!((error.kind, error.retry()), (Overloaded, AGAIN));
    assert_eq!(error.message, "lmstudio cannot answer now: It has crashed");
}
