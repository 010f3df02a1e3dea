//! What providers' refusals mean. Branches on status, code and type, and on text only where an account has no credit, which
//! two vendors say under codes that mean something else.
//!
//! One reader for all providers: they differ only in where code, type and message stand, and no code means two things.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::ModelErrorKind::{
    Auth, BadRequest, NoCredit, NotFound, Overloaded, Protocol, Quota, Rate, TooLarge,
};
use crate::retry_after::{retry_after, seconds};
use crate::{LONGEST_WAIT, ModelError, ModelErrorKind, Wire};

/// Characters of the provider's own message that are shown.
const MAX_MESSAGE: usize = 400;

/// Codes and types that say more than the status does.
const WORDS: &[(&str, ModelErrorKind)] = &[
    ("API_KEY_INVALID", Auth),
    ("invalid_api_key", Auth),
    ("authentication_error", Auth),
    ("permission_error", Auth),
    ("billing_error", NoCredit),
    ("insufficient_quota", Quota),
    ("billing_hard_limit_reached", Quota),
    ("context_length_exceeded", TooLarge),
    ("request_too_large", TooLarge),
    ("string_above_max_length", TooLarge),
    ("model_not_found", NotFound),
    ("not_found_error", NotFound),
    ("rate_limit_exceeded", Rate),
    ("rate_limit_error", Rate),
    ("overloaded_error", Overloaded),
    ("server_is_overloaded", Overloaded),
    ("slow_down", Overloaded),
    ("server_error", Overloaded),
    ("service_unavailable_error", Overloaded),
    ("timeout_error", Overloaded),
    ("gateway_timeout", Overloaded),
];

/// What is said of an account that has to be topped up, under codes that say something else: Gemini's prepaid plans (429,
/// `RESOURCE_EXHAUSTED`), Anthropic (400, `invalid_request_error`).
const NO_CREDIT: [&str; 2] = ["credits are depleted", "credit balance is too low"];

/// Codes that are used only if there is no status, in the middle of a stream.
const VAGUE_WORDS: &[(&str, ModelErrorKind)] = &[
    ("invalid_request_error", BadRequest),
    ("invalid_prompt", BadRequest),
    ("INVALID_ARGUMENT", BadRequest),
    ("FAILED_PRECONDITION", BadRequest),
    ("UNAUTHENTICATED", Auth),
    ("PERMISSION_DENIED", Auth),
    ("NOT_FOUND", NotFound),
    ("RESOURCE_EXHAUSTED", Rate),
    // xAI's codes are sentences.
    ("The caller does not have permission to execute the specified operation", Auth),
    ("Some resource has been exhausted", Rate),
];

/// The error of an answer that is not 2xx. `body` must not hold the key.
pub(crate) fn from_answer(
    provider: &str,
    wire: Wire,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    now: SystemTime,
) -> ModelError {
    let value = match serde_json::from_str(body).unwrap_or(Value::Null) {
        // Gemini's streams refuse with a list of one.
        Value::Array(mut list) => list.first_mut().map(Value::take).unwrap_or_default(),
        value => value,
    };
    let wait = retry_after(headers, &value, now);
    let resets = wait.filter(|wait| *wait > LONGEST_WAIT);
    let error = read(provider, status.as_u16(), &value, |rate| match wait {
        // Anthropic's spending cap is a 429 too; only its missing `retry-after` tells.
        None if wire == Wire::Anthropic => Quota,
        // So long a wait means a limit of the day or the month.
        Some(_) if resets.is_some() => Quota,
        _ => rate,
    });
    match (error.kind, resets) {
        // A short wait beside a used-up quota does not say when the quota is renewed.
        (Quota, None) => error,
        (Quota, Some(wait)) => {
            let hint = format!(
                "the quota is renewed in about {}; until then use another model or plan",
                in_words(wait)
            );
            ModelError { retry_after: resets, ..error.with_hint(hint) }
        }
        (kind, _) => match error.retry_after.or(wait) {
            Some(wait) if [Rate, Overloaded].contains(&kind) && !wait.is_zero() => {
                let hint = format!("it asks for a wait of {}", in_words(wait));
                ModelError { retry_after: Some(wait), ..error.with_hint(hint) }
            }
            retry_after => ModelError { retry_after, ..error },
        },
    }
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..=1 => "a second".into(),
        2..=120 => format!("{seconds} seconds"),
        _ if minutes < 120 => format!("{minutes} minutes"),
        _ if minutes < 2_880 => format!("{} hours", minutes.div_ceil(60)),
        _ => format!("{} days", minutes.div_ceil(24 * 60)),
    }
}

