//! What Gemini's refusals mean. Branches on status, code and reason, never on text.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::{ModelError, ModelErrorKind};

/// Characters of the provider's own message that are shown.
const MAX_MESSAGE: usize = 400;

/// The error of an answer that is not 2xx. `body` is free of the key.
pub(super) fn from_answer(status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let mut error = from_error(status.as_u16(), &value["error"]);
    let header = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    error.retry_after = error.retry_after.or_else(|| header?.trim().parse().ok().map(Duration::from_secs));
    error
}

/// The error of an `error` object, in an answer or in the middle of a stream.
pub(super) fn from_error(status: u16, error: &Value) -> ModelError {
    let details = || error["details"].as_array().into_iter().flatten();
    let key_invalid = details().any(|detail| detail["reason"] == "API_KEY_INVALID");
    let per_day = details()
        .flat_map(|detail| detail["violations"].as_array().into_iter().flatten())
        .any(|violation| violation["quotaId"].as_str().is_some_and(|id| id.contains("PerDay")));
    let (kind, what, hint) = match status {
        400 if key_invalid => (ModelErrorKind::Auth, "does not know the key", Some("set the key again")),
        400 => (ModelErrorKind::BadRequest, "refused the request", None),
        401 | 403 => (
            ModelErrorKind::Auth,
            "refused the key",
            Some("check that the key is right and may use this model"),
        ),
        402 => {
            (ModelErrorKind::NoCredit, "says the account has no credit", Some("add credit to the account"))
        }
        404 => (
            ModelErrorKind::NotFound,
            "does not know the model",
            Some("choose another model in the settings"),
        ),
        413 => (ModelErrorKind::TooLarge, "says the request is too large", Some("start a new session")),
        429 if per_day => (
            ModelErrorKind::Quota,
            "says the day's quota is used up",
            Some("wait for tomorrow, or use another model or plan"),
        ),
        429 => (ModelErrorKind::Rate, "says there were too many requests", Some("wait a minute")),
        408 | 500..=599 => (ModelErrorKind::Overloaded, "cannot answer now", Some("try again in a while")),
        _ => (ModelErrorKind::Protocol, "gave an unexpected answer", None),
    };
    let said = error["message"].as_str().unwrap_or_default();
    let said: String =
        said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_MESSAGE).collect();
    let said = said.trim_end_matches('.');
    let message = match said {
        "" => format!("gemini {what} ({status})"),
        said => format!("gemini {what} ({status}): {said}"),
    };
    ModelError {
        kind,
        message,
        hint: hint.map(str::to_owned),
        retry_after: details().find_map(|detail| seconds(detail["retryDelay"].as_str()?)),
    }
}

/// A protobuf duration: `34s`, `1.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Retry;

    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!("../../../../../tests/fixtures/gemini/", $name))
        };
    }

    fn read(status: u16, body: &str) -> ModelError {
        from_answer(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body)
    }

    // bar: C61
    #[test]
    fn each_refusal_has_its_kind_and_says_whether_to_try_again() {
        let wait = |seconds: u64| Retry::After(Some(Duration::from_secs(seconds)));
        let table = [
            (400, fixture!("error_400_api_key_invalid.json"), ModelErrorKind::Auth, Retry::Never),
            (400, fixture!("error_400_missing_signature.json"), ModelErrorKind::BadRequest, Retry::Never),
            (403, fixture!("error_403.json"), ModelErrorKind::Auth, Retry::Never),
            (404, fixture!("error_404.json"), ModelErrorKind::NotFound, Retry::Never),
            (429, fixture!("error_429_per_minute.json"), ModelErrorKind::Rate, wait(34)),
            (429, fixture!("error_429_per_day.json"), ModelErrorKind::Quota, Retry::Never),
            (500, fixture!("error_500.json"), ModelErrorKind::Overloaded, Retry::After(None)),
            (503, fixture!("error_503.json"), ModelErrorKind::Overloaded, Retry::After(None)),
            (504, fixture!("error_504.json"), ModelErrorKind::Overloaded, Retry::After(None)),
            (413, "<html>", ModelErrorKind::TooLarge, Retry::Never),
            (402, "", ModelErrorKind::NoCredit, Retry::Never),
            (418, "{}", ModelErrorKind::Protocol, Retry::After(None)),
        ];
        for (status, body, kind, retry) in table {
            let error = read(status, body);
            assert_eq!((error.kind, error.retry()), (kind, retry), "{status} {error}");
            assert!(!error.message.ends_with('.') && error.message.len() < 600, "{error}");
        }
    }

    #[test]
    fn the_retry_after_header_counts_where_the_body_says_nothing() {
        let headers = [(RETRY_AFTER, "7".parse().unwrap())].into_iter().collect();
        let error = from_answer(StatusCode::TOO_MANY_REQUESTS, &headers, "{}");
        assert_eq!(error.retry(), Retry::After(Some(Duration::from_secs(7))));
    }

    #[test]
    fn an_absurd_delay_is_no_delay() {
        for text in ["-1s", "NaNs", "1e400s", "soon", "5"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
