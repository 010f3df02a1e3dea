//! Each recorded refusal of each provider, as it is told: a reviewed snapshot; and refusals that nobody recorded.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;
use crate::{Retry, decode};

/// A minute before the moment that OpenRouter's recorded refusal names.
const NOW: Duration = Duration::from_secs(1_795_312_800);

fn read(provider: &str, wire: Wire, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let status = StatusCode::from_u16(status).unwrap();
    from_answer(provider, wire, status, headers, body, UNIX_EPOCH + NOW)
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

/// All that anyone does with it.
fn shown(error: &ModelError) -> Value {
    let retry = match error.retry() {
        Retry::Never => "never".to_owned(),
        Retry::After(None) => "after a while".to_owned(),
        Retry::After(Some(wait)) => format!("after {wait:?}"),
    };
    json!({
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "retry": retry,
        "retryAfter": error.retry_after.map(|wait| format!("{wait:?}")),
    })
}

/// The provider and the wire of a folder of recordings.
fn of_folder(folder: &str) -> (&str, Wire) {
    match folder {
        "lmstudio" => (folder, Wire::OpenAiChat),
        "openai-chat" | "openai-responses" => ("openai", Wire::named(folder).unwrap()),
        _ => (folder, Wire::named(folder).unwrap()),
    }
}

/// As the answer that it was, with the head where one was recorded, and where a stream was expected.
// bar: C61
#[test]
fn each_recorded_refusal_is_told_as_it_was_reviewed() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut reviewed = 0;
    for folder in fs::read_dir(fixtures).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let (provider, wire) = of_folder(&name);
        for file in fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let Some(status) = stem.strip_prefix("error_") else { continue };
            let number = status.split('_').next().unwrap();
            let body = fs::read_to_string(&path).unwrap();
            let answered =
                |headers: &HeaderMap| read(provider, wire, number.parse().unwrap(), headers, &body);
            let mut told = json!({ "answered": shown(&answered(&HeaderMap::new())) });
            if let Ok(recorded) = fs::read_to_string(folder.path().join(format!("headers_{number}.txt"))) {
                told["answeredWithItsHead"] = shown(&answered(&head(&recorded)));
            }
            told["inPlaceOfAStream"] = shown(&decode(wire, provider, body.as_bytes()).1.unwrap_err());
            insta::assert_json_snapshot!(format!("{name}__{stem}"), told);
            reviewed += 1;
        }
    }
    assert!(reviewed >= 45, "only {reviewed} refusals were found");
}

// bar: C61
#[test]
fn what_no_body_explains_is_told_by_its_status() {
    use Wire::{Anthropic, Gemini};
    for (wire, status, body, kind, retry) in [
        (Anthropic, 529, "{}", Overloaded, AGAIN),
        (Gemini, 413, "<html>", TooLarge, Retry::Never),
        (Gemini, 402, "", NoCredit, Retry::Never),
        (Gemini, 418, "{}", BadRequest, Retry::Never),
        (Gemini, 404, "[{\"error\":{\"code\":404,\"message\":\"x\"}}]", NotFound, Retry::Never),
        (Gemini, 302, "null", Protocol, AGAIN),
    ] {
        let error = read(wire.name(), wire, status, &HeaderMap::new(), body);
        assert_eq!((error.kind, error.retry()), (kind, retry), "{wire} {status} {error}");
        assert!(error.message.starts_with(wire.name()) && !error.message.ends_with('.'), "{error}");
    }
}

#[test]
fn an_account_without_credit_is_told_as_such_under_whatever_code() {
    let depleted = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing."}}"#;
    let low = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
    for (wire, status, body) in [(Wire::Gemini, 429, depleted), (Wire::Anthropic, 400, low)] {
        let error = read(wire.name(), wire, status, &HeaderMap::new(), body);
        assert_eq!((error.kind, error.retry()), (NoCredit, Retry::Never), "{error}");
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_waited_for() {
    let headers = head("retry-after: 86400\n");
    let error = read("x", Wire::OpenAiChat, 503, &headers, "{}");
    assert_eq!((error.kind, error.retry()), (Overloaded, Retry::Never));
    assert_eq!(error.retry_after, Some(Duration::from_secs(86_400)));
}

#[test]
fn a_limit_that_lasts_longer_than_anybody_waits_is_a_quota_and_says_when_it_is_renewed() {
    for (seconds, renewed) in
        [(301, "6 minutes"), (7_000, "117 minutes"), (86_400, "24 hours"), (864_000, "10 days")]
    {
        let error = read("x", Wire::OpenAiChat, 429, &head(&format!("retry-after: {seconds}\n")), "{}");
        assert_eq!((error.kind, error.retry()), (Quota, Retry::Never));
        assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)));
        let hint = format!("the quota is renewed in about {renewed}; until then use another model or plan");
        assert_eq!(error.hint, Some(hint));
    }
    for (seconds, told) in [(1, "a second"), (20, "20 seconds"), (120, "120 seconds"), (300, "5 minutes")] {
        let error = read("x", Wire::OpenAiChat, 429, &head(&format!("retry-after: {seconds}\n")), "{}");
        assert_eq!((error.kind, error.retry_after), (Rate, Some(Duration::from_secs(seconds))));
        assert_eq!(error.hint, Some(format!("it asks for a wait of {told}")));
    }
    // Of OpenRouter's day, which its own copy of the head tells.
    let reset = json!({ "error": { "message": "free-models-per-day", "metadata": { "headers": { "X-RateLimit-Reset": "99999999999999" } } } });
    let error = read("openrouter", Wire::OpenRouter, 429, &HeaderMap::new(), &reset.to_string());
    assert_eq!((error.kind, error.retry()), (Quota, Retry::Never));
}

#[test]
fn an_error_without_any_word_in_the_middle_of_a_stream_may_be_tried_again() {
    let error = from_error("lmstudio", 0, &json!({"error": {"message": "It has crashed."}}));
    assert_eq!((error.kind, error.retry()), (Overloaded, AGAIN));
    assert_eq!(error.message, "lmstudio cannot answer now: It has crashed");
}

#[test]
fn what_the_provider_behind_another_said_is_told_in_whatever_form_it_came() {
    let told = |raw: &str, who: Value| {
        let metadata = json!({ "raw": raw, "provider_name": who });
        let error = json!({ "code": 502, "message": "Provider returned error", "metadata": metadata });
        from_error("openrouter", 0, &json!({ "error": error })).message
    };
    let begin = "openrouter cannot answer now (502): Provider returned error";
    for (raw, words) in [
        (r#"{"error":{"message":"Busy"}}"#, "Busy"),
        (r#"{"error":"Busy"}"#, "Busy"),
        (r#"{"message":"Busy"}"#, "Busy"),
        ("upstream  is gone", "upstream is gone"),
    ] {
        assert_eq!(told(raw, json!("Anthropic")), format!("{begin} (Anthropic: {words})"));
    }
    assert_eq!(told("Busy", Value::Null), format!("{begin} (the provider behind it: Busy)"));
}
