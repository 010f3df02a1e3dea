//! How long a provider asks us to wait, in all forms that are used. Pure: the time is passed in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// The wait that an answer's headers ask for, else that of the headers which OpenRouter copies into the body.
pub(crate) fn retry_after(headers: &HeaderMap, body: &Value, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = || {
        let wait = header("retry-after-ms")?.parse::<f64>().ok()?;
        Duration::try_from_secs_f64(wait / 1000.0).ok()
    };
    let seconds_or_date = || {
        let text = header(RETRY_AFTER.as_str())?;
        match text.parse::<f64>() {
            Ok(wait) => Duration::try_from_secs_f64(wait).ok(),
            Err(_) => Some(until(httpdate::parse_http_date(text).ok()?, now)),
        }
    };
    let reset = || {
        let reset = &body["error"]["metadata"]["headers"]["X-RateLimit-Reset"];
        let milliseconds = reset.as_str().and_then(|text| text.parse().ok()).or(reset.as_u64())?;
        Some(until(UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))?, now))
    };
    milliseconds().or_else(seconds_or_date).or_else(reset)
}

fn until(time: SystemTime, now: SystemTime) -> Duration {
    time.duration_since(now).unwrap_or_default()
}

/// A protobuf duration: `34s`, `1.5s`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    /// 2026-11-21T10:00:00Z.
    const NOW: u64 = 1_795_255_200;

    fn wait(headers: &[(&'static str, &'static str)], body: &Value) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        retry_after(&headers, body, UNIX_EPOCH + Duration::from_secs(NOW))
    }

    #[test]
    fn a_wait_is_read_in_seconds_milliseconds_and_as_a_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (headers, expected) in [
            (&[("retry-after", "12")][..], seconds(12)),
            (&[("retry-after", " 0 ")], seconds(0)),
            (&[("retry-after", "1.5")], Some(Duration::from_millis(1_500))),
            (&[("retry-after", "2"), ("retry-after-ms", "1500")], Some(Duration::from_millis(1_500))),
            (&[("retry-after", "Sat, 21 Nov 2026 10:00:30 GMT")], seconds(30)),
            (&[("retry-after", "Sat, 21 Nov 2026 09:00:00 GMT")], seconds(0)),
            (&[("retry-after", "99999999999999")], seconds(99_999_999_999_999)),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            assert_eq!(wait(headers, &Value::Null), expected, "{headers:?}");
        }
    }

    #[test]
    fn openrouters_reset_is_a_moment_in_milliseconds() {
        let body = |reset: Value| json!({"error": {"metadata": {"headers": {"X-RateLimit-Reset": reset}}}});
        let reset = (NOW + 60) * 1000;
        for value in [json!(reset), json!(reset.to_string())] {
            assert_eq!(wait(&[], &body(value)), Some(Duration::from_secs(60)));
        }
        assert_eq!(wait(&[], &body(json!("soon"))), None);
    }

    #[test]
    fn an_absurd_delay_is_no_delay() {
        for text in ["-1s", "NaNs", "1e400s", "soon", "5"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