/// The error in `body`. `status` is 0 in the middle of a stream.
pub(crate) fn from_error(provider: &str, status: u16, body: &Value) -> ModelError {
    read(provider, status, body, |rate| rate)
}

/// `of_rate` decides what kind "too many requests" is.
fn read(
    provider: &str,
    status: u16,
    body: &Value,
    of_rate: impl FnOnce(ModelErrorKind) -> ModelErrorKind,
) -> ModelError {
    let error = match &body["error"] {
        Value::Null => body,
        error => error,
    };
    let number = |value: &Value| value.as_u64().and_then(|code| u16::try_from(code).ok());
    let status = if status == 0 { number(&error["code"]).unwrap_or_default() } else { status };
    let details = || error["details"].as_array().into_iter().flatten();
    let reasons = details().map(|detail| &detail["reason"]);
    let words: Vec<&str> = [&error["code"], &error["type"], &error["status"], &body["code"]]
        .into_iter()
        .chain(reasons)
        .filter_map(Value::as_str)
        .collect();
    let per_day = details()
        .flat_map(|detail| detail["violations"].as_array().into_iter().flatten())
        .any(|violation| violation["quotaId"].as_str().is_some_and(|id| id.contains("PerDay")));
    let said = error["message"].as_str().unwrap_or_default().to_lowercase();
    let kind = match kind(status, &words) {
        BadRequest | Rate | Quota if NO_CREDIT.iter().any(|words| said.contains(words)) => NoCredit,
        _ if per_day => Quota,
        Rate => of_rate(Rate),
        kind => kind,
    };
    let wait = details().find_map(|detail| seconds(detail["retryDelay"].as_str()?));
    ModelError {
        kind,
        message: message(provider, kind, status, &provider_words(error)),
        hint: hint(kind).map(str::to_owned),
        retry_after: wait.filter(|_| kind != Quota),
        suggestions: Vec::new(),
    }
}

/// The provider's own message; of OpenRouter, with that of the provider behind it.
fn provider_words(error: &Value) -> String {
    let said = error["message"].as_str().or(error.as_str()).unwrap_or_default();
    let Some(raw) = error["metadata"]["raw"].as_str() else { return said.to_owned() };
    let who = error["metadata"]["provider_name"].as_str().unwrap_or("the provider behind it");
    let inner: Value = serde_json::from_str(raw).unwrap_or_default();
    let words = inner["error"]["message"].as_str().or(inner["error"].as_str());
    format!("{said} ({who}: {})", words.or(inner["message"].as_str()).unwrap_or(raw))
}

fn kind(status: u16, words: &[&str]) -> ModelErrorKind {
    let among = |table: &[(&str, ModelErrorKind)]| {
        table.iter().find(|(word, _)| words.contains(word)).map(|(_, kind)| *kind)
    };
    let of_status = match status {
        401 | 403 => Some(Auth),
        402 => Some(NoCredit),
        404 => Some(NotFound),
        413 => Some(TooLarge),
        429 => Some(Rate),
        408 | 409 | 425 | 500..=599 => Some(Overloaded),
        400..=499 => Some(BadRequest),
        0 => None,
        _ => Some(Protocol),
    };
    // An error in the middle of a stream that names no kind: something broke there.
    among(WORDS).or(of_status).or_else(|| among(VAGUE_WORDS)).unwrap_or(Overloaded)
}

fn message(provider: &str, kind: ModelErrorKind, status: u16, said: &str) -> String {
    let what = match kind {
        Auth => "refused the key",
        NoCredit => "says the account has no credit",
        Quota => "says the quota is used up",
        Rate => "says there were too many requests",
        Overloaded => "cannot answer now",
        TooLarge => "says the request is too large",
        BadRequest => "refused the request",
        NotFound => "cannot serve the model",
        _ => "gave an unexpected answer",
    };
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: String = said.chars().take(MAX_MESSAGE).collect();
    let status = if status == 0 { String::new() } else { format!(" ({status})") };
    match said.trim_end_matches('.') {
        "" => format!("{provider} {what}{status}"),
        said => format!("{provider} {what}{status}: {said}"),
    }
}

fn hint(kind: ModelErrorKind) -> Option<&'static str> {
    match kind {
        Auth => Some("check that the key is right and may use this model, or set it again"),
        NoCredit => Some("add credit to the account"),
        Quota => Some("wait until the quota is renewed, or use another model or plan"),
        Rate => Some("wait a minute"),
        Overloaded => Some("try again in a while"),
        TooLarge => Some("start a new session"),
        BadRequest => Some("choose another model in the settings, or start a new session"),
        NotFound => Some("choose another model in the settings"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
